"""What a differentiated scan computes once for all its steps: contractions of values that are equal in every step.

JAX moves them in front of the loop when it differentiates it. What a step gets and what it carries counts as different
in every step, unless it carries on what it gets.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from paramcount.graph.runner import Runner
from paramcount.graph.tree import Body, Graph, Leaf, Node, leaves
from paramcount.layers.layer import Contraction, Shape


class Flow(NamedTuple):
    """The scans in whose steps a value differs, and whether it depends on a trainable parameter."""

    varies: frozenset[Body] = frozenset()
    depends: bool = False


class Steps(Runner):
    """One walk through a tree for training, which finds where each leaf's inputs differ, and what is differentiated."""

    def __init__(self, graph: Graph) -> None:
        self.values = dict.fromkeys(graph.inputs.values(), Flow())
        self.leaves = list(leaves(graph))
        self.inputs: dict[int, list[Flow]] = {}  # of each leaf, by its number
        self.differentiated: set[Body] = set()
        self.frozen: dict[str | None, bool] = {}  # by the path of the leaf that owns the tensors
        self.number = 0
        self.elements(graph.children)

    def node(self, node: Node) -> None:
        while self.leaves[self.number].node is not node:  # skips leaves that are only stored
            self.number += 1
        leaf = self.leaves[self.number]
        inputs = self.inputs[self.number] = [self.values[value] for value in node.inputs]
        depends = any(flow.depends for flow in inputs) or self.is_trained(leaf)
        if depends:
            self.differentiated.update(leaf.bodies)
        varies = frozenset().union(*(flow.varies for flow in inputs))
        for value in node.outputs:
            self.values[value] = Flow(varies, depends and value.shape.layout != "tokens")
        self.number += 1

    def body(self, body: Body) -> None:
        """A carried value depends on training in all steps if it does after any: all steps are one program."""
        inside = frozenset([body] if body.sequential else [])
        for outer, inner in body.enters:
            self.values[inner] = self.values[outer]._replace(varies=self.values[outer].varies | inside)
        carried = [Flow() if isinstance(start, Shape) else self.values[start] for start, _, _ in body.carries]
        first, grown = self.number, True
        while grown:
            self.number = first
            for flow, carry in zip(carried, body.carries, strict=True):
                kept = carry.next is carry.inside
                self.values[carry.inside] = flow if kept else flow._replace(varies=flow.varies | inside)
            self.elements(body.children)
            after = [
                Flow(flow.varies | next_flow.varies, flow.depends or next_flow.depends)
                for flow, next_flow in zip(carried, (self.values[carry.next] for carry in body.carries), strict=True)
            ]
            after = [flow._replace(varies=flow.varies - inside) for flow in after]
            grown, carried = after != carried, after
        result = self.values[body.result]
        self.values[body.collected] = result._replace(varies=result.varies - inside)

    def is_trained(self, leaf: Leaf) -> bool:
        """Whether a leaf has a parameter that is trained; what is first used frozen is frozen."""
        frozen = self.frozen.setdefault(leaf.owner, leaf.node.frozen)
        own = any(param.role != "buffer" for param in leaf.node.params().values())
        return (own and not frozen) or (leaf.tied is not None and not self.frozen.get(leaf.tied, False))

    def forward_macs(self, number: int) -> int:
        """The forward MACs of a leaf in all the runs that a differentiated program has of each of its contractions."""
        leaf = self.leaves[number]
        if leaf.node.stored_only:
            return 0
        return sum(each.macs * self.runs(number, each) for each in leaf.node.contractions())

    def runs(self, number: int, contraction: Contraction) -> int:
        parts = {part for operand in contraction.operands for part in operand if isinstance(part, int)}
        varies = frozenset().union(*(self.inputs[number][part].varies for part in parts))
        once = {body for body in self.differentiated if body.sequential and body not in varies}
        return prod(body.times for body in self.leaves[number].bodies if body not in once)
