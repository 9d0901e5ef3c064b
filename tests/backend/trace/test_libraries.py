"""Primitives of libraries: Equinox, Diffrax and Lineax, sparse matrices, callbacks, kernels with their own estimate."""

from functools import partial
from typing import Any

import pytest

jax = pytest.importorskip("jax")

from jax import ShapeDtypeStruct, lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from paramcount.backend.trace.trace import trace  # noqa: E402
from paramcount.backend.trace.walker import UncountedError  # noqa: E402


def shape(*sizes, dtype=jnp.float32):
    return ShapeDtypeStruct(sizes, dtype)


# Equinox


@pytest.fixture
def eqx():
    return pytest.importorskip("equinox", reason="needs equinox")


def test_an_error_costs_its_condition_alone(eqx):
    def checked(x):
        return eqx.error_if(x, x.sum() < 0, "negative") @ x

    report = trace(checked, shape(4, 4))
    assert (report.macs, report.elementwise, report.uncounted) == (64, 16 + 1, ())
    assert [row.note for row in report.rows] == [""]
    assert trace(jax.grad(lambda x: checked(x).sum()), shape(4, 4)).macs == 2 * 64
    assert trace(jax.vmap(checked), shape(3, 4, 4)).macs == 3 * 64


def test_callbacks_are_not_counted(eqx):
    def plain(x):
        return jax.pure_callback(lambda x: x, x, x) @ x

    def filtered(x):
        return eqx.filter_pure_callback(lambda x: x, x, result_shape_dtypes=x) @ x

    def ordered(x):
        return jax.experimental.io_callback(lambda x: x, x, x, ordered=True) @ x

    for function, name in ((plain, "pure_callback"), (filtered, "pure_callback"), (ordered, "io_callback")):
        with pytest.raises(
            UncountedError, match=rf"no rule says what `{name}` costs\nhint: it runs Python on the host"
        ):
            trace(function, shape(4, 4))
        report = trace(function, shape(4, 4), strict=False)
        assert (report.macs, report.uncounted) == (64, (f"{name}: no rule says what `{name}` costs",))

    apart = pytest.importorskip("equinox.internal").noinline(lambda x: x @ x)
    assert trace(apart, shape(4, 4), strict=False).uncounted == ("noinline: no rule says what `noinline` costs",)

    def printed(x):
        jax.debug.callback(lambda x: None, x)
        jax.debug.print("{}", x)
        return x @ x

    assert trace(printed, shape(4, 4)).macs == 64


def test_a_model_with_state_and_dropout(eqx):
    class Model(eqx.Module):
        first: Any
        norm: Any
        drop: Any
        last: Any

        def __init__(self, key):
            self.first, self.last = eqx.nn.Linear(8, 16, key=key), eqx.nn.Linear(16, 4, key=key)
            self.norm, self.drop = eqx.nn.BatchNorm(16, "batch", mode="ema"), eqx.nn.Dropout(0.5)

        def __call__(self, x, state, key):
            x, state = self.norm(self.first(x), state)
            return self.last(self.drop(x, key=key)), state

    model, state = eqx.nn.make_with_state(Model)(jax.random.key(0))

    @eqx.filter_jit
    def loss(model, state, x, keys):
        y, state = jax.vmap(model, axis_name="batch", in_axes=(0, None, 0), out_axes=(0, None))(x, state, keys)
        return (y**2).sum(), state

    keys = jax.random.split(jax.random.key(0), 5)
    report = trace(eqx.filter_value_and_grad(loss, has_aux=True), model, state, shape(5, 8), keys, params=model)
    forward = 5 * (8 * 16 + 16 * 4)
    assert (report.forward_macs, report.backward_macs) == (forward, 2 * forward - 5 * 8 * 16)
    assert report.params == 8 * 16 + 16 + 2 * 16 + 16 * 4 + 4


@pytest.mark.parametrize("kind", ["lax", "bounded", "checkpointed"])
def test_loops_of_equinox(eqx, kind):
    internal = pytest.importorskip("equinox.internal")

    def steps(x, w):
        with jax.named_scope("loop"):
            return internal.while_loop(
                lambda carry: carry[0] < 5, lambda carry: (carry[0] + 1, carry[1] @ w), (0, x), max_steps=16, kind=kind
            )[1]

    assert trace(steps, shape(4), shape(4, 4), trips=5).macs == (16 if kind == "bounded" else 5) * 16


# Diffrax and Lineax


