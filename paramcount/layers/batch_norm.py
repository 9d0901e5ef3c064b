"""Batch norm: statistics of the batch in training, running ones in inference."""

from dataclasses import dataclass
from typing import Any

from paramcount.layers._statistics import Norm, scaled, transform
from paramcount.layers.fields import Flag, Number, field
from paramcount.layers.layer import Param, Shape, Work
from paramcount.numbers.arithmetic import Size

MOMENTUM = 0.1  # the share of a new batch in the running statistics


@dataclass(frozen=True)
class BatchNorm(Norm, kind="batch_norm"):
    """Normalizes each channel over the batch and all positions; in inference by the running statistics.

    Scale and bias: channels each; buffers: running mean and variance, channels each. Elementwise: 2 per element,
    since in inference it is one multiplication and one addition for each channel, also where not affine.
    Source: https://arxiv.org/abs/1502.03167

    >>> BatchNorm().work(Shape.of(112, 112, 32)).elementwise  # 2 · 112² · 32
    802816
    """

    eps: float = field(Number(at_least=0), 1e-5, doc="a small number added to the variance, against division by zero")
    affine: bool = field(Flag(), True, doc="whether a scale and a bias for each channel are learned")

    examples = (({}, (5, 4, 3)), ({"affine": False}, (6, 2)), ({"eps": 1e-3}, (7,)), ({}, (2, 3, 4, 2)))

    def params(self, x: Shape) -> dict[str, Param]:
        channels = {"channels": x.channels}
        buffers = {"mean": Param(channels, "buffer", "zeros"), "var": Param(channels, "buffer", "ones")}
        return super().params(x) | buffers

    def work(self, x: Shape) -> Work:
        return Work(0, 2 * x.elements)

    def batch_sums(self, derived: bool, x: Shape) -> Size:
        """The mean and the variance; of the gradient 3: by the variance, and by the mean in two parts."""
        return x.channels * (5 if derived else 2)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax.numpy import square

        mean, var = params["mean"], params["var"]
        if context.train:
            axes = tuple(range(x.ndim - 1))
            old_mean, old_var = mean, var
            mean = context.batch_mean(x.mean(axes))
            var = context.batch_mean(square(x - mean).mean(axes))
            context.update(
                mean=(1 - MOMENTUM) * old_mean + MOMENTUM * mean,
                var=(1 - MOMENTUM) * old_var + MOMENTUM * var,
            )
        return transform(scaled(x - mean, var, self.eps), params)
