"""JAX's primitives that are not contractions, and how many elementwise operations each does.

One operation for each element of the result of an elementwise function, for each element that a reduction reads, and
for each position of a window. Moving, copying, converting and deriving random keys count as none. Every primitive
without a multiply-accumulate is listed here by name; one that is not listed is not free.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

Operations = Callable[[Any], int]  # an equation -> its elementwise operations when it runs once

ELEMENTWISE_NAMES = """
    abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt ceil clamp clz conj cos cosh
    digamma div eq eq_to erf erf_inv erfc exp exp2 expm1 floor ge gt igamma igamma_grad_a igammac integer_pow is_finite
    le le_to lgamma log log1p logistic lt lt_to max min mul mulhi ne neg nextafter not or polygamma population_count pow
    reciprocal reduce_precision regularized_incomplete_beta rem round rsqrt select_n shift_left shift_right_arithmetic
    shift_right_logical sign sin sinh sqrt square stochastic_round sub tan tanh xor zeta

    psum psum2 psum_invariant pmax pmin reduce_scatter unreduced_psum unreduced_reduce_scatter
    psum_start psum_invariant_start reduce_scatter_start unreduced_psum_start unreduced_reduce_scatter_start

    random_bits random_gamma rng_bit_generator rng_uniform philox2x32 philox4x32 threefry2x32 threefry4x32
    prng_random_bits
    """

REDUCTION_NAMES = """
    argmax argmin cumlogsumexp cummax cummin cumprod cumsum reduce_and reduce_max reduce_min reduce_or
    reduce_prod reduce_sum reduce_xor approx_top_k
    """

# Movements, conversions (of sparse matrices too), random keys, hints to the compiler, references to memory, and
# assertions of Equinox.
MOVE_NAMES = """
    bitcast bitcast_convert_type broadcast_in_dim broadcast_to complex concatenate convert_element_type copy copy_p
    device_put dynamic_slice dynamic_update_slice empty empty2 expand_dims from_edtype gather imag iota iota_2x32_shape
    layout_constraint mesh_cast name optimization_barrier pad real reduced_vary_cast_p reshape reshard rev roll scatter
    sharding_constraint slice split squeeze stack stop_gradient tile to_edtype transpose unstack
    vary_unreduced_cast_p with_memory_space_constraint remove_memory_space zeros_like

    bcoo_extract bcoo_fromdense bcoo_todense bcoo_transpose bcsr_extract bcsr_fromdense bcsr_todense coo_fromdense
    coo_todense csr_fromdense csr_todense todense

    random_clone random_fold_in random_seed random_split random_unwrap random_wrap prng_join prng_seed prng_split

    all_gather all_gather_invariant all_gather_reduced all_to_all axis_index pbroadcast platform_index ppermute
    preduced pvary ragged_all_to_all lu_pivots_to_permutation
    all_gather_start all_gather_reduced_start all_gather_done all_to_all_start all_to_all_done pbroadcast_start
    pbroadcast_done ppermute_start ppermute_done psum_done reduce_scatter_done precv psend
    global_array_to_host_local_array host_local_array_to_global_array

    add_dependency after_all check create_token dce_sink debug_callback debug_print dimension_size
    dim_as_value inspect_sharding pin shape_assertion shard_alike tie trace_value unpin xla_metadata_value
    announce_jaxpr nonbatchable nondifferentiable_backward nontraceable unvmap_all unvmap_any unvmap_max

    delay dma_start dma_wait empty_ref free_ref freeze get get_barrier_semaphore get_global load masked_load
    masked_swap multiple_of new_ref num_programs program_id semaphore_read semaphore_signal semaphore_wait swap
    """
MOVES = frozenset(MOVE_NAMES.split())
ELEMENTWISE = frozenset(ELEMENTWISE_NAMES.split())
ACCUMULATIONS = frozenset(("scatter-add", "scatter-max", "scatter-min", "scatter-mul", "scatter-sub"))


def results(eqn: Any) -> int:
    return sum(size(variable) for variable in eqn.outvars)


def first_operand(eqn: Any) -> int:
    return size(eqn.invars[0])


def updates(eqn: Any) -> int:
    return size(eqn.invars[2])


def second_operand(eqn: Any) -> int:
    return size(eqn.invars[1])


def windows(eqn: Any) -> int:
    return prod(eqn.params["window_dimensions"]) * size(eqn.outvars[0])


def windows_of_source(eqn: Any) -> int:
    """A maximum is found in each window of the source, and the source's value is added there."""
    return (prod(eqn.params["window_dimensions"]) + 1) * size(eqn.invars[0])


def selections(eqn: Any) -> int:
    return prod(eqn.params["window_dimensions"]) * second_operand(eqn)


def sort(eqn: Any) -> int:
    """Comparisons of a merge sort: n · ⌈log₂ n⌉."""
    return first_operand(eqn) * doublings(eqn.invars[0].aval.shape[eqn.params["dimension"]])


def top_k(eqn: Any) -> int:
    """Comparisons with a heap of the k best."""
    return first_operand(eqn) * max(1, doublings(eqn.params["k"]))


def doublings(number: int) -> int:
    """⌈log₂ number⌉.

    >>> [doublings(number) for number in (1, 2, 3, 8, 9)]
    [0, 1, 2, 3, 4]
    """
    return max(0, number - 1).bit_length()


def size(variable: Any) -> int:
    return prod(getattr(variable.aval, "shape", ()))


def nothing(eqn: Any) -> int:
    return 0


# Primitives that apply scalar programs of the user's: the parameters that hold them, and how many times they run.
# A scatter without one, which is usual, is a movement.
APPLYING: dict[str, dict[str, Operations]] = {
    "scatter": {"update_jaxpr": updates},
    "reduce": {"jaxpr": first_operand},
    "reduce_window": {"jaxpr": windows},
    "select_and_scatter": {"select_jaxpr": selections, "scatter_jaxpr": second_operand},
}

FREE: dict[str, Operations] = {
    **dict.fromkeys(ELEMENTWISE, results),
    **dict.fromkeys(REDUCTION_NAMES.split(), first_operand),
    **dict.fromkeys(MOVES - APPLYING.keys(), nothing),
    **dict.fromkeys(ACCUMULATIONS, updates),
    "addupdate": second_operand,
    "accum_grad_in_ref": second_operand,
    "reduce_window_max": windows,
    "reduce_window_min": windows,
    "reduce_window_sum": windows,
    "select_and_gather_add": windows,
    "select_and_scatter_add": windows_of_source,
    "sort": sort,
    "top_k": top_k,
}
