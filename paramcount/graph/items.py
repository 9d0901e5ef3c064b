"""The structural forms of a network, as public dataclasses: what they do to `prev`, names and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from paramcount.errors import ShapeError, SpecError, quote
from paramcount.graph.builder import Builder
from paramcount.graph.form import Form, Items, Named
from paramcount.graph.scope import SKIPPED
from paramcount.layers.fields import Flag, Key, Kind, ValuePath, field
from paramcount.layers.layer import Item
from paramcount.layers.merge import Add, Multiply
from paramcount.numbers.arithmetic import decide

ADD = Add(("arrived", "prev"))
Path = Any  # "prev", a name, or a list of items that starts at `prev`


@dataclass(eq=False)
class Do(Form):
    """Items one after the other, as one group.

    The parameters and the work are those of the items. A group has one row, which `--depth` opens, and a modifier
    beside it holds for all its items.

    >>> import paramcount as pc
    >>> [row.path for row in pc.count([pc.Do([pc.Dense(32), pc.Relu()])], 16).rows]
    ['do0', 'do0.dense0', 'do0.relu0']
    """

    body: Sequence[Item] = field(Items(), doc="the items, one after the other")

    kind = "do"
    example = """\
input: {image: [32, 32, 3]}
layers:
  - {do: [conv: [16, 3], relu], repeat: 2}
"""

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
class From(Form):
    """Go on from another value.

    >>> import paramcount as pc
    >>> network = pc.Network([pc.From("text"), pc.Dense(2)], inputs={"text": 5, "picture": 3})
    >>> pc.count(network).weights  # 5 · 2
    10
    """

    path: Path = field(ValuePath(), doc="the value to go on from")

    def place(self, builder: Builder, name: str | None) -> None:
        builder.prev = builder.path(self.path, "from", name)
        builder.results = (builder.prev,)


@dataclass(eq=False)
class Residual(Form):
    """The body's result plus the value that arrived, where the condition holds; else the body alone.

    The parameters and the work are those of the body. Elementwise: 1 more per element for the sum.

    >>> import paramcount as pc
    >>> pc.count([pc.Residual([pc.Dense(8, bias=False)])], 8).elementwise  # the sum
    8
    """

    body: Sequence[Item] = field(Items(), doc="the items to whose result the value that arrives is added")
    condition: bool = field(Flag(), True, doc="whether it is added")

    kind = "residual"
    in_specs: ClassVar = {"condition": "if"}
    example = """\
input: {image: [28, 28, 32]}
layers:
  - residual: [conv: [32, 3], relu, conv: [32, 3]]
  - residual: {if: cin == 64, body: [pointwise: 64]}
"""

    def place(self, builder: Builder, name: str | None) -> None:
        builder.open("residual", name)
        arrived = builder.arrived()
        builder.run(self.body)
        result = builder.arrived()
        if self.condition:
            if not decide(arrived.shape.sizes == result.shape.sizes):
                raise ShapeError(
                    f"the residual's body gives {result.shape}, but {arrived.shape} arrived",
                    hint="give a projection path with `add:`, or a condition: `residual: {if: ..., body: [...]}`",
                )
            builder.merge(ADD, (arrived, result), builder.group.free("add"))
        builder.close("residual")


@dataclass(eq=False)
class Gate(Form):
    """The value that arrives times a path, which has the same shape or broadcasts to it.

    The parameters and the work are those of the path. Elementwise: 1 more per element for the product.

    >>> import paramcount as pc
    >>> pc.count([pc.Gate([pc.Dense(8, bias=False), pc.Sigmoid()])], 8).elementwise  # the sigmoid, and the product
    16
    """

    path: Path = field(ValuePath(listed=True), doc="what the value that arrives is multiplied by")

    kind = "gate"
    example = """\
input: {image: [28, 28, 64]}
layers:
  - gate: [global_pool, dense: 16, relu, dense: 64, sigmoid]
"""

    def place(self, builder: Builder, name: str | None) -> None:
        builder.build(Multiply(("prev", self.path)), builder.group.named("gate", name))


@dataclass(eq=False)
class Let(Form):
    """Side values by name, each seeing those before it; `prev` stays.

    The parameters and the work are those of the paths. A name that nothing uses is a warning.

    >>> import paramcount as pc
    >>> pc.count([pc.Let({"skip": "prev"}), pc.Dense(8), pc.Add(["prev", "skip"])], 8).params
    72
    """

    values: Mapping[str, Path] = field(Named(ValuePath(), declares=True), doc="the path of each name's value")

    kind = "let"
    example = """\
input: {sequence: [50, 64]}
layers:
  - let: {gate: [dense: 64, sigmoid], value: [dense: 64]}
  - multiply: [gate, value]
"""

    def place(self, builder: Builder, name: str | None) -> None:
        builder.open("let", name)
        before = builder.prev
        for given, path in self.values.items():
            up = getattr(given, "up", 0)
            builder.scope.give(given, builder.optional_path(path, "path", str(given)), up, must_use=True)
            builder.prev = before
        builder.prev = None  # the group makes no value of its own
        builder.close("let")
        builder.prev = before
        builder.results = (before,)


@dataclass(eq=False)
class Pop(Form):
    """Take the last value from a stack, on which `push` put it. Costs nothing; a stack is empty at the end.

    >>> import paramcount as pc
    >>> network = pc.Network([pc.With(pc.Dense(8), push="skips"), pc.Dense(4), pc.Pop("skips")], input=4)
    >>> str(network.graph().outputs["output"].shape)
    '8'
    """

    stack: str = field(Key(), doc="the name of the stack")

    kind = "pop"
    example = """\
input: {image: [64, 64, 3]}
layers:
  - {conv: [16, 3], push: skips}
  - max_pool: 2
  - conv_transpose: {out: 16, kernel: 2, stride: 2}
  - concat: [[pop: skips], prev]
"""

    def place(self, builder: Builder, name: str | None) -> None:
        values = builder.scope.root.stacks.get(self.stack)
        if not values:
            raise SpecError(
                f"the stack {quote(self.stack)} is empty",
                hint=f"{quote(f'push: {self.stack}')} an item's result in the same block or file before it",
                position=getattr(self.stack, "position", None),
            )
        builder.scope.escape()
        builder.prev = values.pop()
        builder.results = (builder.prev,)


@dataclass(eq=False)
class Activate(Form):
    """The kind that a word names, such as an argument of a block; nothing for `none`.

    The parameters and the work are those of that kind.
    """

    activation: Item | None = field(Kind(none=True), doc="a kind that needs no argument, or `none`")

    kind = "activate"
    example = """\
input: {features: 32}
blocks:
  unit:
    args: {out: required, style: relu}
    layers: [dense: out, activate: style]
layers:
  - unit: 16
  - unit: {out: 8, style: none}
"""

    def place(self, builder: Builder, name: str | None) -> None:
        (self.activation or Skip()).place(builder, name)
