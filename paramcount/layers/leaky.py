"""Activations with a slope or a scale for negative values."""

from dataclasses import dataclass
from typing import Any

from paramcount.layers.activation import Elementwise
from paramcount.layers.fields import Number, field
from paramcount.layers.layer import Shape


@dataclass(frozen=True)
class LeakyRelu(Elementwise, kind="leaky_relu"):
    """x where positive, else slope · x. One elementwise operation per element.

    >>> LeakyRelu(slope=0.2).work(Shape.of(8, 8, 64)).elementwise
    4096
    """

    slope: float = field(Number(), 0.01, doc="the slope for negative values")

    examples = (({}, (3, 4, 5)), ({"slope": 0.2}, (6,)))

    def setting(self, *inputs: Shape) -> str:
        return "" if self.slope == 0.01 else str(self.slope)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import nn

        return nn.leaky_relu(x, self.slope)


@dataclass(frozen=True)
class Elu(Elementwise, kind="elu"):
    """x where positive, else alpha · (exp(x) - 1). One elementwise operation per element.

    >>> Elu().work(Shape.of(100)).elementwise
    100
    """

    alpha: float = field(Number(), 1.0, doc="the scale for negative values, which approach -alpha")

    examples = (({}, (3, 4, 5)), ({"alpha": 0.5}, (6,)))

    def setting(self, *inputs: Shape) -> str:
        return "" if self.alpha == 1 else str(self.alpha)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import nn

        return nn.elu(x, self.alpha)
