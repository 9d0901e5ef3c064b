"""Counting a network: its parameters, its work, its memory."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

from paramcount.cost.figures import Figures
from paramcount.cost.report import Report
from paramcount.cost.walk import Place, Walk
from paramcount.errors import ArgumentError, printable, quote
from paramcount.graph.network import Network
from paramcount.graph.tree import Graph, Node
from paramcount.layers.arguments import argument, texts, whole_argument
from paramcount.layers.fields import Flag, Whole, Word
from paramcount.layers.layer import Item
from paramcount.numbers.arithmetic import Column, Size, ceil_div
from paramcount.render.shown import Shown

ATTENTION = ("dense", "exact")
LONGEST = 10**4200  # below what Python writes, also after it is multiplied


def count(
    network: Any,
    input: Any = None,
    *,
    batch: Size = 1,
    dtype: str = "float32",
    train: bool = False,
    freeze: Sequence[str] = (),
    remat: bool = False,
    optimizer: str | None = None,
    attention: str = "dense",
    kv_cache: Size | None = None,
) -> Report:
    """Count a network, or an item or a list of items on an input shape.

    The figures are those of inference on one example; `batch` multiplies work and activations, and the bytes of the
    parameters are in `dtype`. Layers that only exist in training count with their parameters, and do no work.

    With `train`, the report adds one training step: the backward MACs, the loss, and the `optimizer`, a name in
    `paramcount.cost.optimizers.OPTIMIZERS` (default sgd). `freeze` are patterns of the paths of rows that are not
    trained; with `remat`, each iteration of a loop is recomputed for its gradient.

    With `attention="exact"`, causal and windowed attention counts only the pairs that are not masked. `kv_cache` is a
    number of tokens whose keys and values are cached: `report.kv_cache_bytes`, in the same dtype, for the whole batch.
    Raises ParamcountError if the network is not valid.

    >>> from paramcount.layers.conv import Conv
    >>> report = count(Conv(out=32, kernel=3, stride=2), (224, 224, 3))
    >>> report.weights, report.macs
    (864, 10838016)
    >>> count(Conv(out=32, kernel=3, stride=2), (224, 224, 3), train=True).backward_macs  # of the kernel
    10838016
    """
    network = network_of(network, input)
    batch, train, remat = how_many("batch", batch), argument("train", train, Flag()), argument("remat", remat, Flag())
    kv_cache = None if kv_cache is None else how_many("kv_cache", kv_cache)
    freeze = patterns(freeze)
    argument("attention", attention, Word(*ATTENTION))
    check_training(train, bool(freeze) or remat or optimizer is not None, kv_cache)
    graph = graph_of(network, train, freeze, attention)
    walk = Walk(dtype)
    walk.children(graph.children, "", "", Place(work=batch), 1)
    leaves = [(entry.element, entry.figures) for entry in walk.entries if entry.figures is not None]
    totals = Figures.total([figures for _, figures in leaves])
    if any(type(figure) is int and figure > LONGEST for figure in totals):
        raise ArgumentError("a figure has more than 4,200 digits", hint="choose smaller sizes")
    step = cache = None
    if train:
        from paramcount.cost.step import step_of

        step = step_of(graph, dict(leaves), batch, remat, "sgd" if optimizer is None else optimizer)
    if kv_cache is not None:
        from paramcount.cost.kv_cache import kept

        cache = ceil_div(kept(graph, walk.entries, kv_cache, batch) * walk.bits, 8)
    warnings = network.warnings_of(graph)
    return Report(network.subject, totals, walk.entries, batch, dtype, step, attention, kv_cache, cache, warnings)


def how_many(name: str, value: Any) -> Size:
    """A whole number from 1 to 1e18, or a Column of them; raises ArgumentError for anything else, also for 2.0."""
    return Whole()(name, value if type(value) is Column else whole_argument(name, value))


def network_of(network: Any, input: Any) -> Network:
    """The network, or a network of items on an input; raises ArgumentError for anything else."""
    if isinstance(network, Network):
        if input is not None:
            raise ArgumentError("a network has its own input", hint="leave `input` out")
        return network
    if not isinstance(network, (Item, list, tuple)) or hasattr(network, "_fields") or isinstance(network, Shown):
        raise ArgumentError(f"{quote(network, repr)} is not a network", hint=instead_of(network))
    if input is None:
        raise ArgumentError("layers need an input to be counted", hint="count(layers, (224, 224, 3))")
    return Network(network if isinstance(network, (list, tuple)) else [network], input=input)


def instead_of(given: Any) -> str:
    """What to give in place of what is not a network."""
    if isinstance(getattr(given, "report", None), Report):
        return "its `report` is what was counted"
    spec = given if isinstance(given, str) else getattr(given, "spec", None)
    if isinstance(spec, str) and spec:
        return f'load("{printable(spec)}")'
    if isinstance(given, FunctionType):
        return "`trace(function, *arguments)` counts a function of JAX"
    return "give what `load` returns, a Network, or layers and an input"


def patterns(freeze: Any) -> tuple[str, ...]:
    """The patterns of rows that are not trained; raises ArgumentError for anything but a list of texts."""
    return texts("freeze", freeze, "patterns", hint='freeze=["stage0"]')


def check_training(train: bool, asked: bool, kv_cache: Any) -> None:
    """Raises ArgumentError for settings of training in a count of inference, and the other way round."""
    if asked and not train:
        message = "`freeze`, `remat` and `optimizer` are for training"
        raise ArgumentError(message, hint="add train=True, or `--train`")
    if train and kv_cache is not None:
        raise ArgumentError("a KV cache is for inference", hint="count it without `train`")


def graph_of(network: Network, train: bool, freeze: Sequence[str], attention: str) -> Graph:
    """The tree that is walked: for training or for inference, its attention marked if only unmasked pairs count."""
    if train and freeze:
        from paramcount.graph.freeze import training_graph

        graph = training_graph(network, freeze)
    else:  # where nodes are marked, a graph of its own
        graph = network.graph(training=train) if attention == "dense" else network.expand(train)
    if attention == "exact":
        for element in graph.below():
            if isinstance(element, Node):
                element.exact = True
    return graph
