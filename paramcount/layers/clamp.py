"""The function that limits values to bounds."""

from dataclasses import dataclass
from typing import Any

from paramcount.errors import ArgumentError
from paramcount.layers.activation import Elementwise
from paramcount.layers.fields import Number, field
from paramcount.layers.layer import Shape
from paramcount.numbers.arithmetic import require


@dataclass(frozen=True)
class Clamp(Elementwise, kind="clamp"):
    """min(max(x, low), high); either may be left out. One elementwise operation per element.

    >>> Clamp(high=100).work(Shape.of(24, 1)).elementwise
    24
    """

    low: Any = field(Number(none=True), None, doc="the smallest value that stays; without it there is no lower bound")
    high: Any = field(Number(none=True), None, doc="the largest value that stays; without it there is no upper bound")

    family = "elementwise"
    by_name = ("low", "high")
    examples = (({"low": -0.5, "high": 0.5}, (3, 4, 5)), ({"high": 0.1}, (6,)), ({"low": 0}, ()))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low is None and self.high is None:
            raise ArgumentError("`clamp` takes `low`, `high`, or both", hint="`clamp: {low: -1, high: 1}`")
        if self.low is not None and self.high is not None:
            require(self.low <= self.high, "low {:g} is above high {:g}", self.low, self.high, argument="low")

    def setting(self, *inputs: Shape) -> str:
        low, high = ("" if bound is None else f"{bound:g}" for bound in (self.low, self.high))
        return f"{low}..{high}"

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import numpy as jnp

        return jnp.clip(x, self.low, self.high)
