"""The rows of a sweep that are shown, and a summary of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from paramcount.cost.figures import FIGURES
from paramcount.cost.report import MACS
from paramcount.numbers.units import grouped
from paramcount.render.sheet import PROGRAMS, SCHEMA, Heading, Sheet

if TYPE_CHECKING:
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
    """A line for each row with the given columns, and a summary of all.

    If the columns were chosen, all of them are shown; otherwise some may be left out, and programs get all there are.
    """
    entries = [name for name in reversed(columns) if "[" in name]  # of lists, which a file can hold
    dropped = [] if chosen else entries + [name for name in reversed(columns) if name not in found.variables]
    headings = [heading(found, name, dropped.index(name) + 1 if name in dropped else 0) for name in columns]
    if not chosen:
        headings += [heading(found, name, reader=PROGRAMS) for name in found.columns if name not in columns]
    headings = headings if len(found) else []
    rows = list(zip(*(found.columns[each.name].tolist() for each in headings), strict=True))

    def data() -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            **found.space.subject.to_dict(),
            "convention": CONVENTION,
            "variants": tried.points,
            "kept": tried.kept,
            "invalid": tried.reasons,
            "rows": [{each.name: value for each, value in zip(headings, row, strict=True)} for row in rows],
        }

    return Sheet(str(found.space.subject), headings, rows, (), [*summary(tried, len(found)), CONVENTION], data)


def heading(found: Sweep, name: str, drop: int = 0, reader: str = "") -> Heading:
    """A column of figures as it is elsewhere, or one of the values of a variable."""
    right = found.columns[name].dtype != object
    if name in FIGURES and name not in found.variables:
        return Heading(name, FIGURES[name].title, FIGURES[name].write, right, drop, reader=reader)
    return Heading(name, name, shown, right, drop, reader=reader)


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
