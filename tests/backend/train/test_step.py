"""One training step: by hand, what it changes, what it leaves, and where its random numbers come from."""

from math import e, log

import jax
import numpy
import optax
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import paramcount as pc

X = numpy.array([[1.0, 2.0]], numpy.float32)
IDENTITY = {"dense0": {"weight": numpy.eye(2), "bias": numpy.zeros(2)}}


def squared(outputs, y):
    return ((outputs - y) ** 2).sum(-1)


def noisy(rows=32, sizes=(6,)):
    generator = numpy.random.default_rng(7)
    return generator.standard_normal((rows, *sizes), numpy.float32), generator.integers(0, 3, rows)


def equal(left, right):
    assert jax.tree.structure(left) == jax.tree.structure(right)
    jax.tree.map(assert_array_equal, left, right)


def test_a_step_of_a_squared_loss_by_hand():
    network = pc.Network([pc.Dense(1)], input=2)
    init = {"dense0": {"weight": [[1.0], [2.0]], "bias": [0.0]}}
    batch = (numpy.array([[3.0, 4.0]], numpy.float32), numpy.array([[10.0]]))
    result = pc.train(network, [batch], loss=squared, learning_rate=0.125, init=init)
    # 1·3 + 2·4 = 11, which is 1 too much: the loss is 1, its gradient 2·(3, 4) and 2
    assert result.epochs[0].loss == 1
    assert result.params["dense0"]["weight"].tolist() == [[1 - 0.75], [2 - 1.0]]
    assert result.params["dense0"]["bias"].tolist() == [-0.25]


def test_a_step_of_cross_entropy_by_hand():
    network = pc.Network([pc.Dense(2)], input=2)
    result = pc.train(network, [(X, numpy.array([0]))], learning_rate=0.5, init=IDENTITY)
    # the logits are (1, 2), so the wrong class has the probability e / (1 + e)
    wrong = e / (1 + e)
    assert_allclose(result.epochs[0].loss, log(1 + e), rtol=1e-6)
    assert_allclose(result.params["dense0"]["bias"], [wrong / 2, -wrong / 2], rtol=1e-6)
    assert_allclose(result.params["dense0"]["weight"], [[1 + wrong / 2, -wrong / 2], [wrong, 1 - wrong]], rtol=1e-6)


def test_the_loss_of_a_batch_is_the_mean_of_its_examples_and_that_of_an_epoch_of_all():
    network = pc.Network([pc.Relu()], input=1)  # nothing to train, so the losses are y²
    rows = [numpy.array([[0.0]] * 3, numpy.float32), numpy.array([[1.0], [2.0], [6.0]])]
    epoch = pc.train(network, [(rows[0][:2], rows[1][:2]), (rows[0][2:], rows[1][2:])], loss=squared).epochs[0]
    assert (epoch.loss, epoch.examples) == ((1 + 4 + 36) / 3, 3)


def test_batch_norm_keeps_the_statistics_of_whole_batches():
    network = pc.Network([pc.BatchNorm(affine=False), pc.Dense(3)], input=2)
    x = numpy.array([[0.0, 10.0], [4.0, 30.0]], numpy.float32)  # means 2 and 20, variances 4 and 100
    result = pc.train(network, [(x, numpy.array([0, 1]))])
    assert_allclose(result.buffers["batch_norm0"]["mean"], [0.2, 2.0], rtol=1e-6)  # a tenth of the way from 0
    assert_allclose(result.buffers["batch_norm0"]["var"], [1.3, 10.9], rtol=1e-6)  # and from 1


@pytest.mark.parametrize(
    "layers",
    [
        [pc.Dense(32, norm="batch_norm", activation="relu"), pc.Dense(3)],
        [pc.Dense(32, activation="relu"), pc.Dropout(0.2), pc.Dense(3)],
    ],
    ids=["batch norm", "dropout"],
)
def test_networks_that_compute_differently_in_training(layers):
    result = pc.train(pc.Network(layers, input=6), [noisy()], epochs=60, optimizer="adam", learning_rate=0.02)
    assert result.epochs[-1].loss < 0.3 * result.epochs[0].loss
    assert result.epochs[-1].train > 0.9  # scored in inference


def test_random_numbers_follow_from_the_seed_and_the_step():
    network = pc.Network([pc.Dropout(0.5), pc.Dense(3)], input=6)
    init, batch = network.init()[0], noisy()

    def losses(seed):
        still = optax.set_to_zero()  # so that nothing but dropout makes losses differ
        result = pc.train(network, [batch], epochs=3, optimizer=still, init=init, seed=seed)
        return [epoch.loss for epoch in result.epochs]

    assert losses(0) == losses(0)
    assert len({*losses(0), *losses(1)}) == 6


def test_what_is_frozen_stays_bit_for_bit():
    layers = [pc.Dense(5, norm="batch_norm"), pc.With(pc.Dense(5), frozen=True), pc.Dense(3)]
    network = pc.Network(layers, input=6)
    params, _ = network.init(4)
    for freeze, kept in ((), {"dense1"}), (["dense0"], {"dense0.dense0", "dense0.batch_norm0", "dense1"}):
        result = pc.train(network, [noisy()], epochs=3, optimizer="momentum", freeze=freeze, seed=4)
        for path, tensors in params.items():
            for name, before in tensors.items():
                same = bool((result.params[path][name] == before).all())
                unmoved = path == "dense0.dense0" and name == "bias"  # the batch norm takes it out: its gradient is 0
                assert same == (path in kept) or unmoved, (freeze, path, name)
        assert result.flops == pc.count(network, train=True, freeze=freeze).train_flops
    assert pc.train(network, [noisy()]).flops > result.flops


def test_a_network_with_nothing_to_train_is_only_scored():
    network = pc.Network([pc.Dense(3)], input=6)
    result = pc.train(network, [noisy()], epochs=2, optimizer="adam", freeze=["dense0"])
    equal(result.params, network.init()[0])
    assert result.epochs[0].loss == result.epochs[1].loss


def test_a_step_donates_only_its_own_memory():
    network = pc.Network([pc.Dense(3, norm="batch_norm")], input=6)
    params, buffers = network.init()
    init = {path: params.get(path, {}) | buffers.get(path, {}) for path in params}
    before = jax.tree.map(numpy.array, init)
    batch = jax.tree.map(jax.numpy.asarray, noisy())
    pc.train(network, [batch], epochs=2, init=init)
    equal(jax.tree.map(numpy.array, init), before)
    assert batch[0].sum().item()  # JAX raises if an array was donated
