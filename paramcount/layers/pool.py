"""Pools: the largest or the mean of each channel in a sliding window."""

from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError
from paramcount.layers._accept import spatial_axes
from paramcount.layers._window import describe, paddings
from paramcount.layers.fields import Flag, Padding, PerAxis, field
from paramcount.layers.layer import ParameterFree, Shape, Work, along
from paramcount.numbers.arithmetic import Size, ceil_div, maximum, minimum, product, require, where


@dataclass(frozen=True)
class Pool(ParameterFree):
    """What both pools have in common: their windows, and where these stand."""

    kernel: int | tuple[int, ...] = field(PerAxis(), doc="the window's size, one number or one for each axis")
    stride: int | tuple[int, ...] | None = field(
        PerAxis(none=True), None, doc="the step from one window to the next; the kernel's size unless given"
    )
    padding: Any = field(Padding(), "valid", doc="zeros around the input: `same`, `half`, `valid`, or numbers")
    ceil: bool = field(Flag(), False, doc="whether a last window that hangs over the edge counts")

    family = "pooling"
    dilation = 1

    def setting(self, *inputs: Shape) -> str:
        return describe(self.kernel, self.kernel if self.stride is None else self.stride, self.dilation, *inputs)

    def output_shape(self, x: Shape) -> Shape:
        return pooled(x, self)


@dataclass(frozen=True)
class MaxPool(Pool, kind="max_pool"):
    """The largest of each window, over one, two or three spatial axes; the stride is the kernel unless given.

    With `ceil`, a last window that hangs over the edge counts, if it starts in the input or the padding before it. No
    MACs; elementwise: the kernel's positions per output element, even where some lie in the padding.

    >>> MaxPool(kernel=3, stride=2, ceil=True).output_shape(Shape.of(112, 112, 64)).sizes
    (56, 56, 64)
    """

    dilation: int | tuple[int, ...] = field(PerAxis(), 1, doc="the step between the elements of a window")

    by_name = ("ceil", "dilation")
    examples = (
        ({"kernel": 2}, (6, 7, 3)),
        ({"kernel": 3, "stride": 2, "padding": "same"}, (9, 8, 2)),
        ({"kernel": 2, "padding": 1, "ceil": True}, (5, 5, 2)),
        ({"kernel": (3, 2), "stride": (2, 1), "padding": (1, 0), "dilation": (2, 1)}, (10, 11, 2)),
        ({"kernel": 3, "stride": 2}, (17, 4)),
        ({"kernel": (1, 2, 2), "ceil": True}, (3, 4, 5, 2)),
    )

    def work(self, x: Shape) -> Work:
        return Work(0, product(along("kernel", self.kernel, x.rank - 1)) * self.output_shape(x).elements)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import lax
        from jax import numpy as jnp

        return slide(x, self, -jnp.inf, lax.max)


@dataclass(frozen=True)
class AvgPool(Pool, kind="avg_pool"):
    """The mean of each window, over one, two or three spatial axes; the stride is the kernel unless given.

    Padding counts as zeros, unless `count_pad` is false; what hangs over by `ceil` never counts. No MACs;
    elementwise: the positions of the window that count, and one division, per output element.

    >>> AvgPool(kernel=3, stride=2, ceil=True, count_pad=False).work(Shape.of(4, 1)).elementwise  # 3 + 2 and 2
    7
    """

    count_pad: bool = field(Flag(), True, doc="whether the mean includes the zeros of the padding")

    by_name = ("ceil", "count_pad")
    examples = (
        ({"kernel": 2}, (6, 7, 3)),
        ({"kernel": 3, "stride": 1, "padding": "half"}, (5, 6, 2)),
        ({"kernel": 3, "stride": 2, "padding": "same", "count_pad": False}, (7, 8, 2)),
        ({"kernel": 4, "stride": 3, "padding": 2, "ceil": True}, (21, 3)),
        ({"kernel": 3, "stride": 2, "padding": 1, "ceil": True, "count_pad": False}, (5, 6, 4, 2)),
    )

    def work(self, x: Shape) -> Work:
        y = self.output_shape(x)
        kernel, stride, _, pads = window(self, x.spatial)
        positions = product(
            covered(*axis, self.count_pad) for axis in zip(x.spatial, y.spatial, kernel, stride, pads, strict=True)
        )
        return Work(0, positions * x.channels + y.elements)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        import numpy
        from jax import lax

        total = slide(x, self, 0, lax.add)
        kernel, stride, _, pads = window(self, x.shape[:-1])
        counts = numpy.ones((1,) * x.ndim, total.dtype)
        for axis, (before, after) in enumerate(pads):
            first = numpy.arange(total.shape[axis]) * stride[axis] - before
            last = numpy.minimum(first + kernel[axis], x.shape[axis] + after)
            if not self.count_pad:
                first, last = numpy.maximum(first, 0), numpy.minimum(last, x.shape[axis])
            counts = counts * (last - first).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        return total / counts.astype(total.dtype)


