"""Iterations that are several elements: the items of a path stand beside what they lead to."""

import pytest

import paramcount as pc
from paramcount.graph.tree import leaves

SEQUENCE = "input: {sequence: [6, 4]}\nblocks: {unit: {inputs: [side], layers: [add: [prev, side]]}}\nlayers:\n"
ITEMS = [
    "einsum: {pattern: 't c, t c -> t c', paths: [prev, [dense: 4]]}",
    "unit: {side: [dense: 4, relu]}",
    "attention: {heads: 2, context: [dense: 4]}",
    "gru: {hidden: 4, state: [dense: 4, pick: 0]}",
    "scan: {carry: {h: [dense: 4, pick: 0]}, do: [dense: 4, add: [prev, h]], next: {h: prev}}",
    "add: {paths: [prev, [dense: 4]], norm: layer_norm}",
    "gate: [dense: 4]",
]


def network(item):
    return pc.loads(f"{SEQUENCE}  - {item}\n")


def paths(network):
    return [leaf.path for leaf in leaves(network.graph())]


@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("loop", ["repeat: 3", "repeat: 3, share: true", "for: x, in: 3", "for: x, in: 3, repeat: 1"])
def test_an_item_counts_as_it_does_in_a_list_of_its_own(item, loop):
    alone, listed = network(f"{{{loop}, {item}}}"), network(f"{{{loop}, do: [{item}]}}")
    assert pc.count(alone).totals == pc.count(listed).totals
    assert pc.memory_of(alone) == pc.memory_of(listed)
    found = paths(alone)
    assert len(found) == len(paths(listed)) == len(set(found)) or "share" in loop


def test_where_an_iteration_starts_is_a_part_of_it():
    alone = network("{for: x, in: 2, from: [dense: 4], dense: 4}")
    assert pc.count(alone).params == 2 * 2 * (4 * 4 + 4)
    assert paths(alone) == [f"dense0[{index}].{name}" for index in range(2) for name in ("from0.dense0", "dense0")]


def test_weights_are_shared_between_iterations_that_are_several_elements():
    item = "{for: x, in: 2, unit: {side: [{dense: 4, share: key}]}}"
    report = pc.count(network(item))
    assert report.params == 4 * 4 + 4 and report.macs == 2 * 6 * 4 * 4


@pytest.mark.parametrize("item", [*ITEMS, "from: [dense: 4]\n    dense: 4"])
def test_jax_runs_all_of_an_iteration(item):
    verification = pc.verify(network(f"for: x\n    in: 2\n    {item}"), abstract=True, train=True)
    assert verification.ok, str(verification)


def test_an_iteration_of_one_element_has_no_name_of_its_own():
    report = pc.count(pc.Network([pc.Repeat(2, [pc.Dense(4)])], input=4))
    assert [row.path for row in report.rows] == ["dense0[0:2]"]


@pytest.mark.parametrize(
    ("items", "rows"),
    [
        (
            "{for: k, in: 2, do: [{dense: 8}, relu], name: 'stage{k}'}, {add: [stage0, stage1]}",
            ["stage0", "stage0.dense0", "stage0.relu0", "stage1", "stage1.dense0", "stage1.relu0", "add0"],
        ),
        ("{repeat: 2, dense: 8, name: 'x{i}'}, {add: [x0, x1]}", ["x0", "x1", "add0"]),
        (
            "{for: r, in: 2, repeat: 2, dense: 8, name: 'row{r}'}, {add: [row0, row1]}",
            ["row0[0:2]", "row1[0:2]", "add0"],
        ),
        (
            "{repeat: 2, do: [{repeat: 2, dense: 8, name: 'x{i}'}, {add: [x0, x1]}]}",
            ["do0[0:2]", "do0[0:2].x0", "do0[0:2].x1", "do0[0:2].add0"],
        ),
        ("{repeat: 2, dense: 8, name: last}, {add: [prev, last]}", ["last[0:2]", "add0"]),
        ("{repeat: 3, dense: 8, name: 'x{i}', when: i != 1}, {add: [x0, x2]}", ["x0", "x2", "add0"]),
        ("{let: {a: [dense: 8]}, name: mine}, {add: [a, prev]}", ["mine", "mine.a", "mine.a.dense0", "add0"]),
    ],
)
def test_an_iteration_is_called_by_the_name_that_it_is_given(items, rows):
    network = pc.loads(f"{{input: {{features: 8}}, layers: [{items}]}}")
    report = pc.count(network)
    assert [row.path for row in report.rows] == rows
    assert sum(row.params for row in report.rows if row.leaf) == report.params
    params, _ = network.init()
    assert set(params) == {leaf.owner for leaf in leaves(network.graph()) if leaf.node.params()}
    assert pc.verify(network, train=True).ok


def test_an_iteration_is_frozen_by_its_name():
    network = pc.loads("{input: {features: 8}, layers: [{repeat: 2, dense: 8, name: 'x{i}'}, {add: [x0, x1]}]}")
    assert pc.count(network, train=True, freeze=["x1"]).trainable == 8 * 8 + 8
    shared = "{input: {features: 8}, layers: [{repeat: 2, share: true, dense: 8, name: 'x{i}'}, {add: [x0, x1]}]}"
    assert pc.count(pc.loads(shared), train=True, freeze=["x0"]).trainable == 0
