"""Training a network on batches: epochs of steps, scores after each, checkpoints that a later run goes on from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from time import perf_counter
from typing import Any

import jax
import numpy

from paramcount.backend.training.loader import as_numpy
from paramcount.backend.training.losses import check_labels, softmax_cross_entropy
from paramcount.backend.training.metrics import accuracy
from paramcount.backend.training.optimizers import optimizer as optimizer_of
from paramcount.backend.training.parallel import Devices, all_reduce_bytes
from paramcount.backend.training.progress import Progress
from paramcount.backend.training.result import Epoch, Reduction, Training
from paramcount.backend.training.start import first_values, keep, resumed
from paramcount.backend.training.step import Scorer, State, Step, length
from paramcount.errors import ArgumentError, CheckError, quote
from paramcount.freezing import training_graph
from paramcount.graph.network import Network
from paramcount.report import count


def train(
    network: Network,
    batches: Iterable[tuple[Any, Any]],
    *,
    epochs: int = 1,
    loss: Callable[[Any, Any], Any] = softmax_cross_entropy,
    metric: Callable[[Any, Any], Any] | None = None,
    test: Iterable[tuple[Any, Any]] | None = None,
    optimizer: Any = "sgd",
    learning_rate: Any = 0.01,
    init: Mapping[str, Mapping[str, Any]] | Callable[[str, str, tuple[int, ...]], Any] | None = None,
    transform: Callable[[Any], Any] | None = None,
    freeze: Sequence[str] = (),
    seed: int = 0,
    devices: int = 1,
    staleness: int = 0,
    checkpoint: str | None = None,
    resume: bool = False,
    on_epoch: Callable[[Epoch], None] | None = None,
    progress: bool = False,
) -> Training:
    """Train a network in JAX on batches of inputs and targets, `(x, y)`, and give the trained tensors.

    `batches` is any iterable of arrays with a leading axis (of NumPy, PyTorch or JAX), begun anew each epoch; where it
    has a method `epoch(number)`, that gives the epoch's. `x` is one array, or several by the names of the inputs.

    `loss(outputs, y)` is a number, or one for each example; by default the softmax cross entropy of class numbers or
    dense labels, scored by `metric`, accuracy. `test` are batches to score only. `optimizer` is a name (sgd, momentum,
    adam) or any transformation of optax. `init` gives first values: arrays by path and name, or a function of path,
    name and sizes. `transform(x)` makes the network's inputs, inside the compiled step. `freeze` is as in `count`.

    With `devices`, each batch is divided over that many. With `staleness` n, every gradient is taken at the parameters
    of n updates ago: a simulation of workers that train asynchronously. After each epoch all is written to
    `checkpoint`, and `resume` goes on from there to the same result. `on_epoch` is told of each epoch; `progress`
    shows a line.

    Raises ArgumentError for what does not fit, ShapeError for batches of other sizes, and CheckError when the loss is
    no number any more. Needs optax; with a checkpoint, safetensors; with progress, tqdm.

    >>> x = numpy.eye(4, dtype=numpy.float32)
    >>> from paramcount.layers.dense import Dense
    >>> result = train(Network([Dense(4)], input=4), [(x, numpy.arange(4))], epochs=20, learning_rate=1.0)
    >>> result.epochs[-1].train
    1.0
    """
    whole("epochs", epochs, at_least=1)
    whole("staleness", staleness, at_least=0)
    if resume and checkpoint is None:
        raise ArgumentError("there is nothing to resume", "name the checkpoint", argument="resume")
    once = iter(batches) is batches
    if once and epochs > 1:
        raise ArgumentError("these batches can be gone through only once", "give a list of them, or one epoch")
    if metric is None and loss is softmax_cross_entropy:
        metric = accuracy
    graph = training_graph(network, freeze)
    step = Step(graph, loss, optimizer_of(optimizer, learning_rate), transform, seed)
    state = step.start(*first_values(graph, init, seed), staleness)
    done: tuple[Epoch, ...] = ()
    if checkpoint is not None and resume:
        state, done = resumed(checkpoint, graph, state, seed)
    trainer = Trainer(step, Scorer(network, metric, transform) if metric else None, Devices(devices), state)
    for number in range(len(done), epochs):
        began = perf_counter()
        mean, examples = trainer.epoch(of_epoch(batches, number), Progress(progress, number, epochs, batches))
        seconds = perf_counter() - began
        if not isfinite(mean):
            hint = "a smaller learning rate, or inputs of another scale"
            raise CheckError(f"the loss of epoch {number} is {mean}; nothing was written", hint)
        train_score = None if once else trainer.score(batches, number)
        done = (*done, Epoch(number, mean, train_score, trainer.score(test, number), seconds, examples))
        if checkpoint is not None and jax.process_index() == 0:
            keep(checkpoint, trainer.state, seed, done)
        if on_epoch:
            on_epoch(done[-1])
    state = trainer.state
    flops = count(network, train=True, freeze=freeze).train_flops
    return Training(network.name, state.all_params, state.buffers, done, flops, reduction=trainer.reduction())


class Trainer:
    """A training under way: the state, and the steps that change it on the devices they run on."""

    def __init__(self, step: Step, scorer: Scorer | None, devices: Devices, state: State) -> None:
        self.step = step
        self.scorer = scorer
        self.devices = devices
        self.state = devices.replicated(state)
        self.batch: Any = None  # the abstract first one

    def epoch(self, batches: Iterable[Any], progress: Progress) -> tuple[float, int]:
        """Take a step on every batch; the mean loss over the examples, and their number."""
        losses, sizes = [], []
        with progress:
            for x, y in self.checked(batches):
                placed = self.devices.batch(x, y)
                self.batch = self.batch or jax.tree.map(abstract, placed)
                self.state, loss = self.step(self.state, *placed)
                losses.append(loss)
                sizes.append(length(x))
                progress.advance(loss)
            values = numpy.array(jax.device_get(losses), numpy.float64)
        if not sizes:
            raise ArgumentError("there is no batch to train on", "give an iterable of (inputs, targets)")
        return float(numpy.average(values, weights=sizes)), sum(sizes)

    def score(self, batches: Any, number: int) -> float | None:
        """The score of the network as it stands; None where none is asked for."""
        if batches is None or self.scorer is None:
            return None
        return self.scorer(self.state, map(self.devices.scored, self.checked(of_epoch(batches, number))))

    def checked(self, batches: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Batches as pairs of NumPy's arrays. Raises ArgumentError for what is no pair, and for unknown classes."""
        outputs = [value.shape.sizes for value in self.step.graph.outputs.values()]
        for x, y in map(as_numpy, batches):
            if self.step.loss is softmax_cross_entropy and numpy.ndim(y) == len(outputs[0]):
                check_labels(y, outputs[0][-1])  # the compiled step could not complain
            yield x, y

    def reduction(self) -> Reduction | None:
        """What a step sums over several devices."""
        if self.devices.number == 1 or self.batch is None:
            return None
        state = jax.tree.map(abstract, self.state)
        program = self.step.compiled.lower(state, *self.batch).compile().as_text()
        trained = sum(array.size for array in jax.tree.leaves(self.state.params))
        return Reduction(self.devices.number, all_reduce_bytes(program or ""), 4 * (trained + 1))


def of_epoch(batches: Any, number: int) -> Iterable[Any]:
    """The batches of an epoch, whose order may be its own."""
    return batches.epoch(number) if hasattr(batches, "epoch") else batches


def abstract(array: Any) -> Any:
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding)


def whole(name: str, given: Any, at_least: int) -> None:
    """Raises ArgumentError for what is no whole number, or too small."""
    if type(given) is not int or given < at_least:
        message = f"{name} must be a whole number of at least {at_least}, not {quote(given)}"
        raise ArgumentError(message, argument=name)
