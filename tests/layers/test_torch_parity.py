"""The same weights give the same values as in PyTorch, where that is installed."""

import dataclasses

import numpy as np
import pytest

from paramcount.backend.run.context import Context
from paramcount.layers.batch_norm import BatchNorm
from paramcount.layers.conv import Conv
from paramcount.layers.conv_transpose import ConvTranspose
from paramcount.layers.dense import Dense
from paramcount.layers.depthwise import Depthwise
from paramcount.layers.embedding import Embedding
from paramcount.layers.layer import Layer, Shape
from paramcount.layers.norm import GroupNorm, InstanceNorm, LayerNorm, RmsNorm
from paramcount.layers.pointwise import Pointwise
from paramcount.layers.prelu import Prelu
from paramcount.layers.response_norm import L2Norm, LocalResponseNorm

torch = pytest.importorskip("torch", reason="needs torch")
functional = torch.nn.functional
RANDOM = np.random.default_rng(17)


def filled(layer: Layer, x: Shape) -> dict[str, np.ndarray]:
    """Random values for every parameter; variances are positive."""
    params = {n: RANDOM.standard_normal(p.shape).astype(np.float32) for n, p in layer.params(x).items()}
    return params | {name: abs(value) + 0.5 for name, value in params.items() if name == "var"}


def first(array):
    """Channels last to a batch of one, channels first."""
    return torch.tensor(np.ascontiguousarray(np.moveaxis(array, -1, 0)[None]))


def last(tensor):
    return np.moveaxis(tensor[0].detach().numpy(), 0, -1)


def kernel(weight):
    """[..., input, output] to [output, input, ...]."""
    return torch.tensor(np.ascontiguousarray(np.moveaxis(weight, (-1, -2), (0, 1))))


def vector(params, name):
    return torch.tensor(params[name]) if name in params else None


def compare(layer: Layer, sizes: tuple, oracle, **settings) -> None:
    x = RANDOM.standard_normal(sizes).astype(np.float32)
    params = filled(layer, Shape.of(*sizes))
    y = layer.forward(params, x, context=Context(**settings))
    np.testing.assert_allclose(y, oracle(params, x), rtol=1e-4, atol=1e-4)


CONV = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
TRANSPOSE = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}


@pytest.mark.parametrize(
    "layer, sizes, options",
    [
        (Conv(6, 3, 2, "half", groups=3, bias=True), (8, 7, 3), {"stride": 2, "padding": 1, "groups": 3}),
        (Conv(4, (3, 5), dilation=(2, 3)), (9, 14, 2), {"padding": "same", "dilation": (2, 3)}),
        (Conv(4, 4, padding="same"), (9, 2), {"padding": "same"}),
        (Conv(3, 2, (1, 2, 1), (0, 1, 1)), (3, 4, 3, 2), {"stride": (1, 2, 1), "padding": (0, 1, 1)}),
        (Conv(3, 3, padding=4), (3, 3, 2), {"padding": 4}),
        (Depthwise(3, 2, 2, "half", bias=True), (7, 6, 3), {"stride": 2, "padding": 1, "groups": 3}),
    ],
)
def test_convolution(layer, sizes, options):
    def oracle(params, x):
        return last(CONV[len(sizes) - 1](first(x), kernel(params["weight"]), vector(params, "bias"), **options))

    compare(layer, sizes, oracle)


@pytest.mark.parametrize(
    "settings, options", [({}, {}), ({"stride": 3}, {"stride": 3}), ({"groups": 2}, {"groups": 2})]
)
def test_pointwise(settings, options):
    def oracle(params, x):
        weight = kernel(params["weight"][None, None])
        return last(functional.conv2d(first(x), weight, vector(params, "bias"), **options))

    compare(Pointwise(6, bias=True, **settings), (7, 6, 4), oracle)


