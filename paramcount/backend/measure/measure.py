"""Measuring a network on this device: the time of a batch, and the bytes of the compiled program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from statistics import median, quantiles
from time import perf_counter
from typing import Any

import jax
import numpy
from jax import numpy as jnp

from paramcount.backend.losses.losses import softmax_cross_entropy
from paramcount.backend.measure.peak import matmul_peak
from paramcount.backend.measure.result import Measurement, Measurements
from paramcount.backend.prove.verify import available
from paramcount.backend.run.device import check_device
from paramcount.backend.run.evaluate import batched
from paramcount.backend.run.initialize import initialize, seed_of, shapes, split
from paramcount.backend.run.inputs import input_shapes, random_inputs
from paramcount.backend.train.optimizers import optimizer as optimizer_of
from paramcount.backend.train.step import State, Step
from paramcount.cost.count import count, how_many
from paramcount.cost.memory import memory_of
from paramcount.errors import ArgumentError
from paramcount.graph.network import Network, require_network
from paramcount.graph.tree import Graph, leaves
from paramcount.layers.arguments import argument, whole_argument
from paramcount.layers.fields import Flag
from paramcount.numbers.arithmetic import native
from paramcount.numbers.units import binary, duration
from paramcount.render import terminal

LEAST = 5  # runs of a row
BUDGET = 2.0  # seconds of a row's runs, if their number is not given
LEARNING_RATE = 1e-4  # small, so that many steps on one batch stay finite


def measure(
    network: Network,
    *,
    train: bool = False,
    batch: Sequence[int] | int = (1,),
    repeats: int | None = None,
    optimizer: str = "sgd",
    seed: int = 0,
    progress: bool = False,
) -> Measurements:
    """Time a network's forward computation, or with `train` a training step, on this device in float32.

    Each size of `batch` has a row: the median and the quartiles of the time of `repeats` runs after a warm-up (by
    default at least 5 runs, for about 2 s), the counted FLOP/s relative to the device's measured peak, and the
    predicted bytes beside those of the compiled program. The inputs are random. A training step takes the gradient of
    the softmax cross entropy of random targets, summed over all outputs, and updates the parameters by the `optimizer`,
    a name in `paramcount.cost.optimizers.OPTIMIZERS`. With `progress`, a line on the terminal says what is being done,
    and each row when it is ready. Raises ArgumentError if a batch does not fit into memory, and
    MissingPackageError if training lacks optax.

    >>> from paramcount.layers.dense import Dense
    >>> found = measure(Network([Dense(512), Dense(10)], input=784), batch=(1, 32), repeats=5)
    >>> [row.batch for row in found.rows], found.rows[1].macs  # 32 · (784 · 512 + 512 · 10)
    ([1, 32], 13008896)
    """
    require_network(network)
    train, batch = argument("train", train, Flag()), native(batch)
    sizes: Sequence[int] = tuple(batch) if isinstance(batch, Iterable) else (batch,)
    if not sizes:
        raise ArgumentError("there is no batch to measure", hint="batch=(1, 8, 32)", argument="batch")
    sizes = tuple(how_many("batch", size) for size in sizes)
    repeats = None if repeats is None else whole_argument("repeats", repeats)
    seed = seed_of(seed)
    check_device()
    predicted = [memory_of(network, batch=size, train=train, optimizer=optimizer).total for size in sizes]
    for size, needed in zip(sizes, predicted, strict=True):
        check_fits(needed, size)
    say = terminal.progress if progress else silent
    rows: list[Measurement] = []
    try:
        say("measuring matrix products")
        peak = matmul_peak()
        for size, needed in zip(sizes, predicted, strict=True):
            rows.append(measured(network, size, needed, peak, train, repeats, optimizer, seed, say))
            say(f"batch {size}: {duration(rows[-1].seconds)}\n")
    finally:
        say("")
    return Measurements(network.subject, tuple(rows), jax.devices()[0].device_kind, peak, optimizer if train else None)


def measured(
    network: Network,
    batch: int,
    predicted: int,
    peak: float,
    train: bool,
    repeats: int | None,
    optimizer: str,
    seed: int,
    say: Callable[[str], None],
) -> Measurement:
    """The row of one batch size."""
    report = count(network, batch=batch, train=train, optimizer=optimizer if train else None)
    macs, flops = (report.train_macs, report.train_flops) if train else (report.macs, report.flops)
    program = program_of(network, batch, train, optimizer)
    say(f"batch {batch}: compiling")
    compiled = program.compile()
    needed = program_bytes(compiled)
    check_fits(needed, batch)
    say(f"batch {batch}: running")
    times = program.times(compiled, seed, repeats)
    low, _, high = quantiles(times, n=4, method="inclusive") if len(times) > 1 else times * 3
    return Measurement(batch, median(times), low, high, len(times), macs, flops, peak, predicted, needed)


def silent(text: str) -> None:
    pass


def compiled_bytes(network: Network, *, batch: int = 1, train: bool = False, optimizer: str = "sgd") -> int:
    """The bytes that the compiled program takes on this device; it is not run.

    >>> from paramcount.layers.dense import Dense
    >>> compiled_bytes(Network([Dense(8)], input=8), batch=4)  # 4 · (8 · 8 + 8 + 4 · 8 + 4 · 8)
    544
    """
    return program_bytes(program_of(network, batch, train, optimizer).compile())


def program_bytes(compiled: Any) -> int:
    """Arguments + outputs - aliases + temporaries; `peak_memory_in_bytes` lacks the temporaries on a CPU."""
    found = compiled.memory_analysis()
    arrays = found.argument_size_in_bytes + found.output_size_in_bytes - found.alias_size_in_bytes
    return arrays + found.temp_size_in_bytes


def check_fits(needed: int, batch: int) -> None:
    """Raises ArgumentError for more bytes than the device has, or, if it does not say, than half of the machine's."""
    limit = (jax.devices()[0].memory_stats() or {}).get("bytes_limit") or available(sys.maxsize)
    if needed > limit:
        message = f"a batch of {batch} would take about {binary(needed)}, but only {binary(limit)} can be used"
        raise ArgumentError(message, hint="choose a smaller batch, or a smaller variant", argument="batch")


