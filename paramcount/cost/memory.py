"""How many bytes a network takes on a device, in inference and in a step of training, by rules that fit on a page.

A tensor is what one leaf computes, for the whole batch and for all pieces, steps and chosen experts around it. A leaf
that does no work hands on the tensor that it got, and one without inputs its parameters: neither takes anything more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paramcount.cost.count import count
from paramcount.cost.optimizers import optimizer_of
from paramcount.errors import ArgumentError, quote
from paramcount.graph.network import Network
from paramcount.graph.tree import Body, Element, Graph, Group, Loop, Node, Value, leaves_of
from paramcount.layers.layer import Shape

BYTES = 4  # of an element: float32, and int32 for tokens


class Memory(NamedTuple):
    """Predicted bytes by what takes them; `total` is their sum.

    `values` are in inference the most that is alive at one leaf beside inputs and outputs, and in training all that
    is kept for the backward computation beside them. The `loss` has probabilities of all outputs, and their gradient.
    """

    params: int
    gradients: int
    optimizer: int
    buffers: int
    inputs: int
    outputs: int
    values: int
    loss: int

    @property
    def kept(self) -> int:
        """In training: the inputs and what leaves compute, each tensor once."""
        return self.inputs + self.outputs + self.values

    @property
    def total(self) -> int:
        return sum(self)


def memory_of(network: Network, *, batch: int = 1, train: bool = False, optimizer: str = "sgd") -> Memory:
    """The bytes that a batch takes in float32, predicted from the tree alone.

    Inference takes the parameters, the buffers, the inputs, the outputs, and what is alive at the leaf where that is
    most. A step of training takes gradients of what is trained, the state of the `optimizer` (sgd, momentum or adam),
    everything that leaves compute, and the loss. Raises ArgumentError for an unknown optimizer or a batch below 1.

    >>> from paramcount.layers.dense import Dense
    >>> network = Network([Dense(512, activation="relu"), Dense(10)], input=784)
    >>> memory_of(network, batch=100).values  # at the activation, 512 in and 512 out: 4 · 100 · 1024
    409600
    >>> memory_of(network, batch=100, train=True).kept  # 4 · 100 · (784 + 512 + 512 + 10)
    727200
    """
    if type(batch) is not int or batch < 1:
        raise ArgumentError(f"batch must be a whole number of at least 1, not {quote(batch)}", argument="batch")
    states = optimizer_of(optimizer).states
    report = count(network, train=train, optimizer=optimizer if train else None)
    graph = network.graph(train)
    program = Program(graph, batch)
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
        values=BYTES * (program.made() if train else program.most_alive()),
        loss=BYTES * 2 * size(value for value in results if value.shape.layout != "tokens") * batch if train else 0,
    )


def size(values: Iterable[Value]) -> int:
    """The elements of one example's values."""
    return sum(value.shape.elements for value in values)


@dataclass(eq=False)
class Tensor:
    """Some elements; those that depend on no input are there once, and not for each example."""

    elements: int
    batched: bool


class Line(NamedTuple):
    """What one leaf reads and what it makes, where it runs."""

    reads: tuple[Tensor, ...]
    makes: tuple[Tensor, ...]


