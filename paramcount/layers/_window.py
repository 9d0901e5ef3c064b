"""Sliding windows, shared by convolutions and pools: padding and output positions."""

from typing import Any

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.layer import Shape, along
from paramcount.numbers.arithmetic import Size, ceil_div, maximum, require

AXIS_NAMES = {1: ("time",), 2: ("height", "width"), 3: ("depth", "height", "width")}


def axis_padding(size: Size, kernel: Size, stride: Size, dilation: Size, padding: Any) -> tuple[Size, Size]:
    """The padding before and after one axis; `padding` is same, half, valid, a number, or a pair.

    >>> axis_padding(28, 3, 2, 1, "same")  # 14 windows reach over 29 positions: the odd one goes behind
    (0, 1)
    """
    if isinstance(padding, tuple):
        return padding
    if not isinstance(padding, str):
        return padding, padding
    if padding == "valid":
        return 0, 0
    if padding == "half":
        return dilation * (kernel // 2), dilation * (kernel // 2)
    reach = dilation * (kernel - 1) + 1
    total = maximum((ceil_div(size, stride) - 1) * stride + reach - size, 0)
    return total // 2, total - total // 2


def window(layer: Any, axes: int) -> tuple[tuple, tuple, tuple, Any]:
    """A convolution's kernel, stride and dilation for each axis, and its padding."""
    kernel, stride = along("kernel", layer.kernel, axes), along("stride", layer.stride, axes)
    return kernel, stride, along("dilation", layer.dilation, axes), layer.padding


def each_axis(padding: Any, axes: int) -> tuple:
    """The padding's own entry for each axis."""
    if not isinstance(padding, tuple):
        return (padding,) * axes
    if len(padding) != axes:
        raise ArgumentError(
            f"padding has {len(padding)} entries for {axes} axes",
            hint="give one number for all axes, or one entry for each",
            argument="padding",
        )
    return padding


def paddings(sizes: tuple, kernel: tuple, stride: tuple, dilation: tuple, padding: Any) -> list[tuple[Size, Size]]:
    """The padding before and after every axis."""
    each = each_axis(padding, len(sizes))
    return [axis_padding(*axis) for axis in zip(sizes, kernel, stride, dilation, each, strict=True)]


def positions(sizes: tuple, kernel: tuple, stride: tuple, dilation: tuple, padding: Any) -> tuple[Size, ...]:
    """The number of window positions along each axis; raises ShapeError where the window does not fit once."""
    if padding == "same":
        return tuple([ceil_div(size, step) for size, step in zip(sizes, stride, strict=True)])
    pads = paddings(sizes, kernel, stride, dilation, padding)
    result = []
    for size, width, step, spread, (before, after) in zip(sizes, kernel, stride, dilation, pads, strict=True):
        reach = spread * (width - 1) + 1
        padded = size + before + after
        require(
            padded >= reach,
            "the kernel spans {} positions, the padded input has {}",
            reach,
            padded,
            error=ShapeError,
            hint="use a smaller kernel or more padding",
            argument="kernel",
        )
        result.append((padded - reach) // step + 1)
    return tuple(result)


def kernel_axes(kernel: Any, axes: int) -> dict[str, Size]:
    """The kernel's size along each spatial axis, by the axis's name."""
    return dict(zip(AXIS_NAMES[axes], along("kernel", kernel, axes), strict=True))


def describe(kernel: Any, stride: Any = 1, dilation: Any = 1, x: Shape | None = None, groups: Size = 1) -> str:
    """A short description of a window; where the number of axes is unknown, that of an image's.

    >>> describe(3, 2), describe((1, 7)), describe(3, 1, 2), describe(3, x=Shape.of(100, 80))
    ('3×3/2', '1×7', '3×3 d2', '3')
    """
    axes = x.rank - 1 if x else 2
    text = "×".join(map(str, kernel if isinstance(kernel, tuple) else (kernel,) * axes))
    for mark, value in (("/", stride), (" d", dilation)):
        values = value if isinstance(value, tuple) else (value,)
        if any(each != 1 for each in values):
            text += mark + ("×".join(map(str, values)) if len(set(values)) > 1 else str(values[0]))
    return text if groups == 1 else f"{text} g{groups}"
