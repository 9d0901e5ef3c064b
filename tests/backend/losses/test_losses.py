"""Softmax cross entropy against optax, PyTorch and hand-written figures, and where numbers or labels are extreme."""

import math

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax.test_util import check_grads

import paramcount as pc
from paramcount.backend.losses.losses import check_labels, softmax_cross_entropy

ROWS = numpy.random.default_rng(0).normal(size=(6, 5)).astype(numpy.float32) * 3
NUMBERS = numpy.array([0, 4, 2, 2, 1, 3])
ONE_HOT = numpy.eye(5, dtype=numpy.float32)[NUMBERS]
SOFT = numpy.random.default_rng(1).dirichlet(numpy.ones(5), size=6).astype(numpy.float32)


def test_by_hand():
    # softmax of (ln 1, ln 2, ln 5) is (1/8, 2/8, 5/8)
    logits = numpy.log(numpy.array([1, 2, 5], numpy.float32))
    assert float(softmax_cross_entropy(logits, 1)) == pytest.approx(math.log(4), rel=1e-6)
    soft = 0.5 * math.log(8) + 0.5 * math.log(8 / 5)
    assert float(softmax_cross_entropy(logits, numpy.array([0.5, 0, 0.5]))) == pytest.approx(soft, rel=1e-6)


def test_dense_and_integer_labels_agree_with_each_other_and_with_optax():
    optax = pytest.importorskip("optax", reason="needs optax")
    whole, dense = softmax_cross_entropy(ROWS, NUMBERS), softmax_cross_entropy(ROWS, ONE_HOT)
    assert whole.shape == (6,) and whole.dtype == jnp.float32
    numpy.testing.assert_allclose(whole, dense, rtol=1e-6)
    numpy.testing.assert_allclose(whole, optax.softmax_cross_entropy_with_integer_labels(ROWS, NUMBERS), rtol=1e-5)
    numpy.testing.assert_allclose(softmax_cross_entropy(ROWS, SOFT), optax.softmax_cross_entropy(ROWS, SOFT), rtol=1e-5)


@pytest.mark.parametrize("labels", [NUMBERS, SOFT], ids=["integer", "dense"])
def test_losses_and_gradients_equal_those_of_torch(labels):
    torch = pytest.importorskip("torch", reason="needs torch")
    rows = torch.tensor(ROWS, requires_grad=True)
    theirs = torch.nn.functional.cross_entropy(rows, torch.tensor(labels), reduction="none")
    theirs.sum().backward()
    numpy.testing.assert_allclose(softmax_cross_entropy(ROWS, labels), theirs.detach(), rtol=1e-5)
    ours = jax.grad(lambda rows: softmax_cross_entropy(rows, labels).sum())(jnp.array(ROWS))
    numpy.testing.assert_allclose(ours, rows.grad, atol=1e-6)


@pytest.mark.parametrize("labels", [NUMBERS, SOFT], ids=["integer", "dense"])
def test_gradients_equal_differences(labels):
    with jax.enable_x64():
        check_grads(jax.jit(lambda rows: softmax_cross_entropy(rows, labels)), (numpy.float64(ROWS),), order=2)


def test_the_gradient_of_dense_labels():
    # of -Σ p·ln q by p: -ln q, also where p is 0
    found = jax.grad(lambda dense: softmax_cross_entropy(ROWS, dense).sum())(jnp.array(ONE_HOT))
    numpy.testing.assert_allclose(found, -jax.nn.log_softmax(ROWS), rtol=1e-5)


@pytest.mark.parametrize("kind", [int, bool, numpy.uint8, numpy.float16])
def test_a_one_hot_encoding_of_any_type(kind):
    assert (softmax_cross_entropy(ROWS, ONE_HOT.astype(kind)) == softmax_cross_entropy(ROWS, ONE_HOT)).all()


def test_any_number_of_axes():
    rows, labels = ROWS.reshape(2, 3, 5), NUMBERS.reshape(2, 3)
    for each in (labels, ONE_HOT.reshape(2, 3, 5)):
        loss = softmax_cross_entropy(rows, each)
        assert loss.shape == (2, 3)
        numpy.testing.assert_allclose(loss.reshape(6), softmax_cross_entropy(ROWS, NUMBERS), rtol=1e-6)


