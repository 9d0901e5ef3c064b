"""Figures of rows and totals, against arithmetic written out by hand."""

from dataclasses import FrozenInstanceError

import pytest

from paramcount.cost.count import count
from paramcount.errors import ArgumentError
from paramcount.graph.block import Block
from paramcount.graph.bodies import Each, Moe, Scan
from paramcount.graph.items import Let, Pop, Residual
from paramcount.graph.loops import Repeat
from paramcount.graph.modifiers import With
from paramcount.graph.network import Network
from paramcount.graph.tree import leaves
from paramcount.language.load import load, shipped_specs
from paramcount.layers.adaptive_pool import AdaptiveAvgPool
from paramcount.layers.batch_norm import BatchNorm
from paramcount.layers.conv import Conv
from paramcount.layers.dense import Dense
from paramcount.layers.embedding import Embedding
from paramcount.layers.layer import Work
from paramcount.numbers.arithmetic import Column


def rows_of(report):
    return {row.path: row for row in report.rows}


def leaves_sum_to_totals(report):
    return report.totals.total([row.figures for row in report.rows if row.leaf]) == report.totals


def test_let_makes_no_value_of_its_own():
    report = count([Let({"side": [Dense(3)], "_rest": "prev"}), Dense(5)], 4)
    shapes = {row.path: row.output_shape and row.output_shape.sizes for row in report.rows}
    assert shapes == {"let0": None, "let0.side": (3,), "let0.side.dense0": (3,), "dense0": (5,)}


def test_a_mlp_by_hand():
    report = count([Dense(512, activation="relu"), Dense(512, activation="relu"), Dense(10)], 784)
    weights = 784 * 512 + 512 * 512 + 512 * 10
    assert (report.weights, report.biases, report.params) == (weights, 512 + 512 + 10, weights + 1034)
    assert (report.weights, report.params, report.macs) == (668_672, 669_706, 668_672)
    assert report.flops == 2 * 668_672
    # a bias and a relu each cost 1 per element
    assert report.elementwise == 2 * (512 + 512) + 10
    assert report.activations == 2 * (512 + 512) + 10
    assert report.param_bytes == 4 * 669_706
    assert (report.buffers, report.norms, report.tables) == (0, 0, 0)
    assert [(row.path, row.kind, row.depth, row.leaf) for row in report.rows[:4]] == [
        ("dense0", "dense", 1, False),
        ("dense0.dense0", "dense", 2, True),
        ("dense0.relu0", "relu", 2, True),
        ("dense1", "dense", 1, False),
    ]
    assert str(report.rows[-1].output_shape) == "10"
    assert leaves_sum_to_totals(report)


def test_norms_and_buffers():
    report = count(Conv(out=8, kernel=3, norm="batch_norm"), (4, 4, 3))
    assert (report.weights, report.norms, report.params, report.buffers) == (9 * 3 * 8, 16, 216 + 16, 16)
    assert report.macs == 216 * 16
    assert report.param_bytes == 4 * 232  # buffers are not among the parameters


def test_the_batch_multiplies_work_and_activations_only():
    one, eight = (count(Conv(out=8, kernel=3, norm="batch_norm"), (4, 4, 3), batch=batch) for batch in (1, 8))
    for name in ("macs", "flops", "elementwise", "activations"):
        assert getattr(eight, name) == 8 * getattr(one, name) > 0
    for name in ("params", "trainable", "weights", "norms", "buffers", "active_params", "param_bytes"):
        assert getattr(eight, name) == getattr(one, name) > 0
    assert leaves_sum_to_totals(eight)


@pytest.mark.parametrize(("dtype", "size"), [("float32", 4_004_000), ("bfloat16", 2_002_000), ("int8", 1_001_000)])
def test_bytes_follow_the_dtype(dtype, size):
    report = count(Dense(1000), 1000, dtype=dtype)
    assert (report.params, report.param_bytes) == (1_001_000, size)


def test_four_bits_count_logical_elements():
    report = count(Dense(100, bias=False), 100, dtype="int4")
    assert (report.params, report.param_bytes) == (10_000, 5_000)
    # each tensor's last byte is filled up: 3 + 3 elements of 4 bits take 2 + 2 bytes
    assert count(Dense(3), 1, dtype="int4").param_bytes == 4


def test_nothing_but_a_pool():
    report = count(AdaptiveAvgPool(1), (5, 5, 10))
    assert (report.params, report.macs) == (0, 0)
    assert str(report.rows[0].output_shape) == "1×1×10"


