"""What a spec expects, beside what is counted."""

import pytest

import paramcount as pc
from paramcount.cost.figures import Figures
from paramcount.language.expect import FIGURES

SPEC = "{name: Net, input: {features: 8}, layers: [dense: 2], expect: EXPECTED}"
PARAMS, MACS, BYTES = 8 * 2 + 2, 8 * 2, 4 * (8 * 2 + 2)


def expecting(text):
    return pc.loads(SPEC.replace("EXPECTED", text))


def test_equal():
    assert pc.check(expecting(f"{{params: {PARAMS}}}")).params == PARAMS


@pytest.mark.parametrize(("expected", "difference"), [(17, "+1"), (19, "-1")])
def test_any_difference_is_an_error(expected, difference):
    with pytest.raises(pc.CheckError) as failed:
        pc.check(expecting(f"{{params: {expected}}}"))
    assert f"params: expected {expected}, counted 18, difference {difference}" in str(failed.value)
    assert failed.value.exit_code == 1


def test_any_figure_may_be_expected():
    assert Figures._fields == FIGURES
    counted = pc.count(expecting("{}")).totals._asdict()
    for name, value in counted.items():
        pc.check(expecting(f"{{{name}: {value}}}"))
        with pytest.raises(pc.CheckError, match=name):
            pc.check(expecting(f"{{{name}: {value + 1}}}"))


@pytest.mark.parametrize(
    "limits",
    [
        *("{at_most: 18}", "{at_least: 18}", "{at_least: 18, at_most: 18}", "{at_most: 1k}", "{at_most: '18'}"),
        *("{at_most: 0.018k}", "{at_most: 2e1}", "{at_most: 3 * 6}", "18", "'18'", "0.018k", "{at_most: 1 k}"),
    ],
)
def test_limits_that_hold(limits):
    assert pc.check(expecting(f"{{params: {limits}}}")).params == PARAMS


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ("{at_most: 17}", "params 18 is over the budget of 17 by 1 (+5.9%)\n  largest: dense0 18"),
        ("{at_least: 19}", "params 18 is below the minimum of 19 by 1 (-5.3%)"),
        ("{at_least: 2k, at_most: 3k}", "params 18 is below the minimum of 2k by 1,982 (-99.1%)"),
        ("{at_most: 0}", "params 18 is over the budget of 0 by 18\n  largest: dense0 18"),
    ],
)
def test_limits_that_do_not_hold(limits, message):
    with pytest.raises(pc.CheckError) as failed:
        pc.check(expecting(f"{{params: {limits}}}"))
    column = SPEC.index("EXPECTED") + len("{params: {at_most: ") + 1 + limits.startswith("{at_least")
    assert str(failed.value) == f"<text>:1:{column}: Net: {message}"


def test_each_limit_has_its_place():
    text = "input: {features: 8}\nlayers: [dense: 2]\nexpect:\n  macs:\n    at_most: 1k\n    at_least: 17\n"
    with pytest.raises(pc.CheckError) as failed:
        pc.check(pc.loads(text, file="net.yaml"))
    assert str(failed.value.position) == "net.yaml:6:15"


def test_all_differences_are_told():
    with pytest.raises(pc.CheckError) as failed:
        pc.check(expecting("{params: 17, macs: {at_most: 15}, param_bytes: {at_most: 1KiB}}"))
    assert str(failed.value).split(": ", 1)[1].splitlines() == [
        "`expect` of `Net` differs from the count",
        "params: expected 17, counted 18, difference +1",
        "  the biggest rows: `dense0` 18",
        "macs 16 is over the budget of 15 by 1 (+6.7%)",
        "  largest: dense0 16",
    ]


def test_what_is_expected_is_of_one_example_in_float32(capsys):
    """Neither a batch nor another type of the parameters changes what a spec stands for."""
    from paramcount.cost.expect import compare

    network = expecting(f"{{macs: {MACS}, flops: {2 * MACS}, activations: 2, param_bytes: {BYTES}}}")
    report = pc.count(network, batch=8, dtype="float16")
    assert (report.macs, report.param_bytes) == (8 * MACS, BYTES // 2)
    assert compare(network, report) == "expect: equal (macs, flops, activations, param_bytes)"


def test_the_outcome_in_one_line():
    from paramcount.cost.expect import compare

    network = expecting("{params: 18, macs: {at_most: 1M, at_least: 1}, flops: {at_most: 1M}}")
    assert compare(network, pc.count(network)) == "expect: equal (params), within limits (macs, flops)"
    network = expecting("{macs: {at_most: 1M}}")
    assert compare(network, pc.count(network)) == "expect: within limits (macs)"


def test_variants_have_limits_of_their_own():
    text = "{input: {features: 8}, vars: {n: 2}, variants: {big: {n: 3}}, layers: [dense: n], "
    text += "expect: {params: {at_most: 18}, variants: {big: {params: {at_most: 26}}}}}"
    pc.check(pc.loads(text))
    with pytest.raises(pc.CheckError, match="params 27 is over the budget of 26"):
        pc.check(pc.loads(text, variant="big"))
    pc.check(pc.loads(text, n=100))  # set by hand: nothing is expected of it
