"""Recurrent layers, by PyTorch's equations.

At each step the gates see the input and the state after the step before. The layers take a sequence, or features as a
single step, and give several results: the sequence of outputs, the last state and, for `lstm`, the last cell (`into:
[memory, h, c]`). `layers` are stacked, each on the outputs of the one below. With `bidirectional` every layer also
reads the sequence from its end, and the outputs of both directions are concatenated. The first state, zeros unless
`state` gives it, and the last one have the shape (layers × directions, out), or (out,) for one layer in one
direction.
"""

from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError
from paramcount.layers._recurrent import Operand, Recurrent, affine
from paramcount.layers.fields import ValuePath, Whole, Word, field
from paramcount.layers.layer import Contraction, Param, Shape, Work
from paramcount.numbers.arithmetic import Size, decide, product


@dataclass(frozen=True)
class Lstm(Recurrent, kind="lstm"):
    """Long short-term memory: three gates over a cell. `projection` narrows the output, and the state with it.

    Weights per layer and direction: 4 · hidden × (input + out), and hidden × out with a projection; `biases` vectors of
    4 · hidden. Gates in the order input, forget, cell, output. MACs: the weights, at every step. Elementwise: 13 + 4 ·
    biases per hidden unit and step. `cell`, of the shape (layers × directions, hidden), is given along with `state`.
    Source: https://www.bioinf.jku.at/publications/older/2604.pdf

    >>> layer = Lstm(hidden=16)
    >>> [str(shape) for shape in layer.output_shape(Shape.of(7, 10))], layer.work(Shape.of(7, 10)).macs
    (['7×16', '16', '16'], 11648)
    """

    projection: int = field(Whole(at_least=0), 0, doc="the width that the output is narrowed to; 0 for no projection")
    cell: Any = field(ValuePath(none=True), None, doc="the path of the first cell, given along with `state`")

    by_name = ("bidirectional", "projection", "biases", "state", "cell")
    gates = 4
    updates = 9
    examples = (
        ({"hidden": 4}, (5, 3)),
        ({"hidden": 4}, (3,)),
        ({"hidden": 3, "layers": 2, "bidirectional": True, "biases": 1}, (4, 5)),
        ({"hidden": 4, "layers": 3, "projection": 2, "biases": 0}, (3, 5)),
        ({"hidden": 4, "projection": 3, "bidirectional": True}, (3, 5)),
        ({"hidden": 4, "state": "h"}, (3, 5), (4,)),
        ({"hidden": 4, "state": "h", "cell": "c"}, (1, 5), (4,), (4,)),
        ({"hidden": 4, "layers": 2, "projection": 3, "state": "h", "cell": "c"}, (3, 5), (2, 3), (2, 4)),
    )

    @property
    def out(self) -> Size:
        return self.projection if decide(self.projection > 0) else self.hidden

    @property
    def carried(self) -> tuple[Size, ...]:
        return self.out, self.hidden

    def output_shape(self, x: Shape, *states: Shape) -> tuple[Shape, ...]:
        if self.cell is not None and len(states) < 2:
            raise ShapeError("`lstm` got a cell without a state", hint="give both, or neither", argument="cell")
        return super().output_shape(x, *states)

    def tensors(self, width: Size) -> dict[str, Param]:
        tensors = super().tensors(width)
        if decide(self.projection > 0):
            tensors["projection"] = Param({"hidden": self.hidden, "output": self.projection}, "weight")
        return tensors

    def work(self, x: Shape, *states: Shape) -> Work:
        projections = product(x.spatial) * self.layers * self.directions * self.hidden * self.projection
        return super().work(x) + Work(projections)

    def products(self, steps: Size, width: Size, suffix: str, below: Operand, carried: Operand) -> list[Contraction]:
        found = super().products(steps, width, suffix, below, carried)
        if decide(self.projection > 0):
            found.append(Contraction(steps * self.hidden * self.projection, (carried, ("projection" + suffix,))))
        return found

    def step(self, params: dict[str, Any], gates: Any, *carry: Any) -> tuple[Any, ...]:
        from jax import nn
        from jax import numpy as jnp

        state, cell = carry
        enter, forget, new, leave = jnp.split(gates + affine(params, "hidden", state), 4)
        cell = nn.sigmoid(forget) * cell + nn.sigmoid(enter) * jnp.tanh(new)
        state = nn.sigmoid(leave) * jnp.tanh(cell)
        return (state @ params["projection"] if "projection" in params else state), cell


class Gru(Recurrent, kind="gru"):
    """Gated recurrent unit; the reset gate acts on the state's product with its weights, as in cuDNN.

    Weights per layer and direction: 3 · hidden × (input + hidden); `biases` vectors of 3 · hidden. Gates in the order
    reset, update, new. MACs: the weights, at every step. Elementwise: 11 + 3 · biases per hidden unit and step.
    Source: https://arxiv.org/abs/1406.1078

    >>> Gru(hidden=128).work(Shape.of(32, 128)).macs  # 32 · 3 · 128 · (128 + 128)
    3145728
    """

    gates = 3
    updates = 8
    examples = (
        ({"hidden": 4}, (5, 3)),
        ({"hidden": 4, "biases": 1}, (3,)),
        ({"hidden": 3, "layers": 2, "bidirectional": True, "biases": 0, "state": "h"}, (4, 5), (4, 3)),
    )

    def step(self, params: dict[str, Any], gates: Any, *carry: Any) -> tuple[Any, ...]:
        from jax import nn
        from jax import numpy as jnp

        (state,) = carry
        reset, update, new = jnp.split(gates, 3)
        reset_too, update_too, new_too = jnp.split(affine(params, "hidden", state), 3)
        update = nn.sigmoid(update + update_too)
        new = jnp.tanh(new + nn.sigmoid(reset + reset_too) * new_too)
        return ((1 - update) * new + update * state,)


@dataclass(frozen=True)
class Rnn(Recurrent, kind="rnn"):
    """The simple recurrent layer: a `function`, tanh or relu, of the input's and the state's product with weights.

    Weights per layer and direction: hidden × (input + hidden); `biases` vectors of hidden. MACs: the weights, at every
    step. Elementwise: 2 + biases per hidden unit and step.

    >>> Rnn(hidden=20, layers=2).work(Shape.of(5, 10)).macs  # 5 · 20 · ((10 + 20) + (20 + 20))
    7000
    """

    function: str = field(Word("tanh", "relu"), "tanh", doc="the activation of the state: `tanh` or `relu`")

    by_name = ("bidirectional", "biases", "state", "function")
    gates = 1
    updates = 1
    examples = (
        ({"hidden": 4}, (5, 3)),
        ({"hidden": 4, "function": "relu", "biases": 1}, (3,)),
        ({"hidden": 3, "layers": 2, "bidirectional": True, "biases": 0, "state": "h"}, (4, 5), (4, 3)),
    )

    def step(self, params: dict[str, Any], gates: Any, *carry: Any) -> tuple[Any, ...]:
        from jax import nn
        from jax import numpy as jnp

        (state,) = carry
        total = gates + affine(params, "hidden", state)
        return (nn.relu(total) if self.function == "relu" else jnp.tanh(total),)
