"""The same elements in other axes: flatten, reshape, transpose."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paramcount.errors import ArgumentError, ShapeError, quote
from paramcount.layers._accept import has_channels
from paramcount.layers._pattern import rearranged
from paramcount.layers.fields import Sizes, field
from paramcount.layers.layer import Free, Shape
from paramcount.numbers.arithmetic import Size, exact_div, product, require


class Flatten(Free, kind="flatten"):
    """All elements along one axis, in their order (channels last). Costs nothing.

    >>> str(Flatten().output_shape(Shape.of(7, 7, 512)))
    '25088'
    """

    family = "shape"
    examples = (({}, (3, 4, 5)), ({}, (6,)))

    def output_shape(self, x: Shape) -> Shape:
        has_channels(x, "flatten")
        return Shape.of(x.elements)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        return x.reshape(-1)


@dataclass(frozen=True)
class Reshape(Free, kind="reshape"):
    """The elements in their order, in axes of other sizes; one size may be -1 and follows from the others.

    Costs nothing. `rearrange` also names the axes, and moves them.

    >>> str(Reshape([-1, 8]).output_shape(Shape.of(4, 4, 16)))
    '32×8'
    """

    sizes: Sequence[int] = field(
        Sizes(at_least=-1), doc="the new sizes; one of them may be -1, which follows from the others"
    )

    family = "shape"
    examples = (
        ({"sizes": (4, 5, 3)}, (20, 3)),
        ({"sizes": (-1, 6)}, (4, 3, 2)),
        ({"sizes": (2, -1)}, Shape((6,), "tokens")),
    )

    def setting(self, *inputs: Shape) -> str:
        return "×".join(map(str, self.sizes))

    def output_shape(self, x: Shape) -> Shape:
        for size in self.sizes:
            require(size != 0, "a size of 0 leaves no elements", argument="sizes")
        known = product(size for size in self.sizes if not follows(size))
        if not any(map(follows, self.sizes)):
            message = f"{quote(list(self.sizes))} has {{}} elements, the value {{}}"
            hint = f"-1 takes what is left; the value is {x}"
            require(known == x.elements, message, known, x.elements, error=ShapeError, argument="sizes", hint=hint)
            return rearranged(x, *self.sizes)
        if sum(map(follows, self.sizes)) > 1:
            raise ArgumentError(f"{quote(list(self.sizes))} has more than one -1", argument="sizes")
        rest = exact_div(x.elements, known, "{} elements do not divide by {}", error=ShapeError, argument="sizes")
        return rearranged(x, *(rest if follows(size) else size for size in self.sizes))

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        return x.reshape(self.sizes)


@dataclass(frozen=True)
class Transpose(Free, kind="transpose"):
    """The axes in another order, each given by its place from 0. Costs nothing.

    >>> str(Transpose([1, 0]).output_shape(Shape.of(49, 64)))
    '64×49'
    """

    axes: Sequence[int] = field(Sizes(at_least=0), doc="the old axes in their new order, counted from 0")

    family = "shape"
    examples = (({"axes": (1, 0)}, (4, 3)), ({"axes": (2, 0, 1)}, (2, 3, 4)))

    def setting(self, *inputs: Shape) -> str:
        return " ".join(map(str, self.axes))

    def output_shape(self, x: Shape) -> Shape:
        if sorted(self.axes) != list(range(x.rank)):
            raise ShapeError(
                f"{quote(list(self.axes))} is not an order of the {x.rank} axes of {x}",
                hint=f"name each of {', '.join(map(str, range(x.rank)))} once",
                argument="axes",
            )
        return rearranged(x, *(x.sizes[axis] for axis in self.axes))

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        return x.transpose(self.axes)


def follows(size: Size) -> bool:
    return type(size) is int and size == -1
