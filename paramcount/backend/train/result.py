"""The result of a training run: the trained tensors, the figures of every epoch, and the speed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

from paramcount.backend.measure.result import UNLIKELY
from paramcount.errors import printable
from paramcount.graph.network import Subject
from paramcount.layers.arguments import file_path
from paramcount.numbers.units import grouped, number_of, portion, rate
from paramcount.render.sheet import PROGRAMS, SCHEMA, Heading, Sheet
from paramcount.render.shown import Shown
from paramcount.render.writing import ALSO, FORMATS


class Epoch(NamedTuple):
    """One epoch of training. `train` and `test` are scores after it, from 0 to 1; None without a metric or data.

    `loss` is the mean over the examples as they were trained on; `seconds` is the time of training, without scoring.
    """

    number: int
    loss: float
    train: float | None
    test: float | None
    seconds: float
    examples: int

    def __str__(self) -> str:
        named = (("train", self.train), ("test", self.test))
        scores = [f"{name} {score:.4f}" for name, score in named if score is not None]
        parts = [f"epoch {self.number}", f"loss {self.loss:.4f}", *scores, f"{self.seconds:.2f} s"]
        if self.seconds:
            each = self.examples / self.seconds
            parts.append(f"{each:,.0f} examples/s" if each >= 100 else f"{each:.3g} examples/s")
        return "  ".join(parts)


class Reduction(NamedTuple):
    """The bytes that one step sums over the devices: as read from the compiled program, and as predicted.

    The prediction is 4 bytes for each trained element's gradient, for the loss, and for the batch norms' `statistics`:
    5 per channel, or 2 if nothing upstream is trained. `compiled` is None if the program does not say.
    """

    devices: int
    compiled: int | None
    trained: int
    statistics: int = 0

    @property
    def predicted(self) -> int:
        return 4 * (self.trained + 1 + self.statistics)

    @property
    def ring(self) -> int | None:
        """The bytes that each device sends in a ring all-reduce: 2 (n - 1) / n of what is summed."""
        return None if self.compiled is None else 2 * (self.devices - 1) * self.compiled // self.devices

    def __str__(self) -> str:
        statistics = f" + {self.statistics:,} of batch norms" if self.statistics else ""
        predicted = f"predicted 4 · ({self.trained:,} + 1{statistics}) = {self.predicted:,}"
        if self.compiled is None:
            return f"all-reduce over {self.devices} devices: {predicted} bytes a step; the program does not say"
        measured = f"{self.compiled:,} bytes a step in the compiled program, {predicted}"
        return f"all-reduce over {self.devices} devices: {measured}; in a ring each sends {self.ring:,}"


@dataclass(frozen=True)
class Training(Shown):
    """A trained network. `params` and `buffers` are arrays by path and name, as `Network.apply` takes them.

    `flops` is the count of one training step for one example. `peak` is the rate of this machine's fastest matrix
    product in FLOP/s, if it was measured. The first `resumed` epochs belong to earlier runs. `str()` is a summary.
    """

    subject: Subject
    params: Mapping[str, Mapping[str, Any]]
    buffers: Mapping[str, Mapping[str, Any]]
    epochs: tuple[Epoch, ...]
    flops: int
    resumed: int = 0
    peak: float | None = None
    reduction: Reduction | None = None

    def __repr__(self) -> str:
        return f"<Training {printable(str(self.subject))}: {number_of(len(self.epochs), 'epoch')}>"

    @property
    def name(self) -> str:
        return self.subject.name

    @property
    def rate(self) -> float | None:
        """The FLOP/s of this run's fastest epoch, by the counted FLOPs; None if the run had no epoch."""
        own = self.epochs[self.resumed :]
        return max((self.flops * each.examples / each.seconds for each in own if each.seconds), default=None)

    def save(self, path: str | PathLike[str], *, exact: bool = False, **settings: Any) -> None:
        """Write parameters and buffers to a safetensors file, which `load_checkpoint` reads.

        A file of another format, such as `epochs.csv`, gets the table of epochs. Raises ArgumentError where it cannot
        be written.
        """
        name = file_path("path", path)
        if os.path.splitext(name)[1].lower() in (*FORMATS.values(), *ALSO):
            super().save(name, exact=exact, **settings)
        else:
            from paramcount.backend.train.checkpoint import save

            save(name, {"params": self.params, "buffers": self.buffers}, {})

    def sheet(self) -> Sheet:
        """A line for each epoch, those of earlier runs too, and how fast this run was."""
        rows = [[getattr(epoch, each.name) for each in HEADINGS] for epoch in self.epochs]
        return Sheet(str(self.subject), HEADINGS, rows, (), str(self).splitlines(), self.to_dict)

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain numbers, ready for JSON, without the tensors."""
        reduction = self.reduction
        return {
            "schema": SCHEMA,
            **self.subject.to_dict(),
            "flops": self.flops,
            "rate": self.rate,
            "peak": self.peak,
            "resumed": self.resumed,
            "reduction": reduction and reduction._asdict() | {"predicted": reduction.predicted},
            "epochs": [epoch._asdict() for epoch in self.epochs],
        }

    def __str__(self) -> str:
        title, example = printable(str(self.subject)), self.subject.examples()
        lines = [f"{title}: {self.flops:,} FLOPs per example in a training step; {example}"]
        if self.rate:
            line = f"fastest epoch: {flops(self.rate)}"
            if self.peak:
                line += f", {portion(self.rate / self.peak)} of a large matrix product's {flops(self.peak)}"
            lines.append(line)
            lines += [UNLIKELY] if self.peak and self.rate > self.peak else []
        if self.reduction:
            lines.append(str(self.reduction))
        return "\n".join(lines)


HEADINGS = (
    Heading("number", "epoch", str, True),
    Heading("loss", "loss", "{:.4f}".format, True),
    Heading("train", "train", "{:.4f}".format, True),
    Heading("test", "test", "{:.4f}".format, True),
    Heading("seconds", "time", "{:.2f} s".format, True),
    Heading("examples", "examples", grouped, True, reader=PROGRAMS),
)


def flops(per_second: float) -> str:
    return f"{rate(per_second)}FLOP/s"
