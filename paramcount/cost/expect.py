"""Whether a network's count is what its spec expects."""

from __future__ import annotations

from typing import Any

from paramcount.cost.count import count
from paramcount.cost.report import Report
from paramcount.errors import CheckError, quote
from paramcount.numbers.units import grouped

PER_EXAMPLE = ("macs",)  # expected figures that the batch multiplies
BIGGEST = 5  # rows that an error names


def check(network: Any) -> Report:
    """Count a network and compare it with its spec's `expect`; raises CheckError if a figure differs.

    Nothing is compared if a variable was set by hand (`network.overridden`), or if the spec expects nothing.

    >>> from paramcount.graph.network import Network
    >>> from paramcount.layers.dense import Dense
    >>> check(Network([Dense(10)], input=784)).params  # nothing is expected
    7850
    """
    report = count(network)
    compare(network, report)
    return report


def compare(network: Any, report: Report) -> str:
    """The outcome of comparing a report with `expect`, in one line; raises CheckError if a figure differs."""
    if getattr(network, "overridden", False):
        return "expect: not checked (vars overridden)"
    expected = getattr(network, "expect", None)
    if not expected:
        what = f"variant {quote(report.variant)} has no figures" if report.variant else "the spec has no figures"
        return f"expect: not checked ({what})"
    lines, place = [], None
    for name, (per_example, position) in expected.items():
        wanted = per_example * report.batch if name in PER_EXAMPLE else per_example
        counted = getattr(report, name)
        if counted != wanted:
            place = place or position
            lines.append(
                f"{name}: expected {grouped(wanted)}, counted {grouped(counted)}, difference {counted - wanted:+,}"
            )
            lines.append(f"  the biggest rows: {biggest(report, name)}")
    if lines:
        summary = f"`expect` of {quote(report.title)} differs from the count"
        raise CheckError("\n".join([summary, *lines]), position=place)
    return f"expect: equal ({', '.join(expected)})"


def biggest(report: Report, name: str) -> str:
    """The outermost rows that contribute most to a figure."""
    rows = sorted((row for row in report.rows if row.depth == 1), key=lambda row: -getattr(row, name))
    return ", ".join(f"{quote(row.path)} {grouped(getattr(row, name))}" for row in rows[:BIGGEST])
