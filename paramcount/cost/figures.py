"""The figures of a network's parts: every count by its name, how each is shown, and the rows that carry them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from paramcount.errors import ArgumentError, quote
from paramcount.layers.layer import Shape
from paramcount.numbers.arithmetic import Size
from paramcount.numbers.units import binary, decimal, grouped


def total(kind: Any, parts: Sequence[Any]) -> Any:
    """The sum of figures of one kind, each by itself; if one of its parts is unknown, so is the sum.

    >>> Figures.total([Figures(params=2, macs=3), Figures(params=5, macs=None)])[:1], Figures.total([]).params
    ((7,), 0)
    """
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return kind()
    try:
        return kind._make(map(sum, zip(*parts, strict=True)))
    except TypeError:
        columns = zip(*parts, strict=True)
        return kind._make(None if any(each is None for each in column) else sum(column) for column in columns)


class Figures(NamedTuple):
    """Exact counts of one row or of the whole: the first eight are elements of tensors, then come work and memory.

    `weights` are kernels and tables together, the bias-free count; `tables` are embeddings, positions and scales
    alone. `params` are all but `buffers`; `active_params` count only the experts that are chosen. An unknown figure is
    None.
    """

    params: Size = 0
    trainable: Size = 0
    weights: Size = 0
    tables: Size = 0
    biases: Size = 0
    norms: Size = 0
    buffers: Size = 0
    active_params: Size = 0
    macs: Size = 0
    flops: Size = 0
    elementwise: Size = 0
    activations: Size = 0
    param_bytes: Size = 0

    total = classmethod(total)


class TrainingFigures(NamedTuple):
    """What one training step costs beyond the forward computation: of one row or of the whole.

    `train_macs` are all those of a step: forward, backward and recomputed. The optimizer runs once for a batch.
    """

    backward_macs: Size = 0
    recomputed_macs: Size = 0
    train_macs: Size = 0
    train_flops: Size = 0
    optimizer_elementwise: Size = 0

    total = classmethod(total)


class Phases(NamedTuple):
    """The MACs of a traced row or function by phase; their sum is `macs`."""

    forward_macs: Size = 0
    backward_macs: Size = 0
    recomputed_macs: Size = 0
    update_macs: Size = 0  # of an optimizer

    total = classmethod(total)


class Figure(NamedTuple):
    """How a figure is shown: the title of its column, its label below a table, its axis in a plot, its writer."""

    title: str
    label: str
    axis: str
    write: Callable[[int], str]

    @property
    def unit(self) -> Callable[[int], str]:
        """How a total is written in its unit."""
        return binary if self.write is binary else decimal


FIGURES = {
    "params": Figure("params", "params", "parameters", grouped),
    "trainable": Figure("trainable", "trainable", "trainable parameters", grouped),
    "weights": Figure("weights", "weights (bias-free)", "weights, without biases and norms", grouped),
    "tables": Figure("tables", "  of which tables", "parameters of tables", grouped),
    "biases": Figure("biases", "biases", "biases", grouped),
    "norms": Figure("norms", "norms", "parameters of norms", grouped),
    "buffers": Figure("buffers", "buffers", "elements of buffers", grouped),
    "active_params": Figure("active", "  active for one token", "active parameters", grouped),
    "macs": Figure("MACs", "MACs", "MACs per example", decimal),
    "flops": Figure("FLOPs", "FLOPs", "FLOPs per example", decimal),
    "elementwise": Figure("elementwise", "elementwise operations", "elementwise operations per example", decimal),
    "activations": Figure("activations", "activations", "elements of activations per example", decimal),
    "param_bytes": Figure("bytes", "bytes of the parameters", "bytes of the parameters", binary),
    "forward_macs": Figure("forward", "  forward", "forward MACs", decimal),
    "backward_macs": Figure("backward", "backward MACs", "backward MACs", decimal),
    "recomputed_macs": Figure("recomputed", "recomputed MACs", "recomputed MACs", decimal),
    "update_macs": Figure("update", "update MACs", "MACs of the update", decimal),
    "train_macs": Figure("step", "MACs of a step", "MACs of a step", decimal),
    "train_flops": Figure("step FLOPs", "FLOPs of a step", "FLOPs of a step", decimal),
    "optimizer_elementwise": Figure("optimizer", "elementwise: {}", "operations of the optimizer", decimal),
}


def figure(name: str) -> Any:
    """A property for one of the figures; raises ArgumentError if it is unknown."""

    def get(figured: Figured) -> Size:
        found = figured.get(name)
        if found is None:
            raise figured.unknown(name)
        return found

    return property(get)


class Figured:
    """Each figure of an object's `figures` and `training` as an attribute, which raises ArgumentError if unknown."""

    __slots__ = ()

    params = figure("params")
    trainable = figure("trainable")
    weights = figure("weights")
    tables = figure("tables")
    biases = figure("biases")
    norms = figure("norms")
    buffers = figure("buffers")
    active_params = figure("active_params")
    macs = figure("macs")
    flops = figure("flops")
    elementwise = figure("elementwise")
    activations = figure("activations")
    param_bytes = figure("param_bytes")

    forward_macs = figure("forward_macs")
    backward_macs = figure("backward_macs")
    recomputed_macs = figure("recomputed_macs")
    update_macs = figure("update_macs")
    train_macs = figure("train_macs")
    train_flops = figure("train_flops")
    optimizer_elementwise = figure("optimizer_elementwise")

    def get(self, name: str) -> Size | None:
        """A figure by its name, or None if it is unknown; raises ArgumentError for another name.

        >>> from paramcount.cost.count import count
        >>> from paramcount.layers.dense import Dense
        >>> report = count(Dense(10), 784)
        >>> report.get("params"), report.get("backward_macs")
        (7850, None)
        """
        if not isinstance(name, str) or name not in FIGURES:
            from paramcount.errors.suggest import unknown

            raise unknown("figure", name, FIGURES)
        owner: Any = self
        found = getattr(owner.figures, name, None)
        return getattr(owner.training, name, None) if found is None else found

    def unknown(self, name: str) -> ArgumentError:
        """The error for an unknown figure."""
        owner: Any = self
        if owner.training is None and name in TrainingFigures._fields:
            message = f"{name} is a figure of training, and this was counted for inference"
            return ArgumentError(message, hint="count(..., train=True), or `--train`")
        return ArgumentError(f"{quote(name)} is not known here", hint=self.reason(name))

    def reason(self, name: str) -> str:
        """Why a figure is unknown, for the hint of an error."""
        return f"`report.{name}` says why"


class RowFields(NamedTuple):
    """The fields of a Row, apart because a NamedTuple cannot have other bases."""

    path: str
    kind: str
    depth: int
    figures: Figures
    setting: str = ""  # the arguments in brief: `3×3/2`
    input_shapes: tuple[Shape, ...] | None = None
    output_shape: Shape | None = None
    repeat: int = 1
    note: str = ""
    leaf: bool = False
    training_only: bool = False
    stored_only: bool = False
    stem: str = ""
    indices: tuple[int, ...] = ()
    training: TrainingFigures | Phases | None = None
    copies: int = 0


class Row(RowFields, Figured):
    """One element of what was counted: a leaf, or a group whose figures are the sum of the rows below it.

    The figures are those of all `repeat` iterations that the row stands for. `depth` is 1 for the outermost rows;
    `indices` are the iterations of the innermost loop around it that the row itself stands for, and `stem` is
    its path without them. `training` holds what a training step adds, or the phases of a traced function. `copies` is
    how often a leaf's tensors exist, less than `repeat` where iterations share them; 0 if that is unknown.
    """

    __slots__ = ()
