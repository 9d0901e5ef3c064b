"""Limits on figures, given in Python."""

from dataclasses import replace
from fractions import Fraction

import pytest

import paramcount as pc
from paramcount.cost.budgets import amount_of, limits_of
from paramcount.cost.figures import Figures, Phases, Row
from paramcount.graph.network import Subject

LAYERS = [pc.Dense(16), pc.Dense(2), pc.Relu()]
NETWORK = pc.Network(LAYERS, input=8, name="Net")
WIDE, NARROW = 8 * 16 + 16, 16 * 2 + 2


def test_limits_that_hold():
    report = pc.check(NETWORK, params=WIDE + NARROW, macs={"at_most": "1k", "at_least": 160}, param_bytes="712B")
    assert report.params == WIDE + NARROW


def test_the_largest_leaves_are_named():
    with pytest.raises(pc.CheckError) as failed:
        pc.check(NETWORK, params={"at_most": 100})
    assert (
        str(failed.value)
        == "Net: params 178 is over the budget of 100 by 78 (+78.0%)\n  largest: dense0 144, dense1 34"
    )


def test_leaves_within_groups_are_named_by_their_paths_with_all_iterations():
    network = pc.Network([pc.Repeat(4, [pc.Residual([pc.Dense(8)])])], input=8)
    with pytest.raises(pc.CheckError, match=r"largest: residual0\[0:4\]\.dense0 288$"):
        pc.check(network, params={"at_most": 1})


def test_what_was_counted_already_is_checked_as_it_was_counted():
    report = pc.count(NETWORK, batch=8, dtype="int8")
    assert pc.check(report, macs=8 * (128 + 32), param_bytes=178) is report
    with pytest.raises(pc.CheckError, match="macs 1,280 is over the budget of 1k by 280"):
        pc.check(report, macs={"at_most": "1k"})


def test_a_spec_by_its_name_and_a_saved_count(tmp_path):
    assert pc.check("mlp", params=669_706).title == "MLP 784-512-512-10"
    (tmp_path / "net.yaml").write_text("{input: {features: 8}, layers: [dense: 2], expect: {params: 19}}")
    with pytest.raises(pc.CheckError, match=r"net.yaml:1:61: `expect` of `net` differs.*\nparams: expected 19,"):
        pc.check(tmp_path / "net.yaml")
    pc.count(NETWORK, batch=8).save(tmp_path / "net.json")
    assert pc.check(tmp_path / "net.json", macs=8 * (128 + 32)).title == "Net"
    with pytest.raises(pc.CheckError, match=r"^Net: macs: expected 160, counted 1,280, difference \+1,120\n"):
        pc.check(str(tmp_path / "net.json"), macs=160)


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (pc.Shipped("mlp", "tiny", 0, 0, 0, 0, "", None), r'hint: load\("mlp:tiny"\)'),
        (pc.memory_of(NETWORK), "hint: give what `load` returns"),
        (lambda x: x, "hint: `trace.* counts a function"),
        ((pc.Dense(3),), "layers need an input"),
    ],
)
def test_what_cannot_be_counted(given, hint):
    for function in (pc.count, pc.check, lambda each: pc.compare("mlp", each)):
        with pytest.raises(pc.ArgumentError, match=hint):
            function(given)


def test_figures_of_training_where_they_were_counted():
    report = pc.count(NETWORK, train=True)
    assert pc.check(report, backward_macs=128 + 2 * 32) is report
    with pytest.raises(pc.ArgumentError, match="figure of training"):
        pc.check(NETWORK, backward_macs={"at_most": "1G"})


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"parms": 3}, "unknown figure `parms`\nhint: did you mean `params`?"),
        ({"params": {"at_mots": 3}}, "`params` has no limit `at_mots`\nhint: did you mean `at_most`?"),
        ({"params": {"at_most": "3.5MB"}}, "`3.5MB` is not an amount of params\nhint: write 3.5M"),
        ({"params": 2.5}, "params must be a whole number, not `2.5`"),
        ({"params": {"at_most": float("nan")}}, "params must be a number, not `nan`"),
        ({"params": True}, "params must be a number, not `True`"),
        ({"params": None}, "params must be a number, not `None`"),
        ({"params": {"at_most": -1}}, "params must be at least 0, not `-1`"),
        ({"params": {}}, "`params` is given no limit\nhint: one of at_most, at_least"),
        ({"max_params": "3.5M"}, 'unknown figure `max_params`\nhint: params={"at_most": "3.5M"}'),
        ({"min_macs": 2}, 'unknown figure `min_macs`\nhint: macs={"at_least": 2}'),
        ({"batch": 8}, "unknown figure `batch`\nhint: count with it first: check(count(network, batch=8), ...)"),
    ],
)
def test_wrong_limits(limits, message):
    with pytest.raises(pc.ArgumentError) as refused:
        pc.check(NETWORK, **limits)
    assert str(refused.value) == message


@pytest.mark.parametrize("value", [2.5, 3e17 + 0.5, 7.0, 1e15 + 0.25, 0.1])
def test_fractions_hold_for_the_same_figures(value):
    most, least = amount_of("macs", value), amount_of("macs", value, at_least=True)
    assert type(most) is int and most <= Fraction(value) < most + 1
    assert type(least) is int and least - 1 < Fraction(value) <= least


def test_every_suffix():
    counts = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9, "B": 9, "T": 12, "P": 15}
    assert {suffix: amount_of("macs", f"2{suffix}") for suffix in counts} == {
        suffix: 2 * 10**zeros for suffix, zeros in counts.items()
    }
    for power, letter in enumerate("KMGTP", 1):
        assert amount_of("param_bytes", f"2{letter}B") == 2 * 1000**power
        assert amount_of("param_bytes", f"2{letter}iB") == 2 * 1024**power


def test_amounts_are_exact_beyond_floats():
    limit = limits_of({"macs": {"at_most": 2**53}})[0]
    assert limit.holds(2**53) and not limit.holds(2**53 + 1)


def test_an_unknown_figure_is_an_error_and_not_within_any_limit():
    report = pc.count(NETWORK)
    unknown = replace(report, totals=report.totals._replace(params=None))
    assert pc.check(unknown, macs=160) is unknown
    with pytest.raises(pc.ArgumentError, match="`params` is not known here") as refused:
        pc.check(unknown, params={"at_most": "1P"})
    assert refused.value.exit_code == 2


def test_work_that_was_not_counted_is_within_no_budget(tmp_path):
    totals = Figures(*[None] * 8, 100, 200, 30, None, None)
    row = Row("dot", "dot_general", 1, totals, leaf=True, training=Phases(100))
    trace = pc.Trace(Subject("step"), totals, (row,), Phases(100), ("sort in step",))
    assert pc.check(trace, macs={"at_least": 100}) is trace
    trace.save(tmp_path / "step.json")
    for each in (trace, tmp_path / "step.json"):
        for limit in ({"at_most": 100}, {"at_least": 101}, 100):
            with pytest.raises(pc.ArgumentError, match=r"`macs` is not known here: .*\nhint: sort in step"):
                pc.check(each, macs=limit)
        for limit in ({"at_most": 99}, 99):
            with pytest.raises(pc.CheckError, match="step: macs"):
                pc.check(each, macs=limit)
    assert pc.check(replace(trace, uncounted=()), macs=100, flops={"at_most": 200}).macs == 100