def window(pool: Pool, sizes: tuple) -> tuple[tuple, tuple, tuple, list]:
    """Kernel, stride, dilation and padding of a pool along each axis."""
    axes = len(sizes)
    kernel = along("kernel", pool.kernel, axes)
    stride = kernel if pool.stride is None else along("stride", pool.stride, axes)
    spread = along("dilation", pool.dilation, axes)
    return kernel, stride, spread, paddings(sizes, kernel, stride, spread, pool.padding)


def pooled(x: Shape, pool: Pool) -> Shape:
    """The shape of a pool's result; raises ShapeError where a window does not fit, or sees nothing but padding."""
    spatial_axes(x, pool.kind)
    places = []
    for size, kernel, step, spread, (before, after) in zip(x.spatial, *window(pool, x.spatial), strict=True):
        reach = spread * (kernel - 1) + 1
        padded = size + before + after
        message = "the kernel spans {} positions, the padded input has {}"
        hint = "use a smaller kernel or more padding"
        hanging = step - 1 if pool.ceil else 0  # how far a window may hang over the edge
        require(padded + hanging >= reach, message, reach, padded, error=ShapeError, hint=hint, argument="kernel")
        message = "padding {} is not smaller than the kernel's reach {}: a window would see nothing but padding"
        require(maximum(before, after) < reach, message, maximum(before, after), reach, argument="padding")
        count = (padded + hanging - reach) // step + 1
        places.append(where((count - 1) * step >= size + before, count - 1, count) if pool.ceil else count)
    return Shape((*places, x.channels), x.layout)


def slide(x: Any, pool: Pool, start: float, operation: Any) -> Any:
    """The windows of an array reduced by `operation` from `start` (which also fills the padding), in JAX."""
    from jax import lax

    kernel, stride, spread, pads = window(pool, x.shape[:-1])
    places = pooled(Shape.of(*x.shape), pool).spatial
    widths = []
    for size, count, width, step, gap, (before, _) in zip(
        x.shape[:-1], places, kernel, stride, spread, pads, strict=True
    ):
        reach = gap * (width - 1) + 1
        widths.append((before, max((count - 1) * step + reach - size - before, 0)))
    start = x.dtype.type(start)
    if set(spread) == {1}:
        return lax.reduce_window(x, start, operation, (*kernel, 1), (*stride, 1), (*widths, (0, 0)))
    # JAX cannot differentiate dilated windows, so these are reduced axis by axis, by gathers.
    from numpy import arange

    for axis, (count, width, step, gap) in enumerate(zip(places, kernel, stride, spread, strict=True)):
        taps = (arange(count) * step)[:, None] + arange(width) * gap
        x = lax.pad(x, start, [(*widths[i], 0) if i == axis else (0, 0, 0) for i in range(x.ndim)])
        x = lax.reduce(x.take(taps, axis), start, operation, (axis + 1,))
    return x


def covered(size: Size, places: Size, kernel: Size, stride: Size, padding: tuple, count_pad: bool) -> Size:
    """How many positions the windows along one axis cover in total, without what hangs over the edge.

    >>> covered(4, 2, 3, 2, (0, 0), count_pad=True)
    5
    """
    before, after = padding
    end = size + after if count_pad else size
    # Window i covers i · stride - before up to kernel more: `whole` of them end before `end`, the others are cut there.
    whole = minimum(maximum((end - kernel + before) // stride + 1, 0), places)
    ends = whole * (kernel - before) + stride * (whole * (whole - 1) // 2) + (places - whole) * end
    starts = stride * (places * (places - 1) // 2) - places * before
    if not count_pad:
        early = minimum(ceil_div(before, stride), places)  # windows that start in the padding start at 0 instead
        starts = starts + early * before - stride * (early * (early - 1) // 2)
    return ends - starts
