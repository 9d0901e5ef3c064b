"""Every shipped spec, in every variant, counts to the figures that stand in it."""

from functools import cache
from pathlib import Path

import pytest
import yaml

from paramcount.cost.count import count
from paramcount.language.load import load

CONFIGS = sorted((Path(__file__).resolve().parents[2] / "configs").glob("*.yaml"))


@cache
def written(path):
    """The file as PyYAML reads it, with keys as text: a second reader of the figures."""
    return yaml.load(path.read_text(), yaml.BaseLoader)


CASES = [(path, variant) for path in CONFIGS for variant in (None, *written(path).get("variants", {}))]


def case_name(value):
    return value.stem if isinstance(value, Path) else value or "base"


@pytest.mark.parametrize(("path", "variant"), CASES, ids=case_name)
def test_counts_to_its_expect(path, variant):
    spec = written(path)
    expect = spec["expect"]
    if variant is not None and spec["variants"][variant]:
        expect = expect["variants"][variant]
    figures = {name: int(value) for name, value in expect.items() if name not in ("reference", "variants")}
    assert {"params", "weights", "macs"} <= figures.keys()
    network = load(str(path), variant=variant)
    report = count(network)
    assert {name: getattr(report, name) for name in figures} == figures
    assert report.buffers == figures.get("buffers", 0)
    assert {limit.figure: limit.amount for limit in network.expect} == figures
    assert {limit.bound for limit in network.expect} == {"equal"}
    assert network.graph().warnings == []


@pytest.mark.parametrize("path", CONFIGS, ids=case_name)
def test_says_what_it_is_and_where_it_is_from(path):
    spec = written(path)
    assert spec["source"].startswith("https://")
    assert spec["about"] and spec["name"]
    assert all(max(map(len, each.read_text().splitlines())) <= 120 for each in CONFIGS)


def test_the_specs_that_are_promised_are_there():
    promised = {"mlp", "lenet", "alexnet", "vgg", "resnet", "squeezenet", "mobilenet_v1", "mobilenet_v2", "unet"}
    promised |= {"vit", "deit", "swin", "swin_v2", "maxvit", "mlp_mixer", "retinanet", "detector", "dit", "ddpm"}
    promised |= {"densenet", "googlenet", "inception_v3", "mobilenet_v3", "mnasnet", "efficientnet", "efficientnet_v2"}
    promised |= {"lstm_lm", "seq2seq", "crnn", "deepspeech"}
    promised |= {"shufflenet_v2", "regnet_x", "regnet_y", "convnext", "xception", "fcn", "deeplab_v3", "lraspp"}
    assert promised <= {path.stem for path in CONFIGS}
