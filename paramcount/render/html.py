"""A report as a small HTML table, for notebooks."""

from __future__ import annotations

from paramcount.errors import printable
from paramcount.render.outline import outline
from paramcount.render.table import HEADINGS, percent
from paramcount.report import Report
from paramcount.units import grouped

COLUMNS = ("kind", "setting", "output", "repeat", "params", "weights")


def render(report: Report) -> str:
    """The outermost rows, the totals, and the convention; every name is escaped."""
    from html import escape

    def line(tag: str, cells: list[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(printable(cell))}</{tag}>" for cell in cells) + "</tr>"

    titles = ["layer", *[HEADINGS[name].title for name in COLUMNS], "MACs", "share"]
    rows = [
        line(
            "td",
            [
                label,
                *[HEADINGS[name].text(row, report.totals) for name in COLUMNS],
                grouped(row.macs),
                percent(row.macs, report.macs),
            ],
        )
        for label, row in outline(report.rows)
    ]
    totals = ["total", "", "", "", "", grouped(report.params), grouped(report.weights), grouped(report.macs), ""]
    return "\n".join(
        [
            "<table>",
            f"<caption>{escape(printable(report.name))}: {escape(report.convention)}</caption>",
            f"<thead>{line('th', titles)}</thead>",
            "<tbody>",
            *rows,
            "</tbody>",
            f"<tfoot>{line('th', totals)}</tfoot>",
            "</table>",
        ]
    )
