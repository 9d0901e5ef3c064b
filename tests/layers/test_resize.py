import numpy
import pytest

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.layer import Shape, Work
from paramcount.layers.resize import PixelShuffle, Upsample


def test_upsample_sizes():
    assert Upsample().output_shape(Shape.of(14, 15, 8)) == Shape.of(28, 30, 8)
    assert Upsample(method="bilinear").output_shape(Shape.of(224, 224, 3)) == Shape.of(448, 448, 3)
    assert Upsample((2, 3)).output_shape(Shape.of(14, 15, 8)) == Shape.of(28, 45, 8)
    assert Upsample(1.5).output_shape(Shape.of(14, 15, 8)) == Shape.of(21, 22, 8)  # 22.5 rounded down
    assert Upsample(0.7).output_shape(Shape.of(10, 8)) == Shape.of(7, 8)
    assert Upsample(size=(33, 65)).output_shape(Shape.of(14, 15, 8)) == Shape.of(33, 65, 8)
    assert Upsample(size=(None, 7)).output_shape(Shape.of(14, 15, 8)) == Shape.of(14, 7, 8)
    assert Upsample(2, size=5).output_shape(Shape.of(2, 2, 2, 8)) == Shape.of(5, 5, 5, 8)


def test_upsample_work():
    assert Upsample().work(Shape.of(224, 224, 3)) == Work(0, 0)
    assert Upsample(method="bilinear").work(Shape.of(5, 5, 3)) == Work(0, 1800)  # 3 · 2 axes · 10 · 10 · 3
    assert Upsample(method="bilinear").work(Shape.of(5, 3)) == Work(0, 90)  # 3 · 1 axis · 10 · 3


def test_upsample_settings():
    assert Upsample().setting() == "×2 nearest"
    assert Upsample(size=(33, None), method="bilinear").setting() == "33×– bilinear"


def test_upsample_errors():
    with pytest.raises(ArgumentError, match="unknown method `bicubic`"):
        Upsample(method="bicubic")
    with pytest.raises(ArgumentError, match="`align_corners` is for the method `bilinear`"):
        Upsample(align_corners=True).output_shape(Shape.of(4, 4, 1))
    with pytest.raises(ArgumentError, match="factor must be above 0, not 0"):
        Upsample(0)
    with pytest.raises(ShapeError, match="nothing is left of an axis of 2"):
        Upsample(0.25).output_shape(Shape.of(2, 2, 1))
    with pytest.raises(ArgumentError, match="factor must be a whole number, not `twice`"):
        Upsample("twice")
    with pytest.raises(ShapeError, match="`upsample` needs"):
        Upsample().output_shape(Shape.of(8))


def test_values_by_hand():
    x = numpy.array([[0], [4]], "float32")
    assert Upsample().forward({}, x, context=None).tolist() == [[0], [0], [4], [4]]
    assert Upsample(method="bilinear").forward({}, x, context=None).tolist() == [[0], [1], [3], [4]]
    corners = Upsample(size=3, method="bilinear", align_corners=True)
    assert corners.forward({}, x, context=None).tolist() == [[0], [2], [4]]


def first(x):
    return numpy.moveaxis(x, -1, 0)[None]


@pytest.mark.parametrize("shape", [(7, 2), (7, 5, 2), (3, 4, 5, 2)])
@pytest.mark.parametrize("corners", [None, False, True])
def test_values_equal_torch(shape, corners):
    torch = pytest.importorskip("torch", reason="needs torch")
    method = "nearest" if corners is None else "bilinear"
    mode = "nearest" if corners is None else ("linear", "bilinear", "trilinear")[len(shape) - 2]
    x = numpy.random.default_rng(0).normal(size=shape).astype("float32")
    for factor, size in ((2, None), (3, None), (1.5, None), (0.5, None), (None, 9), (None, 4), (None, 1), (None, 12)):
        settings: dict = {"factor": factor} if size is None else {"size": size}
        y = Upsample(method=method, align_corners=bool(corners), **settings).forward({}, x, context=None)
        expected = torch.nn.functional.interpolate(
            torch.tensor(first(x)), size=size, scale_factor=factor, mode=mode, align_corners=corners
        )
        numpy.testing.assert_allclose(first(numpy.asarray(y)), expected.numpy(), rtol=1e-4, atol=1e-5)


def test_pixel_shuffle():
    assert PixelShuffle(3).output_shape(Shape.of(10, 12, 27)) == Shape.of(30, 36, 3)
    assert PixelShuffle(3).work(Shape.of(10, 12, 27)) == Work(0, 0)
    x = numpy.arange(8).reshape(1, 1, 8)
    expected = [[[0, 4], [1, 5]], [[2, 6], [3, 7]]]
    assert PixelShuffle().forward({}, x, context=None).tolist() == expected
    with pytest.raises(ShapeError, match="10 channels do not divide by the factor squared, 4"):
        PixelShuffle().output_shape(Shape.of(4, 4, 10))
    with pytest.raises(ShapeError, match="`pixel_shuffle` needs an image, and got sequence 4×8"):
        PixelShuffle().output_shape(Shape.of(4, 8))


def test_pixel_shuffle_equals_torch():
    torch = pytest.importorskip("torch", reason="needs torch")
    x = numpy.random.default_rng(0).normal(size=(3, 4, 18)).astype("float32")
    y = PixelShuffle(3).forward({}, x, context=None)
    expected = torch.nn.functional.pixel_shuffle(torch.tensor(first(x)), 3).numpy()
    numpy.testing.assert_array_equal(first(numpy.asarray(y)), expected)
