"""A learned tensor on its own counts as what it is said to be."""

import pytest

import paramcount as pc
from paramcount.errors import ArgumentError

COUNTED = {"weight": "weights", "table": "tables", "bias": "biases", "norm": "norms", "buffer": "buffers"}


@pytest.mark.parametrize("role", COUNTED)
def test_the_role_says_where_it_counts(role):
    """A tensor of 3 · 8 that is added to what arrives."""
    report = pc.count([pc.Add(["prev", [pc.Parameter([3, 8], role=role)]])], (3, 8))
    assert getattr(report, COUNTED[role]) == 24
    assert report.params == report.trainable == (0 if role == "buffer" else 24)
    assert report.weights == (24 if role in ("weight", "table") else 0)
    assert sum(getattr(report, figure) for figure in COUNTED.values() if figure != "weights") == 24 * (role != "weight")


def test_it_is_a_table_unless_said_otherwise():
    assert pc.count([pc.Add(["prev", [pc.Parameter([8])]])], (3, 8)).tables == 8


def test_a_norm_by_hand_counts_as_the_layer():
    hand = """
    input: {sequence: [5, 8]}
    layers:
      - layer_norm: {affine: false}
      - multiply: [prev, [parameter: {shape: [8], init: ones, role: norm}]]
      - add: [prev, [parameter: {shape: [8], init: zeros, role: norm}]]
    """
    by_hand, layer = pc.count(pc.loads(hand)), pc.count([pc.LayerNorm()], (5, 8))
    for figure in ("params", "weights", "norms", "tables", "elementwise"):
        assert getattr(by_hand, figure) == getattr(layer, figure)


def test_another_role():
    with pytest.raises(ArgumentError, match=r"unknown role `biass`\nhint: did you mean `bias`\?"):
        pc.Parameter([8], role="biass")