def program_of(network: Network, batch: int, train: bool, optimizer: str) -> Program:
    return StepProgram(network.graph(True), batch, optimizer) if train else Program(network.graph(), batch)


class Program:
    """The forward computation of a batch, compiled ahead of time and run repeatedly."""

    def __init__(self, graph: Graph, batch: int) -> None:
        self.graph = graph
        self.batch = batch
        one = input_shapes(graph)
        self.inputs = {name: jax.ShapeDtypeStruct((batch, *each.shape), each.dtype) for name, each in one.items()}

    def compile(self) -> Any:
        forward = batched(self.graph)
        lowered = jax.jit(lambda *tensors: forward(*tensors)[0]).lower(*shapes(self.graph), self.inputs)
        return lowered.compile()

    def arguments(self, seed: int) -> tuple[Any, ...]:
        """The arguments of the compiled program."""
        return (*initialize(self.graph, seed), self.batch_of_inputs(seed))

    def batch_of_inputs(self, seed: int) -> dict[str, Any]:
        """Random inputs, different for each example."""
        every = list(leaves(self.graph))
        examples = [random_inputs(self.graph, every, seed + number) for number in range(self.batch)]
        return {name: jnp.asarray(numpy.stack([each[name] for each in examples])) for name in self.inputs}

    def following(self, arguments: tuple[Any, ...], result: Any) -> tuple[Any, ...]:
        """The arguments of the next run, given the result of this one: the same."""
        return arguments

    def times(self, compiled: Any, seed: int, repeats: int | None) -> list[float]:
        """The seconds of every run, after a warm-up."""
        arguments = self.arguments(seed)
        arguments = self.following(arguments, jax.block_until_ready(compiled(*arguments)))
        times: list[float] = []
        end = perf_counter() + BUDGET
        while len(times) < (repeats or LEAST) or (repeats is None and perf_counter() < end):
            began = perf_counter()
            result = jax.block_until_ready(compiled(*arguments))
            times.append(perf_counter() - began)
            arguments = self.following(arguments, result)
        return times


class StepProgram(Program):
    """A training step on a batch; each step's state replaces the last one in the same memory."""

    def __init__(self, graph: Graph, batch: int, optimizer: str) -> None:
        super().__init__(graph, batch)
        self.step = Step(graph, self.loss, optimizer_of(optimizer, LEARNING_RATE), None, 0)
        outputs = {label: value.shape for label, value in graph.outputs.items() if value.shape.layout != "tokens"}
        self.classes = {label: shape.channels if shape.rank else 1 for label, shape in outputs.items()}
        self.targets = {
            label: jax.ShapeDtypeStruct((batch, *shape.sizes[:-1]), jnp.int32) for label, shape in outputs.items()
        }

    def loss(self, outputs: Any, targets: dict[str, Any]) -> Any:
        outputs = outputs if isinstance(outputs, dict) else dict.fromkeys(self.graph.outputs, outputs)
        each = [softmax_cross_entropy(with_classes(outputs[label]), found).mean() for label, found in targets.items()]
        return sum(each, jnp.zeros(()))

    def compile(self) -> Any:
        params, buffers = shapes(self.graph)
        trained, kept = split(self.graph, params)
        optimizer = jax.eval_shape(self.step.optimizer.init, trained)
        state = State(trained, kept, buffers, optimizer, jax.ShapeDtypeStruct((), jnp.int32))
        return self.step.compiled.lower(state, self.inputs, self.targets).compile()

    def arguments(self, seed: int) -> tuple[Any, ...]:
        generator = numpy.random.default_rng(seed)
        targets = {
            label: jnp.asarray(generator.integers(self.classes[label], size=each.shape, dtype=numpy.int32))
            for label, each in self.targets.items()
        }
        return self.step.start(*initialize(self.graph, seed)), self.batch_of_inputs(seed), targets

    def following(self, arguments: tuple[Any, ...], result: Any) -> tuple[Any, ...]:
        return (result[0], *arguments[1:])


def with_classes(output: Any) -> Any:
    """A batch of outputs; scalars get an axis of one class."""
    return output[:, None] if output.ndim == 1 else output
