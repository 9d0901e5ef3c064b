"""Shipped specs count as they are traced, forward and backward, with nothing allocated."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from paramcount.backend.prove.verify import verify
from paramcount.graph.tree import leaves
from paramcount.language.load import load, shipped_specs
from paramcount.language.reading import MODIFIERS
from paramcount.language.vocabulary import FORMS

ROOT = Path(__file__).resolve().parents[3]
BLOCKS = {path.stem: path for path in (ROOT / "paramcount" / "language" / "blocks").glob("*.yaml")}
SMALL = {"resnet": "18", "vgg": "11"}
DEEPEST = 7  # layers, so that gemma3 has one that attends to everything after five that do not
FEWER: dict[str, dict[str, Any]] = {
    **{name: {"depth": 2} for name in ("albert", "clip", "dit", "mamba", "mixtral")},
    "ddpm": {"levels": [1, 2], "units": 1},
    "densenet": {"depths": [2, 3, 2, 2]},
    "swin": {"middle": 2},
    "swin_v2": {"middle": 2},
}
SMALLEST = (
    "convnext:tiny",
    "crnn:",
    "deeplab_v3:mobilenet_v3_large",
    "deepspeech:",
    "densenet:121",
    "efficientnet:b0",
    "efficientnet_v2:s",
    "fcn:resnet50",
    "googlenet:aux",
    "inception_v3:aux",
    "lraspp:",
    "lstm_lm:",
    "mnasnet:x0.5",
    "mobilenet_v3:small",
    "regnet_x:400mf",
    "regnet_y:400mf",
    "seq2seq:",
    "shufflenet_v2:x0.5",
    "xception:",
)


def proved(network):
    found = verify(network, abstract=True, train=True)
    assert found.ok and "backward MACs" in {check.name for check in found.checks}, str(found)


def fewer(name):
    """A spec with fewer layers, of which the others are the same again."""
    depth = load(name).vars.get("depth", 0)
    return load(name, SMALL.get(name), **FEWER.get(name, {"depth": DEEPEST} if depth > DEEPEST else {}))


def test_every_spec(shipped_spec):
    proved(fewer(shipped_spec))


def used_parts(network):
    """The kinds of a network, the bodies that they stand in, and whether some are for training only."""
    every = list(leaves(network.graph(training=True)))
    bodies = {type(body).__name__ for leaf in every for body in leaf.bodies}
    return {leaf.node.layer.kind for leaf in every} | bodies | {f"only {leaf.node.training_only}" for leaf in every}


def words(node):
    """Every key and word below a node of YAML."""
    if isinstance(node, yaml.MappingNode):
        return {word for pair in node.value for each in pair for word in words(each)}
    return {word for each in node.value for word in words(each)} if isinstance(node.value, list) else {node.value}


def used_forms(name):
    """The forms and modifiers of a spec, and those of the shipped blocks that it uses."""
    found = words(yaml.compose((ROOT / "configs" / f"{name}.yaml").read_text()))
    seen = set()
    while new := found & set(BLOCKS) - seen:
        seen |= new
        found |= {word for block in new for word in words(yaml.compose(BLOCKS[block].read_text()))}
    return {f"{word}:" for word in found & {*FORMS, *MODIFIERS}}


def test_the_chosen_specs_use_all_that_any_spec_uses(chosen):
    assert len(BLOCKS) > 5
    every = set().union(*(used_parts(load(name)) | used_forms(name) for name in shipped_specs()))
    found = set().union(*(used_parts(fewer(name)) | used_forms(name) for name in chosen))
    assert len(every) > 70 and found == every


@pytest.mark.full
@pytest.mark.parametrize("spec", SMALLEST)
def test_counts_as_it_is_traced(spec):
    """The smallest of each convolutional and recurrent family."""
    name, _, variant = spec.partition(":")
    found = verify(load(name, variant=variant or None), abstract=True)
    assert found.ok, str(found)


@pytest.mark.parametrize("name", ["lora", "siamese"])
def test_shared_specs(shared, name):
    proved(load(str(shared / "specs" / f"{name}.yaml")))
