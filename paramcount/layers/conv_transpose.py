"""The transposed convolution: every input position paints one kernel into the output."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError
from paramcount.layers._accept import has_groups, spatial_axes
from paramcount.layers._weight_norm import Gains, WeightNormed
from paramcount.layers._window import axis_padding, describe, each_axis, kernel_axes
from paramcount.layers.conv import channels_last
from paramcount.layers.fields import Flag, Padding, PerAxis, Whole, field
from paramcount.layers.layer import Param, Shape, Work, along
from paramcount.numbers.arithmetic import Size, maximum, product, require


@dataclass(frozen=True)
class ConvTranspose(WeightNormed, kind="conv_transpose"):
    """A transposed convolution over one, two or three spatial axes: a convolution's change of shape, reversed.

    Along an axis of n positions: (n - 1) · stride + dilation · (kernel - 1) + 1 - padding + output_padding; with
    padding `same`, n · stride. Weights [kernel, channels, out / groups], as in PyTorch but for the order. MACs:
    that × input positions: the zeros inserted between positions cost nothing. Elementwise: 1 per output element for
    the bias.

    >>> ConvTranspose(out=32, kernel=2, stride=2).work(Shape.of(16, 16, 64)).macs  # 4 · 64 · 32 · 16²
    2097152
    """

    out: int = field(Whole(), doc="the channels of the result")
    kernel: int | Sequence[int] = field(PerAxis(), doc="the window's size, one number or one for each axis")
    stride: int | Sequence[int] = field(PerAxis(), 1, doc="the step in the result from one input position to the next")
    padding: str | int | Sequence = field(
        Padding(), "same", doc="positions cut off around the result: `same`, `half`, `valid`, or numbers"
    )
    output_padding: int | Sequence[int] = field(
        PerAxis(at_least=0), 0, doc="positions added at the end of each axis of the result"
    )
    dilation: int | Sequence[int] = field(PerAxis(), 1, doc="the step between the elements of a window")
    groups: int = field(Whole(), 1, doc="how many groups the channels are divided into")
    bias: bool = field(Flag(), False, doc="whether a learned bias is added to each output channel")
    weight_norm: bool | str = field(
        Gains("output", "input", "tap"),
        False,
        doc="what has a learned length: `true` for each input channel, or `output`, `input`, `tap`",
    )

    family = "convolution"
    by_name = ("output_padding", "dilation", "groups", "bias", "weight_norm")
    pytorch = "input"
    slow_in_loops = True
    examples = (
        ({"out": 3, "kernel": 2, "stride": 2}, (5, 4, 6)),
        ({"out": 4, "kernel": 4, "stride": 2, "padding": 1, "bias": True}, (4, 5, 2)),
        ({"out": 6, "kernel": 3, "stride": 2, "padding": 1, "output_padding": (1, 0), "groups": 2}, (5, 4, 4)),
        ({"out": 4, "kernel": 5, "stride": 3, "padding": 2, "output_padding": 2, "dilation": 2}, (6, 3)),
        ({"out": 2, "kernel": (3, 5, 2), "stride": (2, 1, 1), "padding": (0, 4, 2)}, (3, 6, 7, 2)),
        ({"out": 3, "kernel": 3, "dilation": 3, "padding": "valid"}, (4, 5, 2)),
        ({"out": 3, "kernel": 3, "stride": 4}, (5, 2)),
        ({"out": 3, "kernel": 5, "stride": 2, "padding": "half"}, (5, 4, 2)),
        ({"out": 2, "kernel": 2, "padding": ((1, 2), (3, 1))}, (7, 6, 3)),
        ({"out": 4, "kernel": 3, "stride": 2, "groups": 2, "weight_norm": True, "bias": True}, (4, 6)),
        ({"out": 4, "kernel": 3, "stride": 2, "groups": 2, "weight_norm": "output"}, (4, 3, 6)),
        ({"out": 2, "kernel": (3, 2), "stride": 2, "weight_norm": "tap"}, (4, 3, 6)),
    )

    def setting(self, *inputs: Shape) -> str:
        return describe(self.kernel, self.stride, self.dilation, *inputs, groups=self.groups)

    def output_shape(self, x: Shape) -> Shape:
        axes = spatial_axes(x, "conv_transpose")
        has_groups(x, self.out, self.groups)
        return Shape((*self.positions(x.spatial, axes), self.out), x.layout)

    def params(self, x: Shape) -> dict[str, Param]:
        kernel = kernel_axes(self.kernel, spatial_axes(x, "conv_transpose"))
        tensors = {"weight": Param({**kernel, "input": x.channels, "output": self.out // self.groups}, "weight")}
        if self.bias:
            tensors["bias"] = Param({"output": self.out}, "bias", "zeros")
        return tensors | self.gains(tensors["weight"])

    def work(self, x: Shape) -> Work:
        y = self.output_shape(x)
        weights = product(along("kernel", self.kernel, x.rank - 1)) * x.channels * (self.out // self.groups)
        work = Work(weights * product(x.spatial), y.elements if self.bias else 0)
        return work + self.normalization(x) if self.weight_norm else work

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import lax
        from jax.numpy import flip

        axes = x.ndim - 1
        edges = []
        for size, (width, step, spread, pad, extra) in zip(x.shape[:-1], self.window(axes), strict=True):
            before, after = self.trim(size, width, step, spread, pad)
            edges.append((spread * (width - 1) - before, spread * (width - 1) - after + extra))
        weight = flip(self.normalized(params), tuple(range(axes)))
        if self.groups > 1:  # [kernel, groups · input, output] to [kernel, input, groups · output], as JAX has it
            kernel, part = weight.shape[:axes], weight.shape[-1]
            weight = weight.reshape(*kernel, self.groups, -1, part).swapaxes(axes, axes + 1)
            weight = weight.reshape(*kernel, -1, self.out)
        y = lax.conv_general_dilated(
            x[None],
            weight,
            (1,) * axes,
            edges,
            lhs_dilation=along("stride", self.stride, axes),
            rhs_dilation=along("dilation", self.dilation, axes),
            dimension_numbers=channels_last(axes),
            feature_group_count=self.groups,
        )[0]
        return y + params["bias"] if self.bias else y

    def window(self, axes: int) -> list[tuple]:
        """Kernel, stride, dilation, padding and output padding of each axis."""
        whole = (("kernel", self.kernel), ("stride", self.stride), ("dilation", self.dilation))
        columns = [along(name, value, axes) for name, value in whole]
        columns += [each_axis(self.padding, axes), along("output_padding", self.output_padding, axes)]
        return list(zip(*columns, strict=True))

    @staticmethod
    def trim(size: Size, width: Size, step: Size, spread: Size, padding: Any) -> tuple[Size, Size]:
        """What is cut off before and after one axis; for `same`, what the reverse convolution would pad."""
        if isinstance(padding, str) and padding == "same":
            surplus = spread * (width - 1) + 1 - step
            before = maximum(surplus, 0) // 2
            return before, surplus - before
        return axis_padding(size, width, step, spread, padding)

    def positions(self, sizes: tuple[Size, ...], axes: int) -> list[Size]:
        """The number of output positions along each axis."""
        result = []
        for size, (width, step, spread, pad, extra) in zip(sizes, self.window(axes), strict=True):
            require(
                (extra < step) | (extra < spread),
                "output_padding {} must be less than the stride {} or the dilation {}",
                extra,
                step,
                spread,
                argument="output_padding",
            )
            if isinstance(pad, str) and pad == "same":
                require(
                    extra == 0,
                    "output_padding {} cannot be combined with padding `same`, which gives {} positions",
                    extra,
                    size * step,
                    hint="give `padding` as a number to use `output_padding`",
                    argument="output_padding",
                )
            before, after = self.trim(size, width, step, spread, pad)
            full = (size - 1) * step + spread * (width - 1) + 1 + extra
            require(
                full - before - after >= 1,
                "padding {} and {} leaves nothing of {} output positions",
                before,
                after,
                full,
                error=ShapeError,
                hint="use less padding",
                argument="padding",
            )
            result.append(full - before - after)
        return result
