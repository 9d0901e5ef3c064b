"""What is known at a place of a spec while it is read: variables, blocks, defaults, and the errors so far."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field, replace
from typing import Any

from paramcount.errors import ManyErrors, ParamcountError, Position, SpecError, quote
from paramcount.errors.suggest import did_you_mean, kind_for, nearest, one_of
from paramcount.language.expression.tokens import FOREIGN, KEYWORDS, spelling_hint
from paramcount.language.vocabulary import FORMS, shipped, taken
from paramcount.language.yaml.nodes import Mapping, Node, Scalar, Sequence
from paramcount.language.yaml.reader import MOST_ERRORS, Enough
from paramcount.layers import MODULES, find

RESERVED = ("prev", "i", "cin", "length", "none", "true", "false")
AXES = ("cin", "length")
MOST_VARIABLES = 1000  # of a file or a block; each loop has its own copy of them
IDENTIFIER = re.compile(r"[^\W\d]\w*\Z")


@dataclass(eq=False, repr=False)
class File:
    """One file's definitions and findings, shared by all places in it."""

    path: str
    defaults: dict[str, dict[str, Any]] = field(default_factory=dict)
    blocks: dict[str, Any] = field(default_factory=dict)  # name -> BlockDefinition
    errors: list[ParamcountError] = field(default_factory=list)
    used: set[str] = field(default_factory=set)  # variables and blocks
    broken: set[str] = field(default_factory=set)  # blocks and kinds whose definition or defaults are wrong
    included: dict[str, Any] = field(default_factory=dict)  # path -> Included; all files of a spec have one
    words: dict[str, Any] = field(default_factory=dict)  # items of kinds that need no argument

    def note(self, error: ParamcountError) -> None:
        """Remember an error, so that reading goes on behind it; raises Enough when there are many."""
        self.errors += error.errors if isinstance(error, ManyErrors) else [error]
        if len(self.errors) >= MOST_ERRORS:
            raise Enough

    def report(self) -> None:
        """Raise the errors found so far, in the order of their positions."""
        errors = sorted(self.errors, key=lambda error: (error.position or ("", 0, 0))[1:])
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise ManyErrors(errors)


class Keys:
    """The keys of shared weights in one block or file: where each first stands, and how many uses there are.

    A use in a loop counts as two, since it may be several.
    """

    __slots__ = ("places", "uses")

    def __init__(self) -> None:
        self.places: dict[str, Position] = {}
        self.uses: dict[str, int] = {}

    def note(self, key: str, times: int, position: Position | None = None) -> None:
        self.uses[key] = self.uses.get(key, 0) + times
        if position is not None:
            self.places.setdefault(key, position)


@dataclass(eq=False, repr=False)
class Context:
    """A place in a file: the variables that expressions see there, and the names given in the block around.

    `read_item` is the one recursion of the language: an item's arguments hold items.
    """

    file: File
    read_item: Callable[..., Any]
    names: Set[str] = frozenset()
    declared: dict[str, Position] = field(default_factory=dict)
    calls: dict[str, Position] = field(default_factory=dict)  # blocks that the block around uses
    keys: Keys = field(default_factory=Keys)
    loops: tuple[frozenset[str], ...] = ()  # the variables of each loop around, outermost first

    def seeing(self, *names: str) -> Context:
        return replace(self, names=self.names | set(names))

    def in_loop(self, *names: str) -> Context:
        own = frozenset((*names, "i"))
        return replace(self, names=self.names | own, loops=(*self.loops, own))

    def attempt(self, read: Callable[..., Any], *arguments: Any) -> Any:
        """What `read` returns, or None after noting its error, so that reading goes on behind it."""
        try:
            return read(*arguments)
        except ParamcountError as error:
            self.file.note(error)
        return None

    def kinds(self) -> list[str]:
        """All words that can stand as a kind here."""
        return [*MODULES, *FORMS, *self.file.blocks, *shipped()]

    def is_kind(self, word: str) -> bool:
        """Whether a word can stand as a kind here; kinds of installed packages can too."""
        return taken(word) or word in self.file.blocks or find(word) is not None

    def is_word(self, word: str) -> bool:
        """Whether a word can stand as a value here: a kind other than a form, which always needs arguments."""
        return word not in FORMS and self.is_kind(word)

    def unknown_variable(self, name: str, position: Position) -> SpecError:
        guess = nearest(name, [*self.names, *AXES])
        if name == "i":
            hint = "`i` counts the iterations of `repeat` and `for`, and exists only inside them"
        elif name in AXES:
            hint = f"`{name}` is an axis of the value that arrives at a layer, and none arrives here"
        else:
            hint = spelling_hint(name) or did_you_mean(guess, self.known())
        return SpecError(f"unknown variable {quote(name)}", hint=hint, position=position)

    def unknown_word(self, word: str, position: Position) -> SpecError:
        """The error for a bare word that may be a variable or a kind, and is neither."""
        guess = nearest(word, self.names) or kind_for(word, filter(self.is_word, self.kinds()))
        if guess is None or guess in self.names or spelling_hint(word):
            return self.unknown_variable(word, position)
        return SpecError(f"unknown word {quote(word)}", hint=f"did you mean `{guess}`?", position=position)

    def known(self) -> str:
        names = sorted(self.names)
        return "known here: " + ", ".join(names[:12]) if names else "declare it under `vars:`"


