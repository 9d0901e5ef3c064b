"""The multiply-accumulates of a traced JAX program, exact and by scope: its jaxpr is walked, nothing is run.

Every primitive is a contraction that a rule counts, a structure that is looked into, or known to be free of
multiply-accumulates. Anything else is an error, so that no operation is ever dropped silently.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from math import gcd, prod
from typing import Any, NamedTuple

from jax.interpreters.partial_eval import dce_jaxpr

from paramcount.errors import ParamcountError, quote

Rule = Callable[[Any], int]  # an equation -> its multiply-accumulates when it runs once


class Tally(NamedTuple):
    """One contraction: where it stands (JAX's name stack), and its MACs over all the times that loops run it."""

    scope: str
    primitive: str
    macs: int
    times: int


class UncountedError(ParamcountError):
    """The program holds an operation whose multiply-accumulates are not known."""

    def __init__(self, primitive: str, scope: str, message: str = "no rule says what {} costs", hint: str = "") -> None:
        where = f" in {quote(scope)}" if scope else ""
        super().__init__(message.format(quote(primitive)) + where, hint=hint)
        self.primitive = primitive
        self.scope = scope


def count_macs(closed_jaxpr: Any) -> int:
    """The multiply-accumulates of a traced program; raises UncountedError where one operation has no rule.

    >>> import jax, jax.numpy as jnp
    >>> count_macs(jax.make_jaxpr(jnp.matmul)(jnp.ones((25, 16)), jnp.ones((16, 9))))
    3600
    """
    return sum(tally.macs for tally in walk(closed_jaxpr))


def in_bounds_macs(closed_jaxpr: Any) -> int:
    """The same, but a convolution's taps on padding and on inserted zeros are left out, as XLA's cost analysis does.

    >>> import jax
    >>> same = lambda x, w: jax.lax.conv(x, w, (1, 1), "SAME")
    >>> traced = jax.make_jaxpr(same)(jax.numpy.ones((1, 1, 4, 4)), jax.numpy.ones((2, 1, 2, 2)))
    >>> count_macs(traced), in_bounds_macs(traced)
    (128, 98)
    """
    rules = {**CONTRACTIONS, "conv_general_dilated": convolution_in_bounds}
    return sum(tally.macs for tally in walk(closed_jaxpr, rules))


def by_scope(closed_jaxpr: Any, pattern: str = r"§(\d+)") -> dict[int | None, int]:
    """The multiply-accumulates under each sentinel scope; None is for those under no sentinel.

    The innermost sentinel gets them, seen through vmap, jvp and transpose; the pattern's group is its number.

    >>> import jax
    >>> def f(x):
    ...     with jax.named_scope("§17"):
    ...         return x @ x
    >>> by_scope(jax.make_jaxpr(jax.vmap(f))(jax.numpy.ones((7, 3, 3))))
    {17: 189}
    """
    find = re.compile(pattern).findall
    result: Counter[int | None] = Counter()
    for tally in walk(closed_jaxpr):
        found = find(tally.scope)
        result[int(found[-1]) if found else None] += tally.macs
    return dict(result)


def used_inputs(closed_jaxpr: Any) -> list[bool]:
    """For every flat input of a traced program, whether any output depends on it.

    >>> import jax
    >>> used_inputs(jax.make_jaxpr(lambda a, b: a + 1)(1.0, 2.0))
    [True, False]
    """
    return alive(closed_jaxpr)[1]


def walk(closed_jaxpr: Any, rules: Mapping[str, Rule] | None = None) -> list[Tally]:
    """Every contraction that an output depends on, in the program's order; raises UncountedError."""
    return list(tallies(alive(closed_jaxpr)[0], "", 1, CONTRACTIONS if rules is None else rules))


def alive(closed_jaxpr: Any) -> tuple[Any, list[bool]]:
    """The program without its dead code, and which inputs it still reads."""
    return dce_jaxpr(closed_jaxpr.jaxpr, [True] * len(closed_jaxpr.jaxpr.outvars))


def tallies(jaxpr: Any, outer: str, times: int, rules: Mapping[str, Rule]) -> Iterator[Tally]:
    for eqn in jaxpr.eqns:
        name = eqn.primitive.name
        if name in FREE:
            continue
        scope = str(eqn.source_info.name_stack)
        if outer:  # an inner program's scopes are relative to its call
            scope = f"{outer}/{scope}" if scope else outer
        if name in rules:
            yield Tally(scope, name, rules[name](eqn) * times, times)
        elif name in CALLS:
            yield from tallies(opened(eqn.params[CALLS[name]]), scope, times, rules)
        elif name in STRUCTURES:
            yield from STRUCTURES[name](eqn, scope, times, rules)
        else:
            raise UncountedError(name, scope)


def opened(jaxpr: Any) -> Any:
    """The bare jaxpr: some primitives hold it closed over its constants, and some do not."""
    return getattr(jaxpr, "jaxpr", jaxpr)


def scan(eqn: Any, scope: str, times: int, rules: Mapping[str, Rule]) -> Iterator[Tally]:
    return tallies(opened(eqn.params["jaxpr"]), scope, times * eqn.params["length"], rules)


def largest_branch(eqn: Any, scope: str, times: int, rules: Mapping[str, Rule]) -> Iterator[Tally]:
    branches = [list(tallies(opened(branch), scope, times, rules)) for branch in eqn.params["branches"]]
    yield from max(branches, key=lambda found: sum(tally.macs for tally in found))


def unknown_trips(eqn: Any, scope: str, times: int, rules: Mapping[str, Rule]) -> Iterator[Tally]:
    """Nothing, where the loop holds no contraction; otherwise its count depends on values, and it is an error."""
    for part in ("cond_jaxpr", "body_jaxpr"):
        for tally in tallies(opened(eqn.params[part]), scope, times, rules):
            raise UncountedError(
                "while",
                tally.scope,
                "nothing says how often {} runs its " + tally.primitive,
                "use `lax.scan`, or `lax.fori_loop` with bounds that are known when tracing",
            )
    yield from ()


def dot_general(eqn: Any) -> int:
    left, right = eqn.invars[0].aval.shape, eqn.invars[1].aval.shape
    (_, contracted), (_, batched) = eqn.params["dimension_numbers"]
    return prod(left) * other_axes(right, (*contracted, *batched))


def ragged_dot(eqn: Any) -> int:
    # Each row meets the weights of its own group alone, so the group axis is no factor.
    left, right = eqn.invars[0].aval.shape, eqn.invars[1].aval.shape
    numbers = eqn.params["ragged_dot_dimension_numbers"]
    (_, contracted), (_, batched) = numbers.dot_dimension_numbers
    return prod(left) * other_axes(right, (*contracted, *batched, *numbers.rhs_group_dimensions))


def other_axes(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    return prod(size for axis, size in enumerate(shape) if axis not in axes)


def convolution(eqn: Any) -> int:
    """Kernel positions × the smaller of the other two's positions, all as they are before dilation, × channels.

    The kernel is the right operand. In the gradient of a kernel, though, it is the result; JAX writes that
    with batch and feature exchanged on the left, so the batch axis comes after the feature axis. (So a CHWN
    layout, and a gradient of a gradient, are not told apart from it.)
    """
    left, right, out = positions(eqn)
    if eqn.params["dimension_numbers"].lhs_spec[0] > eqn.params["dimension_numbers"].lhs_spec[1]:
        right, out = out, right
    return prod(right) * min(prod(left), prod(out)) * channels(eqn)


def convolution_in_bounds(eqn: Any) -> int:
    params = eqn.params
    before = [low for low, _ in params["padding"]]
    axes = zip(
        *positions(eqn), params["window_strides"], before, params["lhs_dilation"], params["rhs_dilation"], strict=True
    )
    return prod(taps_in_bounds(*axis) for axis in axes) * channels(eqn)


def channels(eqn: Any) -> int:
    """The factor that is not spatial: results of one position × what each of them sums over at one tap."""
    numbers = eqn.params["dimension_numbers"]
    out, right = eqn.outvars[0].aval.shape, eqn.invars[1].aval.shape
    # The right operand's feature axis is one group's already, and the result's batch axis one batch group's.
    return out[numbers.out_spec[0]] * out[numbers.out_spec[1]] * right[numbers.rhs_spec[1]]


def positions(eqn: Any) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The spatial sizes of the left operand, the right operand and the result."""
    values = (eqn.invars[0], eqn.invars[1], eqn.outvars[0])
    left, right, out = (
        tuple(value.aval.shape[axis] for axis in spec[2:])
        for value, spec in zip(values, eqn.params["dimension_numbers"], strict=True)
    )
    return left, right, out


def taps_in_bounds(size: int, kernel: int, out: int, stride: int, before: int, spread: int, dilation: int) -> int:
    """Along one axis, how many pairs of a result and a kernel tap meet an element of the input.

    Result o meets tap j at o * stride + j * dilation - before, which must be a multiple of `spread` (between
    them lie inserted zeros) and within the input.
    """
    common = gcd(stride, spread)
    step = spread // common  # every step-th result meets an element
    inverse = pow(stride // common, -1, step)
    total = 0
    for tap in range(kernel):
        offset = tap * dilation - before
        if offset % common:
            continue
        phase = (-offset // common) * inverse % step
        first = max(0, -(offset // stride))
        last = min(out - 1, ((size - 1) * spread - offset) // stride)
        total += max(0, (last - phase) // step - (first - 1 - phase) // step)
    return total


CONTRACTIONS: dict[str, Rule] = {
    "dot_general": dot_general,
    "conv_general_dilated": convolution,
    "ragged_dot_general": ragged_dot,
}

STRUCTURES: dict[str, Callable[[Any, str, int, Mapping[str, Rule]], Iterator[Tally]]] = {
    "scan": scan,
    "cond": largest_branch,
    "while": unknown_trips,
}

# Primitives that run one inner program once, and the parameter that holds it. JAX renames them now and then.
CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "closed_call": "call_jaxpr",
    "remat": "jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "custom_vmap_call": "call",
    "composite": "jaxpr",
}

# Primitives without a multiply-accumulate: what they do is elementwise, a reduction, a choice, or a movement.
FREE_NAMES = """
    abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt ceil clamp clz complex conj
    convert_element_type cos cosh digamma div eq eq_to erf erf_inv erfc exp exp2 expm1 floor ge gt igamma igamma_grad_a
    igammac imag integer_pow is_finite le le_to lgamma log log1p logistic lt lt_to max min mul mulhi ne neg nextafter
    not or polygamma population_count pow random_gamma real reciprocal reduce_precision regularized_incomplete_beta rem
    round rsqrt select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt square sub tan tanh
    xor zeta

    argmax argmin cumlogsumexp cummax cummin cumprod cumsum reduce reduce_and reduce_max reduce_min reduce_or
    reduce_prod reduce_sum reduce_window reduce_window_max reduce_window_min reduce_window_sum reduce_xor
    select_and_gather_add select_and_scatter select_and_scatter_add approx_top_k sort top_k

    bitcast_convert_type broadcast_in_dim broadcast_to concatenate copy copy_p device_put dynamic_slice
    dynamic_update_slice empty empty2 expand_dims gather iota optimization_barrier pad reshape rev scatter scatter-add
    scatter-max scatter-min scatter-mul scatter-sub slice split squeeze stack stop_gradient tile transpose unstack
    zeros_like

    random_bits random_clone random_fold_in random_seed random_split random_unwrap random_wrap rng_bit_generator
    rng_uniform philox2x32 philox4x32 threefry2x32 threefry4x32

    all_gather all_gather_invariant all_gather_reduced all_to_all axis_index layout_constraint mesh_cast name pbroadcast
    pmax pmin ppermute psum psum2 psum_invariant pvary reduce_scatter reshard sharding_constraint

    debug_callback debug_print
    """
FREE = frozenset(FREE_NAMES.split())
