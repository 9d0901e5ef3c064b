"""Several values joined along one axis."""

from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError
from paramcount.layers._accept import has_axis, has_numbers
from paramcount.layers.fields import Whole, field
from paramcount.layers.layer import Shape, Work
from paramcount.layers.merge import Merge
from paramcount.numbers.arithmetic import require

HINT = "bring the paths to the same sizes first: `upsample`, `crop`, or equal strides"


@dataclass(frozen=True)
class Concat(Merge, kind="concat"):
    """Values joined along one axis, the last unless said otherwise; all their other axes are equal.

    Costs nothing: no MACs, no elementwise operations.

    >>> str(Concat(["prev", "skip"]).output_shape(Shape.of(7, 7, 64), Shape.of(7, 7, 32)))
    '7×7×96'
    """

    axis: int = field(Whole(at_least=None), -1, doc="the axis along which the values are joined; -1 is the last")

    family = "merge"
    by_name = ("axis",)
    examples = (
        ({"paths": ("a", "b")}, (3, 4, 5), (3, 4, 2)),
        ({"paths": ("a", "b", "c"), "axis": 0}, (3, 4), (1, 4), (2, 4)),
        ({"paths": ("a",)}, (3,)),
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
            require(first.rank == other.rank, *self.differ(first, other, axis), error=ShapeError, hint=HINT)
            for i, (one, two) in enumerate(zip(first.sizes, other.sizes, strict=True)):
                if i != axis:
                    require(one == two, *self.differ(first, other, axis), error=ShapeError, hint=HINT)
            total = total + other.sizes[axis]
        return Shape((*first.sizes[:axis], total, *first.sizes[axis + 1 :]), first.layout)

    def work(self, *inputs: Shape) -> Work:
        return Work()

    def forward(self, params: dict[str, Any], *inputs: Any, context: Any) -> Any:
        from jax import numpy as jnp

        return jnp.concatenate(inputs, self.axis)

    def differ(self, first: Shape, other: Shape, axis: int) -> tuple[str, Shape, Shape]:
        what = "the channels" if axis == first.rank - 1 else f"axis {axis}"
        return f"`concat` joins {{}} and {{}}: only {what} may differ", first, other
