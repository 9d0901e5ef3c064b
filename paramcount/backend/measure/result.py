"""The measurements of a network on a device: a row for each batch size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from paramcount.errors import printable
from paramcount.graph.network import Subject
from paramcount.numbers.units import binary, decimal, duration, grouped, portion, rate
from paramcount.render.sheet import PEOPLE, PROGRAMS, SCHEMA, Heading, Sheet, meanings
from paramcount.render.shown import Shown


def span(times: tuple[float, float]) -> str:
    return " – ".join(map(duration, times))


UNLIKELY = (  # where a share is above 100%
    "a share above 100%: the machine was busy while the matrix products were measured, or the program takes fewer "
    "operations than were counted; measure again while nothing else runs"
)
QUARTILES = "a quarter of the runs took less, a quarter more"
HEADINGS = (
    Heading("batch", "batch", grouped, True, meaning="examples at once"),
    Heading("seconds", "time", duration, True, meaning="median of the runs"),
    Heading("quartiles", "quartiles", span, True, 3, meaning=QUARTILES, reader=PEOPLE),
    Heading("low", "low", duration, True, reader=PROGRAMS),
    Heading("high", "high", duration, True, reader=PROGRAMS),
    Heading("repeats", "runs", grouped, True, 1, meaning="timed runs"),
    Heading("examples_per_second", "examples/s", rate, True, 4, meaning="batch / time"),
    Heading("macs", "MACs", decimal, True, 2, meaning="counted multiply-accumulates of the whole batch"),
    Heading("rate", "FLOP/s", rate, True, meaning="counted FLOPs / time"),
    Heading("share", "share", portion, True, meaning="of {peak} the fastest large matrix product here"),
    Heading("predicted_bytes", "predicted", binary, True, meaning="bytes of memory, predicted from the spec"),
    Heading("compiled_bytes", "compiled", binary, True, meaning="bytes of memory of the compiled program"),
)


class Measurement(NamedTuple):
    """One batch size: `seconds` is the median of `repeats` runs, `low` and `high` are the quartiles.

    `macs` and `flops` are counted, for the whole batch; `peak` is the device's, in FLOP/s. `predicted_bytes` follow
    from the spec, `compiled_bytes` are the compiled program's: arguments + outputs - aliases + temporaries.
    """

    batch: int
    seconds: float
    low: float
    high: float
    repeats: int
    macs: int
    flops: int
    peak: float
    predicted_bytes: int
    compiled_bytes: int

    @property
    def quartiles(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def examples_per_second(self) -> float:
        return self.batch / self.seconds

    @property
    def rate(self) -> float:
        """The counted FLOPs per second."""
        return self.flops / self.seconds

    @property
    def share(self) -> float:
        """The rate as a fraction of the device's peak."""
        return self.rate / self.peak


@dataclass(frozen=True)
class Measurements(Shown):
    """A network's measurements. `optimizer` is that of the training step, None if inference was measured.

    `str()` is a table, `to_dict()` the JSON object.
    """

    subject: Subject
    rows: tuple[Measurement, ...]
    device: str
    peak: float
    optimizer: str | None = None
    dtype: str = "float32"

    def __repr__(self) -> str:
        batches = ", ".join(str(row.batch) for row in self.rows)
        return f"<Measurements {printable(str(self.subject))}: batch {batches} on {printable(self.device)}>"

    @property
    def convention(self) -> str:
        """What was measured on which device, and what the figures mean, in one line."""
        return "; ".join([self.where, *meanings(self.headings)])

    @property
    def where(self) -> str:
        what = "the forward computation" if self.optimizer is None else f"a training step with {self.optimizer}"
        return f"{self.device}, {self.dtype}, {what} ({self.subject.examples()})"

    @property
    def name(self) -> str:
        return self.subject.name

    @property
    def headings(self) -> list[Heading]:
        peak = f"{rate(self.peak)}FLOP/s,"
        return [each._replace(meaning=each.meaning.format(peak=peak)) for each in HEADINGS]

    @property
    def remark(self) -> str:
        """What is odd about the figures, or nothing."""
        return UNLIKELY if any(row.share > 1 for row in self.rows) else ""

    def sheet(self) -> Sheet:
        """A line for each batch size, and what the figures mean."""
        rows = [[getattr(row, each.name) for each in HEADINGS] for row in self.rows]
        below = [*filter(None, [self.remark]), self.where]  # the last line is continued by what the columns mean
        return Sheet(str(self.subject), self.headings, rows, (), below, self.to_dict)

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain numbers, seconds and rates as floats."""
        derived = ("examples_per_second", "rate", "share")
        return {
            "schema": SCHEMA,
            **self.subject.to_dict(),
            "device": self.device,
            "dtype": self.dtype,
            "optimizer": self.optimizer,
            "peak": self.peak,
            "convention": self.convention,
            "remark": self.remark,
            "rows": [row._asdict() | {name: getattr(row, name) for name in derived} for row in self.rows],
        }
