"""How the rows of two networks meet: the law of their sums, cut loops, and parts under two names."""

import random
from itertools import pairwise

import pytest

from paramcount.cost.compare.rows import ADDED, CHANGED, EQUAL, REMOVED, opened, pairs_of
from paramcount.cost.count import count
from paramcount.cost.figures import Figures
from paramcount.language.load import load, loads, shipped_networks, shipped_specs

ALL = 10**9


def described(a, b, depth=1):
    return [(pair.change, pair.label) for pair in opened(pairs_of(a.rows, b.rows), depth)]


def counted(*layers):
    """Layers of a spec on 8 features."""
    items = ", ".join(each if each.isidentifier() else f"{{{each}}}" for each in layers)
    return count(loads(f"{{input: {{features: 8}}, layers: [{items}]}}"))


def changes(a, b):
    return [(pair.change, pair.a and pair.a.params, pair.b and pair.b.params) for pair in pairs_of(a.rows, b.rows)]


def keeps_the_law(a, b):
    """The rows of each side sum to its totals at level 1, and to their parent where a changed row opens."""
    pairs = pairs_of(a.rows, b.rows)
    for side, report in (("a", a), ("b", b)):
        assert Figures.total([getattr(pair, side).figures for pair in pairs if getattr(pair, side)]) == report.totals
        for pair in opened(pairs, ALL):
            if pair.change == CHANGED and pair.below:
                inside = [getattr(each, side).figures for each in pair.below if getattr(each, side)]
                assert not inside or Figures.total(inside) == getattr(pair, side).figures
    for pair in opened(pairs, ALL):
        assert (pair.a is None) == (pair.change == ADDED) and (pair.b is None) == (pair.change == REMOVED)


def equals_itself(report):
    pairs = pairs_of(report.rows, report.rows)
    assert {pair.change for pair in pairs} == {EQUAL}
    assert len(pairs) == len(report.sheet(depth=1).rows)


FEW = ("lenet", "mobilenet_v2", "resnet")
SPECS = [name if name in FEW else pytest.param(name, marks=pytest.mark.full) for name in shipped_specs()]


@pytest.mark.parametrize("name", SPECS)
def test_neighbouring_variants_keep_the_law(name):
    reports = [count(load(name, variant)) for variant in (None, *load(name).variants)]
    for a, b in pairwise(reports):
        keeps_the_law(a, b)
    equals_itself(reports[0])


@pytest.mark.full
def test_random_pairs_keep_the_law():
    networks = list(shipped_networks())
    draw = random.Random(25)
    for _ in range(60):
        (_, a), (_, b) = draw.sample(networks, 2)
        keeps_the_law(count(a), count(b))


def test_iterations_meet_by_index_and_rows_are_cut():
    def network(times):
        return counted(f"repeat: {times}, dense: 8")

    # 8 · 8 + 8 = 72 parameters in each iteration
    assert described(network(5), network(3)) == [(EQUAL, "dense0[0:3]"), (REMOVED, "dense0[3:5]")]
    assert changes(network(5), network(3)) == [(EQUAL, 216, 216), (REMOVED, 144, None)]
    assert described(network(3), network(5)) == [(EQUAL, "dense0[0:3]"), (ADDED, "dense0[3:5]")]
    keeps_the_law(network(5), network(3))


def test_an_iteration_that_differs_splits_the_row_of_the_others():
    def network(width):
        spec = "{input: {features: 8}, vars: {w: 8}, layers: [{repeat: 6, dense: 'w if i == 2 else 8'}]}"
        return count(loads(spec, w=width))

    # The third iteration has 8 · 4 + 4 = 36 parameters instead of 72, and the fourth 4 · 8 + 8 = 40.
    assert described(network(8), network(4)) == [
        (EQUAL, "dense0[0:2,4:6]"),
        (CHANGED, "dense0[2]"),
        (CHANGED, "dense0[3]"),
    ]
    assert changes(network(8), network(4)) == [(EQUAL, 288, 288), (CHANGED, 72, 36), (CHANGED, 72, 40)]


