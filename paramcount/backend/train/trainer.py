"""A training run in progress: epochs of steps on their devices, and scores of the results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy

from paramcount.backend.data.data import Batches
from paramcount.backend.data.loader import TorchBatches, as_numpy
from paramcount.backend.losses.losses import check_labels, softmax_cross_entropy
from paramcount.backend.run.inputs import check_tokens, tokens_of
from paramcount.backend.train.parallel import Devices
from paramcount.backend.train.progress import Progress
from paramcount.backend.train.reduction import all_reduce_bytes, batch_statistics
from paramcount.backend.train.result import Reduction
from paramcount.backend.train.step import Scorer, State, Step, length
from paramcount.errors import ArgumentError
from paramcount.graph.tree import leaves

LIGHT = 10**9  # FLOPs: for fewer, starting a program takes a notable part of its time
TOGETHER = 16  # light steps in one program


class Trainer:
    """A training run in progress: the state, and the steps that change it on their devices."""

    def __init__(self, step: Step, scorer: Scorer | None, devices: Devices, state: State, flops: int) -> None:
        self.step = step
        self.flops = flops
        self.scorer = scorer
        self.devices = devices
        self.state = devices.replicated(state)
        slow = any(leaf.node.layer.slow_in_loops for leaf in leaves(step.graph))
        self.loops = devices.number == 1 and not slow
        self.lookups = [] if step.transform else tokens_of(step.graph)
        self.batch: Any = None  # the abstract first one, if several devices share it

    def epoch(self, batches: Iterator[Any], progress: Progress) -> tuple[float, int]:
        """Take a step on every batch; return the mean loss over the examples, and their number."""
        losses, sizes = [], []
        with progress:
            for group in self.groups(self.checked(batches)):
                losses.append(self.steps(group))
                sizes += [length(x) for x, _ in group]
                progress.advance(len(group), losses[-1])
            values = [loss for several in jax.device_get(losses) for loss in numpy.ravel(several)]
        if not sizes:
            raise ArgumentError("there is no batch to train on", "give an iterable of (inputs, targets)")
        return float(numpy.average(numpy.array(values, numpy.float64), weights=sizes)), sum(sizes)

    def steps(self, group: list[tuple[Any, Any]]) -> Any:
        """Take a step on each batch of a group; return their losses."""
        if len(group) > 1:
            self.state, losses = self.step.several(self.state, *jax.tree.map(lambda *each: numpy.stack(each), *group))
            return losses
        placed = self.devices.batch(*group[0])
        if self.batch is None and self.devices.number > 1:
            self.batch = jax.tree.map(abstract, placed)
        self.state, loss = self.devices.settled(self.step(self.state, *placed))
        return loss

    def groups(self, batches: Iterator[tuple[Any, Any]]) -> Iterator[list[tuple[Any, Any]]]:
        """The batches in groups: light ones of the same shapes together, if there are enough."""
        group: list[tuple[Any, Any]] = []
        for batch in batches:
            if group and form(batch) != form(group[0]):
                yield from ([each] for each in group)
                group = []
            group.append(batch)
            together = TOGETHER if self.loops and self.flops * length(batch) < LIGHT else 1
            if len(group) == together:
                yield group
                group = []
        yield from ([each] for each in group)

    def score(self, batches: Any, number: int) -> float | None:
        """The current score of the network; None without batches or a metric."""
        if batches is None or self.scorer is None:
            return None
        return self.scorer(self.state, map(self.devices.scored, self.checked(of_epoch(batches, number))))

    def checked(self, batches: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
        """The batches. Raises ArgumentError for arrays of different lengths, and for unknown tokens and classes."""
        output = next(iter(self.step.graph.outputs.values())).shape.sizes
        for x, y in batches:
            length((x, y))
            check_tokens(self.lookups, x)  # the compiled step could not raise an error for these
            if self.step.loss is softmax_cross_entropy and numpy.ndim(y) == len(output):
                check_labels(y, output[-1])
            yield x, y

    def reduction(self) -> Reduction | None:
        """What a step sums over several devices."""
        if self.batch is None:
            return None
        state = jax.tree.map(abstract, self.state)
        program = self.step.compiled.lower(state, *self.batch).compile().as_text()
        trained = sum(array.size for array in jax.tree.leaves(self.state.params))
        found = all_reduce_bytes(program) if program else None
        return Reduction(self.devices.number, found, trained, batch_statistics(self.step.graph))


def of_epoch(batches: Any, number: int) -> Iterator[tuple[Any, Any]]:
    """The batches of an epoch, whose order may differ from others', as pairs of NumPy arrays.

    JAX reads them later, so they are copied if the loader may fill the same memory with its next batch.
    """
    pairs = map(as_numpy, batches.epoch(number) if callable(getattr(batches, "epoch", None)) else batches)
    ours = isinstance(batches, (Batches, TorchBatches))
    return pairs if ours else (jax.tree.map(numpy.array, pair) for pair in pairs)


def form(batch: tuple[Any, Any]) -> Any:
    """The shapes and types of a batch's arrays."""
    return jax.tree.map(lambda array: (array.shape, array.dtype), batch)


def abstract(array: Any) -> Any:
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding)
