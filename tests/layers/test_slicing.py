import numpy
import pytest

from paramcount.errors import ArgumentError, ShapeError, Undecided
from paramcount.layers.layer import Shape, Work
from paramcount.layers.slicing import Crop, Pad, Pick, Roll, Slice, Split
from paramcount.numbers.arithmetic import Column

X = numpy.arange(24).reshape(4, 6)
TOKENS = Shape((6,), "tokens")


def run(layer, x=X):
    result = layer.forward({}, x, context=None)
    assert layer.work(Shape.of(*x.shape)) == Work(0, 0) and layer.params(Shape.of(*x.shape)) == {}
    return [part.tolist() for part in result] if isinstance(result, tuple) else result.tolist()


def test_split():
    assert Split(3).output_shape(Shape.of(4, 6)) == (Shape.of(4, 2),) * 3
    assert Split([512, 64]).output_shape(Shape.of(9, 576)) == (Shape.of(9, 512), Shape.of(9, 64))
    assert Split([1, 3], axis=0).output_shape(Shape.of(4, 5, 2)) == (Shape.of(1, 5, 2), Shape.of(3, 5, 2))
    assert Split(2).output_shape(TOKENS) == (Shape((3,), "tokens"),) * 2
    assert run(Split([1, 3], axis=0)) == [X[:1].tolist(), X[1:].tolist()]
    assert run(Split(3)) == [X[:, :2].tolist(), X[:, 2:4].tolist(), X[:, 4:].tolist()]
    assert Split([512, 64]).setting() == "512+64" and Split(3).setting() == "3"


def test_split_errors():
    with pytest.raises(ShapeError, match="the parts sum to 576, the axis has 512"):
        Split([512, 64]).output_shape(Shape.of(9, 512))
    with pytest.raises(ShapeError, match="an axis of 10 does not divide into 3 equal parts"):
        Split(3).output_shape(Shape.of(10))
    with pytest.raises(ArgumentError, match="no axis 2: the value has 2"):
        Split(3, axis=2).output_shape(Shape.of(4, 6))


def test_variants_of_a_sweep_split_into_as_many_parts():
    def parts(*counts):
        return Split(Column.whole("parts", counts)).output_shape(Shape.of(6, 12))  # type: ignore

    assert parts(3, 3) == (Shape.of(6, 4),) * 3
    with pytest.raises(Undecided) as raised:
        parts(3, 4)
    assert raised.value.mask.tolist() == [True, False]


def test_slice():
    assert Slice(3).output_shape(Shape.of(5, 4)) == Shape.of(3, 4)
    assert Slice(4, 1, -1).output_shape(Shape.of(3, 2, 5)) == Shape.of(3, 2, 3)
    assert Slice(2).output_shape(TOKENS) == Shape((2,), "tokens")
    assert run(Slice(3, 1)) == X[1:3].tolist() and run(Slice(5, 2, 1)) == X[:, 2:5].tolist()
    with pytest.raises(ShapeError, match="stop 6 is beyond the axis of 5"):
        Slice(6).output_shape(Shape.of(5, 4))
    with pytest.raises(ArgumentError, match="start 3 is not before stop 3"):
        Slice(3, 3).output_shape(Shape.of(5, 4))


def test_pick():
    assert Pick().output_shape(Shape.of(197, 768)) == Shape((768,), "features")
    assert Pick(-1, axis=1).output_shape(Shape.of(3, 4, 5)) == Shape((3, 5), "sequence")
    assert Pick(2).output_shape(Shape.of(3)) == Shape((), "plain")
    assert run(Pick(-1)) == X[3].tolist() and run(Pick(2, axis=-1)) == X[:, 2].tolist()
    for index in (4, -5):
        with pytest.raises(ShapeError, match=f"index {index} is outside the axis of 4"):
            Pick(index).output_shape(Shape.of(4, 6))
    with pytest.raises(ShapeError, match="`pick` of tokens"):
        Pick().output_shape(TOKENS)


def test_roll():
    assert Roll([1, -2]).output_shape(Shape.of(4, 6)) == Shape.of(4, 6)
    assert run(Roll([1])) == [*X[3:].tolist(), *X[:3].tolist()]
    assert run(Roll([0, -2])) == numpy.concatenate([X[:, 2:], X[:, :2]], 1).tolist()
    with pytest.raises(ShapeError, match="3 shifts for 2 axes"):
        Roll([1, 1, 1]).output_shape(Shape.of(4, 6))


def test_pad_and_crop():
    assert Pad([[3, 3], [0, 1]]).output_shape(Shape.of(4, 6)) == Shape.of(10, 7)
    assert Crop([[1, 2], [0, 1]]).output_shape(Shape.of(4, 6)) == Shape.of(1, 5)
    assert run(Pad([[0, 1], [1, 0]]), X[:1, :2]) == [[0, 0, 1], [0, 0, 0]]
    assert run(Crop([[1, 2], [0, 4]])) == [[6, 7]]
    assert Pad([[3, 4], [0, 0]]).setting() == "3+4 0+0"
    with pytest.raises(ShapeError, match="a crop of 4 leaves nothing of an axis of 4"):
        Crop([[1, 3], [0, 0]]).output_shape(Shape.of(4, 6))
    with pytest.raises(ArgumentError, match="padding has 1 pairs, the value 2 axes"):
        Pad([[1, 1]]).output_shape(Shape.of(4, 6))
    with pytest.raises(ArgumentError, match=r"padding is a list of \[before, after\]"):
        Pad([1, 1])  # type: ignore
    with pytest.raises(ArgumentError, match="must be at least 0, not -1"):
        Crop([[-1, 0]])
