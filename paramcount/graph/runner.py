"""Going through a tree as it runs: one element after the other, each iteration of a loop on the result of the last."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from paramcount.graph.tree import Body, Element, Group, Loop, Node, Value


class Runner(ABC):
    """What each value stands for (`values`): an array in JAX, or a tensor of known size.

    A subclass says what a leaf makes of it, and how the runs of a body are put together.
    """

    values: dict[Value | None, Any]

    @abstractmethod
    def node(self, node: Node) -> None:
        """Run a leaf."""

    @abstractmethod
    def body(self, body: Body) -> None:
        """Run a body as often as its form does."""

    def elements(self, children: Sequence[Element]) -> None:
        """Run elements in their order."""
        for element in children:
            if not element.runs:
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

    def loop(self, loop: Loop) -> None:
        """Run all iterations of a loop."""
        results = [] if loop.source is None else [self.values[loop.source]]
        for each in loop.order():
            if each.entry is not None:
                self.values[each.entry] = results[0]
            if each.child is not None:
                self.elements([each.child])
            results = [None if value is None else self.values[value] for value in each.results]
        self.values.update((value, result) for value, result in zip(loop.results, results, strict=True) if value)
