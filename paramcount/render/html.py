"""A report as a small HTML table, for notebooks."""

from __future__ import annotations

from paramcount.cost.count import Report
from paramcount.cost.outline import outline
from paramcount.errors import printable
from paramcount.numbers.units import grouped
from paramcount.render.table import WITH_TRAINING, percent

COLUMNS = ("kind", "setting", "output", "repeat", "params", "weights")


def render(report: Report) -> str:
    """The outermost rows, the totals, and the convention; every name is escaped."""
    from html import escape

    def line(tag: str, cells: list[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(printable(cell))}</{tag}>" for cell in cells) + "</tr>"

    of_step = ("backward_macs", "train_macs") if report.training else ()
    titles = ["layer", *[WITH_TRAINING[name].title for name in (*COLUMNS, "macs", *of_step)], "share"]
    rows = [
        line(
            "td",
            [
                label,
                *[WITH_TRAINING[name].text(row, report.totals) for name in COLUMNS],
                *[grouped(getattr(row, name)) for name in ("macs", *of_step)],
                percent(row.macs, report.macs),
            ],
        )
        for label, row in outline(report.rows)
    ]
    work = [grouped(getattr(report, name)) for name in ("macs", *of_step)]
    totals = ["total", "", "", "", "", grouped(report.params), grouped(report.weights), *work, ""]
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
