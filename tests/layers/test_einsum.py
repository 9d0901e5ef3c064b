import random

import numpy
import pytest

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.einsum import Einsum
from paramcount.layers.layer import Shape, Work
from paramcount.layers.merge import Multiply


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


def test_a_product_that_sums_nothing_counts_as_multiply():
    assert einsum("t d, d -> t d").work(Shape.of(10, 64), Shape.of(64)) == Work(0, 640)
    assert Multiply(["prev", "b"]).work(Shape.of(10, 64), Shape.of(64)) == Work(0, 640)
    assert einsum("t, s -> t s").work(Shape.of(3), Shape.of(4)) == Work(0, 12)
    assert einsum("d, -> d").work(Shape.of(5), Shape.of()) == Work(0, 5)
    # 2 · 3 products of the first pair, all of them kept, and 2 · 3 · 4 of the second, summed over b
    pairs = einsum("a b, b, b c -> a c", 3)
    assert pairs.work(Shape.of(2, 3), Shape.of(3), Shape.of(3, 4)) == Work(24, 6)
    # a · b, then summed over a and b with an axis of size 1: what is summed is said by the axes
    assert einsum("a b, a b ->").work(Shape.of(1, 1), Shape.of(1, 1)) == Work(1, 0)


def test_gradients_of_a_product_that_sums_nothing():
    """What an operand does not have is summed in the gradient by it."""
    found = einsum("t d, d -> t d").contractions(Shape.of(10, 64), Shape.of(64))
    assert [each.by_operand() for each in found] == [[((0,), 0), ((1,), 640)]]
    found = einsum("t, s -> t s").contractions(Shape.of(3), Shape.of(4))
    assert [each.by_operand() for each in found] == [[((0,), 12), ((1,), 12)]]
    found = einsum("d, d -> d").contractions(Shape.of(5), Shape.of(5))
    assert [each.by_operand() for each in found] == [[((0,), 0), ((1,), 0)]]


def random_pattern(draw):
    """A pattern of two to four values over up to four axes, and the values' shapes; it may be one that is refused."""
    axes = {axis: draw.randint(1, 4) for axis in draw.sample("abcd", draw.randint(1, 4))}
    *values, result = (draw.sample(list(axes), draw.randint(0, len(axes))) for _ in range(draw.randint(3, 5)))
    pattern = f"{', '.join(map(' '.join, values))} -> {' '.join(result)}"
    return einsum(pattern, len(values)), [Shape.of(*(axes[axis] for axis in each)) for each in values]


def test_random_patterns_keep_the_contract_of_layers():
    """Shapes, MACs and gradients are those of the traced program, in sweeps those of each variant alone."""
    contract = pytest.importorskip("paramcount.backend.prove.contract", reason="needs JAX")
    draw, tried = random.Random(3), 0
    while tried < 30:
        layer, shapes = random_pattern(draw)
        try:
            layer.output_shape(*shapes)
        except ArgumentError:
            continue
        contract.check_example(layer, *shapes)
        tried += 1


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
