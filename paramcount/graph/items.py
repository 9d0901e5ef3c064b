"""The structural forms of a network, as public dataclasses: what they do to `prev`, names and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError, SpecError, quote
from paramcount.graph.builder import Builder
from paramcount.graph.scope import SKIPPED
from paramcount.layers.layer import Item
from paramcount.layers.merge import AddValues, MultiplyValues, SubtractValues
from paramcount.numbers.arithmetic import decide

ADD, SUBTRACT, MULTIPLY = AddValues(), SubtractValues(), MultiplyValues()
Path = Any  # "prev", a name, or a list of items that starts at `prev`


@dataclass(eq=False)
class Do(Item):
    """Items one after the other, as one group.

    >>> import paramcount as pc
    >>> [row.path for row in pc.count([pc.Do([pc.Dense(32), pc.Relu()])], 16).rows]
    ['do0', 'do0.dense0', 'do0.relu0']
    """

    body: Sequence[Item]

    kind = "do"

    def place(self, builder: Builder, name: str | None) -> None:
        builder.open("do", name)
        builder.run(self.body)
        builder.close("do")


@dataclass(eq=False)
class Skip(Item):
    """Nothing: an item whose condition is false. `names` are those that it would have given."""

    names: Sequence[str] = ()

    def place(self, builder: Builder, name: str | None) -> None:
        for each in self.names:
            builder.scope.root.gone.setdefault(str(each), SKIPPED)
        builder.results = (builder.prev,)


@dataclass(eq=False)
class From(Item):
    """Go on from another value.

    >>> import paramcount as pc
    >>> network = pc.Network([pc.From("text"), pc.Dense(2)], inputs={"text": 5, "picture": 3})
    >>> pc.count(network).weights  # 5 · 2
    10
    """

    path: Path

    def place(self, builder: Builder, name: str | None) -> None:
        builder.prev = builder.path(self.path, "from", name)
        builder.results = (builder.prev,)


@dataclass(eq=False)
class Residual(Item):
    """The body's result plus the value that arrived, where `condition` holds; else the body alone.

    >>> import paramcount as pc
    >>> pc.count([pc.Residual([pc.Dense(8, bias=False)])], 8).elementwise  # the sum
    8
    """

    body: Sequence[Item]
    condition: bool = True

    kind = "residual"

    def place(self, builder: Builder, name: str | None) -> None:
        builder.open("residual", name)
        arrived = builder.arrived()
        builder.run(self.body)
        result = builder.arrived()
        if decide(self.condition):
            if not decide(arrived.shape.sizes == result.shape.sizes):
                raise ShapeError(
                    f"the residual's body gives {result.shape}, but {arrived.shape} arrived",
                    hint="give a projection path with `add:`, or a condition: `residual: {if: ..., body: [...]}`",
                )
            builder.merge(ADD, (arrived, result), builder.free("add"))
        builder.close("residual")


@dataclass(eq=False)
class Merge(Item):
    """Several paths, merged by a layer of several inputs."""

    paths: Sequence[Path]

    kind = ""

    def operation(self) -> Any:
        raise NotImplementedError

    def place(self, builder: Builder, name: str | None) -> None:
        if not isinstance(self.paths, (list, tuple)) or not self.paths:
            raise SpecError(f"{quote(self.kind)} takes a list of paths", hint=f"write `{self.kind}: [prev, [...]]`")
        if all(isinstance(path, str) for path in self.paths):
            builder.merge(self.operation(), tuple([builder.path(path, "path") for path in self.paths]), name)
            return
        builder.open(self.kind, name)
        values = tuple([builder.path(path, "path", str(index)) for index, path in enumerate(self.paths)])
        builder.merge(self.operation(), values, self.kind)
        builder.close(self.kind)


class Add(Merge):
    """The sum of paths; the first sets the shape.

    >>> import paramcount as pc
    >>> pc.count([pc.Add(["prev", [pc.Dense(8)]])], 8).params  # 8 · 8 + 8
    72
    """

    kind = "add"

    def operation(self) -> Any:
        return ADD


class Subtract(Merge):
    """The first path less the others.

    >>> import paramcount as pc
    >>> pc.count([pc.Subtract([[pc.Dense(8)], "prev"])], 8).macs
    64
    """

    kind = "subtract"

    def operation(self) -> Any:
        return SUBTRACT


class Multiply(Merge):
    """The product of paths; the first sets the shape.

    >>> import paramcount as pc
    >>> pc.count([pc.Multiply([[pc.Dense(8)], [pc.Dense(8), pc.Sigmoid()]])], 8).macs  # 2 · 8 · 8
    128
    """

    kind = "multiply"

    def operation(self) -> Any:
        return MULTIPLY


@dataclass(eq=False)
class Concat(Merge):
    """Paths one behind the other on an axis, by default the last.

    >>> import paramcount as pc
    >>> str(pc.count([pc.Concat(["prev", [pc.Dense(4)]])], 8).rows[0].output_shape)
    '12'
    """

    axis: int = -1

    kind = "concat"

    def operation(self) -> Any:
        from paramcount.layers.concat import ConcatValues

        return ConcatValues(axis=self.axis)


@dataclass(eq=False)
class Gate(Item):
    """The value that arrives times a path.

    >>> import paramcount as pc
    >>> pc.count([pc.Gate([pc.Dense(8, bias=False), pc.Sigmoid()])], 8).elementwise  # the sigmoid, and the product
    16
    """

    path: Path

    kind = "gate"

    def place(self, builder: Builder, name: str | None) -> None:
        builder.build(Multiply(["prev", self.path]), name if name is not None else builder.called("gate"))


@dataclass(eq=False)
class Let(Item):
    """Side values by name, each seeing those before it; `prev` stays.

    >>> import paramcount as pc
    >>> pc.count([pc.Let({"skip": "prev"}), pc.Dense(8), pc.Add(["prev", "skip"])], 8).params
    72
    """

    values: Mapping[str, Path]

    kind = "let"

    def __post_init__(self) -> None:
        if not isinstance(self.values, Mapping):
            raise SpecError("`let` takes a mapping of names to paths", hint='e.g. Let({"skip": "prev"})')

    def place(self, builder: Builder, name: str | None) -> None:
        builder.open("let", name)
        before = builder.prev
        for given, path in self.values.items():
            up = getattr(given, "up", 0)
            builder.scope.give(given, builder.optional_path(path, "path", str(given)), up, must_use=True)
            builder.prev = before
        builder.close("let")
        builder.results = (builder.prev,)


@dataclass(eq=False)
class Pop(Item):
    """Take the last value from a stack.

    >>> import paramcount as pc
    >>> network = pc.Network([pc.With(pc.Dense(8), push="skips"), pc.Dense(4), pc.Pop("skips")], input=4)
    >>> str(network.graph().outputs["output"].shape)
    '8'
    """

    stack: str

    kind = "pop"

    def place(self, builder: Builder, name: str | None) -> None:
        values = builder.scope.root.stacks.get(self.stack)
        if not values:
            raise SpecError(
                f"the stack {quote(self.stack)} is empty",
                hint=f"`push: {self.stack}` an item's result in the same block or file before it",
                position=getattr(self.stack, "position", None),
            )
        builder.scope.escape()
        builder.prev = values.pop()
        builder.results = (builder.prev,)
