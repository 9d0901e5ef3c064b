from functools import partial

import numpy
import pytest

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.adaptive_pool import AdaptiveAvgPool, AdaptiveMaxPool
from paramcount.layers.global_pool import GlobalPool
from paramcount.layers.layer import Shape, Work


def test_sizes_and_none():
    assert AdaptiveAvgPool(6).output_shape(Shape.of(13, 13, 256)) == Shape.of(6, 6, 256)
    assert AdaptiveAvgPool((None, 1)).output_shape(Shape.of(224, 224, 64)) == Shape.of(224, 1, 64)
    assert AdaptiveMaxPool((5, 7)).output_shape(Shape.of(10, 9, 8)) == Shape.of(5, 7, 8)
    assert AdaptiveAvgPool(5).output_shape(Shape.of(20, 8)) == Shape.of(5, 8)
    assert AdaptiveAvgPool(1).output_shape(Shape.of(5, 5, 10)) == Shape.of(1, 1, 10)
    assert AdaptiveAvgPool(None).output_shape(Shape.of(5, 4, 10)) == Shape.of(5, 4, 10)
    assert AdaptiveAvgPool((None, 7)).setting() == "–×7"


def test_work_is_the_positions_of_the_bins():
    assert AdaptiveAvgPool(6).work(Shape.of(12, 12, 10)) == Work(0, 1800)  # 144 · 10 + 36 · 10
    # bins of 2, 2, 3, 2, 3, 2 and 2 positions along each axis: 16² + 7²
    assert AdaptiveAvgPool(7).work(Shape.of(10, 10, 1)) == AdaptiveMaxPool(7).work(Shape.of(10, 10, 1)) == Work(0, 305)
    assert AdaptiveMaxPool(2).work(Shape.of(5, 3)) == Work(0, 24)  # two bins of 3 positions: 6 · 3 + 2 · 3
    assert AdaptiveAvgPool(7).work(Shape.of(3, 1)) == Work(0, 16)  # 1, 1, 2, 1, 2, 1, 1 and 7 divisions
    assert GlobalPool().work(Shape.of(7, 7, 1280)) == Work(0, 64000)  # 49 · 1280 + 1280


def test_global_pool_leaves_the_channels():
    assert GlobalPool().output_shape(Shape.of(7, 7, 512)) == Shape.of(512)
    assert GlobalPool().output_shape(Shape.of(49, 512)) == Shape.of(512)
    assert GlobalPool().output_shape(Shape.of(2, 7, 7, 512)) == Shape.of(512)
    x = numpy.array([[1, 10], [2, 20], [6, 60]], "float32")
    assert GlobalPool().forward({}, x, context=None).tolist() == [3, 30]


def test_positions_equal_a_plain_enumeration_of_the_bins():
    for n in range(1, 40):
        for m in range(1, 40):
            bins = [range(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]
            assert AdaptiveAvgPool(m).work(Shape.of(n, 1)).elementwise == sum(map(len, bins)) + m


@pytest.mark.parametrize("shape", [Shape.of(512), Shape((9,), "tokens"), Shape.of(2, 2, 2, 2, 2)])
def test_what_has_no_places_is_refused(shape):
    with pytest.raises(ShapeError, match="`global_pool` needs a sequence, an image or a volume"):
        GlobalPool().output_shape(shape)
    with pytest.raises(ShapeError, match="`adaptive_max_pool` needs"):
        AdaptiveMaxPool(2).output_shape(shape)


def test_one_size_for_each_axis():
    with pytest.raises(ArgumentError, match=r"size .* has 3 entries for 2 axes"):
        AdaptiveAvgPool((1, 2, 3)).output_shape(Shape.of(4, 4, 1))
    with pytest.raises(ArgumentError, match="size must be at least 1, not 0"):
        AdaptiveAvgPool(0)


def test_bins_by_hand():
    x = numpy.array([[0], [1], [2], [9]], "float32")  # bins of 3 over 4: 0-1, 1-2, 2-3
    assert AdaptiveAvgPool(3).forward({}, x, context=None).tolist() == [[0.5], [1.5], [5.5]]
    assert AdaptiveMaxPool(3).forward({}, x, context=None).tolist() == [[1], [2], [9]]


def values(pool, x):
    import jax

    return jax.jit(partial(pool.forward, {}, context=None))(x)  # compiling one program takes less than each operation


@pytest.mark.parametrize("size", [1, 2, 3, 7, 11, (None, 4), (3, 12)])
def test_values_equal_torch(size):
    torch = pytest.importorskip("torch", reason="needs torch")
    for height, width in ((10, 4), (1, 13)):
        x = numpy.random.default_rng(0).normal(size=(height, width, 2)).astype("float32")
        tensor = torch.tensor(x).permute(2, 0, 1)[None]
        expected = torch.nn.functional.adaptive_avg_pool2d(tensor, size)[0].permute(1, 2, 0).numpy()
        y = values(AdaptiveAvgPool(size), x)
        numpy.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)
        expected = torch.nn.functional.adaptive_max_pool2d(tensor, size)[0].permute(1, 2, 0).numpy()
        numpy.testing.assert_array_equal(values(AdaptiveMaxPool(size), x), expected)
