"""Accuracy and top-k against scikit-learn, NumPy and hand-written figures."""

import math

import jax
import jax.numpy as jnp
import numpy
import pytest

import paramcount as pc
from paramcount.backend.metrics.metrics import accuracy, top_k_accuracy

ROWS = numpy.random.default_rng(0).normal(size=(200, 7)).astype(numpy.float32)
NUMBERS = numpy.random.default_rng(1).integers(7, size=200)


def test_by_hand():
    rows = numpy.array([[1, 2, 3], [3, 2, 1], [2, 3, 1], [1, 3, 2]], numpy.float32)
    labels = numpy.array([2, 0, 0, 0])  # the first, the first, the second, the third largest
    assert float(accuracy(rows, labels)) == 0.5
    assert [float(top_k_accuracy(rows, labels, k)) for k in (1, 2, 3)] == [0.5, 0.75, 1.0]
    assert accuracy(rows, labels).dtype == jnp.float32 and accuracy(rows, labels).shape == ()


@pytest.mark.parametrize("k", [1, 2, 6])
def test_equal_to_scikit_learn(k):
    sklearn = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn")
    theirs = sklearn.top_k_accuracy_score(NUMBERS, ROWS, k=k, labels=range(7))
    assert float(top_k_accuracy(ROWS, NUMBERS, k)) == pytest.approx(theirs, abs=1e-7)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_ties_go_to_the_first_as_in_argmax_and_top_k_of_jax(k):
    rows = numpy.random.default_rng(2).integers(3, size=(300, 5)).astype(numpy.float32)
    labels = numpy.random.default_rng(3).integers(5, size=300)
    best = numpy.array(jax.lax.top_k(rows, k)[1])
    share = (best == labels[:, None]).any(axis=1).mean()
    assert float(top_k_accuracy(rows, labels, k)) == pytest.approx(share, abs=1e-7)
    if k == 1:
        assert float(accuracy(rows, labels)) == pytest.approx((rows.argmax(1) == labels).mean(), abs=1e-7)


def test_a_constant_network_is_right_by_chance():
    labels = numpy.arange(10)
    assert [float(top_k_accuracy(numpy.zeros((10, 10)), labels, k)) for k in (1, 5, 10)] == pytest.approx([0.1, 0.5, 1])


def test_infinities_are_numbers_and_nan_is_wrong():
    inf, nan = math.inf, math.nan
    rows = numpy.array([[0, inf], [-inf, 0], [nan, 1], [nan, nan], [-inf, -inf]], numpy.float32)
    for k, expected in ((1, 3 / 5), (2, 3 / 5)):
        assert float(top_k_accuracy(rows, [1, 1, 1, 0, 0], k)) == pytest.approx(expected)


def test_dense_labels_mean_their_largest():
    dense = numpy.eye(7, dtype=numpy.float32)[NUMBERS]
    for each in (dense, dense.astype(int), dense * 0.9 + 0.1 / 7):
        assert float(accuracy(ROWS, each)) == float(accuracy(ROWS, NUMBERS))
        assert float(top_k_accuracy(ROWS, each, 3)) == float(top_k_accuracy(ROWS, NUMBERS, 3))
    assert math.isnan(accuracy(ROWS, dense * math.nan))


def test_positions_count_as_examples():
    rows, labels = ROWS.reshape(10, 20, 7), NUMBERS.reshape(10, 20)
    assert float(accuracy(rows, labels)) == float(accuracy(ROWS, NUMBERS))
    assert float(accuracy(ROWS[0], int(ROWS[0].argmax()))) == 1
    assert math.isnan(accuracy(ROWS[:0], NUMBERS[:0]))


def test_bfloat16_is_compared_as_it_is():
    rows = jnp.array([[1.0, 1.001], [1.0, 2.0]], jnp.bfloat16)  # 1.001 is 1 in bfloat16, and the first wins
    assert float(accuracy(rows, [1, 1])) == 0.5


@pytest.mark.parametrize("k", [0, -1, 8, 1.0, True, None, numpy.float32(2)])
def test_k_is_refused(k):
    with pytest.raises(pc.ArgumentError, match="`k` must be a whole number from 1 to 7, the number of classes"):
        top_k_accuracy(ROWS, NUMBERS, k)


def test_k_may_be_a_whole_number_of_numpy():
    assert float(top_k_accuracy(ROWS, NUMBERS, numpy.int64(7))) == 1


@pytest.mark.parametrize("label", [-1, 7, 2**32 + 1])
def test_labels_out_of_range(label):
    wrong = NUMBERS.copy()
    wrong[3] = label
    for metric in (accuracy, lambda rows, labels: top_k_accuracy(rows, labels, 2)):
        with pytest.raises(pc.ArgumentError, match=rf"label `{label}` at \[3\]"):
            metric(ROWS, wrong)
        if label < 2**31:
            assert math.isnan(jax.jit(metric)(ROWS, wrong))


def test_shapes_and_types_are_refused():
    with pytest.raises(pc.ArgumentError, match="do not fit"):
        accuracy(ROWS, NUMBERS[:-1])
    with pytest.raises(pc.ArgumentError, match="class numbers must be integers"):
        accuracy(ROWS, NUMBERS.astype(float))


def test_under_jit_vmap_and_scan():
    rows, labels = ROWS.reshape(4, 50, 7), NUMBERS.reshape(4, 50)
    expected = [numpy.mean(each.argmax(1) == mine) for each, mine in zip(rows, labels, strict=True)]
    numpy.testing.assert_allclose(jax.jit(jax.vmap(accuracy))(rows, labels), expected, rtol=1e-6)
    _, scanned = jax.lax.scan(lambda carry, pair: (carry, accuracy(*pair)), 0, (rows, labels))
    numpy.testing.assert_allclose(scanned, expected, rtol=1e-6)
    assert jax.jit(top_k_accuracy, static_argnames="k")(ROWS, NUMBERS, k=7) == 1


def test_no_multiply_accumulates():
    rows, labels = jax.ShapeDtypeStruct((200, 7), "float32"), jax.ShapeDtypeStruct((200,), "int32")
    for each in (labels, rows):
        assert pc.trace(pc.metrics.accuracy, rows, each).macs == 0
        assert pc.trace(lambda rows, each: pc.metrics.top_k_accuracy(rows, each, 3), rows, each).macs == 0
