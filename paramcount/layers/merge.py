"""Several values made one: what `add`, `subtract`, `multiply` and `concat` come to."""

from dataclasses import dataclass
from functools import reduce
from typing import Any

from paramcount.errors import ShapeError
from paramcount.fields import Whole, field
from paramcount.layer import Layer, Param, Shape, Work
from paramcount.layers.accept import has_axis, has_numbers
from paramcount.numeric import require


class Merge(Layer):
    """Values combined element by element: the first sets the shape, the others are equal or broadcast to it.

    Work: one elementwise operation for each element and each value beyond the first.
    """

    examples = (
        ({}, (3, 4, 5), (3, 4, 5)),
        ({}, (3, 4, 5), (5,), (4, 1)),
    )

    def output_shape(self, *inputs: Shape) -> Shape:
        first, *others = inputs
        for x in inputs:
            has_numbers(x, self.kind)
        for other in others:
            fits(first, other, self.kind)
        return first

    def params(self, *inputs: Shape) -> dict[str, Param]:
        return {}

    def work(self, *inputs: Shape) -> Work:
        return Work(0, (len(inputs) - 1) * inputs[0].elements)


class AddValues(Merge, kind="add"):
    """The sum of values.

    >>> AddValues().work(Shape.of(7, 7, 64), Shape.of(7, 7, 64)).elementwise
    3136
    """

    def forward(self, params: dict[str, Any], *inputs: Any, context: Any) -> Any:
        return reduce(lambda a, b: a + b, inputs)


class SubtractValues(Merge, kind="subtract"):
    """The first value less the others.

    >>> SubtractValues().work(Shape.of(10), Shape.of(10)).elementwise
    10
    """

    def forward(self, params: dict[str, Any], *inputs: Any, context: Any) -> Any:
        return reduce(lambda a, b: a - b, inputs)


class MultiplyValues(Merge, kind="multiply"):
    """The product of values, element by element: a gate is one.

    >>> str(MultiplyValues().output_shape(Shape.of(7, 7, 64), Shape.of(64)))
    '7×7×64'
    """

    def forward(self, params: dict[str, Any], *inputs: Any, context: Any) -> Any:
        return reduce(lambda a, b: a * b, inputs)


@dataclass(frozen=True)
class ConcatValues(Layer, kind="concat"):
    """Values joined along one axis, the last unless said otherwise; all their other axes are equal.

    Costs nothing: no MACs, no elementwise operations.

    >>> str(ConcatValues().output_shape(Shape.of(7, 7, 64), Shape.of(7, 7, 32)))
    '7×7×96'
    """

    axis: int = field(Whole(at_least=None), -1)

    examples = (
        ({}, (3, 4, 5), (3, 4, 2)),
        ({"axis": 0}, (3, 4), (1, 4), (2, 4)),
        ({}, (3,)),
    )

    def setting(self, *inputs: Shape) -> str:
        return "" if self.axis == -1 else f"axis {self.axis}"

    def output_shape(self, *inputs: Shape) -> Shape:
        first, *others = inputs
        for x in inputs:
            has_numbers(x, self.kind)
        axis = has_axis(first, self.axis)
        total = first.sizes[axis]
        for other in others:
            require(first.rank == other.rank, *self.differ(first, other, axis), error=ShapeError)
            for i, (one, two) in enumerate(zip(first.sizes, other.sizes, strict=True)):
                if i != axis:
                    require(one == two, *self.differ(first, other, axis), error=ShapeError)
            total = total + other.sizes[axis]
        return Shape((*first.sizes[:axis], total, *first.sizes[axis + 1 :]), first.layout)

    def params(self, *inputs: Shape) -> dict[str, Param]:
        return {}

    def work(self, *inputs: Shape) -> Work:
        return Work()

    def forward(self, params: dict[str, Any], *inputs: Any, context: Any) -> Any:
        from jax import numpy as jnp

        return jnp.concatenate(inputs, self.axis)

    def differ(self, first: Shape, other: Shape, axis: int) -> tuple[str, Shape, Shape]:
        what = "the channels" if axis == first.rank - 1 else f"axis {axis}"
        return f"`concat` joins {{}} and {{}}: only {what} may differ", first, other


def fits(first: Shape, other: Shape, kind: str) -> None:
    """Raise ShapeError unless the other shape is equal to the first or broadcasts to it by NumPy's rule."""
    details = {
        "error": ShapeError,
        "hint": "give one of them a path that changes its shape (a `pointwise`, say), or a condition `when`",
    }
    message = f"`{kind}` needs one shape, and got {{}} and {{}}: the first sets the shape"
    require(other.rank <= first.rank, message, first, other, **details)
    for one, two in zip(reversed(first.sizes), reversed(other.sizes), strict=False):
        require((two == one) | (two == 1), message, first, other, **details)
