"""Measurements: what is counted, the bytes of compiled programs, and what is refused. No test asserts a time."""

import sys

import numpy
import pytest

pytest.importorskip("jax")

import paramcount as pc
from paramcount.backend.measure import measure as measuring
from paramcount.backend.measure.measure import compiled_bytes, program_of
from paramcount.backend.measure.peak import matmul_peak
from paramcount.cost.memory import memory_of

MLP = pc.Network([pc.Dense(64, activation="relu"), pc.Dense(10)], input=32)
MACS = 32 * 64 + 64 * 10
BACKWARD = 32 * 64 + 2 * 64 * 10  # nothing goes back into the data


@pytest.fixture(autouse=True)
def peak(monkeypatch):
    monkeypatch.setattr(measuring, "matmul_peak", lambda: 1e9)


def test_a_row_for_each_batch():
    found = pc.measure(MLP, batch=(1, 8), repeats=3)
    assert [(row.batch, row.repeats, row.macs, row.flops) for row in found.rows] == [
        (1, 3, MACS, 2 * MACS),
        (8, 3, 8 * MACS, 16 * MACS),
    ]
    for row in found.rows:
        assert 0 < row.low <= row.seconds <= row.high
        assert row.examples_per_second * row.seconds == pytest.approx(row.batch)
        assert row.rate * row.seconds == pytest.approx(row.flops)
        assert row.share * 1e9 == pytest.approx(row.rate)
        assert row.predicted_bytes == memory_of(MLP, batch=row.batch).total


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adam"])
def test_a_step_of_training(optimizer):
    pytest.importorskip("optax", reason="needs optax")
    found = pc.measure(MLP, train=True, batch=4, repeats=2, optimizer=optimizer)
    (row,) = found.rows
    assert (row.macs, row.flops) == (4 * (MACS + BACKWARD), 8 * (MACS + BACKWARD))
    assert row.seconds > 0 and found.optimizer == optimizer
    params = 4 * (32 * 64 + 64 + 64 * 10 + 10)
    states = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    arguments = (1 + states) * params + 4 * 4 * 32  # the least that a program takes
    assert row.compiled_bytes > arguments and row.predicted_bytes > arguments


def test_runs_go_on_for_a_while(monkeypatch):
    monkeypatch.setattr(measuring, "BUDGET", 0.0)
    assert pc.measure(MLP).rows[0].repeats == 5


def test_bytes_of_a_program_without_temporaries():
    network = pc.Network([pc.Dense(16, bias=False)], input=8)
    assert compiled_bytes(network, batch=4) == 4 * (8 * 16 + 4 * 8 + 4 * 16) == memory_of(network, batch=4).total


def test_bytes_in_training_grow_by_what_is_kept():
    """Ten more uses of one layer keep ten more tensors, in the compiled program too."""
    pytest.importorskip("optax", reason="needs optax")
    networks = [pc.Network([pc.Repeat(n, [pc.Dense(16)], share=True)], input=16) for n in (10, 20)]
    few, many = (compiled_bytes(network, batch=2048, train=True) for network in networks)
    kept = [memory_of(network, batch=2048, train=True).kept for network in networks]
    assert kept[1] - kept[0] == 10 * 2048 * 16 * 4
    assert many - few == pytest.approx(kept[1] - kept[0], rel=0.02)


def test_the_state_is_there_once():
    """Parameters and both moments go from step to step in place; their gradient comes on top."""
    pytest.importorskip("optax", reason="needs optax")
    params = 4 * 256 * 256
    found = compiled_bytes(pc.Network([pc.Dense(256, bias=False)], input=256), train=True, optimizer="adam")
    assert 3 * params < found < 5 * params


