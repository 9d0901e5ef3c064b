"""Weight normalization: a kernel's direction and its length, one for each output channel, learned separately.

Source: https://arxiv.org/abs/1602.07868
"""

from typing import Any

from paramcount.layers.layer import Param, Work
from paramcount.numbers.arithmetic import Size


def gain(out: Size) -> Param:
    """The learned length of each output channel's kernel."""
    return Param({"output": out}, "norm", "ones")


def normalization(weights: Size, out: Size) -> Work:
    """Square, sum and scale each weight; a root and a division for each output channel.

    >>> normalization(6, 2).elementwise
    22
    """
    return Work(0, 3 * weights + 2 * out)


def normalized(weight: Any, gain: Any) -> Any:
    """The weight with the length of `gain` in each output channel, its last axis, in JAX."""
    from jax.numpy import sqrt

    return weight * (gain / sqrt((weight**2).sum(tuple(range(weight.ndim - 1)))))
