"""What `trace` returns: the work of a traced function by scope and by phase of training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paramcount.cost.counted import Counted
from paramcount.cost.figures import FIGURES, Figures, Phases, Row
from paramcount.cost.report import MACS, USUAL
from paramcount.graph.network import Subject
from paramcount.numbers.units import number_of

REST = "(rest)"  # the row of what is in a scope but in none of the scopes inside it


@dataclass(frozen=True, repr=False)
class Trace(Counted):
    """What a traced function costs. `macs` are those of all phases: forward, backward, recomputed, update.

    Without gradients all are forward; recomputed is what `jax.checkpoint` computes again, update what an optimizer
    multiplies. `uncounted` lists what could not be counted, which is in no figure. The `repeat` of a row is how many
    times loops run it.
    """

    subject: Subject
    totals: Figures
    rows: tuple[Row, ...]
    phases: Phases
    uncounted: tuple[str, ...] = ()

    @property
    def basis(self) -> str:
        return "as traced"

    @property
    def extra(self) -> Sequence[str]:
        return Phases._fields

    @property
    def training(self) -> Phases:
        return self.phases

    @property
    def model_macs(self) -> int:
        """The MACs without those recomputed."""
        return self.macs - self.recomputed_macs

    @property
    def convention(self) -> str:
        line = f"{self.basis}; {MACS}; FLOPs = 2 × MACs; elementwise apart"
        if self.uncounted:
            line += f"; NOT counted: {number_of(len(self.uncounted), 'operation')}"
        return line

    @property
    def notes(self) -> Sequence[str]:
        return [f"not counted: {each}" for each in self.uncounted]

    @property
    def usual(self) -> Sequence[str]:
        """The usual columns: those of parameters and of phases only if there are any."""
        left_out = {"setting", "weights"} | (set() if self.totals.params or self.totals.buffers else {"params"})
        names = [name for name in USUAL if name not in left_out]
        at = names.index("macs") + 1
        return (*names[:at], *self.shown_phases, *names[at:])

    @property
    def shown_phases(self) -> list[str]:
        """The phases with MACs, if there are others than the forward one."""
        found = [name for name, macs in self.phases._asdict().items() if macs]
        return [] if found == ["forward_macs"] else found

    @property
    def levels(self) -> int:
        return opening(self.rows)

    def reason(self, name: str) -> str:
        if name in ("params", "weights", "biases", "norms", "buffers", "param_bytes"):
            return "say which arrays are parameters: trace(function, params, x, params=params)"
        return "a traced program does not show it"

    def statement(self) -> list[tuple[str, int | None, Any]]:
        macs = "MACs counted" if self.uncounted else "MACs"
        lines = [(macs, "macs"), *[(f"  {FIGURES[name].title}", name) for name in self.shown_phases]]
        lines += [(FIGURES[name].label, name) for name in ("flops", "elementwise")]
        lines += [(FIGURES[name].label, name) for name in ("params", "param_bytes") if self.totals.params]
        lines += [(FIGURES[name].label, name) for name in ("buffers",) if self.totals.buffers]
        return [(label, self.get(name), FIGURES[name].unit) for label, name in lines]

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"uncounted": list(self.uncounted)}


def opening(rows: Sequence[Row]) -> int:
    """The outermost level with more than one row, or else the innermost level."""
    deepest = max((row.depth for row in rows), default=1)
    named = [row.depth for row in rows if not row.path.endswith(REST)]
    return next((level for level in range(1, deepest) if named.count(level) > 1), deepest)
