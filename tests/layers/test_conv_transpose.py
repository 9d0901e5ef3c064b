"""Transposed convolutions: integers worked out by hand, values against kernels painted one by one."""

import itertools

import numpy as np
import pytest

from paramcount.backend.run.context import Context
from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.conv_transpose import ConvTranspose
from paramcount.layers.layer import Shape


@pytest.mark.parametrize(
    "layer, sizes, out, params, macs",
    [
        # one input position meets 32 · 1 · 9
        (ConvTranspose(1, 3, 1, "valid", bias=True), (1, 1, 32), (3, 3, 1), 289, 288),
        # (8 - 1) · 2 + 4 - 2 = 16; 4 · 6 · 16 and 6; 384 · 8²
        (ConvTranspose(6, 4, 2, 1, bias=True), (8, 8, 4), (16, 16, 6), 390, 24_576),
        # 64 · 32 · 4 · 16²
        (ConvTranspose(32, 2, 2, bias=True), (16, 16, 64), (32, 32, 32), 8_224, 2_097_152),
        # (50 - 1) · 3 + 2 · 4 + 1 - 4 + 2 = 154; 5 · 16 · 32/4; · 50
        (
            ConvTranspose(32, 5, 3, 2, output_padding=2, dilation=2, groups=4),
            (50, 16), (154, 32), 640, 32_000,
        ),
        # 21, 16 and 27 positions; 30 taps · 16 · 33, and 33 biases; 15840 · 6000
        (
            ConvTranspose(33, (3, 5, 2), (2, 1, 1), (0, 4, 2), bias=True),
            (10, 20, 30, 16), (21, 16, 27, 33), 15_873, 95_040_000,
        ),
        # 9 - 2 · 3 + 2 = 5 come out of 9, which all meet the kernel: 3 · 2 · 4 · 9
        (ConvTranspose(4, 3, 1, 3), (9, 2), (5, 4), 24, 216),
        # 3 · 8 · 9 · 10²
        (ConvTranspose(8, 3, padding=2), (10, 10, 3), (8, 8, 8), 216, 21_600),
    ],
)  # fmt: skip
def test_by_hand(layer, sizes, out, params, macs):
    x = Shape.of(*sizes)
    assert layer.output_shape(x).sizes == out
    assert sum(param.size for param in layer.params(x).values()) == params
    assert layer.work(x).macs == macs


def test_bias_is_one_addition_per_output():
    # a batch of two costs 2 · 24,576 MACs and 2 · 6 · 256 additions: 101,376 FLOPs with bias
    work = ConvTranspose(6, 4, 2, 1, bias=True).work(Shape.of(8, 8, 4)) * 2
    assert work.elementwise == 3_072
    assert work.flops + work.elementwise == 101_376


@pytest.mark.parametrize("size, kernel, stride", [(5, 3, 2), (5, 2, 3), (5, 3, 1), (4, 4, 2), (7, 5, 4), (3, 1, 2)])
def test_same_gives_stride_times_as_many(size, kernel, stride):
    assert ConvTranspose(2, kernel, stride).output_shape(Shape.of(size, 3)).sizes == (size * stride, 2)


def painted(x, weight, stride, dilation, groups):
    """Each input position adds its value times the kernel to the output; nothing is cut off."""
    axes = x.ndim - 1
    kernel, (cin, part) = weight.shape[:axes], weight.shape[axes:]
    sizes = [(x.shape[a] - 1) * stride + dilation * (kernel[a] - 1) + 1 for a in range(axes)]
    y = np.zeros((*sizes, part * groups))
    for spot in itertools.product(*map(range, x.shape[:axes])):
        for tap in itertools.product(*map(range, kernel)):
            place = tuple(s * stride + t * dilation for s, t in zip(spot, tap, strict=True))
            for channel in range(cin):
                group = channel // (cin // groups)
                y[place][group * part : (group + 1) * part] += x[spot][channel] * weight[tap][channel]
    return y


@pytest.mark.parametrize(
    "layer, sizes",
    [
        (ConvTranspose(4, 3, 2, "valid"), (4, 3)),
        (ConvTranspose(4, (3, 2), 1, "valid", groups=2), (3, 4, 6)),
        (ConvTranspose(2, 2, 3, "valid", dilation=2), (2, 2, 2, 2)),
    ],
)
def test_forward(layer, sizes):
    random = np.random.default_rng(5)
    x = random.standard_normal(sizes)
    weight = random.standard_normal(layer.params(Shape.of(*sizes))["weight"].shape)
    y = layer.forward({"weight": weight}, x, context=Context())
    expected = painted(x, weight, layer.stride, layer.dilation, layer.groups)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


def test_padding_cuts_off_and_output_padding_adds():
    random = np.random.default_rng(5)
    x, weight = random.standard_normal((4, 3)), random.standard_normal((3, 3, 2))
    whole = painted(x, weight, 3, 1, 1)
    y = ConvTranspose(2, 3, 3, [[1, 2]], output_padding=1).forward({"weight": weight}, x, context=Context())
    np.testing.assert_allclose(y, whole[1 : len(whole) - 1], rtol=1e-5, atol=1e-5)
    y = ConvTranspose(2, 3, 3, 0, output_padding=2).forward({"weight": weight}, x, context=Context())
    np.testing.assert_allclose(y, np.pad(whole, [(0, 2), (0, 0)]), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel, stride", [(3, 2), (2, 3), (4, 2), (3, 1)])
def test_same_is_jax_same(kernel, stride):
    from jax import lax
    from jax.numpy import asarray

    random = np.random.default_rng(5)
    x, weight = asarray(random.standard_normal((5, 3))), asarray(random.standard_normal((kernel, 3, 2)))
    y = ConvTranspose(2, kernel, stride).forward({"weight": weight}, x, context=Context())
    layout = ("NHC", "HIO", "NHC")
    expected = lax.conv_transpose(x[None], weight[::-1], (stride,), "SAME", dimension_numbers=layout)[0]
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


def test_output_padding_has_a_limit():
    with pytest.raises(ArgumentError, match="output_padding 2 must be less than the stride 2 or the dilation 1"):
        ConvTranspose(4, 3, 2, 1, output_padding=2).output_shape(Shape.of(8, 3))
    assert ConvTranspose(4, 3, 2, 1, output_padding=2, dilation=3).output_shape(Shape.of(8, 3)).sizes == (21, 4)
    with pytest.raises(ArgumentError, match="padding `same`"):
        ConvTranspose(4, 3, 2, output_padding=1).output_shape(Shape.of(8, 3))


def test_groups_must_divide():
    with pytest.raises(ArgumentError, match="10 input channels do not divide into 4 groups"):
        ConvTranspose(8, 3, groups=4).output_shape(Shape.of(9, 10))


def test_padding_that_leaves_nothing():
    with pytest.raises(ShapeError, match="leaves nothing of 4 output positions"):
        ConvTranspose(4, 3, 1, 2).output_shape(Shape.of(2, 3))


def test_a_vector_is_refused():
    with pytest.raises(ShapeError, match=r"`conv_transpose` needs .* features 10"):
        ConvTranspose(4, 3).output_shape(Shape.of(10))
