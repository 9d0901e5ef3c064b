"""Every output names what was counted: the spec, its variant, the variables that were set, and one example."""

import json

import pytest

import paramcount as pc
from paramcount.cli.main import main
from paramcount.render.html import render as html

TITLE = "MobileNet-v2:x0.5 (resolution = 32, classes = 7)"
SPEC = ["mobilenet_v2:x0.5", "--set", "resolution=32", "--set", "classes=3 + 4"]
SET = {"resolution": 32, "classes": 7}


def run(capsys, *words):
    assert main(words) == 0
    return capsys.readouterr().out


def test_the_table(capsys):
    out = run(capsys, *SPEC)
    assert out.splitlines()[0] == TITLE and "\none example: image 32×32×3; MACs" in out
    assert "\n32 examples of image 32×32×3; MACs" in run(capsys, *SPEC, "--batch", "32")
    assert "\none example: 128 tokens; MACs" in run(capsys, "llama:tiny")
    page = html(pc.count(pc.load("llama:tiny", T=64)).sheet())
    assert "<span>Llama:tiny (T = 64)</span>" in page and "<p>one example: 64 tokens; MACs" in page


@pytest.mark.parametrize("command", ["", "verify", pytest.param("measure", marks=pytest.mark.full)])
def test_json(capsys, command):
    if command:
        pytest.importorskip("jax")
    found = json.loads(run(capsys, *filter(None, [command]), *SPEC, "--format", "json"))
    assert (found["name"], found["variant"], found["set"]) == ("MobileNet-v2", "x0.5", SET)
    assert found["vars"]["width"] == 0.5 and found["vars"]["classes"] == 7


@pytest.mark.parametrize("command", ["verify", pytest.param("measure", marks=pytest.mark.full)])
def test_in_jax(capsys, command):
    pytest.importorskip("jax")
    out = run(capsys, command, *SPEC)
    assert TITLE in out and "one example: image 32×32×3" in out


def test_sweeps(capsys):
    out = run(capsys, "sweep", "mobilenet_v2:x0.5", "width=0.5,1", "resolution=32")
    assert out.splitlines()[0] == "MobileNet-v2:x0.5 (resolution = 32)"
    assert run(capsys, "sweep", "vit", "width=192,256", "heads=width//64").startswith(
        "Vision transformer (heads = width//64)\n"
    )
    out = run(capsys, "solve", "mobilenet_v2", "width", "--max-macs", "300M", "--set", "classes=10")
    assert out.splitlines()[0] == "MobileNet-v2 (classes = 10, width = 1.01)"
    assert repr(pc.sweep("llama:tiny", T=[32, 64])) == "<Sweep Llama:tiny: 2 variants by T>"


def test_several_inputs_and_plain_shapes():
    network = pc.Network([pc.Identity()], inputs={"a": (2, 3), "b": (2, 3)})
    assert network.subject.examples() == "one example: a (sequence 2×3), b (sequence 2×3)"
    assert network.subject.examples(4) == "4 examples of a (sequence 2×3), b (sequence 2×3)"
    assert pc.Shape((1,), "features").described == "1 feature" and pc.Shape((), "plain").described == "scalar"
    assert (
        str(pc.load("resnet", depths=[1, 1, 1, 1], basic=True).subject)
        == "ResNet (depths = [1, 1, 1, 1], basic = true)"
    )
