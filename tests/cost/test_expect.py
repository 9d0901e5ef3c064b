"""What a spec expects, beside what is counted."""

import pytest

import paramcount as pc

SPEC = "{input: {features: 8}, layers: [dense: 2], expect: {params: NUMBER}}"


def test_equal():
    assert pc.check(pc.loads(SPEC.replace("NUMBER", "18"))).params == 8 * 2 + 2


@pytest.mark.parametrize(("expected", "difference"), [(17, "+1"), (19, "-1")])
def test_any_difference_is_an_error(expected, difference):
    network = pc.loads(SPEC.replace("NUMBER", str(expected)))
    with pytest.raises(pc.CheckError) as failed:
        pc.check(network)
    assert f"params: expected {expected}, counted 18, difference {difference}" in str(failed.value)
    assert failed.value.exit_code == 1