def test_groups_are_cut_with_all_that_is_in_them():
    def network(times, bias):
        return counted(
            f"repeat: {times}, name: block, do: [{{dense: 8}}, {{do: [{{dense: {{out: 8, bias: {bias}}}}}, relu]}}]"
        )

    a, b = network(6, "true"), network(4, "false")
    kept, gone = pairs_of(a.rows, b.rows)
    assert (kept.change, gone.change) == (CHANGED, REMOVED)
    assert (kept.label, gone.label, kept.a.path) == ("block[0:4]", "block[4:6]", "block[0:4]")
    assert (kept.a.params, kept.b.params, gone.a.params) == (4 * 144, 4 * 136, 2 * 144)
    assert (kept.a.repeat, gone.a.repeat) == (4, 2)
    dense, inner = kept.below
    assert (dense.change, dense.a.path, dense.a.params) == (EQUAL, "block[0:4].dense0", 4 * 72)
    assert [(each.change, each.label) for each in inner.below] == [(CHANGED, "dense0"), (EQUAL, "relu0")]
    assert gone.below == ()


def test_tensors_that_iterations_share_stay_with_the_first():
    def network(times):
        return counted(f"repeat: {times}, do: [{{dense: 8, share: key}}, {{dense: 8}}, relu]")

    # The shared layer has 72 parameters once, the other 72 in each iteration.
    assert changes(network(4), network(2)) == [(EQUAL, 72 + 144, 72 + 144), (REMOVED, 144, None)]
    assert changes(network(2), network(4)) == [(EQUAL, 72 + 144, 72 + 144), (ADDED, None, 144)]
    keeps_the_law(network(4), network(2))


def test_the_other_way_round_added_parts_are_removed():
    mirrored = {EQUAL: EQUAL, CHANGED: CHANGED, ADDED: REMOVED, REMOVED: ADDED}
    for a, b in (
        ("relu,gelu", "gelu,relu"),
        ("relu,gelu,tanh,relu", "tanh,relu,relu,gelu"),
        ("relu,relu", "gelu,relu"),
    ):
        one, other = counted(*a.split(",")), counted(*b.split(","))
        there = [(mirrored[pair.change], pair.b, pair.a) for pair in pairs_of(one.rows, other.rows)]
        back = [(pair.change, pair.a, pair.b) for pair in pairs_of(other.rows, one.rows)]
        assert sorted(there, key=repr) == sorted(back, key=repr)


def test_names_that_differ_meet_in_order_loops_with_loops():
    a = counted("dense: 8", "repeat: 2, name: old, dense: 8", "relu")
    b = counted("dense: 8", "repeat: 3, name: new, dense: 8", "relu")
    assert described(a, b) == [
        (EQUAL, "dense0"),
        (EQUAL, "old[0:2] → new[0:2]"),
        (ADDED, "new[2]"),
        (EQUAL, "relu0"),
    ]
    c = counted("flatten", "dense: 8", "relu")
    assert described(c, a) == [(REMOVED, "flatten0"), (EQUAL, "dense0"), (ADDED, "old[0:2]"), (EQUAL, "relu0")]


def test_a_loop_does_not_meet_a_layer():
    assert described(counted("repeat: 2, name: loop, dense: 8"), counted("dense: 8")) == [
        (REMOVED, "loop[0:2]"),
        (ADDED, "dense0"),
    ]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("dense: 8", "dense: 9"),  # output and figures
        ("dense: 8", "dense: {out: 8, bias: false}"),  # figures alone
        ("relu", "leaky_relu"),  # kind alone
        ("dropout: 0.1", "dropout: 0.2"),  # setting alone
    ],
)
def test_what_differs_in_itself_is_changed(a, b):
    assert described(counted(f"name: part, {a}"), counted(f"name: part, {b}")) == [(CHANGED, "part")]
    assert described(counted(f"name: part, {a}"), counted(f"name: part, {a}")) == [(EQUAL, "part")]


def test_only_changed_rows_open():
    a, b = (count(load("llama", variant)) for variant in ("2-7b", "3-8b"))
    labels = [label for _, label in described(a, b, 3)]
    assert labels[1:6] == ["block[0:32]", "residual0", "rms_norm0", "attention0", "add"]
    equal = [pair for pair in opened(pairs_of(a.rows, b.rows), ALL) if pair.change == EQUAL]
    assert all(pair.below for pair in equal if not pair.a.leaf), "there is something to open"
    assert {label for _, label in described(a, a, ALL)} == {label for _, label in described(a, a)}
