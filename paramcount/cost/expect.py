"""Whether a network's count is what its spec expects."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paramcount.cost.count import count
from paramcount.cost.counted import Counted
from paramcount.cost.report import Report
from paramcount.errors import quote

if TYPE_CHECKING:
    from paramcount.language.expect import Limit


def check(network: Any, **limits: Any) -> Counted:
    """Count a network, and compare it with its spec's `expect` and with limits: CheckError if a figure differs.

    `network` may also be the name of a spec. What was counted already, a report, a trace or the JSON file of one, is
    compared with the limits alone. A limit is an exact figure, or a mapping of `at_most` and `at_least`; amounts may be
    text. Nothing of `expect` is compared if a variable was set by hand (`network.overridden`). Raises ArgumentError for
    an unknown figure.

    >>> from paramcount.graph.network import Network
    >>> from paramcount.layers.dense import Dense
    >>> network = Network([Dense(10)], input=784)
    >>> check(network).params  # nothing is expected
    7850
    >>> check(network, params={"at_most": "8k"}, macs=7840).macs
    7840
    """
    if isinstance(network, (str, os.PathLike)):
        from paramcount.cost.saved import named

        network = named(os.fsdecode(network))
    counted = network if isinstance(network, Counted) else count(network)
    expected = [] if counted is network else list(expectation(network))
    if limits or expected:
        from paramcount.cost.budgets import error_of, limits_of, violations

        found = violations(counted, [*expected, *limits_of(limits)])
        if found:
            raise error_of(counted.title, found)
    return counted


def expectation(network: Any) -> Sequence[Limit]:
    """The limits of a network's spec; none if it has none, or if a variable was set by hand."""
    return () if getattr(network, "overridden", False) else getattr(network, "expect", ())


def as_expected(network: Any, report: Report) -> Report:
    """The report, or another that is of one example with parameters in float32, as what a spec expects is."""
    return report if report.batch == 1 and report.dtype == "float32" else count(network)


def compare(network: Any, report: Report) -> str:
    """The outcome of comparing a report with `expect`, in one line; raises CheckError if a figure differs."""
    if getattr(network, "overridden", False):
        return "expect: not checked (vars overridden)"
    limits = expectation(network)
    if not limits:
        what = f"variant {quote(report.variant)} has no figures" if report.variant else "the spec has no figures"
        return f"expect: not checked ({what})"
    report = as_expected(network, report)
    if not all(limit.holds(getattr(report, limit.figure)) for limit in limits):
        from paramcount.cost.budgets import error_of, violations

        raise error_of(report.title, violations(report, limits))
    exact = [limit.figure for limit in limits if limit.bound == "equal"]
    within = dict.fromkeys(limit.figure for limit in limits if limit.bound != "equal")
    parts = [f"equal ({', '.join(exact)})"] * bool(exact) + [f"within limits ({', '.join(within)})"] * bool(within)
    return f"expect: {', '.join(parts)}"
