"""Recurrent layers, by PyTorch's equations.

At each step the gates see the input and the state after the step before. The layers take a sequence, or features as a
single step, and give several results: the sequence of outputs, the last state and, for `lstm`, the last cell (`into:
[memory, h, c]`). `layers` are stacked, each on the outputs of the one below. With `bidirectional` every layer also
reads the sequence from its end, and the outputs of both directions are concatenated. The first state, zeros unless
`state` gives it, and the last one have the shape (layers × directions, out), or (out,) for one layer in one
direction.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from paramcount.errors import ShapeError
from paramcount.layers.fields import Flag, ValuePath, Whole, Word, field
from paramcount.layers.layer import Contraction, Layer, Param, Shape, Work
from paramcount.numbers.arithmetic import Size, decide, product, require, settle

MOST_LAYERS = 1000
Operand = tuple[str | int, ...]


@dataclass(frozen=True)
class Recurrent(Layer):
    """What the recurrent kinds have in common; they differ in their gates and in what a step computes from them."""

    hidden: int = field(Whole(), doc="the units of the state")
    layers: int = field(Whole(), 1, doc="how many layers are stacked")
    bidirectional: bool = field(Flag(), False, doc="whether each layer also reads the sequence backwards")
    biases: int = field(Whole(at_least=0), 2, doc="bias vectors per gate: 2 as in PyTorch, 1 as in Keras, or 0")
    state: Any = field(ValuePath(none=True), None, doc="the path of the first state; zeros unless given")

    family = "recurrent"
    by_name = ("bidirectional", "biases", "state")
    gates: ClassVar[int]
    updates: ClassVar[int]  # operations per hidden unit and step, beyond the sums of the gates

    def __post_init__(self) -> None:
        super().__post_init__()
        hint = "two vectors for each gate are PyTorch's, one is Keras's"
        require(self.biases <= 2, "biases must be 0, 1 or 2, not {}", self.biases, hint=hint, argument="biases")
        message = "layers must be at most {}, not {}"
        require(self.layers <= MOST_LAYERS, message, MOST_LAYERS, self.layers, argument="layers")

    @property
    def out(self) -> Size:
        """The width of the state, and of the outputs of one direction."""
        return self.hidden

    @property
    def carried(self) -> tuple[Size, ...]:
        """The widths of what goes from step to step."""
        return (self.out,)

    @property
    def directions(self) -> int:
        return 2 if self.bidirectional else 1

    def suffixes(self, layer: int) -> tuple[str, ...]:
        """What the names of a layer's tensors end in, for each direction."""
        return (f"_{layer}", f"_{layer}_reverse")[: self.directions]

    def widths(self, channels: Size) -> Iterator[tuple[int, Size]]:
        """Each layer and the width of its input."""
        for layer in range(settle(self.layers)):
            yield layer, self.out * self.directions if layer else channels

    def setting(self, *inputs: Shape) -> str:
        if self.layers == 1:
            return "bidirectional" if self.bidirectional else ""
        return f"{self.layers}×bidirectional" if self.bidirectional else f"{self.layers} layers"

    def output_shape(self, x: Shape, *states: Shape) -> tuple[Shape, ...]:
        if x.layout == "tokens" or x.rank not in (1, 2):
            raise ShapeError(
                f"`{self.kind}` needs a sequence, or features as one step, and got {x.layout} {x}",
                hint="put `embedding` before it"
                if x.layout == "tokens"
                else "`rearrange` it, as in `h w c -> w (h c)`",
            )
        rows = self.layers * self.directions
        lead = () if decide(rows == 1) else (rows,)
        ends = tuple([Shape.of(*lead, width) for width in self.carried])
        for name, start, end in zip(("state", "cell"), states, ends, strict=False):
            if start.layout == "tokens" or not decide(start.sizes == end.sizes):
                raise ShapeError(
                    f"`{self.kind}` starts from a {name} of {end}, and got {start.layout} {start}",
                    hint="(layers × directions, width), or (width,) for one layer in one direction",
                    argument=name,
                )
        return (Shape.of(*x.spatial, self.out * self.directions), *ends)

    def params(self, x: Shape, *states: Shape) -> dict[str, Param]:
        return {
            name + suffix: param
            for layer, width in self.widths(x.channels)
            for suffix in self.suffixes(layer)
            for name, param in self.tensors(width).items()
        }

    def tensors(self, width: Size) -> dict[str, Param]:
        """The tensors of one layer in one direction, on inputs of a width; the gates' columns follow one another."""
        gates = self.gates * self.hidden
        biases = ("input_bias", "hidden_bias")[: settle(self.biases)]
        return {
            "input_weight": Param({"input": width, "gates": gates}, "weight"),
            "hidden_weight": Param({"state": self.out, "gates": gates}, "weight"),
            **{name: Param({"gates": gates}, "bias", "zeros") for name in biases},
        }

    def work(self, x: Shape, *states: Shape) -> Work:
        cells = self.layers * self.directions
        inputs = self.directions * (x.channels + (self.layers - 1) * self.directions * self.out)
        macs = self.gates * self.hidden * (inputs + cells * self.out)
        elementwise = cells * self.hidden * (self.gates * (1 + self.biases) + self.updates)
        return Work(macs, elementwise) * product(x.spatial)

    def contractions(self, x: Shape, *states: Shape) -> tuple[Contraction, ...]:
        found: list[Contraction] = []
        steps, given = product(x.spatial), tuple(range(1, 1 + len(states)))
        below: Operand = (0,)
        for layer, width in self.widths(x.channels):
            made = below
            for suffix in self.suffixes(layer):
                own = tuple([name + suffix for name in self.tensors(width)])
                found += self.products(steps, width, suffix, below, (*below, *given, *own))
                made = (*made, *given, *own)
            below = made
        return tuple(found)

    def products(self, steps: Size, width: Size, suffix: str, below: Operand, carried: Operand) -> list[Contraction]:
        """The contractions of one layer in one direction: that of the input, and that of the state."""
        gates = steps * self.gates * self.hidden
        return [
            Contraction(gates * width, (below, ("input_weight" + suffix,))),
            Contraction(gates * self.out, (carried, ("hidden_weight" + suffix,))),
        ]

    def forward(self, params: dict[str, Any], x: Any, *states: Any, context: Any) -> Any:
        from jax import lax
        from jax import numpy as jnp

        y = jnp.atleast_2d(x)
        starts = [jnp.atleast_2d(state) for state in states]
        ends = []
        for layer in range(self.layers):
            sides = []
            for suffix in self.suffixes(layer):
                own = {name.removesuffix(suffix): value for name, value in params.items() if name.endswith(suffix)}
                given = affine(own, "input", y)
                start = [each[len(ends)] for each in starts]
                start += [jnp.zeros(width, given.dtype) for width in self.carried[len(start) :]]

                def step(carry: Any, gates: Any, own: Any = own) -> Any:
                    after = self.step(own, gates, *carry)
                    return after, after[0]

                end, side = lax.scan(step, tuple(start), given, reverse=suffix.endswith("reverse"))
                sides.append(side)
                ends.append(end)
            y = jnp.concatenate(sides, -1)
        last = ends[0] if len(ends) == 1 else [jnp.stack(each) for each in zip(*ends, strict=True)]
        return (y if x.ndim == 2 else y[0], *last)

    def step(self, params: dict[str, Any], gates: Any, *carry: Any) -> tuple[Any, ...]:
        """What is carried after a step, the output first; `gates` holds the input's part of the gates' sums."""
        raise NotImplementedError


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


def affine(params: dict[str, Any], part: str, x: Any) -> Any:
    """The product with a part's weights, and its bias where it has one."""
    y = x @ params[f"{part}_weight"]
    return y + params[f"{part}_bias"] if f"{part}_bias" in params else y
