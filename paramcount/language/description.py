"""What a spec can write, described: each kind of layer, form, modifier and shipped block by what it says of itself.

`paramcount kinds` and docs/layers.md show the same descriptions, and `help()` the same sentences.
"""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import import_module
from inspect import getdoc
from typing import NamedTuple

from paramcount.errors import ArgumentError, ParamcountError, quote
from paramcount.errors.suggest import did_you_mean, kind_for
from paramcount.graph.form import Form
from paramcount.language.definitions import load_shipped
from paramcount.language.example import in_a_spec, spelled
from paramcount.language.modifiers import MODIFIERS
from paramcount.language.reading import read_item
from paramcount.language.shipped import default_of, example_of_block, meanings, text_of_block
from paramcount.language.signature import Signature, signature_of
from paramcount.language.vocabulary import FORMS, form, shipped
from paramcount.layers import MODULES, find, registry
from paramcount.layers.checked import SUGAR
from paramcount.layers.fields import REQUIRED, Check, Kind
from paramcount.layers.installed import entry_points
from paramcount.layers.layer import FAMILIES, Layer

STRUCTURE, MODIFIER, BLOCK = "structure", "modifier", "block"  # beside the families of layers
UNNAMED = "own"  # of layers of the user's that do not name their family
AXES = "sizes of axes"  # which are given by the names of the axes


class Argument(NamedTuple):
    """An argument as specs write it: what it may be, its default (None where it must be given), what it means."""

    name: str
    takes: str
    default: str | None
    meaning: str

    def __str__(self) -> str:
        return self.name if self.default is None else f"{self.name}={self.default}"


class Description(NamedTuple):
    """A word that specs can write: how, with which arguments, and what it means.

    `usage` has the arguments that may stand in a list, or the one that takes a list or a mapping `whole`; `by_name` are
    all others. `text` are paragraphs, which begin with a sentence; `more` are those that hold for all kinds of the same
    module. `example` is a whole spec, or empty.
    """

    kind: str
    family: str
    usage: str
    whole: str
    by_name: tuple[str, ...]
    arguments: tuple[Argument, ...]
    text: str
    example: str
    more: str = ""

    @property
    def signature(self) -> str:
        """How it is written, in one line."""
        whole = f" (a {self.whole} is taken whole)" if self.whole else ""
        return self.usage + whole + (f", by name {' '.join(self.by_name)}" if self.by_name else "")

    @property
    def sentence(self) -> str:
        """The first sentence of the text."""
        return parted(self.text)[0]

    @property
    def formulas(self) -> list[str]:
        """The paragraphs behind the first sentence: what it counts, and how."""
        rest = parted(self.text)[1]
        return [" ".join(each.split()) for each in f"{rest}\n\n{self.more}".split("\n\n") if each.strip()]


def parted(text: str) -> tuple[str, str]:
    """The first sentence of a text in one line, and the rest.

    >>> parted("One row for each token. Table: vocab × out.")
    ('One row for each token.', 'Table: vocab × out.')
    """
    first = re.match(r".*?(?:\.(?=\s+(?:[A-Z]|https:))|\.$|(?=\n\n)|$)", text, re.DOTALL)
    assert first is not None
    return " ".join(first[0].split()), text[first.end() :].strip()


def families() -> dict[str, list[str]]:
    """All words that specs can write, by their families in the order of the documentation.

    Kinds of plugins that are loaded and of installed packages are among them.

    >>> families()["dense"]
    ['dense']
    """
    found: dict[str, list[str]] = {family: [] for family in FAMILIES}
    for kind in dict.fromkeys((*MODULES, *registry, *entry_points())):
        try:
            family = getattr(find(kind), "family", "")
        except ParamcountError:  # of an installed package; `describe` says what is wrong
            family = ""
        found.setdefault(family or UNNAMED, []).append(kind)
    return found | {STRUCTURE: list(FORMS), MODIFIER: list(MODIFIERS), BLOCK: sorted(shipped())}


def describe(word: str) -> Description:
    """The description of a kind, a form, a modifier or a shipped block.

    Raises ArgumentError for any other word, and for a kind of an installed package that cannot be loaded.

    >>> describe("pointwise").signature
    'pointwise: [out, stride=1], by name groups=1 bias=false weight_norm=false'
    """
    if word in FORMS:
        return of_class(form(word), STRUCTURE, form(word).example)
    if word in MODIFIERS:
        return of_modifier(word)
    if word in shipped() and word not in registry:
        return of_block(word)
    layer = find(word)
    if layer is None:
        raise unknown_word(word, families())
    module = MODULES.get(word)
    _, _, more = (getdoc(import_module(f"paramcount.layers.{module}")) or "").partition("\n\n") if module else ("",) * 3
    example = layer.example or next(filter(None, (in_a_spec(layer, each) for each in layer.examples)), "")
    return of_class(layer, layer.family or UNNAMED, example)._replace(more=more)


