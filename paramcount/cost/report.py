"""What `count` returns: every figure of every row of a network, and their totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from paramcount.cost.counted import Counted
from paramcount.cost.figures import FIGURES, Figures, Row, TrainingFigures
from paramcount.cost.walk import Entry, rows_of
from paramcount.graph.network import Subject
from paramcount.numbers.arithmetic import Size
from paramcount.numbers.units import binary, decimal, number_of

if TYPE_CHECKING:
    from paramcount.cost.step import TrainStep

MACS = "MACs include padding"
USUAL = ("layer", "kind", "setting", "output", "repeat", "params", "weights", "macs", "share", "bar", "note")
IN_TRAINING = ("layer", "kind", "setting", "output", "repeat", "params", "macs", "backward_macs", "train_macs", "note")
WITH_REMAT = (*IN_TRAINING[:-2], "recomputed_macs", *IN_TRAINING[-2:])
STATED = ("weights", "tables", "biases", "norms", "params", "active_params", "trainable", "buffers")
STATED += ("macs", "flops", "elementwise", "activations", "param_bytes")  # the totals in their order
IF_ANY = ("tables", "recomputed_macs")  # totals that are left out if they are 0


@dataclass(frozen=True, repr=False)
class Report(Counted):
    """What a network costs. Work and activations are those of the whole batch; `kv_cache` is a number of tokens.

    `warnings` say what is odd in the network but not wrong, such as work that reaches no output.
    """

    subject: Subject
    totals: Figures
    entries: Sequence[Entry]
    batch: Size = 1
    dtype: str = "float32"
    step: TrainStep | None = None
    attention: str = "dense"
    kv_cache: Size | None = None
    kv_cache_bytes: Size | None = None
    warnings: Sequence[str] = ()

    @cached_property
    def rows(self) -> tuple[Row, ...]:  # type: ignore[override]
        return tuple(rows_of(self.entries, self.step))

    def __getstate__(self) -> dict[str, Any]:
        """What a copy has: the rows, and not the tree that they are made from."""
        step = None if self.step is None else replace(self.step, leaves={})
        return self.__dict__ | {"rows": self.rows, "entries": (), "step": step}

    @property
    def training(self) -> TrainingFigures | None:
        return None if self.step is None else self.step.totals

    @property
    def basis(self) -> str:
        return self.subject.examples(self.batch)

    @property
    def convention(self) -> str:
        masks = "" if self.attention == "dense" else ", attention counts the pairs that causal and window leave"
        counted = f"{self.basis}; {MACS}{masks}; FLOPs = 2 × MACs; {self.dtype}"
        return counted if self.step is None else f"{counted}; {self.step.convention}"

    @property
    def usual(self) -> Sequence[str]:
        return USUAL if self.step is None else WITH_REMAT if self.step.remat else IN_TRAINING

    def reason(self, name: str) -> str:
        return "a figure of `trace`" if name in ("forward_macs", "update_macs") else "it was not counted"

    def statement(self) -> list[tuple[str, int | None, Any]]:
        lines = []
        leaves = [row for row in self.rows if row.leaf]
        stored_only = sum(row.params for row in leaves if row.stored_only)
        training_only = sum(row.params for row in leaves if row.training_only and not row.stored_only)
        for name in (*STATED, *(self.extra if self.training else ())):
            total, shown = self.get(name), FIGURES[name]
            if not ((name in IF_ANY and total == 0) or (name == "active_params" and total == self.totals.params)):
                label = shown.label.format(self.step.optimizer if self.step else "")
                lines.append((label, total, shown.unit))
            if name == "params" and training_only:
                lines.append(("  of which training only", training_only, decimal))
            if name == "params" and stored_only:
                lines.append(("  of which stored only", stored_only, decimal))
            if name == "param_bytes" and self.kv_cache is not None:
                lines.append(
                    (f"bytes of the KV cache, {number_of(self.kv_cache, 'token')}", self.kv_cache_bytes, binary)
                )
            if name == "train_flops" and self.step:
                lines.append(("elementwise: softmax cross entropy", self.step.loss_elementwise, decimal))
        return lines

    def all_totals(self) -> dict[str, Any]:
        found = super().all_totals()
        if self.step is not None:
            found["loss_elementwise"] = self.step.loss_elementwise
        if self.kv_cache is not None:
            found["kv_cache_bytes"] = self.kv_cache_bytes
        return found

    def to_dict(self) -> dict[str, Any]:
        found = super().to_dict()
        if self.warnings:
            found["warnings"] = list(self.warnings)
        return found

    def _repr_html_(self) -> str | None:
        return super()._repr_html_() if self.single else None  # a sweep would need many tables