def test_passes_fold_into_one_row():
    report = count([Repeat(4, [Residual([Dense(16)])])], 16)
    folded, dense, add = report.rows
    assert folded.path.endswith("[0:4]") and dense.path == folded.path + ".dense0"
    assert (folded.repeat, folded.params, folded.macs) == (4, 4 * (256 + 16), 4 * 256)
    assert (dense.params, add.elementwise) == (4 * 272, 4 * 16)
    assert leaves_sum_to_totals(report)


def test_nested_loops_join_their_labels():
    report = count([Repeat(3, [Repeat(2, [Dense(8)])])], 4)
    rows = rows_of(report)
    assert list(rows) == ["dense0[0][0]", "dense0[0][1]", "dense0[1:3][0:2]"]
    assert (rows["dense0[0][0]"].params, rows["dense0[0][1]"].params) == (4 * 8 + 8, 8 * 8 + 8)
    assert (rows["dense0[1:3][0:2]"].repeat, rows["dense0[1:3][0:2]"].params) == (4, 4 * 72)
    assert leaves_sum_to_totals(report)


def test_a_shared_repeat_counts_its_parameters_once():
    report = count([Repeat(5, [Dense(8)], share=True)], 8)
    (row,) = report.rows
    assert (row.path, row.repeat, row.params, row.macs) == ("dense0", 5, 72, 5 * 64)


def test_shared_weights_count_at_their_first_use():
    tower = Dense(8)
    report = count([With(tower, share="tower"), With(tower, share="tower"), Dense(8)], 8)
    rows = rows_of(report)
    assert (rows["dense0"].params, rows["dense0"].note, rows["dense0"].macs) == (72, "", 64)
    assert (rows["dense1"].params, rows["dense1"].note, rows["dense1"].macs) == (0, "shared with dense0", 64)
    assert (report.params, report.macs) == (2 * 72, 3 * 64)


def test_weights_shared_by_the_passes_of_a_loop_count_once_for_its_block():
    body = [With(Dense(8), share="k"), Dense(8)]
    assert count([Repeat(4, body)], 8).params == 72 + 4 * 72

    class Twice(Block):
        def expand(self, *inputs):
            return [Repeat(4, body)]

    # each of the block's three instances has weights of its own under the key
    report = count([Repeat(3, [Twice()])], 8)
    assert report.params == 3 * (72 + 4 * 72)
    assert report.macs == 3 * 4 * 2 * 64
    assert leaves_sum_to_totals(report)


def test_weights_shared_inside_experts_are_stacked():
    body = [Repeat(4, [With(Dense(8, bias=False), share="k")])]
    report = count([Moe(experts=6, top_k=2, body=body)], (5, 8))
    assert report.params == 8 * 6 + 6 * 64
    assert report.active_params == 8 * 6 + 2 * 64
    assert report.macs == 5 * 8 * 6 + 2 * 4 * 5 * 64


def test_a_shared_group_shows_zero_below():
    unit = Residual([Dense(8), Dense(8)])
    rows = rows_of(count([With(unit, share="u"), With(unit, share="u")], 8))
    assert rows["residual1"].note == "shared with residual0"
    assert (rows["residual1.dense1"].params, rows["residual1.dense1"].note) == (0, "shared with residual0.dense1")
    assert rows["residual1.dense1"].macs == 64


def test_tied_weights():
    report = count(Network([With(Embedding(100, 8), name="words"), Dense(100, tied="words")], input={"tokens": [5]}))
    row = report.rows[1]
    assert (row.params, row.note, row.macs) == (100, "tied to words", 5 * 8 * 100)  # the bias is its own
    assert (report.tables, report.weights, report.params) == (800, 800, 900)


def test_pieces_and_steps_multiply_work():
    each = count([Each("t h w c -> t | h w c", [Conv(out=4, kernel=3)])], (6, 8, 8, 3))
    assert (each.params, each.macs) == (108, 6 * 108 * 64)
    assert each.activations == 6 * 8 * 8 * 4
    assert (each.rows[0].kind, each.rows[0].setting) == ("each", "×6 pieces")
    scan = count([Scan({"h": [8]}, [Dense(8)], {"h": "prev"})], (7, 3))
    assert (scan.params, scan.macs) == (3 * 8 + 8, 7 * 24)
    assert scan.rows[0].setting == "×7 steps"


def test_experts():
    report = count([Moe(experts=8, top_k=2, body=[Dense(12)])], (5, 12))
    router, expert = 12 * 8, 12 * 12 + 12
    assert report.params == router + 8 * expert
    assert report.active_params == router + 2 * expert
    assert report.macs == 5 * router + 2 * 5 * 144
    assert rows_of(report)["moe0.dense0"].params == 8 * expert
    assert leaves_sum_to_totals(report)


