"""The CTC loss against PyTorch and sums over all alignments, and what it refuses."""

import itertools
import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax.test_util import check_grads

import paramcount as pc
from paramcount.backend.losses.ctc import ctc_loss

pytest.importorskip("optax", reason="needs optax")

LOGITS = numpy.random.default_rng(0).normal(size=(3, 12, 6)).astype(numpy.float32) * 2
LABELS = numpy.array([[1, 1, 2, 5], [3, 4, 3, 0], [2, 0, 0, 0]])
FRAMES, COUNTS = numpy.array([12, 9, 5]), numpy.array([4, 3, 1])


@partial(jax.jit, static_argnames="blank")
def compiled(logits, labels, frames, counts, blank=0):
    """Gradients and losses, with all values traced."""

    def total(logits):
        found = ctc_loss(logits, labels, frames, counts, blank)
        return found.sum(), found

    return jax.grad(total, has_aux=True)(logits)


def summed(logits, labels, blank):
    """-ln of the sum over all sequences of classes that spell the labels, one by one."""
    probabilities = numpy.exp(numpy.float64(logits))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    total = 0.0
    for path in itertools.product(range(logits.shape[1]), repeat=logits.shape[0]):
        said = [each for each, _ in itertools.groupby(path) if each != blank]
        if said == list(labels):
            total += math.prod(probabilities[time, each] for time, each in enumerate(path))
    return -math.log(total)


@pytest.mark.parametrize("labels, blank", [([1, 2], 0), ([1, 1], 0), ([0, 1], 2), ([], 1), ([2, 0, 2], 1)])
def test_equal_to_the_sum_over_all_alignments(labels, blank):
    logits = numpy.random.default_rng(1).normal(size=(5, 3)).astype(numpy.float32)
    found = ctc_loss(logits[None], numpy.array([labels], int), blank=blank)
    assert float(found[0]) == pytest.approx(summed(logits, labels, blank), abs=1e-5)


def theirs(logits, labels, frames, counts, blank, infinite=False):
    """Losses and gradients of PyTorch."""
    torch = pytest.importorskip("torch", reason="needs torch")
    leaf = torch.tensor(numpy.array(logits), requires_grad=True)
    arguments = [torch.tensor(numpy.array(each)) for each in (labels, frames, counts)]
    scores = leaf.log_softmax(-1).transpose(0, 1)
    losses = torch.nn.functional.ctc_loss(scores, *arguments, blank, reduction="none", zero_infinity=infinite)
    losses.sum().backward()
    return losses.detach().numpy(), leaf.grad.numpy()


@pytest.mark.parametrize("blank", [3, 5])
def test_losses_and_gradients_equal_those_of_torch(blank):
    labels = (LABELS + blank) % 6  # 0, the blank of LABELS, becomes this one
    losses, slopes = theirs(LOGITS, labels, FRAMES, COUNTS, blank)
    labels[1:, 3] = -1  # padding is not read
    logits = LOGITS.copy()
    logits[2, 5:] = math.nan
    slope, found = compiled(logits, labels, FRAMES, COUNTS, blank)
    numpy.testing.assert_allclose(found, losses, rtol=1e-5, atol=1e-4)
    numpy.testing.assert_allclose(slope, slopes, atol=1e-4)
    numpy.testing.assert_allclose(ctc_loss(logits, labels, FRAMES, COUNTS, blank), found, rtol=1e-6)


def test_long_rows_equal_those_of_torch():
    generator = numpy.random.default_rng(4)
    logits = generator.normal(size=(4, 200, 30)) * 30  # losses of thousands
    labels = generator.integers(1, 30, size=(4, 60))
    losses, slopes = theirs(logits, labels, [200] * 4, [60] * 4, 0)
    with jax.enable_x64():
        slope, found = compiled(logits, labels, numpy.full(4, 200), numpy.full(4, 60))
        numpy.testing.assert_allclose(found, losses, rtol=1e-9)
        numpy.testing.assert_allclose(slope, slopes, atol=1e-9)


def test_losses_past_100000_are_exact():
    logits = numpy.zeros((1, 3, 3), numpy.float32)
    logits[:, :, 1] = -1e6  # one frame of three must say 1, and optax alone gives 100,000
    assert float(ctc_loss(logits, [[1]])[0]) == pytest.approx(1e6, rel=1e-6)


@pytest.mark.parametrize("kind, classes", [("uint8", 256), ("int8", 200)])
def test_small_types_of_labels(kind, classes):
    logits = numpy.random.default_rng(3).normal(size=(1, 6, classes)).astype(numpy.float32)
    labels = numpy.array([[100, 127]])
    expected, _ = theirs(logits, labels, [6], [2], 0)
    for found in (ctc_loss(logits, labels.astype(kind)), jax.jit(ctc_loss)(logits, labels.astype(kind))):
        numpy.testing.assert_allclose(found, expected, rtol=1e-5)


