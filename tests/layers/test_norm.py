"""Norms: integers worked out by hand, values and running statistics against NumPy."""

import numpy as np
import pytest

from paramcount.backend.run.context import Context
from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.batch_norm import BatchNorm
from paramcount.layers.layer import Shape
from paramcount.layers.norm import GroupNorm, InstanceNorm, LayerNorm, RmsNorm


def by_role(layer, x):
    params = layer.params(x).values()
    return {role: sum(each.size for each in params if each.role == role) for role in ("norm", "buffer")}


@pytest.mark.parametrize(
    "layer, sizes, norm, buffer, elementwise",
    [
        (BatchNorm(), (56, 56, 64), 128, 128, 401_408),  # 2 · 56² · 64
        (BatchNorm(affine=False), (50, 32), 0, 64, 3_200),
        (BatchNorm(), (10,), 20, 20, 20),
        (BatchNorm(scale=False), (50, 32), 32, 64, 3_200),
        (BatchNorm(bias=False), (50, 32), 32, 64, 3_200),
        (BatchNorm(affine=False, scale=True), (50, 32), 0, 64, 3_200),
        (BatchNorm(statistics=False), (50, 32), 64, 0, 11_200),  # 7 · 50 · 32
        (BatchNorm(statistics=False, scale=False), (50, 32), 32, 0, 9_600),
        (BatchNorm(statistics=False, affine=False), (50, 32), 0, 0, 8_000),
        (InstanceNorm(statistics=True), (20, 20, 8), 16, 16, 6_400),  # 2 · 20² · 8
        (InstanceNorm(affine=False, statistics=True), (20, 8), 0, 16, 320),
        (LayerNorm(), (197, 768), 1536, 0, 1_059_072),  # 7 · 197 · 768
        (LayerNorm(bias=False), (5, 10), 10, 0, 300),  # 6 · 50
        (LayerNorm(affine=False), (5, 10), 0, 0, 250),
        (GroupNorm(), (28, 28, 64), 128, 0, 351_232),  # 7 · 28² · 64
        (GroupNorm(3, affine=False), (6,), 0, 0, 30),
        (InstanceNorm(), (20, 20, 8), 16, 0, 22_400),
        (InstanceNorm(affine=False), (20, 8), 0, 0, 800),
        (RmsNorm(), (16, 4096), 4096, 0, 262_144),  # 4 · 16 · 4096
        (RmsNorm(affine=False), (3, 8), 0, 0, 72),
    ],
)
def test_by_hand(layer, sizes, norm, buffer, elementwise):
    x = Shape.of(*sizes)
    assert layer.output_shape(x) == x
    assert by_role(layer, x) == {"norm": norm, "buffer": buffer}
    assert (layer.work(x).macs, layer.work(x).elementwise) == (0, elementwise)


RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal((4, 5, 6)).astype(np.float32) * 3 + 1
SCALE, BIAS = RANDOM.standard_normal((2, 6)).astype(np.float32)


def normal(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


@pytest.mark.parametrize(
    "layer, expected",
    [
        (LayerNorm(), normal(X, -1, 1e-5)),
        (InstanceNorm(eps=0.1), normal(X, (0, 1), 0.1)),
        (GroupNorm(1), normal(X, None, 1e-5)),
        (GroupNorm(3), np.concatenate([normal(X[..., c : c + 2], None, 1e-5) for c in (0, 2, 4)], -1)),
        (RmsNorm(), X / np.sqrt((X**2).mean(-1, keepdims=True) + 1e-6)),
    ],
)
def test_forward(layer, expected):
    params = {"scale": SCALE, "bias": BIAS} if "bias" in layer.params(Shape.of(*X.shape)) else {"scale": SCALE}
    y = layer.forward(params, X, context=Context())
    np.testing.assert_allclose(y, expected * SCALE + params.get("bias", 0), rtol=1e-4, atol=1e-5)


def test_batch_norm_in_inference():
    params = {"scale": SCALE, "bias": BIAS, "mean": np.full(6, 2.0), "var": np.full(6, 4.0)}
    context = Context()
    y = BatchNorm().forward(params, X, context=context)
    np.testing.assert_allclose(y, (X - 2) / np.sqrt(4 + 1e-5) * SCALE + BIAS, rtol=1e-5, atol=1e-5)
    assert context.updates == {}


@pytest.mark.parametrize("batch", [X, X[:, 0]])
def test_batch_norm_in_training_averages_over_the_batch(batch):
    import jax

    params = {"scale": SCALE, "bias": BIAS, "mean": np.full(6, 2.0), "var": np.full(6, 4.0)}

    def forward(x):
        context = Context(train=True, axis_name="batch")
        return BatchNorm().forward(params, x, context=context), context.updates

    y, updates = jax.vmap(forward, out_axes=(0, None), axis_name="batch")(batch)
    axes = tuple(range(batch.ndim - 1))
    np.testing.assert_allclose(y, normal(batch, axes, 1e-5) * SCALE + BIAS, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(updates["mean"], 0.9 * 2 + 0.1 * batch.mean(axes), rtol=1e-5)
    np.testing.assert_allclose(updates["var"], 0.9 * 4 + 0.1 * batch.var(axes), rtol=1e-5)


def test_groups_must_divide():
    with pytest.raises(ArgumentError, match="48 channels do not divide into 32 groups") as caught:
        GroupNorm().output_shape(Shape.of(7, 7, 48))
    assert caught.value.argument == "groups"


def test_instance_norm_needs_positions():
    with pytest.raises(ShapeError, match="features 8") as caught:
        InstanceNorm().output_shape(Shape.of(8))
    assert "`layer_norm`" in caught.value.hint


@pytest.mark.parametrize("layer", [BatchNorm(), LayerNorm(), GroupNorm(1), InstanceNorm(), RmsNorm()])
def test_tokens_are_refused(layer):
    with pytest.raises(ShapeError, match=f"`{layer.kind}` works on channels, and got tokens 8"):
        layer.output_shape(Shape((8,), "tokens"))


def test_eps():
    assert (LayerNorm().eps, RmsNorm().eps) == (1e-5, 1e-6)
    with pytest.raises(ArgumentError, match="eps"):
        LayerNorm(eps=-1)
