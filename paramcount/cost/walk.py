"""Walking a network's tree: the figures of every leaf, how often it is there, and the rows that come of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from paramcount.cost.figures import Figures, Row, TrainingFigures
from paramcount.graph.tree import Element, Experts, Group, Loop, Node, Pieces, Steps, indices_label, join
from paramcount.layers.layer import Param
from paramcount.numbers.arithmetic import Size, ceil_div
from paramcount.numbers.units import bytes_of

if TYPE_CHECKING:
    from paramcount.cost.step import Step

NO_TENSORS = (0,) * 8


class Place(NamedTuple):
    """Where the walk is, and how many times what stands here is there.

    `stored` tensors there are of each, `active` of them used by one example; `root_stored` and `root_active` are
    what they would be without the loops of the block or file around, whose paths are `root` and, for its
    parameters, `root_owner`. `shared` says that the parameters count elsewhere.
    """

    root: str = ""
    root_owner: str = ""
    repeat: int = 1
    stored: Size = 1
    active: Size = 1
    root_stored: Size = 1
    root_active: Size = 1
    work: Size = 1
    shared: bool = False


class Entry(NamedTuple):
    """An element where the walk met it: the path of its parameters too, and its own figures if it is a leaf.

    `indices` are the passes of the innermost loop that it is the child of, and `stem` that loop's path.
    """

    element: Node | Group
    path: str
    owner: str
    place: Place
    figures: Figures | None
    depth: int
    stem: str
    indices: tuple[int, ...]


class Counter:
    """The walk over a tree. `path` is an element's own, `owner` the path of its parameters."""

    def __init__(self, dtype: str) -> None:
        self.bits = bytes_of(8, dtype)  # of one element
        self.entries: list[Entry] = []

    def children(self, children: Sequence[Element], path: str, owner: str, place: Place, depth: int) -> None:
        for child in children:
            self.element(child, join(path, child.name), join(owner, child.name), place, depth)

    def element(
        self,
        element: Element,
        path: str,
        owner: str,
        place: Place,
        depth: int,
        stem: str = "",
        indices: tuple[int, ...] = (),
    ) -> None:
        share = element.share
        if share:
            owner = join(place.root_owner, share.owner)
            if share.first:  # the loops up to its block or file all use this one
                place = place._replace(stored=place.root_stored, active=place.root_active)
            else:
                place = place._replace(stored=0, active=0, root_stored=0, root_active=0, shared=True)
        if isinstance(element, Node):
            self.entries.append(Entry(element, path, owner, place, self.leaf(element, place), depth, stem, indices))
        elif isinstance(element, Loop):
            self.loop(element, path, owner, place, depth)
        else:
            assert isinstance(element, Group)
            self.entries.append(Entry(element, path, owner, place, None, depth, stem, indices))
            self.group(element, path, owner, place, depth + 1)

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
            if self.bits % 8 and param.role != "buffer":
                size_in_bytes += ceil_div(size * self.bits, 8)
        weight, table, bias, norm, buffer = sizes.values()
        each, stored = weight + table + bias + norm, place.stored
        if not self.bits % 8:
            size_in_bytes = each * (self.bits // 8)
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

    def group(self, group: Group, path: str, owner: str, place: Place, depth: int) -> None:
        """What stands in a group, which is the place's innermost."""
        if isinstance(group, Experts):
            self.experts(group, path, owner, place, depth)
            return
        if isinstance(group, (Pieces, Steps)):
            place = place._replace(work=place.work * group.count)
        elif group.scope:
            place = place._replace(root=path, root_owner=owner, root_stored=place.stored, root_active=place.active)
        self.children(group.children, path, owner, place, depth)

    def experts(self, group: Experts, path: str, owner: str, place: Place, depth: int) -> None:
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
        self.children([router], path, owner, place, depth)
        self.children(body, path, owner, within, depth)
        self.children([combine], path, owner, place, depth)

    def loop(self, loop: Loop, path: str, owner: str, place: Place, depth: int) -> None:
        """Each body stands for all its passes; with `shared` its tensors count once."""
        for each in loop.passes:
            if each.child is None:
                continue
            times = len(each.indices)
            repeat, work = place.repeat * times, place.work * times
            if loop.shared:
                self.element(each.child, path, owner, place._replace(repeat=repeat, work=work), depth)
                continue
            inner = place._replace(
                repeat=repeat,
                work=work,
                stored=place.stored * times,
                active=place.active * times,
            )
            label = indices_label(each.indices)
            self.element(each.child, path + label, owner + label, inner, depth, path, tuple(each.indices))


def rows_of(entries: Sequence[Entry], step: Step | None = None) -> list[Row]:
    """A row for each entry; a group's figures are the sum of those below it."""
    rows = []
    below: dict[int, list[tuple[Figures, TrainingFigures | None]]] = {}  # by depth, what awaits its group
    for element, path, owner, place, figures, depth, stem, indices in reversed(entries):
        if isinstance(element, Node):
            kind, shape = element.layer.kind, element.outputs[0].shape
            training = step and step.leaves[element]
        else:
            parts = below.pop(depth + 1, [])
            figures = Figures.total([part for part, _ in parts])
            training = step and TrainingFigures.total([part for _, part in parts if part])
            kind = element.kind
            # `let` leaves the value that arrived, which is nothing it made
            shape = None if element.output is None or kind == "let" else element.output.shape
        assert figures is not None
        below.setdefault(depth, []).append((figures, training))
        rows.append(
            Row(
                path,
                kind,
                element.setting,
                shape,
                place.repeat,
                depth,
                notes(element, owner, place),
                isinstance(element, Node),
                element.training_only,
                figures,
                stem,
                indices,
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
