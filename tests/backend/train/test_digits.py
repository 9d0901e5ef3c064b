"""Real handwritten digits are learnt to a bar, which is missed if something in training is broken."""

import numpy
import pytest

import paramcount as pc

BAR = 0.93


@pytest.fixture(scope="module")
def digits():
    """1,797 handwritten digits of 8 × 8, in parts of 1,500 and 297."""
    x, y = pytest.importorskip("sklearn.datasets", reason="needs scikit-learn").load_digits(return_X_y=True)
    order = numpy.random.default_rng(0).permutation(len(x))
    x, y = (x[order] / 16).astype(numpy.float32), y[order]
    return (x[:1500], y[:1500]), (x[1500:], y[1500:])


def score_of_digits(train, test, freeze=()):
    network = pc.Network([pc.Dense(16, activation="relu"), pc.Dense(10)], input=64)
    batches = pc.data.Batches(*train, 50)
    settings = {"epochs": 8, "optimizer": "momentum", "learning_rate": 0.2}
    return pc.train(network, batches, test=[test], freeze=freeze, **settings).epochs[-1].test


def test_handwritten_digits_are_learnt(digits):
    assert score_of_digits(*digits) > BAR


def test_broken_training_does_not_reach_the_bar(digits):
    (x, y), test = digits
    assert score_of_digits((x, y), test, freeze=["dense0"]) < BAR - 0.05  # a layer without a gradient
    assert score_of_digits((x, y), test, freeze=["dense1"]) < BAR - 0.05
    assert score_of_digits((x, numpy.roll(y, 1)), test) < 0.3  # each with the label of another
