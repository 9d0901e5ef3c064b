"""Networks, layers and results are copied, and pickled for another process, which sees the same figures."""

import copy
import json
import pickle
import subprocess
import sys

import numpy
import pytest

import paramcount as pc
from paramcount.layers import MODULES, find
from paramcount.render import table

NETWORK = pc.Network(
    [
        pc.Residual([pc.Conv(3, 3, norm="batch_norm")]),
        pc.Bottleneck(24, activation=pc.Relu()),
        pc.GlobalPool(),
        pc.Dense(4),
        pc.Repeat(3, [pc.With(pc.Dense(4), share="each")]),
    ],
    input=(8, 8, 3),
)
SPEC = """{input: {features: 4}, vars: {n: 2, act: relu}, blocks: {wide: {args: {out: 8, half: out // 2},
layers: [dense: out, dense: half]}},
layers: [{repeat: 2, wide: {out: n * 4 + i}}, {activate: act if n < 3 else gelu}]}"""
READ = """
import json, pickle, sys
import paramcount as pc
for each in pickle.load(sys.stdin.buffer):
    print(json.dumps(pc.count(each).to_dict() if isinstance(each, pc.Network) else each.to_dict()))
"""


def in_another_process(things):
    found = subprocess.run([sys.executable, "-c", READ], input=pickle.dumps(things), capture_output=True, check=True)
    return [json.loads(line) for line in found.stdout.splitlines()]


def figures(thing):
    return json.loads(json.dumps(pc.count(thing).to_dict() if isinstance(thing, pc.Network) else thing.to_dict()))


def test_networks_and_reports_are_equal_in_another_process():
    names = ["mobilenet_v2:x0.5", "resnet:50", "llama", "t5", "unet", "densenet", "swin", "mixtral", "detector"]
    networks = [NETWORK, pc.loads(SPEC), *map(pc.load, names)]
    cached = pc.count(pc.load("llama"), kv_cache=7)
    reports = [pc.count(networks[0], train=True), pc.count(networks[1], batch=3), cached]
    solution = pc.solve("mobilenet_v2", "width", {"macs": 300e6})
    things = [*networks, *reports, solution]
    assert in_another_process(things) == [figures(each) for each in things]


def test_what_is_pickled_is_expanded_again():
    """A tree refers to each value from many places: too deep to pickle in a large network."""
    network = pc.load("llama")
    network.graph(), network.graph(training=True)
    assert pickle.loads(pickle.dumps(network)).graphs == {}


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_what_is_copied_is_equal(twin):
    for network in (NETWORK, pc.loads(SPEC), pc.loads(SPEC, n=3)):
        again = twin(network)
        assert pc.count(again, train=True).to_dict() == pc.count(network, train=True).to_dict()
    report = pc.count(NETWORK, train=True, remat=True)
    assert str(twin(report)) == str(report)
    assert twin(report).by("kind")["dense"].params == report.by("kind")["dense"].params
    column = pc.Column.whole("n", [1, 2, 3])
    assert twin(column).array.tolist() == [1, 2, 3] and twin(column).high == 3
    assert pc.count(twin(pc.Bottleneck(24)), (8, 8, 3)).params == pc.count(pc.Bottleneck(24), (8, 8, 3)).params


def test_sheets():
    report = pc.count(NETWORK, train=True)
    chosen = report.sheet(columns=["layer", "repeat", "share", "macs"])
    for sheet in (report.sheet(), chosen, pc.zoo("nothing has this name").sheet(), pc.memory_of(NETWORK).sheet()):
        again = pickle.loads(pickle.dumps(sheet))
        assert table.render(again) == table.render(sheet) and again.data() == sheet.data()


def test_a_sweep_keeps_its_space():
    swept = pc.sweep("vit", heads=[3, 4, 5], width=192)
    again = pickle.loads(pickle.dumps(swept))
    assert again.columns["params"].tolist() == swept.columns["params"].tolist()
    assert again.where("heads > 3").point(0) == {"heads": 4}
    assert again.error(2) == swept.error(2) is not None


@pytest.mark.parametrize("kind", sorted(MODULES))
def test_layers(kind):
    found = find(kind)
    assert found is not None
    for settings, *_ in found.examples:
        layer = found(**settings)
        assert pickle.loads(pickle.dumps(layer)) == layer
        assert repr(copy.deepcopy(layer)) == repr(layer)


def test_spellings_of_a_block_are_one_class():
    assert pc.FFN is pc.Ffn
    assert pickle.loads(pickle.dumps(pc.Ffn)) is pc.Ffn


def test_traces_and_training():
    jax = pytest.importorskip("jax")
    verified = pc.verify(pc.Network([pc.Dense(4)], input=3), abstract=True).sheet()
    assert table.render(pickle.loads(pickle.dumps(verified))) == table.render(verified)
    trace = pc.trace(lambda w, x: x @ w, jax.numpy.ones((3, 4)), jax.numpy.ones((2, 3)))
    assert pickle.loads(pickle.dumps(trace)).to_dict() == trace.to_dict()
    pytest.importorskip("optax")
    batch = numpy.zeros((6, 3), numpy.float32), numpy.zeros(6, numpy.int32)
    training = pc.train(pc.Network([pc.Dense(4)], input=3), [batch])
    again = pickle.loads(pickle.dumps(training))
    assert again.to_dict() == training.to_dict()
    assert (again.params["dense0"]["weight"] == training.params["dense0"]["weight"]).all()
