"""Depthwise convolutions: integers worked out by hand, values against one convolution for each channel."""

import numpy as np
import pytest

from paramcount.backend.run.context import Context
from paramcount.errors import ShapeError
from paramcount.layers.depthwise import Depthwise
from paramcount.layers.layer import Shape


@pytest.mark.parametrize(
    "layer, sizes, out, params, macs",
    [
        # 7 kernels of 9; · 16²
        (Depthwise(3, padding=1), (16, 16, 7), (16, 16, 7), 63, 16_128),
        # 512 · 9 · 13²
        (Depthwise(3), (13, 13, 512), (13, 13, 512), 4_608, 778_752),
        # 24 kernels of 49; · 112²
        (Depthwise(7, 2, 8, 3), (224, 224, 3), (112, 112, 24), 1_176, 14_751_744),
        # 6 kernels of 4 and 6 biases; 10 - 4 + 1 = 7 positions
        (Depthwise(4, padding="valid", bias=True), (10, 6), (7, 6), 30, 168),
    ],
)
def test_by_hand(layer, sizes, out, params, macs):
    x = Shape.of(*sizes)
    assert layer.output_shape(x).sizes == out
    assert sum(param.size for param in layer.params(x).values()) == params
    assert layer.work(x).macs == macs


def test_bias_is_one_addition_per_output():
    assert Depthwise(3, bias=True, multiplier=2).work(Shape.of(4, 5, 3)).elementwise == 4 * 5 * 6


def test_axes():
    assert Depthwise(3, multiplier=2).params(Shape.of(4, 5, 3))["weight"].shape == (3, 3, 1, 6)


def test_forward_keeps_the_channels_apart():
    random = np.random.default_rng(3)
    x, weight = random.standard_normal((8, 3)), random.standard_normal((3, 1, 6))
    y = Depthwise(3, multiplier=2, padding="valid").forward({"weight": weight}, x, context=Context())
    expected = [np.correlate(x[:, out // 2], weight[:, 0, out], "valid") for out in range(6)]
    np.testing.assert_allclose(y, np.stack(expected, -1), rtol=1e-5, atol=1e-5)


def test_a_vector_is_refused():
    with pytest.raises(ShapeError, match=r"`depthwise` needs .* features 10"):
        Depthwise(3).output_shape(Shape.of(10))


def test_setting():
    assert Depthwise(3, 2, 8).setting() == "3×3/2 m8"
