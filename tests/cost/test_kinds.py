"""The sheets of `paramcount kinds`: examples that are counted, and text that fits a terminal or is whole."""

import csv
import io

import pytest

from paramcount.cost.count import count
from paramcount.cost.kinds import counts_of, kind_sheet, list_sheet
from paramcount.errors import ArgumentError
from paramcount.graph.bodies import Each, Moe, Scan
from paramcount.graph.items import Do, From, Gate, Let, Residual
from paramcount.graph.loops import Repeat
from paramcount.language.description import BLOCK, MODIFIER, STRUCTURE, describe, families
from paramcount.language.load import loads
from paramcount.language.shipped import block_class
from paramcount.layers import find
from paramcount.render.table import render
from paramcount.render.writing import rendered

WORDS = [word for words in families().values() for word in words]


def layer(kind, *positional, **named):
    found = find(kind)
    assert found is not None
    return found(*positional, **named)


def conv(*positional):
    return layer("conv", *positional)


def dense(out, **named):
    return layer("dense", out, **named)


# The same networks in Python, from the classes, and their figures by hand: params, MACs.
SAME = {
    "do": (
        lambda: Repeat(2, [Do([conv(16, 3), layer("relu")])]),
        (32, 32, 3),
        9 * 3 * 16 + 9 * 16 * 16,
        32 * 32 * (9 * 3 * 16 + 9 * 16 * 16),
    ),
    "residual": (
        lambda: [
            Residual([conv(32, 3), layer("relu"), conv(32, 3)]),
            Residual([layer("pointwise", 64)], condition=False),
        ],
        (28, 28, 32),
        2 * 9 * 32 * 32 + 32 * 64,
        (2 * 9 * 32 * 32 + 32 * 64) * 28 * 28,
    ),
    "gate": (
        lambda: Gate([layer("global_pool"), dense(16), layer("relu"), dense(64), layer("sigmoid")]),
        (28, 28, 64),
        64 * 16 + 16 + 16 * 64 + 64,
        2 * 64 * 16,
    ),
    "let": (
        lambda: [
            Let({"gate": [dense(64), layer("sigmoid")], "value": [dense(64)]}),
            layer("multiply", ["gate", "value"]),
        ],
        (50, 64),
        2 * (64 * 64 + 64),
        2 * 50 * 64 * 64,
    ),
    "each": (
        lambda: [Each("t h w c -> t | h w c", [conv(8, 3), layer("global_pool")]), dense(4)],
        (8, 32, 32, 3),
        9 * 3 * 8 + 8 * 4 + 4,
        8 * (9 * 3 * 8 * 32 * 32 + 8 * 4),
    ),
    "scan": (
        lambda: Scan(
            carry={"h": [64]},
            body=[layer("add", [[dense(64)], [From("h"), dense(64)]]), layer("tanh")],
            next={"h": "prev"},
        ),
        (100, 32),
        32 * 64 + 64 + 64 * 64 + 64,
        100 * (32 * 64 + 64 * 64),
    ),
    "moe": (
        lambda: Moe(experts=8, top_k=2, body=[dense(64), layer("gelu"), dense(32)]),
        (16, 32),
        8 * (32 * 64 + 64 + 64 * 32 + 32) + 32 * 8,
        16 * (2 * 2 * 32 * 64 + 32 * 8),
    ),
    "attention": (
        lambda: block_class("attention")(8, kv_heads=2, causal=True),
        (10, 64),
        2 * (64 * 64 + 64) + 2 * (64 * 16 + 16),
        10 * (2 * 64 * 64 + 2 * 64 * 16) + 2 * 10 * 10 * 64,
    ),
    "basic_unit": (
        lambda: block_class("basic_unit")(128, stride=2),
        (56, 56, 64),
        9 * 64 * 128 + 9 * 128 * 128 + 64 * 128 + 3 * 2 * 128,
        28 * 28 * (9 * 64 * 128 + 9 * 128 * 128 + 64 * 128),
    ),
    "bottleneck": (
        lambda: block_class("bottleneck")(24, expand=6, stride=2),
        (112, 112, 16),
        16 * 96 + 9 * 96 + 96 * 24 + 2 * (96 + 96 + 24),
        112 * 112 * 16 * 96 + 56 * 56 * (9 * 96 + 96 * 24),
    ),
    "bottleneck_unit": (
        lambda: block_class("bottleneck_unit")(256),
        (56, 56, 64),
        64 * 64 + 9 * 64 * 64 + 2 * 64 * 256 + 2 * (64 + 64 + 256 + 256),
        56 * 56 * (64 * 64 + 9 * 64 * 64 + 2 * 64 * 256),
    ),
    "ffn": (lambda: block_class("ffn")(256), (10, 64), 2 * 64 * 256 + 256 + 64, 10 * 2 * 64 * 256),
    "inverted_residual": (
        lambda: block_class("inverted_residual")(40, 120, kernel=5, squeeze=32),
        (28, 28, 40),
        2 * 40 * 120 + 25 * 120 + 2 * (120 + 120 + 40) + 2 * 120 * 32 + 32 + 120,
        28 * 28 * (2 * 40 * 120 + 25 * 120) + 2 * 120 * 32,
    ),
    "separable": (
        lambda: block_class("separable")(64),
        (112, 112, 32),
        9 * 32 + 32 * 64 + 2 * (32 + 64),
        112 * 112 * (9 * 32 + 32 * 64),
    ),
    "squeeze_excite": (
        lambda: block_class("squeeze_excite")(16),
        (56, 56, 64),
        2 * 64 * 16 + 16 + 64,
        2 * 64 * 16,
    ),
}
# By hand alone, for what has no class of its own: params, MACs, elementwise operations.
BY_HAND = {
    "pop": (9 * 3 * 16 + 4 * 16 * 16, 64 * 64 * 9 * 3 * 16 + 32 * 32 * 4 * 16 * 16, 32 * 32 * 16 * 4),
    "activate": (32 * 16 + 16 + 16 * 8 + 8, 32 * 16 + 16 * 8, 16 + 8 + 16),
    "for": (9 * 32 * 64 + 9 * 64 * 128, 28 * 28 * (9 * 32 * 64 + 9 * 64 * 128), 0),
    "in": (9 * 32 * 64 + 9 * 64 * 128, 28 * 28 * (9 * 32 * 64 + 9 * 64 * 128), 0),
    "from": (5 * 2 + 2 + 3 * 2 + 2, 5 * 2 + 3 * 2, 2 + 2 + 2),
    "repeat": (12 * (64 * 64 + 64), 12 * 64 * 64, 12 * (64 + 64)),
    "when": (64 * 256, 28 * 28 * 64 * 256, 0),
    "name": (2 * 9 * 8 * 8, 32 * 32 * 2 * 9 * 8 * 8, 32 * 32 * 8),
    "into": (0, 0, 50 * 32),
    "share": (64 * 32 + 32, 2 * 64 * 32, 2 * 32 + 32),
    "push": (9 * 3 * 16, 64 * 64 * 9 * 3 * 16, 32 * 32 * 16 * 4 + 64 * 64 * 16),
    "only": (32 * 32 + 32 + 32 + 32 * 8 + 8, 16 * 32 * 8, 16 * 8),
    "frozen": (9 * 3 * 16 + 9 * 16 * 8, 32 * 32 * (9 * 3 * 16 + 9 * 16 * 8), 0),
    "combine": (6 * 4 + 4 * (6 * 6 + 6), 5 * (6 * 4 + 2 * 6 * 6), 5 * (4 * 5 + 2 * 2) + 5 * 2 * 6 + 5 * 3 * 6),
}


