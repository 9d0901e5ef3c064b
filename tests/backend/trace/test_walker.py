"""The walker against hand arithmetic, closed forms of convolutions, and XLA's own figures."""

import random
import sys
from functools import partial
from importlib import import_module
from itertools import product
from math import prod

import pytest

jax = pytest.importorskip("jax")

from jax import ShapeDtypeStruct, lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from paramcount.backend.trace import walker  # noqa: E402
from paramcount.backend.trace.primitives import FREE  # noqa: E402
from paramcount.backend.trace.products import taps_in_bounds  # noqa: E402
from paramcount.backend.trace.rules import CONTRACTIONS  # noqa: E402
from paramcount.backend.trace.structures import CALLS, STRUCTURES  # noqa: E402
from paramcount.backend.trace.walker import (  # noqa: E402
    UncountedError,
    by_leaf,
    count_macs,
    in_bounds_macs,
    used_inputs,
    walk,
)
from paramcount.errors import MissingPackageError, ParamcountError, needs  # noqa: E402

scope = jax.named_scope


def shape(*sizes, dtype=jnp.float32):
    return ShapeDtypeStruct(sizes, dtype)


def trace(function, *arguments):
    return jax.make_jaxpr(function)(*arguments)


def macs(function, *arguments):
    return count_macs(trace(function, *arguments))


# Matrix products


def test_matrix_products():
    assert macs(jnp.matmul, shape(2, 25, 16), shape(2, 16, 9)) == 7_200  # 2·25·16·9
    assert macs(jnp.dot, shape(2048, 2048), shape(2048, 2048)) == 8_589_934_592  # 2048³, beyond 32 bits
    assert macs(jnp.dot, shape(5), shape(5)) == 5
    scores = partial(jnp.einsum, "bhid,bhjd->bhij")
    assert macs(scores, shape(2, 8, 64, 32), shape(2, 8, 128, 32)) == 4_194_304  # 2·8·64·128·32
    assert macs(jnp.matmul, shape(3, 4, dtype=jnp.int8), shape(4, 5, dtype=jnp.int8)) == 60


def test_ragged_dot_multiplies_each_row_by_one_group():
    assert macs(lax.ragged_dot, shape(10, 4), shape(3, 4, 6), shape(3, dtype=jnp.int32)) == 240  # 10·4·6

    def both_ways(x, weights, sizes, cotangent):
        result, backward = jax.vjp(lambda x, weights: lax.ragged_dot(x, weights, sizes), x, weights)
        return result, backward(cotangent)

    arguments = shape(10, 4), shape(3, 4, 6), shape(3, dtype=jnp.int32), shape(10, 6)
    assert macs(both_ways, *arguments) == 3 * 240


def test_vmap_multiplies():
    vectors = jax.vmap(jnp.dot, in_axes=(0, None))
    assert macs(vectors, shape(7, 73), shape(73, 256)) == 130_816  # 7·73·256
    assert macs(jax.vmap(jnp.dot), shape(7, 73), shape(7, 73, 256)) == 130_816


# Structure


def test_scan_counts_every_step():
    def ten(x, w):
        return lax.scan(lambda carry, _: (carry @ w, None), x, None, length=10)[0]

    assert macs(ten, shape(8, 64), shape(64, 64)) == 327_680  # 10·8·64·64
    [operation] = walk(trace(ten, shape(8, 64), shape(64, 64)))
    assert (operation.primitive, operation.macs, operation.times) == ("dot_general", 327_680, 10)
    assert macs(jax.grad(lambda x, w: ten(x, w).sum(), argnums=(0, 1)), shape(8, 64), shape(64, 64)) == 3 * 327_680


def test_nested_scans_multiply():
    def inner(x, w):
        return lax.scan(lambda carry, _: (carry @ w, None), x, None, length=3)[0]

    def outer(x, w):
        return lax.scan(lambda carry, _: (inner(carry, w) @ w, None), x, None, length=5)[0]

    assert macs(outer, shape(2, 4), shape(4, 4)) == (5 * 3 + 5) * 32
    assert macs(lambda x, w: lax.scan(lambda c, _: (c @ w, None), x, None, length=0)[0], shape(2, 4), shape(4, 4)) == 0


