"""Measurements as a table: a line for each size of the batch, and what the figures mean."""

from __future__ import annotations

from textwrap import fill

from paramcount.backend.measure.result import Measurement, Measurements
from paramcount.errors import printable
from paramcount.numbers.units import binary, decimal, grouped
from paramcount.render import terminal
from paramcount.render.columns import aligned, fit

DROPPED = ("runs", "MACs", "quartiles", "examples/s")  # where the terminal is narrow, the least important first


def render(found: Measurements, *, width: int | None = None, encoding: str | None = None) -> str:
    """The table, and what its columns mean."""
    encoding, width = encoding or terminal.encoding(), width or terminal.width()
    lines = [{name: terminal.written(text, encoding) for name, text in line(row).items()} for row in found.rows]
    cells = {name: [each[name] for each in lines] for name in lines[0]}
    fit(cells, {name: name for name in cells}, width, encoding, DROPPED, {})
    table = aligned([list(cells), *zip(*cells.values(), strict=True)], ["right"] * len(cells))
    parts = [printable(found.name), table, fill(found.explained(cells), width)]
    return "\n\n".join(part if part is table else terminal.written(part, encoding) for part in parts)


def line(row: Measurement) -> dict[str, str]:
    """A row's cells by their titles."""
    return {
        "batch": grouped(row.batch),
        "time": duration(row.seconds),
        "quartiles": f"{duration(row.low)} – {duration(row.high)}",
        "runs": grouped(row.repeats),
        "examples/s": decimal(round(row.examples_per_second)),
        "MACs": decimal(row.macs),
        "FLOP/s": decimal(round(row.rate)),
        "share": f"{row.share:.1%}",
        "predicted": binary(row.predicted_bytes),
        "compiled": binary(row.compiled_bytes),
    }


def duration(seconds: float) -> str:
    """A time to three digits.

    >>> duration(0.0123), duration(2.5)
    ('12.3 ms', '2.50 s')
    """
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            scaled = seconds / size
            return f"{scaled:.{0 if scaled >= 100 else 1 if scaled >= 10 else 2}f} {unit}"
    raise AssertionError
