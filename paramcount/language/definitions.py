"""What a file defines: blocks, those that it includes from other files, and default arguments."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

from paramcount.errors import SpecError, printable, quote
from paramcount.errors.suggest import did_you_mean, kind_for
from paramcount.graph.builder import DEPTH
from paramcount.language.arguments import FromDefaults, given_arguments, read_argument
from paramcount.language.blocks import BlockDefinition, read_body, read_signature
from paramcount.language.context import Context, Enough, File, empty, mapping_of, text_of, wrong
from paramcount.language.signature import Signature, signature_of
from paramcount.language.vocabulary import FOLDER, FORMS, form, shipped
from paramcount.language.written import Written
from paramcount.language.yaml.nodes import Mapping, Node, Scalar, Sequence
from paramcount.language.yaml.reader import read_text
from paramcount.language.yaml.source import LARGEST, absolute, read_source
from paramcount.layers import MODULES, find, registry

DEEPEST = 32  # files that include each other
MOST_FILES = 100  # that a spec includes, directly and through others


class Included(NamedTuple):
    """An included file: its blocks by name, and how many characters it has."""

    blocks: dict[str, BlockDefinition]
    size: int


def read_blocks(node: Node, context: Context, defaults: Node | None = None) -> None:
    """Blocks: first all signatures, so that they may call each other; then the defaults; then the bodies."""
    found = []
    for key, value in mapping_of(node, "`blocks`").entries:
        if key.text in registry or key.text in MODULES or key.text in FORMS:
            hint = "choose another name; a block may stand for a shipped block, never for a kind"
            context.file.note(wrong(key, f"{quote(key.text)} is a kind", hint))
            continue
        block = context.attempt(read_signature, key, value, context)
        if block is None:
            context.file.broken.add(key.text)
        else:
            context.file.blocks[block.name] = block
            found.append((block, value))
    if defaults is not None and not empty(defaults):
        context.attempt(lambda: read_defaults(mapping_of(defaults, "`defaults`"), context))
    for block, value in found:
        context.attempt(read_body, block, value, context)
    context.attempt(refuse_circles, context.file)


def read_includes(node: Node, context: Context, path: str, chain: tuple[str, ...] = ()) -> None:
    """Blocks of other files in the same folder or below, with their own defaults."""
    for each in node.items if isinstance(node, Sequence) else [node]:
        context.attempt(read_include, each, context, path, (*chain, absolute(path)))


def read_include(node: Node, context: Context, path: str, trail: tuple[str, ...]) -> None:
    """The blocks of one file; `trail` are the files that include each other up to here."""
    folder = os.path.dirname(trail[-1])
    name = text_of(node, "a file to include")
    if "\0" in name:  # which no system function takes
        raise wrong(node, f"{quote(name)} cannot be a file's name")
    target = os.path.abspath(os.path.join(folder, name))
    if not os.path.realpath(target).startswith(os.path.join(os.path.realpath(folder), "")) or os.path.isabs(name):
        raise wrong(node, f"{quote(name)} is outside the spec's folder", "include files in the same folder or below")
    if target in trail:
        names = [printable(os.path.basename(file)) for file in (*trail[trail.index(target) :], target)]
        raise wrong(node, f"files include each other in a circle: {' -> '.join(names)}", "remove one `include`")
    if not os.path.isfile(target):
        raise wrong(node, f"there is no file {quote(name)} to include", f"it is looked for in {quote(folder)}")
    if len(trail) == DEEPEST:
        raise wrong(node, f"more than {DEEPEST} files include each other", "put the blocks into fewer files")
    included = context.file.included
    if target not in included:
        text = read_source(target)
        if len(included) == MOST_FILES or sum(each.size for each in included.values()) + len(text) > LARGEST:
            hint = "put the blocks into fewer and smaller files"
            raise wrong(node, f"a spec includes at most {MOST_FILES} files, of 1 MiB together", hint)
        file = File(os.path.join(os.path.dirname(path), name), included=included)
        included[target] = Included(file.blocks, len(text))  # also where it is wrong: its errors are noted once
        read_included(text, Context(file, context.read_item), trail)
    context.file.blocks.update(included[target].blocks)


def read_included(text: str, context: Context, trail: tuple[str, ...]) -> None:
    """An included file's parts; every independent error in it is raised at once."""
    root = mapping_of(read_text(text, context.file.path), "an included file")
    with suppress(Enough):
        read_included_parts(root, context, trail)
    context.file.report()


