from types import SimpleNamespace

import numpy
import pytest

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.layer import Shape, Work
from paramcount.layers.regularize import Dropout, Identity, Scale, StochasticDepth

INFERENCE = SimpleNamespace(train=False)


def training(seed):
    import jax

    return SimpleNamespace(train=True, key=lambda: jax.random.key(seed))


def test_figures():
    shape = Shape.of(7, 7, 64)
    assert Scale(0.5).work(shape) == Work(0, 3136)  # 7 · 7 · 64
    for layer in (Identity(), Dropout(), StochasticDepth()):
        assert layer.work(shape) == Work(0, 0)
        assert layer.output_shape(shape) == shape
    assert Identity().output_shape(Shape((9,), "tokens")) == Shape((9,), "tokens")
    assert Dropout().setting() == "0.5" and Scale(8).setting() == "×8" and Scale(64**-0.5).setting() == "×0.125"


def test_errors():
    with pytest.raises(ArgumentError, match=r"rate must be 0 to 1, not 1\.5"):
        Dropout(1.5)
    with pytest.raises(ArgumentError, match="factor must be a number, not `big`"):
        Scale("big")  # type: ignore
    for layer in (Scale(2), Dropout(), StochasticDepth()):
        with pytest.raises(ShapeError, match=f"`{layer.kind}` works on numbers, and got tokens 9"):
            layer.output_shape(Shape((9,), "tokens"))


def test_inference_changes_nothing():
    x = numpy.array([1, 2, 3], "float32")
    assert Scale(2).forward({}, x, context=INFERENCE).tolist() == [2, 4, 6]
    for layer in (Identity(), Dropout(), StochasticDepth()):
        assert layer.forward({}, x, context=INFERENCE) is x


def test_dropout_in_training_keeps_the_mean():
    x = numpy.ones((100, 100), "float32")
    y = numpy.asarray(Dropout(0.2).forward({}, x, context=training(0)))
    assert set(numpy.unique(y)) == {0, numpy.float32(1.25)}
    assert abs((y == 0).mean() - 0.2) < 0.02
    assert numpy.asarray(Dropout(1).forward({}, x, context=training(0))).max() == 0
    assert Dropout(0).forward({}, x, context=training(0)) is x


def test_stochastic_depth_drops_the_whole_example():
    x = numpy.ones((4, 4), "float32")
    results = [numpy.unique(StochasticDepth(0.5).forward({}, x, context=training(seed))).tolist() for seed in range(20)]
    assert [0] in results and [2] in results
    assert all(result in ([0], [2]) for result in results)
