"""What products and convolutions cost in multiply-accumulates.

A product of two complex numbers is four products of real ones.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd, prod
from typing import Any

from paramcount.backend.trace.kernels import Program, reversed_after, reversed_before

Rule = Callable[[Any], int]  # an equation -> its multiply-accumulates when it runs once


def dot_general(eqn: Any) -> int:
    left, right = eqn.invars[0].aval.shape, eqn.invars[1].aval.shape
    (_, contracted), (_, batched) = eqn.params["dimension_numbers"]
    return prod(left) * other_axes(right, (*contracted, *batched)) * products(eqn)


def is_contraction(eqn: Any) -> bool:
    """Whether a product sums over any axis."""
    (contracted, _), _ = eqn.params["dimension_numbers"]
    return bool(contracted)


def is_gradient_of_contraction(eqn: Any) -> bool:
    """Whether a product that sums nothing itself is, if it is a gradient, that of a product that sums.

    JAX writes the gradient of the result on the left and the other operand on the right, so the axes that only the
    right one has are those that the product itself contracted.
    """
    _, (_, batched) = eqn.params["dimension_numbers"]
    return len(batched) < eqn.invars[1].aval.ndim


def ragged_dot(eqn: Any) -> int:
    # Each row is multiplied only by the weights of its own group, so the group axis is not a factor.
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
    """The real products of one product: four for complex numbers."""
    return 4 if eqn.invars[0].aval.dtype.kind == "c" else 1


def convolution(eqn: Any, program: Program | None = None) -> int:
    """Kernel positions × output positions × channels, of a transposed convolution × input positions, before dilation.

    A gradient costs what its forward convolution does. That by an input is itself a transposed convolution, or, of a
    transposed one, a plain one. In that by a kernel, the kernel's positions are those of the result.
    """
    left, right, out = positions(eqn)
    of_kernel = is_gradient_of_kernel(eqn)
    kernel, others = (out, right) if of_kernel else (right, out)
    counted = left if is_transposed(eqn, of_kernel, program) else others
    return prod(kernel) * prod(counted) * channels(eqn)


def is_gradient_of_kernel(eqn: Any) -> bool:
    """Whether JAX wrote a convolution as the gradient by a kernel: with batch and feature exchanged in both operands.

    A layout with the batch after the channels (CHWN), and in kernels the output's after the input's, looks the same.
    """
    numbers = eqn.params["dimension_numbers"]
    return all(batch > feature for batch, feature, *_ in (numbers.lhs_spec, numbers.rhs_spec))


def is_transposed(eqn: Any, of_kernel: bool, program: Program | None) -> bool:
    """Whether a convolution, or that of which it is the gradient by a kernel, is a transposed one.

    It is if it spreads its input, and is not if it steps over its result. Where it does neither, its kernel decides,
    which transposed ones reverse; where both, a reversed kernel shows the gradient by the input of such a convolution.
    """
    spreads = any(step > 1 for step in eqn.params["lhs_dilation"])
    steps = any(step > 1 for step in eqn.params["rhs_dilation" if of_kernel else "window_strides"])
    if spreads != steps:
        return spreads
    found = reversed_after(program, eqn.outvars[0]) if of_kernel else reversed_before(program, eqn.invars[1])
    axes = len(eqn.params["window_strides"])
    return spreads != (axes > 0 and found // axes % 2 == 1)


def convolution_in_bounds(eqn: Any) -> int:
    params = eqn.params
    before = [low for low, _ in params["padding"]]
    axes = zip(
        *positions(eqn), params["window_strides"], before, params["lhs_dilation"], params["rhs_dilation"], strict=True
    )
    return prod(taps_in_bounds(*axis) for axis in axes) * channels(eqn)


def channels(eqn: Any) -> int:
    """The non-spatial factor: results at one position × the terms that each of them sums at one tap."""
    numbers = eqn.params["dimension_numbers"]
    out, right = eqn.outvars[0].aval.shape, eqn.invars[1].aval.shape
    # The right operand's feature axis is already that of one group, and the result's batch axis of one batch group.
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
    """Along one axis, how many pairs of a result and a kernel tap read an element of the input.

    Result o reads tap j at o * stride + j * dilation - before, which must be a multiple of `spread` (between
    these lie inserted zeros) and within the input.
    """
    common = gcd(stride, spread)
    step = spread // common  # every step-th result reads an element
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


PRODUCTS: dict[str, Rule] = {
    "dot_general": dot_general,
    "conv_general_dilated": convolution,
    "ragged_dot_general": ragged_dot,
    "scaled_dot": dot_general,
    "scaled_matmul": scaled_matmul,
    "scaled_matmul_wrapper": scaled_matmul,
}
