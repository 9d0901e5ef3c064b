import random
from itertools import product

import numpy
import pytest

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.layer import Shape, Work
from paramcount.layers.pool import AvgPool, MaxPool, covered


def sizes(pool, *shape):
    return pool.output_shape(Shape.of(*shape)).sizes


def test_the_stride_is_the_kernel_unless_given():
    assert sizes(MaxPool(2), 30, 31, 8) == (15, 15, 8)
    assert sizes(MaxPool(3, 2), 17, 4) == (8, 4)  # (17 - 3) // 2 + 1
    assert sizes(AvgPool((2, 2, 2)), 8, 8, 9, 5) == (4, 4, 4, 5)
    assert MaxPool(3, 2).setting() == "3×3/2" and AvgPool(2).setting() == "2×2/2"


def test_every_padding():
    assert sizes(MaxPool(3, 2, "same"), 7, 8, 1) == (4, 4, 1)
    assert sizes(MaxPool(3, 2, "half"), 7, 8, 1) == (4, 4, 1)
    assert sizes(MaxPool(3, 2, "valid"), 7, 8, 1) == (3, 3, 1)
    assert sizes(MaxPool(3, 2, 1), 7, 8, 1) == (4, 4, 1)
    assert sizes(MaxPool(3, 2, [[0, 1], [0, 2]]), 7, 8, 1) == (3, 4, 1)
    assert sizes(MaxPool((3, 2), (2, 1), (1, 0), dilation=(2, 1)), 30, 31, 8) == (14, 30, 8)


def test_ceil_drops_a_last_window_that_starts_in_the_padding_behind():
    assert sizes(MaxPool(3, 2, ceil=True), 112, 112, 64) == (56, 56, 64)  # ceil(109 / 2) + 1
    assert sizes(MaxPool(2, 2, 1, ceil=True), 5, 5, 8) == (3, 3, 8)  # not ceil(5 / 2) + 1 = 4: it starts at 5 of 5
    assert sizes(MaxPool(1, 3, ceil=True), 5, 5, 8) == (2, 2, 8)  # not ceil(4 / 3) + 1 = 3
    assert sizes(AvgPool(4, 3, 2, ceil=True), 21, 8) == (8, 8)  # ceil(21 / 3) + 1


def test_ceil_keeps_a_first_window_that_hangs_over_the_edge():
    assert sizes(MaxPool(3, 2, ceil=True), 2, 2, 1) == (1, 1, 1)
    assert sizes(AvgPool(3, 3, ceil=True), 1, 4) == (1, 4)
    with pytest.raises(ShapeError, match="kernel spans 3 positions, the padded input has 1"):
        sizes(MaxPool(3, 2, ceil=True), 1, 1)  # two more positions are needed, and a stride of 2 gives one
    assert AvgPool(3, 2, ceil=True).work(Shape.of(2, 2, 1)).elementwise == 5  # 2 · 2 positions and a division


def test_work_is_the_positions_of_the_windows():
    assert MaxPool(3, 2).work(Shape.of(7, 7, 10)) == Work(0, 810)  # 9 positions · 3 · 3 places · 10 channels
    assert AvgPool(3, 2).work(Shape.of(7, 7, 10)) == Work(0, 900)  # (9 + 1) · 90
    assert AvgPool(2).work(Shape.of(8, 3)) == Work(0, 36)  # (2 + 1) · 4 · 3
    assert MaxPool(2).params(Shape.of(8, 3)) == {}


def test_average_counts_only_what_its_windows_hold():
    # Windows of 3 at 0 and 2 of 4 positions: 3 and 2, and two divisions.
    assert AvgPool(3, 2, ceil=True, count_pad=False).work(Shape.of(4, 1)).elementwise == 7
    # 3 windows of 3 at -1, 1, 3 of 5 positions, padded by 1: 2 + 3 + 2 inside, 9 with the padding.
    assert AvgPool(3, 2, 1, count_pad=False).work(Shape.of(5, 1)).elementwise == 10
    assert AvgPool(3, 2, 1).work(Shape.of(5, 1)).elementwise == 12


