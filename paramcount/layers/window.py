"""Sliding windows, shared by convolutions and pools: padding, output positions, and nothing of layers."""

from typing import Any

from paramcount.errors import ArgumentError, ShapeError, quote
from paramcount.layer import along
from paramcount.numeric import Size, ceil_div, decide, maximum, require


def axis_padding(size: Size, kernel: Size, stride: Size, dilation: Size, padding: Any) -> tuple[Size, Size]:
    """The padding before and after one axis; `padding` is same, half, valid, a number, or a pair."""
    reach = dilation * (kernel - 1) + 1
    if padding == "valid":
        return 0, 0
    if padding == "half":
        return dilation * (kernel // 2), dilation * (kernel // 2)
    if padding == "same":
        total = maximum((ceil_div(size, stride) - 1) * stride + reach - size, 0)
        return total // 2, total - total // 2
    return padding if isinstance(padding, tuple) else (padding, padding)


def paddings(sizes: tuple, kernel: tuple, stride: tuple, dilation: tuple, padding: Any) -> list[tuple[Size, Size]]:
    """The padding before and after every axis."""
    if isinstance(padding, tuple) and len(padding) != len(sizes):
        raise ArgumentError(
            f"padding has {len(padding)} entries for {len(sizes)} axes",
            hint="give one number for all axes, or one entry for each",
            argument="padding",
        )
    each = padding if isinstance(padding, tuple) else (padding,) * len(sizes)
    return [axis_padding(*axis) for axis in zip(sizes, kernel, stride, dilation, each, strict=True)]


def positions(sizes: tuple, kernel: tuple, stride: tuple, dilation: tuple, padding: Any) -> tuple[Size, ...]:
    """How many places a window stands in along each axis; raises ShapeError where it does not fit once."""
    pads = paddings(sizes, kernel, stride, dilation, padding)
    result = []
    for size, width, step, spread, (before, after) in zip(sizes, kernel, stride, dilation, pads, strict=True):
        reach = spread * (width - 1) + 1
        require(
            size + before + after >= reach,
            "the kernel spans {} positions, the padded input has {}",
            reach,
            size + before + after,
            error=ShapeError,
            hint="use a smaller kernel or more padding",
        )
        result.append((size + before + after - reach) // step + 1)
    return tuple(result)


def describe(kernel: Any, stride: Any = 1, axes: int = 2) -> str:
    """A window in brief: `3×3/2`."""
    sizes = "×".join(map(str, along("kernel", kernel, axes)))
    steps = along("stride", stride, axes)
    if all(step == 1 for step in steps):
        return sizes
    return f"{sizes}/{steps[0]}" if len(set(steps)) == 1 else f"{sizes}/" + "×".join(map(str, steps))
