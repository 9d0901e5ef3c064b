"""The highest rate at which this device multiplies matrices, as measured: the peak that networks are compared with."""

from __future__ import annotations

from functools import cache
from time import perf_counter

import jax
from jax import numpy as jnp

SIZES = (1024, 1536, 2048, 3072, 4096, 8192, 16384)
LEAST, MOST = 3, 20  # runs of a size
BUDGET = 0.4  # seconds that a size may take


@cache
def matmul_peak(dtype: str = "float32") -> float:
    """The FLOP/s of the fastest of several square matrix products on this device.

    Larger ones are tried until one would take too long, about 1.5 s in all. A process measures each dtype once.

    >>> matmul_peak() > 0
    True
    """
    best = 0.0
    for size in SIZES:
        flops = 2 * size**3
        if best and (LEAST + 1) * flops / best > BUDGET:
            break
        best = max(best, flops / fastest(size, dtype))
    return best


def fastest(size: int, dtype: str) -> float:
    """The seconds of the fastest of several products of two size × size matrices; disturbances only slow them down."""
    left, right = (jax.random.normal(jax.random.key(seed), (size, size), dtype) for seed in range(2))
    product = jax.jit(jnp.matmul)
    jax.block_until_ready(product(left, right))
    times: list[float] = []
    while len(times) < LEAST or (len(times) < MOST and sum(times) < BUDGET):
        began = perf_counter()
        jax.block_until_ready(product(left, right))
        times.append(perf_counter() - began)
    return min(times)
