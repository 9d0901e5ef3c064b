"""Verify agrees with right networks, and finds and names the layer of each kind of wrong one."""

import tracemalloc
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from paramcount.backend.prove import verify as module
from paramcount.backend.prove.verify import random_inputs, verify
from paramcount.cost.count import count
from paramcount.graph.bodies import Each, Moe, Scan
from paramcount.graph.items import Let, Residual
from paramcount.graph.loops import Repeat
from paramcount.graph.modifiers import With
from paramcount.graph.network import Network
from paramcount.graph.tree import leaves
from paramcount.language.load import loads
from paramcount.layers.activation import Relu
from paramcount.layers.conv import Conv
from paramcount.layers.dense import Dense
from paramcount.layers.embedding import Embedding
from paramcount.layers.global_pool import GlobalPool
from paramcount.layers.layer import Layer, Param, Shape, Work
from paramcount.layers.merge import Add
from paramcount.layers.parameter import Parameter
from paramcount.layers.pool import MaxPool


def figures(verification):
    return {check.name: (check.expected, check.found) for check in verification.checks}


def failed(verification):
    return [check.name for check in verification.checks if not check.ok]


def test_a_small_network_by_hand():
    items = [Conv(4, 3, bias=True, norm="batch_norm", activation="relu"), GlobalPool(), Dense(10)]
    found = verify(Network(items, input=(8, 8, 3)))
    assert found.ok and not found.differences and not found.abstract
    assert figures(found) == {
        "layers that run": (5, 5),
        "output shapes": (5, 5),
        "activations": (3 * 256 + 4 + 10,) * 2,
        "tensors": (8, 8),
        "params": (108 + 4 + 8 + 40 + 10,) * 2,
        "trainable": (170, 170),
        "weights": (148, 148),
        "biases": (14, 14),
        "norms": (8, 8),
        "buffers": (8, 8),
        "MACs by layer": (5, 5),
        "MACs": (108 * 64 + 40,) * 2,
        "used parameters": (6, 6),
        "used buffers": (2, 2),
        "run: output": ((10,), (10,)),
        # 3×3 taps in bounds: (8 + 8 + 8 - 2)² of 24², over 3 channels and 4 outputs
        "XLA": (2 * (22 * 22 * 12 + 40), figures(found)["XLA"][1]),
    }
    table = str(found)
    assert "all figures agree" in table and "DIFFERS" not in table
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.parametrize("abstract", [False, True])
def test_structures_agree(abstract):
    items = [
        Embedding(vocab=11, out=8),
        Repeat(3, [Residual([Dense(8, activation=Relu())])]),
        Repeat(2, [Dense(8)], share=True),
        Each("(a b) c -> a | b c", [Dense(8)], {"b": 2}),
        Scan({"h": [8]}, [Add(["prev", "h"]), Dense(8)], {"h": "prev"}),
        Repeat(2, [Residual([Moe(4, 2, [Dense(16), Dense(8)])])]),
        With(Let({"auxiliary": [Dense(3, norm="batch_norm")]}), only="training"),
        With(Dense(5), frozen=True),
    ]
    network = Network(items, input={"tokens": [6]}, outputs={"main": "prev", "auxiliary": "auxiliary"})
    found = verify(network, abstract=abstract)
    assert found.ok, str(found)
    assert ("run: main" in figures(found)) is not abstract
    params, trainable = figures(found)["params"][1], figures(found)["trainable"][1]
    assert params - trainable == 8 * 5 + 5


def test_tokens_stay_below_the_vocabulary():
    graph = Network([Embedding(vocab=3, out=2)], input={"tokens": [200]}).graph()
    tokens = random_inputs(graph, list(leaves(graph)), seed=0)["input"]
    assert tokens.dtype == np.int32 and set(tokens) == {0, 1, 2}


@dataclass(frozen=True)
class Affine(Layer):
    """A right layer; each class below is wrong in one way."""

    kind = "affine"

    def output_shape(self, x: Shape) -> Shape:
        return x

    def params(self, x: Shape) -> dict[str, Param]:
        return {"weight": Param({"input": x.channels, "output": x.channels}, "weight")}

    def work(self, x: Shape) -> Work:
        return Work(x.elements * x.channels)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        return x @ params["weight"]


class Wider(Affine):
    def output_shape(self, x):
        return x.with_channels(x.channels + 1)


class Cheaper(Affine):
    def work(self, x):
        return Work(x.elements)


class Heavier(Affine):
    def params(self, x):
        return super().params(x) | {"bias": Param({"output": x.channels}, "bias", "zeros")}


class Taller(Affine):
    def params(self, x):
        return {"weight": Param({"input": x.channels + 1, "output": x.channels}, "weight")}


class Colder(Affine):
    def params(self, x):
        return super().params(x) | {"mean": Param({"output": x.channels}, "buffer", "zeros")}


class Infinite(Affine):
    def forward(self, params, x, *, context):
        return jnp.log(-jnp.abs(x @ params["weight"]) - 1)


class Unknown(Affine):
    def forward(self, params, x, *, context):
        return x @ jax.pure_callback(lambda weight: weight, params["weight"], params["weight"])


WRONG = [
    (Wider, "the result's sizes", ["output shapes", "activations"]),
    (Cheaper, "MACs", ["MACs by layer", "MACs"]),
    (Heavier, "bias", ["used parameters"]),
    (Colder, "mean", ["used buffers"]),
    (Taller, "its computation", ["layers that run", "output shapes", "activations"]),
    (Unknown, "MACs", ["MACs"]),
]


