"""The contract: Shape, Param, Work, and Layer, whose four methods are all that counting and building ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, NamedTuple

from paramcount.errors import ArgumentError, quote
from paramcount.layers.checked import SUGAR, Checked
from paramcount.layers.fields import Check, Kind, field
from paramcount.numbers.arithmetic import Size, product

LAYOUTS = {"features": 1, "sequence": 2, "image": 3, "volume": 4, "tokens": 1}
BY_RANK = {1: "features", 2: "sequence", 3: "image", 4: "volume"}
ROLES = ("weight", "table", "bias", "norm", "buffer")
FAMILIES = (
    "convolution",
    "dense",
    "embedding",
    "parameter",
    "contraction",
    "normalization",
    "activation",
    "elementwise",
    "pooling",
    "shape",
    "resampling",
    "regularization",
    "recurrent",
    "state space",
    "attention",
    "position",
    "merge",
    "routing",
)


@dataclass(frozen=True)
class Shape:
    """The sizes of one example's value, channels last, without the batch, and what its axes mean.

    >>> Shape.of(224, 224, 3)
    Shape(sizes=(224, 224, 3), layout='image')
    """

    sizes: tuple[Size, ...]
    layout: str = "plain"

    @staticmethod
    def of(*sizes: Size) -> Shape:
        """A shape whose layout follows from its rank: features, sequence, image, volume, else plain."""
        return Shape(sizes, BY_RANK.get(len(sizes), "plain"))

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def spatial(self) -> tuple[Size, ...]:
        """All axes but the last."""
        return self.sizes[:-1]

    @property
    def channels(self) -> Size:
        """The last axis."""
        return self.sizes[-1]

    @cached_property
    def elements(self) -> Size:
        return product(self.sizes)

    def with_channels(self, channels: Size) -> Shape:
        """The same shape with another last axis."""
        return Shape((*self.sizes[:-1], channels), self.layout)

    @property
    def described(self) -> str:
        """The sizes with what they are.

        >>> Shape.of(224, 224, 3).described, Shape((128,), "tokens").described
        ('image 224×224×3', '128 tokens')
        """
        if self.layout in ("tokens", "features"):
            return f"{self} {self.layout}" if self.sizes != (1,) else f"1 {self.layout[:-1]}"
        return str(self) if self.layout == "plain" else f"{self.layout} {self}"

    def __str__(self) -> str:
        return "×".join(map(str, self.sizes)) if self.sizes else "scalar"


class Param(NamedTuple):
    """One tensor: its named axes with their sizes, its role, and how it starts.

    Roles: weight (kernels), table (embeddings, positions, scales), bias, norm, buffer (running statistics).
    Initializers: fan_in (normal, variance 1 / all axes but the last), normal (deviation 0.02), zeros, ones, log_range
    (the logarithms of 1, 2, ... along the last axis).

    >>> Param({"input": 784, "output": 10}, "weight").size
    7840
    """

    axes: dict[str, Size]
    role: str
    init: str = "fan_in"

    @property
    def shape(self) -> tuple[Size, ...]:
        return tuple(self.axes.values())

    @property
    def size(self) -> Size:
        return product(self.axes.values())


class Work(NamedTuple):
    """What running once costs: multiply-accumulates of contractions, and all other operations beside them.

    >>> Work(macs=864, elementwise=32).flops
    1728
    """

    macs: Size = 0
    elementwise: Size = 0

    @property
    def flops(self) -> Size:
        """Two for each multiply-accumulate: this is the only place that says so."""
        return 2 * self.macs

    def __add__(self, other: Work) -> Work:  # type: ignore[override]
        return Work(self.macs + other.macs, self.elementwise + other.elementwise)

    def __mul__(self, times: Size) -> Work:  # type: ignore[override]
        return Work(self.macs * times, self.elementwise * times)


class Contraction(NamedTuple):
    """The multiply-accumulates of one contraction, and what each of its operands is computed from: parameters, by name,
    and inputs, by number.

    Its gradient has another contraction of the same size for each operand that depends on a trainable parameter, or one
    of the size that `gradients` gives for that operand.

    >>> Contraction(640, (("weight",), (0,))).by_operand()  # the MACs of the gradient by each
    [(('weight',), 640), ((0,), 640)]
    """

    macs: Size
    operands: tuple[tuple[str | int, ...], ...]
    gradients: tuple[Size, ...] | None = None

    def by_operand(self) -> list[tuple[tuple[str | int, ...], Size]]:
        """Each operand with the multiply-accumulates of the gradient by it."""
        gradients = (self.macs,) * len(self.operands) if self.gradients is None else self.gradients
        return list(zip(self.operands, gradients, strict=True))


class Item:
    """Anything that can stand in a network's list: a layer, a block, or a structural form."""

    def place(self, builder: Any, name: str | None) -> None:
        """Become part of the network that is being built, under a name or by kind and ordinal."""
        raise NotImplementedError