GRADIENT = jax.value_and_grad(softmax_cross_entropy)
LARGE = [
    ([1e38, -1e38], 0, 0.0, [0, 0]),
    ([1e38, -1e38], 1, 2e38, [1, -1]),
    ([1e38, 1e38], 1, math.log(2), [0.5, -0.5]),
    ([-1e38, -1e38], 0, math.log(2), [-0.5, 0.5]),
    ([3e38, -3e38], 0, 0.0, [0, 0]),  # the difference is past float32's largest number
    ([0.0, -math.inf], 0, 0.0, [0, 0]),
    ([0.0, -math.inf, 0.0], 0, math.log(2), [-0.5, 0, 0.5]),
    ([0.0, -math.inf], 1, math.inf, [1, -1]),
]


@pytest.mark.parametrize("row, label, loss, gradient", LARGE)
@pytest.mark.parametrize("dense", [False, True], ids=["integer", "dense"])
@pytest.mark.parametrize("run", [GRADIENT, jax.jit(GRADIENT)], ids=["", "jit"])
def test_large_and_infinite_logits(row, label, loss, gradient, dense, run):
    labels = numpy.eye(len(row), dtype=numpy.float32)[label] if dense else label
    found, slope = run(jnp.array(row, jnp.float32), labels)
    numpy.testing.assert_allclose(found, loss, rtol=1e-6)
    numpy.testing.assert_allclose(slope, gradient, rtol=1e-6)


@pytest.mark.parametrize("kind", [jnp.bfloat16, jnp.float16])
@pytest.mark.parametrize("labels", [NUMBERS, SOFT], ids=["integer", "dense"])
def test_half_precision_is_computed_in_float32(kind, labels):
    rows = jnp.array(ROWS, kind)
    loss, slope = softmax_cross_entropy(rows, labels), jax.grad(lambda x: softmax_cross_entropy(x, labels).sum())(rows)
    assert loss.dtype == jnp.float32 and slope.dtype == kind
    assert (loss == softmax_cross_entropy(rows.astype(jnp.float32), labels)).all()


def test_float64_stays():
    with jax.enable_x64():
        loss = softmax_cross_entropy(numpy.log(numpy.array([1.0, 2, 5])), 1)
        assert loss.dtype == jnp.float64 and float(loss) == pytest.approx(math.log(4), rel=1e-15)
        assert softmax_cross_entropy(ROWS, NUMBERS).dtype == jnp.float32
        assert softmax_cross_entropy(ROWS, numpy.float64(SOFT)).dtype == jnp.float32


@pytest.mark.parametrize("label", [-1, 5, -5, 2**32 + 1, -(2**63)])
@pytest.mark.parametrize("array", [numpy.array, list], ids=["numpy", "list"])
def test_labels_out_of_range_are_refused(label, array):
    labels = array([0, 1, label, 3, 4, 2])
    with pytest.raises(pc.ArgumentError, match=rf"label `{label}` at \[2\] is out of range: 5 classes .* 0 to 4"):
        softmax_cross_entropy(ROWS, labels)


def test_labels_in_jax_are_refused_too_unless_they_are_traced():
    labels = jnp.array([0, 1, -1, 5, 4, 2])
    with pytest.raises(pc.ArgumentError, match="label `-1`"):
        softmax_cross_entropy(ROWS, labels)
    with pytest.raises(pc.ArgumentError, match="label `-1`"):
        jax.jit(lambda rows: softmax_cross_entropy(rows, labels))(ROWS)  # a constant of the program
    wrong = numpy.array([False, False, True, True, False, False])
    loss = jax.jit(softmax_cross_entropy)(ROWS, labels)
    slope = jax.jit(jax.grad(lambda rows, labels: softmax_cross_entropy(rows, labels).sum()))(ROWS, labels)
    assert (jnp.isnan(loss) == wrong).all() and (jnp.isnan(slope) == wrong[:, None]).all()