@pytest.mark.parametrize(
    "layer, sizes, options",
    [
        (
            ConvTranspose(4, 3, 2, 1, output_padding=1, bias=True),
            (5, 6),
            {"stride": 2, "padding": 1, "output_padding": 1},
        ),
        (
            ConvTranspose(8, 5, 3, 2, output_padding=2, dilation=2, groups=4),
            (7, 4),
            {"stride": 3, "padding": 2, "output_padding": 2, "dilation": 2, "groups": 4},
        ),
        (ConvTranspose(3, 3, 1, "valid", dilation=3), (5, 4, 2), {"dilation": 3}),
        (
            ConvTranspose(6, 3, 2, 1, output_padding=(1, 0), groups=2),
            (5, 4, 4),
            {"stride": 2, "padding": 1, "output_padding": (1, 0), "groups": 2},
        ),
        (
            ConvTranspose(3, (3, 5, 2), (2, 1, 1), (0, 4, 2)),
            (3, 5, 6, 2),
            {"stride": (2, 1, 1), "padding": (0, 4, 2)},
        ),
        (ConvTranspose(2, 3, 1, 3), (9, 2), {"padding": 3}),
    ],
)
def test_transposed_convolution(layer, sizes, options):
    def oracle(params, x):
        weight = np.moveaxis(params["weight"], (-2, -1), (0, 1))  # to [input, output / groups, ...]
        weight = torch.tensor(np.ascontiguousarray(weight))
        return last(TRANSPOSE[len(sizes) - 1](first(x), weight, vector(params, "bias"), **options))

    compare(layer, sizes, oracle)


def test_dense():
    compare(
        Dense(5),
        (4, 3),
        lambda p, x: functional.linear(torch.tensor(x), torch.tensor(p["weight"].T), torch.tensor(p["bias"])),
    )


def test_weight_norm():
    def dense(params, x):
        module = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 5, bias=False))
        module.parametrizations.weight.original0.data = torch.tensor(params["gain"][:, None])
        module.parametrizations.weight.original1.data = torch.tensor(np.ascontiguousarray(params["weight"].T))
        return module(torch.tensor(x)).detach()

    compare(Dense(5, False, weight_norm=True), (4, 3), dense)

    def conv(params, x):
        module = torch.nn.utils.parametrizations.weight_norm(torch.nn.Conv1d(3, 5, 3, padding=1, bias=False))
        module.parametrizations.weight.original0.data = torch.tensor(params["gain"][:, None, None])
        module.parametrizations.weight.original1.data = kernel(params["weight"])
        return last(module(first(x)))

    compare(Conv(5, 3, weight_norm=True), (6, 3), conv)


WEIGHT_NORM = [  # our layer, its input, PyTorch's module, the axis of its kernel that keeps its length
    (Conv(6, 3, padding=1, groups=2, weight_norm=True), (7, 4), torch.nn.Conv1d(4, 6, 3, padding=1, groups=2), 0),
    (Conv(6, 3, padding=1, groups=2, weight_norm="output"), (7, 4), torch.nn.Conv1d(4, 6, 3, padding=1, groups=2), 0),
    (Conv(6, 3, padding=1, groups=2, weight_norm="input"), (7, 4), torch.nn.Conv1d(4, 6, 3, padding=1, groups=2), 1),
    (Conv(6, 4, padding=2, groups=2, weight_norm="tap"), (7, 4), torch.nn.Conv1d(4, 6, 4, padding=2, groups=2), 2),
    (Conv(6, (1, 3), padding=0, weight_norm="tap"), (5, 7, 4), torch.nn.Conv2d(4, 6, (1, 3)), 3),
    (Conv(6, (2, 3), padding=0, weight_norm=True), (5, 7, 4), torch.nn.Conv2d(4, 6, (2, 3)), 0),
    (Depthwise(3, padding=1, weight_norm=True), (7, 4), torch.nn.Conv1d(4, 4, 3, padding=1, groups=4), 0),
    (Depthwise(3, padding=1, weight_norm="tap"), (7, 4), torch.nn.Conv1d(4, 4, 3, padding=1, groups=4), 2),
    (Pointwise(6, weight_norm=True), (5, 7, 4), torch.nn.Conv2d(4, 6, 1), 0),
    (Pointwise(6, groups=2, weight_norm="input"), (7, 4), torch.nn.Conv1d(4, 6, 1, groups=2), 1),
    (Dense(6, weight_norm="input"), (7, 4), torch.nn.Linear(4, 6), 1),
    (ConvTranspose(6, 4, 2, 1, weight_norm=True), (7, 4), torch.nn.ConvTranspose1d(4, 6, 4, 2, 1), 0),
    (ConvTranspose(6, 4, 2, 1, weight_norm="input"), (7, 4), torch.nn.ConvTranspose1d(4, 6, 4, 2, 1), 0),
    (ConvTranspose(6, 4, 2, 1, weight_norm="output"), (7, 4), torch.nn.ConvTranspose1d(4, 6, 4, 2, 1), 1),
    (
        ConvTranspose(6, 4, 2, 1, groups=2, weight_norm=True),
        (7, 4),
        torch.nn.ConvTranspose1d(4, 6, 4, 2, 1, groups=2),
        0,
    ),
    (ConvTranspose(6, 4, 2, 1, weight_norm="tap"), (7, 4), torch.nn.ConvTranspose1d(4, 6, 4, 2, 1), 2),
    (ConvTranspose(6, 3, 2, 1, weight_norm=True), (5, 7, 4), torch.nn.ConvTranspose2d(4, 6, 3, 2, 1), 0),
]


