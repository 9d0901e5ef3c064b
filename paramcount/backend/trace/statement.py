"""From the tallies of a walk to the rows of a report: one for each scope, in the order in which scopes are entered."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any

from paramcount.backend.trace.parameters import Parameter
from paramcount.backend.trace.scopes import PHASES, Stacks, standing
from paramcount.backend.trace.walker import Tally
from paramcount.cost.figures import Figures
from paramcount.cost.traced import REST, Passes, Trace, TracedRow
from paramcount.layers.layer import Shape, Work
from paramcount.numbers.units import BITS

EQUINOX = "eqx."  # its layers' scopes are class names, the same for all layers of a class
Path = tuple[str, ...]


class Cell:
    """What has been found at one path: work by phase, the primitives that do it, and the parameters read there."""

    def __init__(self) -> None:
        self.macs: Counter[str] = Counter()
        self.elementwise = 0
        self.kinds: Counter[str] = Counter()
        self.most = (-1, -1)
        self.kind = "scope"
        self.times: set[int] = set()
        self.shape: Shape | None = None
        self.notes: dict[str, None] = {}
        self.parameters: list[Parameter] = []

    def add(self, tally: Tally, phase: str) -> None:
        self.macs[phase] += tally.macs
        self.elementwise += tally.elementwise
        if tally.note:
            self.notes[tally.note] = None
        weight = (tally.macs, tally.elementwise)
        if phase == "forward" and (weight > self.most or (tally.macs and tally.macs == self.most[0])):
            # the last of the largest, so that the shape is that of the output
            self.shape = shape_of(tally)
        if weight > self.most:
            self.most, self.kind = weight, tally.primitive
        if tally.macs:
            self.times.add(tally.times)

    @property
    def passes(self) -> Passes:
        return Passes(*(self.macs[phase] for phase in PHASES))

    @property
    def figures(self) -> Figures:
        macs = sum(self.macs.values())
        sizes = Counter()
        size_in_bytes = 0
        for each in self.parameters:
            sizes[each.role] += each.size
            if each.role != "buffer":
                size_in_bytes += -(-each.size * bits(each.dtype) // 8)
        params = sizes["weight"] + sizes["bias"] + sizes["norm"]
        return Figures(
            params=params,
            trainable=params,
            weights=sizes["weight"],
            biases=sizes["bias"],
            norms=sizes["norm"],
            buffers=sizes["buffer"],
            active_params=params,
            macs=macs,
            flops=Work(macs).flops,
            elementwise=self.elementwise,
            param_bytes=size_in_bytes,
        )

    def row(self, path: Path, depth: int) -> TracedRow:
        [repeat] = self.times if len(self.times) == 1 else (1,)
        note = "; ".join(self.notes)
        kind = "parameters" if self.kind == "scope" and self.parameters else self.kind
        return row(path, kind, depth, self.figures, self.passes, self.shape, max(repeat, 1), note, True)


class Statement:
    """The cells by path, and the report made of them."""

    def __init__(self, tallies: list[Tally], reads: dict[Parameter, Stacks], parameters: list[Parameter]) -> None:
        self.cells: dict[Path, Cell] = {}
        self.uncounted: list[str] = []
        placed = [(tally, *place(tally.stacks, tally.owner)) for tally in tallies]
        self.forward = {path[:end] for _, path, phase in placed if phase == "forward" for end in range(len(path) + 1)}
        for tally, path, phase in placed:
            path = self.known(path)
            if tally.uncounted:
                path = (*path, tally.primitive)
                self.uncounted.append(f"{'/'.join(path)}: {tally.note.removeprefix('uncounted: ')}")
            self.cell(path).add(tally, phase)
        for parameter in parameters:
            stacks = reads.get(parameter)
            path = parameter.module if stacks is None else self.known(place(stacks, parameter)[0])
            self.cell(path).parameters.append(parameter)

    def cell(self, path: Path) -> Cell:
        return self.cells.setdefault(path, Cell())

    def known(self, path: Path) -> Path:
        """The path of the forward pass: JAX repeats a scope around a loop's body in the backward pass."""
        if path in self.forward:
            return path
        shorter = tuple(name for name, _ in groupby(path))
        return shorter if shorter in self.forward else path

    def trace(self, name: str) -> Trace:
        """The report with a name, which is also the path of a function without scopes."""
        tree = Branch()
        for path, cell in self.cells.items():
            tree.at(path).cell = cell
        if not tree.inner:
            tree, only = Branch(), tree
            only.cell = only.cell or Cell()
            tree.inner[name] = only
        rows = tree.rows((), 0)
        leaves = [row for row in rows if row.leaf]
        return Trace(
            name=name,
            variant=None,
            vars={},
            totals=Figures.total([row.figures for row in leaves]),
            entries=tuple(rows),
            passes=together([row.element for row in leaves]),
            uncounted=tuple(self.uncounted),
        )


class Branch:
    """A scope: its own work, and the scopes inside it by name."""

    def __init__(self) -> None:
        self.cell: Cell | None = None
        self.inner: dict[str, Branch] = {}

    def at(self, path: Path) -> Branch:
        branch = self
        for name in path:
            branch = branch.inner.setdefault(name, Branch())
        return branch

    def rows(self, path: Path, depth: int) -> list[TracedRow]:
        """The scope's own row, if it is not the root, and those below it."""
        if not self.inner:
            assert self.cell is not None
            return [self.cell.row(path, depth)]
        below = [row for name, branch in self.inner.items() for row in branch.rows((*path, name), depth + 1)]
        if self.cell:
            below.append(self.cell.row((*path, REST), depth + 1))
        if not path:
            return below
        leaves = [row for row in below if row.leaf]
        figures, passes = Figures.total([row.figures for row in leaves]), together([row.element for row in leaves])
        return [row(path, "scope", depth, figures, passes), *below]


def row(
    path: Path,
    kind: str,
    depth: int,
    figures: Figures,
    passes: Passes,
    shape: Shape | None = None,
    repeat: int = 1,
    note: str = "",
    leaf: bool = False,
) -> TracedRow:
    return TracedRow("/".join(path), kind, passes, shape, repeat, depth, note, leaf, False, figures, "", ())


def place(stacks: Stacks, owner: Parameter | None) -> tuple[Path, str]:
    """The path of a row and the phase; if scopes do not distinguish layers, their parameters do."""
    path, phase = standing(stacks)
    if owner and owner.module and (not path or path[-1].startswith(EQUINOX)):
        path = (*(name for name in path if not name.startswith(EQUINOX)), *owner.module)
    return path, phase


def together(passes: list[Passes]) -> Passes:
    return Passes(*(sum(getattr(each, phase) for each in passes) for phase in PHASES))


def shape_of(tally: Tally) -> Shape | None:
    variables = getattr(tally.equation, "outvars", ())
    return Shape(tuple(getattr(variables[0].aval, "shape", ()))) if variables else None


def bits(dtype: Any) -> int:
    return BITS.get(dtype.name) or 8 * dtype.itemsize
