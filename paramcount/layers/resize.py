"""Larger or smaller images: upsample, and pixel_shuffle."""

from dataclasses import dataclass
from typing import Any

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers._accept import spatial_axes
from paramcount.layers.fields import Check, Flag, Number, PerAxis, Whole, Word, field
from paramcount.layers.layer import Free, ParameterFree, Shape, Work, along
from paramcount.numbers.arithmetic import Size, by_variant, exact_div, native, require, settle, varies


class Factor(Check):
    """A number above 0, which may have a fraction, or a list with one for each axis."""

    number, whole = Number(at_least=0), Whole(at_least=None)
    allows = "a number above 0, or a list with one for each axis"

    def __call__(self, name: str, value: Any) -> Any:
        value = value if varies(value) else native(value)
        if isinstance(value, (list, tuple)):
            return tuple(self.axis(name, each) for each in value)
        return self.axis(name, value)

    def axis(self, name: str, value: Any) -> Any:
        if getattr(getattr(value, "dtype", None), "kind", "") == "f" and (value % 1).any():
            value = settle(value)
        if isinstance(value, float) and not value.is_integer():
            return self.number(name, value)
        value = self.whole(name, value)
        require(value > 0, "{} must be above 0, not {}", name, value, argument=name)
        return value


@dataclass(frozen=True)
class Upsample(ParameterFree, kind="upsample"):
    """The spatial axes made `factor` times as long (rounded down), or of the length `size`, which takes precedence.

    `bilinear` is linear interpolation along one to three axes; `align_corners` makes the first and last
    positions coincide. Computed by gathers, so no MACs; elementwise: nearest 0, bilinear 3 per output element and
    axis (two products, one sum).

    >>> Upsample(method="bilinear").work(Shape.of(224, 224, 3))  # 3 · 2 · 448² · 3
    Work(macs=0, elementwise=3612672)
    """

    factor: Any = field(Factor(), 2, doc="how many times as long each spatial axis becomes")
    method: str = field(Word("nearest", "bilinear"), "nearest", doc="`nearest` or `bilinear` interpolation")
    size: int | tuple[int | None, ...] | None = field(
        PerAxis(none=True, gaps=True),
        None,
        doc="the new length of each spatial axis, in place of `factor`; `none` keeps an axis",
    )
    align_corners: bool = field(Flag(), False, doc="whether the first and last positions coincide; only for `bilinear`")

    family = "resampling"
    by_name = ("size", "align_corners")
    examples = (
        ({}, (3, 4, 2)),
        ({"factor": (2, 3), "method": "bilinear"}, (3, 4, 2)),
        ({"factor": 1.5, "method": "bilinear"}, (5, 2)),
        ({"size": (7, None)}, (3, 4, 2)),
        ({"size": (5, 7, 4), "method": "bilinear", "align_corners": True}, (2, 3, 4, 2)),
    )

    def setting(self, *inputs: Shape) -> str:
        chosen = self.factor if self.size is None else self.size
        text = "×".join(
            "–" if each is None else str(each) for each in (chosen if isinstance(chosen, tuple) else (chosen,))
        )
        return f"{'×' if self.size is None else ''}{text} {self.method}"

    def output_shape(self, x: Shape) -> Shape:
        axes = spatial_axes(x, "upsample")
        if self.align_corners and self.method == "nearest":
            raise ArgumentError("`align_corners` is for the method `bilinear`", argument="align_corners")
        if self.size is not None:
            wanted = along("size", self.size, axes)
            sizes = [old if new is None else new for old, new in zip(x.spatial, wanted, strict=True)]
        else:
            factors = along("factor", self.factor, axes)
            sizes = [scaled(old, factor) for old, factor in zip(x.spatial, factors, strict=True)]
        for old, new in zip(x.spatial, sizes, strict=True):
            require(new >= 1, "nothing is left of an axis of {}", old, error=ShapeError, argument="factor")
        return Shape((*sizes, x.channels), x.layout)

    def work(self, x: Shape) -> Work:
        per_element = 3 * (x.rank - 1) if self.method == "bilinear" else 0
        return Work(0, per_element * self.output_shape(x).elements)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import numpy as jnp

        axes = x.ndim - 1
        sizes = self.output_shape(Shape.of(*x.shape)).spatial
        factors = along("factor", self.factor, axes) if self.size is None else (None,) * axes
        for axis, (size, factor) in enumerate(zip(sizes, factors, strict=True)):
            first, second, share = sources(x.shape[axis], size, factor, self.method, self.align_corners)
            if self.method == "nearest":
                x = jnp.take(x, first, axis)
            else:
                share = share.astype(x.dtype).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
                x = jnp.take(x, first, axis) * (1 - share) + jnp.take(x, second, axis) * share
        return x


@dataclass(frozen=True)
class PixelShuffle(Free, kind="pixel_shuffle"):
    """An image `factor` times as high and wide, from `factor`² times as many channels.

    Channel c · factor² + i · factor + j becomes channel c of the pixel in row i and column j. Costs nothing.
    Source: https://arxiv.org/abs/1609.05158

    >>> str(PixelShuffle(3).output_shape(Shape.of(10, 12, 27)))
    '30×36×3'
    """

    factor: int = field(Whole(), 2, doc="how many times as high and wide the image becomes")

    family = "resampling"
    examples = (({}, (3, 4, 8)), ({"factor": 3}, (2, 3, 9)))

    def setting(self, *inputs: Shape) -> str:
        return f"×{self.factor}"

    def output_shape(self, x: Shape) -> Shape:
        if x.layout != "image":
            raise ShapeError(f"`pixel_shuffle` needs an image, and got {x.layout} {x}", hint="use `rearrange`")
        message = "{} channels do not divide by the factor squared, {}"
        channels = exact_div(x.channels, self.factor * self.factor, message, error=ShapeError, argument="factor")
        height, width = x.spatial
        return Shape((height * self.factor, width * self.factor, channels), x.layout)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        height, width, _ = x.shape
        cells = x.reshape(height, width, -1, self.factor, self.factor).transpose(0, 3, 1, 4, 2)
        return cells.reshape(height * self.factor, width * self.factor, -1)


def scaled(size: Size, factor: Any) -> Size:
    """A size times a factor, rounded down; exactly, a fraction being the decimal number that was written.

    >>> scaled(10, 0.7), scaled(7, 1.5)
    (7, 10)
    """
    if not isinstance(factor, float):
        return size * factor
    if not isinstance(size, int):
        return by_variant(scaled, size, factor)
    from fractions import Fraction

    exact = Fraction(str(factor))
    return size * exact.numerator // exact.denominator


def sources(length: int, size: int, factor: Any, method: str, align_corners: bool) -> tuple[Any, Any, Any]:
    """For each position of a resized axis the two positions it lies between, and the weight of the second.

    A factor scales the coordinates by itself, a size by the ratio of the lengths, as in PyTorch.
    """
    import numpy

    places = numpy.arange(size)
    step = length / size if factor is None else 1 / factor
    if method == "nearest":
        exact = places * length // size if factor is None else numpy.floor(places * step)
        first = numpy.minimum(exact.astype(int), length - 1)
        return first, first, None
    if align_corners:
        centres = places * ((length - 1) / max(size - 1, 1))
    else:
        centres = numpy.maximum((places + 0.5) * step - 0.5, 0)
    first = numpy.minimum(centres.astype(int), length - 1)
    return first, numpy.minimum(first + 1, length - 1), numpy.clip(centres - first, 0, 1)
