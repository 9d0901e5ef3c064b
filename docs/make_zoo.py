"""The page of all shipped specs beside what others say of them: `python docs/make_zoo.py`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from paramcount.cost.count import count
from paramcount.cost.report import Report
from paramcount.cost.zoo import zoo
from paramcount.language.load import load
from paramcount.numbers.units import grouped

PUBLISHED = os.path.join(os.path.dirname(__file__), "published.yaml")
FIGURES: dict[str, Callable[[Report], int]] = {
    "params": lambda report: report.params,
    "params without norms": lambda report: report.params - report.norms,
    "params without head": lambda report: report.params - report.rows[-1].params,
    "macs": lambda report: report.macs,
}
UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Gi": 2**30}
INTRODUCTION = """\
# The shipped specs

<!-- made by: python docs/make_zoo.py > docs/zoo.md -->

Every spec that comes with the package, in every variant: its figures for one example, and what others say of the same
network, as they print it (Gi is 2**30). `equal` is ours rounded to those digits. Where a figure is not, the reason
stands there: another convention, a stale table. No spec is fitted to such a figure.

Models that are "counted" are the real ones of torchvision 0.29.1 and transformers 5.24.0, built without weights; their
MACs are half of the FLOPs that torch counts. Language models read 128 tokens, unless their spec says otherwise. MACs
are what [conventions.md](conventions.md) says; the figures of others are kept in [published.yaml](published.yaml).

| spec | params | weights | MACs | others | source | compared |
|---|---:|---:|---:|---|---|---|
"""


def page() -> str:
    """The whole page, in Markdown; raises ValueError where a figure differs without a reason, or has one needlessly."""
    groups = read(PUBLISHED)
    said: dict[str, list[str]] = {}
    for spec, cells in compared(groups):
        said.setdefault(spec, []).append(cells)
    lines = []
    for entry in zoo():
        ours = " | ".join(grouped(each) for each in (entry.params, entry.weights, entry.macs))
        if entry.spec not in said:
            raise ValueError(f"{entry.spec} is shipped, and not in docs/published.yaml")
        lines += [f"| `{entry.spec}` | {ours} | {cells} |" for cells in said.pop(entry.spec)]
    if said:
        raise ValueError(f"{', '.join(said)}: in docs/published.yaml, and not shipped")
    links = [f"[{group['source']}]: {group['link']}" for group in groups if "link" in group]
    return INTRODUCTION + "\n".join([*lines, "", *links, ""])


def read(path: str) -> list[dict[str, Any]]:
    """The published figures, all of them as text."""
    import yaml

    with open(path, encoding="utf-8") as file:
        return yaml.load(file, yaml.BaseLoader)


def compared(groups: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """For each published row its spec, and what is printed, where, and how that compares."""
    for group in groups:
        variables = {name: int(value) for name, value in group.get("set", {}).items()}
        for spec, row in group["models"].items():
            printed = {name: text for name, text in row.items() if name != "why"}
            if not printed:
                yield spec, f"| | {row['why']}"
                continue
            name, _, variant = spec.partition(":")
            report = count(load(name, variant=variant or None, **variables))
            differs = [name for name, text in printed.items() if not equal(FIGURES[name](report), text)]
            if bool(differs) != ("why" in row):
                raise ValueError(f"{spec}: {', '.join(differs) or 'nothing'} differs, and `why` says otherwise")
            figures = [f"{shown(text)} {name.replace('macs', 'MACs')}" for name, text in printed.items()]
            figures += [f"with {name} {value}" for name, value in variables.items()]
            yield spec, f"{', '.join(figures)} | [{group['source']}] | {row.get('why', 'equal')}"


def equal(counted: int, printed: str) -> bool:
    """Whether a count is a printed figure, rounded to its digits."""
    number, _, unit = printed.partition(" ")
    return (Decimal(counted) / UNITS[unit]).quantize(Decimal(number)) == Decimal(number)


def shown(printed: str) -> str:
    """A printed figure, with commas where it is whole."""
    return grouped(int(printed)) if printed.isdigit() else printed


if __name__ == "__main__":
    import sys

    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    print(page(), end="")
