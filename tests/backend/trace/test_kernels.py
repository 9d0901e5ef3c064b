"""Convolutions, transposed ones and the gradients of both, told apart by which way their kernels run."""

import random
from functools import partial
from math import prod

import pytest

jax = pytest.importorskip("jax")

from jax import ShapeDtypeStruct, lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from paramcount.backend.trace.trace import trace  # noqa: E402
from paramcount.backend.trace.walker import count_macs  # noqa: E402

LAYOUT = ("NHWC", "HWIO", "NHWC")


def shape(*sizes):
    return ShapeDtypeStruct(sizes, jnp.float32)


def both_ways(function, *arguments):
    """The MACs of a function, and of it with its gradients, both by a plain count and by a trace."""
    gradients = jax.value_and_grad(lambda *given: jnp.sin(function(*given)).sum(), tuple(range(len(arguments))))
    counts = count_macs(jax.make_jaxpr(function)(*arguments)), count_macs(jax.make_jaxpr(gradients)(*arguments))
    assert counts == (trace(function, *arguments).macs, trace(gradients, *arguments).macs)
    return counts


def plain(x, w, stride=(1, 1), padding=((6, 0), (5, 4))):
    return lax.conv_general_dilated(x, w, stride, padding, dimension_numbers=LAYOUT)


def transposed(x, w, stride=(1, 1), padding=((1, 0), (2, 4))):
    return lax.conv_general_dilated(
        x, jnp.flip(w, (0, 1)), (1, 1), padding, lhs_dilation=stride, dimension_numbers=LAYOUT
    )


X, W = shape(2, 7, 5, 3), shape(3, 2, 3, 4)
PLAIN = 2 * 3 * 4 * 6 * (7 + 6 - 2) * (5 + 9 - 1)  # by the positions of the result
TRANSPOSED = 2 * 3 * 4 * 6 * 7 * 5  # by those of the input


def test_without_a_stride_the_kernel_decides():
    assert both_ways(plain, X, W) == (PLAIN, 3 * PLAIN)
    assert both_ways(transposed, X, W) == (TRANSPOSED, 3 * TRANSPOSED)
    assert both_ways(lambda x, w: transposed(x, jnp.flip(w, (0, 1)), padding=((6, 0), (5, 4))), X, W) == (
        PLAIN,
        3 * PLAIN,
    )


@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (1, 3)])
@pytest.mark.parametrize("padding", ["SAME", "VALID", ((0, 0), (3, 1))])
@pytest.mark.parametrize("reverse", [True, False])
def test_transposed_convolutions_of_jax(stride, padding, reverse):
    """Without a stride, one that does not reverse its kernel is a plain convolution."""
    up = partial(
        lax.conv_transpose, strides=stride, padding=padding, dimension_numbers=LAYOUT, transpose_kernel=reverse
    )
    kernel = shape(3, 2, 4, 3) if reverse else W
    closed = TRANSPOSED
    if stride == (1, 1) and not reverse:
        closed = 2 * 3 * 4 * 6 * prod(jax.eval_shape(up, X, kernel).shape[1:3])
    assert both_ways(up, X, kernel) == (closed, 3 * closed)


@jax.custom_vjp
def passed_on(w):
    return w


passed_on.defvjp(lambda w: (w, None), lambda _, g: (g,))

WRAPPED = {
    "jit": lambda f: jax.jit(f),
    "a reversal of its own call": lambda f: lambda x, w: jax.jit(jnp.flip, static_argnums=1)(
        f(x, jax.jit(lambda w: w[::-1, ::-1])(w)[::-1, ::-1]), None
    ),
    "custom_vjp": lambda f: lambda x, w: f(x, passed_on(w)),
    "cond": lambda f: lambda x, w: lax.cond(x[0, 0, 0, 0] > 0, f, lambda x, w: f(x, w) + 1, x, w),
    "casts": lambda f: lambda x, w: f(x, w.astype("bfloat16").astype("f4")),
    "copies": lambda f: lambda x, w: f(*lax.optimization_barrier((x, w))),
    "transposed and reshaped": lambda f: lambda x, w: f(x, w.reshape(6, 3, 4).T.transpose(2, 1, 0).reshape(W.shape)),
    "an axis to map": lambda f: lambda x, w: jax.vmap(f, (0, None))(x[:, None], w),
    "kernels to map": lambda f: lambda x, w: jax.vmap(f, (None, 3), 3)(x, w[..., None])[..., 0],
}  # fmt: skip


