import numpy
import pytest

from paramcount.errors import ArgumentError, ShapeError
from paramcount.language.load import loads
from paramcount.layers.concat import Concat
from paramcount.layers.layer import Shape, Work
from paramcount.layers.merge import Add, Multiply, Subtract

IMAGE = Shape.of(7, 7, 64)
PATHS = ("a", "b")  # the values are handed to the methods here


def test_work_is_one_for_each_element_and_further_value():
    assert Add(PATHS).work(IMAGE, IMAGE) == Work(0, 3136)  # 7 · 7 · 64
    assert Add(PATHS).work(IMAGE, IMAGE, IMAGE) == Work(0, 6272)
    assert Multiply(PATHS).work(IMAGE, Shape.of(64)) == Work(0, 3136)
    assert Add(PATHS).work(IMAGE) == Work(0, 0)
    assert Concat(PATHS).work(IMAGE, IMAGE) == Work(0, 0)


def test_the_first_sets_the_shape():
    assert Add(PATHS).output_shape(IMAGE, Shape.of(64), Shape.of(1), Shape.of(7, 1, 1), Shape.of()) == IMAGE
    for other in ((7, 7, 32), (8, 7, 64), (7,), (2, 7, 7, 32)):
        with pytest.raises(ShapeError, match="`add` needs one shape, and got 7×7×64 and") as raised:
            Add(PATHS).output_shape(IMAGE, Shape.of(*other))
        assert "path" in raised.value.hint and "condition" in raised.value.hint
    with pytest.raises(ShapeError, match="`multiply` needs one shape, and got 64 and 7×7×64"):
        Multiply(PATHS).output_shape(Shape.of(64), IMAGE)
    with pytest.raises(ShapeError, match="got 1×64 and 7×64"):
        Add(PATHS).output_shape(Shape.of(1, 64), Shape.of(7, 64))
    with pytest.raises(ShapeError, match="`subtract` works on numbers, and got tokens 9"):
        Subtract(PATHS).output_shape(Shape((9,), "tokens"), Shape((9,), "tokens"))


@pytest.mark.parametrize(
    ("first", "other", "hint"),
    [
        ((64,), (7, 7, 64), "put the larger value first"),
        ((1, 64), (7, 64), "put the larger value first"),
        ((7, 7, 64), (1, 7, 7, 64), "put the larger value first"),
        ((4, 4, 1), (8,), "repeat the first before: `rearrange: {pattern: a b 1 -> a b c, c: 8}`"),
        ((4, 1), (2, 1, 3), "repeat the first before: `rearrange: {pattern: b 1 -> a b c, a: 2, c: 3}`"),
    ],
)
def test_what_to_do_about_shapes_that_fit_another_way(first, other, hint):
    with pytest.raises(ShapeError) as raised:
        Multiply(PATHS).output_shape(Shape.of(*first), Shape.of(*other))
    assert raised.value.hint == hint


def test_the_hint_to_repeat_works():
    repeated = "rearrange: {pattern: a b 1 -> a b c, c: 8}"
    items = f"{{name: x}}, {{global_pool, name: b}}, {{from: x, pointwise: 1}}, {repeated}, {{multiply: [prev, b]}}"
    network = loads(f"{{input: {{image: [4, 4, 8]}}, layers: [{items}]}}")
    assert str(network.graph().outputs["output"].shape) == "4×4×8"


def test_the_first_sets_the_layout():
    plain = Shape((7, 7, 64), "plain")
    assert Add(PATHS).output_shape(plain, IMAGE).layout == "plain"
    assert Concat(PATHS).output_shape(plain, IMAGE).layout == "plain"


def test_values():
    a, b, c = (
        numpy.array([[1, 2], [3, 4]], "float32"),
        numpy.array([10, 20], "float32"),
        numpy.array([[2], [3]], "float32"),
    )
    assert Add(PATHS).forward({}, a, b, c, context=None).tolist() == [[13, 24], [16, 27]]
    assert Subtract(PATHS).forward({}, a, b, c, context=None).tolist() == [[-11, -20], [-10, -19]]
    assert Multiply(PATHS).forward({}, a, b, c, context=None).tolist() == [[20, 80], [90, 240]]
    assert Concat(PATHS).forward({}, a, c, context=None).tolist() == [[1, 2, 2], [3, 4, 3]]
    assert Concat(PATHS, axis=0).forward({}, a, b[None], context=None).tolist() == [[1, 2], [3, 4], [10, 20]]


def test_concat():
    assert Concat(PATHS).output_shape(IMAGE, Shape.of(7, 7, 32), Shape.of(7, 7, 1)) == Shape.of(7, 7, 97)
    assert Concat(PATHS, axis=0).output_shape(Shape.of(1, 768), Shape.of(196, 768)) == Shape.of(197, 768)
    with pytest.raises(ShapeError, match="`concat` joins 7×7×64 and 8×7×64: only the channels may differ"):
        Concat(PATHS).output_shape(IMAGE, Shape.of(8, 7, 64))
    with pytest.raises(ShapeError, match="joins 7×7×64 and 64: only the channels may differ"):
        Concat(PATHS).output_shape(IMAGE, Shape.of(64))
    with pytest.raises(ShapeError, match="joins 4×5 and 4×6: only axis 0 may differ"):
        Concat(PATHS, axis=0).output_shape(Shape.of(4, 5), Shape.of(4, 6))
    with pytest.raises(ArgumentError, match="no axis 3: the value has 3"):
        Concat(PATHS, axis=3).output_shape(IMAGE, IMAGE)
    with pytest.raises(ShapeError, match="`concat` works on numbers"):
        Concat(PATHS).output_shape(Shape((9,), "tokens"), Shape((9,), "tokens"))
