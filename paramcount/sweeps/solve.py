"""The largest value of a variable whose network stays within a budget."""

from __future__ import annotations

import operator
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from paramcount.cost.budgets import amount_of
from paramcount.cost.count import count
from paramcount.cost.figures import Figures
from paramcount.cost.report import Report
from paramcount.errors import ArgumentError, ParamcountError, printable, quote
from paramcount.language.language import SpecSyntax
from paramcount.language.variables import all_variables
from paramcount.layers.arguments import argument
from paramcount.layers.fields import Number, Text
from paramcount.numbers.arithmetic import LIMIT
from paramcount.numbers.column import Column, compared
from paramcount.render.sheet import SCHEMA, Sheet
from paramcount.render.shown import Shown
from paramcount.sweeps.result import no_column
from paramcount.sweeps.space import Space
from paramcount.sweeps.sweep import space_of, sweep_parts

FINEST = 0.01  # the default step of a variable that is not a whole number
MOST = 2**16  # values tried at most
DOUBLINGS = 40
LIMITS = Number(-LIMIT, LIMIT, none=True)  # of the values that are tried


class SolutionFields(NamedTuple):
    """The fields of a Solution, apart because a NamedTuple cannot have other bases."""

    variable: str
    value: Any
    report: Report
    following: Any
    beyond: Figures | None
    gaps: list[Any]
    at_most: Mapping[str, int] = {}