@pytest.mark.parametrize("name", WRAPPED)
def test_a_kernel_is_followed(name):
    assert both_ways(WRAPPED[name](plain), X, W) == (PLAIN, 3 * PLAIN)
    assert both_ways(WRAPPED[name](transposed), X, W) == (TRANSPOSED, 3 * TRANSPOSED)


@pytest.mark.parametrize("function, macs", [(plain, PLAIN), (transposed, TRANSPOSED)])
def test_in_loops_and_recomputed(function, macs):
    def each_kernel(x, kernels):
        return lax.scan(lambda total, w: (total + function(x, w).sum(), None), 0.0, kernels)[0]

    def each_example(x, w):  # the same kernel in every step: JAX reverses it before the loop
        return lax.scan(lambda total, x: (total + function(x[None], w).sum(), None), 0.0, x)[0]

    assert both_ways(each_kernel, X, shape(5, *W.shape)) == (5 * macs, 3 * 5 * macs)
    assert both_ways(each_example, X, W) == (macs, 3 * macs)
    again = jax.checkpoint(lambda x, w: jnp.sin(function(x, w)))
    assert both_ways(again, X, W) == (macs, 4 * macs)


def test_the_same_call_with_and_without_a_reversal():
    """One jaxpr, called twice: the reversal is found where it is called from."""
    call = jax.jit(partial(plain, padding=((6, 0), (5, 4))))
    assert both_ways(lambda x, w: call(x, w) + call(x, jnp.flip(w, (0, 1))), X, W)[0] == PLAIN + TRANSPOSED


def test_without_any_spatial_axis():
    product = partial(lax.conv_general_dilated, window_strides=(), padding=(), dimension_numbers=("NC", "IO", "NC"))
    assert both_ways(product, shape(5, 3), shape(3, 7)) == (105, 315)


def test_what_numpy_convolves():
    """It reverses the kernel: all products of 100 numbers and 5, of which `full` sums every one."""
    for mode in ("full", "same", "valid"):
        assert trace(partial(jnp.convolve, mode=mode), shape(100), shape(5)).macs == 500


def random_transposed(draw):
    axes = draw.choice((1, 2, 3))
    groups, cin, part = draw.choice((1, 1, 2)), draw.randint(1, 3), draw.randint(1, 2)
    size, kernel = ([draw.randint(1, most) for _ in range(axes)] for most in (7, 4))
    stride = [draw.choice((1, 1, 2)) for _ in range(axes)]
    dilation = [draw.choice((1, 1, 2)) for _ in range(axes)]
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    padding = [(max(r - 1 - draw.randint(-2, 1), 0), max(r - 1 + draw.randint(-1, 2), 0)) for r in reach]
    spatial = "DHW"[:axes]

    def function(x, w):
        return lax.conv_general_dilated(
            x,
            jnp.flip(w, tuple(range(axes))),
            (1,) * axes,
            padding,
            lhs_dilation=stride,
            rhs_dilation=dilation,
            dimension_numbers=(f"N{spatial}C", f"{spatial}IO", f"N{spatial}C"),
            feature_group_count=groups,
        )

    x, w = shape(2, *size, groups * cin), shape(*kernel, cin, groups * part)
    return function, x, w, 2 * prod(kernel) * prod(size) * cin * groups * part


def test_random_transposed_convolutions():
    draw = random.Random(8)
    tried = 0
    while tried < 60:
        function, x, w, closed = random_transposed(draw)
        if 0 in jax.eval_shape(function, x, w).shape:
            continue
        assert both_ways(function, x, w) == (closed, 3 * closed)
        tried += 1
