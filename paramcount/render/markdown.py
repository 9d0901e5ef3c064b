"""A sheet as Markdown, as GitHub reads it: the title, a table whose last row has the totals, and the lines below."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from paramcount.errors import visible
from paramcount.render.sheet import CODE, Heading, Sheet, explained, sentence

SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&#])")  # what formats, links, ends a cell, or begins a formula or an entity
LIST = re.compile(r"^(\d*)([-+=.)])")  # how a line begins that is an item of a list or underlines the one before
URL = re.compile(r"https?://[^\s<>|\\`]+")
INDENT = "&nbsp;&nbsp;"


def render(sheet: Sheet) -> str:
    """The title and the last row are bold; all totals stand in one paragraph below the table, with all their digits."""
    sheet = sheet.for_pages()
    rows = table(sheet)
    if sheet.summary and rows:
        rows = f"<details><summary>{summary(sheet.summary)}</summary>\n\n{rows}\n\n</details>"
    parts = [
        bold(escaped(sheet.title.strip())),
        render(sheet.above) if sheet.above is not None else "",
        rows,
        escaped(sheet.statement()),
        *paragraphs(explained(sheet.below, sheet.headings)),
    ]
    return "\n\n".join(filter(None, parts))


def table(sheet: Sheet) -> str:
    """The rows as a pipe table; those of a tree are indented."""
    if not sheet.headings:
        return ""
    from tabulate import tabulate

    def texts(row: Sequence[Any], level: int = 0) -> list[str]:
        cells = zip(sheet.headings, row, strict=True)
        return [INDENT * level * heading.indented + cell(heading, value) for heading, value in cells]

    rows = [texts(row, level) for level, row in zip(sheet.levels or [0] * len(sheet.rows), sheet.rows, strict=True)]
    if sheet.footer is not None:
        rows.append([bold(text) for text in texts(sheet.footer)])
    titles = [escaped(each.title) for each in sheet.headings]
    sides = ["right" if each.right else "left" for each in sheet.headings]
    return tabulate(rows, headers=titles, tablefmt="pipe", colalign=sides if rows else None, disable_numparse=True)


def cell(heading: Heading, value: Any) -> str:
    """A value in a cell, where even code cannot have a bar as it is."""
    text = heading.text(value)
    return sentence(text, escaped, lambda code: written(code).replace("|", "\\|")) if heading.wrap else escaped(text)


def written(code: str) -> str:
    return f"`{visible(code)}`"


def escaped(text: str) -> str:
    """A text that Markdown shows as it is; characters that cannot be seen are escaped, and an address is a link.

    >>> print(escaped("a|b*"), escaped("https://arxiv.org/abs/1801.04381"))
    a\\|b\\* <https://arxiv.org/abs/1801.04381>
    """
    text = visible(text)
    return f"<{text}>" if URL.fullmatch(text) else SPECIAL.sub(r"\\\1", text)


def paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """Lines of text, each as a paragraph, and those of code together as they are written."""
    for is_code, group in groupby(lines, lambda each: each.startswith(CODE)):
        if is_code:
            yield "\n".join(map(visible, group))
        else:
            yield from map(line, group)


def line(text: str) -> str:
    """A line as a paragraph, even if it begins like an item of a list."""
    return LIST.sub(r"\1\\\2", sentence(text.strip(), escaped, written))


def bold(text: str) -> str:
    return f"**{text}**" if text else ""


def summary(text: str) -> str:
    """A line within HTML."""
    from html import escape

    return escape(visible(text))
