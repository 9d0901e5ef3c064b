"""What products with the sparse matrices of `jax.experimental.sparse` cost in multiply-accumulates.

Each stored element is multiplied with each element of the dense operand that it meets. How many elements are stored
(`nse`) is known when tracing; how many of them are zeros is not, and they count.
"""

from __future__ import annotations

from math import prod
from typing import Any

from paramcount.backend.trace.products import Rule, other_axes, products


def bcoo_dot_general(eqn: Any) -> int:
    """Indices have the axes of the batch, the stored elements, and the sparse axes."""
    *batch, nse, sparse = eqn.invars[1].aval.shape
    return sparse_by_dense(eqn, len(batch), nse, sparse)


def bcsr_dot_general(eqn: Any) -> int:
    """Indices have the axes of the batch and the stored elements; two axes, rows and columns, are sparse."""
    *batch, nse = eqn.invars[1].aval.shape
    return sparse_by_dense(eqn, len(batch), nse, 2)


def sparse_by_dense(eqn: Any, batch: int, nse: int, sparse: int) -> int:
    (_, contracted), (_, batched) = eqn.params["dimension_numbers"]
    if not contracted:
        return 0
    sizes = eqn.params["lhs_spinfo"].shape
    stored = prod(sizes[:batch]) * nse * prod(sizes[batch + sparse :])
    return stored * other_axes(eqn.invars[-1].aval.shape, (*contracted, *batched)) * products(eqn)


def bcoo_spdot_general(eqn: Any) -> int:
    """JAX multiplies each stored element of the left operand with each one of the right operand."""
    (contracted, _), (_, batched) = eqn.params["dimension_numbers"]
    if not contracted:
        return 0
    *left, left_nse, _ = eqn.invars[1].aval.shape
    *right, right_nse, _ = eqn.invars[3].aval.shape
    batch = prod(eqn.params["lhs_spinfo"].shape[: len(left)])
    return (
        batch * left_nse * other_axes(eqn.params["rhs_spinfo"].shape[: len(right)], batched) * right_nse * products(eqn)
    )


def matrix_product(eqn: Any) -> int:
    """The stored elements are the first operand; the dense vector or matrix is the last."""
    return prod(eqn.invars[0].aval.shape) * prod(eqn.invars[-1].aval.shape[1:]) * products(eqn)


SPARSE: dict[str, Rule] = {
    "bcoo_dot_general": bcoo_dot_general,
    "bcoo_spdot_general": bcoo_spdot_general,
    "bcsr_dot_general": bcsr_dot_general,
    "coo_matvec": matrix_product,
    "coo_matmat": matrix_product,
    "csr_matvec": matrix_product,
    "csr_matmat": matrix_product,
}