registry: dict[str, type[Layer]] = {}


@dataclass(frozen=True, kw_only=True)
class Layer(Checked, Item, ABC):
    """One operation, with its parameters, its work and its forward computation.

    A concrete layer is a frozen dataclass whose fields are its arguments in a spec, in positional order, and
    registers itself: `class Conv(Layer, kind="conv")`. `norm` and `activation` are sugar for items after it.
    """

    norm: Any = field(Kind(none=True), None, doc="a normalization after the layer, such as `batch_norm`")
    activation: Any = field(Kind(none=True), None, doc="an activation after the layer and its norm, such as `relu`")

    family: ClassVar[str] = ""  # one of FAMILIES
    examples: ClassVar[tuple[tuple, ...]] = ()  # (settings, input shape, ...): what the contract test runs
    example: ClassVar[str] = ""  # a spec that uses it, if not one of these by itself
    takes_prev: ClassVar[bool] = True  # whether the value that arrives is the first input
    slow_in_loops: ClassVar[bool] = False  # whether its gradient is slow on a processor inside a loop of XLA

    def __init_subclass__(cls, kind: str = "", **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if kind:
            registry[kind] = cls
        cls.kind = kind or cls.__dict__.get("kind") or cls.__name__.lower()  # a layer without a kind still needs a name

    @classmethod
    @cache
    def checks(cls) -> tuple[tuple[str, Check], ...]:
        """Each argument's name and check, in positional order, `norm` and `activation` last."""
        pairs = super().checks()
        return pairs[2:] + pairs[:2]

    @classmethod
    def positional(cls) -> tuple[str, ...]:
        """The arguments that may stand in a list, in their order; `norm` and `activation` never do."""
        return tuple(name for name in super().positional() if name not in SUGAR)

    def place(self, builder: Any, name: str | None) -> None:
        """Become a leaf of the network that is being built."""
        builder.layer(self, name)

    def setting(self, *inputs: Shape) -> str:
        """The arguments in brief, for a table: `3×3/2`; `inputs`, where known, show the number of axes."""
        return ""

    @abstractmethod
    def output_shape(self, *inputs: Shape) -> Shape | tuple[Shape, ...]:
        """The shape of the result, or of each result; raises ShapeError for inputs it cannot take."""

    @abstractmethod
    def params(self, *inputs: Shape) -> dict[str, Param]:
        """The tensors that it owns, by name."""

    @abstractmethod
    def work(self, *inputs: Shape) -> Work:
        """The cost of one example's forward computation."""

    def contractions(self, *inputs: Shape) -> tuple[Contraction, ...]:
        """What the MACs of `work` are made of: by default its weights are multiplied by its first input."""
        macs = self.work(*inputs).macs
        if type(macs) is int and not macs:
            return ()
        weights = [name for name, param in self.params(*inputs).items() if param.role not in ("bias", "buffer")]
        return (Contraction(macs, (tuple(weights), (0,))),)

    def unmasked(self, figure: Size, *inputs: Shape) -> Size:
        """The part of a figure of its work that remains when only pairs of positions count that it does not mask."""
        return figure

    def cached(self, *inputs: Shape) -> Size | None:
        """How many numbers generation caches for each position of its second input; None for a layer without a cache.

        The first input holds the queries that look them up.
        """
        return None

    def cached_inputs(self) -> tuple[int, ...]:
        """Which of its inputs, by number, are all that it caches; each is kept once, however many layers cache it."""
        return ()

    def cached_positions(self, tokens: Size) -> Size | None:
        """How many positions stay cached after `tokens` tokens; None where every query sees all positions there are."""
        return None

    def batch_sums(self, derived: bool, *inputs: Shape) -> Size:
        """How many numbers it sums over the batch in a training step; `derived`: its first input has a gradient."""
        return 0

    @property
    def vocabulary(self) -> Size | None:
        """How many different tokens its first input may hold; None for a layer that does not look up tokens."""
        return None

    @abstractmethod
    def forward(self, params: dict[str, Any], *inputs: Any, context: Any) -> Any:
        """The computation of one example in JAX; `vmap` makes the batch."""


class ParameterFree(Layer):
    """A layer without parameters; its work is its own."""

    def params(self, *inputs: Shape) -> dict[str, Param]:
        return {}


class Free(ParameterFree):
    """A layer that costs nothing: no parameters, no multiply-accumulates, no elementwise operations."""

    def work(self, *inputs: Shape) -> Work:
        return Work()


def along(name: str, value: Any, axes: int) -> tuple:
    """A per-axis argument as a tuple with one entry for each of `axes` axes."""
    if not isinstance(value, tuple):
        return (value,) * axes
    if len(value) != axes:
        raise ArgumentError(
            f"{name} {quote(list(value))} has {len(value)} entries for {axes} axes",
            hint=f"give one number, or a list of {axes}",
            argument=name,
        )
    return value