def test_examples_differ_and_steps_go_on():
    pytest.importorskip("optax", reason="needs optax")
    program = program_of(pc.load("lenet"), 3, True, "sgd")
    state, inputs, targets = program.arguments(seed=1)
    assert inputs["input"].shape == (3, 28, 28, 1) and not numpy.array_equal(inputs["input"][0], inputs["input"][1])
    assert targets["output"].shape == (3,) and 0 <= targets["output"].min() <= targets["output"].max() < 10
    compiled = program.compile()
    arguments = (state, inputs, targets)
    losses = []
    for _ in range(2):
        result = compiled(*arguments)
        losses.append(float(result[1]))
        arguments = program.following(arguments, result)
    assert int(arguments[0].step) == 2 and losses[1] != losses[0]


def test_several_outputs_sequences_and_scalars():
    pytest.importorskip("optax", reason="needs optax")
    scalar = [pc.GlobalPool(), pc.Dense(1), pc.Reshape([])]
    items = [pc.Embedding(20, 8), pc.With(pc.Dense(20), name="words"), pc.Let({"sum": scalar})]
    network = pc.Network(items, input={"tokens": [6]}, outputs=["words", "sum"])
    program = program_of(network, 2, True, "sgd")
    assert {label: each.shape for label, each in program.targets.items()} == {"words": (2, 6), "sum": (2,)}
    assert pc.measure(network, batch=2, train=True, repeats=1).rows[0].seconds > 0


def test_what_does_not_fit_is_refused_before_it_is_compiled(monkeypatch):
    monkeypatch.setattr(measuring, "program_of", lambda *_: pytest.fail("compiled"))
    huge = pc.Network([pc.Dense(2**20)], input=2**20)
    with pytest.raises(
        pc.ArgumentError, match=r"a batch of 2 would take about 4\.00 TiB, but only .* can be used"
    ) as error:
        pc.measure(huge, batch=2)
    assert error.value.hint == "choose a smaller batch, or a smaller variant"


def test_what_turns_out_not_to_fit_is_refused_before_it_runs(monkeypatch):
    monkeypatch.setattr(measuring, "available", lambda most: memory_of(MLP, batch=8).total)
    monkeypatch.setattr(measuring, "program_bytes", lambda compiled: sys.maxsize)
    with pytest.raises(pc.ArgumentError, match="a batch of 8 would take about"):
        pc.measure(MLP, batch=8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch": ()}, "there is no batch to measure"),
        ({"batch": None}, "batch must be a whole number of at least 1, not `None`"),
        ({"batch": 1.5}, "batch must be a whole number of at least 1, not `1.5`"),
        ({"batch": 8, "train": True, "optimizer": None}, "unknown optimizer `None`"),
        ({"batch": 0}, "batch must be a whole number of at least 1, not `0`"),
        ({"batch": (1, 2.5)}, "batch must be a whole number of at least 1, not `2.5`"),
        ({"repeats": 0}, "repeats must be a whole number of at least 1, not `0`"),
        ({"train": True, "optimizer": "adamw"}, "unknown optimizer `adamw`"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(pc.ArgumentError, match=message):
        pc.measure(MLP, **options)


def test_the_peak_is_measured_once(monkeypatch):
    from paramcount.backend.measure import peak

    monkeypatch.setattr(peak, "SIZES", (64, 96))
    matmul_peak.cache_clear()
    first = matmul_peak()
    monkeypatch.setattr(peak, "fastest", lambda *_: pytest.fail("measured again"))
    assert first > 0 and matmul_peak() == first
    matmul_peak.cache_clear()


def test_the_peak_is_that_of_the_best_size_and_large_ones_are_left_out(monkeypatch):
    from paramcount.backend.measure import peak

    rates = {100: 1e6, 200: 4e7, 210: 1e7, 1000: 1e12}
    monkeypatch.setattr(peak, "SIZES", tuple(rates))
    monkeypatch.setattr(peak, "BUDGET", 100.0)
    monkeypatch.setattr(peak, "fastest", lambda size, dtype: 2 * size**3 / rates[size])
    matmul_peak.cache_clear()
    assert matmul_peak() == 4e7  # at that rate 4 products of 1000 × 1000 take 200 s, at 1e12 they would not
    matmul_peak.cache_clear()
