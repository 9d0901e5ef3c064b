import numpy
import pytest

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers import MODULES, find
from paramcount.layers.layer import Shape, Work

KINDS = [kind for kind, module in MODULES.items() if module in ("activation", "leaky")]


def layer(kind, **settings):
    cls = find(kind)
    assert cls is not None
    return cls(**settings)


def test_all_activations_of_the_language_are_there():
    language = """relu relu6 leaky_relu elu selu gelu gelu_tanh quick_gelu silu hard_swish hard_sigmoid sigmoid
    tanh mish softplus softmax log_softmax exp abs"""
    assert sorted(KINDS) == sorted(language.split())


@pytest.mark.parametrize("kind", KINDS)
def test_one_operation_per_element_and_five_for_softmax(kind):
    each = 5 if "softmax" in kind else 1
    assert layer(kind).work(Shape.of(7, 7, 64)) == Work(macs=0, elementwise=each * 3136)  # 7 · 7 · 64
    assert layer(kind).output_shape(Shape.of(7, 7, 64)) == Shape.of(7, 7, 64)
    assert layer(kind).params(Shape.of(7, 7, 64)) == {}


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_are_refused(kind):
    with pytest.raises(ShapeError, match=f"`{kind}` .* tokens 9") as raised:
        layer(kind).output_shape(Shape((9,), "tokens"))
    assert "embedding" in raised.value.hint


def test_a_scalar_has_no_softmax():
    assert layer("exp").output_shape(Shape.of()) == Shape.of()
    with pytest.raises(ShapeError, match="softmax"):
        layer("softmax").output_shape(Shape.of())


def test_slope_must_be_a_number():
    with pytest.raises(ArgumentError, match="slope must be a number, not `steep`"):
        layer("leaky_relu", slope="steep")


def test_settings_show_what_differs_from_the_default():
    assert layer("leaky_relu").setting() == "" and layer("leaky_relu", slope=0.2).setting() == "0.2"
    assert layer("elu").setting() == "" and layer("elu", alpha=0.5).setting() == "0.5"


def test_values_by_hand():
    x = numpy.array([-4, -1, 0, 1, 8], "float32")
    expected = {
        "relu": [0, 0, 0, 1, 8],
        "relu6": [0, 0, 0, 1, 6],
        "leaky_relu": [-0.04, -0.01, 0, 1, 8],
        "hard_sigmoid": [0, 2 / 6, 3 / 6, 4 / 6, 1],
        "hard_swish": [0, -2 / 6, 0, 4 / 6, 8],
        "abs": [4, 1, 0, 1, 8],
        "elu": [numpy.exp(-4) - 1, numpy.exp(-1) - 1, 0, 1, 8],
    }
    for kind, values in expected.items():
        numpy.testing.assert_allclose(layer(kind).forward({}, x, context=None), values, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_values_equal_torch(kind):
    torch = pytest.importorskip("torch", reason="needs torch")
    f = torch.nn.functional
    oracle = {
        "gelu_tanh": lambda x: f.gelu(x, approximate="tanh"),
        "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),
        "hard_swish": f.hardswish,
        "hard_sigmoid": f.hardsigmoid,
        "sigmoid": torch.sigmoid,
        "tanh": torch.tanh,
        "softmax": lambda x: f.softmax(x, -1),
        "log_softmax": lambda x: f.log_softmax(x, -1),
        "exp": torch.exp,
        "abs": torch.abs,
    }.get(kind) or getattr(f, kind)
    x = numpy.random.default_rng(0).normal(scale=3, size=(5, 40)).astype("float32")
    y = layer(kind).forward({}, x, context=None)
    numpy.testing.assert_allclose(y, oracle(torch.tensor(x)).numpy(), rtol=2e-5, atol=2e-6)