class Program:
    """A tree as lines in the order of running, loops unrolled; bodies of each, scan and moe stand once."""

    def __init__(self, graph: Graph, batch: int) -> None:
        self.batch = batch
        self.training = graph.training
        self.times = 1  # pieces, steps and chosen experts of what is walked
        self.lines: list[Line] = []
        self.at: dict[Value | None, Tensor] = {}
        for value in graph.inputs.values():
            self.at[value] = self.tensor(value.shape, True)
        self.apart = set(self.at.values())
        self.elements(graph.children)
        for value in graph.outputs.values():
            if self.at[value].elements == self.tensor(value.shape, True).elements:  # and not a part of a tensor
                self.apart.add(self.at[value])

    def made(self) -> int:
        """The elements of all tensors but inputs and outputs."""
        made = {tensor for line in self.lines for tensor in line.makes}
        return sum(tensor.elements for tensor in made - self.apart)

    def most_alive(self) -> int:
        """The same of those alive at one line: made by then, and read there or later."""
        last = {tensor: number for number, line in enumerate(self.lines) for tensor in (*line.makes, *line.reads)}
        alive = most = 0
        for number, line in enumerate(self.lines):
            alive += sum(tensor.elements for tensor in line.makes if tensor not in self.apart)
            most = max(most, alive)
            ending = {tensor for tensor in (*line.reads, *line.makes) if last[tensor] == number}
            alive -= sum(tensor.elements for tensor in ending - self.apart)
        return most

    def tensor(self, shape: Shape, batched: bool) -> Tensor:
        return Tensor(shape.elements * self.times * (self.batch if batched else 1), batched)

    def elements(self, children: Sequence[Element]) -> None:
        for element in children:
            if element.training_only:  # only marked in a graph for inference
                continue
            match element:
                case Node():
                    self.node(element)
                case Loop():
                    self.loop(element)
                case Body():
                    self.body(element)
                case Group():
                    self.elements(element.children)

    def node(self, node: Node) -> None:
        reads = tuple(self.at[value] for value in node.inputs)
        work = node.work()
        idle = not work.macs and not work.elementwise
        if idle and not reads:
            made = tuple(Tensor(0, False) for _ in node.outputs)
        elif idle and not node.params() and len(reads) == 1 and size(node.outputs) <= size(node.inputs):
            made = reads * len(node.outputs)
        else:
            made = tuple(self.tensor(value.shape, any(read.batched for read in reads)) for value in node.outputs)
            self.lines.append(Line(reads, (*made, *self.within(node, made))))
        self.at.update(zip(node.outputs, made, strict=True))

    def within(self, node: Node, made: Sequence[Tensor]) -> Iterator[Tensor]:
        """What a leaf makes on its way to its results: factors of contractions, and what a norm's gain is applied to.

        A factor of several parts, one of them an input, is made there, of a result as large: attention's weights of
        its scores, a recurrence's state of its gates. Both are taken to be the contraction's MACs / the channels.
        """
        channels = node.outputs[0].shape.channels if node.outputs[0].shape.rank else 1
        for macs, operands in node.contractions():
            if any(len(operand) > 1 and any(isinstance(part, int) for part in operand) for operand in operands):
                yield self.tensor(Shape((2, macs // channels)), made[0].batched)
        gained = any(param.role == "norm" for param in node.params().values())
        if self.training and gained and not node.work().macs:
            yield from (Tensor(tensor.elements, tensor.batched) for tensor in made)

    def loop(self, loop: Loop) -> None:
        results = [None if loop.source is None else self.at[loop.source]]
        for each in loop.order():
            if each.entry is not None and results[0] is not None:
                self.at[each.entry] = results[0]
            if each.child is not None:
                self.elements([each.child])
            results = [None if value is None else self.at[value] for value in each.results]
        self.at.update((value, made) for value, made in zip(loop.results, results, strict=True) if made)

    def body(self, body: Body) -> None:
        """Training keeps the tensors of all runs; where they follow each other, inference has those of one at a time.

        Tensors that are stacked are gathered for each token, all before any of them is used.
        """
        self.at.update((inside, self.at[outside]) for outside, inside in body.enters)
        for start, inside, _ in body.carries:
            if isinstance(start, Shape):
                zeros = self.at[inside] = self.tensor(start, True)
                self.lines.append(Line((), (zeros,)))
            else:
                self.at[inside] = self.at[start]
        copies: tuple[Tensor, ...] = ()
        if body.copies is not None:
            size = sum(param.size for leaf in leaves_of(body.children) for param in leaf.node.params().values())
            copies = (Tensor(size * body.gathered * self.times * self.batch, True),)
            self.lines.append(Line((), copies))
        stepwise = body.sequential and not self.training
        outer = self.times
        self.times = outer * (1 if stepwise else body.times)
        self.elements(body.children)
        self.times = outer
        if copies:
            self.lines.append(Line(copies, ()))
        last = made = self.at[body.result]
        if stepwise and body.collected is not None:
            made = self.tensor(body.collected.shape, True)
            self.lines.append(Line((last,), (made,)))
        self.at[body.collected] = made