def test_every_example_that_is_not_a_layers_is_worked_out():
    found = families()
    assert {*SAME, *BY_HAND} - {"combine"} == {*found[STRUCTURE], *found[MODIFIER], *found[BLOCK]}


@pytest.mark.parametrize("word", SAME)
def test_an_example_equals_the_same_network_in_python(word):
    make, shape, params, macs = SAME[word]
    report, counts = count(make(), shape), counts_of(describe(word).example)
    assert counts == (counts.output, report.params, report.weights, report.macs, report.elementwise)
    assert (counts.params, counts.macs) == (params, macs)


@pytest.mark.parametrize("word", BY_HAND)
def test_an_example_by_hand(word):
    counts = counts_of(describe(word).example)
    assert (counts.params, counts.macs, counts.elementwise) == BY_HAND[word]


def test_the_example_of_frozen_weights_has_some():
    report = count(loads(describe("frozen").example))
    assert report.trainable == 9 * 16 * 8


def test_counts_of_an_example():
    counts = counts_of("{input: {image: [4, 4, 3]}, layers: [conv: [8, 3], batch_norm]}")
    assert counts == ("4×4×8", 216 + 16, 216, 216 * 16, 2 * 128)
    assert str(counts) == "4×4×8, 232 params, 3,456 MACs"


