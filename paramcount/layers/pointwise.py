"""The convolution with a kernel of one position: one matrix for the channels at every position."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError
from paramcount.layers._accept import has_channels, has_groups
from paramcount.layers._weight_norm import Gains, WeightNormed
from paramcount.layers.fields import Flag, PerAxis, Whole, field
from paramcount.layers.layer import Param, Shape, Work, along
from paramcount.numbers.arithmetic import ceil_div, product, require


@dataclass(frozen=True)
class Pointwise(WeightNormed, kind="pointwise"):
    """Mixes the channels of each position, in any layout; with a stride, of every stride-th position.

    Weights: channels / groups × out. MACs: that × output positions. Elementwise: 1 per output element for the bias.

    >>> Pointwise(out=24).work(Shape.of(56, 56, 144)).macs  # 144 · 24 · 56²
    10838016
    """

    out: int = field(Whole(), doc="the channels of the result")
    stride: int | Sequence[int] = field(PerAxis(), 1, doc="the step from one position to the next")
    groups: int = field(Whole(), 1, doc="how many groups the channels are divided into")
    bias: bool = field(Flag(), False, doc="whether a learned bias is added to each output channel")
    weight_norm: bool | str = field(
        Gains("output", "input"),
        False,
        doc="what has a learned length: `true` for each output channel, or `output`, `input`",
    )

    family = "convolution"
    by_name = ("groups", "bias", "weight_norm")
    examples = (
        ({"out": 6}, (5, 4, 3)),
        ({"out": 6, "bias": True}, (7,)),
        ({"out": 6, "stride": 2, "groups": 3}, (5, 4, 9)),
        ({"out": 4, "stride": 3}, (8, 2)),
        ({"out": 2, "stride": (1, 2, 3), "bias": True}, (2, 3, 4, 5)),
        ({"out": 6, "groups": 3, "weight_norm": True, "bias": True}, (4, 9)),
        ({"out": 4, "groups": 2, "weight_norm": "input"}, (3, 2, 6)),
    )

    def setting(self, *inputs: Shape) -> str:
        groups = f"g{self.groups}" if self.groups != 1 else ""
        steps = self.stride if isinstance(self.stride, tuple) else (self.stride,)
        stride = "/" + "×".join(map(str, steps)) if any(step != 1 for step in steps) else ""
        return f"{stride} {groups}".strip()

    def output_shape(self, x: Shape) -> Shape:
        has_channels(x, "pointwise")
        has_groups(x, self.out, self.groups)
        if x.rank == 1:
            for stride in self.stride if isinstance(self.stride, tuple) else (self.stride,):
                require(
                    stride == 1,
                    "a stride of {} needs positions to step over, and the input is " + str(x.layout),
                    stride,
                    error=ShapeError,
                    hint="leave `stride` out, or use it on a sequence, an image or a volume",
                    argument="stride",
                )
            return x.with_channels(self.out)
        strides = along("stride", self.stride, x.rank - 1)
        spots = (ceil_div(size, stride) for size, stride in zip(x.spatial, strides, strict=True))
        return Shape((*spots, self.out), x.layout)

    def params(self, x: Shape) -> dict[str, Param]:
        tensors = {"weight": Param({"input": x.channels // self.groups, "output": self.out}, "weight")}
        if self.bias:
            tensors["bias"] = Param({"output": self.out}, "bias", "zeros")
        return tensors | self.gains(tensors["weight"])

    def work(self, x: Shape) -> Work:
        y = self.output_shape(x)
        macs = product(y.spatial) * (x.channels // self.groups) * self.out
        work = Work(macs, y.elements if self.bias else 0)
        return work + self.normalization(x) if self.weight_norm else work

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax.numpy import einsum

        if x.ndim > 1:
            x = x[tuple(slice(None, None, step) for step in along("stride", self.stride, x.ndim - 1))]
        weight, groups = self.normalized(params), self.groups
        if groups == 1:
            y = x @ weight
        else:
            parts = x.reshape(*x.shape[:-1], groups, -1)
            kernels = weight.reshape(-1, groups, self.out // groups)
            y = einsum("...gi,igo->...go", parts, kernels).reshape(*x.shape[:-1], self.out)
        return y + params["bias"] if self.bias else y
