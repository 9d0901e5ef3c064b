"""What one training step costs: backward MACs, recomputed MACs, the loss, and the optimizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paramcount.cost.backward import gradient, summed
from paramcount.cost.figures import Figures, TrainingFigures
from paramcount.cost.optimizers import optimizer_of
from paramcount.graph.tree import Graph
from paramcount.layers.layer import Work
from paramcount.numbers.arithmetic import Size

# Softmax cross entropy, of each element: log_softmax (5); backward, exponentiate and subtract the target (2).
LOSS_OF_ELEMENT, LOSS_OF_POSITION = 7, 1  # of each position: the target's logarithm, with its sign


@dataclass(frozen=True)
class TrainStep:
    """The cost of one training step: in total, of each leaf, and of the loss of all outputs."""

    totals: TrainingFigures
    leaves: Mapping[Any, TrainingFigures]
    loss_elementwise: Size
    optimizer: str
    remat: bool

    @property
    def convention(self) -> str:
        """What the figures of training mean, in one line."""
        backward = "backward = MACs × operands that depend on a trainable parameter"
        return f"training: {backward}" + (", iterations of loops computed again" if self.remat else "")


def step_of(graph: Graph, figures: Mapping[Any, Figures], batch: Size, remat: bool, optimizer: str) -> TrainStep:
    """The training step of a graph whose leaves have these figures, for the whole batch.

    Raises ArgumentError for an unknown optimizer.
    """
    operations = optimizer_of(optimizer).operations
    leaves = {}
    for node, (backward, recomputed) in summed(gradient(graph)).items():
        backward, recomputed = backward * batch, recomputed * batch if remat else 0
        work = Work(figures[node].macs + backward + recomputed)
        updates = operations * figures[node].trainable
        leaves[node] = TrainingFigures(backward, recomputed, work.macs, work.flops, updates)
    totals = TrainingFigures.total(list(leaves.values()))
    return TrainStep(totals, leaves, cross_entropy(graph) * batch, optimizer, remat)


def cross_entropy(graph: Graph) -> Size:
    """The elementwise operations of softmax cross entropy over the last axis of every output, forward and backward.

    >>> from paramcount.graph.network import Network
    >>> from paramcount.layers.dense import Dense
    >>> cross_entropy(Network([Dense(10)], input=(25, 64)).graph())  # 25 positions of 10 classes: 25 · (7 · 10 + 1)
    1775
    """
    operations: Size = 0
    for output in graph.outputs.values():
        positions = output.shape.with_channels(1).elements if output.shape.rank else 1
        operations = operations + LOSS_OF_ELEMENT * output.shape.elements + LOSS_OF_POSITION * positions
    return operations
