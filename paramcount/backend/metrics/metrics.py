"""The fraction of examples that a classifier gets right."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from paramcount.backend.losses.losses import exists, matched
from paramcount.errors import ArgumentError, quote
from paramcount.numbers.arithmetic import native


def accuracy(logits: Any, labels: Any) -> jax.Array:
    """The fraction of examples, from 0 to 1, whose label is the class with the largest logit; in a tie, the first.

    Shapes, labels, ties and errors are as in `top_k_accuracy` with k = 1.

    >>> float(accuracy(jnp.array([[0.1, 2.0], [3.0, 0.2], [0.5, 0.4], [0.0, 1.0]]), [1, 0, 1, 1]))
    0.75
    """
    return top_k_accuracy(logits, labels, 1)


def top_k_accuracy(logits: Any, labels: Any, k: int) -> jax.Array:
    """The fraction of examples, from 0 to 1, whose label is among the k classes with the largest logits.

    The last axis of `logits` holds the classes; `labels` are class numbers, integers with the shape of all other axes,
    or dense, with the shape of the logits, where the first largest entry is the label. Of equal logits the lower class
    number ranks first, so that exactly k classes are the top k, and a network that gives all classes the same logit is
    right only by chance. An example with a NaN among its logits is wrong. The result is a float32 scalar, from a count
    that is exact below 2^31 examples; without examples it is NaN.

    Raises ArgumentError for shapes and types that do not fit, for class numbers out of range, and unless `k` is a whole
    number from 1 to the number of classes. While labels are traced, one that is out of range makes the result NaN.

    >>> float(top_k_accuracy(jnp.array([[0.1, 0.7, 0.2], [0.3, 0.3, 0.3]]), [2, 2], k=2))
    0.5
    """
    logits, labels = matched(logits, labels)
    classes = logits.shape[-1]
    k = native(k)
    if type(k) is not int or not 1 <= k <= classes:
        message = f"`k` must be a whole number from 1 to {classes}, the number of classes, not {quote(k)}"
        raise ArgumentError(message, argument="k")
    logits = jnp.asarray(logits)
    if labels.ndim == logits.ndim:
        valid = ~jnp.isnan(labels).any(axis=-1)
        labels = labels.argmax(axis=-1)
    else:
        valid = exists(labels, classes)
    labels = labels[..., None]
    own = jnp.take_along_axis(logits, labels, axis=-1, mode="clip")
    before = (logits > own) | ((logits == own) & (jnp.arange(classes) < labels))
    right = (before.sum(axis=-1) < k) & ~jnp.isnan(logits).any(axis=-1)
    share = right.sum(dtype=jnp.int32) / right.size
    return jnp.where(valid.all(), share, jnp.nan).astype(jnp.float32)