def test_gradients_equal_differences():
    with jax.enable_x64():
        logits = numpy.float64(LOGITS)
        assert ctc_loss(logits, LABELS, FRAMES, COUNTS).dtype == jnp.float64
        assert ctc_loss(LOGITS, LABELS, FRAMES, COUNTS).dtype == jnp.float32
        check_grads(jax.jit(lambda x: ctc_loss(x, LABELS, FRAMES, COUNTS)), (logits,), order=1, modes=["rev"])


def test_bfloat16_is_computed_in_float32():
    logits = jnp.array(LOGITS, jnp.bfloat16)
    found = ctc_loss(logits, LABELS, FRAMES, COUNTS)
    assert found.dtype == jnp.float32
    assert (found == ctc_loss(logits.astype(jnp.float32), LABELS, FRAMES, COUNTS)).all()


def test_no_labels_and_no_frames():
    found = ctc_loss(LOGITS, numpy.zeros((3, 0), int), [12, 1, 0])
    expected = -numpy.array(jax.nn.log_softmax(LOGITS))[:, :, 0]
    numpy.testing.assert_allclose(found, [expected[0].sum(), expected[1, 0], 0], rtol=1e-5, atol=1e-6)


def test_masked_and_huge_logits():
    masked = LOGITS.copy()
    masked[:, :, 5] = -math.inf  # a class that is never predicted
    labels = numpy.array([[1, 1], [2, 3], [4, 1]])
    losses, slopes = theirs(LOGITS[..., :5], labels, [12] * 3, [2] * 3, 0)
    labels = numpy.pad(labels, ((0, 0), (0, 2)))
    slope, loss = compiled(masked, labels, numpy.full(3, 12), numpy.full(3, 2))
    numpy.testing.assert_allclose(loss, losses, rtol=1e-5)
    numpy.testing.assert_allclose(slope[..., :5], slopes, atol=1e-4)
    assert (slope[..., 5] == 0).all()
    sure = numpy.full((1, 3, 3), -1e38, numpy.float32)
    sure[0, [0, 1, 2], [1, 0, 2]] = 1e38  # 1, blank, 2
    slope, loss = compiled(sure, numpy.array([[1, 2]]), numpy.array([3]), numpy.array([2]))
    assert float(loss[0]) == 0 and (slope == 0).all()


def test_a_label_that_is_never_predicted():
    masked = LOGITS.copy()
    masked[0, :, 5] = -math.inf
    slope, loss = compiled(masked, LABELS, FRAMES, COUNTS)
    assert loss[0] == math.inf and (slope[0] == 0).all() and numpy.isfinite(loss[1:]).all()


def test_too_few_frames():
    # 1 1 2 5 need 4 frames, and one for the blank between 1 and 1
    assert numpy.isfinite(ctc_loss(LOGITS, LABELS, [5, 3, 1], COUNTS)).all()
    with pytest.raises(pc.ArgumentError, match="example 0 has 4 frames, but its 4 labels need 5"):
        ctc_loss(LOGITS, LABELS, [4, 3, 1], COUNTS)
    with pytest.raises(pc.ArgumentError, match="example 2 has 0 frames, but its 1 labels need 1"):
        ctc_loss(LOGITS, LABELS, [5, 3, 0], COUNTS)
    frames = numpy.array([4, 9, 0])
    slope, found = compiled(LOGITS, LABELS, frames, COUNTS)  # nothing is raised while traced
    assert (jnp.isinf(found) == numpy.array([True, False, True])).all() and (found > 0).all()
    assert numpy.isfinite(slope).all() and (slope[0] == 0).all() and (slope[2] == 0).all()
    torch_losses, torch_slope = theirs(LOGITS, LABELS, frames, COUNTS, 0, infinite=True)
    numpy.testing.assert_allclose(slope, torch_slope, atol=1e-4)
    numpy.testing.assert_allclose(found[1], torch_losses[1], rtol=1e-5)


