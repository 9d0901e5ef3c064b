"""The rows of a sweep that are shown, and a summary of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from paramcount.cost.report import MACS
from paramcount.numbers.units import grouped
from paramcount.render.sheet import SCHEMA, Heading, Sheet
from paramcount.sweeps.result import Sweep

USUAL = ("params", "macs", "activations")
CONVENTION = f"one example each; {MACS}; FLOPs = 2 × MACs; float32"
MOST_REASONS = 3


class Tried(NamedTuple):
    """The number of variants, of those kept, and of those that are not valid networks, by reason."""

    points: int
    kept: int
    reasons: dict[str, int]


def sheet(found: Sweep, columns: Sequence[str], tried: Tried, chosen: bool = False) -> Sheet:
    """A line for each row with the given columns, which are all shown if they were chosen, and a summary of all."""
    entries = [name for name in reversed(columns) if "[" in name]  # of lists, which a file can hold
    dropped = entries + [name for name in reversed(columns) if name not in found.variables]
    headings = [
        Heading(
            name,
            name,
            shown,
            right=found.columns[name].dtype != object,
            drop=dropped.index(name) + 1 if name in dropped and not chosen else 0,
        )
        for name in (columns if len(found) else ())
    ]
    rows = list(zip(*(found.columns[each.name].tolist() for each in headings), strict=True))

    def data() -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            **found.space.subject.to_dict(),
            "convention": CONVENTION,
            "variants": tried.points,
            "kept": tried.kept,
            "invalid": tried.reasons,
            "rows": [dict(zip(columns, row, strict=True)) for row in rows],
        }

    return Sheet(str(found.space.subject), headings, rows, (), [*summary(tried, len(found)), CONVENTION], data)


def summary(tried: Tried, shown_rows: int) -> list[str]:
    """The number of variants, and why some are not valid networks."""
    lines = [f"{grouped(tried.points)} variants, {grouped(tried.kept)} kept, {grouped(shown_rows)} shown"]
    for reason, rows in sorted(tried.reasons.items(), key=lambda each: -each[1])[:MOST_REASONS]:
        first, *_ = reason.splitlines()
        lines.append(f"{grouped(rows)} invalid: {first}")
    if len(tried.reasons) > MOST_REASONS:
        lines.append(f"and {len(tried.reasons) - MOST_REASONS} more reasons, in the column `error` of a file")
    return lines


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return grouped(value) if isinstance(value, int) and abs(value) >= 10_000 else str(value)
