"""The optimizers: what each computes and keeps for one trainable parameter, and its function in optax."""

from __future__ import annotations

from typing import Any, NamedTuple


class Optimizer(NamedTuple):
    """One optimizer.

    `operations` are elementwise, for each trainable parameter; scalars that all parameters share are not counted.
    `states` is the number of tensors as large as the trainable parameters. `maker` is the function in optax, called
    with `settings`.
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
    """The optimizer with a name; raises ArgumentError for an unknown one.

    >>> optimizer_of("adam").states
    2
    """
    if not isinstance(name, str) or name not in OPTIMIZERS:
        from paramcount.errors.suggest import unknown

        raise unknown("optimizer", name, OPTIMIZERS, argument="optimizer")
    return OPTIMIZERS[name]
