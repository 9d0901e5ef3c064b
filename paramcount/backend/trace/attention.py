"""What the attention of cuDNN costs: `jax.nn.dot_product_attention(..., implementation="cudnn")`, one operation.

As everywhere, masks and windows change no count.
"""

from __future__ import annotations

from math import prod
from typing import Any

from paramcount.backend.trace.products import Rule

HEADS_FIRST = 1


def pairs(eqn: Any) -> tuple[int, int, int]:
    """The pairs of a query and a key in all heads, and the features of a query and of a value."""
    query, _, value, *_ = shapes = [variable.aval.shape for variable in eqn.invars]
    keys = value[2 if eqn.params["layout"] == HEADS_FIRST else 1]
    if len(shapes[8]) == 4:  # keys lie in pages: examples × 1 × pages × 1
        keys *= shapes[8][2]
    return prod(query[:-1]) * keys, query[-1], value[-1]


def forward(eqn: Any) -> int:
    """The scores, and the weighted sum of the values."""
    number, key, value = pairs(eqn)
    return number * (key + value)


def backward(eqn: Any) -> int:
    """The scores again, and the gradients of both products with respect to both operands."""
    number, key, value = pairs(eqn)
    return number * (3 * key + 2 * value)


ATTENTION: dict[str, Rule] = {
    f"dot_product_attention_{kind}{direction}{level}": rule
    for kind in ("", "fp8_")
    for direction, rule in (("fwd", forward), ("bwd", backward))
    for level in ("", "_wrapper")
}