@pytest.mark.parametrize("layer, sizes, module, dim", WEIGHT_NORM)
def test_weight_norm_of_each_axis(layer, sizes, module, dim):
    """The same number of parameters, and with them the same values."""
    layer = dataclasses.replace(layer, bias=True)
    normed = torch.nn.utils.parametrizations.weight_norm(module, dim=dim)
    declared = layer.params(Shape.of(*sizes))
    assert sum(param.size for param in declared.values()) == sum(each.numel() for each in normed.parameters())

    def oracle(params, x):
        transposed = isinstance(layer, ConvTranspose)
        weight = np.moveaxis(params["weight"], (-2, -1) if transposed else (-1, -2), (0, 1))
        with torch.no_grad():
            length, direction = normed.parametrizations.weight.original0, normed.parametrizations.weight.original1
            direction.copy_(torch.tensor(np.ascontiguousarray(weight)).reshape(direction.shape))
            length.copy_(torch.tensor(params["gain"]).reshape(length.shape))
            normed.bias.copy_(torch.tensor(params["bias"]))
        return normed(torch.tensor(x)).detach().numpy() if isinstance(layer, Dense) else last(normed(first(x)))

    compare(layer, sizes, oracle)


@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm_without_running_statistics(affine):
    """In inference too, PyTorch normalizes by the batch."""
    module = torch.nn.BatchNorm2d(6, affine=affine, track_running_stats=False).eval()
    layer = BatchNorm(affine=affine, statistics=False)
    declared = layer.params(Shape.of(4, 5, 6))
    assert sum(param.size for param in declared.values()) == sum(each.numel() for each in module.parameters())
    assert not list(module.buffers()) and all(param.role == "norm" for param in declared.values())

    def oracle(params, x):
        return last(functional.batch_norm(first(x), None, None, vector(params, "scale"), vector(params, "bias"), True))

    for train in (False, True):
        compare(layer, (4, 5, 6), oracle, train=train)
    if not affine:
        compare(layer, (4, 5, 6), lambda params, x: last(module(first(x))))


@pytest.mark.parametrize("alone", ["scale", "bias"])
def test_batch_norm_with_a_scale_or_a_bias_alone(alone):
    def oracle(params, x):
        assert set(params) == {alone, "mean", "var"}
        statistics = vector(params, "mean"), vector(params, "var")
        return last(functional.batch_norm(first(x), *statistics, vector(params, "scale"), vector(params, "bias")))

    compare(BatchNorm(scale=alone == "scale", bias=alone == "bias"), (4, 5, 6), oracle)


