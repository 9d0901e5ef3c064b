"""Convolutions whose kernel meets all channels of its group."""

from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError
from paramcount.fields import Flag, Padding, PerAxis, Whole, field
from paramcount.layer import Layer, Param, Shape, Work, along
from paramcount.layers.window import describe, paddings, positions
from paramcount.numeric import exact_div, minimum, product

AXIS_NAMES = {1: ("time",), 2: ("height", "width"), 3: ("depth", "height", "width")}


@dataclass(frozen=True)
class Conv(Layer, kind="conv"):
    """A convolution over one, two or three spatial axes, without bias unless asked for.

    Weights: kernel positions × channels / groups × out. MACs: kernel positions × channels / groups × out ×
    the smaller of input and output positions. `weight_norm` adds one gain for each output channel.

    >>> Conv(out=32, kernel=3, stride=2).work(Shape.of(224, 224, 3)).macs
    10838016
    """

    out: int = field(Whole())
    kernel: int | tuple[int, ...] = field(PerAxis())
    stride: int | tuple[int, ...] = field(PerAxis(), 1)
    padding: Any = field(Padding(), "same")
    dilation: int | tuple[int, ...] = field(PerAxis(), 1)
    groups: int = field(Whole(), 1)
    bias: bool = field(Flag(), False)
    weight_norm: bool = field(Flag(), False)

    by_name = ("dilation", "groups", "bias", "weight_norm")
    examples = (
        ({"out": 8, "kernel": 3}, (9, 9, 6)),
        ({"out": 8, "kernel": 3, "stride": 2, "bias": True}, (10, 9, 6)),
        ({"out": 6, "kernel": (3, 5), "dilation": (2, 1), "groups": 3, "padding": "half"}, (11, 12, 6)),
        ({"out": 4, "kernel": 4, "padding": ((3, 1),), "weight_norm": True}, (17, 5)),
        ({"out": 4, "kernel": 2, "stride": (1, 2, 2), "padding": "valid"}, (5, 6, 7, 3)),
        ({"out": 4, "kernel": 3, "padding": 4}, (3, 3, 2)),
    )

    @property
    def setting(self) -> str:
        groups = f" g{self.groups}" if self.groups != 1 else ""
        return describe(self.kernel, self.stride) + groups

    def output_shape(self, x: Shape) -> Shape:
        axes = spatial_axes(x, "conv")
        exact_div(x.channels, self.groups, "{} input channels do not divide into {} groups", argument="groups")
        exact_div(self.out, self.groups, "{} output channels do not divide into {} groups", argument="groups")
        return Shape((*positions(x.spatial, *self.window(axes)), self.out), x.layout)

    def params(self, x: Shape) -> dict[str, Param]:
        axes = spatial_axes(x, "conv")
        kernel = dict(zip(AXIS_NAMES[axes], along("kernel", self.kernel, axes), strict=True))
        tensors = {"weight": Param({**kernel, "input": x.channels // self.groups, "output": self.out}, "weight")}
        if self.bias:
            tensors["bias"] = Param({"output": self.out}, "bias", "zeros")
        if self.weight_norm:
            tensors["gain"] = Param({"output": self.out}, "norm", "ones")
        return tensors

    def work(self, x: Shape) -> Work:
        y = self.output_shape(x)
        kernel = product(along("kernel", self.kernel, x.rank - 1))
        spots = minimum(product(x.spatial), product(y.spatial))
        macs = kernel * spots * (x.channels // self.groups) * self.out
        return Work(macs, y.elements if self.bias else 0)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import lax
        from jax.numpy import sqrt

        axes = x.ndim - 1
        kernel, stride, dilation, padding = self.window(axes)
        weight = params["weight"]
        if self.weight_norm:
            weight = params["gain"] * weight / sqrt((weight**2).sum(tuple(range(axes + 1))))
        y = lax.conv_general_dilated(
            x[None],
            weight,
            stride,
            paddings(x.shape[:-1], kernel, stride, dilation, padding),
            rhs_dilation=dilation,
            dimension_numbers=channels_last(axes),
            feature_group_count=self.groups,
        )[0]
        return y + params["bias"] if self.bias else y

    def window(self, axes: int) -> tuple[tuple, tuple, tuple, Any]:
        """Kernel, stride and dilation for each axis, and the padding."""
        return (
            along("kernel", self.kernel, axes),
            along("stride", self.stride, axes),
            along("dilation", self.dilation, axes),
            self.padding,
        )


def spatial_axes(x: Shape, kind: str) -> int:
    """The number of spatial axes of a value that a convolution can take; raises ShapeError for others."""
    if x.layout == "tokens" or x.rank not in (2, 3, 4):
        raise ShapeError(
            f"`{kind}` needs a sequence, an image or a volume, and got {x.layout} {x}",
            hint="use `dense`, or an image input",
        )
    return x.rank - 1


def channels_last(axes: int) -> tuple[str, str, str]:
    """JAX's layout strings for an example with a leading 1, its kernel, and the result."""
    spatial = "DHW"[3 - axes :]
    return f"N{spatial}C", f"{spatial}IO", f"N{spatial}C"
