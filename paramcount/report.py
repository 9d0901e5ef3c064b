"""What a network costs: every figure of every row, and their totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from paramcount.errors import ArgumentError, quote
from paramcount.figures import Counted, Figures, Row, TrainingFigures
from paramcount.graph.network import Network
from paramcount.graph.tree import Element, Experts, Group, Loop, Node, Pieces, Steps, indices_label, join
from paramcount.layer import Item, Param
from paramcount.numeric import Size, ceil_div, require
from paramcount.units import bytes_of

if TYPE_CHECKING:
    from paramcount.training import Step


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
    step: Step | None = field(default=None, repr=False)

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
        counted = f"{per}; MACs of contractions, padded taps count; FLOPs = 2 × MACs; {self.dtype}"
        return counted if self.step is None else f"{counted}; {self.step.convention}"

    def __str__(self) -> str:
        from paramcount.render.table import render

        return render(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as raw integers, ready for JSON."""
        from paramcount.render.json import to_dict

        return to_dict(self)

    def _repr_html_(self) -> str:
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
) -> Report:
    """Count a network, or an item or a list of items on an input shape.

    Figures are those of inference and of one example; `batch` multiplies work and activations, `dtype` is that of
    the parameters' bytes. What only exists in training counts with its parameters and does no work.

    With `train`, they are those of one step of training, which adds the backward MACs, the loss and the `optimizer`
    (sgd, momentum or adam). `freeze` are patterns of the paths of rows that are not trained; with `remat`, each pass
    of a loop is computed again for its gradient. Raises ParamcountError where the network does not hold together.

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
    if type(batch) is bool or isinstance(batch, (float, str)):
        raise ArgumentError(f"batch must be a whole number, not {quote(batch)}", argument="batch")
    require(batch >= 1, "batch must be at least 1, not {}", batch, argument="batch")
    if isinstance(freeze, str):
        raise ArgumentError("freeze is a list of patterns", hint=f'freeze=["{freeze}"]', argument="freeze")
    if not train and (freeze or remat or optimizer):
        raise ArgumentError("freezing, recomputing and optimizers are of training", hint="train=True, or `--train`")
    if train:
        from paramcount.freezing import training_graph

    graph = training_graph(network, freeze) if train else network.graph()
    counter = Counter(dtype)
    counter.children(graph.children, "", "", Place(work=batch))
    totals = Figures.total([entry.figures for entry in counter.entries if entry.figures is not None])
    step = None
    if train:
        from paramcount.training import step_of

        leaves = {entry.element: entry.figures for entry in counter.entries if entry.figures is not None}
        step = step_of(graph, leaves, batch, remat, optimizer or "sgd")
    variant, values = getattr(network, "variant", None), getattr(network, "vars", {})
    return Report(network.name, variant, dict(values), totals, counter.entries, batch, dtype, step)


NO_TENSORS = (0,) * 8


class Place(NamedTuple):
    """Where the walk is, and how many times what stands here is there.

    `stored` tensors there are of each, `active` of them used by one example; `root_stored` and `root_active` are
    what they would be without the loops of the block or file around, whose paths are `root` and, for its
    parameters, `root_owner`. `shared` says that the parameters count elsewhere.
    """

    root: str = ""
    root_owner: str = ""
    depth: int = 1
    repeat: int = 1
    stored: Size = 1
    active: Size = 1
    root_stored: Size = 1
    root_active: Size = 1
    work: Size = 1
    shared: bool = False
    stem: str = ""
    indices: tuple[int, ...] = ()


class Entry(NamedTuple):
    """An element where the walk met it: the path of its parameters too, and its own figures if it is a leaf."""

    element: Node | Group
    path: str
    owner: str
    place: Place
    figures: Figures | None


class Counter:
    """The walk over a tree. `path` is an element's own, `owner` the path of its parameters."""

    def __init__(self, dtype: str) -> None:
        self.bits = bytes_of(8, dtype)  # of one element
        self.entries: list[Entry] = []

    def children(self, children: Sequence[Element], path: str, owner: str, place: Place) -> None:
        for child in children:
            self.element(child, join(path, child.name), join(owner, child.name), place)

    def element(self, element: Element, path: str, owner: str, place: Place) -> None:
        share = element.share
        if share:
            owner = join(place.root_owner, share.owner)
            if share.first:  # the loops up to its block or file all use this one
                place = place._replace(stored=place.root_stored, active=place.root_active)
            else:
                place = place._replace(stored=0, active=0, root_stored=0, root_active=0, shared=True)
        if isinstance(element, Node):
            self.entries.append(Entry(element, path, owner, place, self.leaf(element, place)))
        elif isinstance(element, Loop):
            self.loop(element, path, owner, place)
        else:
            assert isinstance(element, Group)
            self.entries.append(Entry(element, path, owner, place, None))
            self.group(element, path, owner, place._replace(depth=place.depth + 1, stem="", indices=()))

    def leaf(self, node: Node, place: Place) -> Figures:
        layer, shapes = node.layer, node.shapes
        declared = node.params() if node.tie else layer.params(*shapes)
        macs = flops = elementwise = activations = 0
        if not node.training_only:
            work, times = layer.work(*shapes), place.work
            macs, flops, elementwise = work.macs * times, work.flops * times, work.elementwise * times
            activations = sum([value.shape.elements for value in node.outputs]) * times
        tensors, size_in_bytes = self.tensors(declared, place, node.frozen) if declared else (NO_TENSORS, 0)
        return Figures._make((*tensors, macs, flops, elementwise, activations, size_in_bytes))

    def tensors(self, declared: dict[str, Param], place: Place, frozen: bool) -> tuple[tuple[Size, ...], Size]:
        """The first eight figures of a leaf, and its parameters' bytes, each tensor's last byte filled up."""
        sizes: dict[str, Size] = {"weight": 0, "table": 0, "bias": 0, "norm": 0, "buffer": 0}
        size_in_bytes = 0
        for param in declared.values():
            size = param.size
            sizes[param.role] += size
            if param.role != "buffer":
                size_in_bytes += ceil_div(size * self.bits, 8)
        weight, table, bias, norm, buffer = sizes.values()
        each, stored = weight + table + bias + norm, place.stored
        params = each * stored
        figures = (
            params,
            0 if frozen else params,
            (weight + table) * stored,
            table * stored,
            bias * stored,
            norm * stored,
            buffer * stored,
            each * place.active,
        )
        return figures, size_in_bytes * stored

    def group(self, group: Group, path: str, owner: str, place: Place) -> None:
        """What stands in a group, which is the place's innermost."""
        if isinstance(group, Experts):
            self.experts(group, path, owner, place)
            return
        if isinstance(group, (Pieces, Steps)):
            place = place._replace(work=place.work * group.count)
        elif group.scope:
            place = place._replace(root=path, root_owner=owner, root_stored=place.stored, root_active=place.active)
        self.children(group.children, path, owner, place)

    def experts(self, group: Experts, path: str, owner: str, place: Place) -> None:
        """The router and the sum as they stand; between them, tensors of all experts and the work of the chosen."""
        router, *body, combine = group.children
        many, few = group.experts, group.top_k
        within = place._replace(
            stored=place.stored * many,
            active=place.active * few,
            root_stored=place.root_stored * many,
            root_active=place.root_active * few,
            work=place.work * few,
        )
        self.children([router], path, owner, place)
        self.children(body, path, owner, within)
        self.children([combine], path, owner, place)

    def loop(self, loop: Loop, path: str, owner: str, place: Place) -> None:
        """Each body stands for all its passes; with `shared` its tensors count once."""
        for each in loop.passes:
            if each.child is None:
                continue
            times = len(each.indices)
            repeat, work = place.repeat * times, place.work * times
            if loop.shared:
                self.element(each.child, path, owner, place._replace(repeat=repeat, work=work))
                continue
            inner = place._replace(
                repeat=repeat,
                work=work,
                stored=place.stored * times,
                active=place.active * times,
                stem=path,
                indices=tuple(each.indices),
            )
            label = indices_label(each.indices)
            self.element(each.child, path + label, owner + label, inner)


