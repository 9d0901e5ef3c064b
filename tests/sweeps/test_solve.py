"""The largest value within a budget, at the budget itself and just below it."""

import pytest

import paramcount as pc


@pytest.mark.parametrize(("most", "value"), [(3_504_872, 1.0), (3_504_871, 0.98)])  # 0.99 rounds to the channels of 1
def test_a_budget_may_be_used_up(most, value):
    found = pc.solve("mobilenet_v2", "width", {"params": most}, low=0.9, high=1.0)
    assert found.value == value and found.report.params <= most
