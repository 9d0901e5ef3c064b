"""What was counted as a sheet: its columns, and the rows of the tree down to a depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paramcount.cost.figures import FIGURES, Figures, Row, TrainingFigures
from paramcount.cost.outline import outline
from paramcount.errors import ArgumentError
from paramcount.render.sheet import Heading, Sheet, bar, percent

if TYPE_CHECKING:
    from paramcount.cost.counted import Counted


def times(repeat: int) -> str:
    """How often a row stands there, where that is more than once."""
    return f"×{repeat}" if repeat > 1 else ""


DESCRIBING = {  # the columns that are not figures
    "layer": Heading("layer", "layer", wide=18, cut=True),
    "kind": Heading("kind", "kind", drop=2, cut=True),
    "setting": Heading("setting", "setting", drop=3, cut=True, if_any=True),
    "output": Heading("output", "output", drop=7),
    "repeat": Heading("repeat", "×N", times, drop=5, if_any=True),
    "share": Heading("share", "share", percent, right=True, drop=4),
    "bar": Heading("bar", "", bar, drop=1, colour="36"),
    "note": Heading("note", "note", drop=8, wide=14, cut=True, if_any=True),
}
DROPPED = {"weights": 6}


def sheet_of(counted: Counted, depth: int, columns: Sequence[str] | None, sort: str | None) -> Sheet:
    """The sheet of what was counted; columns that the user chose are all shown."""
    if not counted.single:
        raise ArgumentError("the variants of a sweep need a table each", hint="count one variant, and print that")
    names = [*DESCRIBING, *Figures._fields, *counted.extra]
    order = ordering(known(sort, names), counted) if sort else None
    chosen = [known(name, names) for name in columns or ()]
    lines = outline(counted.rows, depth, order)  # with the name of each row below its parent
    headings = [heading(name) for name in chosen or counted.usual]
    if chosen:
        headings = [each._replace(drop=0, if_any=False) for each in headings]
    for name in chosen:
        check(name, counted)
    most = max([row.get("macs") or 0 for _, row in lines], default=0)
    rows = []
    for label, row in lines:
        macs = row.get("macs")
        described = {
            "layer": "  " * (row.depth - 1) + label,
            "output": row.output_shape,
            "share": None if macs is None or counted.totals.macs is None else (macs, counted.totals.macs),
            "bar": None if macs is None else (macs, most),
        }
        rows.append([described[each.name] if each.name in described else value(row, each.name) for each in headings])
    below = [*counted.notes, counted.convention]
    return Sheet(counted.title, headings, rows, counted.statement(), below, counted.to_dict)


def heading(name: str) -> Heading:
    if name in DESCRIBING:
        return DESCRIBING[name]
    return Heading(name, FIGURES[name].title, FIGURES[name].write, right=True, drop=DROPPED.get(name, 0))


def value(row: Row, name: str) -> Any:
    return row.get(name) if name in FIGURES else getattr(row, name)


def known(name: str, names: Sequence[str]) -> str:
    """The column with a name, as the table or as JSON writes it; raises ArgumentError for an unknown one."""
    plain = name.strip().lower()
    for key in names:
        if plain and plain in (key, heading(key).title.lower()):
            return key
    from paramcount.errors.suggest import unknown

    raise unknown("column", name, names)


def check(name: str, counted: Counted) -> None:
    """Raises ArgumentError for a figure of training if inference was counted."""
    if counted.training is None and name in TrainingFigures._fields:
        raise counted.unknown(name)


def ordering(name: str, counted: Counted) -> Callable[[Row], Any]:
    """The key that rows are sorted by: texts alphabetically, numbers from the largest, unknown ones last."""
    check(name, counted)
    if name in ("kind", "setting", "note"):
        return lambda row: getattr(row, name)
    if name == "layer":
        return lambda row: row.path
    if name == "output":
        return lambda row: -row.output_shape.elements if row.output_shape else 0
    figure = "macs" if name in ("share", "bar") else name

    def key(row: Row) -> tuple[bool, int]:
        found = value(row, figure)
        return found is None, -(found or 0)

    return key
