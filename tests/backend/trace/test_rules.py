"""Rules against enumerations of the textbook algorithms and hand arithmetic."""

import subprocess
import sys
from functools import partial
from math import log2

import pytest

jax = pytest.importorskip("jax")

from jax import ShapeDtypeStruct, lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from paramcount.backend.trace.primitives import FREE  # noqa: E402
from paramcount.backend.trace.rules import CONTRACTIONS, register_rule  # noqa: E402
from paramcount.backend.trace.structures import CALLS, STRUCTURES  # noqa: E402
from paramcount.backend.trace.trace import trace  # noqa: E402
from paramcount.backend.trace.walker import UncountedError, count_macs  # noqa: E402
from paramcount.cost.traced import Trace  # noqa: E402
from paramcount.errors import ArgumentError  # noqa: E402

linalg = lax.linalg


def shape(*sizes, dtype=jnp.float32):
    return ShapeDtypeStruct(sizes, dtype)


def macs(function, *arguments):
    return count_macs(jax.make_jaxpr(function)(*arguments))


# Products


@pytest.mark.parametrize("dtype", [jnp.int8, jnp.float8_e4m3fn, jnp.bfloat16, jnp.uint4])
def test_narrow_types_count_the_same(dtype):
    wide = partial(jnp.matmul, preferred_element_type=jnp.float32)
    assert macs(wide, shape(3, 4, dtype=dtype), shape(4, 5, dtype=dtype)) == 60


def test_a_complex_product_is_four_real_ones():
    pair = shape(3, 4, dtype=jnp.complex64), shape(4, 5, dtype=jnp.complex64)
    assert macs(jnp.matmul, *pair) == 4 * 60
    signal, taps = shape(1, 1, 8, dtype=jnp.complex64), shape(1, 1, 3, dtype=jnp.complex64)
    assert macs(lambda x, w: lax.conv(x, w, (1,), "VALID"), signal, taps) == 4 * 3 * 6


def test_a_product_that_sums_nothing_is_elementwise():
    scale = partial(jnp.einsum, "td,d->td")
    report = trace(scale, shape(10, 64), shape(64))
    assert (report.macs, report.elementwise) == (0, 640)
    assert trace(lambda a, b: a * b, shape(10, 64), shape(64)).elementwise == 640
    both = trace(jax.vjp, scale, shape(10, 64), shape(64))
    assert both.macs == 0

    def gradients(a, b, g):
        return jax.vjp(scale, a, b)[1](g)

    report = trace(gradients, shape(10, 64), shape(64), shape(10, 64))
    assert report.backward_macs == 640  # that by `b` sums over t, that by `a` is another product of each element
    assert report.elementwise == 640


def test_a_gradient_of_a_product_that_sums_costs_what_it_does():
    def gradients(x, w, g):
        return jax.vjp(jnp.matmul, x, w)[1](g)

    # the gradient by the matrix is an outer product of two vectors: it is summed over a batch, of one here
    assert trace(gradients, shape(5), shape(5, 7), shape(7)).backward_macs == 2 * 35
    assert trace(gradients, shape(1, 5), shape(5, 7), shape(1, 7)).backward_macs == 2 * 35
    each = jax.vmap(gradients, (0, None, 0))
    assert trace(each, shape(3, 5), shape(5, 7), shape(3, 7)).backward_macs == 3 * 2 * 35
    # an outer product that is not a gradient, and one that `checkpoint` computes once more
    assert macs(partial(jnp.einsum, "i,j->ij"), shape(5), shape(7)) == 0
    again = jax.checkpoint(lambda a, b: jnp.sin(jnp.einsum("i,j->ij", a, b)))
    step = jax.value_and_grad(lambda a, b: again(a, b).sum(), (0, 1))
    assert trace(step, shape(5), shape(7)).macs == 2 * 35  # each gradient sums over the other axis


def test_ragged_products_of_every_mode():
    sizes = shape(3, dtype=jnp.int32)
    numbers = lax.RaggedDotDimensionNumbers

    def ragged(contracting, batch, ragged_axis, group_axes):
        dimensions = numbers(
            dot_dimension_numbers=(contracting, batch),
            lhs_ragged_dimensions=[ragged_axis],
            rhs_group_dimensions=group_axes,
        )
        return lambda x, w, sizes: lax.ragged_dot_general(x, w, sizes, dimensions)

    rows = ragged((([1], [1])), ([], []), 0, [0])
    assert macs(rows, shape(10, 4), shape(3, 4, 6), sizes) == 10 * 4 * 6
    contracted = ragged(([1], [0]), ([], []), 1, [])
    assert macs(contracted, shape(5, 10), shape(10, 6), sizes) == 5 * 10 * 6
    batched = ragged(([2], [1]), ([0], [0]), 0, [])
    assert macs(batched, shape(10, 2, 4), shape(10, 4, 6), sizes) == 10 * 2 * 4 * 6