def test_jit_custom_rules_and_decompositions_are_walked():
    @jax.custom_vjp
    def own_vjp(x, w):
        return x @ w

    own_vjp.defvjp(lambda x, w: (x @ w, (x, w)), lambda kept, g: (g @ kept[1].T, kept[0].T @ g))

    @jax.custom_jvp
    def own_jvp(x, w):
        return x @ w

    own_jvp.defjvps(lambda tangent, _, x, w: tangent @ w, lambda tangent, _, x, w: x @ tangent)

    @jax.custom_batching.custom_vmap
    def own_vmap(x, w):
        return x @ w

    own_vmap.def_vmap(lambda size, batched, x, w: (x @ w, True))

    composite = lax.composite(lambda x, w: x @ w, "own.matmul")
    arguments = shape(2, 3), shape(3, 5)
    for function in (jax.jit(jax.jit(jnp.matmul)), own_vjp, own_jvp, own_vmap, composite, jax.checkpoint(jnp.matmul)):
        assert macs(function, *arguments) == 30
    loss = jax.value_and_grad(lambda x, w: (own_vjp(x, w) ** 2).sum(), argnums=(0, 1))
    assert macs(loss, *arguments) == 3 * 30


def test_recomputed_work_counts_as_it_runs():
    def loss(wrap, x, w):
        return wrap(lambda x: jnp.sin(jnp.sin(x @ w) @ w))(x).sum()

    plain = jax.value_and_grad(partial(loss, lambda f: f), argnums=1)
    again = jax.value_and_grad(partial(loss, jax.checkpoint), argnums=1)
    arguments = shape(2, 4), shape(4, 4)
    # Forward 2 products; backward one into the second input and two into the weights; then the forward once more.
    assert macs(plain, *arguments) == 5 * 32
    assert macs(again, *arguments) == 7 * 32


def test_cond_counts_its_largest_branch():
    def choose(i, x, w):
        return lax.switch(i, [lambda: x, lambda: x @ w @ w, lambda: x @ w])

    assert macs(choose, shape(dtype=jnp.int32), shape(2, 4), shape(4, 4)) == 64
    assert macs(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), shape(dtype=bool), shape(3)) == 0


def test_while_is_refused_only_if_its_body_contracts():
    def until_large(x):
        with scope("§4"):
            return lax.while_loop(lambda x: x.sum() < 9, lambda x: x @ x, x)

    with pytest.raises(UncountedError, match=r"how many times `while` runs its dot_general in `§4`") as caught:
        macs(until_large, shape(3, 3))
    assert (caught.value.primitive, caught.value.scope) == ("while", "§4")
    assert macs(lambda x: lax.while_loop(lambda x: x.sum() < 9, lambda x: x * 2, x) @ x, shape(3, 3)) == 27


def test_dead_code_is_not_counted():
    def dead(x, w):
        _ = x @ w
        return jax.jit(lambda x: (x @ w, x + 1))(x)[1]

    assert macs(dead, shape(4, 4), shape(4, 4)) == 0
    assert used_inputs(trace(dead, shape(4, 4), shape(4, 4))) == [True, False]


def test_an_input_that_only_a_loop_or_a_branch_reads_is_used():
    def steps(x, scanned, chosen, unread):
        y = lax.scan(lambda carry, s: (carry + s, None), x, scanned)[0]
        return lax.cond(x > 0, lambda: y, lambda: chosen)

    assert used_inputs(trace(steps, shape(), shape(3), shape(), shape())) == [True, True, True, False]


# What has no rule


def test_an_operation_without_a_rule_is_an_error_that_names_it():
    def foreign(x):
        with scope("§3"):
            return jax.jit(lambda x: jax.pure_callback(lambda x: x, x, x))(x)

    with pytest.raises(UncountedError, match=r"no rule says what `pure_callback` costs in `§3`") as caught:
        macs(foreign, shape(8))
    assert (caught.value.primitive, caught.value.scope) == ("pure_callback", "§3")
    assert isinstance(caught.value, ParamcountError)
    with pytest.raises(UncountedError, match="no rule says what `ffi_call` of `mine` costs\n"):
        macs(lambda x: jax.ffi.ffi_call("mine", x)(x), shape(4, 4))


def test_every_primitive_has_one_meaning():
    for one, other in ((FREE, CONTRACTIONS), (FREE, CALLS), (FREE, STRUCTURES), (CONTRACTIONS, CALLS)):
        assert not set(one) & set(other)


@pytest.mark.parametrize(
    "function",
    [
        jax.nn.softmax,
        jax.nn.gelu,
        jax.nn.silu,
        partial(jnp.cumsum, axis=0),
        partial(jnp.roll, shift=1, axis=0),
        jnp.sort,
        lambda x: lax.top_k(x, 2),
        lambda x: x.at[0].add(1.0)[jnp.array([1, 2])],
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID"),
        lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (2, 2), "SAME"),
        lambda x: jax.random.normal(jax.random.key(0), x.shape) + jax.random.bernoulli(jax.random.key(1), 0.5, x.shape),
        lambda x: lax.optimization_barrier(x.astype(jnp.bfloat16)),
        jax.vmap(lambda x: x - lax.pmean(x, "batch"), axis_name="batch"),
    ],
)
def test_free_operations_and_their_gradients_are_free(function):
    assert macs(function, shape(6, 4)) == 0
    total = lambda x: sum(leaf.astype(jnp.float32).sum() for leaf in jax.tree.leaves(function(x)))  # noqa: E731
    assert macs(jax.grad(total), shape(6, 4)) == 0


