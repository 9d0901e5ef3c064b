"""A traced function's report as text: rows by scope with their passes, the totals, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence

from paramcount.cost.traced import REST, Trace, TracedRow
from paramcount.errors import printable
from paramcount.numbers.units import binary, decimal
from paramcount.render import terminal
from paramcount.render.columns import middle, wrapped
from paramcount.render.table import HEADINGS, USUAL, Heading, known, lay_out, listed

PASSES = {"forward_macs": "forward", "backward_macs": "backward", "recomputed_macs": "recomputed"}


def by_pass(name: str) -> Heading:
    return Heading(PASSES[name], lambda row, totals: decimal(getattr(row, name)), lambda row: -getattr(row, name), True)


TRACED = {**HEADINGS, **{name: by_pass(name) for name in PASSES}}


def render(
    report: Trace,
    *,
    depth: int | None = None,
    columns: Sequence[str] | None = None,
    sort: str | None = None,
    width: int | None = None,
    encoding: str | None = None,
    colour: bool = False,
) -> str:
    """The table, the totals, what is uncounted, and the convention.

    `depth` levels of scopes are open, by default down to the first level with more than one; `columns` replaces the
    usual ones and `sort` orders the rows of each scope.
    """
    encoding = encoding or terminal.encoding()
    width = width or terminal.width()
    chosen = [known(name, TRACED) for name in columns] if columns else None
    order = TRACED[known(sort, TRACED)].key if sort else None
    title = middle(printable(report.name), width, "…")
    depth = depth or first_fork(report.rows)
    table = lay_out(report, depth, chosen, order, width, encoding, colour, TRACED, usual(report))
    below = [wrapped(f"not counted: {each}", width) for each in report.uncounted]
    below.append(wrapped(report.convention, width))
    parts = [title, table, totals(report), "\n".join(below)]
    return "\n\n".join(part if part is table else terminal.written(part, encoding) for part in parts)


def usual(report: Trace) -> tuple[str, ...]:
    """The usual columns: those of parameters and of passes only where there are any."""
    left_out = {"setting", "weights"} | (set() if report.params or report.buffers else {"params"})
    names = [name for name in USUAL if name not in left_out]
    at = names.index("macs") + 1
    return (*names[:at], *passes(report), *names[at:])


def passes(report: Trace) -> list[str]:
    """The passes that there are, if there is more than the forward one."""
    found = [name for name in PASSES if getattr(report, name)]
    return [] if found == ["forward_macs"] else found


def first_fork(rows: Sequence[TracedRow]) -> int:
    """The outermost level on which there is more than one row, or the innermost of all."""
    deepest = max((row.depth for row in rows), default=1)
    named = [row.depth for row in rows if not row.path.endswith(REST)]
    return next((level for level in range(1, deepest) if named.count(level) > 1), deepest)


def totals(report: Trace) -> str:
    """Every total, exactly and in its unit."""
    lines = [("MACs counted" if report.uncounted else "MACs", report.macs, decimal)]
    lines += [(f"  {PASSES[name]}", getattr(report, name), decimal) for name in passes(report)]
    lines += [("FLOPs", report.flops, decimal), ("elementwise operations", report.elementwise, decimal)]
    if report.params:
        lines += [("params", report.params, decimal), ("bytes of the parameters", report.param_bytes, binary)]
    if report.buffers:
        lines += [("buffers", report.buffers, decimal)]
    return listed(lines)