def test_scaled_products():
    eight = jnp.float8_e4m3fn
    product = partial(lax.scaled_dot, preferred_element_type=jnp.float32)
    values = shape(2, 3, 64, dtype=eight), shape(2, 64, 5, dtype=eight)
    scales = {"lhs_scale": shape(2, 3, 2, dtype=jnp.bfloat16), "rhs_scale": shape(2, 2, 5, dtype=jnp.bfloat16)}
    assert trace(product, *values, **scales).macs == 2 * 3 * 64 * 5


# Linear algebra


def enumerated_cholesky(n):
    return sum(1 for j in range(n) for row in range(j, n) for before in range(j))


def enumerated_lu(m, n):
    return sum(1 for k in range(min(m, n)) for row in range(k + 1, m) for column in range(k + 1, n))


def enumerated_reflections(m, count, columns):
    """Each reflector k is a product with, and a multiple subtracted from, the columns that it is applied to."""
    return sum(2 for k in range(count) for column in columns(k) for row in range(k, m))


@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_cholesky_and_triangular_solves(n):
    assert macs(partial(linalg.cholesky, symmetrize_input=False), shape(3, n, n)) == 3 * enumerated_cholesky(n)
    rows = sum(1 for row in range(n) for before in range(row))
    assert macs(partial(linalg.triangular_solve, left_side=True), shape(n, n), shape(n, 5)) == 5 * rows
    assert macs(linalg.triangular_solve, shape(2, n, n), shape(2, 6, n)) == 2 * 6 * rows


@pytest.mark.parametrize("m, n", [(4, 4), (6, 3), (3, 6)])
def test_lu_and_qr(m, n):
    assert macs(lambda x: linalg.lu(x)[0], shape(2, m, n)) == 2 * enumerated_lu(m, n)
    count = min(m, n)
    factor = enumerated_reflections(m, count, lambda k: range(k + 1, n))
    thin = factor + enumerated_reflections(m, count, lambda k: range(k, count))
    full = factor + enumerated_reflections(m, count, lambda k: range(k, m))
    assert macs(partial(linalg.qr, full_matrices=False), shape(m, n)) == thin
    assert macs(partial(linalg.qr, full_matrices=True), shape(m, n)) == full


def test_cholesky_by_hand():
    assert macs(partial(linalg.cholesky, symmetrize_input=False), shape(4, 4)) == 0 + 1 * 3 + 2 * 2 + 3 * 1
    assert macs(lambda x: linalg.lu(x)[0], shape(4, 4)) == 9 + 4 + 1


def test_solve_is_a_factorization_and_two_triangular_solves():
    # LU of 5×5: 16 + 9 + 4 + 1; for each of 3 right-hand sides 10 forward and 10 back.
    assert macs(jnp.linalg.solve, shape(5, 5), shape(5, 3)) == 30 + 3 * 20


