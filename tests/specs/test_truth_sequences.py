"""Shipped specs against counts of the real transformers and state-space models, built from their configurations."""

import json

import pytest

from paramcount.cost.count import count
from paramcount.cost.zoo import shipped_networks

OWNER = "transformers/"
AS_TORCHVISION = {  # the reference of a network that is this model too, though it is named for torchvision's
    "vit-base-patch16-224/ViTForImageClassification": "torchvision/vit_b_16",
    "vit-large-patch16-224/ViTForImageClassification": "torchvision/vit_l_16",
}


@pytest.fixture(scope="module")
def records(shared):
    """Every measured model by its name, and where it was measured with several heads, by name and class."""
    found = {}
    for record in json.loads((shared / "truth" / "hf.json").read_text()):
        name = record["name"].split(" (")[0]
        key = f"{name}/{record['model_class']}"
        assert key not in found
        found[key] = record
    return found


@pytest.fixture(scope="module")
def networks():
    """Every shipped network that stands for such a model, by that name."""
    pairs = [(network.reference, network) for _, network in shipped_networks() if network.reference]
    named = [(reference.removeprefix(OWNER), network) for reference, network in pairs if reference.startswith(OWNER)]
    named += [(name, dict(pairs)[reference]) for name, reference in AS_TORCHVISION.items()]
    assert len(dict(named)) == len(named), "two networks stand for one model"
    return dict(named)


@pytest.fixture(scope="module")
def matched(records, networks):
    """Pairs of a network and its measured model: a bare name is the first model of that name."""
    first = {key.split("/")[0]: key for key in reversed(records)}
    return {first.get(name, name): network for name, network in networks.items()}


def measured(record):
    """Parameters by the kinds that we have: experts and routers are weights, biases of heads are biases."""
    kinds, others = record["params_by_kind"], record["other_detail"]
    biases = sum(size for name, size in others.items() if name.endswith(".bias"))
    experts = sum(size for name, size in others.items() if "Experts." in name or "Router." in name)
    return {
        "params": record["params_total"],
        "weights": kinds["conv_weight"] + kinds["linear_weight"] + experts,
        "biases": kinds["bias"] + biases,
        "norms": kinds["norm"],
        "tables": kinds["other"] - biases - experts,
        "macs": record["flops_torch"] // 2 + routed(record),
    }


def routed(record):
    """Multiply-accumulates of the chosen experts for 128 tokens, which the reference leaves out."""
    config = record["config"]
    if "num_experts_per_tok" not in config:
        return 0
    width = config.get("moe_intermediate_size", config["intermediate_size"])
    layers = config["num_hidden_layers"] - config.get("first_k_dense_replace", 0)
    return 128 * layers * config["num_experts_per_tok"] * 3 * config["hidden_size"] * width


def counted(network):
    report = count(network)
    return {
        "params": report.params,
        "weights": report.weights - report.tables,
        "biases": report.biases,
        "norms": report.norms,
        "tables": report.tables,
        "macs": report.macs,
    }


def test_counts_as_transformers_by_kind(records, matched):
    assert matched.keys() <= records.keys()
    assert {name: counted(network) for name, network in matched.items()} == {
        name: measured(records[name]) for name in matched
    }


def test_every_measured_model_is_shipped(records, matched):
    assert matched.keys() == records.keys()


def test_inputs_are_as_long_as_the_measured(records, matched):
    """128 tokens, the default of the specs, but for pictures, the fixed text of CLIP, and the frames of Whisper."""
    lengths = {"ids 1x77 + image 1x3x224x224", "mel 1x80x3000, dec 1x128", "mel 1x128x3000, dec 1x128", "1x3x224x224"}
    for name in matched:
        given = records[name]["flops_input"].removeprefix("input_")
        assert given.startswith(("ids 1x128", "enc 1x128, dec 1x128")) or given in lengths, name
