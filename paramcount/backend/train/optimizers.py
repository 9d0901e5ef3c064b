"""The optimizers of training, which are those of optax: by name if their cost is counted, or any other as an object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy

from paramcount.cost.optimizers import OPTIMIZERS
from paramcount.errors import ArgumentError, needs, quote
from paramcount.errors.suggest import unknown
from paramcount.numbers.arithmetic import native


def optimizer(given: Any, learning_rate: Any = None) -> Any:
    """An optax transformation, from a name in OPTIMIZERS and a learning rate, or itself.

    The learning rate is a number or a schedule, by default 0.01. Raises ArgumentError for anything else, and for a
    learning rate given with a transformation, which already has one; MissingPackageError if optax is not installed.

    >>> optimizer("adam", 1e-3).init({"w": 0.0})[0].count.item()
    0
    """
    with needs("training"):
        import optax
    if isinstance(given, str):
        if given not in OPTIMIZERS:
            hint = f"one of {', '.join(OPTIMIZERS)}; or, in Python, any optax transformation"
            raise unknown("optimizer", given, OPTIMIZERS, hint, argument="optimizer")
        learning_rate = 0.01 if learning_rate is None else learning_rate
        learning_rate = native(learning_rate)
        if not (callable(learning_rate) or is_rate(learning_rate)):
            message = f"a learning rate must be a positive number or an optax schedule, not {quote(learning_rate)}"
            raise ArgumentError(message, argument="learning_rate")
        learning_rate = scheduled(learning_rate) if callable(learning_rate) else float(learning_rate)
        chosen = OPTIMIZERS[given]
        return getattr(optax, chosen.maker)(learning_rate, **chosen.settings)
    if not (hasattr(given, "init") and hasattr(given, "update")):
        hint = "give a name, or an optax transformation, e.g. optax.adamw(1e-3)"
        raise ArgumentError(f"{quote(given, repr)} is not an optimizer", hint, argument="optimizer")
    if learning_rate is not None:
        hint = "leave out `learning_rate`, or give the optimizer by name"
        raise ArgumentError("the optimizer already has a learning rate", hint, argument="learning_rate")
    return given


def is_rate(given: Any) -> bool:
    """Whether a number is positive and finite, also in float32, in which steps are taken."""
    held = numpy.finfo(numpy.float32)
    number = isinstance(given, (int, float)) and not isinstance(given, bool)
    return number and float(held.smallest_subnormal) <= given <= float(held.max)


def scheduled(schedule: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same schedule, which raises ArgumentError if it does not give one number for a step."""

    def rate(step: Any) -> Any:
        given = schedule(step)
        if not isinstance(given, (jax.Array, numpy.ndarray, numpy.number, int, float)) or numpy.shape(given):
            what = type(given).__name__ if numpy.ndim(given) == 0 else f"an array of shape {numpy.shape(given)}"
            message = f"the schedule of the learning rate must return a number for each step, not {what}"
            raise ArgumentError(message, argument="learning_rate")
        return given

    return rate
