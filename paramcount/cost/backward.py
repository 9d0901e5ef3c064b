"""Which contractions the gradient of a network has, found in its tree without unrolling it.

A value depends on training if a trainable parameter is upstream of it, and it matters if the loss is downstream. A
contraction whose result does both has, in the backward computation, one contraction for each of its operands that
depends on training, usually of the same size. One sweep forward marks what depends, one sweep backward what matters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from paramcount.cost.forward import Forward, Inside, Looped, Ran, Tape
from paramcount.graph.tree import Body, Graph, Node, Value
from paramcount.numbers.arithmetic import Size


class Cost(NamedTuple):
    """What one leaf does in one iteration: its forward and backward MACs, over all pieces, steps and chosen experts."""

    node: Node
    forward: Size
    backward: Size


class IterationCost(NamedTuple):
    """The leaves of one iteration of a loop, and whether any gradient goes through it."""

    costs: list[Cost | list[IterationCost]]
    trained: bool


Costs = list[Cost | list[IterationCost]]  # in the order of running; a loop is the list of its iterations


def gradient(graph: Graph) -> Costs:
    """The cost of every leaf in training, for one example; all outputs go into the loss.

    >>> from paramcount.graph.network import Network
    >>> from paramcount.layers.dense import Dense
    >>> costs = gradient(Network([Dense(512), Dense(10)], input=784).graph(training=True))
    >>> [(cost.forward, cost.backward) for cost in unrolled(costs)]  # no gradient into the data
    [(401408, 401408), (5120, 10240)]
    """
    tape = Forward().elements(graph.children, "", "")
    return Backward(set(graph.outputs.values())).sweep(tape)


def unrolled(costs: Costs) -> Iterator[Cost]:
    """Every leaf in every iteration, in the order of `tree.leaves`."""
    for cost in costs:
        if isinstance(cost, Cost):
            yield cost
        else:
            for each in cost:
                yield from unrolled(each.costs)


def summed(costs: Costs) -> dict[Node, tuple[Size, Size]]:
    """For every leaf the backward MACs of all its iterations, and those of its forward MACs that are recomputed.

    With `remat`, an iteration of an outermost loop keeps only its inputs, so all its work is recomputed if a gradient
    goes through it.
    """
    found: dict[Node, tuple[Size, Size]] = {}

    def add(costs: Costs, times: int, again: int | None) -> None:
        for cost in costs:
            if isinstance(cost, Cost):
                backward, recomputed = found.get(cost.node, (0, 0))
                found[cost.node] = backward + cost.backward * times, recomputed + cost.forward * (again or 0)
                continue
            alike = {id(each): each for each in cost}
            for key, count in Counter(map(id, cost)).items():
                each = alike[key]
                once = times * each.trained if again is None else again
                add(each.costs, times * count, once * count)

    add(costs, 1, None)
    return found


class Backward:
    """The sweep that marks which values the loss depends on, and counts the contractions of their gradients.

    A value is forgotten once the sweep is past what made it, since a body may be swept again from another end.
    """

    def __init__(self, matters: set[Value]) -> None:
        self.matters: set[Any] = matters
        self.times: Size = 1
        self.trained = 0  # leaves that a gradient goes through, so far

    def taken(self, value: Value | None) -> bool:
        """Whether a value matters; then it is forgotten."""
        matters = value in self.matters
        self.matters.discard(value)
        return matters

    def mark(self, value: Value | None, matters: bool) -> None:
        if matters:
            self.matters.add(value)

    def sweep(self, tape: Tape) -> Costs:
        costs: Costs = []
        for entry in reversed(tape):
            match entry:
                case Ran():
                    costs.append(self.node(entry))
                case Looped():
                    costs.append(self.loop(entry))
                case Inside():
                    costs += reversed(self.body(entry.body, entry.tape))
        costs.reverse()
        return costs

    def node(self, ran: Ran) -> Cost:
        node = ran.node
        matters = [self.taken(value) for value in node.outputs]
        forward: Size = 0
        backward: Size = 0
        trained = ran.output and any(matters)
        for contraction in node.contractions() if node.runs else ():
            forward = forward + contraction.macs
            if trained:
                for operand, macs in contraction.by_operand():
                    backward = backward + macs if depends(operand, ran) else backward
        if trained:
            self.trained += 1
            self.matters.update(value for value, needed in zip(node.inputs, ran.inputs, strict=True) if needed)
        return Cost(node, forward * self.times, backward * self.times)

    def loop(self, looped: Looped) -> list[IterationCost]:
        found: list[IterationCost] = []
        known: dict[tuple[int, tuple[bool, ...]], tuple[IterationCost, bool]] = {}
        ends = tuple([self.taken(value) for value in looped.loop.results])
        for each in reversed(looped.iterations):
            key = id(each), ends
            if key not in known:
                for value, matters in zip(each.iteration.results, ends, strict=False):
                    self.mark(value, matters)
                before = self.trained
                costs = self.sweep(each.tape)
                known[key] = IterationCost(costs, self.trained > before), self.taken(each.iteration.entry)
            cost, start = known[key]
            found.append(cost)
            ends = (start,)
        if looped.iterations:
            self.mark(looped.loop.source, ends[0])
        found.reverse()
        return found

    def body(self, body: Body, tape: Tape) -> Costs:
        """What is carried matters after the last run too if it matters before any run."""
        outer = self.times
        self.times = outer * body.times
        result = self.taken(body.collected)
        carried: set[Value] = set()
        while True:
            self.mark(body.result, result)
            self.matters.update(carried)
            costs = self.sweep(tape)
            for outside, inside in body.enters:
                self.mark(outside, self.taken(inside))
            starts = [(start, after) for start, inside, after in body.carries if self.taken(inside)]
            grown = {after for _, after in starts} - carried
            if not grown:
                break
            carried |= grown
        self.matters.update(start for start, _ in starts if isinstance(start, Value))
        self.times = outer
        return costs


def depends(operand: tuple[str | int, ...], ran: Ran) -> bool:
    """Whether any part of an operand depends on training."""
    return any(ran.inputs[part] if isinstance(part, int) else part in ran.trained for part in operand)
