"""A network applied in JAX: its values, the transformations around it, and arrays and tensors that do not fit."""

import jax
import numpy
import pytest
from jax import numpy as jnp
from numpy.testing import assert_allclose

import paramcount as pc
from paramcount.errors import ArgumentError, ParamcountError, ShapeError

NETWORK = pc.Network([pc.Dense(2), pc.Relu(), pc.Dense(1)], input=2)
PARAMS = {
    "dense0": {"weight": jnp.array([[1.0, -1.0], [2.0, 1.0]]), "bias": jnp.array([0.0, 1.0])},
    "dense1": {"weight": jnp.array([[3.0], [5.0]]), "bias": jnp.array([-4.0])},
}
NORMED = pc.Network([pc.BatchNorm(affine=False)], input=2)
BUFFERS = {"batch_norm0": {"mean": jnp.array([1.0, 2.0]), "var": jnp.array([4.0, 9.0])}}


def complaint(call):
    with pytest.raises(ParamcountError) as caught:
        call()
    return str(caught.value)


def test_one_example_by_hand():
    # (3, 1): relu(3 + 2, -3 + 1 + 1) = (5, 0), and 3·5 - 4 = 11
    assert NETWORK.apply(PARAMS, [3.0, 1.0]).tolist() == [11]
    # (1, 1): relu(3, 1) = (3, 1), and 9 + 5 - 4 = 10
    assert NETWORK.apply(PARAMS, {"input": numpy.ones(2, numpy.float32)}).tolist() == [10]


def test_transformations_of_jax():
    x = jnp.array([1.0, 1.0])
    assert jax.jit(NETWORK.apply)(PARAMS, x).tolist() == [10]
    both = jnp.array([[3.0, 1.0], [1.0, 1.0]])
    assert jax.vmap(NETWORK.apply, (None, 0))(PARAMS, both).tolist() == [[11], [10]]
    gradient = jax.grad(lambda params: NETWORK.apply(params, x)[0])(PARAMS)
    assert gradient["dense1"]["weight"].tolist() == [[3], [1]]  # what the last layer sees
    assert gradient["dense0"]["weight"].tolist() == [[3, 5], [3, 5]]  # x times the last layer's weights
    assert jax.jacrev(lambda x: NETWORK.apply(PARAMS, x))(x).tolist() == [[1 * 3 - 1 * 5, 2 * 3 + 1 * 5]]
    many = jax.tree.map(lambda array: jnp.stack([array, 2 * array]), PARAMS)  # an ensemble of two
    assert jax.vmap(NETWORK.apply, (0, None))(many, x).tolist() == [[10], [2 * (2 * (9 + 5)) - 8]]


def test_batch_norm_in_inference_and_in_training():
    assert_allclose(NORMED.apply({}, [5.0, -1.0], BUFFERS), [2, -1], rtol=1e-4)  # (5 - 1) / 2, (-1 - 2) / 3

    def train(x):
        return NORMED.apply({}, x, BUFFERS, train=True, axis_name="batch")

    batch = jnp.array([[0.0, 10.0], [4.0, 30.0]])  # means 2 and 20, variances 4 and 100
    results, after = jax.vmap(train, axis_name="batch", out_axes=(0, None))(batch)
    assert_allclose(results, [[-1, -1], [1, 1]], rtol=1e-4)
    assert_allclose(after["batch_norm0"]["mean"], [0.9 * 1 + 0.2, 0.9 * 2 + 2], rtol=1e-6)
    assert BUFFERS["batch_norm0"]["mean"].tolist() == [1, 2]


def test_dropout_takes_its_key():
    network = pc.Network([pc.Dropout(0.5)], input=1000)
    x = jnp.ones(1000)
    first, second = (network.apply({}, x, train=True, key=jax.random.key(seed))[0] for seed in range(2))
    assert set(first.tolist()) == {0, 2} and 400 < (first == 0).sum() < 600 and (first != second).any()
    assert network.apply({}, x).tolist() == x.tolist()


