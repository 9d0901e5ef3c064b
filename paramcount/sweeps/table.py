"""Rows of a sweep as a table that fits the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paramcount.cost.count import MACS
from paramcount.numbers.units import grouped
from paramcount.render import terminal
from paramcount.render.columns import aligned, fit, wrapped
from paramcount.sweeps.result import Sweep

USUAL = ("params", "macs", "activations")


def table(found: Sweep, columns: Sequence[str], width: int | None = None, encoding: str | None = None) -> str:
    """A line for each row, of the columns named."""
    encoding, width = encoding or terminal.encoding(), width or terminal.width()
    cells = {
        name: [terminal.written(shown(value), encoding) for value in found.columns[name].tolist()] for name in columns
    }
    entries = [name for name in reversed(columns) if "[" in name]  # of lists; a file holds them all
    dropped = entries + [name for name in reversed(columns) if name not in found.variables]
    fit(cells, {name: name for name in cells}, width, encoding, dropped, {})
    sides = ["left" if found.columns[name].dtype == object else "right" for name in cells]
    return aligned([list(cells), *zip(*cells.values(), strict=True)], sides)


def summary(points: int, kept: int, shown_rows: int, reasons: dict[str, int], dtype: str = "float32") -> str:
    """How many variants there are, why some are none, and what the figures mean."""
    width, encoding = terminal.width(), terminal.encoding()
    lines = [f"{grouped(points)} variants, {grouped(kept)} kept, {grouped(shown_rows)} shown"]
    for reason, rows in sorted(reasons.items(), key=lambda each: -each[1])[:3]:
        first, *_ = reason.splitlines()
        lines.append(f"{grouped(rows)} invalid: {first}")
    if len(reasons) > 3:
        lines.append(f"and {len(reasons) - 3} more reasons, in the column `error` of a file")
    lines.append(f"per example; {MACS}; FLOPs = 2 × MACs; {dtype}")
    return terminal.written("\n".join(wrapped(line, width) for line in lines), encoding)


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return grouped(value) if isinstance(value, int) and abs(value) >= 10_000 else str(value)
