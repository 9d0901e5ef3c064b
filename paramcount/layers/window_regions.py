"""Which positions of shifted windows belong together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paramcount.layers._accept import spatial_axes
from paramcount.layers.fields import PerAxis, field
from paramcount.layers.layer import Free, Shape, along
from paramcount.numbers.arithmetic import require


@dataclass(frozen=True)
class Regions(Free, kind="regions"):
    """Labels of the positions of an image that is rolled back by `shift` and cut into windows: (H, W) from (H, W, C).

    Within the last windows, positions that the roll brought from the other side have other labels, so that
    `attend` keeps them apart. Costs nothing: the labels depend on the sizes alone.
    Source: https://arxiv.org/abs/2103.14030

    >>> str(Regions(window=7, shift=3).output_shape(Shape.of(56, 56, 96)))
    '56×56'
    """

    window: int | Sequence[int] = field(PerAxis(), doc="the size of the windows, one number or one for each axis")
    shift: int | Sequence[int] = field(PerAxis(at_least=0), doc="how far the image is rolled back on each axis")

    family = "position"
    by_name = ("window", "shift")
    examples = (
        ({"window": 2, "shift": 1}, (4, 6, 3)),
        ({"window": (3, 2), "shift": (0, 1)}, (6, 4, 3)),
        ({"window": 4, "shift": 2}, (8, 5)),
    )

    def setting(self, *inputs: Shape) -> str:
        sizes, shifts = (
            "×".join(map(str, each)) if isinstance(each, Sequence) else str(each) for each in (self.window, self.shift)
        )
        return f"{sizes} shifted {shifts}"

    def output_shape(self, x: Shape) -> Shape:
        axes = spatial_axes(x, "regions")
        for window, shift in zip(along("window", self.window, axes), along("shift", self.shift, axes), strict=True):
            require(shift < window, "a shift of {} in windows of {}", shift, window, argument="shift")
        return Shape(x.spatial, "tokens")

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import numpy as jnp

        *sizes, _ = x.shape
        labels = jnp.zeros(sizes, jnp.int32)
        windows, shifts = along("window", self.window, len(sizes)), along("shift", self.shift, len(sizes))
        for axis, (size, window, shift) in enumerate(zip(sizes, windows, shifts, strict=True)):
            places = jnp.arange(size)
            # Before the last window, in it, and what comes from the other side.
            parts = jnp.where(places < size - window, 0, jnp.where(places < size - shift, 1, 2))
            labels = 3 * labels + parts.reshape([-1 if other == axis else 1 for other in range(len(sizes))])
        return labels
