"""What an argument may be: the checks of fields, which also say how a spec reads them."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from paramcount.errors import ArgumentError, quote, series
from paramcount.numbers.arithmetic import LIMIT, Column, native, require, varies
from paramcount.numbers.column import Mask, plain

REQUIRED = dataclasses.MISSING


class Check:
    """How one argument is checked, of a layer, a form or a function: called with its name and value, it returns the
    value in Python's own types.

    `takes` tells a spec how to read it: "expression" (numbers, flags and lists of them), "text" (taken as
    written), "value" (a path to another value), "values" (a list of paths), "start" (a path, or sizes), "items" (a
    list of items), "kind" (a kind without arguments), "key" (a name), "named" (a mapping of names) or "sizes" (all
    arguments of other names). `words` are the bare words that an expression field also takes. A `listed` field that
    comes first takes all that stands behind the kind: the whole list, or the whole mapping. `allows` says in words what
    the argument may be.
    """

    takes = "expression"
    allows: Any = "a value"
    words: tuple[str, ...] = ()
    listed = False

    def __init__(self, none: bool = False) -> None:
        self.none = none

    def __call__(self, name: str, value: Any) -> Any:
        """The value in its own type; raises ArgumentError where it cannot be used."""
        return value


class Whole(Check):
    """A whole number of at least `at_least`, and at most 1e18; 32.0 is one, 11.2 and true are not.

    >>> Whole()("out", 32.0)
    32
    """

    def __init__(self, at_least: int | None = 1, none: bool = False) -> None:
        super().__init__(none)
        self.at_least = at_least
        self.least = f"write a whole number of at least {at_least}"

    @property
    def bound(self) -> str:
        return "" if self.at_least is None else f" of at least {self.at_least}"

    @property
    def allows(self) -> str:
        return f"a whole number{self.bound}"

    def __call__(self, name: str, value: Any) -> Any:
        if type(value) is not int:
            value = whole_number(name, value)
        if type(value) is not int or not -LIMIT <= value <= LIMIT:  # the number itself may be too long to print
            within = (value <= LIMIT) & (value >= -LIMIT)
            require(within, "{} is beyond 1e18", name, argument=name, hint="numbers go up to 1e18")
        if self.at_least is not None:
            message, hint = "{} must be at least {}, not {}", self.least
            require(value >= self.at_least, message, name, self.at_least, value, argument=name, hint=hint)
        return value


class Wholes(Check):
    """Several whole numbers, each checked by `size`."""

    def __init__(self, at_least: int | None = 1, none: bool = False) -> None:
        super().__init__(none)
        self.size = Whole(at_least)


class Sizes(Wholes):
    """A list of whole numbers."""

    listed = True

    @property
    def allows(self) -> str:
        return f"a list of whole numbers{self.size.bound}"

    def __call__(self, name: str, value: Any) -> Any:
        value = native(value)
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
            size = type(value) is int and abs(value) <= LIMIT
            hint = f"write {quote(f'[{value}]')}" if size else ""
            raise ArgumentError(f"{name} is a list of whole numbers, not {quote(value)}", hint, argument=name)
        return tuple(self.size(name, each) for each in value)


class PerAxis(Wholes):
    """One whole number for every axis, or a list with one for each, or with `gaps` with None for some."""

    def __init__(self, at_least: int | None = 1, none: bool = False, gaps: bool = False) -> None:
        super().__init__(at_least, none)
        self.gaps = gaps

    @property
    def allows(self) -> str:
        return f"{self.size.allows}, or a list with one {'or none ' if self.gaps else ''}for each axis"

    def __call__(self, name: str, value: Any) -> Any:
        value = value if varies(value) else native(value)
        if isinstance(value, (list, tuple)):
            return tuple(None if each is None and self.gaps else self.size(name, each) for each in value)
        return self.size(name, value)


class Parts(PerAxis):
    """A number of equal parts, or the whole list of their sizes."""

    listed = True

    @property
    def allows(self) -> str:
        return "a number of equal parts, or a list of their sizes"


class Pairs(Wholes):
    """A list of [before, after], one for each axis."""

    listed = True
    allows = "a list of [before, after], one for each axis"

    def __call__(self, name: str, value: Any) -> Any:
        value = native(value)
        if isinstance(value, (list, tuple)) and all(isinstance(p, (list, tuple)) and len(p) == 2 for p in value):
            return tuple(tuple(self.size(name, each) for each in pair) for pair in value)
        raise ArgumentError(f"{name} is a list of [before, after], one for each axis", argument=name)


class Word(Check):
    """One of several words."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.words = words

    @property
    def allows(self) -> str:
        return series(self.words)

    def __call__(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and value in self.words:
            return value
        from paramcount.errors.suggest import unknown

        raise unknown(name, value, self.words, argument=name)


class Padding(Check):
    """`same`, `half`, `valid`, a whole number, or a list of numbers or [before, after], one for each axis."""

    word = Word("same", "half", "valid")
    words = word.words
    size = Whole(at_least=0)
    allows = "same, half, valid, a whole number, or a list of numbers or [before, after], one for each axis"

    def __call__(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return self.word(name, value)
        value = value if varies(value) else native(value)
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
    """True or false; in a sweep, a condition on which all variants agree."""

    allows = "true or false"

    def __call__(self, name: str, value: Any) -> Any:
        if isinstance(value, Mask):
            return bool(value)
        value = native(value)
        if not isinstance(value, bool):
            raise ArgumentError(f"{name} must be true or false, not {quote(value)}", argument=name)
        return value


class Number(Check):
    """A real number between two bounds, which it may equal."""

    def __init__(self, at_least: float = -math.inf, at_most: float = math.inf, none: bool = False) -> None:
        super().__init__(none)
        self.at_least, self.at_most = at_least, at_most

    @property
    def allows(self) -> str:
        if self.at_most < math.inf:
            return f"a number from {self.at_least:g} to {self.at_most:g}"
        return "a number" if self.at_least == -math.inf else f"a number of at least {self.at_least:g}"

    def __call__(self, name: str, value: Any) -> Any:
        bounds = f"at least {self.at_least:g}" if self.at_most == math.inf else f"{self.at_least:g} to {self.at_most:g}"
        if varies(value):
            numbers = plain(value)
            inside = Mask((numbers >= self.at_least) & (numbers <= self.at_most))
            require(inside, f"{name} must be {bounds}, not {{}}", value, argument=name)
            return value
        value = native(value)
        if isinstance(value, int) and not -LIMIT <= value <= LIMIT:
            raise ArgumentError(f"{name} is beyond 1e18", hint="numbers go up to 1e18", argument=name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not finite(value):
            raise ArgumentError(f"{name} must be a number, not {quote(value)}", argument=name)
        if not self.at_least <= value <= self.at_most:
            raise ArgumentError(f"{name} must be {bounds}, not {value}", argument=name)
        return value


class Text(Check):
    """Any text, taken as written."""

    takes = "text"
    allows = "text"

    def __call__(self, name: str, value: Any) -> Any:
        if not isinstance(value, str):
            raise ArgumentError(f"{name} must be text, not {quote(value)}", argument=name)
        return value


class AxisSizes(Wholes):
    """Sizes of named axes; a spec gives them as arguments of their own: `{pattern: t (h d) -> t h d, h: 8}`."""

    takes = "sizes"
    allows = "whole numbers, each as an argument by the name of its axis: `h: 8`"

    def __call__(self, name: str, value: Any) -> Any:
        try:
            pairs = dict(value).items()
        except (TypeError, ValueError):
            message = f"{name} gives a size to each name of an axis, not {quote(value)}"
            raise ArgumentError(message, argument=name) from None
        return tuple((axis, self.size(axis, size)) for axis, size in pairs)


class ValuePath(Check):
    """Where a value comes from: a name, `prev`, or a list of items."""

    takes = "value"
    allows = "a path: a name, prev, or a list of items"

    def __init__(self, none: bool = False, listed: bool = False) -> None:
        super().__init__(none)
        self.listed = listed


class ValuePaths(Check):
    """A list of places that values come from, each of them an input."""

    takes = "values"
    listed = True
    allows = "a list of paths, each a name, prev, or a list of items"

    def __call__(self, name: str, value: Any) -> Any:
        if not isinstance(value, (list, tuple)) or not value:
            hint = 'a path is `"prev"`, a name, or a list of items'
            raise ArgumentError(f"{name} must be a list of paths, not {quote(value)}", hint=hint, argument=name)
        return tuple(value)


class Kind(Check):
    """A kind that needs no argument, as a word or an item, or none."""

    takes = "kind"
    allows = "a kind that needs no argument"


class Key(Text):
    """A name: of weights that are used elsewhere too, or of a stack."""

    takes = "key"
    allows = "a name"


def field(check: Check, default: Any = REQUIRED, doc: str = "") -> Any:
    """A dataclass field that is checked by `check`, and required unless it has a default: `out: int = field(Whole())`.

    `doc` says in a few words what the argument means: for `help`, the page of layers, and hints. A default that is a
    dict is copied each time.

    >>> field(Whole(), 3, doc="the channels of the result").default
    3
    """
    metadata = {"check": check, "doc": doc}
    if isinstance(default, dict):
        return dataclasses.field(default_factory=default.copy, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def finite(number: float) -> bool:
    """Whether a number is neither infinite, nor NaN, nor a whole number beyond all floats."""
    return -math.inf < number < math.inf and abs(number) < 2**1024


def whole_number(name: str, value: Any) -> Any:
    """The value as a whole number; 32.0 is one, 11.2 and true are not."""
    if varies(value):
        return Column.whole(name, value)
    value = native(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        hint = "use `//`, `ceil(...)`, `floor(...)` or `round8(...)`"
        shown = f"{value:.10g}"
        shown = repr(value) if float(shown).is_integer() else shown  # 3.0000000000000004
        raise ArgumentError(f"{name}: {shown} is not a whole number", hint=hint, argument=name)
    raise ArgumentError(f"{name} must be a whole number, not {quote(value)}", argument=name)
