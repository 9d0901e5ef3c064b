"""Limits on the figures of what was counted: which do not hold, by how much, and which rows are the largest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor
from typing import Any, NamedTuple

from paramcount.cost.count import LONGEST, count
from paramcount.cost.counted import Counted
from paramcount.cost.figures import FIGURES, Phases, Row
from paramcount.errors import ArgumentError, CheckError, printable, quote
from paramcount.language.expect import BOUNDS, Limit, refuse_crossed
from paramcount.layers.fields import Number
from paramcount.numbers.amounts import amount
from paramcount.numbers.arithmetic import native
from paramcount.numbers.units import grouped, percent

BIGGEST = 5  # outermost rows that are named where a figure is not equal
WORK = ("macs", "flops", "elementwise", *Phases._fields)  # which a trace may not have counted
LARGEST = 3  # leaves that are named where a figure is over its budget
NOTHING = "0.0%"


class Violation(NamedTuple):
    """A limit that does not hold for a figure as it was counted; `rows` are the largest that it is the sum of."""

    limit: Limit
    counted: int
    rows: Sequence[Row]

    @property
    def lines(self) -> list[str]:
        """What is wrong in one line, and the largest rows."""
        figure, bound, amount, written, _ = self.limit
        difference = self.counted - amount
        if bound == "equal":
            wanted, counted = grouped(amount), grouped(self.counted)
            parts = ", ".join(f"{quote(row.path)} {grouped(row.get(figure) or 0)}" for row in self.rows)
            message = f"{figure}: expected {wanted}, counted {counted}, difference {difference:+,}"
            return [message, f"  the biggest rows: {parts}"]
        message = f"{figure} {grouped(self.counted)} is {'over' if difference > 0 else 'below'} the "
        message += f"{'budget' if difference > 0 else 'minimum'} of {written} by {grouped(abs(difference))}"
        message += relative(difference, amount)
        if difference < 0:
            return [message]
        unit = FIGURES[figure].unit
        named = ", ".join(f"{printable(short(row.path))} {unit(row.get(figure) or 0)}" for row in self.rows)
        return [message, f"  largest: {named}"]


def violations(counted: Counted, limits: Iterable[Limit]) -> list[Violation]:
    """The limits that do not hold; raises ArgumentError for a figure that is unknown.

    Work that a trace could not count may be over any budget, so only what was counted can be, and reach a minimum.
    """
    found = []
    for limit in limits:
        figure = getattr(counted, limit.figure)
        if uncounted := counted.uncounted if limit.figure in WORK else ():
            certain = limit.holds(figure) if limit.bound == "at_least" else figure > limit.amount
            if not certain:
                message = f"{quote(limit.figure)} is not known here: work was not counted"
                raise ArgumentError(message, hint="; ".join(uncounted), argument=limit.figure)
        if not limit.holds(figure):
            found.append(Violation(limit, figure, largest(counted, limit)))
    return found


def largest(counted: Counted, limit: Limit) -> list[Row]:
    """The rows that contribute most to a figure: outermost ones where it is not equal, else leaves."""
    exact = limit.bound == "equal"
    rows = [row for row in counted.rows if (row.depth == 1 if exact else row.leaf and row.get(limit.figure))]
    return sorted(rows, key=lambda row: -(row.get(limit.figure) or 0))[: BIGGEST if exact else LARGEST]


def short(path: str) -> str:
    """The path of a leaf, without its own name where the layer around it is of the same kind.

    >>> short("residual0.conv1.conv0"), short("conv0.batch_norm0")
    ('residual0.conv1', 'conv0.batch_norm0')
    """
    around, _, name = path.rpartition(".")
    kinds = [each.rpartition(".")[2].rstrip("0123456789") for each in (around, name)]
    return around if kinds[0] == kinds[1] else path


def relative(difference: int, amount: int) -> str:
    """A difference in percent of an amount, in parentheses; nothing where it would be 0.0%, or the amount is 0.

    >>> relative(504_872, 3_000_000), relative(-1, 3), relative(1, 10**9), relative(5, 0)
    (' (+16.8%)', ' (-33.3%)', '', '')
    """
    text = percent(abs(difference), amount) if amount else NOTHING
    return "" if text == NOTHING else f" ({'+' if difference > 0 else '-'}{text})"


def error_of(title: str, found: Sequence[Violation]) -> CheckError:
    """The error for limits that do not hold, at the place of the first."""
    lines = [line for each in found for line in each.lines]
    if any(each.limit.bound == "equal" and each.limit.position for each in found):
        lines.insert(0, f"`expect` of {quote(title)} differs from the count")
    else:
        lines[0] = f"{title}: {lines[0]}"
    return CheckError("\n".join(lines), position=found[0].limit.position)


def limits_of(given: Mapping[str, Any]) -> list[Limit]:
    """Limits as Python gives them: by the name of a figure, an amount or a mapping of `at_most` and `at_least`.

    Raises ArgumentError for others.

    >>> [limit[:3] for limit in limits_of({"params": 7850, "macs": {"at_most": "300M"}})]
    [('params', 'equal', 7850), ('macs', 'at_most', 300000000)]
    """
    found: list[Limit] = []
    for figure, value in given.items():
        if figure not in FIGURES:
            raise unknown_figure(figure, value)
        if isinstance(value, Mapping) and not value:
            hint = f"one of {', '.join(BOUNDS)}"
            raise ArgumentError(f"{quote(figure)} is given no limit", hint=hint, argument=figure)
        own: list[Limit] = []
        for bound, each in value.items() if isinstance(value, Mapping) else [("equal", value)]:
            if isinstance(value, Mapping) and bound not in BOUNDS:
                from paramcount.errors.suggest import one_of

                hint = one_of(bound, BOUNDS)
                raise ArgumentError(f"{quote(figure)} has no limit {quote(bound)}", hint=hint, argument=figure)
            whole = amount_of(figure, each, bound == "at_least")
            if bound == "equal" and not isinstance(each, str) and whole != each:
                raise ArgumentError(f"{figure} must be a whole number, not {quote(each)}", argument=figure)
            own.append(Limit(figure, bound, whole, each if isinstance(each, str) else grouped(whole)))
        refuse_crossed(own)
        found += own
    return found


def unknown_figure(name: str, value: Any) -> ArgumentError:
    """The error for a limit on what is not a figure: an option of the command line, a setting of `count`, or a slip.

    >>> str(unknown_figure("max_params", "3.5M"))
    'unknown figure `max_params`\\nhint: params={"at_most": "3.5M"}'
    """
    from inspect import signature

    from paramcount.errors.suggest import one_of

    prefix, _, figure = name.partition("_")
    bound = {"max": "at_most", "min": "at_least"}.get(prefix)
    amount = printable(f'"{value}"' if isinstance(value, str) else repr(value))
    if bound and figure in FIGURES:
        hint = f'{figure}={{"{bound}": {amount}}}'
    elif name in signature(count).parameters:
        hint = f"count with it first: check(count(network, {name}={amount}), ...)"
    else:
        hint = one_of(name, FIGURES)
    return ArgumentError(f"unknown figure {quote(name)}", hint=hint, argument=name)


def amount_of(figure: str, value: Any, at_least: bool = False) -> int:
    """An amount that Python gives as text, or as a number; a fraction is rounded to what holds for the same figures.

    A figure is whole: one of at most 2.5 is at most 2, and one of at least 2.5 at least 3. Raises ArgumentError for
    anything else.

    >>> amount_of("params", "3.5M"), amount_of("macs", 300e6), amount_of("macs", 2.5), amount_of("macs", 2.5, True)
    (3500000, 300000000, 2, 3)
    """
    if isinstance(value, str):
        return amount(value, figure)
    value = native(value)
    value = value if type(value) is int else Number()(figure, value)
    if value < 0 or value > LONGEST:
        what = "at least 0" if value < 0 else "a number of at most 4,200 digits"
        raise ArgumentError(f"{figure} must be {what}, not {quote(value)}", argument=figure)
    return ceil(value) if at_least else floor(value)
