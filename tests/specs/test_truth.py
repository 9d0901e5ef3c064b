"""Shipped specs against counts of the real models: torchvision's, and the published tables of the MobileNets."""

import json
from functools import cache
from pathlib import Path

import pytest

from paramcount.cost.count import count
from paramcount.language.load import load

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
MILLION = 10**6


@pytest.fixture(scope="module")
def truth(shared):
    return lambda name: json.loads((shared / "truth" / name).read_text())


def counted(report):
    return {
        "params": report.params,
        "weights": report.weights - report.tables,
        "bias": report.biases,
        "norm": report.norms,
        "other": report.tables,
        "buffers": report.buffers,
        "macs": report.macs,
    }


def measured(record):
    kinds = record["params_by_kind"]
    return {
        "params": record["params_total"],
        "weights": kinds["conv_weight"] + kinds["linear_weight"],
        "bias": kinds["bias"],
        "norm": kinds["norm"],
        "other": kinds["other"],
        "buffers": record["buffers_bn_running"],
        "macs": record["macs"],
    }


@cache
def referenced():
    """Every shipped network that names a model it stands for, by that name."""
    found = {}
    for path in sorted(CONFIGS.glob("*.yaml")):
        base = load(str(path))
        for network in (base, *(load(str(path), variant=variant) for variant in base.variants)):
            if network.reference:
                found[network.reference] = network
    return found


def test_counts_as_torchvision_by_kind(truth):
    records = {f"torchvision/{record['name']}": record for record in truth("torchvision.json")}
    networks = {name: network for name, network in referenced().items() if name.startswith("torchvision/")}
    assert networks.keys() <= records.keys()
    assert {name: counted(count(network)) for name, network in networks.items()} == {
        name: measured(records[name]) for name in networks
    }


def test_every_torchvision_model_has_a_spec(truth):
    names = {f"torchvision/{each['name']}" for each in truth("torchvision.json")}
    assert len(names) == 93
    assert names - referenced().keys() == set()


def test_xception_as_published():
    """Keras prints 22,855,952 trainable parameters and 54,528 others; the MACs by hand, map by map."""

    def conv(side, kernel, channels, out):
        return side**2 * kernel**2 * channels * out

    def separable(side, channels, out):
        return side**2 * (9 * channels + channels * out)

    macs = conv(149, 3, 3, 32) + conv(147, 3, 32, 64)
    macs += separable(147, 64, 128) + separable(147, 128, 128) + conv(74, 1, 64, 128)
    macs += separable(74, 128, 256) + separable(74, 256, 256) + conv(37, 1, 128, 256)
    macs += separable(37, 256, 728) + separable(37, 728, 728) + conv(19, 1, 256, 728)
    macs += 8 * 3 * separable(19, 728, 728)
    macs += separable(19, 728, 728) + separable(19, 728, 1024) + conv(10, 1, 728, 1024)
    macs += separable(10, 1024, 1536) + separable(10, 1536, 2048) + 2048 * 1000
    report = count(load(str(CONFIGS / "xception.yaml")))
    assert (report.params, report.buffers, report.macs) == (22_855_952, 54_528, macs)


def test_mobilenet_v2_at_every_width(truth):
    rows = truth("mobilenet_v2_widths.json")
    assert len(rows) == 50
    for row in rows:
        report = count(load(str(CONFIGS / "mobilenet_v2.yaml"), width=row["width"]))
        assert (report.params, report.macs) == (row["params"], row["macs_conv_linear"]), row


def published(truth, model):
    """The rows of one model that its architecture reproduces, with width and resolution from their names."""
    for row in truth("mobilenet_published.json"):
        if row["reproduced"] and row["model"].startswith(model):
            width, resolution = row["model"].removeprefix(model + "_").split("_")
            yield row, float(width), int(resolution)


def test_published_rows_of_mobilenet_v2(truth):
    """MACs floored to millions; parameters without norms, in hundredths of millions."""
    rows = list(published(truth, "mobilenet_v2"))
    assert len(rows) == 22
    for row, width, resolution in rows:
        report = count(load(str(CONFIGS / "mobilenet_v2.yaml"), width=width, resolution=resolution))
        assert report.macs // MILLION == row["madds_M"], row
        assert round((report.params - report.norms) / MILLION, 2) == row["params_M"], row


def test_published_rows_of_mobilenet_v1(truth):
    """Millions of MACs, and of parameters with norms and 1001 classes: within one of the last printed digit."""
    rows = list(published(truth, "mobilenet_v1"))
    assert len(rows) == 11
    for row, width, resolution in rows:
        report = count(load(str(CONFIGS / "mobilenet_v1.yaml"), width=width, resolution=resolution, classes=1001))
        assert abs(row["madds_M"] - report.macs / MILLION) < 1, row
        assert abs(row["params_M"] - report.params / MILLION) < 0.01, row