# Scopes


def model(x, w):
    with scope("§1"):
        x = jax.jit(lambda x: x @ w)(x)  # 2·3·3
    with scope("§2"):

        def step(carry, _):
            with scope("§3"):
                carry = carry @ w
            return jnp.sin(carry) @ w, None  # §2's own: it lies inside §2 and outside §3

        x = lax.scan(step, x, None, length=5)[0]
    with scope("§4"):
        x = jnp.einsum("ij,jk->ik", x, w)
    return x @ w


def test_macs_go_to_the_innermost_scope():
    assert by_leaf(trace(model, shape(2, 3), shape(3, 3))) == {1: 18, 3: 90, 2: 90, 4: 18, None: 18}


def test_scopes_are_seen_through_transformations():
    forward = {1: 18, 3: 90, 2: 90, 4: 18, None: 18}
    both_ways = {number: 3 * count for number, count in forward.items()}
    loss = jax.value_and_grad(lambda x, w: (model(x, w) ** 2).sum(), argnums=(0, 1))
    assert by_leaf(trace(loss, shape(2, 3), shape(3, 3))) == both_ways
    assert by_leaf(trace(jax.jit(jax.vmap(model, in_axes=(0, None))), shape(7, 2, 3), shape(3, 3))) == {
        number: 7 * count for number, count in forward.items()
    }
    assert by_leaf(trace(jax.vmap(loss, in_axes=(0, None)), shape(7, 2, 3), shape(3, 3))) == {
        number: 7 * count for number, count in both_ways.items()
    }


def test_a_operation_has_the_whole_name_stack():
    assert [operation.scope for operation in walk(trace(model, shape(2, 3), shape(3, 3)))][:3] == ["§1", "§2/§3", "§2"]


# Convolutions


