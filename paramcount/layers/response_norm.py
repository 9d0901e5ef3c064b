"""Normalizations without parameters."""

from dataclasses import dataclass
from typing import Any

from paramcount.layers._accept import has_channels
from paramcount.layers.fields import Number, Whole, field
from paramcount.layers.layer import ParameterFree, Shape, Work


@dataclass(frozen=True)
class LocalResponseNorm(ParameterFree, kind="local_response_norm"):
    """x / (offset + alpha · mean of x² over `size` neighbouring channels) ** beta, the mean as if padded with zeros.

    Elementwise: size + 4 per element: square, size - 1 additions, scale, offset, power, divide.
    Source: https://papers.nips.cc/paper/4824 (there with size 5, offset 2, and alpha / size as alpha)

    >>> LocalResponseNorm().work(Shape.of(27, 27, 96)).elementwise  # (5 + 4) · 27² · 96
    629856
    """

    size: int = field(Whole(), 5, doc="how many neighbouring channels are averaged")
    alpha: float = field(Number(), 1e-4, doc="the factor of the mean square")
    beta: float = field(Number(), 0.75, doc="the exponent of the divisor")
    offset: float = field(Number(), 1.0, doc="what is added to the mean square")

    family = "normalization"
    by_name = ("alpha", "beta", "offset")
    examples = (({}, (3, 4, 7)), ({"size": 4, "alpha": 0.1, "offset": 2}, (5, 6)), ({"size": 3}, (8,)))

    def setting(self, *inputs: Shape) -> str:
        return str(self.size)

    def output_shape(self, x: Shape) -> Shape:
        has_channels(x, "local_response_norm")
        return x

    def work(self, x: Shape) -> Work:
        return Work(0, (self.size + 4) * x.elements)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import lax

        ones, edges = (1,) * (x.ndim - 1), ((0, 0),) * (x.ndim - 1)
        total = lax.reduce_window(
            x * x, 0.0, lax.add, (*ones, self.size), (*ones, 1), (*edges, (self.size // 2, (self.size - 1) // 2))
        )
        return x / (self.offset + self.alpha / self.size * total) ** self.beta


@dataclass(frozen=True)
class L2Norm(ParameterFree, kind="l2_norm"):
    """Scales the last axis to length 1: x / max(√Σx², eps).

    Elementwise: 3 per element: square, sum, divide.

    >>> L2Norm().work(Shape.of(512)).elementwise
    1536
    """

    eps: float = field(Number(at_least=0), 1e-12, doc="the smallest length that is divided by")

    family = "normalization"
    by_name = ("eps",)
    examples = (({}, (5,)), ({"eps": 1e-6}, (4, 3)), ({}, (2, 3, 4)))

    def output_shape(self, x: Shape) -> Shape:
        has_channels(x, "l2_norm")
        return x

    def work(self, x: Shape) -> Work:
        return Work(0, 3 * x.elements)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax.numpy import maximum, sqrt

        return x / maximum(sqrt((x * x).sum(-1, keepdims=True)), self.eps)
