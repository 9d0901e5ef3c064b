"""Attention that counts the pairs its masks leave, and no others: `count(..., attention="exact")`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paramcount.graph.tree import Graph, Node
from paramcount.layers.fields import Check, field
from paramcount.layers.layer import Contraction, Layer, Param, Shape, Work

if TYPE_CHECKING:
    from paramcount.layers.attend import Attend


@dataclass(frozen=True, kw_only=True)
class Unmasked(Layer):
    """An `attend` as it is, whose work is that of the pairs of queries and keys which it does not hide."""

    attend: Attend = field(Check())

    kind = "attend"

    def setting(self, *inputs: Shape) -> str:
        return self.attend.setting(*inputs)

    def output_shape(self, *inputs: Shape) -> Shape:
        return self.attend.output_shape(*inputs)

    def params(self, *inputs: Shape) -> dict[str, Param]:
        return self.attend.params(*inputs)

    def work(self, *inputs: Shape) -> Work:
        dense = self.attend.work(*inputs)
        return Work(self.left(dense.macs, *inputs), self.left(dense.elementwise, *inputs))

    def contractions(self, *inputs: Shape) -> tuple[Contraction, ...]:
        dense = self.attend.contractions(*inputs)
        return tuple([each._replace(macs=self.left(each.macs, *inputs)) for each in dense])

    def left(self, dense: Any, *inputs: Shape) -> Any:
        """What is left of a figure that has the same for every pair."""
        queries, keys = inputs[0].sizes[0], inputs[1].sizes[0]
        return dense // (queries * keys) * self.attend.pairs(queries, keys)

    def forward(self, params: dict[str, Any], *inputs: Any, context: Any) -> Any:
        return self.attend.forward(params, *inputs, context=context)


def exact(graph: Graph) -> Graph:
    """The graph, which nobody else may have, with every `attend` counted so."""
    for node in graph.below():
        if isinstance(node, Node) and node.layer.kind == "attend":
            node.layer = Unmasked(attend=node.layer)  # type: ignore[arg-type]
    return graph
