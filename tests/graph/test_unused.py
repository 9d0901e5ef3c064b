"""Work that reaches no output: named in one sentence, whatever the forms around it, and nothing else is."""

import pytest

import paramcount as pc
from paramcount.errors import ParamcountError

DENSE = pc.Dense


def named(items, input=8, **settings):
    """The rows that the warning names; none without one."""
    network = pc.Network(items, **({"input": input} if input else {}), **settings)
    found = [each for each in network.warnings if "output and" in each]
    assert len(found) <= 1 and list(pc.count(network).warnings) == network.graph().warnings
    return found[0].split(" reach")[0].replace("`", "").split(" and ") if found else []


def kept(name="x"):
    return pc.With(name=name)


def test_a_layer_before_another_start():
    assert named([kept(), DENSE(1000), pc.From("x"), DENSE(10)]) == ["dense0"]
    assert named([kept(), DENSE(1000), DENSE(5), pc.From("x"), DENSE(10)]) == ["dense0", "dense1"]
    assert named([DENSE(1000), DENSE(10)]) == []


def test_a_group_is_named_as_one_and_its_layers_alone():
    assert named([kept(), pc.Residual([DENSE(8), pc.Relu()]), pc.From("x"), DENSE(10)]) == ["residual0"]
    inner = pc.Do([kept("y"), DENSE(5), pc.From("y"), DENSE(8)])
    assert named([inner]) == ["do0.dense0"]


def test_many_rows_are_counted_not_listed():
    (warning,) = pc.Network([kept(), *[DENSE(8) for _ in range(9)], pc.From("x")], input=8).warnings
    assert "`dense4` and 4 more reach no output" in warning


def test_loops():
    """In a loop that goes on from what arrived, only the last dense layer of an iteration is used."""
    body = [kept("y"), DENSE(8), pc.From("y"), DENSE(8)]
    assert named([pc.Repeat(3, body)]) == ["do0[0:3].dense0"]
    assert named([pc.Repeat(3, [pc.Residual([DENSE(8)])])]) == []
    assert named([kept(), pc.Repeat(3, [DENSE(8)]), pc.From("x")]) == ["dense0"]
    assert named([pc.Repeat(3, [DENSE(8)], share=True)]) == []
    assert named([pc.Repeat(2, [pc.Repeat(3, body), DENSE(8)])]) == ["do0[0:2].do0[0:3].dense0"]
    steps = [DENSE(8), pc.With(pc.Do([DENSE(8)]), name="kept"), pc.From("prev")]
    assert named([pc.Repeat(2, steps)]) == []


def test_iterations_are_called_by_their_names():
    """Both as a whole, and where one layer in each is lost."""
    text = "{{input: {{features: 8}}, layers: [{{name: x}}, {{for: s, in: 2, do: [{}], name: 'stage{{s}}'}}, {}]}}"
    whole = pc.loads(text.format("{dense: 8 + s}", "{from: x, dense: 3}"))
    part = pc.loads(
        text.format(
            "{name: y}, {dense: 8 + s}, {from: y, dense: 5 + s}", "{dense: 3}, {add: [prev, [from: x, dense: 3]]}"
        )
    )
    for network, paths in ((whole, ["stage0", "stage1"]), (part, ["stage0.dense0", "stage1.dense0"])):
        (found,) = network.warnings
        assert [path for path in found.split("`")[1::2] if path.startswith("stage")] == paths
        assert set(paths) <= {row.path for row in pc.count(network).rows}


def test_bodies():
    dead = [kept("y"), DENSE(3), pc.From("y"), DENSE(8)]
    assert named([pc.Each("t d -> t | d", dead)], (5, 8)) == ["each0.dense0"]
    assert named([pc.Moe(4, 2, [DENSE(8), *dead])], (5, 8)) == ["moe0.dense1"]
    assert named([kept(), pc.Moe(4, 2, [DENSE(8)]), pc.From("x"), DENSE(3)], (5, 8)) == ["moe0"]
    state = {"carry": {"h": [8], "unused": [8]}, "next": {"h": "prev", "unused": [DENSE(8)]}}
    scan = pc.Scan(body=[DENSE(8), pc.Add(["prev", "h"])], **state)
    assert named([scan], (5, 8)) == ["scan0.next_unused"]
    chain = {"carry": {"a": [8], "b": [8], "c": [8]}, "next": {"a": "b", "b": "c", "c": [pc.From("c"), DENSE(8)]}}
    assert named([pc.Scan(body=[pc.Add(["prev", "a"])], **chain)], (5, 8)) == []


def test_a_layer_with_several_results_is_used_if_one_of_them_is():
    assert named([pc.With(pc.LSTM(6), into=["steps", "_last", "_cell"])], (5, 8)) == []
    assert named([pc.With(pc.Split(2), into=["left", "_right"]), DENSE(3)]) == []


def test_outputs_and_training_reach():
    heads = [pc.With(DENSE(5), name="a"), pc.From("prev"), pc.With(DENSE(3), name="b")]
    assert named([pc.Let({"a": [DENSE(5)], "b": [DENSE(3)]})], outputs=["a", "b"]) == []
    assert named(heads, outputs=["a"]) == ["b"]
    auxiliary = pc.With(pc.Let({"early": [DENSE(4)]}), only="training")
    assert named([DENSE(6), auxiliary, pc.With(DENSE(3), name="late")], outputs=["late", "early"]) == []
    assert named([pc.With(DENSE(8), only="training"), DENSE(3)]) == []
    lost = pc.With(pc.Let({"early": [DENSE(4)], "_lost": [DENSE(4)]}), only="training")
    assert named([lost, pc.With(DENSE(3), name="late")], outputs=["late", "early"]) == ["let0._lost"]


def test_a_value_that_only_training_uses_is_used():
    items = [pc.Let({"side": [DENSE(4)]}), pc.With(pc.Let({"early": [pc.From("side"), DENSE(2)]}), only="training")]
    assert named([*items, pc.With(DENSE(3), name="late")], outputs=["late", "early"]) == []


def test_a_name_that_nothing_uses_is_one_warning():
    spec = "{input: {features: 8}, layers: [{let: {a: [dense: 9], _b: [dense: 7]}}, {name: c}, dense: 2]}"
    assert pc.loads(spec, file="net.yaml").warnings == [
        "net.yaml:1:40: the name `a` is never used",
        "net.yaml:1:80: the name `c` is never used",
        "net.yaml: `let0._b` reaches no output and is counted: use the result, list it under `outputs`, or "
        "mark it `only: stored`",
    ]


def test_weights_that_others_use_are_not_unused():
    """An embedding whose table is the matrix of a dense layer, and whose own look-ups are dropped."""
    table = pc.With(pc.Embedding(11, 8), name="table")
    inputs = {"words": {"tokens": [5]}, "x": (5, 8)}
    items = [pc.From("words"), table, pc.From("x"), DENSE(11, bias=False, tied="table")]
    assert named(items, None, inputs=inputs) == []


def test_what_is_only_stored_is_not_used_by_anything():
    assert named([pc.With(DENSE(100), only="stored"), DENSE(3)]) == []
    items = [pc.With(pc.Parameter([8]), name="mask", only="stored"), pc.Add(["prev", "mask"])]
    with pytest.raises(ParamcountError, match="`mask` is stored only"):
        pc.count(items, 8)
