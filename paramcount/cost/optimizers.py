"""The optimizers: what each costs and keeps for one trainable parameter, and what optax calls it."""

from __future__ import annotations

from typing import Any, NamedTuple

from paramcount.errors import ArgumentError, quote


class Optimizer(NamedTuple):
    """One optimizer.

    `operations` are elementwise, for each trainable parameter; a scalar that all parameters share is computed once, and
    is free. `states` are tensors as large as the trainable parameters. `maker` is optax' function, with `settings`.
    """

    operations: int
    states: int
    maker: str
    settings: dict[str, Any]


OPTIMIZERS = {
    "sgd": Optimizer(2, 0, "sgd", {}),  # learning rate × gradient, subtract
    # Decay the velocity, add the gradient; learning rate × velocity, subtract.
    "momentum": Optimizer(4, 1, "sgd", {"momentum": 0.9}),
    # Both moments: decay, scale the gradient, add (3), for the second also a square (4). Correct both for their start
    # (2), root, epsilon, divide, learning rate, subtract (5).
    "adam": Optimizer(14, 2, "adam", {}),
}


def optimizer_of(name: str) -> Optimizer:
    """The optimizer of a name; raises ArgumentError for an unknown one.

    >>> optimizer_of("adam").states
    2
    """
    if name not in OPTIMIZERS:
        hint = "one of " + ", ".join(OPTIMIZERS)
        raise ArgumentError(f"unknown optimizer {quote(name)}", hint=hint, argument="optimizer")
    return OPTIMIZERS[name]
