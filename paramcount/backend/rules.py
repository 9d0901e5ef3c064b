"""What each contraction costs: multiply-accumulates by primitive, and how users add a rule of their own.

A product of two complex numbers is four products of real ones. Factorizations of matrices count those of the textbook
algorithm, the iterative ones by the leading terms that Golub & Van Loan, Matrix Computations, give for them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd, prod
from typing import Any

from paramcount.backend.primitives import doublings
from paramcount.errors import ArgumentError, quote

Rule = Callable[[Any], int]  # an equation -> its multiply-accumulates when it runs once

registered: dict[str, Rule] = {}


def register_rule(name: str, rule: Rule) -> None:
    """Count a primitive or an FFI target by a rule of your own: a function of its equation that gives its MACs.

    The equation's `invars` and `outvars` have shapes, `eqn.invars[0].aval.shape`, and `params` its settings. A rule
    also replaces the one that there is; None takes it back. Raises ArgumentError for a rule that is no function.

    >>> import jax, jax.numpy as jnp
    >>> from paramcount.backend.trace import trace
    >>> x = jax.ShapeDtypeStruct((8, 4), jnp.float32)
    >>> register_rule("my_gram", lambda eqn: 4 * 4 * 8)
    >>> trace(lambda x: jax.ffi.ffi_call("my_gram", jax.ShapeDtypeStruct((4, 4), x.dtype))(x), x).macs
    128
    >>> register_rule("my_gram", None)
    """
    if rule is None:
        registered.pop(name, None)
    elif not isinstance(name, str) or not callable(rule):
        message = f"a rule is a primitive's name and a function, not {quote(repr(name))} and {quote(repr(rule))}"
        raise ArgumentError(message, hint='register_rule("name", lambda eqn: macs)')
    else:
        registered[name] = checked(name, rule)


def checked(name: str, rule: Rule) -> Rule:
    def macs(eqn: Any) -> int:
        found = rule(eqn)
        if type(found) is not int or found < 0:
            message = f"the rule of {quote(name)} gives {quote(repr(found))}, which is no whole number of MACs"
            raise ArgumentError(message, hint="give an int of at least 0; `//` keeps a division whole")
        return found

    return macs


def dot_general(eqn: Any) -> int:
    left, right = eqn.invars[0].aval.shape, eqn.invars[1].aval.shape
    (_, contracted), (_, batched) = eqn.params["dimension_numbers"]
    return prod(left) * other_axes(right, (*contracted, *batched)) * products(eqn)


def ragged_dot(eqn: Any) -> int:
    # Each row meets the weights of its own group alone, so the group axis is no factor.
    left, right = eqn.invars[0].aval.shape, eqn.invars[1].aval.shape
    numbers = eqn.params["ragged_dot_dimension_numbers"]
    (_, contracted), (_, batched) = numbers.dot_dimension_numbers
    return prod(left) * other_axes(right, (*contracted, *batched, *numbers.rhs_group_dimensions)) * products(eqn)


def scaled_matmul(eqn: Any) -> int:
    """Both operands have the contracted axis last: batch × m × k and batch × n × k."""
    return prod(eqn.invars[0].aval.shape) * eqn.invars[1].aval.shape[1]


def other_axes(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    return prod(size for axis, size in enumerate(shape) if axis not in axes)


def products(eqn: Any) -> int:
    """How many real products one product is: four of complex numbers."""
    return 4 if eqn.invars[0].aval.dtype.kind == "c" else 1


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
    return out[numbers.out_spec[0]] * out[numbers.out_spec[1]] * right[numbers.rhs_spec[1]] * products(eqn)


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


def fft(eqn: Any) -> int:
    """Butterflies of radix 2: n / 2 · ⌈log₂ n⌉ for each axis, of four real products; half for real data."""
    lengths = eqn.params["fft_lengths"]
    shape = max((eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape), key=prod)
    transforms = prod(shape[: len(shape) - len(lengths)])
    real = "RFFT" in str(getattr(eqn.params["fft_type"], "name", eqn.params["fft_type"]))
    return transforms * prod(lengths) * sum(map(doublings, lengths)) * (1 if real else 2)


def matrices(eqn: Any) -> tuple[int, int, int]:
    """How many matrices the first operand holds, times real products, and their rows and columns."""
    *batch, rows, columns = eqn.invars[0].aval.shape
    return prod(batch) * products(eqn), rows, columns


def cholesky(eqn: Any) -> int:
    """Column j of n - j rows takes j products each: (n³ - n) / 6."""
    times, n, _ = matrices(eqn)
    return times * (n**3 - n) // 6


def cholesky_update(eqn: Any) -> int:
    times, n, _ = matrices(eqn)
    return times * n * n


def lu(eqn: Any) -> int:
    """Step j subtracts an outer product from what lies below and right of it."""
    times, m, n = matrices(eqn)
    return times * sum((m - 1 - j) * (n - 1 - j) for j in range(min(m, n)))


def triangular_solve(eqn: Any) -> int:
    """n (n - 1) / 2 for each right-hand side."""
    times, n, _ = matrices(eqn)
    return times * (n - 1) * eqn.invars[1].aval.shape[-1 if eqn.params["left_side"] else -2] * n // 2


def tridiagonal_solve(eqn: Any) -> int:
    """Below the first row, one for the diagonal, and one there and one back for each right-hand side."""
    *batch, n, columns = eqn.invars[3].aval.shape
    return prod(batch) * (n - 1) * (1 + 2 * columns) * products(eqn)


def reflectors(rows: int, count: int, columns: Callable[[int], int]) -> int:
    """Apply Householder reflectors, the j-th of them rows - j long, each to so many columns: a product and a sum."""
    return sum(2 * (rows - j) * columns(j) for j in range(count))


def factor(m: int, n: int) -> int:
    """R of a QR factorization: each reflector is applied to the columns right of it."""
    return reflectors(m, min(m, n), lambda j: n - 1 - j)


def qr(eqn: Any) -> int:
    """R, and Q from the reflectors, last to first."""
    times, m, n = matrices(eqn)
    count = min(m, n)
    width = m if eqn.params["full_matrices"] else count
    return times * (factor(m, n) + reflectors(m, count, lambda j: width - j))


def qr_factor(eqn: Any) -> int:
    times, m, n = matrices(eqn)
    return times * factor(m, n)


def householder_product(eqn: Any) -> int:
    times, m, n = matrices(eqn)
    return times * reflectors(m, eqn.invars[1].aval.shape[-1], lambda j: n - j)


def ormqr(eqn: Any) -> int:
    """Reflectors applied to another matrix, from the left or the right."""
    times, m, _ = matrices(eqn)
    *_, rows, columns = eqn.invars[2].aval.shape
    other = columns if eqn.params.get("left", True) else rows
    return times * reflectors(m, eqn.invars[1].aval.shape[-1], lambda j: other)


def symmetric_product(eqn: Any) -> int:
    times, n, k = matrices(eqn)
    return times * n * n * k


def hessenberg(eqn: Any) -> int:
    times, n, _ = matrices(eqn)
    return times * 5 * n**3 // 3


def tridiagonal(eqn: Any) -> int:
    times, n, _ = matrices(eqn)
    return times * 2 * n**3 // 3


def eigh(eqn: Any) -> int:
    """The symmetric QR algorithm with vectors, 9 n³ FLOPs."""
    times, n, _ = matrices(eqn)
    return times * 9 * n**3 // 2


def eig(eqn: Any) -> int:
    """The QR algorithm: 10 n³ FLOPs for the values, 25 n³ with vectors."""
    times, n, _ = matrices(eqn)
    vectors = any(
        eqn.params.get(name)
        for name in ("compute_left_eigenvectors", "compute_right_eigenvectors", "compute_schur_vectors")
    )
    return times * (25 if vectors else 10) * n**3 // 2


def svd(eqn: Any) -> int:
    """Golub and Reinsch: 4 m n² - 4 n³ / 3 FLOPs, 14 m n² + 8 n³ with vectors, 4 m² n + 8 m n² + 9 n³ with all of U."""
    times, m, n = matrices(eqn)
    m, n = max(m, n), min(m, n)
    if not eqn.params["compute_uv"]:
        return times * (2 * m * n**2 - 2 * n**3 // 3)
    if eqn.params["full_matrices"] and m > n:
        return times * (4 * m * m * n + 8 * m * n**2 + 9 * n**3) // 2
    return times * (7 * m * n**2 + 4 * n**3)


CONTRACTIONS: dict[str, Rule] = {
    "dot_general": dot_general,
    "conv_general_dilated": convolution,
    "ragged_dot_general": ragged_dot,
    "scaled_dot": dot_general,
    "scaled_matmul": scaled_matmul,
    "scaled_matmul_wrapper": scaled_matmul,
    "fft": fft,
    "cholesky": cholesky,
    "cholesky_update": cholesky_update,
    "lu": lu,
    "triangular_solve": triangular_solve,
    "tridiagonal_solve": tridiagonal_solve,
    "qr": qr,
    "geqrf": qr_factor,
    "geqp3": qr_factor,
    "householder_product": householder_product,
    "ormqr": ormqr,
    "symmetric_product": symmetric_product,
    "hessenberg": hessenberg,
    "tridiagonal": tridiagonal,
    "eigh": eigh,
    "eig": eig,
    "schur": eig,
    "svd": svd,
}
