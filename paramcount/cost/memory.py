"""How many bytes a network takes on a device, in inference and in a training step, by rules that fit on a page.

Each leaf computes a tensor, for the whole batch and for all pieces, steps and chosen experts around it. A leaf that
does no work passes on the tensor that it reads, and one without inputs passes on its parameters: neither takes memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from paramcount.cost.count import count, how_many
from paramcount.cost.optimizers import optimizer_of
from paramcount.graph.network import Network, require_network
from paramcount.graph.runner import Runner
from paramcount.graph.tree import Body, Graph, Node, Value, leaves_of
from paramcount.layers.arguments import argument
from paramcount.layers.fields import Flag
from paramcount.layers.layer import Shape
from paramcount.numbers.units import binary
from paramcount.render.sheet import SCHEMA, Heading, Share, Sheet, percent
from paramcount.render.shown import Shown

CONVENTION = "predicted bytes on a device; float32"
BYTES = 4  # of an element: float32, and int32 for tokens


class MemoryFields(NamedTuple):
    """The fields of Memory, apart because a NamedTuple cannot have other bases."""

    params: int
    gradients: int
    optimizer: int
    buffers: int
    inputs: int
    outputs: int
    values: int
    loss: int


class Memory(MemoryFields, Shown):
    """Predicted bytes by what takes them; `total` is their sum. `str()` is a table.

    `values` are all tensors other than inputs and outputs: in inference those alive at the leaf where they are largest,
    in training those kept for the backward computation. The `loss` has the probabilities of all outputs, and their
    gradient.
    """

    __slots__ = ()

    @property
    def kept(self) -> int:
        """In training: the inputs and all tensors that leaves compute, each once."""
        return self.inputs + self.outputs + self.values

    @property
    def total(self) -> int:
        return sum(self)

    def sheet(self) -> Sheet:
        """A line for each part, with its share of the total."""
        headings = [
            Heading("part", "part"),
            Heading("bytes", "bytes", binary, right=True),
            Heading("share", "share", percent, right=True),
        ]
        rows = [(name, size, Share(size, self.total)) for name, size in self._asdict().items()]
        footer = ("total", self.total, Share(self.total, self.total))
        total = [("total", self.total, binary)]
        return Sheet("", headings, rows, total, (CONVENTION,), self.to_dict, footer=footer)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        return {"schema": SCHEMA, "convention": CONVENTION, **self._asdict(), "total": self.total}


def memory_of(network: Network, *, batch: int = 1, train: bool = False, optimizer: str = "sgd") -> Memory:
    """The bytes that a batch takes in float32, predicted from the tree alone.

    Inference takes the parameters, the buffers, the inputs, the outputs, and the tensors alive at the leaf where they
    are largest. A training step also takes the gradients, the state of the `optimizer` (a name in
    `paramcount.cost.optimizers.OPTIMIZERS`), all tensors that leaves compute, and the loss. Raises ArgumentError for an
    unknown optimizer or a batch below 1.

    >>> from paramcount.layers.dense import Dense
    >>> network = Network([Dense(512, activation="relu"), Dense(10)], input=784)
    >>> memory_of(network, batch=100).values  # at the activation, 512 in and 512 out: 4 · 100 · 1024
    409600
    >>> memory_of(network, batch=100, train=True).kept  # 4 · 100 · (784 + 512 + 512 + 10)
    727200
    """
    require_network(network)
    batch, train = how_many("batch", batch), argument("train", train, Flag())
    states = optimizer_of(optimizer).states
    report = count(network, train=train, optimizer=optimizer if train else None)
    graph = network.graph(train)
    schedule = Schedule(graph, batch)
    results = list(graph.outputs.values())
    outputs = size(results) * batch
    trained = report.trainable if train else 0
    return Memory(
        params=BYTES * report.params,
        gradients=BYTES * trained,
        optimizer=BYTES * trained * states if train else 0,
        buffers=BYTES * report.buffers,
        inputs=BYTES * size(graph.inputs.values()) * batch,
        outputs=BYTES * outputs,
        values=BYTES * (schedule.made() if train else schedule.most_alive()),
        loss=BYTES * 2 * size(value for value in results if value.shape.layout != "tokens") * batch if train else 0,
    )


def size(values: Iterable[Value]) -> int:
    """The elements of values, for one example."""
    return sum(value.shape.elements for value in values)


@dataclass(eq=False)
class Tensor:
    """An allocation of some elements; one that does not depend on an input is not `batched`: it exists once."""

    elements: int
    batched: bool


class Operation(NamedTuple):
    """The tensors that one leaf reads and makes when it runs."""

    reads: tuple[Tensor, ...]
    makes: tuple[Tensor, ...]


class Schedule(Runner):
    """The operations of a tree in the order of running, loops unrolled; the bodies of each, scan and moe occur once."""

    def __init__(self, graph: Graph, batch: int) -> None:
        self.batch = batch
        self.training = graph.training
        self.times = 1  # pieces, steps and chosen experts of what is walked
        self.operations: list[Operation] = []
        self.values: dict[Value | None, Tensor] = {}
        for value in graph.inputs.values():
            self.values[value] = self.tensor(value.shape, True)
        self.apart = set(self.values.values())
        self.elements(graph.children)
        for value in graph.outputs.values():
            if self.values[value].elements == self.tensor(value.shape, True).elements:  # and not a part of a tensor
                self.apart.add(self.values[value])

    def made(self) -> int:
        """The elements of all tensors except inputs and outputs."""
        made = {tensor for each in self.operations for tensor in each.makes}
        return sum(tensor.elements for tensor in made - self.apart)

    def most_alive(self) -> int:
        """The most elements alive at one operation: made by then, and read then or later."""
        last = {tensor: number for number, each in enumerate(self.operations) for tensor in (*each.makes, *each.reads)}
        alive = most = 0
        for number, each in enumerate(self.operations):
            alive += sum(tensor.elements for tensor in each.makes if tensor not in self.apart)
            most = max(most, alive)
            ending = {tensor for tensor in (*each.reads, *each.makes) if last[tensor] == number}
            alive -= sum(tensor.elements for tensor in ending - self.apart)
        return most

    def tensor(self, shape: Shape, batched: bool) -> Tensor:
        return Tensor(shape.elements * self.times * (self.batch if batched else 1), batched)

    def node(self, node: Node) -> None:
        reads = tuple(self.values[value] for value in node.inputs)
        work = node.work()
        idle = not work.macs and not work.elementwise
        if idle and not reads:
            made = tuple(Tensor(0, False) for _ in node.outputs)
        elif idle and not node.params() and len(reads) == 1 and size(node.outputs) <= size(node.inputs):
            made = reads * len(node.outputs)
        else:
            made = tuple(self.tensor(value.shape, any(read.batched for read in reads)) for value in node.outputs)
            self.operations.append(Operation(reads, (*made, *self.within(node, made))))
        self.values.update(zip(node.outputs, made, strict=True))

    def within(self, node: Node, made: Sequence[Tensor]) -> Iterator[Tensor]:
        """The intermediate tensors of a leaf: factors of contractions, and what a norm's gain is applied to.

        A factor with several parts, one of them an input, is computed in the leaf from another tensor of its size:
        attention's weights from its scores, a recurrence's state from its gates. Each is taken to have as many elements
        as the contraction has MACs, divided by the channels.
        """
        channels = node.outputs[0].shape.channels if node.outputs[0].shape.rank else 1
        for macs, operands, _ in node.contractions():
            if any(len(operand) > 1 and any(isinstance(part, int) for part in operand) for operand in operands):
                yield self.tensor(Shape((2, macs // channels)), made[0].batched)
        gained = any(param.role == "norm" for param in node.params().values())
        if self.training and gained and not node.work().macs:
            yield from (Tensor(tensor.elements, tensor.batched) for tensor in made)

    def body(self, body: Body) -> None:
        """Training keeps the tensors of all runs; if the runs are sequential, inference has those of one at a time.

        Stacked tensors are gathered for each token, all before any of them is used.
        """
        self.values.update((inside, self.values[outside]) for outside, inside in body.enters)
        for start, inside, _ in body.carries:
            if isinstance(start, Shape):
                zeros = self.values[inside] = self.tensor(start, True)
                self.operations.append(Operation((), (zeros,)))
            else:
                self.values[inside] = self.values[start]
        copies: tuple[Tensor, ...] = ()
        if body.copies is not None:
            params = sum(param.size for leaf in leaves_of(body.children) for param in leaf.node.params().values())
            copies = (Tensor(params * body.gathered * self.times * self.batch, True),)
            self.operations.append(Operation((), copies))
        stepwise = body.sequential and not self.training
        outer = self.times
        self.times = outer * (1 if stepwise else body.times)
        self.elements(body.children)
        self.times = outer
        if copies:
            self.operations.append(Operation(copies, ()))
        last = made = self.values[body.result]
        if stepwise and body.collected is not None:
            made = self.tensor(body.collected.shape, True)
            self.operations.append(Operation((last,), (made,)))
        self.values[body.collected] = made
