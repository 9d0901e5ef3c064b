"""Which values of a network depend on a trainable parameter: one sweep forward over its tree, without unrolling it.

An iteration is swept once for each state of its input: usually twice, since the first iteration starts from data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paramcount.graph.tree import Body, Element, Group, Iteration, Loop, Node, Value, iteration_paths, join
from paramcount.layers.layer import Shape


class Ran(NamedTuple):
    """A leaf in the sweep forward: which of its parameters, inputs and outputs depend on training."""

    node: Node
    trained: tuple[str, ...]
    inputs: tuple[bool, ...]
    output: bool


class Iterated(NamedTuple):
    """An iteration from one start: what ran in it, and which of its results depend on training."""

    iteration: Iteration
    tape: Tape
    results: tuple[bool, ...]


class Looped(NamedTuple):
    """A loop in the sweep forward."""

    loop: Loop
    iterations: list[Iterated]  # in the order of running, equal ones the same object


class Inside(NamedTuple):
    """The body of `each`, `scan` or `moe` in the sweep forward."""

    body: Body
    tape: Tape


Tape = list[Ran | Looped | Inside]


class Forward:
    """The sweep that marks which values depend on a trainable parameter."""

    def __init__(self) -> None:
        self.depends: set[Value | None] = set()
        self.frozen: dict[str, bool] = {}  # by the path of the leaf that owns the tensors

    def mark(self, value: Value | None, depends: bool) -> None:
        if depends:
            self.depends.add(value)
        else:  # a body's values may be marked from another start
            self.depends.discard(value)

    def elements(self, children: Sequence[Element], owner: str, root: str) -> Tape:
        tape: Tape = []
        for element in children:
            here = join(root, element.share.owner) if element.share else join(owner, element.name)
            match element:
                case Node():
                    tape.append(self.node(element, here, root))
                case Loop():
                    tape.append(self.loop(element, here, root))
                case Body():
                    tape.append(self.body(element, here, root))
                case Group():
                    tape += self.elements(element.children, here, here if element.scope else root)
        return tape

    def node(self, node: Node, owner: str, root: str) -> Ran:
        trained: list[str] = []
        if not self.frozen.setdefault(owner, node.frozen):
            trained = [name for name, param in node.params().items() if param.role != "buffer"]
        if node.tie and not self.frozen.get(join(root, node.tie.owner), False):
            trained.append("weight")
        inputs = tuple([value in self.depends for value in node.inputs])
        output = bool(trained) or any(inputs)
        for value in node.outputs:
            self.mark(value, output and value.shape.layout != "tokens")  # whole numbers have no gradient
        return Ran(node, tuple(trained), inputs, output)

    def loop(self, loop: Loop, owner: str, root: str) -> Looped:
        iterations: list[Iterated] = []
        known: dict[tuple[int, bool], Iterated] = {}
        start = loop.source in self.depends
        for index, each in enumerate(loop.order()):
            iterated = known.get((id(each), start))
            if iterated is None:
                self.mark(each.entry, start)
                children = [] if each.child is None else [each.child]
                _, own = iteration_paths(loop, each, owner, owner, f"[{index}]")
                tape = self.elements(children, own, root)
                iterated = Iterated(each, tape, tuple([value in self.depends for value in each.results]))
                known[id(each), start] = iterated
            iterations.append(iterated)
            start = iterated.results[0]
        if iterations:
            for value, depends in zip(loop.results, iterations[-1].results, strict=True):
                self.mark(value, depends)
        return Looped(loop, iterations)

    def body(self, body: Body, owner: str, root: str) -> Inside:
        """What is carried depends from the first run on if it does after any run: all runs are one program."""
        for outside, inside in body.enters:
            self.mark(inside, outside in self.depends)
        for start, inside, _ in body.carries:
            self.mark(inside, not isinstance(start, Shape) and start in self.depends)
        while True:
            tape = self.elements(body.children, owner, root)
            grown = [
                inside for _, inside, after in body.carries if after in self.depends and inside not in self.depends
            ]
            if not grown:
                break
            self.depends.update(grown)
        self.mark(body.collected, body.result in self.depends)
        return Inside(body, tape)
