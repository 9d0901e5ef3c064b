"""The rectifier whose slope is learned."""

from dataclasses import dataclass
from typing import Any

from paramcount.layers._accept import has_channels
from paramcount.layers.fields import Flag, field
from paramcount.layers.layer import Layer, Param, Shape, Work


@dataclass(frozen=True)
class Prelu(Layer, kind="prelu"):
    """x where it is positive, slope · x elsewhere: one slope for each channel, or a `shared` one.

    Elementwise: 1 per element, as every activation. Source: https://arxiv.org/abs/1502.01852

    >>> Prelu().params(Shape.of(8, 8, 16))["slope"].size
    16
    """

    shared: bool = field(Flag(), False, doc="whether all channels share one slope")

    family = "activation"
    by_name = ("shared",)
    examples = (({}, (4, 5, 3)), ({"shared": True}, (6, 2)), ({}, (7,)))

    def setting(self, *inputs: Shape) -> str:
        return "shared" if self.shared else ""

    def output_shape(self, x: Shape) -> Shape:
        has_channels(x, "prelu")
        return x

    def params(self, x: Shape) -> dict[str, Param]:
        return {"slope": Param({"channels": 1 if self.shared else x.channels}, "table", "zeros")}

    def work(self, x: Shape) -> Work:
        return Work(0, x.elements)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax.numpy import where

        return where(x > 0, x, params["slope"] * x)