def test_diffrax():
    diffrax = pytest.importorskip("diffrax", reason="needs diffrax")

    def solve(solver, w, y):
        term = diffrax.ODETerm(lambda t, y, args: jnp.tanh(w @ y))
        return diffrax.diffeqsolve(term, solver, 0.0, 1.0, 0.1, y).ys

    arguments = shape(8, 8), shape(8)
    euler = partial(solve, diffrax.Euler())
    assert trace(euler, *arguments, trips=10).macs == 10 * 64
    assert trace(jax.vmap(euler, (None, 0)), shape(8, 8), shape(3, 8), trips=10).macs == 3 * 10 * 64
    step = trace(jax.grad(lambda w, y: euler(w, y).sum()), *arguments, trips=10)
    # Backwards each step runs again, and has two gradients.
    assert (step.forward_macs, step.backward_macs) == (10 * 64, 3 * 10 * 64)
    # A step of Tsit5 has six stages, whose first slope is that of the step before; each combines seven slopes, and
    # so does the step's result.
    within = {"outer-loop": 10, "outer-loop/checkpointed-no-vjp/checkpointed-no-vjp": 6}
    stages = trace(partial(solve, diffrax.Tsit5()), *arguments, trips=within)
    assert (stages.macs, stages.uncounted) == (10 * (6 * (64 + 7 * 8) + 7 * 8), ())


def test_lineax():
    lx = pytest.importorskip("lineax", reason="needs lineax")

    def solve(a, b, solver=lx.AutoLinearSolver(well_posed=True), tags=()):  # noqa: B008
        return lx.linear_solve(lx.MatrixLinearOperator(a, tags), b, solver).value

    # LU of 5×5: 16 + 9 + 4 + 1; 10 forward and 10 back.
    arguments = shape(5, 5), shape(5)
    assert trace(solve, *arguments).macs == 30 + 20
    assert trace(jax.vmap(solve), shape(3, 5, 5), shape(3, 5)).macs == 3 * (30 + 20)
    # One factorization for both; the gradient solves the transposed system.
    gradient = trace(jax.value_and_grad(lambda b, a: solve(a, b).sum()), shape(5), shape(5, 5))
    assert (gradient.forward_macs, gradient.backward_macs) == (30 + 20, 20)
    # Cholesky: (125 - 5) / 6.
    cholesky = partial(solve, solver=lx.Cholesky(), tags=lx.positive_semidefinite_tag)
    assert trace(cholesky, *arguments).macs == 20 + 20
    assert trace(partial(solve, solver=lx.Triangular(), tags=lx.lower_triangular_tag), *arguments).macs == 10
    iterative = partial(solve, solver=lx.CG(1e-3, 1e-3), tags=lx.positive_semidefinite_tag)
    assert trace(iterative, *arguments, trips="unknown").uncounted[0].startswith("while: unknown trips of ")


# Sparse matrices


@pytest.fixture
def sparse():
    return pytest.importorskip("jax.experimental.sparse")


MATRIX = jnp.eye(6, 8)  # 6 elements are stored


@pytest.mark.parametrize("kind", ["BCOO", "BCSR", "COO", "CSR"])
def test_each_stored_element_is_multiplied_for_each_column(sparse, kind):
    matrix = getattr(sparse, kind).fromdense(MATRIX)
    assert trace(lambda m, x: m @ x, matrix, shape(8, 5)).macs == 6 * 5
    assert trace(lambda m, x: m @ x, matrix, shape(8)).macs == 6
    assert trace(lambda m: m.todense(), matrix).macs == 0


def test_batches_of_sparse_matrices(sparse):
    matrix = sparse.BCOO.fromdense(MATRIX)
    assert trace(jax.vmap(lambda m, x: m @ x, (None, 0)), matrix, shape(7, 8, 5)).macs == 7 * 6 * 5
    product = partial(sparse.bcoo_dot_general, dimension_numbers=(([2], [1]), ([0], [0])))
    batch = sparse.bcoo_fromdense(jnp.ones((3, 6, 8)), n_batch=1, nse=48)
    assert trace(product, batch, shape(3, 8, 5)).macs == 3 * 48 * 5
    dense = sparse.bcoo_fromdense(jnp.ones((6, 8, 4)), n_dense=1, nse=48)
    last = partial(sparse.bcoo_dot_general, dimension_numbers=(([1], [0]), ([], [])))
    assert trace(last, dense, shape(8, 5)).macs == 48 * 4 * 5
    complex_ = sparse.BCOO.fromdense(MATRIX.astype(jnp.complex64))
    assert trace(lambda m, x: m @ x, complex_, shape(8, 5, dtype=jnp.complex64)).macs == 4 * 6 * 5


def test_a_product_of_two_sparse_matrices_multiplies_every_pair(sparse):
    left, right = sparse.BCOO.fromdense(MATRIX), sparse.BCOO.fromdense(jnp.eye(8, 4))
    assert trace(lambda a, b: (a @ b).data, left, right).macs == 6 * 4


def test_gradients_of_a_sparse_product(sparse):
    matrix = sparse.BCOO.fromdense(MATRIX)

    def loss(data, x):
        return ((sparse.BCOO((data, matrix.indices), shape=matrix.shape) @ x) ** 2).sum()

    report = trace(jax.value_and_grad(loss, argnums=(0, 1)), shape(6), shape(8, 5))
    assert (report.forward_macs, report.backward_macs) == (6 * 5, 2 * 6 * 5)


# What applies a program of the user's to elements


