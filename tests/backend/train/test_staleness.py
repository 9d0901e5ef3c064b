"""Stale gradients against plain loops written out here: SGD on least squares, workers in turn, optax by hand."""

import jax
import numpy
import pytest
from jax import numpy as jnp

from paramcount.backend.train.train import train
from paramcount.errors import ArgumentError
from paramcount.graph.network import Network
from paramcount.layers.batch_norm import BatchNorm
from paramcount.layers.dense import Dense

optax = pytest.importorskip("optax", reason="needs optax")

generator = numpy.random.default_rng(3)
BATCHES = [
    (generator.normal(size=(6, 3)).astype("float32"), generator.normal(size=(6, 1)).astype("float32")) for _ in range(7)
]
START = {"weight": generator.normal(size=(3, 1)), "bias": generator.normal(size=1)}
RATE = 0.05


def squared(outputs, y):
    return (outputs - y) ** 2


def trained(staleness, items=None, init=None, **settings):
    settings = {"loss": squared, "learning_rate": RATE, "staleness": staleness} | settings
    network = Network(items or [Dense(1)], input=3)
    return train(network, settings.pop("batches", BATCHES), init=init or {"dense0": START}, **settings)


def gradient(w, b, x, y):
    """The gradient of the mean over a batch of (x·w + b - y)²."""
    error = x @ w + b - y
    return 2 * x.T @ error / len(x), 2 * error.mean(0)


