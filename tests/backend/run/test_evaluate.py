"""Running a network, compared with plain NumPy with the same weights."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from paramcount.backend.run.context import Context
from paramcount.backend.run.evaluate import LayerError, batched, evaluate
from paramcount.backend.run.initialize import initialize, shapes
from paramcount.backend.trace.walker import by_leaf
from paramcount.graph.bodies import Each, Moe, Scan
from paramcount.graph.items import Do, From, Let, Pop, Residual
from paramcount.graph.loops import Repeat
from paramcount.graph.modifiers import With
from paramcount.graph.network import Network
from paramcount.graph.tree import leaves
from paramcount.layers.activation import Relu
from paramcount.layers.batch_norm import BatchNorm
from paramcount.layers.concat import Concat
from paramcount.layers.dense import Dense
from paramcount.layers.embedding import Embedding
from paramcount.layers.layer import Layer, Shape, Work
from paramcount.layers.merge import Add
from paramcount.layers.parameter import Parameter
from paramcount.layers.regularize import Dropout


def normal(*sizes, seed=0):
    return np.random.default_rng(seed).standard_normal(sizes, np.float32)


def result(network, seed=1, context=None, **inputs):
    """The one output of a network on inputs, its weights as NumPy arrays, and its buffers afterwards."""
    graph = network.graph()
    params, buffers = initialize(graph, seed)
    outputs, after = evaluate(graph, params, buffers, inputs, context)
    (output,) = outputs.values()
    return np.asarray(output), jax.tree.map(np.asarray, params), after


def linear(params, path, x):
    return x @ params[path]["weight"] + params[path]["bias"]


def close(one, two):
    np.testing.assert_allclose(one, two, rtol=2e-5, atol=2e-5)


def test_layers_in_a_row_with_a_residual_and_a_named_value():
    items = [With(Dense(5), name="a"), Relu(), Residual([Dense(5)]), Concat(["prev", "a", [From("a"), Dense(2)]])]
    x = normal(4)
    found, params, _ = result(Network(items, input=4), input=x)
    a = linear(params, "a", x)
    y = np.maximum(a, 0)
    y = y + linear(params, "residual0.dense0", y)
    close(found, np.concatenate([y, a, linear(params, "concat0.2.dense0", a)]))


def test_shared_and_tied_weights():
    items = [
        With(Embedding(vocab=11, out=6), name="tokens"),
        With(Dense(6), share="tower"),
        Relu(),
        With(Dense(6), share="tower"),
        Dense(11, tied="tokens"),
    ]
    x = np.array([3, 1, 10, 3], np.int32)
    found, params, _ = result(Network(items, input={"tokens": [4]}), input=x)
    table = params["tokens"]["table"]
    y = linear(params, "dense0", np.maximum(linear(params, "dense0", table[x]), 0))
    close(found, y @ table.T + params["dense2"]["bias"])


@pytest.mark.parametrize("share", [False, True])
def test_iterations_of_a_loop(share):
    x = normal(4)
    found, params, _ = result(Network([Repeat(3, [Dense(4, activation=Relu())], share=share)], input=4), input=x)
    assert len(params) == (1 if share else 3)
    for path in list(params) * (3 if share else 1):
        x = np.maximum(linear(params, path, x), 0)
    close(found, x)


def test_pieces_go_back_to_their_places():
    items = [Each("(a m) (b n) c -> a b | (m n) c", [Dense(5)], {"m": 2, "n": 3})]
    x = normal(4, 6, 3)
    found, params, _ = result(Network(items, input=(4, 6, 3)), input=x)
    close(found, linear(params, "each0.dense0", x))


def test_pieces_differ_and_are_paired_along():
    # Within each of 3 pieces of 2 steps: the first half plus the last row of the other value's piece.
    items = [
        Let({"other": [Dense(4)]}),
        Each("(a b) c -> a | b c", [Add(["prev", "other"]), Cumulated()], {"b": 2}, {"other": "(a b) c -> a | b c"}),
    ]
    x = normal(6, 4)
    found, params, _ = result(Network(items, input=(6, 4)), input=x)
    total = x + linear(params, "let0.other.dense0", x)
    close(found, np.concatenate([np.cumsum(total[start : start + 2], 0) for start in (0, 2, 4)]))


def test_pieces_whose_body_drops_an_axis():
    items = [Each("t h c -> t | h c", [Summed()])]
    x = normal(3, 4, 5)
    found, _, _ = result(Network(items, input=(3, 4, 5)), input=x)
    close(found, x.sum(1))


def test_scan_carries_zeros_and_values_from_step_to_step():
    items = [
        Let({"start": [Parameter([4])]}),
        Scan({"h": "start", "z": [4]}, [Add(["prev", "h"]), Dense(4), With(None, name="now"), Add(["now", "z"])],
             {"h": "now", "z": "prev"}),
    ]  # fmt: skip
    x = normal(5, 4)
    found, params, _ = result(Network(items, input=(5, 4)), input=x)
    h, z, steps = params["let0.start.parameter0"]["value"], np.zeros(4, np.float32), []
    for step in x:
        h = linear(params, "scan0.dense0", step + h)
        z = h + z
        steps.append(z)
    close(found, np.stack(steps))


@pytest.mark.parametrize("sizes", [(6, 8), (8,)])
def test_each_token_goes_through_its_own_experts(sizes):
    x = normal(*sizes)
    items = [Moe(4, 2, [Dense(16, activation=Relu()), Dense(3)])]
    found, params, _ = result(Network(items, input=sizes), input=x)
    tokens = x.reshape(-1, 8)
    logits = tokens @ params["moe0.router"]["weight"]
    inner, outer = params["moe0.dense0.dense0"], params["moe0.dense1"]
    expected = []
    for token, scores in zip(tokens, np.exp(logits), strict=True):
        best = np.argsort(-scores)[:2]
        results = [
            np.maximum(token @ inner["weight"][e] + inner["bias"][e], 0) @ outer["weight"][e] + outer["bias"][e]
            for e in best
        ]
        expected.append(sum(scores[e] * y for e, y in zip(best, results, strict=True)) / scores[best].sum())
    close(found, np.stack(expected).reshape(*sizes[:-1], 3))


def test_batch_norm_uses_the_batch_in_training_and_its_running_statistics_else():
    graph = Network([BatchNorm()], input=(5, 3)).graph()
    params, buffers = initialize(graph)
    x = 2 * normal(7, 5, 3) + 1
    outputs, after = batched(graph, train=True)(params, buffers, {"input": x})
    mean, var = x.mean((0, 1)), x.var((0, 1))
    close(outputs["output"], (x - mean) / np.sqrt(var + 1e-5))
    close(after["batch_norm0"]["mean"], 0.1 * mean)
    close(after["batch_norm0"]["var"], 0.9 + 0.1 * var)

    outputs, same = batched(graph)(params, after, {"input": x})
    close(outputs["output"], (x - 0.1 * mean) / np.sqrt(0.9 + 0.1 * var + 1e-5))
    assert jax.tree.all(jax.tree.map(np.array_equal, same, after))


def test_batch_norm_in_pieces_takes_the_statistics_of_all_pieces():
    graph = Network([Each("t h c -> t | h c", [BatchNorm()])], input=(3, 4, 2)).graph()
    x = 2 * normal(5, 3, 4, 2) + 1
    outputs, after = batched(graph, train=True)(*initialize(graph), {"input": x})
    mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
    close(outputs["output"], (x - mean) / np.sqrt(var + 1e-5))
    close(after["each0.batch_norm0"]["mean"], 0.1 * mean)


def test_dropout_differs_in_each_layer_iteration_piece_step_and_example():
    ones = np.ones((4, 64), np.float32)
    each = Each("t c -> t | c", [Dropout()])
    scan = Scan({}, [Dropout()], {})
    for items in ([Dropout()], [each], [scan]):
        run = batched(Network(items, input=(4, 64)).graph(), train=True)
        outputs, _ = run({}, {}, {"input": np.stack([ones, ones])}, jax.random.key(0))
        masks = np.asarray(outputs["output"]).reshape(8, 64) > 0
        assert 0.3 < masks.mean() < 0.7
        assert len({mask.tobytes() for mask in masks}) == 8
    graph = Network([Concat([[Dropout()], [Repeat(2, [Dropout()])], [Dropout(0.0)]])], input=64).graph()
    outputs, _ = evaluate(graph, {}, {}, {"input": ones[0]}, Context(True, jax.random.key(0)))
    first, twice, none = np.split(np.asarray(outputs["output"]), 3)
    assert set(first) == {0, 2} and set(twice) == {0, 4} and set(none) == {1}
    assert not np.array_equal(first > 0, twice > 0)


def test_dropout_does_not_depend_on_folding_or_on_the_batch():
    folded = Network([Repeat(3, [Do([Dropout(0.2)])])], input=64).graph()
    pushing = Repeat(3, [With(Do([Dropout(0.2)]), push="s")])  # iterations with a stack do not fold
    unrolled = Network([pushing, Let({f"_{i}": [Pop("s")] for i in range(3)})], input=64).graph()
    assert [len(graph.children[0].iterations) for graph in (folded, unrolled)] == [1, 3]  # type: ignore[attr-defined]
    key, x = jax.random.key(5), {"input": np.ones((6, 64), np.float32)}
    whole = batched(folded, train=True)({}, {}, x, key)[0]["output"]
    part = batched(folded, train=True)({}, {}, {"input": x["input"][:2]}, key)[0]["output"]
    close(whole[:2], part)
    close(whole, batched(unrolled, train=True)({}, {}, x, key)[0]["output"])


def test_every_leaf_runs_in_its_own_scope():
    items = [
        Dense(8),
        With(Let({"auxiliary": [Dense(3)]}), only="training"),
        Repeat(2, [Residual([Dense(8)])]),
        Each("(a b) c -> a | b c", [Dense(8)], {"b": 2}),
        Scan({"h": [8]}, [Add(["prev", "h"]), Dense(8)], {"h": "prev"}),
        Repeat(2, [Do([Moe(4, 2, [Dense(8)])])]),
        Dense(2),
    ]
    network = Network(items, input=(6, 4), outputs={"output": "prev", "auxiliary": "auxiliary"})
    for training in (False, True):
        graph = network.graph(training)
        inputs = {"input": jax.ShapeDtypeStruct((6, 4), np.float32)}
        traced = jax.make_jaxpr(lambda *trees, graph=graph: evaluate(graph, *trees)[0])(*shapes(graph), inputs)
        macs = {list(leaves(graph))[number].path: macs for number, macs in by_leaf(traced).items()}  # type: ignore[index]
        assert macs == {
            "dense0": 6 * 4 * 8,
            **({"let0.auxiliary.dense0": 6 * 8 * 3} if training else {}),
            "residual0[0].dense0": 6 * 8 * 8,
            "residual0[1].dense0": 6 * 8 * 8,
            "each0.dense0": 6 * 8 * 8,
            "scan0.dense0": 6 * 8 * 8,
            "do0[0].moe0.router": 6 * 8 * 4,
            "do0[0].moe0.dense0": 2 * 6 * 8 * 8,
            "do0[1].moe0.router": 6 * 8 * 4,
            "do0[1].moe0.dense0": 2 * 6 * 8 * 8,
            "dense1": 6 * 8 * 2,
        }


def test_only_training_has_its_items():
    items = [Dense(4), With(Let({"auxiliary": [Dense(3)]}), only="training"), Dense(2)]
    network = Network(items, input=4, outputs={"main": "prev", "auxiliary": "auxiliary"})
    params, buffers = initialize(network.graph())
    assert "let0.auxiliary.dense0" in params
    inputs = {"input": normal(4)}
    inference, _ = evaluate(network.graph(), params, buffers, inputs)
    training, _ = evaluate(network.graph(training=True), params, buffers, inputs)
    assert list(inference) == ["main"] and list(training) == ["main", "auxiliary"]
    close(inference["main"], training["main"])


def test_a_layer_that_fails_is_named():
    with pytest.raises(LayerError, match=r"`do0\[1\]\.broken0`.*no such axis") as caught:
        result(Network([Repeat(2, [Dense(4), Broken()])], input=4), input=normal(4))
    assert caught.value.path.endswith("broken0")


@dataclass(frozen=True)
class Free(Layer):
    """A layer without parameters and work, for these tests."""

    def output_shape(self, x: Shape) -> Shape:
        return x

    def params(self, x: Shape) -> dict[str, Any]:
        return {}

    def work(self, x: Shape) -> Work:
        return Work()


class Cumulated(Free):
    kind = "cumulated"

    def forward(self, params, x, *, context):
        return jnp.cumsum(x, 0)


class Summed(Free):
    kind = "summed"

    def output_shape(self, x: Shape) -> Shape:
        return Shape.of(*x.sizes[1:])

    def forward(self, params, x, *, context):
        return x.sum(0)


class Broken(Free):
    kind = "broken"

    def forward(self, params, x, *, context):
        if context.path.startswith("do0[1]"):
            raise ValueError("no such axis")
        return x
