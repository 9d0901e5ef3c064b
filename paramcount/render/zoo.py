"""What is shipped, as a table that fits the terminal, or as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from paramcount.cost.zoo import CONVENTION, Shipped
from paramcount.numbers.units import decimal, grouped
from paramcount.render import terminal
from paramcount.render.columns import aligned, fit, wrapped

SCHEMA = 1
COLUMNS = {
    "name": lambda entry: entry.name,
    "variant": lambda entry: entry.variant or "",
    "params": lambda entry: grouped(entry.params),
    "weights": lambda entry: grouped(entry.weights),
    "buffers": lambda entry: grouped(entry.buffers),
    "MACs": lambda entry: decimal(entry.macs),
    "reference": lambda entry: entry.reference or "",
    "source": lambda entry: entry.source,
}
RIGHT = ("params", "weights", "buffers", "MACs")
DROPPED = ("source", "reference", "buffers", "weights", "MACs", "params")  # the least important first
SHORTENED = {"reference": 28, "variant": 16, "name": 14}  # columns of text, and how wide they stay


def table(entries: Sequence[Shipped], width: int | None = None, encoding: str | None = None) -> str:
    """A line for each entry, and the convention; `width` and `encoding` are by default the terminal's."""
    encoding, width = encoding or terminal.encoding(), width or terminal.width()
    cells = {title: [terminal.written(write(entry), encoding) for entry in entries] for title, write in COLUMNS.items()}
    fit(cells, {title: title for title in cells}, width, encoding, DROPPED, SHORTENED)
    sides = ["right" if title in RIGHT else "left" for title in cells]
    lines = aligned([list(cells), *zip(*cells.values(), strict=True)], sides)
    return f"{lines}\n\n{terminal.written(wrapped(CONVENTION, width), encoding)}"


def json(entries: Sequence[Shipped]) -> str:
    """The same as JSON: raw integers, and `null` where a spec has no variant or stands for no model."""
    from json import dumps

    return dumps(
        {"schema": SCHEMA, "convention": CONVENTION, "specs": [entry._asdict() for entry in entries]}, indent=1
    )
