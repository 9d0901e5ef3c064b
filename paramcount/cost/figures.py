"""The figures of a network's parts: every count by its name, and the rows that carry them."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from paramcount.errors import ArgumentError
from paramcount.layers.layer import Shape
from paramcount.numbers.arithmetic import Size


class Figures(NamedTuple):
    """Exact counts of one row or of the whole. The first eight are tensors' elements, then work, then memory.

    `weights` are kernels and tables together, the bias-free count; `tables` are embeddings, positions and scales
    alone. `params` are all but `buffers`. `active_params` has the chosen experts in place of all of them.
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

    @staticmethod
    def total(parts: Sequence[Figures]) -> Figures:
        """The sum of figures, each for itself.

        >>> Figures.total([Figures(params=2, macs=3), Figures(params=5)]).params
        7
        """
        if len(parts) == 1:
            return parts[0]
        return Figures(*map(sum, zip(*parts, strict=True))) if parts else Figures()


class TrainingFigures(NamedTuple):
    """What one step of training costs beyond the forward computation: of one row or of the whole.

    `train_macs` are all of a step: forward, backward, and what is recomputed. The optimizer runs once for a batch.
    """

    backward_macs: Size = 0
    recomputed_macs: Size = 0
    train_macs: Size = 0
    train_flops: Size = 0
    optimizer_elementwise: Size = 0

    @staticmethod
    def total(parts: Sequence[TrainingFigures]) -> TrainingFigures:
        """The sum of figures, each for itself."""
        return TrainingFigures(*map(sum, zip(*parts, strict=True))) if parts else TrainingFigures()


def figure(name: str) -> Any:
    """A property for one of the figures."""
    return property(attrgetter(f"figures.{name}"))


def training_figure(name: str) -> Any:
    """A property for one of the figures of training; raises ArgumentError where a count is not of training."""

    def get(counted: Any) -> Size:
        if counted.training is None:
            message = f"{name} is a figure of training, and this was counted for inference"
            raise ArgumentError(message, hint="count(..., train=True), or `--train`")
        return getattr(counted.training, name)

    return property(get)


class Counted:
    """What has figures also has each by its name."""

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

    backward_macs = training_figure("backward_macs")
    recomputed_macs = training_figure("recomputed_macs")
    train_macs = training_figure("train_macs")
    train_flops = training_figure("train_flops")
    optimizer_elementwise = training_figure("optimizer_elementwise")


class RowFields(NamedTuple):
    """What a Row holds: a NamedTuple cannot have bases of its own."""

    path: str
    kind: str
    element: Any  # of the tree
    output_shape: Shape | None
    repeat: int
    depth: int
    note: str
    leaf: bool
    training_only: bool
    figures: Figures
    stem: str
    indices: tuple[int, ...]
    training: TrainingFigures | None = None


class Row(RowFields, Counted):
    """One element of the network: a leaf, or a group whose figures are the sum of the rows below it.

    The figures are those of all `repeat` passes that the row stands for. `depth` is 1 for the outermost rows;
    `indices` are the passes of the innermost loop around it that the row itself stands for, and `stem` is
    its path without them.
    """

    __slots__ = ()

    @property
    def setting(self) -> str:
        """The arguments in brief: `3×3/2`."""
        return self.element.setting
