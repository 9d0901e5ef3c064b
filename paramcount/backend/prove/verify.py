"""Proving a count: the network is built in JAX, traced, and run once, and every figure is compared."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import prod
from time import perf_counter
from typing import Any

import jax
import numpy

from paramcount.backend.prove.verification import Check, Difference, Verification
from paramcount.backend.run.device import check_device
from paramcount.backend.run.evaluate import LayerError, evaluate
from paramcount.backend.run.initialize import Tensors, initialize, seed_of, shapes, tensors
from paramcount.backend.run.inputs import input_shapes, random_inputs
from paramcount.backend.trace.walker import UncountedError, by_leaf, in_bounds_macs, leaf_number, used_inputs
from paramcount.cost.count import count, patterns
from paramcount.cost.memory import memory_of
from paramcount.cost.report import Report
from paramcount.errors import ArgumentError
from paramcount.graph.network import Network, require_network
from paramcount.graph.tree import Graph, Leaf, leaves
from paramcount.layers.arguments import argument
from paramcount.layers.fields import Flag
from paramcount.numbers.units import binary

LARGEST = 4 * 2**30  # bytes that a network may take when it is run; beyond, it is only traced
FAST_COMPILE = {"xla_backend_optimization_level": 0}  # it runs once: compiling takes half the time, running a bit more
ROLES = {"weights": ("weight", "table"), "biases": ("bias",), "norms": ("norm",), "buffers": ("buffer",)}


def verify(
    network: Network,
    *,
    seed: int = 0,
    abstract: bool | None = None,
    train: bool = False,
    freeze: Sequence[str] = (),
) -> Verification:
    """Compare a network's count with the network in JAX, layer by layer and in total.

    Its tensors are initialized, and one example is traced and run. With `abstract`, or if memory would not suffice, it
    is only traced and nothing is allocated. With `train`, the gradient of a loss is traced too, without the rows that
    `freeze` matches (see `count`). Raises ParamcountError if the network cannot be counted.

    >>> from paramcount.layers.dense import Dense
    >>> verify(Network([Dense(512, activation="relu"), Dense(10)], input=784)).ok
    True
    """
    require_network(network)
    train, abstract = argument("train", train, Flag()), argument("abstract", abstract, Flag(none=True))
    freeze = patterns(freeze)
    if freeze and not train:
        raise ArgumentError("`freeze` is for training", hint="add train=True", argument="freeze")
    check_device()
    verifier = Verifier(network, seed_of(seed))
    verification = verifier.verification(abstract)
    return verifier.with_training(verification, freeze) if train else verification


class Verifier:
    """One verification: the count, the leaves, and the comparisons so far."""

    def __init__(self, network: Network, seed: int) -> None:
        self.began = perf_counter()
        self.network = network
        self.seed = seed
        self.report: Report = count(network)
        self.graph = network.graph()
        self.leaves = list(leaves(self.graph))
        self.checks: list[Check] = []
        self.differences: list[Difference] = []
        self.results: dict[int, tuple[tuple[int, ...], ...]] = {}  # sizes of each leaf's results, as traced

    def verification(self, abstract: bool | None) -> Verification:
        remark = ""
        if abstract is None:
            size = needed(self.network)
            abstract = size > available()
            remark = f"traced only, nothing allocated: it would take about {binary(size)}" if abstract else ""
        elif abstract:
            remark = "traced only, nothing allocated"
        trees = shapes(self.graph)
        traced = self.trace(trees)
        if traced is None:
            self.tensors(trees if abstract else initialize(self.graph, self.seed))
        else:
            lowered = traced.lower()
            with ThreadPoolExecutor(1) as pool:
                compiled = None if abstract else pool.submit(lowered.compile, FAST_COMPILE)
                trees = trees if abstract else initialize(self.graph, self.seed)
                self.tensors(trees)
                self.work(traced.jaxpr)
                self.usage(traced.jaxpr, trees)
                if compiled:
                    self.run(compiled.result(), trees)
            self.compare_xla(traced.jaxpr, lowered)
        seconds = perf_counter() - self.began
        checks, differences = tuple(self.checks), tuple(self.differences)
        warnings = tuple(self.network.warnings)
        return Verification(self.network.subject, checks, differences, abstract, remark, seconds, warnings)

    def with_training(self, verification: Verification, freeze: Sequence[str]) -> Verification:
        """The verification with the MACs of a training step added."""
        from paramcount.backend.prove.verify_training import compare_training

        checks, differences = compare_training(self.network, freeze)
        return replace(
            verification,
            checks=(*verification.checks, *checks),
            differences=(*verification.differences, *differences),
            seconds=perf_counter() - self.began,
        )

    def compare(self, name: str, expected: Any, found: Any) -> None:
        self.checks.append(Check(name, expected, found, expected == found))

    def differ(self, layer: str, what: str, expected: Any, found: Any) -> None:
        self.differences.append(Difference(layer, what, expected, found))

    def tensors(self, trees: tuple[Tensors, Tensors]) -> None:
        """Every array's shape against the declared one, and the totals against the count."""
        agree, wanted = 0, 0
        sizes: Counter[str] = Counter()
        for path, declared in tensors(self.graph).items():
            for name, tensor in declared.items():
                array = trees[tensor.is_buffer][path][name]
                if array.shape == tensor.shape:
                    agree += 1
                else:
                    self.differ(path, f"the sizes of {name}", tensor.shape, array.shape)
                wanted += 1
                sizes[tensor.param.role] += prod(array.shape)
                sizes["trainable"] += 0 if tensor.is_buffer or tensor.frozen else prod(array.shape)
        self.compare("tensors", wanted, agree)
        self.compare("params", self.report.params, sum(sizes[role] for role in ("weight", "table", "bias", "norm")))
        self.compare("trainable", self.report.trainable, sizes["trainable"])
        for name, roles in ROLES.items():
            self.compare(name, getattr(self.report, name), sum(sizes[role] for role in roles))

    def trace(self, trees: tuple[Tensors, Tensors]) -> Any:
        """The whole network on one example, as JAX traces it; None if a layer fails, which is a difference."""

        def watch(number: int, leaf: Leaf, results: tuple[Any, ...]) -> None:
            self.results[number] = tuple(result.shape for result in results)

        def forward(params: Tensors, buffers: Tensors, inputs: dict[str, Any]) -> dict[str, Any]:
            return evaluate(self.graph, params, buffers, inputs, watch=watch)[0]

        traced = None
        try:
            traced = jax.jit(forward).trace(*trees, input_shapes(self.graph))
        except LayerError as error:
            self.differ(error.path, "its computation", "to run", f"an error: {error.__cause__}".partition("\n")[0])
        self.compare("layers that run", self.running, len(self.results))
        agree = elements = 0
        for number, found in self.results.items():
            leaf = self.leaves[number]
            expected = tuple(value.shape.sizes for value in leaf.node.outputs)
            found = tuple(of_all_tokens(leaf, *each) for each in zip(found, expected, strict=True))
            agree += found == expected
            elements += sum(map(prod, found)) * times(leaf)
            for sizes, wanted in zip(found, expected, strict=True):
                if sizes != wanted:
                    self.differ(leaf.path, "the result's sizes", wanted, sizes)
        self.compare("output shapes", self.running, agree)
        self.compare("activations", self.report.activations, elements)
        return traced

    @property
    def running(self) -> int:
        """The number of leaves that run in inference."""
        return sum(leaf.node.runs for leaf in self.leaves)

    def work(self, jaxpr: Any) -> None:
        """Every leaf's multiply-accumulates, as counted and in the traced program."""
        try:
            scopes = by_leaf(jaxpr)
        except UncountedError as error:
            number = leaf_number(error.scope)
            path = self.network.name if number is None else self.leaves[number].path
            self.differ(path, "MACs", "known operations", error.message)
            self.compare("MACs", self.report.macs, "not countable")
            return
        agree = 0
        for number, leaf in enumerate(self.leaves):
            if not leaf.node.runs or leaf.node in self.graph.unused:
                continue
            expected = leaf.node.work().macs * times(leaf)
            found = scopes.get(number, 0)
            agree += found == expected
            if found != expected:
                dead = expected and not found
                self.differ(leaf.path, "MACs", expected, "0, or its result reaches no output" if dead else found)
        if None in scopes:
            self.differ(self.network.name, "MACs outside of all layers", 0, scopes[None])
        unused = sum(leaf.node in self.graph.unused for leaf in self.leaves)
        self.compare("MACs by layer", self.running - unused, agree)
        self.reaching(self.graph)
        self.compare("MACs", self.report.macs, sum(scopes.values()))

    def reaching(self, graph: Graph, mode: str = "") -> None:
        """The layers that reach an output, if some do not; a warning names those."""
        if graph.unused:
            every = [leaf.node for leaf in leaves(graph) if leaf.node.runs]
            unused = sum(node in graph.unused for node in every)
            self.compare(f"layers that reach an output{mode}", len(every), len(every) - unused)

    def usage(self, jaxpr: Any, trees: tuple[Tensors, Tensors]) -> None:
        """Every parameter and buffer reaches an output, of the graph for training if parts exist only there.

        Not those that are only stored, and those of work that reaches none, which a warning names.
        """
        graph = self.graph
        if any(leaf.node.training_only for leaf in self.leaves):
            graph = self.network.graph(training=True)
            self.reaching(graph, " in training")
        used = used_inputs(jaxpr) if graph is self.graph else self.training_usage(graph)
        idle = tensors_without_use(graph)
        for what, tree in zip(("used parameters", "used buffers"), trees, strict=True):
            names = [(path, name) for path in sorted(tree) for name in sorted(tree[path])]  # as JAX flattens them
            reaching, used = used[: len(names)], used[len(names) :]
            found = [each for each in zip(names, reaching, strict=False) if each[0][0] not in idle]
            for (path, name), reaches in found:
                if not reaches:
                    self.differ(path, name, "used", "reaches no output")
            wanted = [each for each in names if each[0] not in idle]
            if wanted:
                self.compare(what, len(wanted), sum(reaches for _, reaches in found))

    def training_usage(self, graph: Graph) -> list[bool]:
        """Whether each parameter and each buffer reaches an output of the graph for training."""

        def forward(params: Tensors, buffers: Tensors, inputs: dict[str, Any]) -> dict[str, Any]:
            return evaluate(graph, params, buffers, inputs)[0]  # in inference mode, since training reads no buffers

        try:
            return used_inputs(jax.make_jaxpr(forward)(*shapes(graph), input_shapes(graph)))
        except LayerError as error:
            self.differ(error.path, "its computation in training", "to run", str(error.__cause__).partition("\n")[0])
            return []

    def run(self, compiled: Any, trees: tuple[Tensors, Tensors]) -> None:
        """The outputs on random inputs: their shapes, and whether they are finite."""
        outputs = jax.device_get(compiled(*trees, random_inputs(self.graph, self.leaves, self.seed)))
        for label, value in self.graph.outputs.items():
            found = outputs[label]
            name = f"run: {label}"
            finite = bool(numpy.isfinite(found).all())
            self.compare(name, value.shape.sizes, found.shape if finite else "not finite")
            if not finite:
                self.differ(label, "its values on random input", "finite", "not finite")

    def compare_xla(self, jaxpr: Any, lowered: Any) -> None:
        """XLA's own cost analysis, which is shown for comparison and never fails."""
        cost = lowered.cost_analysis()
        flops = cost.get("flops") if isinstance(cost, dict) else None
        if flops is None:
            return
        try:
            inside = in_bounds_macs(jaxpr)
        except UncountedError:
            return
        note = (
            f"{int(flops):,} FLOPs, and 2 × {inside:,} MACs lie in bounds\n"
            "(XLA skips taps on padding, adds elementwise work, counts a loop's body once)"
        )
        self.checks.append(Check("XLA", 2 * inside, int(flops), True, note))


