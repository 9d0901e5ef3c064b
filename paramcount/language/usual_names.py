"""What a name that no spec has most likely stands for: `resnet50`, `llama3:8b`, `google/vit-base-patch16-224`."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from functools import cache

from paramcount.errors import ArgumentError, ParamcountError, quote
from paramcount.errors.suggest import bare, nearest
from paramcount.language.language import SpecSyntax, file_syntax
from paramcount.language.yaml.source import FOLDERS, shipped_specs, specs_in

SEPARATORS = r"[-_/:. ]+"
OTHERWISE = "`paramcount list` shows the shipped specs"
ADDED = {  # parts of names that say nothing of the architecture
    *("hf", "it", "instruct", "chat", "meta", "pretrained", "in1k", "in21k", "imagenet", "1k", "224", "v0.1"),
}
SIZES = {"tiny": "t", "small": "s", "base": "b", "large": "l", "huge": "h"}
LETTERS = 3  # of a word in which a typing error can be told from another name


def no_spec(path: str, word: str) -> ArgumentError:
    """The error of a name that is neither a file nor a shipped spec; `word` is the name without a variant."""
    folder, name = os.path.split(word)
    stem = name.removesuffix(".yaml").removesuffix(".yml")
    is_file = stem != name
    meant = None if is_file or path.startswith((".", os.sep)) else usual(path)
    message = f"there is no spec {quote(path)}" + (": no such file" if is_file or (folder and not meant) else "")
    return ArgumentError(message, hint=f"did you mean {quote(meant)}?" if meant else near(path, word, stem, folder))


def near(path: str, word: str, stem: str, folder: str) -> str:
    """The hint for a name by the specs and files whose names are like it."""
    known = {each: each for each in shipped_specs()}
    known |= {os.path.splitext(file)[0]: os.path.join(folder or ".", file) for file in specs_in(folder or ".")}
    variant = path[len(word) + 1 :]
    begun = sorted((name for name in known if bare(stem).startswith(bare(name))), key=len, reverse=True)
    rests = {name: behind(name, f"{stem}-{variant}" if variant else stem) for name in begun}
    for name in begun:
        found = like(rests[name], variants_of(known[name]))
        if found:
            return f"did you mean {quote(f'{known[name]}:{found}')}?"
    for name in begun:
        if variants_of(known[name]) and re.match(SEPARATORS, rests[name]):
            return variants_are(known[name])
    guess = nearest(stem, [name for name in known if not other(stem, name)])
    found = guess and like(variant, variants_of(known[guess]))
    if guess and (found or not variant):
        return f"did you mean {quote(f'{known[guess]}:{found}' if found else known[guess])}?"
    for name in [guess] if guess else begun:
        if variants_of(known[name]) and (guess or numbers(rests[name])):
            return variants_are(known[name])
    return ("check the path; " if folder or stem != os.path.basename(word) else "") + OTHERWISE


def behind(name: str, word: str) -> str:
    """What stands behind a name in a word that begins with it.

    >>> behind("gpt2", "GPT-2-xl")
    '-xl'
    """
    return re.sub("[-_]*".join(map(re.escape, bare(name))), "", word, count=1, flags=re.IGNORECASE)


def variants_are(spec: str) -> str:
    return f"the variants of {quote(spec)} are {', '.join(variants_of(spec))}"


def like(word: str, variants: Collection[str]) -> str | None:
    """The variant that a word most likely stands for, or None.

    Numbers have to be the same, since `9b` is not a typing error of `2b`.

    >>> like("8b", ["2-7b", "3-8b"]), like("9b", ["2b", "27b"]), like("tinny", ["base", "tiny"])
    ('3-8b', None, 'tiny')
    """
    short = bare(word)
    able = [each for each in variants if numbers(word) <= numbers(each)]
    parts = [each for each in able if short and short in bare(each)]
    if parts:
        return min(parts, key=lambda each: (bare(each) != short, not bare(each).startswith(short)))
    return nearest(word, able) if sum(map(str.isalpha, word)) >= LETTERS else None


def usual(path: str) -> str | None:
    """The spec, with its variant, whose usual name this is, or None; nothing is guessed.

    >>> usual("meta-llama/Meta-Llama-3-8B-Instruct"), usual("ViT-B/16"), usual("torchvision.models.vgg16")
    ('llama:3-8b', 'vit:b_16', 'vgg:16')
    """
    known = usual_names()
    return next((known[each] for each in ways(path) if each in known), None)


@cache
def usual_names() -> dict[str, str]:
    """The names by which the shipped specs are known, without case and separators, and the specs they stand for."""
    own: dict[str, str] = {}
    titles: dict[str, str] = {}
    references: dict[str, str] = {}
    alone: dict[str, list[str]] = {}
    for name in shipped_specs():
        syntax = syntax_of(name)
        for variant in (None, *syntax.variants):
            spec = name if variant is None else f"{name}:{variant}"
            own.setdefault(joined(f"{name}{variant or ''}"), spec)
            titles.setdefault(joined(f"{syntax.name}{variant or ''}"), spec)
            if variant is not None and re.match("[a-z]{3}.*[0-9]", variant):
                alone.setdefault(joined(variant), []).append(spec)
            reference = syntax.expect[variant].reference if variant in syntax.expect else None
            if reference:
                references.setdefault(joined(re.sub(r"^[a-z]+/|[/ ].*", "", reference, count=1)), spec)
    return {name: specs[0] for name, specs in alone.items() if len(specs) == 1} | titles | references | own


def ways(path: str) -> Iterator[str]:
    """The ways to read a name, the surest first: with what stands before it, without, and without what is added."""
    for name in dict.fromkeys((path, path.rsplit("/", 1)[-1], re.split(r"\.(?=[A-Za-z])|/", path)[-1])):
        yield joined(name)
        parts = [each for each in re.split("[-_/: ]+", name.lower()) if each not in ADDED]
        yield joined("".join(parts))
        whole = [each for each in parts if not re.match("(patch|window)[0-9]", each)]
        yield joined("".join(whole))
        yield joined("".join(SIZES.get(each, each.removeprefix("patch")) for each in parts))
        yield joined("".join(SIZES.get(each, each) for each in whole))


def joined(name: str) -> str:
    """A name without case and separators, except for a decimal point, which may be written as `_`."""
    return re.sub(r"[-_/: ]|(?<!\d)\.|\.(?!\d)", "", re.sub(r"(?<=\d)_(?=\d)", ".", name.lower()))


def other(word: str, name: str) -> bool:
    """Whether a word with numbers is not a typing error of a name: its numbers are others, or the name has none."""
    mine, its = (re.sub("[^0-9]", "", each) for each in (word, name))
    return mine != its and (not its or len(mine) == len(its)) and bool(mine)


def numbers(word: str) -> set[str]:
    return set(re.findall(r"\d+(?:\.\d+)?", word))


def variants_of(spec: str) -> list[str]:
    """The variants of a spec; none if it cannot be read."""
    try:
        return list(syntax_of(spec).variants)
    except ParamcountError:  # the file itself says later what is wrong with it
        return []


def syntax_of(spec: str) -> SpecSyntax:
    """A shipped spec by its name, or a file, as read."""
    file = next(filter(os.path.isfile, (os.path.join(folder, f"{spec}.yaml") for folder in FOLDERS)), spec)
    return file_syntax(file)