def test_training_only_parameters_count_and_do_no_work():
    helper = With(Let({"aux": [Dense(4)]}), only="training")
    report = count(Network([Dense(8), helper, Dense(2)], input=8))
    assert report.params == 72 + (8 * 4 + 4) + (8 * 2 + 2)
    assert report.macs == 64 + 16
    training = [row for row in report.rows if row.leaf and row.training_only]
    assert [(row.params, row.macs, row.activations, row.note) for row in training] == [(36, 0, 0, "training only")]


def test_frozen_is_not_trainable():
    report = count([With(Dense(8), frozen=True), Dense(8)], 8)
    assert (report.params, report.trainable, report.rows[0].note) == (144, 72, "frozen")


def test_passes_that_use_a_stack_stand_alone():
    body = [With(Dense(8), push="s")]
    report = count([Repeat(2, body), Pop("s"), Pop("s")], 8)
    assert [row.path for row in report.rows] == ["dense0[0]", "dense0[1]"]
    assert report.params == 144


def test_columns():
    width = Column.whole("width", [8, 16])
    report = count([Dense(width), BatchNorm(), Dense(3)], 4, batch=2)
    for index, size in enumerate((8, 16)):
        one = count([Dense(size), BatchNorm(), Dense(3)], 4, batch=2)
        assert [figure if isinstance(figure, int) else figure[index] for figure in report.totals] == list(one.totals)


def test_one_layer_or_a_network():
    assert count(Conv(out=32, kernel=3, stride=2), (224, 224, 3)).weights == 864
    for wrong in ({}, {"batch": 0}, {"batch": 1.5}, {"batch": True}, {"dtype": "float33"}):
        with pytest.raises(ArgumentError):
            count(Dense(3), 4 if wrong else None, **wrong)
    with pytest.raises(ArgumentError, match="own input"):
        count(Network([Dense(3)], input=4), 4)
    with pytest.raises(ArgumentError, match="not a network"):
        count(3, 4)


def test_reports_and_rows_are_frozen():
    report = count(Dense(3), 4)
    with pytest.raises(FrozenInstanceError):
        report.batch = 2
    with pytest.raises(AttributeError):
        report.rows[0].depth = 2


def unrolled(network):
    """Parameters and MACs leaf by leaf, every pass for itself, each tensor once under its owner's path."""
    owners, macs = {}, 0
    for leaf in leaves(network.graph()):
        stored = runs = 1
        for body in leaf.bodies:
            stored *= 1 if body.copies is None else body.copies
            runs *= body.times
        tensors = [each for each in leaf.node.params().values() if each.role != "buffer"]
        owners.setdefault(leaf.owner, stored * sum(each.size for each in tensors))
        macs += 0 if leaf.node.training_only else runs * leaf.node.work().macs
    return sum(owners.values()), macs


class Unit(Block):
    """Two passes with one set of weights between them, and others of their own."""

    def expand(self, *inputs):
        return [Repeat(2, [With(Dense(8), share="k"), Dense(8)]), With(Dense(8), share="k")]


@pytest.mark.parametrize(
    "items",
    [
        [Repeat(3, [Unit()])],
        [Repeat(3, [With(Unit(), share="u")]), With(Unit(), share="u")],
        [With(Repeat(3, [Dense(8)]), share="r"), Repeat(2, [With(Repeat(3, [Dense(8)]), share="r")])],
        [Repeat(3, [Unit()], share=True), Repeat(2, [Repeat(2, [Unit()], share=True)])],
        [With(Residual([Unit(), With(Dense(8), share="d")]), share="o"), With(Dense(8), share="d")] * 2,
        [Repeat(2, [With(Dense(8), share="a"), Repeat(2, [With(Dense(8), share="a"), Dense(8)])])],
    ],
)
def test_folded_counts_equal_unrolled_ones(items):
    network = Network(items, input=8)
    report = count(network)
    assert (report.params, report.macs) == unrolled(network)
    assert leaves_sum_to_totals(report)


@pytest.mark.parametrize("name", shipped_specs())
def test_shipped_specs_equal_unrolled_ones(name):
    network = load(name)
    report = count(network)
    assert (report.params, report.macs) == unrolled(network)
    assert leaves_sum_to_totals(report)


@pytest.mark.parametrize("digits", [400, 4300])
def test_a_figure_that_python_does_not_write_is_refused(digits, monkeypatch):
    """No layer of ours can have one, but one's own might."""
    monkeypatch.setattr(Dense, "work", lambda layer, x: Work(10**digits))
    if digits > 4200:
        with pytest.raises(ArgumentError, match="a figure has more than 4,200 digits"):
            count(Dense(1), 1)
    else:
        shown = str(count(Dense(1), 1))
        assert "e+" not in shown and "0" * 300 in shown.replace(",", "")
