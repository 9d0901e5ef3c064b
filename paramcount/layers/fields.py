"""What a layer's arguments may be: each field of a layer says how its value is checked and how a spec reads it."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from paramcount.errors import ArgumentError, quote
from paramcount.numbers.arithmetic import Column, require
from paramcount.numbers.column import Mask, plain

REQUIRED = dataclasses.MISSING


class Check:
    """How one argument is checked.

    `takes` tells a spec how to read it: "expression" (numbers, flags and lists of them), "text" (taken as
    written), "value" (a path to another value), "values" (a list of paths), "kind" (a kind without arguments)
    or "key" (the name of shared weights). `words` are the bare words that an expression field also takes.
    `listed` fields take the whole positional list.
    """

    takes = "expression"
    words: tuple[str, ...] = ()
    listed = False

    def __init__(self, none: bool = False) -> None:
        self.none = none

    def __call__(self, name: str, value: Any) -> Any:
        """The value in its own type; raises ArgumentError where it cannot be used."""
        return value


class Whole(Check):
    """A whole number that is at least so large; 32.0 is one, 11.2 and true are not.

    >>> Whole()("out", 32.0)
    32
    """

    def __init__(self, at_least: int | None = 1, none: bool = False) -> None:
        super().__init__(none)
        self.at_least = at_least
        self.least = f"write a whole number from {at_least} on"

    def __call__(self, name: str, value: Any) -> Any:
        if type(value) is not int:
            value = whole_number(name, value)
        if self.at_least is not None:
            message, hint = "{} must be at least {}, not {}", self.least
            require(value >= self.at_least, message, name, self.at_least, value, argument=name, hint=hint)
        return value


class Sizes(Whole):
    """A list of whole numbers."""

    listed = True

    def __call__(self, name: str, value: Any) -> Any:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise ArgumentError(f"{name} is a list of whole numbers, not {quote(value)}", argument=name)
        return tuple(Whole.__call__(self, name, each) for each in value)


class PerAxis(Whole):
    """One whole number for every axis, or a list with one for each."""

    def __call__(self, name: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return tuple(None if each is None and self.none else Whole.__call__(self, name, each) for each in value)
        return Whole.__call__(self, name, value)


class Parts(PerAxis):
    """A number of equal parts, or the whole list of their sizes."""

    listed = True


class Pairs(Whole):
    """A list of [before, after], one for each axis."""

    listed = True

    def __call__(self, name: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)) and all(isinstance(p, (list, tuple)) and len(p) == 2 for p in value):
            return tuple(tuple(Whole.__call__(self, name, each) for each in pair) for pair in value)
        raise ArgumentError(f"{name} is a list of [before, after], one for each axis", argument=name)


class Padding(Check):
    """`same`, `half`, `valid`, a whole number, or a list of numbers or [before, after], one for each axis."""

    words = ("same", "half", "valid")
    size = Whole(at_least=0)

    def __call__(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return one_of(name, value, self.words)
        if isinstance(value, (list, tuple)):
            return tuple(self.axis(name, each) for each in value)
        return self.size(name, value)

    def axis(self, name: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            if len(value) != 2:
                raise ArgumentError(f"{name} of one axis is a number or [before, after]", argument=name)
            return tuple(self.size(name, each) for each in value)
        return self.size(name, value)


class Flag(Check):
    """True or false."""

    def __call__(self, name: str, value: Any) -> Any:
        if not isinstance(value, bool):
            raise ArgumentError(f"{name} must be true or false, not {quote(value)}", argument=name)
        return value


class Number(Check):
    """A real number between two bounds, which it may equal."""

    def __init__(self, at_least: float = -math.inf, at_most: float = math.inf, none: bool = False) -> None:
        super().__init__(none)
        self.at_least, self.at_most = at_least, at_most

    def __call__(self, name: str, value: Any) -> Any:
        bounds = f"at least {self.at_least:g}" if self.at_most == math.inf else f"{self.at_least:g} to {self.at_most:g}"
        if isinstance(value, Column) or hasattr(value, "dtype"):
            numbers = plain(value)
            inside = Mask((numbers >= self.at_least) & (numbers <= self.at_most))
            require(inside, f"{name} must be {bounds}, not {{}}", value, argument=name)
            return value
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ArgumentError(f"{name} must be a number, not {quote(value)}", argument=name)
        if not self.at_least <= value <= self.at_most:
            raise ArgumentError(f"{name} must be {bounds}, not {value}", argument=name)
        return value


class Word(Check):
    """One of some words."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.words = words

    def __call__(self, name: str, value: Any) -> Any:
        return one_of(name, value, self.words)


