"""Convolutions of each channel by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paramcount.layers._accept import spatial_axes
from paramcount.layers._weight_norm import Gains, WeightNormed
from paramcount.layers._window import describe, kernel_axes, positions, window
from paramcount.layers.conv import convolve
from paramcount.layers.fields import Flag, Padding, PerAxis, Whole, field
from paramcount.layers.layer import Param, Shape, Work, along
from paramcount.numbers.arithmetic import product


@dataclass(frozen=True)
class Depthwise(WeightNormed, kind="depthwise"):
    """A convolution of each channel by itself, with `multiplier` kernels; the results of one channel are adjacent.

    Weights: kernel positions × channels × multiplier. MACs: that × output positions. Elementwise: 1 per
    output element for the bias.

    >>> Depthwise(kernel=3).work(Shape.of(13, 13, 512)).macs  # 9 · 512 · 13²
    778752
    """

    kernel: int | Sequence[int] = field(PerAxis(), doc="the window's size, one number or one for each axis")
    stride: int | Sequence[int] = field(PerAxis(), 1, doc="the step from one window to the next")
    multiplier: int = field(Whole(), 1, doc="how many kernels each channel has")
    padding: str | int | Sequence = field(
        Padding(), "same", doc="zeros around the input: `same`, `half`, `valid`, or numbers"
    )
    dilation: int | Sequence[int] = field(PerAxis(), 1, doc="the step between the elements of a window")
    bias: bool = field(Flag(), False, doc="whether a learned bias is added to each output channel")
    weight_norm: bool | str = field(
        Gains("output", "tap"),
        False,
        doc="what has a learned length: `true` for each output channel, or `output`, `tap`",
    )

    family = "convolution"
    by_name = ("dilation", "bias", "weight_norm")
    examples = (
        ({"kernel": 3}, (7, 7, 5)),
        ({"kernel": 3, "stride": 2, "bias": True}, (8, 7, 4)),
        ({"kernel": 7, "stride": 2, "multiplier": 8, "padding": 3}, (11, 12, 3)),
        ({"kernel": 4, "padding": "valid", "bias": True}, (9, 6)),
        ({"kernel": (3, 5), "dilation": (2, 1), "padding": "half"}, (6, 5, 2)),
        ({"kernel": 3, "multiplier": 2, "stride": (1, 2, 1)}, (3, 4, 5, 2)),
        ({"kernel": 3, "multiplier": 2, "weight_norm": True}, (5, 4, 2)),
        ({"kernel": 3, "weight_norm": "tap", "bias": True}, (6, 2)),
    )

    def setting(self, *inputs: Shape) -> str:
        several = f" m{self.multiplier}" if self.multiplier != 1 else ""
        return describe(self.kernel, self.stride, self.dilation, *inputs) + several

    def output_shape(self, x: Shape) -> Shape:
        axes = spatial_axes(x, "depthwise")
        return Shape((*positions(x.spatial, *window(self, axes)), x.channels * self.multiplier), x.layout)

    def params(self, x: Shape) -> dict[str, Param]:
        kernel = kernel_axes(self.kernel, spatial_axes(x, "depthwise"))
        out = x.channels * self.multiplier
        tensors = {"weight": Param({**kernel, "input": 1, "output": out}, "weight")}
        if self.bias:
            tensors["bias"] = Param({"output": out}, "bias", "zeros")
        return tensors | self.gains(tensors["weight"])

    def work(self, x: Shape) -> Work:
        y = self.output_shape(x)
        weights = product(along("kernel", self.kernel, x.rank - 1)) * y.channels
        work = Work(weights * product(y.spatial), y.elements if self.bias else 0)
        return work + self.normalization(x) if self.weight_norm else work

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        y = convolve(x, self.normalized(params), *window(self, x.ndim - 1), x.shape[-1])
        return y + params["bias"] if self.bias else y
