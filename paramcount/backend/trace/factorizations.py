"""What factorizations of matrices, and Fourier transforms, cost in multiply-accumulates.

The textbook algorithms are counted exactly, iterative ones by the leading terms that Golub & Van Loan, Matrix
Computations, give for them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from paramcount.backend.trace.primitives import doublings
from paramcount.backend.trace.products import Rule, products


def fft(eqn: Any) -> int:
    """Butterflies of radix 2: n / 2 · ⌈log₂ n⌉ for each axis, each of four real products; half for real data."""
    lengths = eqn.params["fft_lengths"]
    shape = max((eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape), key=prod)
    transforms = prod(shape[: len(shape) - len(lengths)])
    real = "RFFT" in str(getattr(eqn.params["fft_type"], "name", eqn.params["fft_type"]))
    return transforms * prod(lengths) * sum(map(doublings, lengths)) * (1 if real else 2)


def matrices(eqn: Any) -> tuple[int, int, int]:
    """The number of matrices in the first operand times real products, and their rows and columns."""
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
    """Step j subtracts an outer product from the submatrix below and right of it."""
    times, m, n = matrices(eqn)
    return times * sum((m - 1 - j) * (n - 1 - j) for j in range(min(m, n)))


def triangular_solve(eqn: Any) -> int:
    """n (n - 1) / 2 for each right-hand side."""
    times, n, _ = matrices(eqn)
    return times * (n - 1) * eqn.invars[1].aval.shape[-1 if eqn.params["left_side"] else -2] * n // 2


def tridiagonal_solve(eqn: Any) -> int:
    """Below the first row, one for the diagonal, and one forward and one back for each right-hand side."""
    *batch, n, columns = eqn.invars[3].aval.shape
    return prod(batch) * (n - 1) * (1 + 2 * columns) * products(eqn)


def reflectors(rows: int, count: int, columns: Callable[[int], int]) -> int:
    """Apply Householder reflectors, the j-th of length rows - j to columns(j) columns: a product and a sum."""
    return sum(2 * (rows - j) * columns(j) for j in range(count))


def factor(m: int, n: int) -> int:
    """R of a QR factorization: each reflector is applied to the columns to its right."""
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


FACTORIZATIONS: dict[str, Rule] = {
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
