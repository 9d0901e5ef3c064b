"""What a network costs: every figure of every row, and their totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from paramcount.errors import ArgumentError, quote
from paramcount.figures import Counted, Figures, Row
from paramcount.graph.network import Network
from paramcount.graph.tree import Element, Experts, Group, Loop, Node, Pieces, Steps, indices_label, join
from paramcount.layer import Item, Param
from paramcount.numeric import Size, ceil_div, require
from paramcount.units import bytes_of


@dataclass(frozen=True)
class Report(Counted):
    """What a network costs: `totals`, also by name (`report.params`), and `rows`, the tree in pre-order.

    `str()` is the table, `to_dict()` the JSON object. Work and activations are those of the whole batch.
    """

    name: str
    variant: str | None
    vars: dict[str, Any]
    totals: Figures
    rows: tuple[Row, ...]
    batch: Size = 1
    dtype: str = "float32"

    @property
    def figures(self) -> Figures:
        return self.totals

    @property
    def convention(self) -> str:
        """What the figures mean, in one line."""
        per = "per example" if type(self.batch) is int and self.batch == 1 else f"batch of {self.batch}"
        return f"{per}; MACs of contractions, padded taps count; FLOPs = 2 × MACs; {self.dtype}"

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


def count(network: Any, input: Any = None, *, batch: Size = 1, dtype: str = "float32") -> Report:
    """Count a network, or an item or a list of items on an input shape.

    Figures are those of inference and of one example; `batch` multiplies work and activations, `dtype` is that of
    the parameters' bytes. What only exists in training counts with its parameters and does no work. Raises
    ParamcountError where the network does not hold together.

    >>> from paramcount.layers.conv import Conv
    >>> report = count(Conv(out=32, kernel=3, stride=2), (224, 224, 3))
    >>> report.weights, report.macs
    (864, 10838016)
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
    counter = Counter(dtype)
    totals = counter.children(network.graph().children, "", "", Place(work=batch))
    variant, values = getattr(network, "variant", None), getattr(network, "vars", {})
    return Report(network.name, variant, dict(values), totals, tuple(counter.rows), batch, dtype)


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


class Counter:
    """The walk from a tree to its rows. `path` is an element's own, `owner` the path of its parameters."""

    def __init__(self, dtype: str) -> None:
        self.bits = bytes_of(8, dtype)  # of one element
        self.rows: list[Any] = []

    def children(self, children: Sequence[Element], path: str, owner: str, place: Place) -> Figures:
        """The sum of the elements below a path."""
        return Figures.total(
            [self.element(child, join(path, child.name), join(owner, child.name), place) for child in children]
        )

    def element(self, element: Element, path: str, owner: str, place: Place) -> Figures:
        share = element.share
        if share:
            owner = join(place.root_owner, share.owner)
            if share.first:  # the loops up to its block or file all use this one
                place = place._replace(stored=place.root_stored, active=place.root_active)
            else:
                place = place._replace(stored=0, active=0, root_stored=0, root_active=0, shared=True)
        if isinstance(element, Node):
            return self.leaf(element, path, owner, place)
        if isinstance(element, Loop):
            return self.loop(element, path, owner, place)
        assert isinstance(element, Group)
        return self.group(element, path, owner, place)

    def leaf(self, node: Node, path: str, owner: str, place: Place) -> Figures:
        layer, shapes = node.layer, node.shapes
        declared = node.params() if node.tie else layer.params(*shapes)
        macs = flops = elementwise = activations = 0
        if not node.training_only:
            work, times = layer.work(*shapes), place.work
            macs, flops, elementwise = work.macs * times, work.flops * times, work.elementwise * times
            activations = sum([value.shape.elements for value in node.outputs]) * times
        tensors, size_in_bytes = self.tensors(declared, place, node.frozen) if declared else (NO_TENSORS, 0)
        figures = Figures(*tensors, macs, flops, elementwise, activations, size_in_bytes)
        note = notes(node, owner, place) if declared or node.tie or node.training_only else ""
        shape = node.outputs[0].shape
        self.rows.append(
            Row(
                path,
                layer.kind,
                node,
                shape,
                place.repeat,
                place.depth,
                note,
                True,
                node.training_only,
                figures,
                place.stem,
                place.indices,
            )
        )
        return figures

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

    def group(self, group: Group, path: str, owner: str, place: Place) -> Figures:
        at = len(self.rows)
        self.rows.append(None)
        inner = place._replace(depth=place.depth + 1, stem="", indices=())
        if isinstance(group, Experts):
            figures = self.experts(group, path, owner, inner)
        else:
            if isinstance(group, (Pieces, Steps)):
                inner = inner._replace(work=inner.work * group.count)
            elif group.scope:
                inner = inner._replace(root=path, root_owner=owner, root_stored=place.stored, root_active=place.active)
            figures = self.children(group.children, path, owner, inner)
        shape = None if group.output is None or group.kind == "let" else group.output.shape
        self.rows[at] = Row(
            path,
            group.kind,
            group,
            shape,
            place.repeat,
            place.depth,
            notes(group, owner, place),
            False,
            group.training_only,
            figures,
            place.stem,
            place.indices,
        )
        return figures

    def experts(self, group: Experts, path: str, owner: str, place: Place) -> Figures:
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
        return Figures.total(
            [
                self.children([router], path, owner, place),
                self.children(body, path, owner, within),
                self.children([combine], path, owner, place),
            ]
        )

    def loop(self, loop: Loop, path: str, owner: str, place: Place) -> Figures:
        """One row for each body, which stands for all its passes; with `shared` their tensors count once."""
        parts = []
        for each in loop.passes:
            if each.child is None:
                continue
            times = len(each.indices)
            inner = place._replace(repeat=place.repeat * times, work=place.work * times)
            label = ""
            if not loop.shared:
                label = indices_label(each.indices)
                inner = inner._replace(
                    stored=place.stored * times, active=place.active * times, stem=path, indices=tuple(each.indices)
                )
            parts.append(self.element(each.child, path + label, owner + label, inner))
        return Figures.total(parts)


def notes(element: Element, owner: str, place: Place) -> str:
    """What must be known to read an element's figures."""
    found = []
    if element.training_only:
        found.append("training only")
    if element.frozen:
        found.append("frozen")
    if place.shared:
        found.append(f"shared with {owner}")
    elif isinstance(element, Node) and element.tie:
        found.append(f"tied to {join(place.root_owner, element.tie.owner)}")
    return ", ".join(found)
