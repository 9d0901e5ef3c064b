"""State space: a state whose decay and intake depend on each step."""

from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError
from paramcount.layers.fields import ValuePath, field
from paramcount.layers.layer import Contraction, Layer, Param, Shape, Work
from paramcount.numbers.arithmetic import decide, product


@dataclass(frozen=True)
class SelectiveScan(Layer, kind="selective_scan"):
    """Mamba's recurrence: each channel keeps a state, h = exp(step · A) · h + step · x · write, and outputs h · read.

    `step` is (T, d), as x, the value that arrives; `write` and `read` are (T, state). Tables: `decay`, (d, state),
    holds log(-A), and `skip`, (d,), whose product with x is added. MACs: T · d · state, those of h · read. Elementwise:
    7 · T · d · state, so that together they are the 9 operations of the authors' rule.
    Source: https://arxiv.org/abs/2312.00752

    >>> layer = SelectiveScan(step="dt", write="B", read="C")
    >>> layer.work(Shape.of(256, 768), Shape.of(256, 768), Shape.of(256, 16), Shape.of(256, 16)).flops
    6291456
    """

    step: Any = field(ValuePath(), doc="the path of the step sizes, (T, d)")
    write: Any = field(ValuePath(), doc="the path of what writes to the state, (T, state)")
    read: Any = field(ValuePath(), doc="the path of what reads the state, (T, state)")

    family = "state space"
    by_name = ("step", "write", "read")
    examples = (
        ({"step": "dt", "write": "B", "read": "C"}, (5, 4), (5, 4), (5, 3), (5, 3)),
        ({"step": "dt", "write": "B", "read": "C"}, (1, 6), (1, 6), (1, 1), (1, 1)),
    )

    def output_shape(self, x: Shape, step: Shape, write: Shape, read: Shape) -> Shape:
        if x.rank != 2 or x.layout == "tokens":
            raise ShapeError(
                f"`selective_scan` needs a sequence, and got {x.layout} {x}",
                hint="put `embedding` before it" if x.layout == "tokens" else "give it (steps, width)",
            )
        for name, given, wanted in (("step", step, x), ("write", write, None), ("read", read, write)):
            fits = given.rank == 2 and decide(given.sizes[0] == x.sizes[0])
            if not fits or (wanted is not None and not decide(given.channels == wanted.channels)):
                shape = wanted or f"{x.sizes[0]}×state"
                raise ShapeError(f"`selective_scan` needs `{name}` of {shape}, and got {given}", argument=name)
        return x

    def params(self, x: Shape, step: Shape, write: Shape, read: Shape) -> dict[str, Param]:
        return {
            "decay": Param({"channels": x.channels, "state": write.channels}, "table", "log_range"),
            "skip": Param({"channels": x.channels}, "table", "ones"),
        }

    def work(self, x: Shape, step: Shape, write: Shape, read: Shape) -> Work:
        states = product(x.sizes) * write.channels
        return Work(states, 7 * states)

    def contractions(self, x: Shape, step: Shape, write: Shape, read: Shape) -> tuple[Contraction, ...]:
        return (Contraction(self.work(x, step, write, read).macs, (("decay", 0, 1, 2), (3,))),)

    def forward(self, params: dict[str, Any], x: Any, step: Any, write: Any, read: Any, *, context: Any) -> Any:
        from jax import lax
        from jax import numpy as jnp

        rate = -jnp.exp(params["decay"])

        def one(state: Any, now: Any) -> Any:
            x, step, write, read = now
            state = jnp.exp(step[:, None] * rate) * state + (step * x)[:, None] * write
            return state, state @ read

        start = jnp.zeros(rate.shape, x.dtype)
        _, y = lax.scan(one, start, (x, step, write, read))
        return y + x * params["skip"]
