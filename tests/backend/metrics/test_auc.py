"""The area against scikit-learn and against every pair; the operator of docs/auc.md against both."""

import importlib
import re
import runpy
import shutil
import sys
from fractions import Fraction
from math import fsum, inf, isnan, nan
from pathlib import Path

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from jax import numpy as jnp  # noqa: E402

import paramcount as pc  # noqa: E402
from paramcount.backend.metrics.auc import auc, running_sums, total  # noqa: E402
from paramcount.backend.trace.walker import UncountedError  # noqa: E402
from paramcount.errors import ArgumentError  # noqa: E402

PAGE = Path(__file__).parents[3] / "docs" / "auc.md"
FILES = re.findall(
    r"^```(?:cpp|python)\n(?://|#) file: (\S+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)


def by_pairs(scores, labels, weights):
    """The definition, in exact fractions."""
    samples = list(zip(scores.tolist(), labels.tolist(), map(Fraction, weights.tolist()), strict=True))
    pairs = [
        (score, other, weight * against)
        for score, label, weight in samples
        for other, negative, against in samples
        if label and not negative
    ]
    won = sum(weight * (Fraction(score > other) + Fraction(score == other) / 2) for score, other, weight in pairs)
    weight = sum(weight for _, _, weight in pairs)
    return float(won / weight) if weight else nan


def case(seed, size):
    """Random samples: with ties or without, with weights of many sizes and some of 0."""
    draw = np.random.default_rng(seed)
    labels = (draw.random(size) < draw.choice([0.1, 0.5, 0.8])).astype(np.int32)
    scores = draw.normal(size=size) + draw.choice([0, 1]) * labels
    if seed % 3:
        scores = np.round(scores, seed % 3 - 1)
    weights = np.exp(draw.choice([0, 3]) * draw.normal(size=size)) * (draw.random(size) < 0.8)
    return scores.astype(np.float32), labels, weights.astype(np.float32)


def alike(found, wanted):
    return np.allclose(found, wanted, rtol=0, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("size", [4, 30])
def test_every_pair(size):
    for seed in range(20):
        scores, labels, weights = case(seed, size)
        assert alike(auc(scores, labels, weights), by_pairs(scores, labels, weights))
        assert alike(auc(scores, labels > 0), by_pairs(scores, labels, np.ones(size)))


def test_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn")
    for seed in range(40):
        scores, labels, weights = case(seed, 300)
        assert alike(auc(scores, labels), metrics.roc_auc_score(labels, scores))
        assert alike(auc(scores, labels, weights), metrics.roc_auc_score(labels, scores, sample_weight=weights))


@pytest.mark.parametrize("kind", ["one", "equal", "wide"])
def test_a_million_samples_in_float32(kind):
    metrics = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn")
    size, draw = 1_000_000, np.random.default_rng(3)
    labels = draw.random(size) < 0.01
    scores = np.round(draw.normal(size=size) + labels, 4).astype(np.float32)
    wide = np.exp(4 * draw.normal(size=size)).astype(np.float32)
    # Equal weights round in one direction wherever they meet in a sum of floats: jnp.cumsum is 4e-7 off.
    weights = {"one": None, "equal": np.full(size, 0.842771, np.float32), "wide": wide}[kind]
    found = auc(scores, labels, weights)
    assert found.dtype == jnp.float32
    assert np.isclose(found, metrics.roc_auc_score(labels, scores, sample_weight=weights), rtol=0, atol=2e-7)


def test_sums_are_kept_in_twice_the_precision():
    values = np.random.default_rng(0).random(20_000).astype(np.float32)
    high, low = jax.jit(running_sums)((values, jnp.zeros(len(values))))
    exact = np.cumsum(values.astype(np.float64))  # 24 bits and 15 of the count fit 53
    assert np.allclose(np.float64(high) + np.float64(low), exact, rtol=1e-12, atol=0)
    assert float(total(jnp.asarray(values))) == np.float32(fsum(values))


def test_by_hand():
    assert float(auc([1, 2, 3, 4], [0, 0, 1, 1])) == 1
    assert float(auc([1, 2, 3, 4], [1, 1, 0, 0])) == 0
    assert float(auc([7.0] * 4, [0, 1, 1, 1])) == 0.5
    # pairs: 2·1 against 1 won, 2·3 tied; 5·1 and 5·3 won: (2 + 3 + 20) / 28
    assert alike(auc([1, 2, 2, 3], [0, 0, 1, 1], [1, 3, 2, 5]), 25 / 28)


def test_scores_of_every_size():
    labels = [1, 0, 1, 0]
    assert float(auc([inf, -inf, 3e38, -3e38], labels)) == 1
    assert float(auc([inf, inf, 0.0, -0.0], labels)) == (0.5 + 1 + 0 + 0.5) / 4
    assert float(auc([2e-40, 1e-40, 3e-40, 0.0], labels)) == 1  # subnormal, which XLA's arithmetic flushes to 0
    assert float(auc([-1e-40, -2e-40, 0.0, -4e-40], labels)) == 1
    for dtype in (jnp.bfloat16, jnp.float16):
        assert float(auc(jnp.array([1, -1, 1, 1], dtype), labels)) == (1 + 0.5 + 1 + 0.5) / 4


def test_weights_of_every_size():
    scores, labels = [1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1]
    assert float(auc(scores, labels, [2e-38] * 4)) == 0.75
    assert alike(auc(scores, labels, [3e38] * 4), 0.75)
    # won: 1e30·1e-30 + 1e30·3e-30 + 1e-30·3e-30, of all four pairs
    assert alike(auc(scores, labels, [1e30, 1e-30, 1e30, 3e-30]), (1 + 3 + 3) / 8)


def test_float64_scores_tie_only_when_they_are_equal():
    scores, labels = np.array([1.0, 1.0 + 1e-12]), np.array([0, 1])
    assert float(auc(scores, labels)) == float(auc(scores.tolist(), labels)) == 1
    assert float(auc([1.0, 1.0 + 1e-12, nan], [0, 1, 1], [1, 1, 0])) == 0.5  # beside a NaN float32, as JAX holds them
    with jax.enable_x64(True):
        assert float(auc(scores, labels)) == 1
        assert auc(scores, labels).dtype == jnp.float64


def test_whole_numbers_that_jax_would_wrap():
    assert float(auc([2**32, 1], [1, 0])) == 1  # 0 in 32 bits
    assert float(auc(np.array([2**63, 2**63 + 1], np.uint64), [1, 0])) == 0
    assert float(auc([1, 2, 2, 3], [0, 1, 0, 1], [2**40, 2**40, 2**40, 0])) == 0.75  # wins one pair, ties with one
    with pytest.raises(ArgumentError, match=r"`labels\[1\]` is `4294967297`"):
        auc([1, 2], [0, 2**32 + 1])


@pytest.mark.parametrize(
    "scores, labels, weights",
    [
        ([], [], None),
        ([1.0, 2.0], [0, 0], None),
        ([1.0, 2.0], [1, 1], None),
        ([1.0, 2.0], [0, 1], [0, 1]),
        ([1.0, 2.0], [0, 1], [0, 0]),
        ([1.0, nan], [0, 1], None),
    ],
)
def test_samples_without_an_area(scores, labels, weights):
    assert isnan(auc(scores, labels, weights))


def test_a_sample_of_weight_0_does_not_count():
    assert float(auc([1.0, nan, 3.0, 9.0], [0, 1, 1, 0], [1, 0, 1, 0])) == 1


def test_transformations():
    cases = [case(seed, 60) for seed in range(8)]
    wanted = [by_pairs(*each) for each in cases]
    stacked = [jnp.stack(each) for each in zip(*cases, strict=True)]
    assert alike([jax.jit(auc)(*each) for each in cases], wanted)
    assert alike(jax.jit(jax.vmap(auc, in_axes=(1, 1, 1)))(*(each.T for each in stacked)), wanted)
    assert alike(jax.lax.scan(lambda carry, each: (carry, auc(*each)), 0, tuple(stacked))[1], wanted)
    assert not np.any(jax.jit(jax.grad(auc))(jnp.asarray(cases[0][0]), *cases[0][1:]))


@pytest.mark.parametrize(
    "scores, labels, weights, message",
    [
        ([1.0, 2.0], [0, 2], None, r"`labels\[1\]` is `2`\nhint: labels must be 0 or 1"),
        ([1.0, 2.0], [0.5, 1], None, r"`labels\[0\]` is `0.5`"),
        ([1.0, 2.0], [0, nan], None, r"`labels\[1\]` is `nan`"),
        ([1.0, 2.0], [0, 1], [1, -1], r"`weights\[1\]` is `-1.0`\nhint: weights must be finite and at least 0"),
        ([1.0, 2.0], [0, 1], [inf, 1], r"`weights\[0\]` is `inf`"),
    ],
)
def test_values_are_checked_where_they_are_known(scores, labels, weights, message):
    with pytest.raises(ArgumentError, match=message):
        auc(scores, labels, weights)
    assert isnan(jax.jit(auc)(jnp.array(scores), jnp.array(labels), None if weights is None else jnp.array(weights)))


@pytest.mark.parametrize(
    "scores, labels, weights, message",
    [
        (np.ones((2, 2)), [0, 1], None, r"`scores` has shape \(2, 2\), but `labels` \(2,\)\nhint: .*vmap"),
        ([1.0, 2.0, 3.0], [0, 1], None, r"`scores` has shape \(3,\)"),
        ([1.0, 2.0], [0, 1], [1.0], r"`weights` has shape \(1,\)"),
        (1.0, 1, None, r"`scores` has shape \(\)"),
        (["a", "b"], [0, 1], None, "`scores` must be real numbers"),
        ([1.0, 2.0], [0, None], None, "`labels` must be real numbers"),
        ([[1.0], [1.0, 2.0]], [0, 1], None, "`scores` must be real numbers"),
        ([1j, 2.0], [0, 1], None, "`scores` must be real numbers"),
    ],
)
def test_shapes_and_types_are_checked(scores, labels, weights, message):
    with pytest.raises(ArgumentError, match=message):
        auc(scores, labels, weights)


def test_there_is_nothing_to_multiply():
    samples = [jax.ShapeDtypeStruct((7, 300), dtype) for dtype in ("float32", "bool", "float32")]
    report = pc.trace(jax.jit(jax.vmap(pc.metrics.auc)), *samples)
    assert (report.macs, report.uncounted) == (0, ())
    assert report.elementwise > 7 * 300 * 9  # comparisons of the sort alone


# The operator of the page


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that holds the page's files, and from which they are imported."""
    folder = tmp_path_factory.mktemp("auc")
    for name, text in FILES:
        (folder / name).write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    sys.modules.pop("plugged", None)
    pc.register_rule("auc", None)


@pytest.fixture(scope="module")
def plugged(folder):
    if shutil.which("g++") is None or jax.default_backend() != "cpu":
        pytest.skip("needs g++, and a CPU as JAX's device")
    module = importlib.import_module("plugged")
    assert module.load()
    return module


@pytest.mark.parametrize("size", [0, 300])
def test_the_operator_gives_the_same(plugged, size):
    cases = [case(seed, size) for seed in range(12)]
    stacked = tuple(jnp.stack(each) for each in zip(*cases, strict=True))
    wanted = [auc(*each) for each in cases]
    assert alike([plugged.auc(*each) for each in cases], wanted)
    assert alike([jax.jit(plugged.auc)(*each) for each in cases], wanted)
    assert alike(jax.vmap(plugged.auc)(*stacked), wanted)
    assert alike(jax.lax.scan(lambda carry, each: (carry, plugged.auc(*each)), 0, stacked)[1], wanted)
    one_for_all = jax.vmap(plugged.auc, in_axes=(0, None))(stacked[0], stacked[1][0])
    assert alike(one_for_all, [auc(scores, cases[0][1]) for scores, _, _ in cases])


def test_the_operator_on_odd_samples(plugged):
    samples = [
        ([inf, inf, 0.0, -0.0], [1, 0, 1, 0], [1, 1, 1, 1]),
        ([-1e-40, -2e-40, 0.0, -4e-40], [1, 0, 1, 0], [1, 1, 1, 1]),
        ([-1.0, -2.0, 3e38, -3e38], [1, 0, 0, 1], [3e38, 3e38, 2e38, 1e38]),
        ([1.0, nan, 3.0, 9.0], [0, 1, 1, 0], [1, 0, 1, 0]),
        ([1.0, nan, 3.0, 9.0], [0, 1, 1, 0], [1, 1, 1, 0]),
        ([1.0, 2.0, 3.0, 4.0], [0, 1, 2, 1], [1, 1, 1, 1]),
        ([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1], [1, -1, 1, 1]),
        ([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1], [1, inf, 1, 1]),
        ([1.0, 2.0, 3.0, 4.0], [0, 0, 0, 0], [1, 1, 1, 1]),
    ]
    for each in samples:
        arrays = [jnp.array(part, float) for part in each]
        assert alike(plugged.auc(*arrays), jax.jit(auc)(*arrays)), each
    with pytest.raises(jax.errors.JaxRuntimeError, match="of shape"):
        plugged.auc(jnp.ones(3), jnp.ones(2))


def test_the_operator_on_many_samples(plugged):
    scores, labels, weights = case(1, 20_000)
    assert alike(plugged.auc(scores, labels, weights), auc(scores, labels, weights))


def test_the_operator_counts_by_its_rule(plugged, folder):
    runpy.run_path(str(folder / "counted.py"))
    samples = jnp.ones(8), jnp.ones(8)
    other = lambda x: jax.ffi.ffi_call("other", jax.ShapeDtypeStruct((), x.dtype))(x)  # noqa: E731
    with pytest.raises(UncountedError, match="`other`"):
        pc.trace(lambda x, y: plugged.auc(x, y) + other(x), *samples)
    pc.register_rule("auc", None)
    try:
        with pytest.raises(UncountedError, match="`auc`"):
            pc.trace(plugged.auc, *samples)
    finally:
        pc.register_rule("auc", lambda eqn: 0)


def test_both_are_measured(plugged, folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["measure.py", "1000"])
    runpy.run_path(str(folder / "measure.py"))
    line = r"pc\.metrics\.auc [\d.]+ ms, plugged\.auc [\d.]+ ms .*: [\d.]+ times as fast\n"
    assert re.fullmatch(f"({line}){{2}}", capsys.readouterr().out)


def test_without_a_compiler_it_is_ours(folder, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    module = runpy.run_path(str(folder / "plugged.py"))
    assert not module["load"]()
    assert float(module["auc"]([1.0, 2.0, 2.0], [0, 1, 0])) == 0.75
    assert "ffi_call" not in str(jax.make_jaxpr(module["auc"])(jnp.ones(3), jnp.ones(3)))