def test_iterative_factorizations_by_the_leading_terms():
    # Golub & Van Loan in FLOPs; a MAC is two of them.
    n = 6
    assert macs(partial(linalg.eigh, symmetrize_input=False), shape(n, n)) == 9 * n**3 // 2
    assert macs(partial(linalg.svd, compute_uv=False), shape(8, n)) == (4 * 8 * n**2 - 4 * n**3 // 3) // 2
    thin = partial(linalg.svd, full_matrices=False)
    assert macs(thin, shape(8, n)) == macs(thin, shape(n, 8)) == (14 * 8 * n**2 + 8 * n**3) // 2
    assert macs(linalg.svd, shape(8, n)) == (4 * 64 * n + 8 * 8 * n**2 + 9 * n**3) // 2
    values = partial(linalg.eig, compute_left_eigenvectors=False, compute_right_eigenvectors=False)
    assert macs(values, shape(n, n)) == 10 * n**3 // 2
    assert macs(linalg.hessenberg, shape(n, n)) == 10 * n**3 // 3 // 2


def test_fourier_transforms():
    # 8 · log₂ 8 / 2 butterflies of four real products each.
    line = shape(3, 8, dtype=jnp.complex64)
    assert macs(jnp.fft.fft, line) == 3 * 4 * 8 * int(log2(8)) // 2
    assert macs(jnp.fft.fft2, shape(4, 8, dtype=jnp.complex64)) == 4 * (4 * 8) * (2 + 3) // 2
    assert macs(jnp.fft.rfft, shape(3, 8)) == macs(jnp.fft.irfft, shape(3, 5, dtype=jnp.complex64)) == 3 * 24
    assert macs(jnp.fft.fft, shape(9, dtype=jnp.complex64)) == 2 * 9 * 4  # as if it were padded to 16 in depth


# Rules of users


@pytest.fixture
def rule():
    yield register_rule
    for name in ("own", "dot_general"):
        register_rule(name, None)


def own(x):
    return jax.ffi.ffi_call("own", ShapeDtypeStruct((4,), x.dtype))(x)


def test_a_rule_counts_an_ffi_target(rule):
    with pytest.raises(UncountedError, match=r'register_rule\("own", lambda eqn: macs\)'):
        trace(own, shape(8))
    rule("own", lambda eqn: 3 * eqn.invars[0].aval.shape[0])
    assert trace(own, shape(8)).macs == 24
    rule("own", None)
    with pytest.raises(UncountedError):
        trace(own, shape(8))


def test_a_rule_replaces_a_built_in_one(rule):
    rule("dot_general", lambda eqn: 7)
    assert trace(jnp.matmul, shape(2, 2), shape(2, 2)).macs == 7


@pytest.mark.parametrize("found", [1.5, -1, True, None])
def test_a_rule_gives_whole_numbers(rule, found):
    rule("own", lambda eqn: found)
    with pytest.raises(ArgumentError, match=r"the rule for `own` returns .*, which is not a whole number of MACs"):
        trace(own, shape(8))
    with pytest.raises(ArgumentError, match="a rule must be"):
        rule("own", 3)


def test_an_unknown_operation_becomes_a_row_if_not_strict():
    def program(x):
        with jax.named_scope("block"):
            return own(x @ jnp.ones((8, 8)))

    report = trace(program, shape(8), strict=False)
    assert isinstance(report, Trace)
    assert (report.macs, report.uncounted) == (64, ("block/ffi_call: no rule says what `ffi_call` of `own` costs",))
    [row] = [row for row in report.rows if row.note]
    assert (row.path, row.kind, row.macs) == ("block/ffi_call", "ffi_call", 0)
    assert "NOT counted: 1 operation" in str(report) and "NOT counted" in report.to_dict()["convention"]
    with pytest.raises(UncountedError, match=r"no rule says what `pure_callback` costs in `block`\n.*strict=False"):
        trace(jax.named_scope("block")(lambda x: jax.pure_callback(lambda x: x, x, x)), shape(8))


# All primitives

# What runs within kernels for one kind of processor alone, or compiled code of others.
KERNELS = """
    _copysign all_reduce_ffs all_reduce_population_count async_copy_scales_to_tmem async_copy_smem_to_tmem
    async_copy_sparse_metadata_to_tmem async_load async_prefetch async_store_smem async_store_tmem atomic_cas
    atomic_rmw barrier barrier_arrive barrier_test barrier_wait commit_group commit_smem commit_tmem copy_gmem_to_smem
    copy_smem_to_gmem core_map custom_fusion debug_barrier_p einshape_lo elementwise_inline_asm_p emit_pipeline
    fusible griddepcontrol_launch_dependents griddepcontrol_wait inline_mgpu_p jaxpr_call layout_cast masked_cummax
    masked_cummin masked_cumsum masked_sort matmul_acc_lhs matmul_pop matmul_push_rhs max_contiguous mgpu_atomic_store
    mosaic_gpu_p mpmd_map multimem_load_reduce multimem_store pack pack_dtype pack_elementwise parallel_loop
    pipeline_body print_layout query_cluster_cancel sc_fetch_and_add semaphore_signal_multicast
    semaphore_signal_parallel set_max_registers_p tcgen05_commit_arrive tcgen05_mma tpu_custom_call try_cluster_cancel
    unique unpack unpack_dtype unpack_elementwise wait_load_tmem wait_smem_to_gmem wgmma wgmma_accumulator_deref_p
    wgmma_accumulator_store_p wgmma_ref wgmma_wait buffer_callback call_exported rnn_bwd rnn_fwd spsolve
    """
# What JAX replaces before a jaxpr is complete, or after it, when it compiles.
WITHIN = """
    assert_consumed_value box_get box_set call_hi_primitive call_hi_primitive_linearized consume coo_spmm coo_spmv
    create_linear csr_spmm csr_spmv custom_jvp_call_jaxpr custom_lin eval_jaxpr get_variable log_extend log_read new_box
    new_log new_variable set_variable stage unreachable
    """
PRIMITIVES = """
import gc, importlib, pkgutil, warnings
import jax
from jax.extend.core import Primitive

warnings.simplefilter("ignore")
for module in pkgutil.walk_packages(jax.__path__, "jax."):
    if not any(part in module.name for part in ("tools", "test", "colocated", "jax2tf", "collect_profile")):
        try:
            importlib.import_module(module.name)
        except ImportError:
            pass
print(*{each.name for each in gc.get_objects() if isinstance(each, Primitive)})
"""


@pytest.mark.skipif(jax.__version__ != "0.10.2", reason="other versions have other primitives")
def test_every_primitive_of_jax_is_known_or_refused_on_purpose():
    done = subprocess.run([sys.executable, "-c", PRIMITIVES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found, refused = set(done.stdout.split()), {*KERNELS.split(), *WITHIN.split()}
    known = {*FREE, *CONTRACTIONS, *CALLS, *STRUCTURES}
    assert len(found) > 400
    assert found - known == found & refused
