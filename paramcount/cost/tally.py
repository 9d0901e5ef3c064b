"""The rows of a trace: operations and parameters are tallied by their scope, and each scope becomes a row."""

from __future__ import annotations

from collections import Counter

from paramcount.cost.figures import Figures, Phases, Row
from paramcount.cost.traced import REST, Trace
from paramcount.graph.network import Subject
from paramcount.layers.layer import Shape, Work
from paramcount.numbers.arithmetic import ceil_div

Path = tuple[str, ...]
ROLES = ("weight", "bias", "norm", "buffer")


class Tally:
    """The operations and parameters directly in one scope: their work by phase, and their sizes by role."""

    def __init__(self) -> None:
        self.macs: Counter[str] = Counter()  # by phase
        self.elementwise = 0
        self.most = (-1, -1)  # the MACs and elementwise operations of the largest operation, which gives the kind
        self.kind = "scope"
        self.times: set[int] = set()
        self.shape: Shape | None = None
        self.notes: dict[str, None] = {}
        self.sizes: Counter[str] = Counter()  # of parameters, by role
        self.size_in_bytes = 0

    def work(
        self, phase: str, kind: str, macs: int, elementwise: int, times: int, shape: Shape | None, note: str
    ) -> None:
        """Add an operation that runs `times` times; `macs` and `elementwise` are those of all runs."""
        self.macs[f"{phase}_macs"] += macs
        self.elementwise += elementwise
        if note:
            self.notes[note] = None
        weight = (macs, elementwise)
        if phase == "forward" and (weight > self.most or (macs and macs == self.most[0])):
            self.shape = shape  # of the last of the largest, which is the scope's output
        if weight > self.most:
            self.most, self.kind = weight, kind
        if macs:
            self.times.add(times)

    def parameter(self, role: str, size: int, bits: int) -> None:
        """Add a parameter of `size` elements; buffers do not count as bytes of parameters."""
        self.sizes[role] += size
        if role != "buffer":
            self.size_in_bytes += ceil_div(size * bits, 8)

    def row(self, path: Path, depth: int, named: bool) -> Row:
        [repeat] = self.times if len(self.times) == 1 else (1,)
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
        return Row(
            path="/".join(path),
            kind="parameters" if self.kind == "scope" and self.sizes else self.kind,
            depth=depth,
            figures=figures,
            output_shape=self.shape,
            repeat=max(repeat, 1),
            note="; ".join(self.notes),
            leaf=True,
            training=phases,
        )


class Tallies:
    """The tallies of all scopes by path. `named` says whether it is known which arrays are parameters."""

    def __init__(self, named: bool) -> None:
        self.named = named
        self.by_path: dict[Path, Tally] = {}

    def at(self, path: Path) -> Tally:
        return self.by_path.setdefault(path, Tally())

    def trace(self, name: str, uncounted: tuple[str, ...]) -> Trace:
        """The report under a name, which is also the path of a function without scopes."""
        tree = Scope()
        for path, tally in self.by_path.items():
            tree.at(path).own = tally
        if not tree.inner:
            tree, only = Scope(), tree
            only.own = only.own or Tally()
            tree.inner[name] = only
        rows = tree.rows((), 0, self.named)
        totals, phases = summed(rows)
        return Trace(Subject(name), totals, tuple(rows), phases, uncounted)


class Scope:
    """A scope: its own tally, if anything is directly in it, and the scopes inside it by name."""

    def __init__(self) -> None:
        self.own: Tally | None = None
        self.inner: dict[str, Scope] = {}

    def at(self, path: Path) -> Scope:
        scope = self
        for name in path:
            scope = scope.inner.setdefault(name, Scope())
        return scope

    def rows(self, path: Path, depth: int, named: bool) -> list[Row]:
        """The scope's own row, unless it is the whole function, and those below it."""
        if not self.inner:
            assert self.own is not None
            return [self.own.row(path, depth, named)]
        below = [row for name, scope in self.inner.items() for row in scope.rows((*path, name), depth + 1, named)]
        if self.own:
            below.append(self.own.row((*path, REST), depth + 1, named))
        if not path:
            return below
        figures, phases = summed(below)
        return [Row("/".join(path), "scope", depth, figures, training=phases), *below]


def summed(rows: list[Row]) -> tuple[Figures, Phases]:
    """The sums of the leaves among some rows."""
    leaves = [row for row in rows if row.leaf]
    return Figures.total([row.figures for row in leaves]), Phases.total([row.training for row in leaves])
