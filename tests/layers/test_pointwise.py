"""Pointwise convolutions: integers worked out by hand, values against matrix products in NumPy."""

import numpy as np
import pytest

from paramcount.backend.run.context import Context
from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.layer import Shape
from paramcount.layers.pointwise import Pointwise


@pytest.mark.parametrize(
    "layer, sizes, out, params, macs",
    [
        (Pointwise(24), (56, 56, 144), (56, 56, 24), 3_456, 10_838_016),  # 144 · 24; · 56²
        (Pointwise(10, bias=True), (784,), (10,), 7_850, 7_840),
        (Pointwise(8, 2), (5, 4, 6), (3, 2, 8), 48, 288),  # ⌈5/2⌉ · ⌈4/2⌉ = 6 positions
        (Pointwise(8, groups=2), (5, 6), (5, 8), 24, 120),  # 6 / 2 · 8
        (Pointwise(4, (1, 2, 3)), (2, 3, 4, 5), (2, 2, 2, 4), 20, 160),
    ],
)
def test_by_hand(layer, sizes, out, params, macs):
    x = Shape.of(*sizes)
    assert layer.output_shape(x).sizes == out
    assert sum(param.size for param in layer.params(x).values()) == params
    assert layer.work(x).macs == macs


def test_forward():
    random = np.random.default_rng(3)
    x, weight, bias = random.standard_normal((5, 4, 6)), random.standard_normal((3, 8)), random.standard_normal(8)
    y = Pointwise(8, 2, groups=2, bias=True).forward({"weight": weight, "bias": bias}, x, context=Context())
    left = x[::2, ::2, :3] @ weight[:, :4]
    right = x[::2, ::2, 3:] @ weight[:, 4:]
    np.testing.assert_allclose(y, np.concatenate([left, right], -1) + bias, rtol=1e-5, atol=1e-5)


def test_layout_stays():
    assert Pointwise(8).output_shape(Shape((2, 3, 4), "sequence")).layout == "sequence"


def test_a_stride_needs_positions():
    with pytest.raises(ShapeError, match=r"stride of 2 .* features"):
        Pointwise(8, 2).output_shape(Shape.of(10))


def test_tokens_are_refused():
    with pytest.raises(ShapeError, match="tokens 10") as caught:
        Pointwise(8).output_shape(Shape((10,), "tokens"))
    assert "`embedding`" in caught.value.hint


def test_groups_must_divide():
    with pytest.raises(ArgumentError, match="10 input channels do not divide into 4 groups"):
        Pointwise(8, groups=4).output_shape(Shape.of(10))


@pytest.mark.parametrize(
    "layer, text", [(Pointwise(8), ""), (Pointwise(8, 2), "/2"), (Pointwise(8, 2, groups=4), "/2 g4")]
)
def test_setting(layer, text):
    assert layer.setting() == text
