"""Layers that change nothing in inference, or only the scale."""

from dataclasses import dataclass
from typing import Any

from paramcount.layers._accept import has_numbers
from paramcount.layers.fields import Number, field
from paramcount.layers.layer import Free, ParameterFree, Shape, Work


class Identity(Free, kind="identity"):
    """The value as it is. Costs nothing.

    >>> str(Identity().output_shape(Shape.of(7, 7, 64)))
    '7×7×64'
    """

    family = "elementwise"
    examples = (({}, (3, 4, 5)), ({}, Shape((6,), "tokens")))

    def output_shape(self, x: Shape) -> Shape:
        return x

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        return x


@dataclass(frozen=True)
class Scale(ParameterFree, kind="scale"):
    """The value times a number. One elementwise operation per element.

    >>> Scale(0.5).work(Shape.of(197, 768)).elementwise
    151296
    """

    factor: float = field(Number(), doc="the number that every element is multiplied by")

    family = "elementwise"
    examples = (({"factor": 0.5}, (3, 4)), ({"factor": 16}, ()))

    def setting(self, *inputs: Shape) -> str:
        return f"×{self.factor:.4g}" if isinstance(self.factor, (int, float)) else ""

    def output_shape(self, x: Shape) -> Shape:
        has_numbers(x, "scale")
        return x

    def work(self, x: Shape) -> Work:
        return Work(0, x.elements)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        return x * self.factor


@dataclass(frozen=True)
class Omission(Free):
    """Drops values at random in training, and does nothing in inference, which is what is counted."""

    rate: float = field(Number(0, 1), doc="the probability that values are dropped")

    family = "regularization"

    def setting(self, *inputs: Shape) -> str:
        return str(self.rate)

    def output_shape(self, x: Shape) -> Shape:
        has_numbers(x, self.kind)
        return x


@dataclass(frozen=True)
class Dropout(Omission, kind="dropout"):
    """In training, sets a random share `rate` of the elements to zero and scales up the rest; nothing in inference.

    No elementwise operations: the figures are those of inference.

    >>> Dropout(0.1).work(Shape.of(197, 768)).elementwise
    0
    """

    rate: float = field(Number(0, 1), 0.5, doc="the probability that an element becomes zero")

    examples = (({}, (3, 4, 5)), ({"rate": 0.1}, (6,)))

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        return kept(x, self.rate, x.shape, context)


@dataclass(frozen=True)
class StochasticDepth(Omission, kind="stochastic_depth"):
    """In training, sets a whole example to zero with probability `rate`; nothing in inference.

    At the end of the body of a `residual` it drops that body. No elementwise operations: the figures are
    those of inference. Source: https://arxiv.org/abs/1603.09382

    >>> StochasticDepth(0.2).work(Shape.of(56, 56, 96)).elementwise
    0
    """

    rate: float = field(Number(0, 1), 0.1, doc="the probability that an example becomes zero")

    examples = (({}, (3, 4, 5)), ({"rate": 0.5}, (6,)))

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        return kept(x, self.rate, (), context)


def kept(x: Any, rate: float, shape: tuple[int, ...], context: Any) -> Any:
    """In training, the value where a random draw of this shape keeps it, scaled so that its mean stays the same."""
    if not context.train or rate == 0:
        return x
    from jax import numpy as jnp
    from jax import random

    keep = random.bernoulli(context.key(), 1.0 - rate, shape)
    return jnp.where(keep, x / (1 - rate) if rate < 1 else x, 0)
