"""The largest value within a budget, at the budget itself and just below it."""

import pytest

import paramcount as pc
from paramcount.language.load import fresh_syntax


@pytest.mark.parametrize(("most", "value"), [(3_504_872, 1.0), (3_504_871, 0.98)])  # 0.99 rounds to the channels of 1
def test_a_budget_may_be_used_up(most, value):
    found = pc.solve("mobilenet_v2", "width", {"params": most}, low=0.9, high=1.0)
    assert found.value == value and found.report.params <= most


def test_variables_of_any_name():
    names = ("at_most", "variant", "low", "high", "step", "vars", "spec", "variable", "file")
    written = ", ".join(f"{each}: 1" for each in names)
    spec = f"{{input: {{features: 1}}, vars: {{n: 1, {written}}}, layers: [dense: n + {' + '.join(names)}]}}"
    for name in names:
        found = pc.solve(fresh_syntax(spec, "<text>"), "n", {"params": 100}, vars={name: 11})
        assert (found.value, found.report.params) == (31, 100)  # 2 (31 + 11 + 8)


def test_the_variable_to_solve_for_cannot_be_set():
    for given in ({"width": 2}, {"vars": {"width": 2}}):
        with pytest.raises(pc.ArgumentError, match="`width` is solved for, and cannot be set"):
            pc.solve("mobilenet_v2", "width", {"macs": 3e8}, **given)


def test_a_budget_is_compared_exactly():
    """2 (2 ** 52 + 1) parameters are two more than the budget, which a float64 would round."""
    spec = fresh_syntax("{input: {features: 1}, vars: {n: 1}, layers: [dense: 4503599627370496 + n]}", "<text>")
    assert pc.solve(spec, "n", {"params": 2.0**53 + 2}, low=0, high=5).value == 1
    assert pc.solve(spec, "n", {"params": 2.0**53 + 4}, low=0, high=5).value == 2
    spec = fresh_syntax("{input: {features: 2}, vars: {n: 1}, layers: [dense: 3002399751580330 + n]}", "<text>")
    assert pc.solve(spec, "n", {"params": 2.0**53}, low=0, high=5).value == 0  # 3 · 3002399751580331 is 2 ** 53 + 1
