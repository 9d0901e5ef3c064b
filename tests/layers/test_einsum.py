import numpy
import pytest

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.einsum import Einsum
from paramcount.layers.layer import Shape, Work


def einsum(pattern, values=2):
    return Einsum(pattern=pattern, paths=["a", "b", "c", "d"][:values])


def test_macs_are_the_product_of_all_sizes():
    scores = einsum("b h i d, b h j d -> b h i j")
    assert scores.work(Shape.of(2, 8, 64, 32), Shape.of(2, 8, 128, 32)) == Work(4194304)  # 2 · 8 · 64 · 128 · 32
    assert scores.output_shape(Shape.of(2, 8, 64, 32), Shape.of(2, 8, 128, 32)) == Shape.of(2, 8, 64, 128)
    assert einsum("b i k, b k j -> b i j").work(Shape.of(2, 25, 16), Shape.of(2, 16, 9)) == Work(7200)
    assert einsum("i k, k j -> i j").work(Shape.of(25, 16), Shape.of(16, 9)) == Work(3600)
    assert einsum("d, d ->").work(Shape.of(512), Shape.of(512)) == Work(512)
    assert einsum("d, d ->").output_shape(Shape.of(512), Shape.of(512)) == Shape.of()


def test_more_values_are_contracted_from_left_to_right():
    chain = einsum("a b, b c, c d -> a d", 3)
    shapes = Shape.of(2, 3), Shape.of(3, 4), Shape.of(4, 5)
    assert chain.work(*shapes) == Work(64)  # 2 · 3 · 4, then 2 · 4 · 5
    assert chain.output_shape(*shapes) == Shape.of(2, 5)


@pytest.mark.parametrize(
    "pattern, letters, shapes",
    [
        ("time dim, step dim -> time step", "td,sd->ts", [(5, 4), (6, 4)]),
        ("t s, t -> s t", "ts,t->st", [(3, 4), (3,)]),
        ("d, ->d", "d,->d", [(4,), ()]),
        ("a b, b c, c d -> d a", "ab,bc,cd->da", [(2, 3), (3, 4), (4, 5)]),
        ("a b, c, b -> a c", "ab,c,b->ac", [(2, 3), (4,), (3,)]),
    ],
)
def test_values_equal_numpy(pattern, letters, shapes):
    random = numpy.random.default_rng(0)
    values = [random.normal(size=shape).astype("float32") for shape in shapes]
    layer = einsum(pattern, len(values))
    y = layer.forward({}, *values, context=None)
    numpy.testing.assert_allclose(y, numpy.einsum(letters, *values), rtol=1e-5, atol=1e-6)
    assert layer.output_shape(*(Shape.of(*shape) for shape in shapes)).sizes == y.shape


@pytest.mark.parametrize(
    "pattern, message",
    [
        ("t d, s d", "needs one `->`"),
        ("t d -> d", "has one value only"),
        ("t t, t -> t", "the axis `t` twice in one value"),
        ("t d, s d -> t u", "the axis `u` on the right only"),
        ("t d, s -> t s", "the axis `d` once only"),
        ("t (h d), s d -> t s", r"has `\(h` where the name"),
        ("t d, s d -> t -> s", "has `->` where the name"),
    ],
)
def test_wrong_patterns(pattern, message):
    with pytest.raises(ArgumentError, match=message):
        einsum(pattern).output_shape(Shape.of(2, 2), Shape.of(2, 2))


def test_values_that_do_not_fit():
    layer = einsum("t d, s d -> t s")
    with pytest.raises(ShapeError, match="the axis `d` is 4 and 5"):
        layer.output_shape(Shape.of(3, 4), Shape.of(3, 5))
    with pytest.raises(ShapeError, match="`s d` in the pattern names 2 axes, the value has 3: 3×4×5"):
        layer.output_shape(Shape.of(3, 4), Shape.of(3, 4, 5))
    with pytest.raises(ArgumentError, match="has 2 values, `paths` has 1"):
        layer.output_shape(Shape.of(3, 4))
    with pytest.raises(ShapeError, match="`einsum` works on numbers"):
        einsum("t, t ->").output_shape(Shape((3,), "tokens"), Shape.of(3))
