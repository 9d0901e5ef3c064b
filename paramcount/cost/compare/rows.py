"""Which rows of two networks are the same part: the folded trees that tables show meet level by level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from paramcount.cost.figures import Row
from paramcount.cost.outline import Branch, merged, nested
from paramcount.graph.tree import indices_label

EQUAL, CHANGED, ADDED, REMOVED = "equal", "changed", "added", "removed"
STORED = ("params", "trainable", "weights", "tables", "biases", "norms", "buffers", "active_params", "param_bytes")
STORED += ("optimizer_elementwise",)  # figures of tensors, which iterations may share


class Pair(NamedTuple):
    """A part as it stands in two networks, `a` and `b`; one of the two rows is None where it was added or removed.

    `change` is equal, changed, added or removed, `depth` is 1 for the outermost parts, and `label` is the name below
    the parent, with both names if they differ. `below` are the pairs inside, where both networks have the part.
    """

    change: str
    a: Row | None
    b: Row | None
    depth: int
    label: str
    below: tuple[Pair, ...] = ()

    def figure(self, name: str) -> tuple[int | None, int | None]:
        """A figure on both sides: 0 where the row is missing, and None where it is unknown."""

        def value(row: Row | None, other: Row | None) -> Any:
            if row is not None:
                return row.get(name)
            return None if other is None or other.get(name) is None else 0

        return value(self.a, self.b), value(self.b, self.a)


class Part(NamedTuple):
    """What has one name on one level: a row, or all rows of the iterations of a loop."""

    name: str
    loop: bool
    branches: list[Branch]


def pairs_of(a: Sequence[Row], b: Sequence[Row]) -> tuple[Pair, ...]:
    """The outermost parts of two networks.

    >>> from paramcount.cost.count import count
    >>> from paramcount.layers.activation import Relu
    >>> from paramcount.layers.dense import Dense
    >>> a, b = count([Dense(8), Relu(), Dense(4)], 4), count([Dense(8), Dense(5)], 4)
    >>> [(pair.label, pair.change) for pair in pairs_of(a.rows, b.rows)]
    [('dense0', 'equal'), ('relu0', 'removed'), ('dense1', 'changed')]
    """
    return tuple(meet(merged(nested(a)), merged(nested(b)), "", ""))


def opened(pairs: Sequence[Pair], depth: int) -> Iterator[Pair]:
    """The pairs of the outermost `depth` levels in pre-order; only changed ones are opened."""
    for pair in pairs:
        yield pair
        if pair.change == CHANGED and pair.depth < depth:
            yield from opened(pair.below, depth)


def meet(a: list[Branch], b: list[Branch], above_a: str, above_b: str) -> Iterator[Pair]:
    """The pairs of what stands side by side in two networks, below rows with these paths."""
    from difflib import SequenceMatcher

    ours, theirs = parts(a, above_a), parts(b, above_b)
    names = [[part[:2] for part in side] for side in (ours, theirs)]
    first, second = sorted(names)  # its choice among equal stretches must not depend on which network comes first
    for _, *ends in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        start, stop, other_start, other_stop = ends if names[0] is first else (*ends[2:], *ends[:2])
        for one, other in together(ours[start:stop], theirs[other_start:other_stop]):
            yield from both(one, other, above_a, above_b)


def parts(branches: list[Branch], above: str) -> list[Part]:
    """The parts of one level in their order."""
    found: dict[Any, Part] = {}
    for branch in branches:
        name, loop = name_below(branch.row.path, above), bool(branch.row.indices)
        if loop:
            name = stem_of(name)
        key = name if loop else branch.row.path, loop
        found.setdefault(key, Part(name, loop, [])).branches.append(branch)
    return list(found.values())


def together(a: list[Part], b: list[Part]) -> Iterator[tuple[Part | None, Part | None]]:
    """The parts of a stretch in pairs, loops with loops and others with others, in order; the rest are left alone."""
    partners = {}
    for loop in (True, False):
        mine, others = ([index for index, part in enumerate(side) if part.loop is loop] for side in (a, b))
        partners |= dict(zip(mine, others, strict=False))
    for index, part in enumerate(a):
        yield part, b[partners[index]] if index in partners else None
    taken = set(partners.values())
    for index, part in enumerate(b):
        if index not in taken:
            yield None, part


def both(a: Part | None, b: Part | None, above_a: str, above_b: str) -> Iterator[Pair]:
    """The pairs of one part; iterations of loops meet by their index, and a row that stands for several is cut."""
    if not ((a or b) and (a or b).loop):  # type: ignore[union-attr]
        yield pair_of(a and a.branches[0], b and b.branches[0], above_a, above_b)
        return
    in_a, in_b = ([] if part is None else part.branches for part in (a, b))
    runs: dict[tuple[int | None, int | None], list[int]] = {}
    of_a, of_b = by_index(in_a), by_index(in_b)
    for index in sorted(of_a.keys() | of_b.keys()):
        runs.setdefault((of_a.get(index), of_b.get(index)), []).append(index)
    for (first, second), indices in runs.items():
        one, other = None if first is None else in_a[first], None if second is None else in_b[second]
        yield pair_of(one and cut(one, indices), other and cut(other, indices), above_a, above_b)


def by_index(branches: list[Branch]) -> dict[int, int]:
    """Which of the rows stands for each iteration of a loop."""
    return {index: number for number, branch in enumerate(branches) for index in branch.row.indices}


def pair_of(a: Branch | None, b: Branch | None, above_a: str, above_b: str) -> Pair:
    names = [name_below(side.row.path, above) for side, above in ((a, above_a), (b, above_b)) if side]
    label = " → ".join(dict.fromkeys(names))
    if a is None or b is None:
        row = (a or b).row  # type: ignore[union-attr]
        return Pair(REMOVED if a else ADDED, a and a.row, b and b.row, row.depth, label)
    below = tuple(meet(a.below, b.below, a.row.path, b.row.path))
    same = alike(a.row, b.row) and all(each.change == EQUAL for each in below)
    return Pair(EQUAL if same else CHANGED, a.row, b.row, a.row.depth, label, below)


def alike(a: Row, b: Row) -> bool:
    """Whether two rows are equal in themselves: their kind, setting, output and figures."""
    return (a.kind, a.setting, sizes(a)) == (b.kind, b.setting, sizes(b)) and (
        (a.figures, a.training) == (b.figures, b.training)
    )


def sizes(row: Row) -> tuple[Any, ...] | None:
    """The sizes of a row's output; its layout is not stored in JSON."""
    return row.output_shape and row.output_shape.sizes


