"""Batch norm: statistics of the batch in training, running ones in inference."""

from dataclasses import dataclass
from typing import Any

from paramcount.layers._statistics import Norm, running, scaled, transform, update
from paramcount.layers.fields import Flag, Number, field
from paramcount.layers.layer import Param, Shape, Work
from paramcount.numbers.arithmetic import Size


@dataclass(frozen=True)
class BatchNorm(Norm, kind="batch_norm"):
    """Normalizes each channel over the batch and all positions; in inference by the running statistics.

    Scale and bias: channels each; buffers: running mean and variance, channels each. Elementwise: 2 per element,
    since in inference it is one multiplication and one addition for each channel, also where not affine. Without
    running `statistics`, inference uses those of the batch too: 5 per element, 1 more for the scale and 1 for the
    bias. Source: https://arxiv.org/abs/1502.03167

    >>> BatchNorm().work(Shape.of(112, 112, 32)).elementwise  # 2 · 112² · 32
    802816
    """

    eps: float = field(Number(at_least=0), 1e-5, doc="a small number added to the variance, against division by zero")
    affine: bool = field(Flag(), True, doc="whether a scale and a bias for each channel are learned")
    scale: bool = field(Flag(), True, doc="whether a scale for each channel is learned; only with `affine`")
    bias: bool = field(Flag(), True, doc="whether a bias for each channel is learned; only with `affine`")
    statistics: bool = field(Flag(), True, doc="whether running statistics are kept for inference")

    by_name = ("eps", "affine", "scale", "bias", "statistics")
    examples = (
        ({}, (5, 4, 3)),
        ({"affine": False}, (6, 2)),
        ({"eps": 1e-3}, (7,)),
        ({}, (2, 3, 4, 2)),
        ({"scale": False}, (5, 4, 3)),
        ({"bias": False}, (6, 2)),
        ({"statistics": False}, (5, 4, 3)),
        ({"statistics": False, "scale": False, "eps": 1e-3}, (6, 2)),
    )

    @property
    def learned(self) -> tuple[bool, bool]:
        return self.affine and self.scale, self.affine and self.bias

    def params(self, x: Shape) -> dict[str, Param]:
        return super().params(x) | (running(x) if self.statistics else {})

    def work(self, x: Shape) -> Work:
        return Work(0, 2 * x.elements) if self.statistics else super().work(x)

    def batch_sums(self, derived: bool, x: Shape) -> Size:
        """The mean and the variance; of the gradient 3: by the variance, and by the mean in two parts."""
        return x.channels * (5 if derived else 2)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax.numpy import square

        if context.train or not self.statistics:
            axes = tuple(range(x.ndim - 1))
            mean = context.batch_mean(x.mean(axes))
            var = context.batch_mean(square(x - mean).mean(axes))
            if context.train and self.statistics:
                update(params, mean, var, context)
        else:
            mean, var = params["mean"], params["var"]
        return transform(scaled(x - mean, var, self.eps), params)
