"""Optimizers by name compared with PyTorch's, schedules, and other optax transformations."""

import jax
import numpy
import optax
import pytest
from numpy.testing import assert_allclose

import paramcount as pc
from paramcount.backend.train.optimizers import optimizer
from paramcount.errors import ArgumentError

NETWORK = pc.Network([pc.Dense(8, activation="relu"), pc.Dense(5, activation="relu"), pc.Dense(3)], input=6)
PATHS = ["dense0.dense0", "dense1.dense0", "dense2"]
GENERATOR = numpy.random.default_rng(3)
BATCHES = [(GENERATOR.standard_normal((10, 6), numpy.float32), GENERATOR.integers(0, 3, 10)) for _ in range(8)]


@pytest.mark.parametrize(("name", "rate"), [("sgd", 0.1), ("momentum", 0.05), ("adam", 0.01)])
def test_several_steps_equal_those_of_pytorch(name, rate):
    torch = pytest.importorskip("torch", reason="needs torch")
    params, _ = NETWORK.init()
    layers = [torch.nn.Linear(6, 8), torch.nn.Linear(8, 5), torch.nn.Linear(5, 3)]
    for path, layer in zip(PATHS, layers, strict=True):
        layer.weight.data = torch.tensor(numpy.array(params[path]["weight"]).T)
        layer.bias.data = torch.tensor(numpy.array(params[path]["bias"]))
    model = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])
    makers = {
        "sgd": torch.optim.SGD,
        "momentum": lambda tensors, lr: torch.optim.SGD(tensors, lr, momentum=0.9),
        "adam": torch.optim.Adam,
    }
    theirs = makers[name](model.parameters(), lr=rate)
    losses = []
    for x, y in BATCHES:
        theirs.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(torch.tensor(x)), torch.tensor(y))
        loss.backward()
        theirs.step()
        losses.append(loss.item())

    result = pc.train(NETWORK, BATCHES, optimizer=name, learning_rate=rate, init=params)
    assert_allclose(result.epochs[0].loss, numpy.mean(losses), atol=1e-5)
    moved = 0
    for path, layer in zip(PATHS, layers, strict=True):
        assert_allclose(result.params[path]["weight"], layer.weight.detach().numpy().T, atol=1e-5)
        assert_allclose(result.params[path]["bias"], layer.bias.detach().numpy(), atol=1e-5)
        moved = max(moved, abs(result.params[path]["weight"] - params[path]["weight"]).max())
    assert moved > 0.05  # far more than they may differ


def one_weight(steps=1, **settings):
    """A weight that starts at 0 and whose gradient is always 1."""
    network = pc.Network([pc.Dense(1, bias=False)], input=1)
    batch = (numpy.ones((1, 1), numpy.float32), numpy.zeros(1))
    zero = {"dense0": {"weight": [[0.0]]}}
    result = pc.train(network, [batch], epochs=steps, loss=lambda outputs, y: outputs[:, 0], init=zero, **settings)
    return result.params["dense0"]["weight"].item()


def test_a_schedule_gives_each_step_its_rate():
    rates = optax.piecewise_constant_schedule(0.5, {2: 0.5, 3: 0.5})  # 0.5, 0.5, 0.25, 0.125
    assert [-one_weight(steps, learning_rate=rates) for steps in (1, 2, 3, 4)] == [0.5, 1.0, 1.25, 1.375]


def test_any_optax_transformation():
    clipped = optax.chain(optax.clip(0.25), optax.sgd(1.0))
    assert one_weight(3, optimizer=clipped) == -0.75
    assert one_weight(4, optimizer=optax.MultiSteps(optax.sgd(1.0), 2).gradient_transformation()) == -2
    assert one_weight(4, optimizer=optax.MultiSteps(optax.sgd(1.0), 2)) == -2


@pytest.mark.parametrize(
    "made",
    [
        optax.contrib.schedule_free(optax.sgd(0.1), 0.1),  # which has the parameters themselves in its state
        optax.chain(optax.sgd(0.1), optax.contrib.reduce_on_plateau()),  # which needs the loss
        optax.chain(optax.sgd(1.0), optax.scale_by_backtracking_linesearch(5)),  # which computes it again
        optax.chain(optax.add_noise(0.01, 0.5, jax.random.key(0)), optax.sgd(0.1)),  # which keeps a random key
    ],
    ids=["schedule free", "plateau", "line search", "noise"],
)
def test_transformations_with_special_needs(made, tmp_path):
    network = pc.Network([pc.Dense(3)], input=6)
    settings = {"optimizer": made, "checkpoint": tmp_path / "all.safetensors"}
    pc.train(network, BATCHES, epochs=2, **settings)
    resumed = pc.train(network, BATCHES, epochs=3, resume=True, **settings)
    assert resumed.epochs[-1].loss < resumed.epochs[0].loss


@pytest.mark.parametrize("rate", [0, -0.1, float("nan"), float("inf"), "0.1", True, 1j, 10**400, numpy.bool_(True)])
def test_a_rate_is_a_positive_number(rate):
    with pytest.raises(ArgumentError, match="a learning rate must be a positive number"):
        optimizer("sgd", rate)


def test_a_transformation_has_its_own_rate():
    with pytest.raises(ArgumentError, match="already has a learning rate"):
        optimizer(optax.sgd(0.1), 0.1)


def test_the_default_rate():
    assert one_weight(learning_rate=None) == one_weight(learning_rate=0.01) == pytest.approx(-0.01)


def test_a_rate_may_be_a_numpy_number():
    assert one_weight(learning_rate=numpy.float32(0.5)) == one_weight(learning_rate=numpy.float64(0.5)) == -0.5
    assert one_weight(learning_rate=jax.numpy.float32(0.5)) == -0.5 and one_weight(learning_rate=numpy.int64(2)) == -2


@pytest.mark.parametrize("given", ["adamw", "SGD", None, 3, optax.adam])
def test_wrong_optimizers(given):
    with pytest.raises(ArgumentError, match="optimizer"):
        optimizer(given, 0.1)
