"""Sums of products over named axes."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from string import ascii_letters
from typing import Any, NamedTuple

from paramcount.errors import ArgumentError, ShapeError, quote
from paramcount.layers._accept import has_numbers
from paramcount.layers.fields import Text, ValuePaths, field
from paramcount.layers.layer import Contraction, ParameterFree, Shape, Work
from paramcount.numbers.arithmetic import Size, product, require
from paramcount.numbers.units import number_of

Axes = tuple[str, ...]
MOST_VALUES = 1000  # each contraction names all the values before it


class Pair(NamedTuple):
    """The product of two values: how many products of numbers it is, and whether any are summed, in the result and in
    the gradient by each value, which sums over the axes that the value does not have."""

    products: Size
    sums: bool
    gradients_sum: tuple[bool, bool]


@dataclass(frozen=True)
class Einsum(ParameterFree, kind="einsum"):
    """The sum of products of several values over axes named by a pattern, `t d, s d -> t s`; `d, d ->` is a scalar.

    MACs: the product of all the axes' sizes. More than two values are multiplied from left to right, a pair at a time,
    and each pair counts by its own axes. A pair that sums nothing, as in `t d, d -> t d`, has no MACs; elementwise: 1
    for each element of its product.

    >>> Einsum(pattern="t d, s d -> t s", paths=["q", "k"]).work(Shape.of(64, 32), Shape.of(128, 32)).macs
    262144
    """

    pattern: str = field(Text(), doc="the axes of each value and of the result: `t d, s d -> t s`")
    paths: Any = field(ValuePaths(), doc="the paths of the values, in the order of the pattern")

    family = "contraction"
    by_name = ("pattern", "paths")
    takes_prev = False
    examples = (
        ({"pattern": "t d, s d -> t s", "paths": ("a", "b")}, (5, 4), (6, 4)),
        ({"pattern": "b h i d, b h j d -> b h i j", "paths": ("a", "b")}, (2, 3, 5, 4), (2, 3, 6, 4)),
        ({"pattern": "d, d ->", "paths": ("a", "b")}, (7,), (7,)),
        ({"pattern": "t s, t s -> s t", "paths": ("a", "b")}, (3, 4), (3, 4)),
        ({"pattern": "a b, b c, c d -> d a", "paths": ("a", "b", "c")}, (2, 3), (3, 4), (4, 5)),
    )

    def setting(self, *inputs: Shape) -> str:
        return self.pattern

    def output_shape(self, *inputs: Shape) -> Shape:
        _, result = parse(self.pattern)
        sizes = self.sizes(*inputs)
        return Shape.of(*(sizes[axis] for axis in result))

    def work(self, *inputs: Shape) -> Work:
        work = Work()
        for pair in self.pairs(*inputs):
            work = work + (Work(pair.products) if pair.sums else Work(0, pair.products))
        return work

    def contractions(self, *inputs: Shape) -> tuple[Contraction, ...]:
        found = []
        for i, pair in enumerate(self.pairs(*inputs), 1):
            operands = tuple(range(i)), (i,)
            if pair.sums:
                found.append(Contraction(pair.products, operands))
            else:
                gradients = tuple(pair.products if sums else 0 for sums in pair.gradients_sum)
                found.append(Contraction(0, operands, gradients))
        return tuple(found)

    def forward(self, params: dict[str, Any], *inputs: Any, context: Any) -> Any:
        from jax import numpy as jnp

        operands, _ = parse(self.pattern)
        letter = dict(zip(dict.fromkeys(chain.from_iterable(operands)), ascii_letters, strict=False))
        result, *others = inputs
        for value, axes in zip(others, steps(self.pattern), strict=True):
            left, right, kept = ("".join(letter[axis] for axis in each) for each in axes)
            result = jnp.einsum(f"{left},{right}->{kept}", result, value)
        return result

    def pairs(self, *inputs: Shape) -> list[Pair]:
        """The products of two values that the whole consists of, from left to right."""
        sizes = self.sizes(*inputs)
        found = []
        for left, right, kept in steps(self.pattern):
            axes = dict.fromkeys(left + right)
            gradients_sum = len(left) < len(axes), len(right) < len(axes)
            found.append(Pair(product(sizes[axis] for axis in axes), len(kept) < len(axes), gradients_sum))
        return found

    def sizes(self, *inputs: Shape) -> dict[str, Size]:
        """The size of each axis; raises ShapeError where the values do not fit the pattern, or each other."""
        operands, _ = parse(self.pattern)
        if len(operands) != len(inputs):
            raise ArgumentError(
                f"the pattern {quote(self.pattern)} has {number_of(len(operands), 'value')}, `paths` has {len(inputs)}",
                hint="give one path for each, in the order of the pattern",
                argument="paths",
            )
        found: dict[str, Size] = {}
        for axes, x in zip(operands, inputs, strict=True):
            has_numbers(x, "einsum")
            if len(axes) != x.rank:
                message = f"{quote(' '.join(axes))} in the pattern names {len(axes)} axes, the value has {x.rank}: {x}"
                raise ShapeError(message, argument="pattern")
            for axis, size in zip(axes, x.sizes, strict=True):
                known = found.setdefault(axis, size)
                require(known == size, f"the axis `{axis}` is {{}} and {{}}", known, size, error=ShapeError)
        return found


@lru_cache(maxsize=512)
def parse(pattern: str) -> tuple[tuple[Axes, ...], Axes]:
    """The axes of each value, and those of the result; raises ArgumentError.

    >>> parse("t d, s d -> t s")
    ((('t', 'd'), ('s', 'd')), ('t', 's'))
    """
    left, arrow, right = pattern.partition("->")
    operands = tuple(tuple(each.split()) for each in left.split(","))
    result = tuple(right.split())
    if not arrow:
        wrong(pattern, "needs one `->`", "as in `t d, s d -> t s`")
    if len(operands) < 2:
        wrong(pattern, "has one value only", "use `rearrange` to move axes, `global_pool` to average over them")
    if len(operands) > MOST_VALUES:
        wrong(pattern, f"has more than {MOST_VALUES:,} values", "multiply some of them before")
    for axes in (*operands, result):
        for axis in axes:
            if not axis.isidentifier():
                wrong(pattern, f"has {quote(axis)} where the name of an axis is expected", "part names by spaces")
        twice = next((axis for axis, times in Counter(axes).items() if times > 1), None)
        if twice:
            wrong(pattern, f"has the axis {quote(twice)} twice in one value")
    holders = Counter(chain.from_iterable(operands))  # how many values have an axis
    for axis in result:
        if axis not in holders:
            wrong(pattern, f"has the axis {quote(axis)} on the right only")
    for axis, times in holders.items():
        if times < 2 and axis not in result:
            wrong(pattern, f"has the axis {quote(axis)} once only", "an axis is in the result, or in two values")
    if len(holders) > len(ascii_letters):
        wrong(pattern, f"has more than {len(ascii_letters)} axes")
    return operands, result


def steps(pattern: str) -> list[tuple[Axes, Axes, Axes]]:
    """The products from left to right: the axes of the result so far, of the next value, and of their product."""
    operands, result = parse(pattern)
    last = {axis: i for i, axes in enumerate(operands, 1) for axis in axes}  # the last value that has an axis
    found = []
    left = operands[0]
    for i, right in enumerate(operands[1:], 2):
        kept = tuple(axis for axis in dict.fromkeys(left + right) if axis in result or last[axis] > i)
        kept = kept if i < len(operands) else result
        found.append((left, right, kept))
        left = kept
    return found


def wrong(pattern: str, fault: str, hint: str = "") -> None:
    raise ArgumentError(f"the pattern {quote(pattern)} {fault}", hint=hint, argument="pattern")
