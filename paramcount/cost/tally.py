"""From what is found at paths to the rows of a report: one for each scope, in the order in which they are entered."""

from __future__ import annotations

from collections import Counter

from paramcount.cost.figures import Figures, Phases, Row
from paramcount.cost.traced import REST, Trace
from paramcount.layers.layer import Shape, Work
from paramcount.numbers.arithmetic import ceil_div

Path = tuple[str, ...]
ROLES = ("weight", "bias", "norm", "buffer")


class Cell:
    """What has been found at one path: work by phase, what did it, and the parameters that are read there."""

    def __init__(self) -> None:
        self.macs: Counter[str] = Counter()  # by phase
        self.elementwise = 0
        self.most = (-1, -1)
        self.kind = "scope"
        self.times: set[int] = set()
        self.shape: Shape | None = None
        self.notes: dict[str, None] = {}
        self.sizes: Counter[str] = Counter()  # of parameters, by role
        self.size_in_bytes = 0

    def work(
        self, phase: str, kind: str, macs: int, elementwise: int, times: int, shape: Shape | None, note: str
    ) -> None:
        """Add an operation that runs `times` times; the work is that of all of them."""
        self.macs[f"{phase}_macs"] += macs
        self.elementwise += elementwise
        if note:
            self.notes[note] = None
        weight = (macs, elementwise)
        if phase == "forward" and (weight > self.most or (macs and macs == self.most[0])):
            self.shape = shape  # the last of the largest, so that the shape is that of what leaves
        if weight > self.most:
            self.most, self.kind = weight, kind
        if macs:
            self.times.add(times)

    def parameter(self, role: str, size: int, bits: int) -> None:
        """Add a parameter of `size` elements; a buffer is not among the bytes."""
        self.sizes[role] += size
        if role != "buffer":
            self.size_in_bytes += ceil_div(size * bits, 8)

    def row(self, path: Path, depth: int, named: bool) -> Row:
        [repeat] = self.times if len(self.times) == 1 else (1,)
        kind = "parameters" if self.kind == "scope" and self.sizes else self.kind
        phases = Phases(**self.macs)
        macs = sum(phases)
        unknown = dict.fromkeys(("trainable", "tables", "active_params", "activations"))
        weight, bias, norm, buffer = (self.sizes[role] if named else None for role in ROLES)
        figures = Figures(
            params=weight + bias + norm if named else None,  # type: ignore[operator]
            weights=weight,
            biases=bias,
            norms=norm,
            buffers=buffer,
            macs=macs,
            flops=Work(macs).flops,
            elementwise=self.elementwise,
            param_bytes=self.size_in_bytes if named else None,
            **unknown,
        )
        return row(path, kind, depth, figures, phases, self.shape, max(repeat, 1), "; ".join(self.notes), True)


class Tallies:
    """The cells of all paths. `named` says whether it is known which arrays are parameters."""

    def __init__(self, named: bool) -> None:
        self.named = named
        self.cells: dict[Path, Cell] = {}

    def cell(self, path: Path) -> Cell:
        return self.cells.setdefault(path, Cell())

    def trace(self, name: str, uncounted: tuple[str, ...]) -> Trace:
        """The report under a name, which is also the path of a function without scopes."""
        tree = Branch()
        for path, cell in self.cells.items():
            tree.at(path).cell = cell
        if not tree.inner:
            tree, only = Branch(), tree
            only.cell = only.cell or Cell()
            tree.inner[name] = only
        rows = tree.rows((), 0, self.named)
        totals, phases = summed(rows)
        return Trace(name, totals, tuple(rows), phases, uncounted)


class Branch:
    """A scope: what stands in it, and the scopes inside it by name."""

    def __init__(self) -> None:
        self.cell: Cell | None = None
        self.inner: dict[str, Branch] = {}

    def at(self, path: Path) -> Branch:
        branch = self
        for name in path:
            branch = branch.inner.setdefault(name, Branch())
        return branch

    def rows(self, path: Path, depth: int, named: bool) -> list[Row]:
        """The scope's own row, if it is not the whole, and those below it."""
        if not self.inner:
            assert self.cell is not None
            return [self.cell.row(path, depth, named)]
        below = [row for name, branch in self.inner.items() for row in branch.rows((*path, name), depth + 1, named)]
        if self.cell:
            below.append(self.cell.row((*path, REST), depth + 1, named))
        return [row(path, "scope", depth, *summed(below)), *below] if path else below


def summed(rows: list[Row]) -> tuple[Figures, Phases]:
    """The sums of the leaves among some rows."""
    leaves = [row for row in rows if row.leaf]
    phases = [row.training for row in leaves]
    return Figures.total([row.figures for row in leaves]), Phases.total(phases)


def row(
    path: Path,
    kind: str,
    depth: int,
    figures: Figures,
    phases: Phases,
    shape: Shape | None = None,
    repeat: int = 1,
    note: str = "",
    leaf: bool = False,
) -> Row:
    return Row("/".join(path), kind, "", shape, repeat, depth, note, leaf, False, figures, training=phases)