def read_included_parts(root: Mapping, context: Context, trail: tuple[str, ...]) -> None:
    file, name = context.file, context.file.path
    for key, _ in root.entries:
        if key.text not in ("blocks", "defaults", "include", "name", "about", "source"):
            hint = "an included file has `blocks:` and their `defaults:`; its blocks see no variables"
            file.note(wrong(key, f"{quote(key.text)} has no meaning in an included file", hint))
    include, blocks = root.get("include"), root.get("blocks")
    if include is not None:
        context.attempt(read_includes, include, context, name, trail)
    if blocks is None:
        file.note(wrong(root, f"{quote(name)} has no `blocks:`", "an included file gives blocks"))
    else:
        context.attempt(read_blocks, blocks, context, root.get("defaults"))


def refuse_circles(file: File) -> None:
    """Note an error for blocks that contain themselves, directly or through others."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> None:
        if name in path:
            circle = [*path[path.index(name) :], name]
            position = file.blocks[path[-1]].calls[name]
            raise SpecError(
                f"the block {quote(name)} calls itself: {' -> '.join(circle)}",
                hint="a network has no recursion; use `repeat`",
                position=position,
            )
        if len(path) > DEPTH:
            message = f"more than {DEPTH} blocks inside each other: {' -> '.join(path[:3])} -> ..."
            raise SpecError(message, hint="use `repeat`", position=file.blocks[path[0]].position)
        if name not in done and name in file.blocks:
            for called in file.blocks[name].calls:
                visit(called, [*path, name])
            done.add(name)

    for name in file.blocks:
        visit(name, [])


def read_defaults(node: Mapping, context: Context) -> None:
    """Note the default arguments of kinds and blocks in the file."""
    for key, value in node.entries:
        context.attempt(read_kind_defaults, key, value, context)
    context.file.words.clear()  # read before all defaults were known


def read_kind_defaults(key: Scalar, node: Node, context: Context) -> None:
    word, file = key.text, context.file
    signature = signature_for(word, context) if word not in FORMS else None
    if signature is None:
        guess = kind_for(word, context.kinds())
        hint = did_you_mean(guess if guess != word else None, "defaults are for layers and blocks")
        raise SpecError(f"unknown kind {quote(word)}", hint=hint, position=key.position)
    if not isinstance(node, Mapping):
        raise wrong(node, f"the defaults of {quote(word)} must be a mapping", f"write `{word}: {{argument: value}}`")
    found = file.defaults.setdefault(word, {})
    given, axes = given_arguments(signature, node, context)
    for axis, value in axes.items():
        file.note(wrong(value, f"{quote(word)} has no argument {quote(axis)}", "give a size where its pattern stands"))
    for name, value in given.items():
        read: Written | None = context.attempt(read_argument, signature, name, value, context)
        if read is None:
            file.broken.add(word)
        else:
            found[name] = FromDefaults(read)


@cache
def load_shipped(name: str, read_item: Callable[[Node, Context], Any]) -> BlockDefinition:
    """A block that comes with the package, read when it is first used."""
    path = os.path.join(FOLDER, f"{name}.yaml")
    file = File(f"blocks/{name}.yaml")
    node = mapping_of(read_text(read_source(path), file.path), "a file of blocks")
    blocks = node.get("blocks")
    assert blocks is not None
    read_blocks(mapping_of(blocks, "`blocks`"), Context(file, read_item))
    file.report()
    return file.blocks[name]


def signature_for(word: str, context: Context) -> Signature | None:
    """What a kind takes, or None for a word that is not a kind."""
    if word in FORMS:
        return signature_of(form(word))
    if word in context.file.blocks:
        return context.file.blocks[word].signature
    if word in shipped():
        return load_shipped(word, context.read_item).signature
    layer = find(word)
    return signature_of(layer) if layer else None
