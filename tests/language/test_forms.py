"""Layers, blocks and forms take their arguments in one way: whole, in a list, or by name."""

import pytest

import paramcount as pc
from paramcount.errors import ParamcountError
from paramcount.language.signature import signature_of
from paramcount.language.vocabulary import FORMS, form
from paramcount.layers.checked import Checked

SEQUENCE = "input: {sequence: [6, 8]}\nlayers:\n  - "


def figures(item, start=SEQUENCE):
    report = pc.count(pc.loads(start + item + "\n"))
    return report.params, report.macs, report.elementwise, [row.path for row in report.rows]


@pytest.mark.parametrize(
    ("whole", "by_name"),
    [
        ("do: [dense: 4, relu]", "do: {body: [dense: 4, relu]}"),
        ("residual: [dense: 8]", "residual: {body: [dense: 8], if: cin == 8}"),
        ("gate: [dense: 8, sigmoid]", "gate: {path: [dense: 8, sigmoid]}"),
        ("add: [prev, [dense: 8]]", "add: {paths: [prev, [dense: 8]]}"),
        ("concat: [prev, prev]", "concat: {paths: [prev, prev], axis: 1}"),
        ("activate: relu", "activate: {activation: relu}"),
    ],
)
def test_an_argument_stands_alone_or_by_name(whole, by_name):
    assert figures(whole) == figures(by_name)


def test_a_merge_has_a_norm_and_an_activation_as_every_layer():
    paths = "paths: [prev, [dense: {out: 8, bias: false}]]"
    params, macs, elementwise, rows = figures(f"add: {{{paths}, norm: rms_norm, activation: relu}}")
    assert (params, macs) == (8 * 8 + 8, 6 * 8 * 8)
    plain = figures("add: [prev, prev]")
    assert figures("add: {paths: [prev, prev], activation: relu}")[2] == plain[2] + 6 * 8
    assert elementwise == figures(f"do: [add: {{{paths}}}, rms_norm, relu]")[2]
    assert rows == ["add0", "add0.1", "add0.1.dense0", "add0.add", "add0.rms_norm0", "add0.relu0"]


def test_a_merge_has_defaults():
    text = "defaults: {concat: {axis: 0}}\n" + SEQUENCE + "concat: [prev, prev]\n"
    assert pc.loads(text).graph().outputs["output"].shape == pc.Shape.of(12, 8)


def test_a_merge_in_python_is_the_layer_of_the_spec():
    assert pc.Add(["prev", "skip"]) == pc.Add(("prev", "skip"))
    network = pc.Network([pc.Concat(["prev", [pc.Dense(4)]], axis=0 - 1)], input=(6, 8))
    assert [row.path for row in pc.count(network).rows] == figures("concat: [prev, [dense: 4]]")[3]


@pytest.mark.parametrize("word", FORMS)
def test_every_argument_of_a_form_says_what_it_means(word):
    signature = signature_of(form(word))
    assert issubclass(form(word), Checked) and signature.kind == word
    for name, meaning in signature.meanings.items():
        assert meaning.startswith(f"{signature.word(name)}: ") and len(meaning) > len(name) + 10


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("do: {dense: 8}", "3:10: `do` has no argument `dense`\nhint: put it into a list: `do: [dense: 8]`"),
        ("do: relu", "3:9: `do` takes a list of layers, not `relu`"),
        ("add: prev", "3:10: `add` takes a list of paths, not `prev`\nhint: write `add: [prev"),
        ("add", "3:5: `add` needs `paths`\nhint: paths: where the values come from"),
        ("residual: {if: true}", "3:5: `residual` needs `body`\nhint: body: the items"),
        ("residual: {bdy: [relu]}", "3:16: `residual` has no argument `bdy`\nhint: did you mean `body`?"),
        ("residual: {if: 3, body: [relu]}", "3:20: if must be true or false, not `3`\nhint: if: whether it is added"),
        ("each: [relu]", "3:11: `each` takes no positional argument\nhint: write `each: {pattern"),
        ("each: {pattern: t d -> t | d}", "3:5: `each` needs `do`\nhint: do: the items that run on each piece"),
        ("each: {pattern: , do: [relu]}", "`pattern` takes text, not nothing"),
        ("let: relu", "3:10: `let` must be a mapping of names"),
        ("pop: {stack: [a]}", "3:18: `stack` must be a word, not a list"),
        ("moe: {experts: 0, top_k: 1, body: [relu]}", "3:20: experts must be at least 1, not 0"),
        ("moe: {experts: 4, top_k: 1, body: [relu], router: sofmax}", "unknown router `sofmax`\nhint: did you mean"),
        ("moe: {experts: cin / 3, top_k: 1, body: [relu]}", "is not a whole number (`cin / 3` is 8 / 3)"),
    ],
)
def test_what_is_wrong_with_a_form(item, words):
    with pytest.raises(ParamcountError) as caught:
        pc.loads(SEQUENCE + item + "\n", file="spec.yaml")
    assert words in str(caught.value)


def test_several_mistakes_in_a_form_are_all_reported():
    with pytest.raises(ParamcountError) as caught:
        pc.loads(SEQUENCE + "each: {pattern: [t], do: [dnse: 3], with: {y: [t]}}\n", file="spec.yaml")
    assert [str(error.position) for error in caught.value.errors] == [  # type: ignore[attr-defined]
        "spec.yaml:3:21",
        "spec.yaml:3:31",
        "spec.yaml:3:51",
    ]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: pc.Moe(0, 1, []), "experts must be at least 1, not 0"),
        (lambda: pc.Moe(4, 1, [], router="relu"), "unknown router `relu`\nhint: one of softmax, sigmoid"),
        (lambda: pc.Residual([], condition="yes"), "condition must be true or false, not `yes`\nhint: if: whether"),
        (lambda: pc.Each(3, []), "pattern must be text, not `3`\nhint: pattern: the axes"),
        (lambda: pc.Each("t d -> t | d", [], {"d": 0}), "d must be at least 1, not 0"),
        (lambda: pc.Scan({"h": [4]}, [], {}), "`scan` carries `h` and does not say what is next"),
        (lambda: pc.Scan({"h": [4]}, [], {"h": "prev", "g": "prev"}), "`g` is not carried"),
        (lambda: pc.Repeat(2, [], share=1), "share must be true or false, not `1`"),
    ],
)
def test_a_form_in_python_is_checked_when_it_is_made(made, words):
    with pytest.raises(ParamcountError, match=words):
        made()


def test_a_form_does_not_share_its_default():
    first, second = pc.Each("t d -> t | d", []), pc.Each("t d -> t | d", [])
    assert first.along == {} and first.along is not second.along
