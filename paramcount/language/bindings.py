"""Variables while a spec is expanded, and the record of what a loop's iterations read of them.

An iteration is like an earlier one if every expression that the earlier one evaluated from the loop's variables has
the same value in it. So equal iterations are found without being expanded.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from paramcount.errors import ParamcountError, SpecError
from paramcount.language.expression.parse import Expression
from paramcount.layers.layer import Shape
from paramcount.numbers.column import Mask

MISSING = object()


class Read(NamedTuple):
    """An expression that was evaluated, in which bindings and for which arriving shape, and its value.

    `names` are the variables of the loop that were seen there, and not hidden by those of a loop inside it.
    """

    expression: Expression
    bindings: Bindings
    shape: Shape | None
    value: Any
    names: frozenset[str]


class Default(NamedTuple):
    """The expression of a block's argument that was not given, and what it was evaluated from."""

    expression: Expression
    bindings: Bindings
    shape: Shape | None


class Bindings:
    """Values of variables, and the loop iterations that want to know which expressions read theirs.

    `base` are the bindings of the file's own variables, without those of blocks and loops. `defaults` are the
    defaults of a block's arguments that were not given and are not hidden by the variables of a loop.
    """

    __slots__ = ("base", "defaults", "frames", "values")

    def __init__(
        self,
        values: dict[str, Any],
        frames: tuple[tuple[frozenset[str], list[Read]], ...] = (),
        base: Bindings | None = None,
        defaults: dict[str, Default] | None = None,
    ) -> None:
        self.values = values
        self.frames = frames
        self.base = base or self
        self.defaults = defaults or {}

    def inside(self, values: dict[str, Any], reads: list[Read]) -> Bindings:
        """The bindings of one iteration: inner variables hide outer ones."""
        own = frozenset(values)
        frames = tuple((names - own, record) for names, record in self.frames if not names <= own)
        defaults = self.defaults
        if not own.isdisjoint(defaults):
            defaults = {name: default for name, default in defaults.items() if name not in own}
        return Bindings({**self.values, **values}, (*frames, (own, reads)), self.base, defaults)

    def evaluate(self, expression: Expression, shape: Shape | None) -> Any:
        """The value of an expression for the value that arrives."""
        values = self.values
        value = values.get(expression.text, MISSING)  # most expressions are one variable
        if value is MISSING:

            def lookup(name: str) -> Any:
                found = values.get(name, MISSING)
                return axis(name, shape, expression) if found is MISSING else found

            value = expression.evaluate(lookup)
        for names, reads in self.frames:
            if not names.isdisjoint(expression.names):
                reads.append(Read(expression, self, shape, value, names))
        return value

    def value(self, name: str, shape: Shape | None, expression: Expression) -> Any:
        """The value of a variable of an expression."""
        return self.values[name] if name in self.values else axis(name, shape, expression)

    def replays(self, reads: list[Read], values: dict[str, Any]) -> bool:
        """Whether expressions that an earlier iteration read would have the same values with this one's variables.

        They count as read by the loops around, whose own iterations must agree on them too.
        """
        own = frozenset(values)
        for read in reads:
            frames = tuple((names, record) for names, record in read.bindings.frames if names.isdisjoint(own) and names)
            seen = {name: values[name] for name in read.names}
            there = Bindings({**read.bindings.values, **seen}, frames, read.bindings.base)
            try:
                value = there.evaluate(read.expression, read.shape)
            except ParamcountError:
                return False
            if not same_value(value, read.value):
                return False
        return True


EMPTY = Bindings({})


def axis(name: str, shape: Shape | None, expression: Expression) -> Any:
    """`cin` or `length`: an axis of the value that arrives."""
    if shape is None:
        raise SpecError(
            f"`{name}` is the width of the value that arrives, and there is none here",
            hint="with several inputs, start with `from: NAME`",
            position=expression.position,
        )
    if name == "cin" and shape.layout == "tokens":
        raise SpecError(
            "`cin` has no meaning on tokens, which have no channels",
            hint="give the width, or put an `embedding` before",
            position=expression.position,
        )
    if not shape.sizes:
        raise SpecError(f"`{name}` of a scalar", hint="give the number", position=expression.position)
    return shape.sizes[-1] if name == "cin" else shape.sizes[0]


def same_value(one: Any, two: Any) -> bool:
    if type(one) is not type(two):
        return False
    if isinstance(one, list):
        return len(one) == len(two) and all(map(same_value, one, two))
    if one is two:
        return True
    same = one == two
    return bool(Mask(same) if hasattr(same, "dtype") else same)
