"""Connectionist temporal classification: optax's loss, with lengths, and checks of its arguments."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from paramcount.backend.losses.losses import (
    as_array,
    check_labels,
    checked_logits,
    class_numbers,
    exists,
    known,
    nan_unless,
    widened,
)
from paramcount.errors import ArgumentError, needs, quote
from paramcount.numbers.arithmetic import native

IMPOSSIBLE = -1e30  # the logarithm of 0: less than any path's, and finite when summed over time


def ctc_loss(
    logits: Any, labels: Any, logit_lengths: Any = None, label_lengths: Any = None, blank: int = 0
) -> jax.Array:
    """The CTC loss in nats, one for each example: -ln of the total probability of all alignments of its labels.

    `logits` are (batch, time, classes), where `blank` is the class of no label; `labels` are class numbers (batch,
    label time). The lengths, integers of shape (batch,), say how many frames and labels of each example count, by
    default all; the padding after them is not read. The loss is (batch,), in float32, or float64 for float64 logits.

    Raises ArgumentError for shapes and types that do not fit, lengths out of bounds, labels out of range or equal to
    the blank, and fewer frames than the labels and the blanks between equal neighbours need. While values are traced,
    as under `jit`, no error can be raised: there too few frames give a loss of inf with a gradient of 0, as does -inf
    in all alignments, and other mistakes a loss and a gradient of NaN. Raises MissingPackageError without optax.

    >>> loss = ctc_loss(jnp.zeros((1, 2, 3)), [[1]])  # 3 of the 9 pairs say 1: 1 1, 1 -, - 1
    >>> round(float(loss[0]), 4)  # ln 3
    1.0986
    """
    logits, labels = checked_logits(logits), as_array(labels, "labels")
    check_shapes(logits, labels)
    batch, time, classes = logits.shape
    blank = blank_of(blank, classes)
    frames = checked_lengths(logit_lengths, "logit_lengths", batch, time)
    counts = checked_lengths(label_lengths, "label_lengths", batch, labels.shape[1])
    check_values(labels, counts, frames, classes, blank)
    return of_checked(widened(logits), class_numbers(labels), frames, counts, blank)


@partial(jax.jit, static_argnames="blank")
def of_checked(logits: jax.Array, labels: jax.Array, frames: jax.Array, counts: jax.Array, blank: int) -> jax.Array:
    """The loss for correct shapes and types; wrong values make it NaN or inf."""
    with needs("ctc_loss"):
        import optax
    (_, time, classes), label_time = logits.shape, labels.shape[1]
    labelled = jnp.arange(label_time) < counts[:, None]
    valid = (~labelled | exists(labels, classes) & (labels != blank)).all(axis=1)
    valid &= (frames >= 0) & (frames <= time) & (counts >= 0) & (counts <= label_time)
    framed = jnp.arange(time) < jnp.where(valid, frames, time)[:, None]
    logits = jnp.where(framed[..., None], logits, 0)
    shifted = logits - jax.lax.stop_gradient(logits.max(axis=-1, keepdims=True))
    with jax.default_matmul_precision("highest"):  # optax looks labels up by a product with their one-hot encoding
        loss = optax.ctc_loss(
            jnp.maximum(shifted, IMPOSSIBLE),
            1.0 - framed,
            jnp.where(labelled, labels, blank),
            1.0 - labelled,
            blank_id=blank,
            log_epsilon=IMPOSSIBLE,
        )
    loss = jnp.where(loss > -IMPOSSIBLE / 2, jnp.inf, loss)
    return (loss * nan_unless(valid)).astype(logits.dtype)


def check_shapes(logits: Any, labels: Any) -> None:
    """Raises ArgumentError unless logits are (batch, time, classes) and labels (batch, label time)."""
    if logits.ndim != 3 or logits.shape[1] == 0:
        message = f"`logits` must be (batch, time, classes) with at least one frame, not {logits.shape}"
        raise ArgumentError(message, "one example is a batch of one: `logits[None]`", argument="logits")
    if labels.ndim != 2 or labels.shape[0] != logits.shape[0]:
        message = f"`labels` must be (batch, label time), {logits.shape[0]} rows for these logits, not {labels.shape}"
        raise ArgumentError(message, "pad the rows to one length and give `label_lengths`", argument="labels")


def blank_of(blank: Any, classes: int) -> int:
    """The number of the blank; raises ArgumentError for one that is not a class."""
    blank = native(blank)
    if type(blank) is not int or not 0 <= blank < classes:
        message = f"`blank` must be one of the {classes} classes, 0 to {classes - 1}, not {quote(blank)}"
        raise ArgumentError(message, f"the last class is {classes - 1}", argument="blank")
    return blank


def checked_lengths(lengths: Any, name: str, batch: int, limit: int) -> Any:
    """A length for each example; raises ArgumentError for other shapes and types, and for values out of bounds."""
    if lengths is None:
        return numpy.full(batch, limit, numpy.int32)
    lengths = as_array(lengths, name)
    if lengths.shape != (batch,) or not jnp.issubdtype(lengths.dtype, jnp.integer):
        message = (
            f"`{name}` must be {batch} integers, one for each example, not {lengths.dtype} of shape {lengths.shape}"
        )
        raise ArgumentError(message, argument=name)
    values = known(lengths)
    if values is not None and ((values < 0) | (values > limit)).any():
        example = int(numpy.flatnonzero((values < 0) | (values > limit))[0])
        message = f"`{name}` must be from 0 to {limit}, but example {example} has {values[example]}"
        raise ArgumentError(message, argument=name)
    return lengths.astype(numpy.int32)


def check_values(labels: Any, counts: Any, frames: Any, classes: int, blank: int) -> None:
    """Raises ArgumentError for labels that are not traced and are not valid, or need more frames."""
    check_labels(labels[:0], classes)  # their type alone
    labels, counts, frames = known(labels), known(counts), known(frames)
    if labels is None or counts is None:
        return
    labelled = numpy.arange(labels.shape[1]) < counts[:, None]
    read = numpy.where(labelled, labels, 0)
    check_labels(read, classes)
    if (labelled & (read == blank)).any():
        example, place = numpy.argwhere(labelled & (read == blank))[0].tolist()
        message = f"label {place} of example {example} is {blank}, which is the blank"
        hint = "if it is padding, give the true length in `label_lengths`, otherwise use another `blank`"
        raise ArgumentError(message, hint, argument="labels")
    if frames is None:
        return
    repeats = ((labels[:, 1:] == labels[:, :-1]) & labelled[:, 1:]).sum(axis=1)
    short = numpy.flatnonzero(counts + repeats > frames)
    if short.size:
        example = int(short[0])
        needed = f"its {counts[example]} labels need {counts[example] + repeats[example]}"
        message = f"example {example} has {frames[example]} frames, but {needed}"
        raise ArgumentError(message, "equal neighbours need a blank between them", argument="labels")