MISTAKES = [
    ({"labels": numpy.array([[1, 1, 2, 6], [3, 4, 3, 0], [2, 0, 0, 0]])}, r"label `6` at \[0, 3\] is out of range"),
    ({"labels": numpy.array([[1, 1, 2, 5], [3, -1, 3, 0], [2, 0, 0, 0]])}, r"label `-1` at \[1, 1\]"),
    (
        {"labels": numpy.array([[1, 1, 2, 5], [3, 0, 3, 0], [2, 0, 0, 0]])},
        "label 1 of example 1 is 0, which is the blank",
    ),
    ({"label_lengths": numpy.array([4, 4, 1])}, "label 3 of example 1 is 0, which is the blank"),
    ({"label_lengths": numpy.array([4, 5, 1])}, "`label_lengths` must be from 0 to 4, but example 1 has 5"),
    ({"label_lengths": numpy.array([4, -1, 1])}, "`label_lengths` must be from 0 to 4, but example 1 has -1"),
    ({"logit_lengths": numpy.array([12, 13, 5])}, "`logit_lengths` must be from 0 to 12, but example 1 has 13"),
    ({"logit_lengths": numpy.array([12, -2, 5])}, "`logit_lengths` must be from 0 to 12, but example 1 has -2"),
]


@pytest.mark.parametrize("changed, message", MISTAKES)
def test_wrong_values(changed, message):
    right = {"labels": LABELS, "logit_lengths": FRAMES, "label_lengths": COUNTS}
    arguments = right | changed
    with pytest.raises(pc.ArgumentError, match=message):
        ctc_loss(LOGITS, **arguments)
    slope, found = compiled(LOGITS, *arguments.values())  # nothing is raised while traced
    (name,) = changed
    wrong = (changed[name] != right[name]).reshape(3, -1).any(axis=1)
    assert (jnp.isnan(found) == wrong).all()
    assert (jnp.isnan(slope).any(axis=(1, 2)) == wrong).all()


FORMS = [
    ((LOGITS[0], LABELS), "`logits` must be \\(batch, time, classes\\)"),
    ((LOGITS[:, :0], LABELS), "at least one frame"),
    ((LOGITS.astype(int), LABELS), "`logits` must be real floating-point numbers"),
    ((LOGITS, LABELS[0]), r"`labels` must be \(batch, label time\)"),
    ((LOGITS, LABELS[:2]), "3 rows for these logits"),
    ((LOGITS, LABELS.astype(float)), "class numbers must be integers"),
    ((LOGITS, LABELS, FRAMES[:2]), "`logit_lengths` must be 3 integers"),
    ((LOGITS, LABELS, FRAMES.astype(float)), "`logit_lengths` must be 3 integers"),
    ((LOGITS, LABELS, FRAMES, 4), "`label_lengths` must be 3 integers"),
    ((LOGITS, LABELS, FRAMES, COUNTS, 6), "`blank` must be one of the 6 classes, 0 to 5, not `6`"),
    ((LOGITS, LABELS, FRAMES, COUNTS, -1), "0 to 5, not `-1`"),
    ((LOGITS, LABELS, FRAMES, COUNTS, True), "0 to 5, not `True`"),
    ((LOGITS, LABELS, FRAMES, COUNTS, "-"), "0 to 5, not `-`"),
]


@pytest.mark.parametrize("arguments, message", FORMS)
def test_wrong_shapes_and_types(arguments, message):
    with pytest.raises(pc.ArgumentError, match=message):
        ctc_loss(*arguments)


def test_under_vmap_and_scan():
    expected = ctc_loss(LOGITS, LABELS, FRAMES, COUNTS)

    def one(logits, labels, frames, count):
        return ctc_loss(logits[None], labels[None], frames[None], count[None])[0]

    examples = (LOGITS, LABELS, FRAMES, COUNTS)
    numpy.testing.assert_allclose(jax.vmap(one)(*examples), expected, rtol=1e-5)
    _, scanned = jax.lax.scan(lambda carry, each: (carry, one(*each)), 0, examples)
    numpy.testing.assert_allclose(scanned, expected, rtol=1e-5)


def test_multiply_accumulates():
    """Optax looks up probabilities by products with one-hot encodings, and the walker counts these."""
    logits, labels = jax.ShapeDtypeStruct((3, 12, 6), "float32"), jax.ShapeDtypeStruct((3, 4), "int32")
    # 3 examples · 12 frames · 4 labels · 6 classes, and 3 examples · 5 ends
    assert pc.trace(pc.losses.ctc_loss, logits, labels).macs == 3 * 12 * 4 * 6 + 3 * 5


def test_without_optax(monkeypatch):
    import sys

    class Gone:
        def find_spec(self, name, *_):
            if name.partition(".")[0] == "optax":
                raise ModuleNotFoundError("gone", name="optax")

    for name in [name for name in sys.modules if name.partition(".")[0] == "optax"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Gone(), *sys.meta_path])
    with pytest.raises(pc.MissingPackageError, match="`ctc_loss` needs optax"):
        ctc_loss(LOGITS[:1, :11], LABELS[:1])  # of shapes for which nothing was compiled before
