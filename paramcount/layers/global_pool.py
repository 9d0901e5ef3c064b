"""The mean of everything but the channels."""

from typing import Any

from paramcount.layers._accept import spatial_axes
from paramcount.layers.layer import ParameterFree, Shape, Work


class GlobalPool(ParameterFree, kind="global_pool"):
    """The mean of each channel over all positions of a sequence, an image or a volume: `(C,)`.

    No MACs; elementwise: input elements + output elements (sums, and one division per channel).

    >>> GlobalPool().work(Shape.of(7, 7, 1280)).elementwise  # 49 · 1280 + 1280
    64000
    """

    family = "pooling"
    examples = (({}, (4, 5, 3)), ({}, (6, 2)), ({}, (2, 3, 4, 5)))

    def output_shape(self, x: Shape) -> Shape:
        spatial_axes(x, "global_pool")
        return Shape.of(x.channels)

    def work(self, x: Shape) -> Work:
        return Work(0, x.elements + x.channels)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        return x.mean(tuple(range(x.ndim - 1)))
