import dataclasses

import numpy
import pytest

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.layer import Shape, Work
from paramcount.layers.rearrange import Rearrange


def result(pattern, shape, **sizes):
    return Rearrange(pattern, sizes=sizes).output_shape(Shape.of(*shape))


def test_shapes():
    assert result("t (h d) -> t h d", (49, 64), h=8) == Shape.of(49, 8, 8)
    assert result("t h d -> t (h d)", (49, 8, 8)) == Shape.of(49, 64)
    assert result("h w c -> (h w) c", (7, 6, 5)) == Shape.of(42, 5)
    assert result("(h p) (w q) c -> h w (q p c)", (56, 56, 96), p=2, q=2) == Shape.of(28, 28, 384)
    assert result("(h w) (p q c) -> (h p) (w q) c", (256, 32), h=16, p=2, q=2) == Shape.of(32, 32, 8)
    assert result("t d -> t h d", (49, 64), h=8) == Shape.of(49, 8, 64)
    assert result("s o -> (s o)", (9, 1)) == Shape.of(9)
    assert result("s 1 -> s", (9, 1)) == Shape.of(9)
    assert result("d -> 1 () d", (9,)) == Shape.of(1, 1, 9)


def test_tokens_stay_tokens():
    pieces = Rearrange("(n m) -> n m", sizes={"m": 4})
    assert pieces.output_shape(Shape((12,), "tokens")) == Shape((3, 4), "tokens")


def test_costs_nothing_and_says_its_pattern():
    layer = Rearrange("t (h d) -> t h d", sizes={"h": 8})
    assert layer.work(Shape.of(49, 64)) == Work(0, 0) and layer.params(Shape.of(49, 64)) == {}
    assert layer.setting() == "t (h d) -> t h d"
    assert dataclasses.replace(layer, pattern="t (d h) -> t h d").sizes == layer.sizes and hash(layer)


def test_values_by_hand():
    x = numpy.arange(12).reshape(2, 6)
    y = Rearrange("t (g c) -> t (c g)", sizes={"g": 2}).forward({}, x, context=None)
    assert y.tolist() == [[0, 3, 1, 4, 2, 5], [6, 9, 7, 10, 8, 11]]
    y = Rearrange("a b -> b r a", sizes={"r": 2}).forward({}, x[:, :2], context=None)
    assert y.tolist() == [[[0, 6], [0, 6]], [[1, 7], [1, 7]]]
    y = Rearrange("(h p) (w q) -> h w (p q)", sizes={"p": 2, "q": 3}).forward({}, x, context=None)
    assert y.tolist() == [[[0, 1, 2, 6, 7, 8], [3, 4, 5, 9, 10, 11]]]


@pytest.mark.parametrize(
    "pattern, sizes, error, message",
    [
        ("t c d -> t d c", {}, ShapeError, r"`t c d -> t d c` has 3 axes on the left, the value has 2: 49×64"),
        ("t (h d) -> t h d", {}, ArgumentError, "needs the size of `h`"),
        ("t d -> t h d", {}, ArgumentError, "needs the size of `h`"),
        ("t (h d) -> t h d", {"h": 7}, ShapeError, "an axis of 64 does not divide by 7"),
        ("t (h d) -> t h d", {"h": 4, "d": 8}, ShapeError, r"`\(h d\)` is 32, the value's axis has 64"),
        ("t d -> t d", {"t": 48}, ShapeError, "`t` is 48, the value's axis has 49"),
        ("t 1 -> t", {}, ShapeError, "`1` is 1, the value's axis has 64"),
        ("t d -> t", {}, ArgumentError, "the axis `d` on the left only"),
        ("t t -> t", {}, ArgumentError, "the axis `t` twice on one side"),
        ("t d -> (t t) d", {}, ArgumentError, "the axis `t` twice on one side"),
        ("t d -> t d", {"h": 8}, ArgumentError, "has no axis `h`"),
        ("t (h d -> t h d", {}, ArgumentError, "parenthesis that is not closed"),
        ("t h d) -> t h d", {}, ArgumentError, "parenthesis that does not match"),
        ("t ((h) d) -> t h d", {}, ArgumentError, "parenthesis that does not match"),
        ("t d", {}, ArgumentError, "needs one `->`"),
        ("t d -> d -> t", {}, ArgumentError, "needs one `->`"),
        ("t ... -> t ...", {}, ArgumentError, "has `...` where the name of an axis is expected"),
        ("t {0} -> t {0}", {}, ArgumentError, r"has `\{0\}` where"),
        ("t d -> t | d", {}, ArgumentError, r"has `\|` where"),
    ],
)
def test_errors(pattern, sizes, error, message):
    with pytest.raises(error, match=message):
        result(pattern, (49, 64), **sizes)


def test_sizes_are_whole():
    with pytest.raises(ArgumentError, match="h must be at least 1, not 0"):
        Rearrange("t (h d) -> t h d", sizes={"h": 0})
    with pytest.raises(ArgumentError, match=r"h: 2.5 is not a whole number"):
        Rearrange("t (h d) -> t h d", sizes={"h": 2.5})
    with pytest.raises(ArgumentError, match="sizes gives a size to each name"):
        Rearrange("t (h d) -> t h d", sizes=8)
