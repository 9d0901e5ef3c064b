"""The specs that come with the package, each with what it costs."""

from __future__ import annotations

from typing import Any, NamedTuple

from paramcount.cost.count import count
from paramcount.cost.figures import FIGURES
from paramcount.cost.report import MACS
from paramcount.language.load import shipped_networks
from paramcount.layers.arguments import argument
from paramcount.layers.fields import Text
from paramcount.numbers.units import number_of
from paramcount.render.sheet import SCHEMA, Heading, Sheet
from paramcount.render.shown import Shown

CONVENTION = f"one example each; {MACS}; params without buffers"


class Shipped(NamedTuple):
    """A shipped spec in one variant: its figures in inference on one example, and the model that it describes."""

    name: str
    variant: str | None
    params: int
    weights: int
    buffers: int
    macs: int
    source: str
    reference: str | None

    @property
    def spec(self) -> str:
        """The name that loads it: `resnet:50`."""
        return self.name if self.variant is None else f"{self.name}:{self.variant}"


class Zoo(list[Shipped], Shown):
    """Shipped specs, as a list. `str()` is a table with a line for each."""

    def __repr__(self) -> str:
        return f"<Zoo: {number_of(len(self), 'network')}>"

    def sheet(self) -> Sheet:
        """A line for each spec, and what the figures mean."""
        headings = [
            Heading("name", "name", wide=14, cut=True),
            Heading("variant", "variant", wide=16, cut=True),
            *[
                Heading(name, FIGURES[name].title, FIGURES[name].write, right=True, drop=drop)
                for name, drop in (("params", 6), ("weights", 4), ("buffers", 3), ("macs", 5))
            ],
            Heading("reference", "reference", drop=2, wide=28, cut=True),
            Heading("source", "source", drop=1),
        ]
        rows = [[getattr(entry, each.name) for each in headings] for entry in self]
        return Sheet("", headings, rows, (), (CONVENTION,), self.to_dict)

    def to_dict(self) -> dict[str, Any]:
        """All entries as plain values, ready for JSON."""
        return {"schema": SCHEMA, "convention": CONVENTION, "specs": [entry._asdict() for entry in self]}


def zoo(word: str | None = None) -> Zoo:
    """Every shipped spec in every variant, or those with `word` in `name:variant` or in their reference.

    If a variant equals the spec without one, only the variant is listed. Case does not matter.

    >>> [(each.spec, each.params) for each in zoo("squeezenet")]
    [('squeezenet:1.0', 1248424), ('squeezenet:1.1', 1235496)]
    """
    entries = Zoo()
    word = argument("word", word, Text(none=True))
    for name, network in shipped_networks():
        texts = (f"{name}:{network.variant or ''}", network.reference or "")
        if word is None or any(word.lower() in text.lower() for text in texts):
            report = count(network)
            figures = (report.params, report.weights, report.buffers, report.macs)
            entries.append(Shipped(name, network.variant, *figures, network.source, network.reference))
    return entries
