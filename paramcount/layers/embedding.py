"""The lookup of tokens in a table."""

from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError
from paramcount.layers.fields import Whole, field
from paramcount.layers.layer import Layer, Param, Shape, Work
from paramcount.numbers.arithmetic import Size


@dataclass(frozen=True)
class Embedding(Layer, kind="embedding"):
    """One row of a table for each token. Table: vocab × out. A lookup is not an operation: 0 MACs, 0 elementwise.

    >>> Embedding(vocab=1000, out=64).output_shape(Shape((10,), "tokens"))
    Shape(sizes=(10, 64), layout='sequence')
    """

    vocab: int = field(Whole(), doc="the number of different tokens, one row of the table for each")
    out: int = field(Whole(), doc="the width of a row")

    family = "embedding"
    examples = (
        ({"vocab": 11, "out": 4}, Shape((5,), "tokens")),
        ({"vocab": 3, "out": 2}, Shape((4, 6), "tokens")),
    )

    def setting(self, *inputs: Shape) -> str:
        return f"of {self.vocab}"

    def output_shape(self, x: Shape) -> Shape:
        if x.layout != "tokens":
            raise ShapeError(
                f"`embedding` looks up tokens, and got {x.layout} {x}",
                hint="use it on a `tokens` input; for values that are not tokens use `dense` or `pointwise`",
            )
        return Shape.of(*x.sizes, self.out)

    def params(self, x: Shape) -> dict[str, Param]:
        return {"table": Param({"vocab": self.vocab, "output": self.out}, "table", "normal")}

    def work(self, x: Shape) -> Work:
        return Work()

    @property
    def vocabulary(self) -> Size:
        return self.vocab

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import numpy as jnp

        # NaN where no row is: JAX would take the last one, or count from the end.
        return jnp.asarray(params["table"]).at[x].get(mode="fill", wrap_negative_indices=False)
