"""Paths: no two layers have the same one, so that no two tensors do."""

import pytest

import paramcount as pc
from paramcount.graph.tree import leaves
from paramcount.language.load import loads


def paths(network):
    return [leaf.path for leaf in leaves(network.graph())]


def test_a_given_name_keeps_others_from_it():
    network = pc.Network([pc.With(pc.Dense(5), name="dense0"), pc.Dense(5)], input=5)
    assert paths(network) == ["dense0", "dense0_"]
    assert pc.count(network).params == 2 * (5 * 5 + 5)


def test_a_name_that_was_generated_before_it_is_given():
    network = pc.Network([pc.Dense(5), pc.With(pc.Dense(5), name="dense0")], input=5)
    assert paths(network) == ["dense0", "dense0_"]


@pytest.mark.parametrize(
    "item",
    [
        "{from: [dense: 6]}",
        "{unit: {side: [dense: 6]}}",
        "einsum: {pattern: 'd, d -> d', paths: [prev, [dense: 6]]}",
    ],
)
def test_items_written_where_a_value_is_taken_have_paths_of_their_own(item):
    network = loads(
        f"""
        input: {{features: 6}}
        blocks: {{unit: {{inputs: [side], layers: [add: [prev, side]]}}}}
        layers: [{item}, {item}]
        """
    )
    found = paths(network)
    assert len(set(found)) == len(found)
    assert pc.count(network).params == 2 * (6 * 6 + 6)