@pytest.mark.parametrize("layer, what, checks", WRONG, ids=lambda value: getattr(value, "__name__", ""))
def test_a_wrong_layer_is_found_and_named(layer, what, checks):
    assert verify(Network([Dense(6), Affine()], input=(5, 6)), abstract=True).ok
    found = verify(Network([Dense(6), layer()], input=(5, 6)), abstract=True)
    assert not found.ok
    assert [(each.layer, each.what) for each in found.differences] == [(f"{layer.__name__.lower()}0", what)]
    assert failed(found) == checks
    assert f"{layer.__name__.lower()}0: {what}" in str(found) and "DIFFERS" in str(found)


def test_a_wrong_layer_deep_inside_is_named_by_its_pass():
    items = [Repeat(3, [Residual([Dense(6), With(Cheaper(), name="second")])])]
    found = verify(Network(items, input=(5, 6)), abstract=True)
    assert [each.layer for each in found.differences] == [f"residual0[{i}].second" for i in range(3)]
    assert (found.differences[0].expected, found.differences[0].found) == (30, 180)


def test_results_that_are_not_finite():
    found = verify(Network([Dense(6), Infinite()], input=(5, 6)))
    assert failed(found) == ["run: output"]
    assert [(each.layer, each.found) for each in found.differences] == [("output", "not finite")]


def test_a_layer_that_reaches_no_output():
    network = Network([Let({"_lost": [Dense(3)]}), Dense(6)], input=(5, 6))
    found = verify(network, abstract=True)
    assert failed(found) == ["layers that reach an output", "MACs"] and not found.differences
    assert str(found).count("`let0` reaches no output and is counted") == 1
    assert found.to_dict()["warnings"] == list(found.warnings) == network.warnings


def test_a_parameter_of_training_that_reaches_no_output_even_there():
    items = [With(Let({"auxiliary": [Dense(3)], "_lost": [Dense(2)]}), only="training"), Dense(6)]
    network = Network(items, input=6, outputs={"main": "prev", "auxiliary": "auxiliary"})
    found = verify(network, abstract=True)
    assert failed(found) == ["layers that reach an output in training"] and not found.differences
    assert str(found).count("`let0._lost` reaches no output and is counted") == 1
    assert "warnings" not in verify(Network([Dense(6)], input=6), abstract=True).to_dict()


def test_work_of_many_layers_that_reaches_no_output_is_one_sentence():
    """Nine dense layers of 72 parameters in a row, of which nothing but their input is used."""
    layers = "[{name: x}, {for: width, in: 8, do: [{dense: 8}, relu]}, {dense: 8}, {from: x, dense: 10}]"
    found = verify(loads(f"{{input: {{features: 8}}, layers: {layers}}}", file="net.yaml"), train=True)
    assert not found.ok and not found.differences
    assert found.warnings == (
        "net.yaml: `do0` and `dense0` reach no output and are counted: use the result, list it under "
        "`outputs`, or mark it `only: stored`",
    )


def test_what_is_only_stored_is_not_asked_to_reach_an_output():
    """A head of 8 · 100 + 100 and a mask token of 8 that a checkpoint holds; dense 8 · 3 + 3."""
    items = [With(Dense(100), only="stored"), With(Parameter([8]), name="mask", only="stored"), Dense(3)]
    network = Network(items, input=8)
    report, found = count(network), verify(network, train=True)
    assert (report.params, report.macs, report.warnings) == (900 + 8 + 27, 24, [])
    assert found.ok, str(found)
    params, _ = network.init()
    assert params["mask"]["value"].shape == (8,)
    assert network.apply(params, [1.0] * 8).shape == (3,)


def test_stored_weights_that_others_share_must_reach_an_output():
    items = [With(Dense(6), share="both", only="stored"), With(Dense(6), share="both")]
    found = verify(Network(items, input=6))
    assert found.ok and {check.name: check.expected for check in found.checks}["used parameters"] == 2


def test_a_count_that_differs_from_the_tensors(monkeypatch):
    def wrong(network):
        report = count(network)
        return replace(report, totals=report.totals._replace(weights=1, macs=2))

    monkeypatch.setattr(module, "count", wrong)
    assert failed(verify(Network([Dense(6)], input=5), abstract=True)) == ["weights", "MACs"]


def test_a_network_too_large_for_memory_is_traced_only():
    tracemalloc.start()  # sees what NumPy allocates
    try:
        with jax.transfer_guard("disallow"):
            found = verify(Network([Dense(200_000, bias=False)], input=200_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * 200_000 * 100  # a hundred rows of the weights
    assert found.ok and found.abstract
    assert figures(found)["params"] == (40_000_000_000,) * 2
    assert "traced only" in str(found) and "298 GiB" in str(found)


def test_memory_counts_the_experts_that_tokens_gather():
    dense = Network([Dense(64), Dense(64)], input=(100, 64))
    mixed = Network([Moe(2, 2, [Dense(64, bias=False)])], input=(100, 64))
    gathered = 4 * 100 * 2 * 64 * 64
    for network, at_least, at_most in ((dense, 0, gathered), (mixed, gathered, 2 * gathered)):
        assert at_least < module.needed(network) < at_most


def test_max_pool_and_several_outputs():
    items = [With(Conv(4, 3), name="first"), MaxPool(2), With(Conv(2, 1), name="second")]
    found = verify(Network(items, input=(6, 6, 1), outputs=["first", "second"]))
    assert found.ok
    assert figures(found)["run: second"] == ((3, 3, 2), (3, 3, 2))


def test_memory_where_the_system_does_not_say(monkeypatch):
    from paramcount.backend.prove.verify import LARGEST, available

    def sysconf(name):
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr("os.sysconf", sysconf)
    assert (available(1000), available(2**60), available()) == (1000, 2**60, LARGEST)
    monkeypatch.delattr("os.sysconf")
    assert available(1000) == 1000