def close(result, w, b, path="dense0"):
    numpy.testing.assert_allclose(result.params[path]["weight"], w, rtol=2e-5, atol=1e-6)
    numpy.testing.assert_allclose(result.params[path]["bias"], b, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("staleness", [0, 1, 2, 5, 20])
def test_each_gradient_is_taken_n_updates_ago(staleness):
    held = [(START["weight"], START["bias"])]  # after each update
    losses = []
    for k, (x, y) in enumerate(BATCHES * 2):
        old_w, old_b = held[max(0, k - staleness)]  # at first those of the start
        losses.append(((x @ old_w + old_b - y) ** 2).mean())
        for_w, for_b = gradient(old_w, old_b, x, y)
        w, b = held[-1]
        held.append((w - RATE * for_w, b - RATE * for_b))
    result = trained(staleness, epochs=2)
    close(result, *held[-1])
    expected = numpy.mean(losses[:7]), numpy.mean(losses[7:])  # at the parameters that were read
    numpy.testing.assert_allclose([epoch.loss for epoch in result.epochs], expected, rtol=1e-5)


def test_it_equals_workers_that_train_in_turn():
    w, b = START["weight"], START["bias"]
    read = [(w, b)] * 4  # what each of four workers took from the shared parameters
    for k, (x, y) in enumerate(BATCHES):
        for_w, for_b = gradient(*read[k % 4], x, y)
        w, b = w - RATE * for_w, b - RATE * for_b
        read[k % 4] = w, b  # after its update, it reads again
    close(trained(3), w, b)
    assert numpy.abs(numpy.asarray(trained(2).params["dense0"]["weight"]) - w).max() > 1e-3


def test_momentum():
    held = [(START["weight"], START["bias"])]
    velocity_w, velocity_b = numpy.zeros((3, 1)), numpy.zeros(1)
    for k, (x, y) in enumerate(BATCHES):
        for_w, for_b = gradient(*held[max(0, k - 2)], x, y)
        velocity_w, velocity_b = 0.9 * velocity_w + for_w, 0.9 * velocity_b + for_b
        held.append((held[-1][0] - RATE * velocity_w, held[-1][1] - RATE * velocity_b))
    close(trained(2, optimizer="momentum"), *held[-1])


def test_an_optimizer_sees_the_current_parameters():
    chosen = optax.adamw(0.1, weight_decay=0.5)  # the decay is that of the current parameters
    params = jax.tree.map(jnp.float32, START)
    held, state = [params], chosen.init(params)
    for k, (x, y) in enumerate(BATCHES):
        old = held[max(0, k - 3)]
        late = dict(zip(("weight", "bias"), gradient(old["weight"], old["bias"], x, y), strict=True))
        updates, state = chosen.update(late, state, held[-1])
        held.append(optax.apply_updates(held[-1], updates))
    close(trained(3, optimizer=chosen, learning_rate=None), held[-1]["weight"], held[-1]["bias"])


def test_frozen_layers():
    first = {"weight": generator.normal(size=(3, 2)), "bias": generator.normal(size=2)}
    second = {"weight": generator.normal(size=(2, 1)), "bias": generator.normal(size=1)}
    held = [(second["weight"], second["bias"])]
    for k, (x, y) in enumerate(BATCHES):
        for_w, for_b = gradient(*held[max(0, k - 2)], x @ first["weight"] + first["bias"], y)
        held.append((held[-1][0] - RATE * for_w, held[-1][1] - RATE * for_b))
    result = trained(2, [Dense(2), Dense(1)], {"dense0": first, "dense1": second}, freeze=["dense0"])
    close(result, *held[-1], path="dense1")
    close(result, first["weight"], first["bias"])


def test_batch_statistics_are_those_of_the_stale_parameters():
    def loss(params, x, y):
        values = x @ params["weight"] + params["bias"]
        mean = values.mean(0)
        deviation = jnp.sqrt(((values - mean) ** 2).mean(0) + 1e-5)
        outputs = (values - mean) / deviation * params["scale"] + params["shift"]
        return ((outputs - y) ** 2).mean(), (mean, deviation**2 - 1e-5)

    params = jax.tree.map(jnp.float32, START | {"scale": numpy.ones(1), "shift": numpy.zeros(1)})
    held, running = [params], (0.0, 1.0)
    for k, (x, y) in enumerate(BATCHES):
        late, seen = jax.grad(loss, has_aux=True)(held[max(0, k - 2)], x, y)
        held.append(jax.tree.map(lambda now, each: now - RATE * each, held[-1], late))
        running = [0.9 * old + 0.1 * new for old, new in zip(running, seen, strict=True)]
    result = trained(2, [Dense(1), BatchNorm()])
    close(result, held[-1]["weight"], held[-1]["bias"])
    buffers = result.buffers["batch_norm0"]
    numpy.testing.assert_allclose([buffers["mean"], buffers["var"]], running, rtol=2e-5, atol=1e-6)


def test_a_resumed_run_keeps_the_stale_parameters(tmp_path):
    pytest.importorskip("safetensors", reason="needs safetensors")
    path = str(tmp_path / "kept.safetensors")
    batches = BATCHES[:2]  # fewer than the delay
    trained(3, batches=batches, epochs=2, optimizer="momentum", checkpoint=path)
    on = trained(3, batches=batches, epochs=4, optimizer="momentum", checkpoint=path, resume=True)
    whole = trained(3, batches=batches, epochs=4, optimizer="momentum")
    assert [epoch.loss for epoch in on.epochs] == [epoch.loss for epoch in whole.epochs]
    for name, array in whole.params["dense0"].items():
        assert numpy.array_equal(on.params["dense0"][name], array)
    for other in (0, 2, 4):
        with pytest.raises(ArgumentError, match="the checkpoint belongs to another training run"):
            trained(other, batches=batches, epochs=5, optimizer="momentum", checkpoint=path, resume=True)


@pytest.mark.parametrize("staleness", [0, 1, 2, 8])
def test_stale_gradients_tolerate_only_smaller_steps(staleness):
    """On w²/2, whose gradient is w, steps converge below 2·sin(π / (4n + 2)): 2 for n = 0, 0.185 for n = 8."""
    bound = 2 * numpy.sin(numpy.pi / (4 * staleness + 2))
    network = Network([Dense(1, bias=False)], input=1)
    batches = [(numpy.ones((1, 1), "float32"), numpy.zeros((1, 1), "float32"))] * 400

    def end(rate):
        settings = {"init": {"dense0": {"weight": numpy.ones((1, 1))}}, "staleness": staleness}
        result = train(network, batches, loss=lambda out, y: out**2 / 2, learning_rate=rate, **settings)
        return abs(result.params["dense0"]["weight"].item())

    assert end(0.95 * bound) < 0.5 and end(1.05 * bound) > 2


@pytest.mark.parametrize("staleness", [-1, 1.0, True, "2", None])
def test_wrong_stalenesses(staleness):
    with pytest.raises(ArgumentError, match="staleness must be a whole number of at least 0, not"):
        trained(staleness)
