"""Convolutions whose kernel meets all channels of its group."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paramcount.layers._accept import has_groups, spatial_axes
from paramcount.layers._weight_norm import Gains, WeightNormed
from paramcount.layers._window import describe, kernel_axes, paddings, positions, window
from paramcount.layers.fields import Flag, Padding, PerAxis, Whole, field
from paramcount.layers.layer import Param, Shape, Work, along
from paramcount.numbers.arithmetic import product


@dataclass(frozen=True)
class Conv(WeightNormed, kind="conv"):
    """A convolution over one, two or three spatial axes; without a bias by default.

    Weights: kernel positions × channels / groups × out. MACs: that × output positions. Elementwise: 1 per output
    element for the bias; `weight_norm` adds one gain for each output channel, 3 operations per weight and 2 per gain.

    >>> Conv(out=32, kernel=3, stride=2).work(Shape.of(224, 224, 3)).macs
    10838016
    """

    out: int = field(Whole(), doc="the channels of the result")
    kernel: int | Sequence[int] = field(PerAxis(), doc="the window's size, one number or one for each axis")
    stride: int | Sequence[int] = field(PerAxis(), 1, doc="the step from one window to the next")
    padding: str | int | Sequence = field(
        Padding(), "same", doc="zeros around the input: `same`, `half`, `valid`, or numbers"
    )
    dilation: int | Sequence[int] = field(PerAxis(), 1, doc="the step between the elements of a window")
    groups: int = field(Whole(), 1, doc="how many groups the channels are divided into")
    bias: bool = field(Flag(), False, doc="whether a learned bias is added to each output channel")
    weight_norm: bool | str = field(
        Gains("output", "input", "tap"),
        False,
        doc="what has a learned length: `true` for each output channel, or `output`, `input`, `tap`",
    )

    family = "convolution"
    by_name = ("dilation", "groups", "bias", "weight_norm")
    slow_in_loops = True
    examples = (
        ({"out": 8, "kernel": 3}, (9, 9, 6)),
        ({"out": 8, "kernel": 3, "stride": 2, "bias": True}, (10, 9, 6)),
        ({"out": 6, "kernel": (3, 5), "dilation": (2, 1), "groups": 3, "padding": "half"}, (11, 12, 6)),
        ({"out": 4, "kernel": 4, "padding": ((3, 1),), "weight_norm": True}, (17, 5)),
        ({"out": 4, "kernel": 2, "stride": (1, 2, 2), "padding": "valid"}, (5, 6, 7, 3)),
        ({"out": 6, "kernel": (2, 3), "groups": 2, "weight_norm": "tap"}, (4, 5, 4)),
        ({"out": 6, "kernel": 3, "groups": 2, "weight_norm": "input", "bias": True}, (7, 4)),
        ({"out": 4, "kernel": 3, "padding": 4}, (3, 3, 2)),
        ({"out": 4, "kernel": 1, "stride": 3}, (7, 8, 2)),
        ({"out": 2, "kernel": 5, "padding": "same"}, (2, 3)),
    )

    def setting(self, *inputs: Shape) -> str:
        return describe(self.kernel, self.stride, self.dilation, *inputs, groups=self.groups)

    def output_shape(self, x: Shape) -> Shape:
        axes = spatial_axes(x, "conv")
        has_groups(x, self.out, self.groups)
        return Shape((*positions(x.spatial, *window(self, axes)), self.out), x.layout)

    def params(self, x: Shape) -> dict[str, Param]:
        kernel = kernel_axes(self.kernel, spatial_axes(x, "conv"))
        tensors = {"weight": Param({**kernel, "input": x.channels // self.groups, "output": self.out}, "weight")}
        if self.bias:
            tensors["bias"] = Param({"output": self.out}, "bias", "zeros")
        return tensors | self.gains(tensors["weight"])

    def work(self, x: Shape) -> Work:
        y = self.output_shape(x)
        weights = product(along("kernel", self.kernel, x.rank - 1)) * (x.channels // self.groups) * self.out
        work = Work(weights * product(y.spatial), y.elements if self.bias else 0)
        return work + self.normalization(x) if self.weight_norm else work

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        y = convolve(x, self.normalized(params), *window(self, x.ndim - 1), self.groups)
        return y + params["bias"] if self.bias else y


def convolve(x: Any, weight: Any, kernel: tuple, stride: tuple, dilation: tuple, padding: Any, groups: int) -> Any:
    """The convolution of one example, channels last, with a kernel [..., input / groups, output], in JAX."""
    from jax import lax

    return lax.conv_general_dilated(
        x[None],
        weight,
        stride,
        paddings(x.shape[:-1], kernel, stride, dilation, padding),
        rhs_dilation=dilation,
        dimension_numbers=channels_last(len(kernel)),
        feature_group_count=groups,
    )[0]


def channels_last(axes: int) -> tuple[str, str, str]:
    """JAX's layout strings for an example with a leading 1, its kernel, and the result."""
    spatial = "DHW"[3 - axes :]
    return f"N{spatial}C", f"{spatial}IO", f"N{spatial}C"
