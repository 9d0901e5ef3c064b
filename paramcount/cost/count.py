"""What a network costs: every figure of every row, and their totals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from paramcount.cost.figures import Counted, Figures, Row, TrainingFigures
from paramcount.cost.walk import Entry, Place, Walk, rows_of
from paramcount.errors import ArgumentError, quote
from paramcount.graph.network import Network
from paramcount.graph.tree import Node
from paramcount.layers.layer import Item
from paramcount.numbers.arithmetic import Column, Size, ceil_div, require

if TYPE_CHECKING:
    from paramcount.cost.step import TrainStep


ATTENTION = ("dense", "exact")
MACS = "MACs of contractions, padded taps count"


@dataclass(frozen=True)
class Report(Counted):
    """What a network costs: `totals`, also by name (`report.params`), and `rows`, the tree in pre-order.

    `str()` is the table, `to_dict()` the JSON object. Work and activations are those of the whole batch.
    """

    name: str
    variant: str | None
    vars: dict[str, Any]
    totals: Figures
    entries: Sequence[Entry] = field(repr=False)
    batch: Size = 1
    dtype: str = "float32"
    step: TrainStep | None = field(default=None, repr=False)
    attention: str = "dense"
    kv_cache: Size | None = None  # the tokens
    kv_cache_bytes: Size | None = None

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        return tuple(rows_of(self.entries, self.step))

    @property
    def figures(self) -> Figures:
        return self.totals

    @property
    def training(self) -> TrainingFigures | None:
        """The totals of training, where that is what was counted."""
        return None if self.step is None else self.step.totals

    @property
    def convention(self) -> str:
        """What the figures mean, in one line."""
        per = "per example" if type(self.batch) is int and self.batch == 1 else f"batch of {self.batch}"
        masks = "" if self.attention == "dense" else ", attention counts the pairs that causal and window leave"
        counted = f"{per}; {MACS}{masks}; FLOPs = 2 × MACs; {self.dtype}"
        return counted if self.step is None else f"{counted}; {self.step.convention}"

    def __str__(self) -> str:
        from paramcount.render.table import render

        return render(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as raw integers, ready for JSON."""
        from paramcount.render.json import to_dict

        return to_dict(self)

    def _repr_html_(self) -> str | None:
        if any(type(each) is not int for each in self.totals):
            return None  # a sweep has many tables
        from paramcount.render.html import render

        return render(self)


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

    Figures are those of inference and of one example; `batch` multiplies work and activations, `dtype` is that of
    the parameters' bytes. What only exists in training counts with its parameters and does no work.

    With `train`, they are those of one step of training, which adds the backward MACs, the loss and the `optimizer`
    (sgd, momentum or adam). `freeze` are patterns of the paths of rows that are not trained; with `remat`, each pass
    of a loop is computed again for its gradient.

    With `attention="exact"`, causal and windowed attention counts the pairs that are not hidden. `kv_cache` is a number
    of tokens whose keys and values are kept: `report.kv_cache_bytes`, in the same dtype, for the whole batch. Raises
    ParamcountError where the network does not hold together.

    >>> from paramcount.layers.conv import Conv
    >>> report = count(Conv(out=32, kernel=3, stride=2), (224, 224, 3))
    >>> report.weights, report.macs
    (864, 10838016)
    >>> count(Conv(out=32, kernel=3, stride=2), (224, 224, 3), train=True).backward_macs  # of the kernel
    10838016
    """
    if isinstance(network, Network):
        if input is not None:
            raise ArgumentError("a network has its own input", hint="leave `input` out")
    elif isinstance(network, (Item, list, tuple)):
        if input is None:
            raise ArgumentError("layers are counted on an input", hint="count(layers, (224, 224, 3))")
        network = Network(network if isinstance(network, (list, tuple)) else [network], input=input)
    else:
        raise ArgumentError(
            f"{quote(repr(network))} is not a network",
            hint="give what `load` returns, a Network, or layers and an input",
        )
    if type(batch) is bool or not (isinstance(batch, (int, Column)) or hasattr(batch, "dtype")):
        raise ArgumentError(f"batch must be a whole number, not {quote(batch)}", argument="batch")
    require(batch >= 1, "batch must be at least 1, not {}", batch, argument="batch")
    if isinstance(freeze, str) or not isinstance(freeze, Iterable) or not all(isinstance(each, str) for each in freeze):
        raise ArgumentError("freeze is a list of patterns", hint='freeze=["stage0"]', argument="freeze")
    if not train and (freeze or remat or optimizer):
        raise ArgumentError("freezing, recomputing and optimizers are of training", hint="train=True, or `--train`")
    if train:
        from paramcount.graph.freeze import training_graph

    if attention not in ATTENTION:
        raise ArgumentError(f"attention is dense or exact, not {quote(attention)}", argument="attention")
    if kv_cache is not None and train:
        raise ArgumentError("a cache of keys and values is of inference", hint="count it without `train`")
    if kv_cache is not None and (type(kv_cache) is bool or not isinstance(kv_cache, (int, Column)) or kv_cache < 1):
        raise ArgumentError(f"kv_cache is a number of tokens, not {quote(kv_cache)}", argument="kv_cache")
    graph = training_graph(network, freeze) if train else network.graph()
    if attention == "exact":
        graph = graph if freeze else network.expand(train)  # one that nobody else has
        for element in graph.below():
            if isinstance(element, Node):
                element.exact = True
    walk = Walk(dtype)
    walk.children(graph.children, "", "", Place(work=batch), 1)
    totals = Figures.total([entry.figures for entry in walk.entries if entry.figures is not None])
    step = None
    if train:
        from paramcount.cost.step import step_of

        leaves = {entry.element: entry.figures for entry in walk.entries if entry.figures is not None}
        step = step_of(graph, leaves, batch, remat, optimizer or "sgd")
    cache = None
    if kv_cache is not None:
        from paramcount.cost.kv_cache import kept

        cache = ceil_div(kept(graph, walk.entries, kv_cache, batch) * walk.bits, 8)
    variant, values = getattr(network, "variant", None), getattr(network, "vars", {})
    return Report(
        network.name,
        variant,
        dict(values),
        totals,
        walk.entries,
        batch,
        dtype,
        step,
        attention,
        kv_cache,
        cache,
    )
