"""Pools to a size that is given: bins that cover the input evenly."""

from dataclasses import dataclass
from typing import Any

from paramcount.layers._accept import spatial_axes
from paramcount.layers.fields import PerAxis, field
from paramcount.layers.layer import ParameterFree, Shape, Work, along
from paramcount.numbers.arithmetic import gcd, product


@dataclass(frozen=True)
class AdaptivePool(ParameterFree):
    """What adaptive pools have in common: their bins, and what these cost."""

    size: int | tuple[int | None, ...] | None = field(
        PerAxis(none=True, gaps=True), doc="the result's size on each axis; `none` keeps an axis"
    )

    family = "pooling"

    def setting(self, *inputs: Shape) -> str:
        sizes = self.size if isinstance(self.size, tuple) else (self.size,)
        return "×".join("–" if size is None else str(size) for size in sizes)

    def output_shape(self, x: Shape) -> Shape:
        axes = along("size", self.size, spatial_axes(x, self.kind))
        sizes = [old if new is None else new for old, new in zip(x.spatial, axes, strict=True)]
        return Shape((*sizes, x.channels), x.layout)

    def work(self, x: Shape) -> Work:
        y = self.output_shape(x)
        # n input positions in m bins: each bin starts where the one before it ends, or shares one position with it
        positions = product(n + m - gcd(n, m) for n, m in zip(x.spatial, y.spatial, strict=True))
        return Work(0, positions * x.channels + y.elements)


class AdaptiveAvgPool(AdaptivePool, kind="adaptive_avg_pool"):
    """The means of `size` bins along each spatial axis; `none` keeps an axis.

    Bin i of m over n positions reaches from floor(i n / m) up to ceil((i + 1) n / m), so neighbours share a position
    where m does not divide n. No MACs; elementwise: the positions of the bin, and one division, per output element.

    >>> str(AdaptiveAvgPool(size=(None, 7)).output_shape(Shape.of(13, 14, 256)))
    '13×7×256'
    """

    examples = (
        ({"size": 3}, (7, 5, 2)),
        ({"size": (None, 4)}, (5, 6, 2)),
        ({"size": 5}, (20, 3)),
        ({"size": (1, 5, 2)}, (2, 3, 4, 2)),
    )

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import numpy as jnp

        for axis, size in enumerate(along("size", self.size, x.ndim - 1)):
            if size is not None:
                bins, inside = gathered(x, axis, size)
                x = jnp.where(inside, bins, 0).sum(axis + 1) / inside.sum(axis + 1)
        return x


class AdaptiveMaxPool(AdaptivePool, kind="adaptive_max_pool"):
    """The largest of `size` bins along each spatial axis; `none` keeps an axis. The bins are adaptive_avg_pool's.

    No MACs; elementwise: the positions of the bin and 1, per output element.

    >>> str(AdaptiveMaxPool(size=(5, 7)).output_shape(Shape.of(10, 9, 8)))
    '5×7×8'
    """

    examples = (({"size": 3}, (7, 5, 2)), ({"size": (5, None)}, (3, 6, 2)), ({"size": 2}, (5, 3)))

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        for axis, size in enumerate(along("size", self.size, x.ndim - 1)):
            if size is not None:
                x = gathered(x, axis, size)[0].max(axis + 1)
        return x


def gathered(x: Any, axis: int, size: int) -> tuple[Any, Any]:
    """One axis as `(bin, position in the bin)`, and which of these positions are the bin's own, in JAX.

    Bins are filled up to one length with their own last position.
    """
    import numpy
    from jax import numpy as jnp

    bins, length = numpy.arange(size), x.shape[axis]
    first, end = bins * length // size, -(-(bins + 1) * length // size)
    place = first[:, None] + numpy.arange((end - first).max())
    inside = (place < end[:, None]).reshape(*(1,) * axis, *place.shape, *(1,) * (x.ndim - axis - 1))
    return jnp.take(x, numpy.minimum(place, end[:, None] - 1), axis), inside
