"""The shipped blocks: weights, norms and MACs worked out by hand, and where a residual is added."""

from pathlib import Path

import pytest
import yaml

from paramcount.cost.count import count
from paramcount.errors import ParamcountError
from paramcount.language.load import load, loads

BLOCKS = sorted((Path(__file__).resolve().parents[2] / "paramcount" / "language" / "blocks").glob("*.yaml"))


@pytest.fixture
def counted(tmp_path):
    def read(shape, item):
        path = tmp_path / "spec.yaml"
        path.write_text(f"input: {shape}\nlayers: [{item}]")
        return count(load(str(path)))

    return read


@pytest.mark.parametrize("path", BLOCKS, ids=lambda path: path.stem)
def test_a_file_holds_the_block_of_its_name_and_its_source(path):
    text = path.read_text()
    assert list(yaml.safe_load(text)) == ["blocks", "input", "layers"]  # a spec: the block, and an example of it
    assert list(yaml.safe_load(text)["blocks"]) == [path.stem]
    assert text.startswith("# ") and "https://" in text


CASES = {
    "an inverted residual that widens, filters and narrows": (
        "{image: [112, 112, 16]}",
        "bottleneck: {out: 24, expand: 6, stride: 2}",
        {
            "weights": 16 * 96 + 9 * 96 + 96 * 24,
            "norms": 2 * (96 + 96 + 24),
            "biases": 0,
            "macs": 16 * 96 * 112**2 + 9 * 96 * 56**2 + 96 * 24 * 56**2,
        },
    ),
    "one that does not widen": (
        "{image: [8, 8, 16]}",
        "bottleneck: [16, 1, 1, 5]",
        {"weights": 25 * 16 + 16 * 16, "norms": 2 * 32, "macs": (25 * 16 + 16 * 16) * 64},
    ),
    "one that weighs its channels": (
        "{image: [8, 8, 16]}",
        "bottleneck: {out: 24, squeeze: 4}",
        {
            "weights": 16 * 96 + 9 * 96 + 2 * 96 * 4 + 96 * 24,
            "biases": 4 + 96,
            "macs": (16 * 96 + 9 * 96 + 96 * 24) * 64 + 2 * 96 * 4,
        },
    ),
    "attention": (
        "{sequence: [10, 64]}",
        "attention: 8",
        {
            "weights": 4 * 64 * 64,
            "biases": 4 * 64,
            "macs": 4 * 10 * 64 * 64 + 2 * 10 * 10 * 64,
            # Biases, and 6 for each score.
            "elementwise": 4 * 10 * 64 + 6 * 8 * 10 * 10,
        },
    ),
    "attention with fewer keys, norms and rotary positions": (
        "{sequence: [10, 64]}",
        "attention: {heads: 6, kv_heads: 2, head_dim: 16, bias: false, rope: true, qk_norm: true, out: 32}",
        {
            "weights": 64 * 96 + 2 * 64 * 32 + 96 * 32,
            "biases": 0,
            "norms": 2 * 16,
            "macs": 10 * (64 * 96 + 2 * 64 * 32 + 96 * 32) + 2 * 6 * 10 * 10 * 16,
            # A norm with its scale and a turn for each query and key, and 6 for each score.
            "elementwise": (4 + 3) * 10 * (96 + 32) + 6 * 6 * 10 * 10,
        },
    ),
    "one without norm and activation": (
        "{image: [8, 8, 4]}",
        "bottleneck: {out: 8, norm: none, activation: none}",
        {"params": 4 * 24 + 9 * 24 + 24 * 8, "norms": 0, "elementwise": 0},
    ),
    "squeeze and excite": (
        "{image: [7, 7, 64]}",
        "squeeze_excite: 16",
        {"params": 64 * 16 + 16 + 16 * 64 + 64, "macs": 2 * 64 * 16, "activations": 64 + 2 * 16 + 2 * 64 + 49 * 64},
    ),
    "separable": (
        "{image: [112, 112, 64]}",
        "separable: [128, 2]",
        {"weights": 9 * 64 + 64 * 128, "norms": 2 * (64 + 128), "macs": (9 * 64 + 64 * 128) * 56**2},
    ),
    "a basic unit with a projection": (
        "{image: [56, 56, 64]}",
        "basic_unit: [128, 2]",
        {
            "weights": 9 * 64 * 128 + 9 * 128 * 128 + 64 * 128,
            "norms": 2 * 3 * 128,
            "macs": (9 * 64 * 128 + 9 * 128 * 128 + 64 * 128) * 28**2,
        },
    ),
    "a basic unit without one": (
        "{image: [56, 56, 64]}",
        "basic_unit: 64",
        {"weights": 2 * 9 * 64 * 64, "norms": 2 * 2 * 64},
    ),
    "a bottleneck unit, its stride on the middle": (
        "{image: [56, 56, 256]}",
        "bottleneck_unit: [512, 2]",
        {
            "weights": 256 * 128 + 9 * 128 * 128 + 128 * 512 + 256 * 512,
            "norms": 2 * (128 + 128 + 512 + 512),
            "macs": 256 * 128 * 56**2 + (9 * 128 * 128 + 128 * 512 + 256 * 512) * 28**2,
        },
    ),
    "a ResNeXt unit": (
        "{image: [56, 56, 256]}",
        "bottleneck_unit: {out: 256, mid: 128, groups: 32}",
        {"weights": 256 * 128 + 9 * 4 * 128 + 128 * 256, "norms": 2 * (128 + 128 + 256)},
    ),
    "ffn": (
        "{sequence: [10, 64]}",
        "ffn: 256",
        {"params": 64 * 256 + 256 + 256 * 64 + 64, "macs": 10 * 2 * 64 * 256},
    ),
    "a gated ffn, on an image": (
        "{image: [4, 5, 64]}",
        "ffn: {hidden: 256, activation: silu, bias: false, gated: true, out: 32}",
        {"params": 2 * 64 * 256 + 256 * 32, "macs": 20 * (2 * 64 * 256 + 256 * 32)},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_counts_by_hand(counted, case):
    shape, item, right = CASES[case]
    report = counted(shape, item)
    assert {name: getattr(report, name) for name in right} == right


@pytest.mark.parametrize(
    ("item", "adds"),
    [
        ("bottleneck: 16", True),
        ("bottleneck: 24", False),
        ("bottleneck: {out: 16, stride: 2}", False),
        ("basic_unit: 16", True),
        ("basic_unit: [16, 2]", True),
        ("bottleneck_unit: 64", True),
        ("separable: 16", False),
    ],
)
def test_where_the_input_is_added(counted, item, adds):
    leaves = [row.kind for row in counted("{image: [8, 8, 16]}", item).rows if row.leaf]
    assert ("add" in leaves) == adds


def test_a_condition_asks_whether_an_input_is_given():
    """Its name is `none` in expressions where it is not given, also where the block around has none to hand on."""
    text = """
input: {features: 8}
blocks:
  inner: {inputs: {more: none}, layers: [{dense: 4, when: more != none}, {dense: 2 if more == none else 3}]}
  outer: {inputs: {most: none}, layers: [inner: {more: most}]}
layers:
  - {name: x}
  - ITEM
"""
    without, given = 8 * 2 + 2, 8 * 4 + 4 + 4 * 3 + 3
    for item, params in (
        ("inner", without),
        ("outer", without),
        ("inner: {more: x}", given),
        ("outer: {most: x}", given),
    ):
        assert count(loads(text.replace("ITEM", item))).params == params
    with pytest.raises(ParamcountError, match="must be a whole number, not `given`"):
        loads(text.replace("dense: 4,", "dense: more,").replace("ITEM", "inner: {more: x}"))
