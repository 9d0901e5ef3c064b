"""Softmax cross entropy, and the checks of logits and labels that losses and metrics share."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy
from jax.core import Tracer

from paramcount.backend.run.arrays import array_of
from paramcount.errors import ArgumentError, quote


def softmax_cross_entropy(logits: Any, labels: Any) -> jax.Array:
    """The cross entropy of the softmax of logits against labels, in nats, one for each example or position.

    The last axis of `logits` holds the classes. `labels` are class numbers, integers with the shape of all other axes,
    or dense, with the shape of the logits: probabilities, or a one-hot encoding of any type. The loss has the shape of
    all axes but the last, and is computed in float32, or in float64 for float64 logits. A class with probability 0 and
    logit -inf adds nothing to the loss or the gradient. If all logits are -inf, or one is inf, the loss is NaN.

    Raises ArgumentError for shapes and types that do not fit, and for a class number that is out of range. While labels
    are traced, as under `jit`, no error can be raised: there the loss and the gradient at that position are NaN.

    >>> losses = softmax_cross_entropy(jnp.array([[0.0, 0.0], [0.0, -jnp.inf]]), [1, 0])
    >>> [round(float(loss), 4) for loss in losses]  # ln 2, and certain
    [0.6931, 0.0]
    """
    logits, labels = matched(logits, labels)
    logits = widened(logits)
    shifted = logits - jax.lax.stop_gradient(logits.max(axis=-1, keepdims=True))
    total = jnp.log(jnp.exp(shifted).sum(axis=-1, keepdims=True))
    if labels.ndim == logits.ndim:
        labels = labels.astype(logits.dtype)
        absent = (labels == 0) & (shifted == -jnp.inf)  # 0 · inf is not NaN here
        return (labels * (total - jnp.where(absent, 0, shifted))).sum(axis=-1)
    own = jnp.take_along_axis(shifted, labels[..., None], axis=-1, mode="clip")
    return (total - own)[..., 0] * nan_unless(exists(labels, logits.shape[-1]))


def check_labels(labels: Any, classes: int) -> None:
    """Raises ArgumentError unless class numbers on the host are integers from 0 to `classes` - 1.

    >>> check_labels([0, 9, 10], 10)
    Traceback (most recent call last):
    paramcount.errors.ArgumentError: label `10` at [2] is out of range: 10 classes are numbered 0 to 9
    hint: where there is no label, give any class and multiply the loss by 0
    """
    labels = as_array(labels, "labels")
    if not jnp.issubdtype(labels.dtype, jnp.integer):
        hint = "give class numbers as integers, `labels.astype(int)`, or dense labels with an axis of classes"
        raise ArgumentError(f"class numbers must be integers, but `labels` are {labels.dtype}", hint, argument="labels")
    values = known(labels)
    if values is None:
        return
    wrong = (values < 0) | (values >= classes)
    if wrong.any():
        place = numpy.argwhere(wrong)[0].tolist()
        label = quote(values[tuple(place)])
        where = f" at {place}" if place else ""
        message = f"label {label}{where} is out of range: {classes} classes are numbered 0 to {classes - 1}"
        counted_from_1 = values.min() == 1 and values.max() == classes
        hint = "subtract 1" if counted_from_1 else "where there is no label, give any class and multiply the loss by 0"
        raise ArgumentError(message, hint, argument="labels")


def matched(logits: Any, labels: Any) -> tuple[Any, jax.Array]:
    """Logits and labels as arrays of matching shapes, labels of at least 32 bits; raises ArgumentError otherwise."""
    logits, labels = checked_logits(logits), as_array(labels, "labels")
    classes = logits.shape[-1]
    if labels.shape == logits.shape:
        if not any(jnp.issubdtype(labels.dtype, kind) for kind in (jnp.floating, jnp.integer, jnp.bool_)):
            raise ArgumentError(f"`labels` must be real numbers, not {labels.dtype}", argument="labels")
        return logits, jnp.asarray(labels)
    if labels.shape != logits.shape[:-1]:
        message = f"`labels` of shape {labels.shape} do not fit `logits` of shape {logits.shape}"
        hint = (
            f"give class numbers of shape {logits.shape[:-1]}, or a probability for each class of shape {logits.shape}"
        )
        raise ArgumentError(message, hint, argument="labels")
    check_labels(labels, classes)
    return logits, class_numbers(labels)


def checked_logits(logits: Any) -> Any:
    """Logits as an array of floats with an axis of classes; raises ArgumentError otherwise."""
    logits = as_array(logits, "logits")
    if not jnp.issubdtype(logits.dtype, jnp.floating):
        raise ArgumentError(f"`logits` must be real floating-point numbers, not {logits.dtype}", argument="logits")
    if logits.ndim == 0 or logits.shape[-1] == 0:
        message = f"the last axis of `logits` holds the classes, but the shape {logits.shape} has none"
        raise ArgumentError(message, argument="logits")
    return logits


def as_array(value: Any, name: str) -> Any:
    """A JAX array unchanged, anything else as a NumPy array, where 64 bits stay 64 bits."""
    if isinstance(value, jax.Array):
        return value
    try:
        return array_of(value)
    except ArgumentError as error:
        raise ArgumentError(f"{quote(name)} must be an array: {error.message}", error.hint, argument=name) from None


def class_numbers(labels: Any) -> jax.Array:
    """Labels of at least 32 bits, so that they can be compared with the number of classes."""
    labels = jnp.asarray(labels)
    return labels.astype(jnp.int32) if labels.dtype.itemsize < 4 else labels


def known(array: Any) -> numpy.ndarray | None:
    """The values; None while they are traced, or if other hosts hold some of them."""
    if isinstance(array, Tracer) or (isinstance(array, jax.Array) and not array.is_fully_addressable):
        return None
    return numpy.asarray(array)


def widened(logits: Any) -> jax.Array:
    """The logits in the type to compute in: float64 stays, all others become float32."""
    logits = jnp.asarray(logits)
    return logits if logits.dtype == jnp.float64 else logits.astype(jnp.float32)


def exists(labels: jax.Array, classes: int) -> jax.Array:
    """Whether each number is that of a class."""
    return (labels >= 0) & (labels < classes)


def nan_unless(valid: jax.Array) -> jax.Array:
    """A factor of 1, or of NaN, which also makes the gradient NaN: wrong values must not be trained on."""
    return jnp.where(valid, 1.0, jnp.nan)
