"""Walking a network's tree: the figures of every leaf, how many times it counts, and the rows made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from paramcount.cost.figures import Figures, Row, TrainingFigures
from paramcount.graph.tree import Body, Element, Group, Loop, Node, indices_label, iteration_paths, join
from paramcount.layers.layer import Param
from paramcount.numbers.arithmetic import Size, ceil_div
from paramcount.numbers.units import bytes_of

if TYPE_CHECKING:
    from paramcount.cost.step import TrainStep


class Place(NamedTuple):
    """Where the walk is, and how many times a leaf here counts.

    Each of its tensors exists `stored` times, and one example uses `active` of these; its work is done `work` times,
    and its row stands for `repeat` iterations. `root_stored` and `root_active` are the same without the loops of the
    surrounding block or file, whose path is `root`, and `root_owner` for its parameters. `shared` says that the
    parameters are counted elsewhere.
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
    """An element where the walk met it, with its figures if it is a leaf; `owner` is the path of its parameters.

    `indices` are the iterations of the loop that it is the child of, and `stem` is that loop's path.
    """

    element: Node | Group
    path: str
    owner: str
    place: Place
    figures: Figures | None
    depth: int
    stem: str
    indices: tuple[int, ...]


class Walk:
    """The walk over a tree; its `entries` are the elements that have rows, in pre-order."""

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
            if share.first:  # all iterations of the loops up to its block or file use this one
                place = place._replace(stored=place.root_stored, active=place.root_active)
            else:
                place = place._replace(stored=0, active=0, root_stored=0, root_active=0, shared=True)
        if isinstance(element, Node):
            self.entries.append(Entry(element, path, owner, place, self.leaf(element, place), depth, stem, indices))
        elif isinstance(element, Loop):
            self.loop(element, path, owner, place, depth)
        elif isinstance(element, Body):
            self.body(element, path, owner, place, depth)
        else:
            assert isinstance(element, Group)
            self.entries.append(Entry(element, path, owner, place, None, depth, stem, indices))
            self.group(element, path, owner, place, depth + 1)

    def leaf(self, node: Node, place: Place) -> Figures:
        """A leaf's own figures; one that does not run here does no work."""
        macs = flops = elementwise = activations = 0
        if not (node.training_only or node.stored_only):
            work, times = node.work(), place.work
            macs, flops, elementwise = work.macs * times, work.flops * times, work.elementwise * times
            activations = sum([value.shape.elements for value in node.outputs]) * times
        declared = node.params()
        if not declared:
            return Figures(macs=macs, flops=flops, elementwise=elementwise, activations=activations)
        sizes: dict[str, Size] = {"weight": 0, "table": 0, "bias": 0, "norm": 0, "buffer": 0}
        for param in declared.values():
            sizes[param.role] += param.size
        weight, table, bias, norm, buffer = sizes.values()
        each, stored = weight + table + bias + norm, place.stored
        params = each * stored
        return Figures(
            params=params,
            trainable=0 if node.frozen else params,
            weights=(weight + table) * stored,
            tables=table * stored,
            biases=bias * stored,
            norms=norm * stored,
            buffers=buffer * stored,
            active_params=each * place.active,
            macs=macs,
            flops=flops,
            elementwise=elementwise,
            activations=activations,
            param_bytes=self.bytes(declared, each) * stored,
        )

    def bytes(self, declared: dict[str, Param], elements: Size) -> Size:
        """The bytes of a leaf's parameters, `elements` in all; each tensor is rounded up to whole bytes."""
        if not self.bits % 8:
            return elements * (self.bits // 8)
        return sum([ceil_div(param.size * self.bits, 8) for param in declared.values() if param.role != "buffer"])

    def group(self, group: Group, path: str, owner: str, place: Place, depth: int) -> None:
        if group.scope:
            place = place._replace(root=path, root_owner=owner, root_stored=place.stored, root_active=place.active)
        self.children(group.children, path, owner, place, depth)

    def body(self, body: Body, path: str, owner: str, place: Place, depth: int) -> None:
        """The leaves of a body do the work of all its runs; of stacked tensors, one example uses a copy in each run."""
        times, copies = body.times, body.copies
        place = place._replace(work=place.work * times)
        if copies is not None:
            place = place._replace(
                stored=place.stored * copies,
                active=place.active * times,
                root_stored=place.root_stored * copies,
                root_active=place.root_active * times,
            )
        self.children(body.children, path, owner, place, depth)

    def loop(self, loop: Loop, path: str, owner: str, place: Place, depth: int) -> None:
        """Each child stands for all its iterations; if the loop shares them, its tensors count once."""
        for each in loop.iterations:
            if each.child is None:
                continue
            times = len(each.indices)
            inner = place._replace(repeat=place.repeat * times, work=place.work * times)
            if not loop.shared:
                inner = inner._replace(stored=place.stored * times, active=place.active * times)
            elif each is not loop.iterations[0]:
                inner = inner._replace(stored=0, active=0, root_stored=0, root_active=0, shared=True)
            label = indices_label(each.indices)
            here, owned = iteration_paths(loop, each, path, owner, label)
            stem, indices = (path, tuple(each.indices)) if here == path + label else ("", ())
            self.element(each.child, here, owned, inner, depth, stem, indices)


def rows_of(entries: Sequence[Entry], step: TrainStep | None = None) -> list[Row]:
    """A row for each entry; a group's figures are the sum of those below it."""
    rows = []
    below: dict[int, list[tuple[Figures, TrainingFigures | None]]] = {}  # by depth, what awaits its group
    for element, path, owner, place, figures, depth, stem, indices in reversed(entries):
        if isinstance(element, Node):
            kind, shape, inputs = element.layer.kind, element.outputs[0].shape, element.shapes
            training = step and step.leaves[element]
        else:
            parts = below.pop(depth + 1, [])
            figures = Figures.total([part for part, _ in parts])
            training = step and TrainingFigures.total([part for _, part in parts if part])
            kind = element.kind
            shape = element.output and element.output.shape
            inputs = () if element.entry is None else (element.entry.shape,)
        assert figures is not None
        below.setdefault(depth, []).append((figures, training))
        rows.append(
            Row(
                path=path,
                kind=kind,
                setting=element.setting,
                input_shapes=inputs,
                output_shape=shape,
                repeat=place.repeat,
                depth=depth,
                note=notes(element, owner, place),
                leaf=isinstance(element, Node),
                training_only=element.training_only,
                stored_only=element.stored_only,
                figures=figures,
                stem=stem,
                indices=indices,
                training=training,
                copies=place.stored,
            )
        )
    return rows[::-1]


def notes(element: Node | Group, owner: str, place: Place) -> str:
    """Remarks that one needs to read an element's figures."""
    found = ["stored only"] if element.stored_only else ["training only"] if element.training_only else []
    tie = element.tie if isinstance(element, Node) else None
    if tie or isinstance(element, Group) or element.params():
        if element.frozen:
            found.append("frozen")
        if place.shared:
            found.append(f"shared with {owner}")
        elif tie:
            found.append(f"tied to {join(place.root_owner, tie.owner)}")
    return ", ".join(found)
