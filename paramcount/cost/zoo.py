"""The specs that come with the package, each with what it costs."""

from __future__ import annotations

from typing import NamedTuple

from paramcount.cost.count import MACS, count
from paramcount.language.load import shipped_networks

CONVENTION = f"per example; {MACS}; params without buffers"


class Shipped(NamedTuple):
    """A shipped spec in one variant: its figures in inference for one example, and the model that it stands for."""

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
        """What loads it: `resnet:50`."""
        return self.name if self.variant is None else f"{self.name}:{self.variant}"


def zoo(word: str | None = None) -> list[Shipped]:
    """What is shipped: every spec in every variant, or those with `word` in `name:variant` or in their reference.

    Where a variant is the base itself, the base has no entry of its own. Capitals do not matter.

    >>> [(each.spec, each.params) for each in zoo("squeezenet")]
    [('squeezenet:1.0', 1248424), ('squeezenet:1.1', 1235496)]
    """
    entries = []
    for name, network in shipped_networks():
        texts = (f"{name}:{network.variant or ''}", network.reference or "")
        if word is None or any(word.lower() in text.lower() for text in texts):
            report = count(network)
            figures = (report.params, report.weights, report.buffers, report.macs)
            entries.append(Shipped(name, network.variant, *figures, network.source, network.reference))
    return entries
