"""Convolutions: integers worked out by hand, values against loops written out."""

import itertools

import numpy as np
import pytest

from paramcount.backend.run.context import Context
from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers._window import window
from paramcount.layers.conv import Conv
from paramcount.layers.layer import Shape


def total(layer, x):
    return sum(param.size for param in layer.params(x).values())


def by_loops(x, weight, stride, dilation, before, after, groups):
    """A convolution as its definition says it, output element by output element."""
    axes = x.ndim - 1
    x = np.pad(x, [*zip(before, after, strict=True), (0, 0)])
    kernel, (cin, out) = weight.shape[:axes], weight.shape[axes:]
    sizes = [(x.shape[a] - dilation[a] * (kernel[a] - 1) - 1) // stride[a] + 1 for a in range(axes)]
    y = np.zeros((*sizes, out))
    for spot in itertools.product(*map(range, sizes)):
        for tap in itertools.product(*map(range, kernel)):
            values = x[
                tuple(s * step + t * spread for s, step, t, spread in zip(spot, stride, tap, dilation, strict=True))
            ]
            for channel in range(out):
                first = channel // (out // groups) * cin
                y[spot][channel] += values[first : first + cin] @ weight[tap][:, channel]
    return y


def random(*shape):
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    "layer, sizes, out, params, macs",
    [
        # 128 · (64/4) · 9 weights, 128 biases; weights · 56²
        (Conv(128, 3, padding=1, groups=4, bias=True), (56, 56, 64), (56, 56, 128), 18_560, 57_802_752),
        # 8 · 3 · 15, 8 biases; 360 · 28 · 31
        (Conv(8, (3, 5), dilation=(2, 3), bias=True), (28, 31, 3), (28, 31, 8), 368, 312_480),
        # 32 - (3 · 2 + 1) + 1 = 26; 16 · 8 · 9 · 26²
        (Conv(16, 3, padding="valid", dilation=3, bias=True), (32, 32, 8), (26, 26, 16), 1_168, 778_752),
        # 2 · 4 taps · 16 positions, padded ones too
        (Conv(2, 2), (4, 4, 1), (4, 4, 2), 8, 128),
        # 1000 · 1000 · 3 weights; · 512
        (Conv(1000, 3, padding=1, bias=True), (512, 1000), (512, 1000), 3_001_000, 1_536_000_000),
        # (224 + 6 - 7) // 2 + 1 = 112; 64 · 3 · 49; 9408 · 112²
        (Conv(64, 7, 2, 3), (224, 224, 3), (112, 112, 64), 9_408, 118_013_952),
        # 64 · 27 + 64; 1728 · 224²
        (Conv(64, 3, padding=1, bias=True), (224, 224, 3), (224, 224, 64), 1_792, 86_704_128),
        # 2 · 3 · 5 taps · 4 · 6 = 720; (9 - 2) // 2 + 1 = 4, 9 - 3 + 1 = 7, 9 - 5 + 1 = 5; 720 · 140
        (Conv(6, (2, 3, 5), (2, 1, 1), "valid"), (9, 9, 9, 4), (4, 7, 5, 6), 720, 100_800),
        # 3 - 3 + 8 + 1 = 9 positions along each axis, most of them of padding: 9 · 2 · 4 · 9²
        (Conv(4, 3, padding=4), (3, 3, 2), (9, 9, 4), 72, 5_832),
        # a kernel of 1 on 3 + 2 positions
        (Conv(1, 1, padding=1), (3, 3, 1), (5, 5, 1), 1, 25),
        # the first layer of FCN: 27 · 64 · (224 + 200 - 2)²
        (Conv(64, 3, padding=100), (224, 224, 3), (422, 422, 64), 1_728, 307_729_152),
        # the positions of wav2vec2: 128 · 48 · 768 · (49 + 128 - 127)
        (Conv(768, 128, padding=64, groups=16), (49, 768), (50, 768), 4_718_592, 235_929_600),
        # one gain for each of 5 outputs beside 5 · 4 · 3 weights
        (Conv(5, 3, weight_norm=True), (10, 4), (10, 5), 65, 600),
    ],
)
def test_by_hand(layer, sizes, out, params, macs):
    x = Shape.of(*sizes)
    assert layer.output_shape(x).sizes == out
    assert total(layer, x) == params
    assert layer.work(x).macs == macs


def test_elementwise():
    # one addition for each of 4 · 4 · 8 outputs
    assert Conv(8, 3, bias=True).work(Shape.of(4, 4, 2)).elementwise == 128
    assert Conv(8, 3).work(Shape.of(4, 4, 2)).elementwise == 0
    # 3 for each of 9 · 2 · 8 = 144 weights, 2 for each of 8 gains
    assert Conv(8, 3, weight_norm=True).work(Shape.of(4, 4, 2)).elementwise == 448


