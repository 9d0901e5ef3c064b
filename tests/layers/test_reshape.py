import numpy
import pytest

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.layer import Shape, Work
from paramcount.layers.reshape import Flatten, Reshape, Transpose


def test_flatten_gives_features():
    assert Flatten().output_shape(Shape.of(7, 7, 512)) == Shape((25088,), "features")
    assert Flatten().work(Shape.of(7, 7, 512)) == Work(0, 0)
    with pytest.raises(ShapeError, match=r"`flatten` .* tokens 5"):
        Flatten().output_shape(Shape((5,), "tokens"))


def test_reshape_is_laid_out_by_rank():
    assert Reshape([4, 5, 3]).output_shape(Shape.of(20, 3)) == Shape((4, 5, 3), "image")
    assert Reshape([-1, 8]).output_shape(Shape.of(4, 4, 16)) == Shape((32, 8), "sequence")
    assert Reshape([2, -1]).output_shape(Shape((6,), "tokens")) == Shape((2, 3), "tokens")
    assert Reshape([]).output_shape(Shape.of(1)) == Shape((), "plain")
    assert Reshape([-1, 8]).forward({}, numpy.arange(32).reshape(2, 16), context=None).shape == (4, 8)


def test_reshape_keeps_all_elements():
    with pytest.raises(ShapeError, match="has 12 elements, the value 10"):
        Reshape([3, 4]).output_shape(Shape.of(10))
    with pytest.raises(ShapeError, match="10 elements do not divide by 4"):
        Reshape([4, -1]).output_shape(Shape.of(10))
    with pytest.raises(ArgumentError, match="more than one -1"):
        Reshape([-1, -1]).output_shape(Shape.of(10))
    with pytest.raises(ArgumentError, match="size of 0"):
        Reshape([0, 10]).output_shape(Shape.of(10))
    with pytest.raises(ArgumentError, match="must be at least -1, not -2"):
        Reshape([-2])


def test_transpose():
    assert Transpose([2, 0, 1]).output_shape(Shape.of(5, 6, 7)) == Shape.of(7, 5, 6)
    x = numpy.arange(6).reshape(2, 3)
    assert Transpose([1, 0]).forward({}, x, context=None).tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(ShapeError, match="is not an order of the 3 axes of 5×6×7") as raised:
        Transpose([0, 0, 1]).output_shape(Shape.of(5, 6, 7))
    assert "0, 1, 2" in raised.value.hint