def unknown_word(word: str, known: dict[str, list[str]]) -> ArgumentError:
    """The error for a word that specs do not have: a family, a framework's name, a misspelled one, an argument."""
    guess = kind_for(word, [kind for kinds in known.values() for kind in kinds])
    family = known.get(word.lower().removesuffix("s"), [])
    having = [kind for kind in (*MODULES, *FORMS) if word in signature_of(find(kind) or form(kind)).words]
    hint = "`paramcount kinds` lists all kinds, forms, modifiers and blocks"
    if family and guess not in family:
        guess, hint = None, f"a family: {', '.join(family)}"
    elif having:
        hint = f"an argument of {', '.join(having[:6])}{', ...' * (len(having) > 6)}"
    return ArgumentError(f"there is no kind {quote(word)}", hint=did_you_mean(guess, hint))


def of_class(kind: type[Layer] | type[Form], family: str, example: str) -> Description:
    """A layer or a form, from its class."""
    takes, found = signature_of(kind), {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    arguments = []
    for word, name in takes.words.items():
        field = found[name]
        default = field.default if field.default_factory is REQUIRED else field.default_factory()
        text = None if default is REQUIRED else "" if name == takes.open else spelled(default)
        arguments.append(Argument(word, in_words(takes.checks[name]), text, field.metadata.get("doc", "")))
    about = re.split("\n>>> |\n\nArguments:", getdoc(kind) or "")[0].strip()
    text = "" if about.startswith(f"{kind.__name__}(") else about  # what a dataclass without a docstring is given
    return Description(takes.kind, family, *usage_of(takes, arguments), tuple(arguments), text, example)


def of_block(word: str) -> Description:
    """A shipped block, from its file."""
    definition = load_shipped(word, read_item)
    takes, meaning = definition.signature, meanings(definition)
    arguments = []
    for name, written in {**definition.arguments, **definition.inputs}.items():
        default = None if written is None else spelled(default_of(written))
        words = given_to_block(takes.checks[name], default, meaning[name])
        arguments.append(Argument(name, words, default, meaning[name]))
    text, example = text_of_block(definition), example_of_block(definition)
    return Description(word, BLOCK, *usage_of(takes, arguments), tuple(arguments), text, example)


def given_to_block(check: Check, default: str | None, meaning: str) -> str:
    """What an argument of a block may be, as its default and its meaning tell; a block itself checks none."""
    if check.takes == "expression" and meaning.startswith("whether"):
        return "true or false"
    if check.takes == "expression" and default is not None and default in MODULES:
        return f"{Kind().allows}, or none"
    words = "a number, or a list" if check.takes == "expression" else check.allows
    return f"{words}{', or none' * (default == 'none')}"


def of_modifier(word: str) -> Description:
    modifier = MODIFIERS[word]
    argument = Argument(word, modifier.takes, None, modifier.meaning)
    text = "\n\n".join(" ".join(each.split()) for each in modifier.about.split("\n\n"))
    return Description(word, MODIFIER, modifier.usage, "", (), (argument,), text, modifier.example)


def in_words(check: Check) -> str:
    """What an argument may be."""
    return f"{check.allows}{', or none' * check.none}"


def usage_of(takes: Signature, arguments: list[Argument]) -> tuple[str, str, tuple[str, ...]]:
    """How a kind is written, what its first argument takes whole, and the arguments that are given by name."""
    shown = {takes.words[each.name]: str(each) for each in arguments}
    listed = takes.positional[: 1 if takes.taken_whole else None]
    by_name = [text for name, text in shown.items() if name not in (*listed, *SUGAR, takes.open)]
    if takes.open:
        by_name.append(AXES)
    if takes.taken_whole:
        whole = "mapping" if takes.checks[listed[0]].takes == "named" else "list"
        return f"{takes.kind}: {shown[listed[0]]}", whole, tuple(by_name)
    usage = f"{takes.kind}: [{', '.join(shown[name] for name in listed)}]" if listed else takes.kind
    return usage, "", tuple(by_name)
