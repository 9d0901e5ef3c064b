"""What products and convolutions cost in multiply-accumulates.

A product of two complex numbers is four products of real ones.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd, prod
from typing import Any

Rule = Callable[[Any], int]  # an equation -> its multiply-accumulates when it runs once


def dot_general(eqn: Any) -> int:
    left, right = eqn.invars[0].aval.shape, eqn.invars[1].aval.shape
    (_, contracted), (_, batched) = eqn.params["dimension_numbers"]
    return prod(left) * other_axes(right, (*contracted, *batched)) * products(eqn)


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


def convolution(eqn: Any) -> int:
    """Kernel positions × the smaller number of the other two's positions, all before dilation, × channels.

    The kernel is the right operand. In the gradient of a kernel, however, it is the result; JAX writes that
    with batch and feature exchanged on the left, so the batch axis comes after the feature axis. (So a CHWN
    layout, and a gradient of a gradient, cannot be distinguished from it.)
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
