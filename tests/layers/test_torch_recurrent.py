"""Recurrent layers give PyTorch's values with the same weights, in every option."""

from functools import partial

import jax
import numpy as np
import pytest

from paramcount.backend.run.context import Context
from paramcount.layers.layer import Shape
from paramcount.layers.recurrent import Gru, Lstm, Rnn

torch = pytest.importorskip("torch", reason="needs torch")
NAMES = {
    "weight_ih": "input_weight",
    "weight_hh": "hidden_weight",
    "bias_ih": "input_bias",
    "bias_hh": "hidden_bias",
    "weight_hr": "projection",
}


def ours(module):
    """PyTorch's tensors under our names; matrices have their input first."""
    found = {}
    for name, value in module.named_parameters():
        part, place = name.split("_l")
        found[f"{NAMES[part]}_{place}"] = value.detach().numpy().T
    return found


def check(layer, module, *states):
    """The outputs and last states of a sequence of 6 steps; each state (rows, width) is what both start from."""
    torch.manual_seed(5)
    for value in module.parameters():
        torch.nn.init.normal_(value, std=0.5)
    x = torch.randn(6, module.input_size)
    start = [torch.tensor(state) for state in states]
    with torch.no_grad():
        y, last = module(x, *([tuple(start) if len(start) > 1 else start[0]] if start else []))
    expected = [y, *(last if isinstance(last, tuple) else [last])]

    alone = layer.layers == 1 and not layer.bidirectional
    given = [state[0] if alone else state for state in states]
    shapes = [Shape.of(*value.shape) for value in (x, *given)]
    params = ours(module)
    assert {name: param.shape for name, param in layer.params(*shapes).items()} == {
        name: value.shape for name, value in params.items()
    }
    results = jax.jit(partial(layer.forward, context=Context()))(params, x.numpy(), *given)
    assert len(results) == len(expected)
    for index, (mine, theirs) in enumerate(zip(results, expected, strict=True)):
        theirs = theirs.numpy()
        np.testing.assert_allclose(mine, theirs[0] if alone and index else theirs, rtol=1e-4, atol=1e-5)


STACKS = [{}, {"layers": 3}, {"bidirectional": True}, {"layers": 2, "bidirectional": True}]


def in_torch(settings):
    return {"num_layers" if name == "layers" else name: value for name, value in settings.items()}


@pytest.mark.parametrize("biases", [2, 0])
@pytest.mark.parametrize("settings", STACKS, ids=str)
def test_values(settings, biases):
    theirs = {**in_torch(settings), "bias": biases == 2}
    check(Lstm(4, biases=biases, **settings), torch.nn.LSTM(3, 4, **theirs))
    check(Lstm(4, biases=biases, projection=2, **settings), torch.nn.LSTM(3, 4, proj_size=2, **theirs))
    check(Gru(4, biases=biases, **settings), torch.nn.GRU(3, 4, **theirs))
    for function in ("tanh", "relu"):
        module = torch.nn.RNN(3, 4, nonlinearity=function, **theirs)
        check(Rnn(4, biases=biases, function=function, **settings), module)


@pytest.mark.parametrize("settings", STACKS, ids=str)
def test_values_from_states(settings):
    rows = settings.get("layers", 1) * (2 if settings.get("bidirectional") else 1)
    random = np.random.default_rng(3)
    state, narrow, cell = (random.standard_normal((rows, width)).astype("float32") for width in (4, 2, 4))
    theirs = in_torch(settings)
    check(Lstm(4, state="h", cell="c", **settings), torch.nn.LSTM(3, 4, **theirs), state, cell)
    projected = torch.nn.LSTM(3, 4, proj_size=2, **theirs)
    check(Lstm(4, projection=2, state="h", cell="c", **settings), projected, narrow, cell)
    check(Gru(4, state="h", **settings), torch.nn.GRU(3, 4, **theirs), state)
    check(Rnn(4, state="h", **settings), torch.nn.RNN(3, 4, **theirs), state)


@pytest.mark.parametrize("layer, cell", [(Lstm(4), "LSTMCell"), (Gru(4), "GRUCell"), (Rnn(4), "RNNCell")])
def test_features_are_one_step(layer, cell):
    module = getattr(torch.nn, cell)(3, 4)
    x = torch.randn(1, 3)
    params = {f"{NAMES[name]}_0": value.detach().numpy().T for name, value in module.named_parameters()}
    expected = module(x)
    y, *last = layer.forward(params, x.numpy()[0], context=Context())
    for mine, theirs in zip(last, expected if isinstance(expected, tuple) else [expected], strict=True):
        np.testing.assert_allclose(mine, theirs[0].detach().numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(y, last[0])


def test_one_bias_is_the_inputs():
    module = torch.nn.GRU(3, 4)
    with torch.no_grad():
        module.bias_hh_l0.zero_()
        x = torch.randn(5, 3)
        expected = module(x)[0].numpy()
    params = ours(module)
    del params["hidden_bias_0"]
    y, _ = Gru(4, biases=1).forward(params, x.numpy(), context=Context())
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
