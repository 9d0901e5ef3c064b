"""Descriptions: every word that a spec can write has one, without a gap, and its example is a spec."""

import re

import pytest

import paramcount as pc
from paramcount.errors import ArgumentError
from paramcount.language import items
from paramcount.language.description import BLOCK, MODIFIER, STRUCTURE, describe, families, parted
from paramcount.language.example import in_a_spec, spelled
from paramcount.language.load import loads
from paramcount.language.modifiers import MODIFIERS
from paramcount.language.vocabulary import FORMS, form, shipped
from paramcount.layers import MODULES, find
from paramcount.layers.attend import Attend
from paramcount.layers.dense import Dense
from paramcount.layers.fields import (
    AxisSizes,
    Check,
    Flag,
    Number,
    Padding,
    Pairs,
    Parts,
    PerAxis,
    Sizes,
    ValuePath,
    Whole,
    Word,
)
from paramcount.layers.layer import FAMILIES, Shape
from paramcount.layers.norm import LayerNorm

WORDS = [*MODULES, *FORMS, *MODIFIERS, *sorted(shipped())]


def test_every_word_that_a_spec_can_write_is_in_one_family():
    found = families()
    assert sorted(word for words in found.values() for word in words) == sorted(WORDS)
    assert list(found) == [*FAMILIES, STRUCTURE, MODIFIER, BLOCK]
    assert all(found.values())
    assert tuple(MODIFIERS) == items.MODIFIERS  # those that the reader knows


@pytest.mark.parametrize("word", WORDS)
def test_nothing_is_missing(word):
    found = describe(word)
    assert found.kind == word and word in families()[found.family]
    assert found.signature.startswith(word)
    assert found.sentence.endswith(".") and len(found.sentence) > 4
    assert found.formulas, "what it counts, or where it comes from"
    for each in found.arguments:
        assert each.takes.strip() and each.takes != Check.allows, each
        assert each.meaning.strip() and not each.meaning.endswith("."), each
    uses = "moe" if word == "combine" else word  # which cannot stand alone
    assert re.search(rf"\b{uses}\b", found.example)


@pytest.mark.parametrize("word", [*MODULES, *FORMS])
def test_arguments_are_those_of_the_class(word):
    kind = find(word) or form(word)
    arguments = {each.name: each for each in describe(word).arguments}
    names = {name: kind.in_specs.get(name, name) for name, _ in kind.checks()}
    assert list(arguments) == list(names.values())
    assert {name for name in names if arguments[names[name]].default is None} == set(kind.required())
    for name, _ in kind.checks():
        assert arguments[names[name]].meaning == kind.__dataclass_fields__[name].metadata["doc"]
        assert f"    {name}: {arguments[names[name]].meaning}" in (kind.__doc__ or "")  # and those of help()


@pytest.mark.parametrize("name", sorted(set(pc.blocks().values())))
def test_arguments_of_blocks_are_those_of_the_file(name):
    from inspect import Parameter, signature

    block = next(getattr(pc, public) for public, each in pc.blocks().items() if each == name)
    parameters = signature(block).parameters
    arguments = {each.name: each for each in describe(name).arguments}
    assert list(arguments) == list(parameters)
    for each, parameter in parameters.items():
        assert (arguments[each].default is None) == (parameter.default is Parameter.empty)
        assert f"    {each}: {arguments[each].meaning}\n" in (block.__doc__ or "")


@pytest.mark.parametrize("word", WORDS)
def test_examples_are_specs_without_warnings(word):
    assert loads(describe(word).example).warnings == []


@pytest.mark.parametrize("kind", [kind for kind in MODULES if kind != "combine"])
def test_the_example_of_a_layer_is_the_first_of_its_class(kind):
    layer_class = find(kind)
    assert layer_class is not None
    settings, *given = layer_class.examples[0]
    layer, shapes = layer_class(**settings), [each if isinstance(each, Shape) else Shape.of(*each) for each in given]
    report = pc.count(loads(describe(kind).example))
    params = layer.params(*shapes).values()
    assert report.params == sum(each.size for each in params if each.role != "buffer")
    assert report.weights == sum(each.size for each in params if each.role in ("weight", "table"))
    assert (report.macs, report.elementwise) == layer.work(*shapes)
    assert [row.kind for row in report.rows] == [kind]


def test_a_layer_and_its_arguments():
    found = describe("conv")
    assert found.family == "convolution"
    assert found.usage == "conv: [out, kernel, stride=1, padding=same]"
    assert found.by_name == ("dilation=1", "groups=1", "bias=false", "weight_norm=false")
    assert found.sentence == "A convolution over one, two or three spatial axes; without a bias by default."
    assert found.formulas[0].startswith("Weights: kernel positions × channels / groups × out. MACs: that × output")
    out, kernel, stride, *_ = found.arguments
    assert out == ("out", "a whole number of at least 1", None, "the channels of the result")
    assert kernel.takes == "a whole number of at least 1, or a list with one for each axis"
    assert (str(out), str(stride)) == ("out", "stride=1")
    assert found.arguments[-2][:3] == ("norm", "a kind that needs no argument, or none", "none")
    assert found.example == "input: {image: [9, 9, 6]}\nlayers:\n  - conv: {out: 8, kernel: 3}\n"