@pytest.mark.parametrize("sizes, module", [((4, 5, 6), torch.nn.InstanceNorm2d), ((4, 6), torch.nn.InstanceNorm1d)])
def test_instance_norm_with_running_statistics(sizes, module):
    """Values in inference and in training, and the running mean; PyTorch's running variance is the unbiased one."""
    layer, norm = InstanceNorm(statistics=True), module(6, affine=True, track_running_stats=True)
    buffers = [each for each in norm.buffers() if each.ndim]  # without the number of batches
    declared = layer.params(Shape.of(*sizes)).values()
    assert sum(param.size for param in declared if param.role == "buffer") == sum(each.numel() for each in buffers)
    assert sum(param.size for param in declared if param.role == "norm") == sum(p.numel() for p in norm.parameters())
    x, params = RANDOM.standard_normal(sizes).astype(np.float32), filled(layer, Shape.of(*sizes))
    with torch.no_grad():
        norm.weight.copy_(torch.tensor(params["scale"]))
        norm.bias.copy_(torch.tensor(params["bias"]))
        norm.running_mean.copy_(torch.tensor(params["mean"]))
        norm.running_var.copy_(torch.tensor(params["var"]))
    y = layer.forward(params, x, context=Context())
    np.testing.assert_allclose(y, last(norm.eval()(first(x))), rtol=1e-4, atol=1e-4)
    training = Context(train=True)
    y = layer.forward(params, x, context=training)
    np.testing.assert_allclose(y, last(norm.train()(first(x))), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(training.updates["mean"], norm.running_mean, rtol=1e-4, atol=1e-4)
    count = x[..., 0].size
    unbiased = 0.9 * params["var"] + 0.1 * x.reshape(-1, 6).var(0) * count / (count - 1)
    np.testing.assert_allclose(norm.running_var, unbiased, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(
        training.updates["var"], 0.9 * params["var"] + 0.1 * x.reshape(-1, 6).var(0), rtol=1e-4, atol=1e-4
    )


def test_embedding():
    layer, tokens = Embedding(7, 3), np.array([[1, 6], [0, 1]])
    params = filled(layer, Shape((2, 2), "tokens"))
    y = layer.forward(params, tokens, context=Context())
    np.testing.assert_array_equal(y, functional.embedding(torch.tensor(tokens), torch.tensor(params["table"])))


@pytest.mark.parametrize("sizes", [(4, 5, 6), (4, 6)])
def test_batch_norm_in_inference(sizes):
    def oracle(p, x):
        t = {name: torch.tensor(value) for name, value in p.items()}
        return last(functional.batch_norm(first(x), t["mean"], t["var"], t["scale"], t["bias"]))

    compare(BatchNorm(), sizes, oracle)


def test_batch_norm_in_training():
    def oracle(p, x):
        return last(functional.batch_norm(first(x), None, None, vector(p, "scale"), vector(p, "bias"), training=True))

    compare(BatchNorm(), (4, 5, 6), oracle, train=True)


@pytest.mark.parametrize(
    "layer, torch_eps", [(LayerNorm(), 1e-5), (LayerNorm(eps=0.1), 0.1), (LayerNorm(bias=False), 1e-5)]
)
def test_layer_norm(layer, torch_eps):
    compare(
        layer,
        (4, 6),
        lambda p, x: functional.layer_norm(torch.tensor(x), (6,), vector(p, "scale"), vector(p, "bias"), torch_eps),
    )


def test_rms_norm():
    compare(RmsNorm(), (4, 6), lambda p, x: functional.rms_norm(torch.tensor(x), (6,), vector(p, "scale"), 1e-6))


@pytest.mark.parametrize("sizes", [(4, 5, 6), (4, 6)])
def test_group_and_instance_norm(sizes):
    compare(
        GroupNorm(3),
        sizes,
        lambda p, x: last(functional.group_norm(first(x), 3, vector(p, "scale"), vector(p, "bias"))),
    )
    compare(
        InstanceNorm(),
        sizes,
        lambda p, x: last(functional.instance_norm(first(x), weight=vector(p, "scale"), bias=vector(p, "bias"))),
    )


@pytest.mark.parametrize("size", [5, 4])
def test_local_response_norm(size):
    compare(
        LocalResponseNorm(size, alpha=0.3, offset=2.0),
        (4, 5, 7),
        lambda _, x: last(functional.local_response_norm(first(x), size, alpha=0.3, k=2.0)),
    )


def test_l2_norm():
    compare(L2Norm(), (4, 6), lambda _, x: functional.normalize(torch.tensor(x), dim=-1))


@pytest.mark.parametrize("shared", [False, True])
def test_prelu(shared):
    compare(Prelu(shared), (4, 5, 3), lambda p, x: last(functional.prelu(first(x), torch.tensor(p["slope"]))))