def test_small_types_of_labels():
    many = jnp.zeros((2, 1000))
    for kind in (numpy.uint8, numpy.int8, numpy.uint32):
        loss = jax.jit(softmax_cross_entropy)(many, numpy.array([3, 100], kind))
        numpy.testing.assert_allclose(loss, math.log(1000), rtol=1e-6)
    assert jnp.isnan(jax.jit(softmax_cross_entropy)(ROWS[:1], numpy.array([2**32 - 1], numpy.uint32))).all()


def test_arrays_of_other_libraries():
    torch = pytest.importorskip("torch", reason="needs torch")
    logits, labels = torch.tensor([[0.0, 0.0], [3.0, 0.0]], requires_grad=True), numpy.array([1, 0])
    expected = [math.log(2), math.log(1 + math.exp(-3))]
    rows = logits.detach().numpy()
    for each in (logits, logits.bfloat16(), rows.astype(">f4"), rows.astype(numpy.longdouble)):
        for numbers in (torch.tensor(labels), labels.astype(">i2")):
            numpy.testing.assert_allclose(softmax_cross_entropy(each, numbers), expected, rtol=1e-6)
    assert float(pc.metrics.accuracy(logits, torch.tensor(labels))) == 0.5
    assert float(pc.metrics.auc(logits[:, 0], torch.tensor([0, 1]))) == 1


def test_check_labels():
    check_labels(NUMBERS, 5)
    check_labels(numpy.zeros((0,), int), 5)
    with pytest.raises(pc.ArgumentError, match="subtract 1"):
        check_labels([1, 2, 3], 3)
    with pytest.raises(pc.ArgumentError, match=r"(?s)`3` at \[1, 0\] .* multiply the loss by 0"):
        check_labels([[0, 1], [3, 1]], 3)
    with pytest.raises(pc.ArgumentError, match=r"integers, but `labels` are float64"):
        check_labels([1.0], 3)


WRONG = [
    (ROWS, NUMBERS[:5], r"`labels` of shape \(5,\) do not fit `logits` of shape \(6, 5\)"),
    (ROWS, NUMBERS[:, None], r"class numbers of shape \(6,\)"),
    (ROWS, ONE_HOT[:, :4], r"a probability for each class of shape \(6, 5\)"),
    (ROWS, NUMBERS.astype(numpy.float32), "class numbers must be integers, but `labels` are float32"),
    (ROWS, NUMBERS > 2, "integers, but `labels` are bool"),
    (ROWS, ONE_HOT.astype(str), "`labels` must be an array: an array of <U32 does not hold numbers"),
    (ROWS, ONE_HOT.astype(complex), "`labels` must be real numbers, not complex128"),
    (ROWS, [2**70] * 6, "`labels` must be an array: `list` does not hold numbers"),
    (ROWS, [[1], [2, 3]], "`labels` must be an array"),
    (ROWS.astype(int), NUMBERS, "`logits` must be real floating-point numbers, not int64"),
    (ROWS.astype(complex), NUMBERS, "numbers, not complex128"),
    (1.0, 0, "the last axis of `logits` holds the classes"),
    (numpy.zeros((3, 0)), [0, 0, 0], r"the shape \(3, 0\) has none"),
]


@pytest.mark.parametrize("logits, labels, message", WRONG)
def test_wrong_shapes_and_types(logits, labels, message):
    with pytest.raises(pc.ArgumentError, match=message):
        softmax_cross_entropy(logits, labels)


def test_under_vmap_and_scan():
    expected = softmax_cross_entropy(ROWS, NUMBERS)
    numpy.testing.assert_allclose(jax.vmap(softmax_cross_entropy)(ROWS, NUMBERS), expected, rtol=1e-6)
    _, scanned = jax.lax.scan(lambda carry, pair: (carry, softmax_cross_entropy(*pair)), 0, (ROWS, NUMBERS))
    numpy.testing.assert_allclose(scanned, expected, rtol=1e-6)


def test_no_multiply_accumulates():
    rows, labels = jax.ShapeDtypeStruct((6, 5), "float32"), jax.ShapeDtypeStruct((6,), "int32")
    step = jax.value_and_grad(lambda rows, labels: pc.losses.softmax_cross_entropy(rows, labels).mean())
    for each in (labels, rows):
        report = pc.trace(step, rows, each)
        assert report.macs == 0 and report.elementwise > 0
