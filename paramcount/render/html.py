"""A sheet as a fragment of HTML for notebooks and pages: a tree that opens without a script, or a plain table.

It has the fonts and colours of the page around it, and its rules hold for itself alone. It is written in ASCII, so it
reads the same in a page of any encoding, and in a file that a browser opens. Where a page removes the rules, as Jupyter
does in notebooks that are not trusted, it can still be read and opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any

from paramcount.errors import visible
from paramcount.render.sheet import CODE, Heading, Sheet, sentence

WIDEST = 24  # characters of a column of texts, which are wrapped then
NAMED = 20  # of the first column of a tree on a narrow page, which scrolls sideways then
# the grey of lines is seen on light and on dark; all other colours are those of the page
STYLE = """\
.paramcount{overflow-x:auto;text-align:left;line-height:1.4;font-variant-numeric:tabular-nums}
.paramcount small{font-size:.93em;opacity:.75}
.paramcount p{margin:.4em 0;opacity:.8}
.paramcount span,.paramcount small{unicode-bidi:isolate;overflow-wrap:anywhere}
.paramcount summary{cursor:pointer}
.paramcount>p,.paramcount-tree{max-width:72em}
.paramcount-tree div,.paramcount-tree summary{display:grid;grid-template-columns:var(--columns);\
column-gap:1ch;align-items:baseline;padding:.12em 0;border-bottom:1px solid rgba(128,128,128,.25)}
.paramcount-tree span{padding-left:1.2em}
.paramcount-tree span~span,.paramcount-tree small~span{padding:0;text-align:right;white-space:nowrap}
.paramcount-tree details>*+*{margin-left:1.2em}
.paramcount-tree summary{list-style:none}
.paramcount-tree summary::-webkit-details-marker{display:none}
.paramcount-tree summary>:first-child::before{content:"\\25b8";float:left;margin-left:-1.2em;opacity:.7}
.paramcount-tree [open]>summary>:first-child::before{content:"\\25be"}
.paramcount-total>*{font-weight:bold}
.paramcount-tree .paramcount-total{border:0 solid rgba(128,128,128,.8);border-width:1px 0 0}
.paramcount-tree .paramcount-head{border-width:0 0 1px}
.paramcount-total>:first-child{padding:0}
.paramcount table{border-collapse:collapse;border:0;margin:0;font-size:inherit;table-layout:auto}
.paramcount caption{text-align:left;font-weight:bold;color:inherit;padding:.12em 0}
.paramcount th,.paramcount td{text-align:left;vertical-align:baseline;max-width:24em;overflow-wrap:break-word;\
padding:.12em 1.2em .12em 0;border:0;border-bottom:1px solid rgba(128,128,128,.25)}
.paramcount .paramcount-number{text-align:right;white-space:nowrap}"""


def render(sheet: Sheet) -> str:
    """The rows with what stands around them; every text is escaped, and the totals have all their digits."""
    parts = ['<div class="paramcount">', f"<style>\n{STYLE}\n</style>", *blocks(sheet), "</div>"]
    return "\n".join(parts).encode("ascii", "xmlcharrefreplace").decode()


def blocks(sheet: Sheet) -> Iterator[str]:
    """The parts of a fragment, one below the other: the title, the sheet above, the rows, the totals, the lines."""
    sheet = sheet.for_pages()
    apart = sheet.above is not None or bool(sheet.summary) or not sheet.headings
    if apart and sheet.title:
        yield f"<b>{escaped(sheet.title)}</b>"
    if sheet.above is not None:
        yield from blocks(sheet.above)
    if sheet.headings:
        folded = bool(sheet.summary)
        if folded:
            yield f"<details><summary>{escaped(sheet.summary)}</summary>"
        is_tree = bool(sheet.levels) and any(each.indented for each in sheet.headings)
        yield from (tree if is_tree else table)(sheet, "" if apart else sheet.title)
        if folded:
            yield "</details>"
    if sheet.totals:
        yield f"<p>{escaped(sheet.statement())}</p>"
    meanings = [f"{each.title} = {each.meaning}" for each in sheet.headings if each.meaning]
    yield from paragraphs([*sheet.below, "; ".join(meanings)])


def tree(sheet: Sheet, title: str) -> Iterator[str]:
    """The rows as a tree, with a grid in each. Its first cell has the columns up to the name, and in grey the asides.

    The other columns are as wide as their longest text, so that they stand below each other at every level.
    """
    headings = sheet.headings
    start = next(index for index, each in enumerate(headings) if each.indented) + 1
    columns = [index for index, each in enumerate(headings) if index >= start and not each.aside]
    asides = [index for index, each in enumerate(headings) if index >= start and each.aside]

    def grid(texts: Sequence[str], name: str, aside: str = "") -> str:
        cells = [f"<span>{escaped(name)}{f' <small>{escaped(aside)}</small>' if aside else ''}</span>"]
        for index in columns:
            tag = "span" if headings[index].right else "small"
            cells.append(f"<{tag}>{escaped(texts[index])}</{tag}>")
        return " ".join(cells)

    def joined(texts: Sequence[str]) -> str:
        return grid(texts, " ".join(filter(None, texts[:start])), " ".join(filter(None, [texts[i] for i in asides])))

    titles = [each.title for each in headings]
    rows = [written(headings, row) for row in sheet.rows]
    footer = [] if sheet.footer is None else [written(headings, sheet.footer)]
    widths = []  # in digits, with some room for wider characters
    for index in columns:
        longest = max(len(texts[index]) for texts in (titles, *rows, *footer))
        widths.append(2 + (longest if headings[index].right else min(longest, WIDEST)))
    least = NAMED + 2 * max(sheet.levels) + sum(widths) + len(widths)
    grids = " ".join(["minmax(0,1fr)", *(f"{width}ch" for width in widths)])
    yield f'<div class="paramcount-tree" style="--columns:{grids};min-width:{least}ch">'
    yield f'<div class="paramcount-total paramcount-head">{grid(titles, title or titles[start - 1])}</div>'
    yield from nested([joined(texts) for texts in rows], sheet.levels)
    yield from (f'<div class="paramcount-total">{joined(texts)}</div>' for texts in footer)
    yield "</div>"


def nested(rows: Sequence[str], levels: Sequence[int]) -> Iterator[str]:
    """Rows in pre-order, each with those below it folded away, unless it stands alone."""
    opened: list[int] = []  # the levels of the rows that are not closed yet
    alone = True
    for index, (row, level) in enumerate(zip(rows, levels, strict=True)):
        while opened and opened[-1] >= level:
            opened.pop()
            yield "</details>"
        alone = alone and all(other > level for other in levels[index + 1 :])
        if index + 1 < len(levels) and levels[index + 1] > level:
            yield f"<details{' open' if alone else ''}><summary>{row}</summary>"
            opened.append(level)
        else:
            yield f"<div>{row}</div>"
    yield from ["</details>"] * len(opened)


def table(sheet: Sheet, title: str) -> Iterator[str]:
    """The rows as a table."""

    def line(texts: Sequence[str], tag: str = "td") -> str:
        cells = []
        for heading, text in zip(sheet.headings, texts, strict=True):
            number = ' class="paramcount-number"' if heading.right else ""
            cells.append(f"<{tag}{number}>{prose(text) if heading.wrap else escaped(text)}</{tag}>")
        return f"<tr>{''.join(cells)}</tr>"

    yield "<table>"
    if title:
        yield f"<caption>{escaped(title)}</caption>"
    yield f"<thead>{line([each.title for each in sheet.headings], 'th')}</thead>"
    yield "<tbody>"
    yield from (line(written(sheet.headings, row)) for row in sheet.rows)
    yield "</tbody>"
    if sheet.footer is not None:
        yield f"<tfoot>{line(written(sheet.headings, sheet.footer), 'th')}</tfoot>"
    yield "</table>"


def written(headings: Sequence[Heading], values: Sequence[Any]) -> list[str]:
    """The texts of a row."""
    return [heading.text(value) for heading, value in zip(headings, values, strict=True)]


def paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """Lines of text, each on its own; an empty one begins a paragraph, and those of code stay as they are written."""
    for (filled, is_code), group in groupby(lines, lambda each: (bool(each), each.startswith(CODE))):
        if is_code:
            yield "<pre>{}</pre>".format("\n".join(escaped(each.removeprefix(CODE)) for each in group))
        elif filled:
            yield f"<p>{'<br>'.join(map(prose, group))}</p>"


def prose(text: str) -> str:
    return sentence(text, escaped, lambda code: f"<code>{escaped(code)}</code>")


def escaped(text: str) -> str:
    """A text between tags; characters that a terminal may not have are not for a page either."""
    return escape(visible(text), quote=False)
