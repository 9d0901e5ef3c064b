"""Dense layers: integers worked out by hand, values against NumPy."""

import numpy as np
import pytest

from paramcount.backend.run.context import Context
from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.dense import Dense
from paramcount.layers.layer import Shape


@pytest.mark.parametrize(
    "layer, sizes, params, macs, elementwise",
    [
        (Dense(512), (784,), 401_920, 401_408, 512),  # 784 · 512 + 512
        (Dense(32_000, False), (128, 4096), 131_072_000, 16_777_216_000, 0),  # 4096 · 32000; · 128
        (Dense(1), (2, 3, 4, 5, 6), 7, 720, 120),  # 6 + 1; 6 · 120 places
        (Dense(10, weight_norm=True), (5, 4), 60, 200, 190),  # 40 + 10 + 10; 50 + 3 · 40 + 2 · 10
    ],
)
def test_by_hand(layer, sizes, params, macs, elementwise):
    x = Shape.of(*sizes)
    assert layer.output_shape(x).sizes == (*sizes[:-1], layer.out)
    assert sum(param.size for param in layer.params(x).values()) == params
    assert layer.work(x).macs == macs
    assert layer.work(x).elementwise == elementwise


def test_200_thousand_squared_is_exact():
    assert Dense(200_000).work(Shape.of(200_000)).macs == 40_000_000_000


def test_forward():
    random = np.random.default_rng(3)
    x, weight, bias = random.standard_normal((5, 4)), random.standard_normal((4, 3)), random.standard_normal(3)
    y = Dense(3).forward({"weight": weight, "bias": bias}, x, context=Context())
    np.testing.assert_allclose(y, x @ weight + bias, rtol=1e-5, atol=1e-5)
    gain = np.array([1.0, 2.0, 3.0])
    y = Dense(3, False, weight_norm=True).forward({"weight": weight, "gain": gain}, x, context=Context())
    np.testing.assert_allclose(y, x @ (weight / np.linalg.norm(weight, axis=0) * gain), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("sizes", [(7, 7, 32), (3, 7, 7, 32)])
def test_an_image_is_refused(sizes):
    with pytest.raises(
        ShapeError, match=f"`dense` needs features or a sequence, .* {'×'.join(map(str, sizes))}"
    ) as caught:
        Dense(10).output_shape(Shape.of(*sizes))
    assert all(word in caught.value.hint for word in ("`global_pool`", "`flatten`", "`pointwise`"))


def test_tokens_are_refused():
    with pytest.raises(ShapeError, match="tokens 10") as caught:
        Dense(10).output_shape(Shape((10,), "tokens"))
    assert "`embedding`" in caught.value.hint


def test_a_scalar_is_refused():
    with pytest.raises(ShapeError, match="scalar"):
        Dense(10).output_shape(Shape.of())


@pytest.mark.parametrize("out", [0, -8, 11.2, "many", True])
def test_out_is_a_whole_number(out):
    with pytest.raises(ArgumentError, match="out"):
        Dense(out)
    assert Dense(32.0).out == 32  # pyright: ignore[reportArgumentType]