def test_roles_and_axes():
    params = Conv(8, (3, 5), groups=2, bias=True, weight_norm=True).params(Shape.of(9, 9, 6))
    assert params["weight"].axes == {"height": 3, "width": 5, "input": 3, "output": 8}
    assert {name: param.role for name, param in params.items()} == {"weight": "weight", "bias": "bias", "gain": "norm"}
    assert list(Conv(8, 3).params(Shape.of(9, 6))["weight"].axes) == ["time", "input", "output"]


@pytest.mark.parametrize(
    "size, kernel, stride, padding, out",
    [
        (28, 1, 3, "same", 10),  # ⌈28 / 3⌉
        (28, 3, 2, "same", 14),
        (7, 3, 2, "half", 4),  # (7 + 2 - 3) // 2 + 1
        (8, 3, 2, "half", 4),
        (8, 4, 1, "half", 9),  # 8 + 4 - 4 + 1: an even kernel adds one
        (8, 3, 1, [[2, 0]], 8),
        (8, 3, 1, [1], 8),
    ],
)
def test_padding(size, kernel, stride, padding, out):
    assert Conv(1, kernel, stride, padding).output_shape(Shape.of(size, 1)).sizes == (out, 1)


@pytest.mark.parametrize(
    "layer, sizes, before, after",
    [
        (Conv(6, 3, 2, groups=3), (6, 7, 3), (0, 1), (1, 1)),  # (3 - 1) · 2 + 3 - 6 = 1; (4 - 1) · 2 + 3 - 7 = 2
        (Conv(2, (3, 2), padding="half", dilation=(2, 1)), (6, 5, 3), (2, 1), (2, 1)),
        (Conv(4, 4, 1, [[3, 1]], groups=2), (9, 4), (3,), (1,)),
        (Conv(2, 2, (1, 2, 1), "valid"), (3, 4, 3, 2), (0, 0, 0), (0, 0, 0)),
    ],
)
def test_forward(layer, sizes, before, after):
    axes = len(sizes) - 1
    kernel, stride, dilation, _ = window(layer, axes)
    x, weight = random(*sizes), random(*kernel, sizes[-1] // layer.groups, layer.out)
    y = layer.forward({"weight": weight}, x, context=Context())
    np.testing.assert_allclose(
        y, by_loops(x, weight, stride, dilation, before, after, layer.groups), rtol=2e-5, atol=2e-5
    )


def test_weight_norm_sets_the_length_of_each_kernel():
    layer = Conv(2, 2, padding="valid", weight_norm=True)
    weight = np.ones((2, 4, 2), np.float32)  # eight weights of 1: length √8
    y = layer.forward({"weight": weight, "gain": np.array([1.0, 3.0])}, np.ones((2, 4)), context=Context())
    np.testing.assert_allclose(y, [[8**0.5, 3 * 8**0.5]], rtol=1e-6)


def test_groups_must_divide():
    with pytest.raises(ArgumentError, match="10 input channels do not divide into 4 groups") as caught:
        Conv(8, 3, groups=4).output_shape(Shape.of(9, 9, 10))
    assert caught.value.argument == "groups"
    with pytest.raises(ArgumentError, match="6 output channels do not divide into 4 groups"):
        Conv(6, 3, groups=4).output_shape(Shape.of(9, 9, 8))


def test_a_vector_is_refused():
    with pytest.raises(ShapeError, match=r"`conv` needs .* features 784") as caught:
        Conv(8, 3).output_shape(Shape.of(784))
    assert "`dense`" in caught.value.hint and "image" in caught.value.hint
    with pytest.raises(ShapeError, match="tokens 12") as caught:
        Conv(8, 3).output_shape(Shape((12,), "tokens"))
    assert "`embedding`" in caught.value.hint


def test_a_kernel_that_does_not_fit():
    with pytest.raises(ShapeError, match="spans 5 positions, the padded input has 4"):
        Conv(8, 5, padding="valid").output_shape(Shape.of(4, 9, 3))
    with pytest.raises(ShapeError, match="spans 9 positions, the padded input has 8"):
        Conv(8, 3, padding=1, dilation=4).output_shape(Shape.of(6, 3))


@pytest.mark.parametrize("argument, value", [("kernel", (3, 3, 3)), ("stride", [1]), ("padding", [1, 1, 1])])
def test_a_list_of_the_wrong_length(argument, value):
    with pytest.raises(ArgumentError, match=f"{argument} .*entries for 2 axes"):
        Conv(**{"out": 8, "kernel": 3, argument: value}).output_shape(Shape.of(9, 9, 3))


def test_setting():
    assert Conv(8, 3, 2).setting() == "3×3/2"
    assert Conv(8, (1, 7)).setting() == "1×7"
    assert Conv(8, 3, dilation=2, groups=4).setting() == "3×3 d2 g4"