def test_the_list_as_programs_read_it():
    records = list_sheet().records()
    assert [record["kind"] for record in records] == WORDS
    assert list(records[0]) == ["family", "kind", "sentence"]
    assert records[1] == {
        "family": "convolution",
        "kind": "conv_transpose",
        "sentence": "A transposed convolution over one, two or three spatial axes: a convolution's change of shape, "
        "reversed.",
    }
    assert list_sheet().data() == {"schema": 1, "command": "kinds", "rows": records}


@pytest.mark.parametrize("width", [80, 120])
def test_the_list_fits_a_terminal(width):
    lines = render(list_sheet(), width=width, encoding="utf-8", colour=False).split("\n")
    assert max(map(len, lines)) <= width
    assert lines[1].startswith("convolution     conv                 A convolution over one,")
    assert lines[2].startswith(" " * 37 if width == 80 else " " * 16 + "conv_transpose")  # its family is said once
    words = " ".join(" ".join(lines).split())
    assert "…" not in words and "with norm and activation." in words


@pytest.mark.parametrize("word", WORDS)
def test_a_page_fits_a_terminal_and_is_whole(word):
    found, sheet = describe(word), kind_sheet(word)
    for width in (80, 120):
        text = render(sheet, width=width, encoding="utf-8", colour=False)
        assert max(map(len, text.split("\n"))) <= width
        assert "…" not in text
    whole = render(sheet, encoding="utf-8", colour=False)  # in a pipe
    assert all(each.takes in whole and each.meaning in whole for each in found.arguments)
    lines = whole.split("\n")
    assert all(each in lines for each in (found.sentence, *found.formulas))
    for line in found.example.splitlines():
        assert f"\n    {line}\n" in whole
    assert f" {counts_of(found.example).params:,}\n    weights (bias-free)" in whole


def test_a_page_as_programs_read_it():
    data = kind_sheet("pointwise").data()
    assert (data["schema"], data["command"], data["kind"], data["family"]) == (1, "kinds", "pointwise", "convolution")
    assert data["signature"] == "pointwise: [out, stride=1], by name groups=1 bias=false weight_norm=false"
    assert data["arguments"][0] == {
        "name": "out",
        "takes": "a whole number of at least 1",
        "default": None,
        "meaning": "the channels of the result",
        "required": True,
    }
    assert data["arguments"][1]["default"] == "1" and not data["arguments"][1]["required"]
    assert data["formulas"][0].startswith("Weights: channels / groups × out.")
    assert data["example"] == "input: {image: [5, 4, 3]}\nlayers:\n  - pointwise: 6\n"
    assert data["figures"] == {"output": "5×4×6", "params": 18, "weights": 18, "macs": 360, "elementwise": 0}
    assert kind_sheet("pointwise").records()[1] == {
        "argument": "stride",
        "takes": "a whole number of at least 1, or a list with one for each axis",
        "default": "1",
        "meaning": "the step from one position to the next",
    }


def test_an_unknown_kind():
    with pytest.raises(ArgumentError, match="there is no kind `Dens`"):
        kind_sheet("Dens")


def test_a_page_in_other_formats():
    sheet = kind_sheet("pointwise")
    read = list(csv.reader(io.StringIO(rendered(sheet, "csv"))))
    assert read[0] == ["argument", "takes", "default", "meaning"]
    assert [row[0] for row in read[1:]] == ["out", "stride", "groups", "bias", "weight_norm", "norm", "activation"]
    markdown = rendered(sheet, "markdown").split("\n\n")
    assert markdown[0] == "**pointwise (convolution)**"
    assert markdown[1].startswith("    pointwise: [out, stride=1]\n")
    assert markdown[-3:-1] == ["example:", "    input: {image: [5, 4, 3]}\n    layers:\n      - pointwise: 6"]
    assert "<pre>input: {image: [5, 4, 3]}\nlayers:\n  - pointwise: 6</pre>" in rendered(sheet, "html")
    assert "%       - pointwise: 6" in rendered(sheet, "latex").split("\n")
