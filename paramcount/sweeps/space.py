"""The points of a sweep: variables and their values as a grid, in pairs, or drawn at random."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from paramcount.errors import ArgumentError, quote
from paramcount.language.language import SpecSyntax
from paramcount.language.load import Loaded
from paramcount.language.variables import given_value, undeclared
from paramcount.layers.arguments import argument, whole_argument
from paramcount.layers.fields import Flag
from paramcount.numbers.arithmetic import native
from paramcount.numbers.column import IN_FLOATS, MOST
from paramcount.sweeps.region import Region

ELEMENT = re.compile(r"(\w+)\[(\d+|\*)\]")
NUMBERS = 2**24  # held by the arrays of one window
GRID = 2**16  # points in one window of a grid
MOST_POINTS = 10**10  # some hours
MOST_VALUES = 10**7  # of a variable that is given as a range, or by anything else that may never end


class Space:
    """The points of a sweep, in order, cut into windows that are counted one by one.

    `axes` holds the values of each variable: a NumPy array of numbers, or of indices into its `choices`, which are
    words, conditions or lists. `fixed` holds the variables that have one value or are computed from others, and
    `subject` describes the network with these alone. A name `depths[2]` is one entry of a list, and `depths[*]` stands
    for all of them.
    """

    def __init__(
        self,
        syntax: SpecSyntax,
        variant: str | None,
        variables: Mapping[str, Any],
        paired: bool = False,
        random: int | None = None,
        seed: int = 0,
    ) -> None:
        self.syntax = syntax
        self.variant = variant
        self.random = random = None if random is None else whole_argument("random", random)
        self.seed = whole_argument("seed", seed, at_least=0)
        paired = argument("paired", paired, Flag())
        self.axes: dict[str, Any] = {}
        self.choices: dict[str, list[Any]] = {}
        self.fixed: dict[str, Any] = {}
        self.lists: dict[str, list[Any]] = {}
        if not variables:
            raise ArgumentError("a sweep needs a variable and its values", hint="e.g. width=[0.5, 0.75, 1.0]")
        for name, values in variables.items():
            element = ELEMENT.fullmatch(name)
            if (element[1] if element else name) not in syntax.variables:
                raise undeclared(name, list(syntax.variables), None)
            if element is None and one_value(values):
                self.fixed[name] = values
        base = Loaded(syntax, variant, self.fixed)
        self.base, self.subject = base.vars, base.subject._replace(given=dict(self.fixed))
        for name, values in variables.items():
            if name not in self.fixed:
                for each in self.elements(name):
                    if each in self.axes:
                        raise ArgumentError(f"{quote(each)} is given twice", hint="give its values once")
                    self.axes[each] = self.values(each, values)
        for name in self.lists:
            if name in self.axes:
                raise ArgumentError(
                    f"{quote(name)} has several values, and so have its entries", hint="vary one of the two"
                )
        lengths = {name: len(values) for name, values in self.axes.items()}
        self.single = paired or random is not None
        if paired:
            if random is not None:
                raise ArgumentError("`paired` and `random` cannot be combined", hint="leave out one of the two")
            if len(set(lengths.values())) > 1:
                shown = ", ".join(f"{quote(name)} has {length:,}" for name, length in lengths.items())
                raise ArgumentError(f"paired variables must have the same number of values, but {shown}")
        self.shape = self.shaped(lengths)
        self.size = 1
        for length in self.shape:
            self.size *= length
        if self.size > MOST_POINTS:
            hint = (
                f"at most {MOST_POINTS:,}: draw some of them with `random` (`--random N`), or give pairs with `paired`"
            )
            raise ArgumentError(f"{self.size:,} points are too many to count", hint=hint)

    def shaped(self, lengths: dict[str, int]) -> tuple[int, ...]:
        if self.random is not None:
            return (self.random,)
        if self.single:
            return (next(iter(lengths.values()), 1),)
        return tuple(lengths.values()) or (1,)

    def elements(self, name: str) -> list[str]:
        """The name itself, or the names of all entries of a list, which is read once."""
        element = ELEMENT.fullmatch(name)
        if element is None:
            return [name]
        owner, index = element[1], element[2]
        if owner not in self.lists:
            found = self.base[owner]
            if not isinstance(found, list):
                raise ArgumentError(f"{quote(owner)} is not a list, so there is no {quote(name)}")
            self.lists[owner] = found
        length = len(self.lists[owner])
        if index == "*":
            return [f"{owner}[{each}]" for each in range(length)]
        if int(index) >= length:
            hint = f"its entries are {owner}[0] to {owner}[{length - 1}]"
            raise ArgumentError(f"{quote(owner)} has {length} entries, so there is no index {index}", hint=hint)
        return [name]

    def values(self, name: str, given: Any) -> Any:
        """A variable's values as an array; raises ArgumentError if they are not valid."""
        import numpy

        if one_value(given):
            given = [given]
        if isinstance(given, (bytes, Mapping)):
            hint = f"e.g. {name}=[0.5, 1.0]"
            raise ArgumentError(f"{quote(name)} takes a list of values, not {quote(given, repr)}", hint=hint)
        if not isinstance(given, (numpy.ndarray, list, tuple)):
            some = given[: MOST_VALUES + 1] if isinstance(given, range) else list(islice(given, MOST_VALUES + 1))
            if len(some) > MOST_VALUES:
                raise ArgumentError(f"{quote(name)} has more than {MOST_VALUES:,} values", hint="take a larger step")
            given = list(some)
        values: Any = given
        if getattr(values, "ndim", 0) == 1:
            values = numpy.asarray(values)
        else:
            every = (native(each) for each in native(values))
            values = [each if type(each) in (int, float) else given_value(name, each) for each in every]
        if not len(values):
            raise ArgumentError(f"{quote(name)} has no values", hint=f"e.g. {name}=[0.5, 1.0]")
        array = numpy.asarray(values) if all_numbers(values) and not mixed(values) else None
        if array is not None and huge(array, values):  # kept as they are, for the error that each has alone
            array, values = None, array.tolist() if hasattr(values, "dtype") else values
        if array is not None and isinstance(self.base.get(name), list):
            hint = f"give lists, [[...], [...]], or values of its entries: '{name}[0]', '{name}[*]'"
            raise ArgumentError(f"{quote(name)} is a list", hint=hint)
        if array is None or array.dtype.kind not in "iuf":
            self.choices[name] = [native(each) for each in values]
            return numpy.arange(len(values))
        if array.ndim != 1:
            raise ArgumentError(f"the values of {quote(name)} must be a list of numbers")
        if array.dtype.kind == "f" and not numpy.isfinite(array).all():
            raise ArgumentError(f"the values of {quote(name)} must be finite")
        return array.astype(numpy.float64 if array.dtype.kind == "f" else numpy.int64)

    def windows(self, most: int | None = None) -> Iterator[tuple[int, int]]:
        """The first point and the number of points of each window."""
        count = most or (max(NUMBERS // (len(self.axes) + 16), 1) if self.single else GRID)
        if not self.single:  # whole slices of the first axes, so that each window is itself a grid
            inner = self.size
            for length in self.shape:
                inner //= length
                if inner <= count:
                    break
            row = inner * length
            steps = max(count // inner, 1) * inner
            for start in range(0, self.size, row):
                yield from ((start + first, min(steps, row - first)) for first in range(0, row, steps))
            return
        yield from ((start, min(count, self.size - start)) for start in range(0, self.size, count))

    def region(self, start: int, count: int) -> Region:
        """The points of a window; their places are counted from its start."""
        import numpy

        places = numpy.arange(count)
        if self.random is not None:
            generator = numpy.random.default_rng([self.seed, start])
            drawn = {name: values[generator.integers(len(values), size=count)] for name, values in self.axes.items()}
            return Region(drawn, places)
        if self.single:
            return Region({name: values[start : start + count] for name, values in self.axes.items()}, places)
        values, shape, inner = {}, [], self.size
        rank = len(self.shape)
        for axis, (name, each) in enumerate(self.axes.items()):
            inner //= len(each)
            first, length = start // inner % len(each), min(max(count // inner, 1), len(each))
            values[name] = each[first : first + length].reshape([-1 if axis == other else 1 for other in range(rank)])
            shape.append(length)
        return Region(values, places.reshape(shape or (1,)))

    def network(self, values: Mapping[str, Any]) -> Loaded:
        """The network whose variables have these values: each a number, a choice, or a Column of all points."""
        given = dict(self.fixed)
        lists = {name: list(entries) for name, entries in self.lists.items()}
        for name, value in values.items():
            value = self.choices[name][value] if name in self.choices else value
            element = ELEMENT.fullmatch(name)
            if element:
                lists[element[1]][int(element[2])] = value
            else:
                given[name] = value
        return Loaded(self.syntax, self.variant, given | lists)

    def indices(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point with each choice replaced by its index."""
        given = {name: value for name, value in point.items() if name not in self.fixed}
        return {n: self.choices[n].index(each) if n in self.choices else each for n, each in given.items()}

    def shown(self, name: str, values: Any) -> Any:
        """A variable's values as a column of the result: numbers, or the choices themselves."""
        import numpy

        if name not in self.choices:
            return values
        choices = self.choices[name]
        if all_numbers(choices) and max(map(abs, choices)) <= IN_FLOATS:
            return numpy.array(choices)[values]
        table = numpy.empty(len(choices), object)
        table[:] = choices
        return table[values]


def one_value(values: Any) -> bool:
    """Whether a variable has one value rather than several."""
    return isinstance(values, str) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0


def mixed(values: Any) -> bool:
    """Whether some numbers are ints and others floats: each is counted as what it is, since `n / 2` depends on it."""
    return not hasattr(values, "dtype") and len({isinstance(each, int) for each in values}) > 1


def huge(array: Any, values: Any) -> bool:
    """Whether some whole numbers do not fit int64, so that NumPy made others of them."""
    if array.dtype.kind == "u":
        return bool(array.max() > MOST)
    return array.dtype.kind != "i" and not hasattr(values, "dtype") and isinstance(values[0], int)


def all_numbers(values: Any) -> bool:
    return hasattr(values, "dtype") or all(isinstance(each, (int, float)) and type(each) is not bool for each in values)
