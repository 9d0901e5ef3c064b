"""What the recurrent layers share: stacked layers in one or two directions, step by step."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from paramcount.errors import ShapeError
from paramcount.layers.fields import Flag, ValuePath, Whole, field
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


def affine(params: dict[str, Any], part: str, x: Any) -> Any:
    """The product with a part's weights, and its bias where it has one."""
    y = x @ params[f"{part}_weight"]
    return y + params[f"{part}_bias"] if f"{part}_bias" in params else y