def wrong(node: Node, message: str, hint: str = "") -> SpecError:
    """An error about a node."""
    return SpecError(message, hint=hint, position=node.position)


def unknown(what: str, key: Scalar, words: Iterable[str], otherwise: str = "") -> SpecError:
    """The error for a word of a spec that is not one of `words`; `otherwise` is the hint where none is near."""
    return wrong(key, f"unknown {what} {quote(key.text)}", one_of(key.text, words, otherwise))


def text_of(node: Node, what: str) -> str:
    """The text of a scalar; raises SpecError for anything else."""
    if not isinstance(node, Scalar) or not node.text:
        raise wrong(node, f"{what} must be a word, not {describe(node)}")
    return node.text


def identifier(node: Node, what: str) -> str:
    """A word that can be a name in expressions; raises SpecError for others."""
    text = text_of(node, what)
    if text in RESERVED:
        raise wrong(node, f"{quote(text)} is reserved", "choose another name")
    if text in KEYWORDS or text in FOREIGN or text == "is" or "__" in text:
        hint = "choose another name; `for`, `if`, `in` and such words and `__` have no place in names"
        raise wrong(node, f"{quote(text)} cannot be {what}, which expressions could not use", hint)
    if not IDENTIFIER.match(text):
        raise wrong(node, f"{quote(text)} cannot be {what}", "use letters, digits and _, not starting with a digit")
    return text


def mapping_of(node: Node, what: str) -> Mapping:
    if isinstance(node, Mapping):
        return node
    raise wrong(node, f"{what} must be a mapping of names to values, not {describe(node)}")


def refuse_many(node: Mapping, what: str) -> None:
    """Raise SpecError for more variables or arguments than a file or a block may have."""
    if len(node.entries) > MOST_VARIABLES:
        message = f"{len(node.entries):,} {what}; there can be {MOST_VARIABLES:,}"
        raise wrong(node, message, "a list is one variable: `widths: [64, 128, 256]`")


def empty(node: Node) -> bool:
    return isinstance(node, Scalar) and not node.text and not node.quoted


def refuse_null(node: Node, what: str, hint: str = "") -> None:
    """Raise SpecError where `none`, or another word for nothing, stands for what must have a value."""
    if isinstance(node, Scalar) and not node.quoted and node.text.lower() in ("none", "null", "nil", "~"):
        raise wrong(node, f"{quote(what)} needs a value, not {describe(node)}", hint)


def describe(node: Node) -> str:
    """A node in words."""
    if isinstance(node, Scalar):
        return quote(node.text) if node.text else "nothing"
    if isinstance(node, Sequence):
        return "a list" if node.items else "an empty list"
    return "a mapping" if node.entries else "an empty mapping"