class Text(Check):
    """Any text, taken as written."""

    takes = "text"

    def __call__(self, name: str, value: Any) -> Any:
        if not isinstance(value, str):
            raise ArgumentError(f"{name} must be text, not {quote(value)}", argument=name)
        return value


class AxisSizes(Whole):
    """Sizes of named axes; a spec gives them as arguments of their own: `{pattern: t (h d) -> t h d, h: 8}`."""

    takes = "sizes"

    def __call__(self, name: str, value: Any) -> Any:
        try:
            pairs = dict(value).items()
        except (TypeError, ValueError):
            message = f"{name} gives a size to each name of an axis, not {quote(value)}"
            raise ArgumentError(message, argument=name) from None
        return tuple((axis, Whole.__call__(self, axis, size)) for axis, size in pairs)


class ValuePath(Check):
    """Where an input beyond `prev` comes from: a name, `prev`, or a list of items."""

    takes = "value"


class ValuePaths(Check):
    """A list of such places, each an input."""

    takes = "values"


class Kind(Check):
    """A kind that needs no argument, as a word or an item, or none."""

    takes = "kind"


class Key(Check):
    """The name of weights that are used elsewhere too."""

    takes = "key"


def field(check: Check, default: Any = REQUIRED, doc: str = "") -> Any:
    """A dataclass field that is checked by `check`, and required unless it has a default: `out: int = field(Whole())`.

    `doc` says in a few words what the argument means: for `help`, the page of layers, and hints.

    >>> field(Whole(), 3, doc="the channels of the result").default
    3
    """
    return dataclasses.field(default=default, metadata={"check": check, "doc": doc})


def field_checks(layer: type) -> list[tuple[str, Check]]:
    """Each field of a layer's class with its check; raises ArgumentError for a class that is no layer yet."""
    name, fields = quote(layer.__name__), dataclasses.fields(layer)
    known = [each.name for each in fields]
    annotations = getattr(layer, "__annotations__", {})
    if any(each not in known and "ClassVar" not in str(annotation) for each, annotation in annotations.items()):
        hint = f"write `@dataclass(frozen=True)` above `class {layer.__name__}`"
        raise ArgumentError(f"the layer {name} has arguments and is no dataclass", hint=hint)
    missing = sorted(getattr(layer, "__abstractmethods__", ()))
    if missing:
        hint = "a layer has the methods output_shape, params, work and forward"
        raise ArgumentError(f"the layer {name} has no method {', '.join(map(quote, missing))}", hint=hint)
    found: list[tuple[str, Any]] = [(each.name, each.metadata.get("check")) for each in fields]
    for argument, check in found:
        if not isinstance(check, Check):
            message = f"the argument {quote(argument)} of the layer {name} does not say what it takes"
            hint = f"write `{argument}: int = field(Whole())`, or another check of `paramcount.layers`"
            raise ArgumentError(message, hint=hint)
    return found


def whole_number(name: str, value: Any) -> Any:
    """The value as a whole number; 32.0 is one, 11.2 and true are not."""
    if isinstance(value, Column):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        hint = "use `//`, `ceil(...)`, `floor(...)` or `round8(...)`"
        shown = f"{value:.10g}"
        shown = repr(value) if float(shown).is_integer() else shown  # 3.0000000000000004
        raise ArgumentError(f"{name}: {shown} is not a whole number", hint=hint, argument=name)
    array: Any = value
    if hasattr(array, "dtype"):
        return Column.whole(name, array) if getattr(array, "ndim", 0) else whole_number(name, array.item())
    raise ArgumentError(f"{name} must be a whole number, not {quote(value)}", argument=name)


def one_of(name: str, value: Any, words: tuple[str, ...]) -> str:
    """The value if it is one of the words; otherwise an error that suggests the nearest."""
    if value in words:
        return value
    from paramcount.errors.suggest import did_you_mean, nearest

    hint = did_you_mean(nearest(str(value), words), "one of " + ", ".join(words))
    raise ArgumentError(f"unknown {name} {quote(value)}", hint=hint, argument=name)