def test_covered_equals_a_plain_loop():
    for size, kernel, stride, before, after, count_pad in product(
        range(1, 8), range(1, 5), range(1, 5), range(3), range(3), (True, False)
    ):
        if max(before, after) >= kernel or size + before + after < kernel:
            continue
        places = -(-(size + before + after - kernel) // stride) + 1
        places -= (places - 1) * stride >= size + before
        low, high = (-before, size + after) if count_pad else (0, size)
        windows = [range(i * stride - before, i * stride - before + kernel) for i in range(places)]
        expected = sum(low <= position < high for window in windows for position in window)
        assert covered(size, places, kernel, stride, (before, after), count_pad) == expected


def test_errors_name_both_numbers():
    with pytest.raises(ShapeError, match="kernel spans 5 positions, the padded input has 4"):
        sizes(MaxPool(5), 4, 4, 1)
    with pytest.raises(ArgumentError, match="padding 2 is not smaller than the kernel's reach 2"):
        sizes(AvgPool(2, 1, 2), 4, 4, 1)
    with pytest.raises(ShapeError, match="`max_pool` needs a sequence, an image or a volume, and got features 7"):
        sizes(MaxPool(2), 7)
    with pytest.raises(ArgumentError, match=r"stride .* 3 entries for 2 axes"):
        sizes(MaxPool(2, (1, 2, 3)), 8, 8, 1)
    with pytest.raises(ArgumentError, match="unknown padding `sane`"):
        MaxPool(2, padding="sane")
    with pytest.raises(ArgumentError, match="ceil must be true or false, not `1`"):
        MaxPool(2, ceil=1)  # type: ignore


def images(shape, seed=0):
    return numpy.random.default_rng(seed).normal(size=shape).astype("float32")


def first(x):
    return numpy.moveaxis(x, -1, 0)[None]


@pytest.mark.parametrize("kernel, stride", [(1, 3), (2, 1), (2, 2), (3, 2), (3, 3), (4, 3), (5, 2)])
def test_values_equal_torch(kernel, stride):
    torch = pytest.importorskip("torch", reason="needs torch")
    for padding, ceil, count_pad in product(range(kernel // 2 + 1), (False, True), (False, True)):
        x = images((8, 9, 2))
        tensor = torch.tensor(first(x))
        y = AvgPool(kernel, stride, padding, ceil=ceil, count_pad=count_pad).forward({}, x, context=None)
        expected = torch.nn.functional.avg_pool2d(tensor, kernel, stride, padding, ceil, count_pad).numpy()
        numpy.testing.assert_allclose(first(numpy.asarray(y)), expected, rtol=1e-5, atol=1e-6)
        y = MaxPool(kernel, stride, padding, ceil=ceil).forward({}, x, context=None)
        expected = torch.nn.functional.max_pool2d(tensor, kernel, stride, padding, 1, ceil).numpy()
        numpy.testing.assert_array_equal(first(numpy.asarray(y)), expected)


def test_dilation_and_other_ranks_equal_torch():
    torch = pytest.importorskip("torch", reason="needs torch")
    f = torch.nn.functional
    x = images((11, 10, 2))
    y = MaxPool((3, 2), (2, 1), (1, 0), dilation=(2, 1)).forward({}, x, context=None)
    expected = f.max_pool2d(torch.tensor(first(x)), (3, 2), (2, 1), (1, 0), (2, 1)).numpy()
    numpy.testing.assert_array_equal(first(numpy.asarray(y)), expected)
    x = images((21, 3))
    y = AvgPool(4, 3, 2, ceil=True).forward({}, x, context=None)
    expected = f.avg_pool1d(torch.tensor(first(x)), 4, 3, 2, True).numpy()
    numpy.testing.assert_allclose(first(numpy.asarray(y)), expected, rtol=1e-5, atol=1e-6)
    x = images((5, 6, 7, 2))
    y = MaxPool((1, 2, 2), ceil=True).forward({}, x, context=None)
    expected = f.max_pool3d(torch.tensor(first(x)), (1, 2, 2), ceil_mode=True).numpy()
    numpy.testing.assert_array_equal(first(numpy.asarray(y)), expected)


def random_pool(draw):
    """A pool of ours with `ceil`, PyTorch's function with its arguments, and an input."""
    axes = draw.randint(1, 3)
    kernel, stride, dilation = (tuple(draw.randint(1, most) for _ in range(axes)) for most in (5, 4, 2))
    padding = tuple(draw.randint(0, size // 2) for size in kernel)
    x = numpy.random.default_rng(draw.randint(0, 99)).normal(size=[draw.randint(1, 9) for _ in range(axes)] + [2])
    if draw.random() < 0.5:
        ours = MaxPool(kernel, stride, padding, ceil=True, dilation=dilation)
        return ours, f"max_pool{axes}d", (kernel, stride, padding, dilation, True), x.astype("float32")
    count_pad = draw.random() < 0.5
    ours = AvgPool(kernel, stride, padding, ceil=True, count_pad=count_pad)
    return ours, f"avg_pool{axes}d", (kernel, stride, padding, True, count_pad), x.astype("float32")


def compare_with_torch(draw):
    """That a random pool gives what PyTorch's gives, or that both refuse it; returns whether they gave anything."""
    import torch

    pool, name, arguments, x = random_pool(draw)
    try:
        expected = getattr(torch.nn.functional, name)(torch.tensor(first(x)), *arguments).numpy()
    except RuntimeError as error:
        if "smaller than kernel size" in str(error):  # PyTorch's pools over volumes do not see that it may hang over
            return False
        assert "too small" in str(error) or "output size" in str(error), error
        with pytest.raises(ShapeError, match="kernel spans"):
            sizes(pool, *x.shape)
        return False
    y = first(numpy.asarray(pool.forward({}, x, context=None)))
    assert pool.output_shape(Shape.of(*x.shape)).sizes == numpy.moveaxis(expected[0], 0, -1).shape
    numpy.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6, err_msg=str((pool, x.shape)))
    return True


def test_random_pools_with_ceil_equal_torch():
    pytest.importorskip("torch", reason="needs torch")
    draw = random.Random(7)
    assert sum(compare_with_torch(draw) for _ in range(30)) > 15


def test_values_by_hand():
    x = numpy.array([[1], [5], [2], [4]], "float32")
    assert MaxPool(3, 2, ceil=True).forward({}, x, context=None).tolist() == [[5], [4]]
    assert AvgPool(2, 2, 1, count_pad=False).forward({}, x, context=None).tolist() == [[1], [3.5], [4]]
    assert AvgPool(2, 2, 1).forward({}, x, context=None).tolist() == [[0.5], [3.5], [2]]
