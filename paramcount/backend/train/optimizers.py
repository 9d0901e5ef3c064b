"""The optimizers of training, which are optax's: by name those whose cost is counted, or any other of its own."""

from __future__ import annotations

import sys
from typing import Any

from paramcount.cost.optimizers import OPTIMIZERS
from paramcount.errors import ArgumentError, needs, quote


def optimizer(given: Any, learning_rate: Any = None) -> Any:
    """An optax transformation from a name (`sgd`, `momentum` of 0.9, `adam`) and its learning rate, or from itself.

    The rate of a name is a number or a schedule, 0.01 where none is given. Raises ArgumentError for what is neither,
    and for a rate beside a transformation, which has its own; MissingPackageError without optax.

    >>> optimizer("adam", 1e-3).init({"w": 0.0})[0].count.item()
    0
    """
    with needs("training"):
        import optax
    if isinstance(given, str):
        if given not in OPTIMIZERS:
            hint = f"one of {', '.join(OPTIMIZERS)}; or, in Python, any transformation of optax"
            raise ArgumentError(f"unknown optimizer {quote(given)}", hint, argument="optimizer")
        learning_rate = 0.01 if learning_rate is None else learning_rate
        if getattr(learning_rate, "shape", None) == ():  # a number of NumPy or JAX
            learning_rate = learning_rate.item()
        if not (callable(learning_rate) or is_rate(learning_rate)):
            message = f"a learning rate is a positive number, or a schedule of optax, not {quote(learning_rate)}"
            raise ArgumentError(message, argument="learning_rate")
        _, _, maker, settings = OPTIMIZERS[given]
        return getattr(optax, maker)(learning_rate, **settings)
    if not (hasattr(given, "init") and hasattr(given, "update")):
        hint = "a name, or a transformation of optax, e.g. optax.adamw(1e-3)"
        raise ArgumentError(f"{quote(repr(given))} is no optimizer", hint, argument="optimizer")
    if learning_rate is not None:
        hint = "leave `learning_rate` out, or give the optimizer's name"
        raise ArgumentError("the optimizer has a learning rate of its own", hint, argument="learning_rate")
    return given


def is_rate(given: Any) -> bool:
    """Whether a number is positive and finite."""
    return isinstance(given, (int, float)) and not isinstance(given, bool) and 0 < given <= sys.float_info.max
