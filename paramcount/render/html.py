"""A sheet as a small HTML table, for notebooks."""

from __future__ import annotations

from typing import Any

from paramcount.errors import printable, visible
from paramcount.numbers.units import binary, decimal, grouped
from paramcount.render.sheet import PEOPLE, Heading, Sheet, explained


def render(sheet: Sheet) -> str:
    """The rows, the totals, and the lines below; every text is escaped, and counts have all their digits."""
    from html import escape

    def line(tag: str, cells: list[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(printable(cell))}</{tag}>" for cell in cells) + "</tr>"

    def cell(heading: Heading, value: Any) -> str:
        exact = heading.write in (decimal, binary) and type(value) is int
        return grouped(value) if exact else heading.text(value)

    sheet = sheet.for_reader(PEOPLE)
    values = list(zip(*sheet.rows, strict=True)) or [()] * len(sheet.headings)
    shown = zip(sheet.headings, values, strict=True)
    columns = [(heading.title, [cell(heading, value) for value in each]) for heading, each in shown]
    below = " ".join(explained(sheet.below, sheet.headings))
    totals = [line("th", [label.strip(), "–" if n is None else grouped(n)]) for label, n, _ in sheet.totals]
    return "\n".join(
        [
            "<table>",
            f"<caption>{escape(': '.join(filter(None, (printable(sheet.title), visible(below)))))}</caption>",
            f"<thead>{line('th', [title for title, _ in columns])}</thead>",
            "<tbody>",
            *[line("td", list(row)) for row in zip(*(texts for _, texts in columns), strict=True)],
            "</tbody>",
            f"<tfoot>{''.join(totals)}</tfoot>",
            "</table>",
        ]
    )