def test_several_inputs_and_outputs():
    items = [pc.From("left"), pc.Let({"sum": [pc.Add(["prev", "right"])], "twice": [pc.Add(["prev", "prev"])]})]
    network = pc.Network(items, inputs={"left": 2, "right": 2}, outputs=["sum", "twice"])
    results = network.apply({}, {"left": [1.0, 2.0], "right": [10.0, 20.0]})
    assert {name: array.tolist() for name, array in results.items()} == {"sum": [11, 22], "twice": [2, 4]}
    assert "several inputs\nhint: give a mapping with `left`, `right`" in complaint(lambda: network.apply({}, [1.0]))
    assert "are `left`, `right`, not `left`" in complaint(lambda: network.apply({}, {"left": [1.0, 2.0]}))


def test_tokens_are_whole_numbers():
    network = pc.Network([pc.Embedding(3, 2)], input={"tokens": [2]})
    table = {"embedding0": {"table": jnp.arange(6.0).reshape(3, 2)}}
    assert network.apply(table, [2, 0]).tolist() == [[4, 5], [0, 1]]
    assert "`input` must be tokens, as integers, not float32" in complaint(lambda: network.apply(table, [2.0, 0.0]))
    assert "`input` must be tokens, as integers" in complaint(lambda: network.apply(table, numpy.zeros(2, ">f4")))
    assert network.apply(table, numpy.array([2, 0], ">i2")).tolist() == [[4, 5], [0, 1]]
    said = "`input` holds the token `3`, and `embedding0` has rows for 0 to 2"
    assert said in complaint(lambda: network.apply(table, [2, 3]))
    assert numpy.isnan(jax.jit(network.apply)(table, [2, 3])).tolist() == [[False, False], [True, True]]


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (numpy.ones((5, 2)), "the network takes one example: put `jax.vmap` around it"),
        (numpy.ones(3), "`input` has shape (3,), but the network takes (2,)"),
        (numpy.ones(()), "`input` has shape ()"),
        (numpy.ones(2, "uint8"), "must be floating-point, not uint8"),
        ("ab", "the network takes arrays of numbers"),
        (None, "the network takes arrays of numbers"),
        ([[1.0], [1.0, 2.0]], "the network takes arrays of numbers"),
        ({"image": numpy.ones(2)}, "the network's inputs are `input`, not `image`"),
    ],
    ids=str,
)
def test_inputs_that_do_not_fit(x, words):
    assert words in complaint(lambda: NETWORK.apply(PARAMS, x))


def test_tensors_that_do_not_fit():
    x = [1.0, 1.0]
    with pytest.raises(
        ArgumentError, match=r"`params` lack `dense1/weight`\nhint: `params, buffers = network.init\(\)`"
    ):
        NETWORK.apply({"dense0": PARAMS["dense0"]}, x)
    with pytest.raises(ShapeError, match=r"`dense1/weight` has shape \(3, 1\), not \(2, 1\)"):
        NETWORK.apply(PARAMS | {"dense1": {"weight": jnp.ones((3, 1)), "bias": jnp.ones(1)}}, x)
    assert "`params` must be arrays by path and name, not `tuple`" in complaint(
        lambda: NETWORK.apply(NETWORK.init(), x)
    )
    assert "`params` must be arrays by path and name, not `NoneType`" in complaint(lambda: NETWORK.apply(None, x))
    assert "`params` lack `dense0/weight`" in complaint(lambda: NETWORK.apply({"dense0": jnp.ones(2)}, x))
    for train in (False, True):
        assert "`buffers` lack `batch_norm0/mean`" in complaint(lambda train=train: NORMED.apply({}, x, train=train))


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, None, 2**63])
def test_a_seed_is_a_whole_number(seed):
    assert "the seed must be a whole number from 0 to 2^63 - 1" in complaint(lambda: NETWORK.init(seed))
