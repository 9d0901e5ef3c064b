"""Training a network on batches: epochs of steps, scores after each, checkpoints from which a later run continues."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from math import isfinite
from os import PathLike
from time import perf_counter
from typing import Any

import jax

from paramcount.backend.losses.losses import softmax_cross_entropy
from paramcount.backend.metrics.metrics import accuracy
from paramcount.backend.run.device import check_device
from paramcount.backend.run.initialize import seed_of
from paramcount.backend.train.optimizers import optimizer as optimizer_of
from paramcount.backend.train.parallel import Devices
from paramcount.backend.train.progress import Progress
from paramcount.backend.train.reserve import reserved
from paramcount.backend.train.result import Epoch, Training
from paramcount.backend.train.start import check_unused, check_writable, first_values, keep, resumed
from paramcount.backend.train.step import Scorer, Step
from paramcount.backend.train.trainer import Trainer, of_epoch
from paramcount.cost.count import count, patterns
from paramcount.errors import ArgumentError, CheckError, quote
from paramcount.graph.freeze import training_graph
from paramcount.graph.network import Network, require_network
from paramcount.layers.arguments import argument, whole_argument
from paramcount.layers.fields import Flag

MOST_STALENESS = 1000  # as many workers; a program with some hundred thousand tensors in its state never compiles


def train(
    network: Network,
    batches: Iterable[tuple[Any, Any]],
    *,
    epochs: int = 1,
    loss: Callable[[Any, Any], Any] = softmax_cross_entropy,
    metric: Callable[[Any, Any], Any] | None = None,
    test: Iterable[tuple[Any, Any]] | None = None,
    optimizer: Any = "sgd",
    learning_rate: Any = None,
    init: Mapping[str, Mapping[str, Any]] | Callable[[str, str, tuple[int, ...]], Any] | None = None,
    transform: Callable[[Any], Any] | None = None,
    freeze: Sequence[str] = (),
    seed: int = 0,
    devices: int = 1,
    staleness: int = 0,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
    on_epoch: Callable[[Epoch], None] | None = None,
    progress: bool = False,
) -> Training:
    """Train a network in JAX on batches of inputs and targets, `(x, y)`, and return the trained tensors.

    `batches` is any iterable of arrays with a leading axis (NumPy, PyTorch or JAX), iterated over in each epoch; if it
    has a method `epoch(number)`, that yields the batches. `x` is one array, or several by the names of the inputs.

    `loss(outputs, y)` is a number, or an array whose mean is taken; by default the softmax cross entropy of class
    numbers or dense labels, scored by accuracy. Another loss is scored by `metric(outputs, y)`, whose mean over the
    batches, weighted by their examples, is the score. `test` are batches to score only. `optimizer` is a name in
    `paramcount.cost.optimizers.OPTIMIZERS` with a learning rate or a schedule (0.01), or any optax transformation,
    which has its own. `init` gives initial values: arrays by path and name, or a function of path, name and shape,
    where None keeps the default value. `transform(x)` makes the network's inputs, inside the compiled step. `freeze` is
    as in `count`.

    With `devices`, each batch is divided over that many. With `staleness` n, every gradient is taken at the parameters
    of n updates ago: a simulation of workers that train asynchronously. After each epoch everything is written to the
    file `checkpoint`, which must be new, and `resume` continues from there to the same result. `on_epoch` is called
    after each epoch; `progress` shows a line.

    Raises ArgumentError for wrong arguments, ShapeError for batches of other shapes, and CheckError if the loss is not
    finite any more. Needs optax; with a checkpoint, safetensors; with progress, tqdm.

    >>> import numpy
    >>> from paramcount.layers.dense import Dense
    >>> x = numpy.eye(4, dtype=numpy.float32)
    >>> result = train(Network([Dense(4)], input=4), [(x, numpy.arange(4))], epochs=20, learning_rate=1.0)
    >>> result.epochs[-1].train
    1.0
    """
    epochs, staleness = whole_argument("epochs", epochs), whole_argument("staleness", staleness, at_least=0)
    if staleness > MOST_STALENESS:
        hint = "the parameters before each of these updates are kept"
        raise ArgumentError(f"staleness can be at most {MOST_STALENESS:,}", hint, argument="staleness")
    resume, progress = argument("resume", resume, Flag()), argument("progress", progress, Flag())
    freeze, seed = patterns(freeze), seed_of(seed)
    if resume and checkpoint is None:
        raise ArgumentError("there is nothing to resume", "name the checkpoint", argument="resume")
    require_network(network)
    check_batches("batches", batches, epochs)
    check_functions(loss=loss, metric=metric, transform=transform, on_epoch=on_epoch)
    if metric is None and loss is softmax_cross_entropy:
        metric = accuracy
    if test is not None:
        check_batches("test", test, epochs)
        if metric is None:
            raise ArgumentError("`test` cannot be scored", "give a metric along with the loss", argument="metric")
    check_device()
    flops = count(network, train=True, freeze=freeze).train_flops
    graph = training_graph(network, freeze)
    if loss is softmax_cross_entropy and len(graph.outputs) > 1:
        names = ", ".join(map(quote, graph.outputs))
        hint = f"give a `loss(outputs, y)` that takes a mapping with {names}"
        raise ArgumentError("the network has several outputs", hint, argument="loss")
    held = Devices(devices)
    step = Step(graph, loss, optimizer_of(optimizer, learning_rate), transform, seed, held.everywhere)
    state = step.start(*first_values(graph, init, seed), staleness)
    name = optimizer if isinstance(optimizer, str) else "a transformation of optax"
    done: tuple[Epoch, ...] = ()
    writes = checkpoint is not None and jax.process_index() == 0
    if writes:
        check_writable(checkpoint)
    with reserved(checkpoint) if writes else nullcontext():
        if checkpoint is not None:
            if resume:
                state, done = resumed(checkpoint, graph, state, seed, name)
            else:
                check_unused(checkpoint)
        scorer = Scorer(network, metric, transform, held.settled) if metric else None
        trainer = Trainer(step, scorer, held, state, flops)
        before = len(done)
        for number in range(before, epochs):
            began = perf_counter()
            mean, examples = trainer.epoch(of_epoch(batches, number), Progress(progress, number, epochs, batches))
            seconds = perf_counter() - began
            if not isfinite(mean):
                hint = "try a smaller learning rate, inputs of another scale, or labels that the loss accepts"
                raise CheckError(f"the loss of epoch {number} is {mean}; nothing was written", hint)
            train_score = None if isinstance(batches, Iterator) else trainer.score(batches, number)
            done = (*done, Epoch(number, mean, train_score, trainer.score(test, number), seconds, examples))
            if writes:
                keep(checkpoint, trainer.state, seed, name, done)
            if on_epoch:
                on_epoch(done[-1])
        state = trainer.state
        reduction = trainer.reduction()
        return Training(network.subject, state.all_params, state.buffers, done, flops, before, reduction=reduction)


def check_batches(name: str, batches: Any, epochs: int) -> None:
    """Raises ArgumentError for batches that cannot be iterated over, or not often enough."""
    if isinstance(batches, (Mapping, str)) or not isinstance(batches, Iterable) or getattr(batches, "shape", 1) == ():
        hint = "Batches(x, y, 128) makes them from arrays"
        raise ArgumentError(f"`{name}` must be pairs (x, y), not {quote(type(batches).__name__)}", hint, argument=name)
    if isinstance(batches, Iterator) and epochs > 1:
        hint = "give a list of them, or train for one epoch"
        raise ArgumentError(f"`{name}` can be iterated over only once", hint, argument=name)


def check_functions(**functions: Any) -> None:
    """Raises ArgumentError for arguments that are not callable; all but the loss may be None."""
    for name, function in functions.items():
        if not callable(function) and (function is not None or name == "loss"):
            raise ArgumentError(f"`{name}` must be a function, not {quote(function, repr)}", argument=name)