def random_convolution(draw):
    """Shapes, settings and output size of a convolution whose kernel fits at least once."""
    while True:
        axes = draw.choice((1, 1, 2, 2, 3))
        group = draw.choice((1, 1, 2, 3))
        cin, cout = group * draw.randint(1, 3), group * draw.randint(1, 3)
        size = [draw.randint(1, 9) for _ in range(axes)]
        kernel = [draw.randint(1, 5) for _ in range(axes)]
        stride = [draw.randint(1, 3) for _ in range(axes)]
        dilation = [draw.choice((1, 1, 2, 3)) for _ in range(axes)]
        inserted = [draw.choice((1, 1, 1, 2, 3)) for _ in range(axes)]
        padding = draw.choice(([(0, 0)] * axes, [(draw.randint(-2, 7), draw.randint(-2, 7)) for _ in range(axes)]))
        rows = zip(size, kernel, stride, dilation, inserted, padding, strict=True)
        out = [((n - 1) * b + 1 + low + high - d * (k - 1) - 1) // s + 1 for n, k, s, d, b, (low, high) in rows]
        if min(out) > 0:
            break
    batch = draw.randint(1, 2)
    spatial = "DHW"[:axes]
    layout, sizes, result = draw.choice(
        (
            ((f"N{spatial}C", f"{spatial}IO", f"N{spatial}C"), (batch, *size, cin), (batch, *out, cout)),
            ((f"NC{spatial}", f"{spatial}IO", f"NC{spatial}"), (batch, cin, *size), (batch, cout, *out)),
        )
    )
    settings = {
        "window_strides": stride,
        "padding": padding,
        "lhs_dilation": inserted,
        "rhs_dilation": dilation,
        "dimension_numbers": layout,
        "feature_group_count": group,
    }
    counted = size if max(inserted) > 1 else out  # what spreads its input is transposed
    closed = batch * prod(kernel) * prod(counted) * (cin // group) * cout
    return (
        partial(lax.conv_general_dilated, **settings),
        shape(*sizes),
        shape(*kernel, cin // group, cout),
        result,
        closed,
    )


def forward_and_backward(function, x, w, cotangent):
    result, backward = jax.vjp(function, x, w)
    return result, backward(cotangent)


def test_a_convolution_and_both_gradients_equal_three_closed_forms():
    draw = random.Random(2)
    for _ in range(300):
        function, x, w, result, closed = random_convolution(draw)
        assert macs(function, x, w) == closed
        assert macs(partial(forward_and_backward, function), x, w, shape(*result)) == 3 * closed


def test_convolutions_under_vmap():
    draw = random.Random(3)
    for _ in range(25):
        function, x, w, result, closed = random_convolution(draw)
        many = [shape(4, *each.shape) for each in (x, w, shape(*result))]
        assert macs(jax.vmap(function, in_axes=(0, None)), many[0], w) == 4 * closed
        assert macs(jax.vmap(function, in_axes=(None, 0)), x, many[1]) == 4 * closed
        assert macs(jax.vmap(partial(forward_and_backward, function)), *many) == 12 * closed


def test_convolutions_by_hand():
    image = {"dimension_numbers": ("NHWC", "HWIO", "NHWC")}
    # Four groups of 16 to 32 channels: 128·(64/4)·9·56·56.
    grouped = partial(lax.conv_general_dilated, window_strides=(1, 1), padding="SAME", feature_group_count=4, **image)
    assert macs(grouped, shape(1, 56, 56, 64), shape(3, 3, 16, 128)) == 57_802_752
    # Depthwise, 512·9·13·13.
    depthwise = partial(
        lax.conv_general_dilated, window_strides=(1, 1), padding="SAME", feature_group_count=512, **image
    )
    assert macs(depthwise, shape(1, 13, 13, 512), shape(3, 3, 1, 512)) == 778_752
    # Transposed: each of 16·16 input positions meets 2·2 taps, 64 to 32 channels.
    up = partial(lax.conv_transpose, strides=(2, 2), padding="VALID", **image)
    assert macs(up, shape(1, 16, 16, 64), shape(2, 2, 64, 32)) == 2_097_152
    # 32 bits would overflow in FLOPs: 4·16·16·1024·1024.
    wide = partial(lax.conv_general_dilated, window_strides=(1, 1), padding="SAME", **image)
    assert macs(wide, shape(1, 1024, 1024, 16), shape(4, 4, 16, 4)) == 1_073_741_824


def test_batch_groups():
    # Two batch groups: examples 0-1 make output channels 0-2, examples 2-3 channels 3-5. 2·3·(2·6·5).
    function = partial(
        lax.conv_general_dilated,
        window_strides=(1,),
        padding="SAME",
        dimension_numbers=("NHC", "HIO", "NHC"),
        batch_group_count=2,
    )
    closed = 3 * 7 * 2 * 6 * 5
    assert macs(function, shape(4, 7, 5), shape(3, 5, 6)) == closed
    assert macs(partial(forward_and_backward, function), shape(4, 7, 5), shape(3, 5, 6), shape(2, 7, 6)) == 3 * closed


# Taps in bounds


def test_taps_in_bounds_equal_a_plain_enumeration():
    draw = random.Random(4)
    for _ in range(300):
        size, kernel, out = draw.randint(0, 6), draw.randint(1, 5), draw.randint(0, 7)
        stride, spread, dilation = (draw.randint(1, 4) for _ in range(3))
        before = draw.randint(-4, 6)
        places = (o * stride + j * dilation - before for o, j in product(range(out), range(kernel)))
        met = sum(place % spread == 0 and 0 <= place // spread < size for place in places)
        assert taps_in_bounds(size, kernel, out, stride, before, spread, dilation) == met


def xla_flops(function, *arguments):
    # XLA leaves the figure out where every tap falls on padding.
    return jax.jit(function).lower(*arguments).cost_analysis().get("flops", 0)


def test_in_bounds_equals_xla():
    draw = random.Random(5)
    for _ in range(30):
        function, x, w, _, _ = random_convolution(draw)
        assert 2 * in_bounds_macs(trace(function, x, w)) == xla_flops(function, x, w)


@pytest.mark.full
def test_in_bounds_equals_xla_on_gradients():
    draw = random.Random(6)
    for _ in range(30):
        function, x, w, result, _ = random_convolution(draw)
        for argument in (0, 1):

            def gradient(x, w, cotangent, function=function, argument=argument):
                return jax.vjp(function, x, w)[1](cotangent)[argument]

            arguments = x, w, shape(*result)
            assert 2 * in_bounds_macs(trace(gradient, *arguments)) == xla_flops(gradient, *arguments)


def test_even_kernel_leaves_out_its_padded_taps():
    same = partial(
        lax.conv_general_dilated, window_strides=(1, 1), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    traced = trace(same, shape(1, 4, 4, 1), shape(2, 2, 1, 2))
    assert (count_macs(traced), in_bounds_macs(traced)) == (128, 98)  # 2·4·16, and 2·(4+3)²


# The package


def test_without_jax_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingPackageError, match="`walking` needs JAX") as caught, needs("walking"):
        import jax  # noqa: F401
    assert caught.value.hint == "pip install jax"


def test_another_missing_module_is_not_reported_as_jax():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), needs("walking"):
        import_module("no_such_module")


def test_counts_are_whole_numbers():
    assert all(type(operation.macs) is int for operation in walker.walk(trace(model, shape(2, 3), shape(3, 3))))
