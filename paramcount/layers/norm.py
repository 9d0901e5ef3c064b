"""Norms with statistics over a layer, a group, or an instance, and a learned scale for each channel.

Elementwise operations are those per element: normalizing costs 5 (1 for the sum of the mean, 1 to subtract it, 2 to
square and sum, 1 to scale by the reciprocal deviation), the affine part 1 for the scale and 1 for the bias. The few
operations on the statistics themselves are not counted.
"""

from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError
from paramcount.layers._statistics import Norm, normalized, running, scaled, transform, update
from paramcount.layers.fields import Flag, Number, Whole, field
from paramcount.layers.layer import Param, Shape, Work
from paramcount.numbers.arithmetic import Size, exact_div


@dataclass(frozen=True)
class LayerNorm(Norm, kind="layer_norm"):
    """Normalizes the last axis at each position. Scale: channels; bias: channels.

    Elementwise: 5 per element, 1 more for the scale and 1 for the bias. Source: https://arxiv.org/abs/1607.06450

    >>> LayerNorm().work(Shape.of(197, 768)).elementwise  # 7 · 197 · 768
    1059072
    """

    eps: float = field(Number(at_least=0), 1e-5, doc="a small number added to the variance, against division by zero")
    affine: bool = field(Flag(), True, doc="whether a scale for each channel (and with `bias` a bias) is learned")
    bias: bool = field(Flag(), True, doc="whether a bias for each channel is learned; only with `affine`")

    by_name = ("eps", "affine", "bias")
    examples = (({}, (5, 6)), ({"bias": False}, (4, 3, 6)), ({"affine": False, "eps": 1e-6}, (7,)))

    @property
    def learned(self) -> tuple[bool, bool]:
        return self.affine, self.affine and self.bias

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        return transform(normalized(x, (x.ndim - 1,), self.eps), params)


@dataclass(frozen=True)
class GroupNorm(Norm, kind="group_norm"):
    """Normalizes each of `groups` groups of neighbouring channels over all positions. Scale and bias: channels each.

    Elementwise: 5 per element, 2 more where affine. Source: https://arxiv.org/abs/1803.08494

    >>> GroupNorm().work(Shape.of(28, 28, 64)).elementwise  # 7 · 28² · 64
    351232
    """

    groups: int = field(Whole(), 32, doc="how many groups of neighbouring channels are normalized, each by itself")
    eps: float = field(Number(at_least=0), 1e-5, doc="a small number added to the variance, against division by zero")
    affine: bool = field(Flag(), True, doc="whether a scale and a bias for each channel are learned")

    examples = (
        ({"groups": 2}, (5, 4, 6)),
        ({}, (3, 64)),
        ({"groups": 3, "affine": False}, (6,)),
        ({"groups": 1}, (2, 3, 4, 2)),
    )

    def setting(self, *inputs: Shape) -> str:
        return f"g{self.groups}"

    def output_shape(self, x: Shape) -> Shape:
        super().output_shape(x)
        hint = "`group_norm` has 32 groups by default: write `- group_norm: 8` as an item of its own"
        exact_div(x.channels, self.groups, "{} channels do not divide into {} groups", argument="groups", hint=hint)
        return x

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        parts = x.reshape(*x.shape[:-1], self.groups, -1)
        axes = (*range(x.ndim - 1), x.ndim)
        return transform(normalized(parts, axes, self.eps).reshape(x.shape), params)


@dataclass(frozen=True)
class InstanceNorm(Norm, kind="instance_norm"):
    """Normalizes each channel of one example over all its positions. Scale and bias: channels each, no buffers.

    Elementwise: 5 per element, 2 more where affine. With running `statistics`, two buffers of channels each, inference
    uses those instead, in 2 operations per element, as `batch_norm` does. Source: https://arxiv.org/abs/1607.08022

    >>> InstanceNorm().work(Shape.of(20, 20, 8)).elementwise  # 7 · 20² · 8
    22400
    """

    eps: float = field(Number(at_least=0), 1e-5, doc="a small number added to the variance, against division by zero")
    affine: bool = field(Flag(), True, doc="whether a scale and a bias for each channel are learned")

    statistics: bool = field(Flag(), False, doc="whether running statistics are kept for inference")

    by_name = ("eps", "affine", "statistics")
    examples = (
        ({}, (5, 4, 3)),
        ({"affine": False}, (6, 2)),
        ({"eps": 1e-3}, (2, 3, 4, 2)),
        ({"statistics": True}, (5, 4, 3)),
        ({"statistics": True, "affine": False}, (6, 2)),
    )

    def params(self, x: Shape) -> dict[str, Param]:
        return super().params(x) | (running(x) if self.statistics else {})

    def work(self, x: Shape) -> Work:
        return Work(0, 2 * x.elements) if self.statistics else super().work(x)

    def batch_sums(self, derived: bool, x: Shape) -> Size:
        """The statistics of all examples, for the running ones, on which no gradient depends."""
        return 2 * x.channels if self.statistics else 0

    def output_shape(self, x: Shape) -> Shape:
        super().output_shape(x)
        if x.rank == 1:
            raise ShapeError(
                f"`instance_norm` averages over positions, and got {x.layout} {x}",
                hint="use `layer_norm` or `batch_norm`",
            )
        return x

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        if self.statistics and not context.train:
            return transform(scaled(x - params["mean"], params["var"], self.eps), params)
        axes = tuple(range(x.ndim - 1))
        if self.statistics:
            update(params, context.batch_mean(x.mean(axes)), context.batch_mean(x.var(axes)), context)
        return transform(normalized(x, axes, self.eps), params)


@dataclass(frozen=True)
class RmsNorm(Norm, kind="rms_norm"):
    """Divides the last axis by its root mean square at each position. Scale: channels; no bias.

    Elementwise: 3 per element (2 to square and sum, 1 to scale), 1 more where affine.
    Source: https://arxiv.org/abs/1910.07467

    >>> RmsNorm().work(Shape.of(16, 4096)).elementwise  # 4 · 16 · 4096
    262144
    """

    eps: float = field(
        Number(at_least=0), 1e-6, doc="a small number added to the mean square, against division by zero"
    )
    affine: bool = field(Flag(), True, doc="whether a scale for each channel is learned")

    examples = (({}, (5, 6)), ({"affine": False}, (4, 3, 6)), ({"eps": 1e-5}, (7,)))
    operations = 3

    @property
    def learned(self) -> tuple[bool, bool]:
        return self.affine, False

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax.numpy import square

        return transform(scaled(x, square(x).mean(-1, keepdims=True), self.eps), params)
