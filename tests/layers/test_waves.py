import cmath
import math

import numpy
import pytest

from paramcount.errors import ArgumentError, ParamcountError, ShapeError
from paramcount.layers.layer import Shape, Work
from paramcount.layers.waves import Rope, Sinusoidal

RANDOM = numpy.random.default_rng(6)


def test_rope_costs_three_operations_for_each_turned_element():
    assert Rope().work(Shape.of(128, 32, 64)) == Work(0, 3 * 128 * 32 * 64)
    assert Rope(dims=16).work(Shape.of(128, 32, 64)) == Work(0, 3 * 128 * 32 * 16)


@pytest.mark.parametrize("sizes, base, dims", [((6, 8), 10000, None), ((6, 3, 8), 100, None), ((6, 3, 8), 100, 4)])
def test_rope_is_a_rotation_of_complex_numbers(sizes, base, dims):
    x = RANDOM.standard_normal(sizes).astype("float32")
    half = (dims or sizes[-1]) // 2
    right = x.copy()
    for position in range(sizes[0]):
        for i in range(half):
            turned = (x[position, ..., i] + 1j * x[position, ..., i + half]) * numpy.exp(
                1j * position * base ** (-i / half)
            )
            right[position, ..., i], right[position, ..., i + half] = turned.real, turned.imag
    found = Rope(base, dims=dims).forward({}, x, context=None)
    numpy.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5)


def test_rope_makes_products_depend_on_distance():
    query, key = (numpy.tile(RANDOM.standard_normal(8).astype("float32"), (9, 1)) for _ in range(2))
    products = (
        numpy.asarray(Rope(50).forward({}, query, context=None))
        @ numpy.asarray(Rope(50).forward({}, key, context=None)).T
    )
    for distance in range(-8, 9):
        diagonal = numpy.diagonal(products, distance)
        numpy.testing.assert_allclose(diagonal, diagonal[0], rtol=1e-4, atol=1e-5)


def test_rope_is_slowed_down_as_in_llama_3_1():
    """The steps by wavelength, as they are published: short ones stay, long ones stretch by the factor."""
    base, factor, low, high, original, width = 500.0, 8, 1, 4, 64, 16
    x = RANDOM.standard_normal((3, width)).astype("float32")
    right, cases = numpy.empty_like(x), set()
    for i in range(width // 2):
        speed = base ** (-2 * i / width)
        wavelength = 2 * math.pi / speed
        if wavelength < original / high:
            cases.add("short")
        elif wavelength > original / low:
            cases.add("long")
            speed /= factor
        else:
            cases.add("between")
            smooth = (original / wavelength - low) / (high - low)
            speed = (1 - smooth) * speed / factor + smooth * speed
        for position in range(3):
            turned = complex(x[position, i], x[position, i + width // 2]) * cmath.exp(1j * position * speed)
            right[position, i], right[position, i + width // 2] = turned.real, turned.imag
    assert cases == {"short", "between", "long"}
    found = Rope(base, factor=factor, low=low, high=high, original=original).forward({}, x, context=None)
    numpy.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5)
    assert Rope(base, factor=8).work(Shape.of(3, width)) == Rope(base).work(Shape.of(3, width))
    with pytest.raises(ArgumentError, match="high must be above low, 4, not 4"):
        Rope(low=4)


@pytest.mark.parametrize(
    "layer, sizes, words",
    [
        (Rope(), (5, 7), ["7", "2", "pairs"]),
        (Rope(dims=10), (5, 8), ["10 dims", "8"]),
        (Rope(dims=3), (5, 8), ["3", "pairs"]),
        (Rope(), (8,), ["features 8", "sequence"]),
    ],
)
def test_rope_refused(layer, sizes, words):
    with pytest.raises(ParamcountError) as caught:
        layer.output_shape(Shape.of(*sizes))
    for word in words:
        assert word in str(caught.value)


def test_sinusoidal():
    assert Sinusoidal(6).output_shape(Shape.of(1)) == Shape.of(6)
    assert Sinusoidal(6).output_shape(Shape.of(5)) == Shape.of(5, 6)
    assert Sinusoidal(6).output_shape(Shape((1,), "tokens")) == Shape.of(1, 6)
    assert Sinusoidal(6).work(Shape.of(5)) == Work(0, 5 * (6 + 3))
    found = Sinusoidal(4).forward({}, numpy.array([3.0], "float32"), context=None)
    numpy.testing.assert_allclose(found, [numpy.sin(3), numpy.sin(0.03), numpy.cos(3), numpy.cos(0.03)], rtol=1e-5)
    found = Sinusoidal(4).forward({}, numpy.array([2, 3]), context=None)
    numpy.testing.assert_allclose(found[0], [numpy.sin(2), numpy.sin(0.02), numpy.cos(2), numpy.cos(0.02)], rtol=1e-5)


def test_sinusoidal_refused():
    with pytest.raises(ArgumentError, match="even"):
        Sinusoidal(5).output_shape(Shape.of(1))
    with pytest.raises(ShapeError, match="5×4"):
        Sinusoidal(6).output_shape(Shape.of(5, 4))
