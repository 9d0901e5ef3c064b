"""The area under the ROC curve, inside the graph.

It is the fraction of pairs of a positive and a negative in which the positive has the higher score. The scores are
sorted once; the weight below each one is then a running sum, kept in twice the precision, so that it is as exact for
millions of samples as for ten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from paramcount.backend.losses.losses import as_array, known
from paramcount.errors import ArgumentError, quote

BLOCK = 128  # iterations of a running sum's loop, which handles all blocks in parallel
Pair = tuple[jax.Array, jax.Array]  # a number as a sum: its nearest float, and the remainder


def auc(scores: Any, labels: Any, weights: Any = None) -> jax.Array:
    """The area under the ROC curve: the fraction of pairs in which the positive scores higher; a tie is half a pair.

    `scores` (n,) are real, `labels` (n,) are 0 and 1, or bool, `weights` (n,) are at least 0, by default 1; a pair has
    the product of both weights. The result is a scalar, NaN if a class is missing or has no weight, or if a score is
    NaN; a sample of weight 0 does not count, whatever its score. Map several columns with `vmap`. The gradient with
    respect to the scores is zero.

    Raises ArgumentError for wrong shapes and types, and for other labels or weights. Inside `jit`, `vmap` and the like
    the values are not known: other labels or weights then make the result NaN.

    >>> auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]).item()  # of four pairs, 0.35 loses to 0.4
    0.75
    >>> auc([0.5, 0.5, 0.9], [0, 1, 1], weights=[1, 3, 1]).item()  # (3 · ½ + 1 · 1) / 4
    0.625
    """
    scores, labels = real("scores", scores), real("labels", labels)
    weights = real("weights", jnp.ones(labels.shape) if weights is None else weights)
    for name, array in (("scores", scores), ("labels", labels), ("weights", weights)):
        if array.ndim != 1 or array.shape != labels.shape:
            message = f"`{name}` has shape {array.shape}, but `labels` {labels.shape}"
            hint = "all must be (n,); map several columns with jax.vmap"
            raise ArgumentError(message, hint=hint, argument=name)
    refuse("labels", labels, is_label, "labels must be 0 or 1")
    weights = jnp.asarray(weights, float)
    refuse("weights", weights, is_weight, "weights must be finite and at least 0")
    return area(comparable(scores), labels, weights)


def real(name: str, values: Any) -> Any:
    """The values as an array of real numbers: a JAX array unchanged, anything else in NumPy, which keeps 64 bits."""
    try:
        array = as_array(values, name)
        if any(jnp.issubdtype(array.dtype, kind) for kind in (jnp.floating, jnp.integer, jnp.bool_)):
            return array
    except ArgumentError:
        pass
    raise ArgumentError(f"`{name}` must be real numbers", hint="give an array of shape (n,)", argument=name)


def comparable(scores: Any) -> Any:
    """Scores that JAX can hold: 64-bit scores that it would round or wrap are replaced by their ranks."""
    if isinstance(scores, jax.Array) or scores.dtype == jax.dtypes.canonicalize_dtype(scores.dtype):
        return scores
    if np.isnan(scores).any():  # a NaN has no rank
        return scores.astype(np.float32)
    return np.unique(scores, return_inverse=True)[1].astype(np.int32)


def refuse(name: str, array: Any, right: Callable[[Any], Any], hint: str) -> None:
    """Raises ArgumentError at the first wrong element, if the values are known."""
    values = known(array)
    if values is not None and not right(values).all():
        index = int(right(values).argmin())
        raise ArgumentError(f"`{name}[{index}]` is {quote(values[index])}", hint=hint, argument=name)


def is_label(labels: Any) -> Any:
    return (labels == 0) | (labels == 1)


def is_weight(weights: Any) -> Any:
    return (weights >= 0) & (weights < np.inf)


@jax.jit
def area(scores: jax.Array, labels: jax.Array, weights: jax.Array) -> jax.Array:
    """The area, without checks of the arguments: wrong ones make it NaN."""
    right = is_label(labels) & is_weight(weights) & ~(jnp.isnan(scores) & (weights > 0))
    positive = labels == 1
    signed = jnp.where(positive, scaled(weights, positive), -scaled(weights, ~positive))
    key, signed = lax.sort((ordered(scores), signed), num_keys=1, is_stable=False)
    positives, negatives = jnp.maximum(signed, 0), jnp.maximum(-signed, 0)

    sums = running_sums((negatives, jnp.zeros_like(negatives)))[0]
    rises = key[1:] != key[:-1]
    edge = jnp.ones(min(1, len(key)), bool)
    # Sums never fall: within a tie, the sum before it is the last one so far, and the sum after it the next one.
    before = lax.cummax(jnp.where(jnp.concatenate([edge, rises]), sums - negatives, 0))
    after = lax.cummin(jnp.where(jnp.concatenate([rises, edge]), sums, jnp.inf), reverse=True)
    below = total(positives * (before + after)) / 2
    return jnp.where(right.all(), below / total(positives) / total(negatives), jnp.nan)


def scaled(weights: jax.Array, chosen: jax.Array) -> jax.Array:
    """The weights times the power of two that scales the largest one of a class to about 1."""
    return jnp.ldexp(weights, -jnp.frexp(weights.max(where=chosen, initial=0))[1])


def ordered(scores: jax.Array) -> jax.Array:
    """Integers in the order of the scores.

    They sort faster than floats, and the tiniest floats, which arithmetic flushes to 0, keep their order.
    """
    if not jnp.issubdtype(scores.dtype, jnp.floating):
        return scores
    bits = lax.bitcast_convert_type(scores, jnp.dtype(f"int{jnp.finfo(scores.dtype).bits}"))
    return jnp.where(bits < 0, jnp.iinfo(bits.dtype).min - bits, bits)  # -0.0 becomes 0 too


def running_sums(values: Pair) -> Pair:
    """The sum of each element and all before it: within blocks first, then over the blocks in the same way."""
    size = len(values[0])
    blocks = -(-size // BLOCK)

    def step(sums: Pair, row: Pair) -> tuple[Pair, Pair]:
        sums = add(sums, row)
        return sums, sums

    columns = [jnp.pad(each, (0, blocks * BLOCK - size)).reshape(blocks, BLOCK).T for each in values]
    nothing = jnp.zeros(blocks, values[0].dtype)
    totals, sums = lax.scan(step, (nothing, nothing), (columns[0], columns[1]))
    if blocks > 1:
        high, low = (jnp.pad(each, (1, 0))[:-1] for each in running_sums(totals))
        sums = add((high, low), sums)
    high, low = (each.T.reshape(-1)[:size] for each in sums)
    return high, low


def total(values: jax.Array) -> jax.Array:
    """The sum of all, in twice the precision."""
    zero = np.zeros((), values.dtype)
    return lax.reduce((values, jnp.zeros_like(values)), (zero, zero), add, (0,))[0]


def add(left: Pair, right: Pair) -> Pair:
    """The sum of two pairs as a pair; the rounding error of the high parts goes into the low one (Knuth)."""
    high = left[0] + right[0]
    taken = high - left[0]
    low = (left[0] - (high - taken)) + (right[0] - taken) + (left[1] + right[1])
    nearest = high + low
    return nearest, low - (nearest - high)