@pytest.mark.parametrize(
    "function, operations",
    [
        (lambda x: x.at[0].apply(jnp.sin), 4),
        (lambda x: x.at[0, 0].apply(jnp.sin), 1),
        (lambda x: x.at[:, 1:].apply(lambda x: jnp.where(x > 0, jnp.sin(x) * 2, 0)), 6 * 3 * 4),
        (lambda x: x.at[0].apply(jax.jit(jnp.sin)), 4),
        (lambda x: x.at[0].set(1), 0),
        (lambda x: x.at[0].multiply(2), 4),
        (lambda x: lax.reduce(x, jnp.float32(0), lambda a, b: jnp.sin(a) + b, (0,)), 24 * 2),
        (lambda x: lax.reduce((x, x), (jnp.float32(0),) * 2, lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,)), 24 * 2),
        (lambda x: lax.reduce_window(x, jnp.float32(0), lambda a, b: jnp.sin(a) + b, (2, 1), (2, 1), "VALID"), 24 * 2),
    ],
)
def test_programs_for_each_element(function, operations):
    report = trace(function, shape(6, 4))
    assert (report.macs, report.elementwise) == (0, operations)


def test_one_element():
    assert trace(lambda x: x.at[0].apply(jnp.sin), shape(4)).elementwise == 1


# Attention of cuDNN


def half(*sizes):
    return shape(*sizes, dtype=jnp.bfloat16)


@pytest.fixture
def cudnn(monkeypatch):
    module = pytest.importorskip("jax._src.cudnn.fused_attention_stablehlo")
    monkeypatch.setattr(module, "check_cudnn_version", lambda: 91000)  # tracing asks for the library
    return module


def test_fused_attention(cudnn):
    query, key = half(2, 16, 4, 64), half(2, 32, 4, 64)
    pairs = 2 * 16 * 4 * 32
    attend = partial(jax.nn.dot_product_attention, implementation="cudnn")
    assert trace(attend, query, key, key).macs == pairs * (64 + 64)
    step = jax.value_and_grad(lambda *arguments: attend(*arguments).astype(jnp.float32).sum(), argnums=(0, 1, 2))
    report = trace(step, query, key, key)
    # Backwards the scores again, and two gradients of each product.
    assert (report.forward_macs, report.backward_macs) == (pairs * 2 * 64, pairs * 5 * 64)
    heads_first = partial(cudnn.dot_product_attention, qkv_layout="BNTH")
    assert trace(heads_first, half(2, 4, 16, 64), half(2, 4, 32, 64), half(2, 4, 32, 64)).macs == pairs * (64 + 64)


def test_fused_attention_to_keys_in_pages(cudnn):
    def attend(q, k, v, table, lengths):
        return cudnn.paged_attention(q, k, v, lengths, lengths, table, table, mask_type=cudnn.MaskType.PADDING)

    query, pages = half(2, 16, 4, 64), half(6, 32, 4, 64)  # 3 pages of 32 keys for each of 2 examples
    table, lengths = shape(2, 1, 3, 1, dtype=jnp.int32), shape(2, dtype=jnp.int32)
    assert trace(attend, query, pages, pages, table, lengths).macs == 2 * 16 * 4 * 96 * (64 + 64)


# Hints to the compiler, and kernels


def test_metadata_is_free():
    metadata = pytest.importorskip("jax.experimental.xla_metadata")
    report = trace(lambda x: metadata.set_xla_metadata(x @ x, name=1), shape(4, 4))
    assert (report.macs, report.elementwise) == (64, 0)


def kernel(x, out):
    out[...] = x[...] @ x[...]


def test_a_kernel_whose_grid_depends_on_values_counts_by_its_own_estimate():
    pallas = pytest.importorskip("jax.experimental.pallas")

    def product(n, x, estimate):
        return pallas.pallas_call(kernel, grid=(n,), out_shape=shape(4, 4), cost_estimate=estimate)(x)

    estimate = pallas.CostEstimate(flops=1000, transcendentals=0, bytes_accessed=10)
    number = shape(dtype=jnp.int32)
    report = trace(lambda n, x: product(n, x, estimate), number, shape(4, 4))
    assert (report.macs, report.uncounted) == (500, ())
    assert [row.note for row in report.rows] == ["half of the 1,000 FLOPs that the kernel's `cost_estimate` gives"]
    with pytest.raises(UncountedError, match=r"the grid of `pallas_call` depends on values\nhint: .*cost_estimate"):
        trace(lambda n, x: product(n, x, None), number, shape(4, 4))
    known = trace(lambda x: product(3, x, estimate), shape(4, 4))
    assert known.macs == 3 * 64


def test_a_kernel_reads_its_parameters():
    pallas = pytest.importorskip("jax.experimental.pallas")
    params = {"w": shape(4, 4), "v": shape(4, 4)}

    def multiply(x, w, out):
        out[...] = x[...] @ w[...]

    def model(params, x):
        with jax.named_scope("kernel"):
            x = pallas.pallas_call(multiply, out_shape=shape(4, 4))(x, params["w"])
        with jax.named_scope("head"):
            return x @ params["v"]

    report = trace(model, params, shape(4, 4), params=params)
    assert {row.path: row.params for row in report.rows if row.leaf} == {"kernel": 16, "head": 16}
