"""What was measured of a network on a device: a row for each size of the batch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from paramcount.numbers.units import decimal

SCHEMA = 1
MEANINGS = {  # of the table's columns
    "batch": "examples at once",
    "time": "median of the runs",
    "quartiles": "a quarter of the runs took less, a quarter more",
    "runs": "how many were timed",
    "examples/s": "batch / time",
    "MACs": "multiply-accumulates, counted, of the whole batch",
    "FLOP/s": "counted FLOPs / time",
    "share": "of {peak} the fastest large matrix product here",
    "predicted": "bytes of memory, by the spec alone",
    "compiled": "bytes of memory, by the compiled program",
}


class Measurement(NamedTuple):
    """One size of the batch: `seconds` is the median of `repeats` runs, `low` and `high` are their quartiles.

    `macs` and `flops` are counted, of the whole batch; `peak` is the device's, in FLOP/s. Bytes are predicted from the
    spec alone, and those of the compiled program: arguments + outputs - what both share + temporaries.
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
    def examples_per_second(self) -> float:
        return self.batch / self.seconds

    @property
    def rate(self) -> float:
        """The counted FLOPs in a second."""
        return self.flops / self.seconds

    @property
    def share(self) -> float:
        """The rate as a part of the device's peak."""
        return self.rate / self.peak


@dataclass(frozen=True)
class Measurements:
    """A network's measurements. `optimizer` is that of the step of training, None where inference was measured.

    `str()` is a table, `to_dict()` what JSON holds.
    """

    name: str
    rows: tuple[Measurement, ...]
    device: str
    peak: float
    optimizer: str | None = None
    dtype: str = "float32"

    @property
    def convention(self) -> str:
        """What the figures mean, in one line."""
        return self.explained(MEANINGS)

    def explained(self, columns: Iterable[str]) -> str:
        """What was measured where, and what the figures of these columns mean."""
        what = "the forward computation" if self.optimizer is None else f"a step of training with {self.optimizer}"
        peak = f"{decimal(round(self.peak))}FLOP/s,"
        meanings = [f"{name} = {MEANINGS[name].format(peak=peak)}" for name in columns]
        return "; ".join([f"{self.device}, {self.dtype}, {what}", *meanings])

    def __str__(self) -> str:
        from paramcount.render.measure import render

        return render(self)

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain numbers, seconds and rates as floats."""
        derived = ("examples_per_second", "rate", "share")
        return {
            "schema": SCHEMA,
            "name": self.name,
            "device": self.device,
            "dtype": self.dtype,
            "optimizer": self.optimizer,
            "peak": self.peak,
            "convention": self.convention,
            "rows": [row._asdict() | {name: getattr(row, name) for name in derived} for row in self.rows],
        }