def rows_of(entries: Sequence[Entry], step: Step | None = None) -> list[Row]:
    """A row for each entry; a group's figures are the sum of those below it."""
    rows = []
    below: dict[int, list[tuple[Figures, TrainingFigures | None]]] = {}  # by depth, what awaits its group
    for element, path, owner, place, figures in reversed(entries):
        if isinstance(element, Node):
            kind, shape = element.layer.kind, element.outputs[0].shape
            training = step and step.leaves[element]
        else:
            parts = below.pop(place.depth + 1, [])
            figures = Figures.total([part for part, _ in parts])
            training = step and TrainingFigures.total([part for _, part in parts if part])
            kind = element.kind
            # `let` leaves the value that arrived, which is nothing it made
            shape = None if element.output is None or kind == "let" else element.output.shape
        assert figures is not None
        below.setdefault(place.depth, []).append((figures, training))
        rows.append(
            Row(
                path,
                kind,
                element,
                shape,
                place.repeat,
                place.depth,
                notes(element, owner, place),
                isinstance(element, Node),
                element.training_only,
                figures,
                place.stem,
                place.indices,
                training,
            )
        )
    return rows[::-1]


def notes(element: Node | Group, owner: str, place: Place) -> str:
    """What must be known to read an element's figures."""
    found = ["training only"] if element.training_only else []
    tie = element.tie if isinstance(element, Node) else None
    if tie or isinstance(element, Group) or element.params():
        if element.frozen:
            found.append("frozen")
        if place.shared:
            found.append(f"shared with {owner}")
        elif tie:
            found.append(f"tied to {join(place.root_owner, tie.owner)}")
    return ", ".join(found)