class Solution(SolutionFields, Shown):
    """The largest `value` within the budget, and its report. `str()` is the report's table.

    `following` is the next value that gives a valid network, which is over the budget, and `beyond` its figures; None
    if there is none up to `high`. `gaps` are smaller values that are over the budget. `at_most` is the budget.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Solution {self.variable} = {self.value} of {printable(self.report.name)}>"

    @property
    def monotone(self) -> bool:
        return not self.gaps

    @property
    def warnings(self) -> Sequence[str]:  # type: ignore[override]
        return self.report.warnings

    @property
    def settings(self) -> Sequence[str]:
        return self.report.settings

    def sheet(self, **settings: Any) -> Sheet:
        """The report's sheet, with each budget below it; `settings` are those of `Report.sheet`."""
        lines = []
        for name, most in self.at_most.items():
            line = f"{self.variable} = {self.value}: {name} {getattr(self.report, name):,} of at most {most:,}"
            lines.append(f"{line}; {self.following} has {getattr(self.beyond, name):,}" if self.beyond else line)
        if not self.monotone:
            shown = ", ".join(map(str, self.gaps[:5])) + (", ..." if len(self.gaps) > 5 else "")
            lines.append(f"not monotone: smaller values are over the budget: {shown}")
        sheet = self.report.sheet(**settings)
        return sheet._replace(below=(*sheet.below, "", *lines), data=self.to_dict)

    def folded(self) -> Sheet:
        """All levels of the tree."""
        return self.with_warnings(depth=sys.maxsize)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON, with the report under `report`."""
        return {
            "schema": SCHEMA,
            "convention": self.report.convention,
            "variable": self.variable,
            "value": self.value,
            "at_most": dict(self.at_most),
            "following": self.following,
            "beyond": None if self.beyond is None else self.beyond._asdict(),
            "gaps": self.gaps,
            "report": self.report.to_dict(),
        }


def solve(
    spec: str | SpecSyntax,
    variable: str,
    /,
    at_most: Mapping[str, int | float | str],
    variant: str | None = None,
    *,
    low: Any = None,
    high: Any = None,
    step: Any = None,
    vars: Mapping[str, Any] | None = None,
    **variables: Any,
) -> Solution:
    """Find the largest value of a variable whose figures are all at most those given, by exact counts.

    Every `step` from `low` to `high` is tried, by default 1, or 0.01 if the variable is not a whole number. Without
    `high`, the range is doubled until it exceeds the budget. Amounts may be text, as in {"macs": "300M"}. `variables`
    set others of the spec; those whose names have another meaning here, such as `low`, are given in the mapping `vars`.
    Raises ArgumentError if no value is within the budget.

    >>> found = solve("mobilenet_v2", "width", {"macs": 300e6})
    >>> found.value, found.report.macs, found.following
    (0.98, 299896192, 0.99)
    """
    budget = budgets(at_most)
    argument("variable", variable, Text())
    low, high, step = (argument(*each, LIMITS) for each in (("low", low), ("high", high), ("step", step)))
    others = all_variables(variables, vars)
    if variable in others:
        raise ArgumentError(f"{quote(variable)} is solved for, and cannot be set", hint="set others, or `count` it")
    space = space_of(spec, variant, {variable: [1], **others})
    base = space.base.get(variable)
    if isinstance(base, bool) or not isinstance(base, (int, float)):
        raise ArgumentError(f"{quote(variable)} is not a number", hint="solve for a numeric variable")
    if len(space.axes) > 1:
        raise ArgumentError("only the variable to solve for has several values", hint="set the others to one value")
    step = step if step is not None else 1 if isinstance(base, int) else FINEST
    low = low if low is not None else step
    if step <= 0 or (high is not None and high < low):
        raise ArgumentError("`step` must be above 0, and `high` at least `low`")
    high = high if high is not None else upper(space, variable, budget, max(base, low), step)
    values = steps(low, high, step)
    part, *parts = sweep_parts(space_of(spec, variant, {variable: values, **others}))
    found = part.joined(*parts)
    fits = found.valid.copy()
    for name, most in budget.items():
        fits &= compared(operator.le, Column(found.columns[name]), most)
    if not fits.any():
        raise no_solution(found, variable, budget, low, high)
    best = int(fits.nonzero()[0][-1])
    over = found.valid & ~fits
    gaps = [values[row] for row in over[:best].nonzero()[0].tolist()]
    later = over[best + 1 :].nonzero()[0].tolist()
    following = best + 1 + later[0] if later else None
    beyond = None if following is None else Figures(*(int(found.columns[name][following]) for name in Figures._fields))
    report = count(space.network({variable: values[best]}))
    after = None if following is None else values[following]
    return Solution(variable, values[best], report, after, beyond, gaps, budget)


def budgets(at_most: Any) -> dict[str, int]:
    """The largest figures by name; raises ArgumentError for other names, and for what is not an amount."""
    if not isinstance(at_most, Mapping):
        message = f"at_most must be figures by name, not {quote(at_most, repr)}"
        raise ArgumentError(message, hint='{"macs": 300e6}', argument="at_most")
    if not at_most:
        raise ArgumentError("a budget is needed", hint="e.g. --max-macs 300M")
    for name in at_most:
        if name not in Figures._fields:
            raise no_column(name, list(Figures._fields))
    return {name: amount_of(name, most) for name, most in at_most.items()}


def upper(space: Space, variable: str, at_most: Mapping[str, int], value: Any, step: Any) -> Any:
    """A value that is over the budget, found by doubling; raises ArgumentError if there is none."""
    for _ in range(DOUBLINGS):
        try:
            totals = count(space.network({variable: value}))
        except ParamcountError:
            totals = None
        if totals is not None and any(getattr(totals, name) > most for name, most in at_most.items()):
            return value
        if value / step > MOST:
            break
        value *= 2
    raise ArgumentError(
        f"{quote(variable)} stays within the budget up to {value:,}", hint="give the largest value to try: --high"
    )


def steps(low: Any, high: Any, step: Any) -> list[Any]:
    """The values from low to high, with exact decimals; raises ArgumentError if there are too many."""
    from fractions import Fraction

    first, last, by = (Fraction(str(each)) for each in (low, high, step))
    total = int((last - first) / by) + 1
    if total > MOST:
        raise ArgumentError(f"{total:,} values are too many to try", hint=f"at most {MOST:,}: use a larger `step`")
    whole = all(isinstance(each, int) for each in (low, step))
    return [int(first + index * by) if whole else float(first + index * by) for index in range(total)]


def no_solution(found: Any, variable: str, at_most: Mapping[str, int], low: Any, high: Any) -> ArgumentError:
    if not found.valid.any():
        return ArgumentError(f"no {quote(variable)} from {low} to {high} gives a valid network: {found.reasons[0]}")
    shown = []
    for name, most in at_most.items():
        least = int(found.columns[name][found.valid].min())
        shown.append(f"{name} are at least {least:,}, and the budget is {most:,}")
    return ArgumentError(f"no {quote(variable)} from {low} to {high} is within the budget", hint="; ".join(shown))