def name_below(path: str, above: str) -> str:
    return path.removeprefix(above).lstrip("./")


def stem_of(path: str) -> str:
    """The path of a row of iterations without their label."""
    return path[: path.rindex("[")]


def cut(branch: Branch, indices: list[int]) -> Branch:
    """The part of a row that stands for some of its iterations."""
    row = branch.row
    if len(indices) == len(row.indices):
        return branch
    path = stem_of(row.path) + indices_label(indices)
    piece = portion(branch, path, row.path, len(indices), len(row.indices), indices[0] == row.indices[0])
    return piece._replace(row=piece.row._replace(indices=tuple(indices)))


def portion(branch: Branch, path: str, whole: str, kept: int, iterations: int, first: bool) -> Branch:
    """A branch for `kept` of its iterations, below `path` in place of `whole`; the first has what all of them share."""
    below = [portion(each, path, whole, kept, iterations, first) for each in branch.below]
    row = branch.row

    def figures(found: Any, inside: list[Any]) -> Any:
        if found is None or inside:
            return found and type(found).total(inside)
        return found._make(part(name, each) for name, each in found._asdict().items())

    def part(name: str, figure: Any) -> Any:
        if figure is None:
            return None
        each = 0 if name in STORED and row.copies % iterations else figure // iterations
        return figure - each * (iterations - kept) if first else each * kept

    row = row._replace(
        path=path + row.path.removeprefix(whole),
        repeat=row.repeat * kept // iterations,
        copies=row.copies * kept // iterations,
        figures=figures(row.figures, [each.row.figures for each in below]),
        training=figures(row.training, [each.row.training for each in below]),
    )
    return Branch(row, below)
