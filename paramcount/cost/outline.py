"""The rows that a table shows: the tree down to a depth, with equal iterations of a loop in one row."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from paramcount.cost.figures import Figures, Row
from paramcount.graph.tree import indices_label


class Branch(NamedTuple):
    """A row and those below it."""

    row: Row
    below: list[Branch]


def outline(rows: Sequence[Row], depth: int, order: Callable[[Row], Any] | None = None) -> list[tuple[str, Row]]:
    """The rows of the outermost `depth` levels, each with its name below its parent; `order` sorts siblings."""
    lines: list[tuple[str, Row]] = []

    def show(branches: list[Branch], parent: str) -> None:
        if order is not None:
            branches = sorted(branches, key=lambda each, key=order: key(each.row))
        for branch in branches:
            lines.append((branch.row.path.removeprefix(parent).lstrip("./"), branch.row))
            if branch.row.depth < depth:
                show(branch.below, branch.row.path)

    show(merged(nested(rows)), "")
    return lines


def flattened(rows: Sequence[Row], order: Callable[[Row], Any] | None = None) -> list[tuple[str, Row]]:
    """The leaves at every level, each with its path, in the order of the network or in another."""
    leaves: list[Row] = []

    def gather(branches: list[Branch]) -> None:
        for branch in branches:
            if branch.row.leaf:
                leaves.append(branch.row)
            gather(branch.below)

    gather(merged(nested(rows)))
    return [(row.path, row) for row in (leaves if order is None else sorted(leaves, key=order))]


def nested(rows: Sequence[Row]) -> list[Branch]:
    """Rows in pre-order as a tree."""
    outermost: list[Branch] = []
    levels = [outermost]
    for row in rows:
        branch = Branch(row, [])
        del levels[row.depth :]
        levels[-1].append(branch)
        levels.append(branch.below)
    return outermost


def merged(branches: list[Branch]) -> list[Branch]:
    """The same tree, with iterations of a loop that look the same merged into one row.

    The graph keeps iterations apart whose values are used outside of the loop; in a table they may look the same.
    """
    alike: dict[Hashable, list[Branch]] = {}
    for position, branch in enumerate(branches):
        branch = Branch(branch.row, merged(branch.below))
        key = (branch.row.stem, looks(branch)) if branch.row.indices else position
        alike.setdefault(key, []).append(branch)
    found = []
    for same in alike.values():
        row = same[0].row
        indices = sorted(index for branch in same for index in branch.row.indices)
        if len(same) > 1:
            branch = together(same, row.stem + indices_label(indices))
            found.append(branch._replace(row=branch.row._replace(indices=tuple(indices))))
        else:
            found.append(same[0])
    return found


def looks(branch: Branch) -> Hashable:
    """All that a table could show of a branch, except for paths."""
    row = branch.row
    shown = row.kind, row.setting, row.input_shapes, row.output_shape, row.repeat, row.note, row.figures, row.training
    return shown, tuple([looks(each) for each in branch.below])


def together(same: list[Branch], path: str) -> Branch:
    """One branch that stands for several that look the same."""
    first = same[0]
    training = [branch.row.training for branch in same if branch.row.training is not None]
    row = first.row._replace(
        path=path,
        repeat=sum(branch.row.repeat for branch in same),
        copies=sum(branch.row.copies for branch in same),
        figures=Figures.total([branch.row.figures for branch in same]),
        training=type(training[0]).total(training) if training else None,
    )
    below = zip(*[branch.below for branch in same], strict=True)
    return Branch(row, [together(list(each), path + each[0].row.path.removeprefix(first.row.path)) for each in below])