def tensors_without_use(graph: Graph) -> set[str]:
    """The paths that own tensors of which a network makes no use: those that are stored, and those of unused work."""
    idle: set[str] = set()
    used: set[str | None] = set()
    for leaf in leaves(graph):
        if leaf.node.stored_only or leaf.node in graph.unused:
            idle.add(leaf.owner)
        else:
            used |= {leaf.owner, leaf.tied}
    return idle - used


def times(leaf: Leaf) -> int:
    """How many times a leaf's declared work is done: for each piece, each step, and each expert of a token."""
    return prod(body.times for body in leaf.bodies)


def of_all_tokens(leaf: Leaf, found: tuple[int, ...], expected: tuple[int, ...]) -> tuple[int, ...]:
    """A result's sizes for all tokens; an expert's body runs on one token, but is declared for all."""
    alone = leaf.bodies and leaf.bodies[-1].copies is not None and found != expected and found[:1] == (1,)
    return (*expected[:1], *found[1:]) if alone else found


def needed(network: Network) -> int:
    """Roughly the bytes that running a network takes; its tensors count twice, since NumPy draws them first."""
    memory = memory_of(network)
    return memory.total + memory.params + memory.buffers


def available(most: int = LARGEST) -> int:
    """How many bytes a run may take on this machine: half of its memory, and at most `most`."""
    try:
        return min(most, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    except (AttributeError, ValueError, OSError):  # this system does not say
        return most
