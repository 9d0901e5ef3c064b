"""Initial values: their distribution, their independence of everything else, and which tensors there are."""

import jax
import numpy as np
import pytest

from paramcount.backend.run.initialize import initialize, shapes, tensors
from paramcount.graph.bodies import Each, Moe
from paramcount.graph.items import Pop, Residual
from paramcount.graph.loops import Repeat
from paramcount.graph.modifiers import With
from paramcount.graph.network import Network
from paramcount.layers.batch_norm import BatchNorm
from paramcount.layers.conv import Conv
from paramcount.layers.dense import Dense
from paramcount.layers.embedding import Embedding
from paramcount.layers.merge import Add


def sizes(tree):
    return {path: {name: array.shape for name, array in leaf.items()} for path, leaf in tree.items()}


def test_values_follow_the_initializers():
    items = [Embedding(vocab=500, out=200), Dense(300), BatchNorm()]
    params, buffers = initialize(Network(items, input={"tokens": [4]}).graph())
    assert np.std(params["embedding0"]["table"]) == pytest.approx(0.02, rel=0.02)
    assert np.std(params["dense0"]["weight"]) == pytest.approx(200**-0.5, rel=0.02)  # 200 values meet in each output
    assert np.mean(params["dense0"]["weight"]) == pytest.approx(0, abs=0.002)
    assert not np.any(params["dense0"]["bias"])
    assert np.all(np.asarray(params["batch_norm0"]["scale"]) == 1)
    assert not np.any(buffers["batch_norm0"]["mean"]) and np.all(np.asarray(buffers["batch_norm0"]["var"]) == 1)


def test_a_kernel_counts_its_positions():
    params, _ = initialize(Network([Conv(out=64, kernel=5)], input=(9, 9, 40)).graph())
    assert np.std(params["conv0"]["weight"]) == pytest.approx((5 * 5 * 40) ** -0.5, rel=0.02)


def test_values_depend_on_seed_path_and_name_alone():
    alone, _ = initialize(Network([Dense(8)], input=8).graph(), seed=3)
    among, _ = initialize(Network([Dense(8), Dense(8)], input=8).graph(), seed=3)
    other, _ = initialize(Network([Dense(8)], input=8).graph(), seed=4)
    weight = np.asarray(alone["dense0"]["weight"])
    assert np.array_equal(weight, among["dense0"]["weight"])
    assert not np.array_equal(weight, among["dense1"]["weight"])
    assert not np.array_equal(weight, other["dense0"]["weight"])


def test_folded_and_unrolled_passes_have_the_same_values():
    folded = Network([Repeat(3, [Residual([Dense(8)])])], input=8).graph()
    pushes = [
        Repeat(3, [With(Residual([Dense(8)]), push="skips")]),
        Add([[Pop("skips")], [Pop("skips")], [Pop("skips")]]),
    ]
    unrolled = Network(pushes, input=8).graph()
    assert [len(graph.children[0].iterations) for graph in (folded, unrolled)] == [1, 3]  # type: ignore[attr-defined]
    first, second = initialize(folded)[0], initialize(unrolled)[0]
    assert list(first) == list(second) == ["residual0[0].dense0", "residual0[1].dense0", "residual0[2].dense0"]
    for path in first:
        assert np.array_equal(first[path]["weight"], second[path]["weight"])
    assert not np.array_equal(*(first[path]["weight"] for path in list(first)[:2]))


def test_shared_and_tied_tensors_exist_once():
    items = [
        With(Embedding(vocab=11, out=8), name="tokens"),
        With(Dense(8), share="tower"),
        With(Dense(8), share="tower"),
        Repeat(3, [Dense(8, bias=False)], share=True),
        Dense(11, tied="tokens"),
    ]
    params, _ = initialize(Network(items, input={"tokens": [4]}).graph())
    assert sizes(params) == {
        "tokens": {"table": (11, 8)},
        "dense0": {"weight": (8, 8), "bias": (8,)},
        "dense2": {"weight": (8, 8)},
        "dense3": {"bias": (11,)},
    }


def test_experts_are_stacked_and_their_router_is_not():
    items = [Moe(4, 2, [Dense(16), Dense(8)]), Each("t c -> t | c", [Dense(3)])]
    params, _ = initialize(Network(items, input=(6, 8)).graph())
    assert sizes(params) == {
        "moe0.router": {"weight": (8, 4)},
        "moe0.dense0": {"weight": (4, 8, 16), "bias": (4, 16)},
        "moe0.dense1": {"weight": (4, 16, 8), "bias": (4, 8)},
        "each0.dense0": {"weight": (8, 3), "bias": (3,)},
    }
    stack = np.asarray(params["moe0.dense0"]["weight"])
    assert np.std(stack) == pytest.approx(8**-0.5, rel=0.15)  # the experts' axis is not an input
    assert not np.array_equal(stack[0], stack[1])


def test_shapes_alone_are_those_of_the_arrays():
    items = [Conv(8, 3, norm="batch_norm"), Repeat(2, [Conv(8, 3, norm="batch_norm")])]
    graph = Network(items, input=(6, 6, 3)).graph()
    made = initialize(graph)
    assert jax.tree.map(lambda x: (x.shape, x.dtype), shapes(graph)) == jax.tree.map(lambda x: (x.shape, x.dtype), made)
    assert all(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in jax.tree.leaves(shapes(graph)))


def test_frozen_tensors_are_known():
    found = tensors(Network([With(Dense(4), frozen=True), Dense(4)], input=4).graph())
    assert [leaf["weight"].frozen for leaf in found.values()] == [True, False]