def test_kinds_that_are_written_otherwise():
    assert describe("parameter").signature == "parameter: shape (a list is taken whole), by name init=normal role=table"
    assert describe("let").signature == "let: values (a mapping is taken whole)"
    assert describe("residual").signature == "residual: body (a list is taken whole), by name if=true"
    assert describe("each").signature == "each, by name pattern do with={} sizes of axes"
    assert describe("relu").signature == "relu"
    assert describe("repeat").signature == "repeat: n"
    assert describe("ffn").signature == "ffn: [hidden, activation=gelu, bias=true, out=cin, gated=false]"


def test_an_example_with_several_inputs():
    assert describe("selective_scan").example == (
        "inputs:\n  x: {sequence: [5, 4]}\n  dt: {sequence: [5, 4]}\n  B: {sequence: [5, 3]}\n  C: {sequence: [5, 3]}\n"
        "layers:\n  - {from: x, selective_scan: {step: dt, write: B, read: C}}\n"
    )


def test_what_holds_for_a_whole_module_is_said_of_each_kind():
    assert all("normalizing costs 5" in describe(kind).formulas[-1] for kind in ("layer_norm", "rms_norm"))
    assert "normalizing costs 5" not in " ".join(describe("batch_norm").formulas)


def test_arguments_of_blocks_take_what_their_defaults_show():
    takes = {each.name: each.takes for each in describe("inverted_residual").arguments}
    assert takes["out"] == "a number, or a list"
    assert takes["activation"] == "a kind that needs no argument, or none"
    assert takes["joined"] == "true or false"
    context, position = describe("attention").arguments[-3:-1]
    assert context[:3] == ("context", "a path: a name, prev, or a list of items", "prev")
    assert position[:3] == ("position", "a path: a name, prev, or a list of items, or none", "none")


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (Whole(), "a whole number of at least 1"),
        (Whole(at_least=None), "a whole number"),
        (Sizes(at_least=-1), "a list of whole numbers of at least -1"),
        (PerAxis(gaps=True), "a whole number of at least 1, or a list with one or none for each axis"),
        (Parts(), "a number of equal parts, or a list of their sizes"),
        (Pairs(), "a list of [before, after], one for each axis"),
        (Word("same"), "same"),
        (Word("same", "half", "valid"), "same, half or valid"),
        (Number(), "a number"),
        (Number(at_least=0), "a number of at least 0"),
        (Number(0, 1), "a number from 0 to 1"),
        (Flag(), "true or false"),
        (ValuePath(), "a path: a name, prev, or a list of items"),
        (Check(), "a value"),
    ],
)
def test_checks_in_words(check, words):
    assert check.allows == words


def test_words_of_padding_and_axes_are_those_they_take():
    assert all(word in Padding().allows for word in Padding.words)
    assert "`h: 8`" in AxisSizes().allows


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("max(x, 0). One for each.", ("max(x, 0).", "One for each.")),
        ("One sentence\nin two lines.\n\nMore.", ("One sentence in two lines.", "More.")),
        ("Version 1.5 of it. https://a.b", ("Version 1.5 of it.", "https://a.b")),
        ("No full stop\n\nMore.", ("No full stop", "More.")),
        ("", ("", "")),
    ],
)
def test_the_first_sentence(text, parts):
    assert parted(text) == parts


def test_values_as_specs_write_them():
    assert spelled(((-1, 2), None)) == "[[-1, 2], none]"
    assert spelled({"pattern": "t d, s d -> t s"}) == '{pattern: "t d, s d -> t s"}'
    assert spelled({"pattern": "t (h d) -> t h d", "h": 2}) == "{pattern: t (h d) -> t h d, h: 2}"


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("convolution", "did you mean `conv`?"),
        ("Conv2d", "did you mean `conv`?"),
        ("nn.Linear", "did you mean `dense`?"),
        ("BatchNorm", "did you mean `batch_norm`?"),
        ("repaet", "did you mean `repeat`?"),
        ("Pooling", "a family: max_pool, avg_pool, adaptive_avg_pool, adaptive_max_pool, global_pool"),
        ("activation", "a family: prelu, relu, relu6, "),
        ("dilation", "an argument of conv, conv_transpose, depthwise, max_pool"),
        ("xyzzyx", "`paramcount kinds` lists all kinds"),
        ("", "`paramcount kinds` lists all kinds"),
    ],
)
def test_unknown_words(word, hint):
    with pytest.raises(ArgumentError, match=re.escape(f"there is no kind `{word}`")) as error:
        describe(word)
    assert error.value.hint.startswith(hint)


@pytest.mark.parametrize(
    ("settings", "shapes", "example"),
    [
        ({"out": 6}, [(10,)], "input: {features: 10}\nlayers:\n  - dense: 6\n"),
        (
            {"out": 6, "bias": False},
            [[5, 10]],
            "input: {sequence: [5, 10]}\nlayers:\n  - dense: {out: 6, bias: false}\n",
        ),
        ({"out": 6, "norm": LayerNorm()}, [(10,)], ""),
        ({"out": 6}, [(1, 2, 3, 4, 5)], ""),
        ({"out": 6}, [10], ""),
        ({"out": 6}, [Shape((4,), "tokens")], "input: {tokens: 4}\nlayers:\n  - dense: 6\n"),
    ],
)
def test_examples_that_a_spec_can_write(settings, shapes, example):
    assert in_a_spec(Dense, (settings, *shapes)) == example


@pytest.mark.parametrize("example", [(), {"out": 6}, "out", ("out", (10,)), None, 3])
def test_what_is_not_an_example(example):
    assert in_a_spec(Dense, example) == ""


def test_an_example_without_the_shapes_of_its_values():
    assert in_a_spec(Attend, ({"query": "q", "key": "k", "value": "v"}, (5, 2, 4))) == ""
