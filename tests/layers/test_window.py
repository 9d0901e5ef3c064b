"""The arithmetic of sliding windows, against windows that are laid out one by one."""

import pytest

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers._window import axis_padding, describe, each_axis, positions


def laid_out(size, kernel, stride, dilation, before, after):
    """How many windows start at a multiple of the stride and end within the padded axis."""
    starts = range(0, size + before + after, stride)
    return sum(start + dilation * (kernel - 1) < size + before + after for start in starts)


@pytest.mark.parametrize("size", [1, 5, 8, 13])
@pytest.mark.parametrize("kernel, dilation", [(1, 1), (2, 1), (3, 2), (4, 3)])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_positions(size, kernel, dilation, stride):
    window = (kernel,), (stride,), (dilation,)
    reach = dilation * (kernel - 1) + 1
    for padding in (0, 2, (1, 3), "valid", "half", "same"):
        before, after = axis_padding(size, kernel, stride, dilation, padding)
        if size + before + after < reach:
            with pytest.raises(ShapeError, match=f"spans {reach} positions"):
                positions((size,), *window, (padding,))
        else:
            assert positions((size,), *window, (padding,)) == (laid_out(size, kernel, stride, dilation, before, after),)
    assert positions((size,), *window, "same") == (len(range(0, size, stride)),)


@pytest.mark.parametrize(
    "arguments, pads",
    [
        ((28, 3, 2, 1, "same"), (0, 1)),  # (14 - 1) · 2 + 3 - 28 = 1, which goes behind
        ((28, 1, 3, 1, "same"), (0, 0)),
        ((7, 5, 1, 2, "same"), (4, 4)),
        ((7, 5, 1, 2, "half"), (4, 4)),
        ((8, 4, 1, 1, "same"), (1, 2)),
        ((8, 4, 1, 1, "half"), (2, 2)),
        ((8, 4, 1, 1, (3, 0)), (3, 0)),
        ((8, 4, 1, 1, 3), (3, 3)),
    ],
)
def test_axis_padding(arguments, pads):
    assert axis_padding(*arguments) == pads


def test_one_entry_for_each_axis():
    assert each_axis((1, (2, 3)), 2) == (1, (2, 3))
    assert each_axis("same", 3) == ("same", "same", "same")
    with pytest.raises(ArgumentError, match="2 entries for 3 axes"):
        each_axis((1, 2), 3)


def test_describe():
    assert describe(3) == "3×3"
    assert describe((3,), 2) == "3/2"
    assert describe((1, 3, 3), (1, 2, 2)) == "1×3×3/1×2×2"
