"""The report of a traced function: rows by scope, with the passes of training apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

from paramcount.cost.count import Report
from paramcount.cost.figures import Row

REST = "(rest)"  # the name of what stands in a scope and in none of the scopes inside it


class Passes(NamedTuple):
    """The MACs of one row by pass, in the place of a row's element, which is asked for its setting."""

    forward: int = 0
    backward: int = 0
    recomputed: int = 0

    @property
    def setting(self) -> str:
        return ""


NO_WORK = Passes()


class TracedRow(Row):
    """A scope, or the work in it beside its inner scopes. `repeat` is how many times loops run it."""

    __slots__ = ()

    forward_macs = property(attrgetter("element.forward"))
    backward_macs = property(attrgetter("element.backward"))
    recomputed_macs = property(attrgetter("element.recomputed"))


@dataclass(frozen=True)
class Trace(Report):
    """What a traced function costs. `macs` are `forward_macs` + `backward_macs` + `recomputed_macs`.

    All are forward in a function without gradients; recomputed is what `jax.checkpoint` does again. `uncounted` says
    what could not be counted and is in no figure.
    """

    entries: Sequence[TracedRow] = field(repr=False)  # type: ignore[assignment]
    passes: Passes = NO_WORK
    uncounted: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> tuple[TracedRow, ...]:  # type: ignore[override]
        return tuple(self.entries)

    forward_macs = property(attrgetter("passes.forward"))
    backward_macs = property(attrgetter("passes.backward"))
    recomputed_macs = property(attrgetter("passes.recomputed"))

    @property
    def model_macs(self) -> int:
        """The MACs without those recomputed."""
        return self.macs - self.recomputed_macs

    @property
    def convention(self) -> str:
        """What the figures mean, in one line."""
        line = "as traced; MACs of contractions, padded taps count; FLOPs = 2 × MACs; elementwise apart"
        if self.uncounted:
            line += f"; NOT counted: {len(self.uncounted)} operation{'s' if len(self.uncounted) > 1 else ''}"
        return line

    def __str__(self) -> str:
        from paramcount.render.trace import render

        return render(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as raw integers, ready for JSON."""
        from paramcount.render.json import to_dict

        found = to_dict(self)
        for values, row in zip(found["rows"], self.rows, strict=True):
            values.update(by_pass(row.element), note=row.note)
        found["totals"].update(by_pass(self.passes))
        return found | {"uncounted": list(self.uncounted)}


def by_pass(passes: Passes) -> dict[str, int]:
    return {f"{name}_macs": getattr(passes, name) for name in ("forward", "backward", "recomputed")}
