"""A sheet as text: a table that fits the terminal, the totals, and the lines below."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from paramcount.errors import printable, visible
from paramcount.numbers.units import grouped
from paramcount.render import terminal
from paramcount.render.sheet import CODE, PEOPLE, Heading, Sheet, explained

LONGEST = 120  # characters of a text on a terminal
SHORTEST = 6  # characters that are left of the texts of a column with `cut`
ROOM = 50  # columns of a terminal that has room for a total's unit
WRAPPED = 80  # columns of a terminal below which the lines under the table are wrapped


def whole(sheet: Sheet) -> str:
    """A sheet as text for a file: all columns, whole texts, no colour."""
    return render(sheet, width=sys.maxsize, encoding="utf-8", colour=False, cut=False)


def render(
    sheet: Sheet,
    *,
    width: int | None = None,
    encoding: str | None = None,
    colour: bool | None = None,
    cut: bool | None = None,
) -> str:
    """A sheet as text; `width`, `encoding` and `colour` are by default those of the terminal.

    Unless it is `cut` to the width, which by default a terminal asks for, no text is shortened.
    """
    sheet = sheet.for_reader(PEOPLE)
    if cut is None:
        cut = width is not None or terminal.interactive()  # what a program reads is whole
    encoding, width = encoding or terminal.encoding(), width or terminal.width()
    shown = fitting(sheet, width, encoding, cut)
    title = printable(sheet.title, LONGEST if cut else sys.maxsize)
    colour = terminal.colour() if colour is None else colour
    parts = [terminal.written(middle(title, width, "…") if cut else title, encoding)]
    if sheet.above is not None:
        parts.append(render(sheet.above, width=width, encoding=encoding, colour=colour, cut=cut))
    parts.append(lay_out(shown, colour))
    parts.append(terminal.written(listed(sheet.totals, units=width >= ROOM), encoding))
    headings = [each.heading for each in shown]
    lines = [visible(line) for line in explained(sheet.below, headings)]
    readable = min(width, LONGEST)
    below = [line if stays(line, readable, cut) else filled(line, readable) for line in lines]
    if any(each.meaning for each in headings):
        below[-1] = filled(lines[-1], readable)
    parts.append(terminal.written("\n".join(below), encoding))
    return "\n\n".join(filter(None, parts))


def stays(line: str, width: int, cut: bool) -> bool:
    """Whether a line is not wrapped: it fits, it is code, or it goes to a program."""
    return line.startswith(CODE) or (len(line) <= width if cut else width >= WRAPPED)


class Fitted(NamedTuple):
    """A column that is shown: its texts, the title first, and the values that they stand for."""

    heading: Heading
    texts: list[str]
    values: Sequence[Any]

    @property
    def widest(self) -> int:
        return max(len(line) for text in self.texts for line in text.split("\n"))

    def shorten(self, limit: int, mark: str) -> None:
        self.texts[:] = [middle(text, limit, mark) for text in self.texts]


def fitting(sheet: Sheet, width: int, encoding: str, cut: bool) -> list[Fitted]:
    """The columns of a sheet that are shown, with `cut` shortened to lines of at most `width` if possible."""
    columns: list[Fitted] = []
    values_of = list(zip(*sheet.rows, strict=True)) or [()] * len(sheet.headings)
    for heading, values in zip(sheet.headings, values_of, strict=True):
        longest = LONGEST if cut and not heading.wrap else sys.maxsize
        title, *texts = [printable(each, longest) for each in (heading.title, *map(heading.text, values))]
        if sheet.levels and heading.indented:
            texts = ["  " * level + text for level, text in zip(sheet.levels, texts, strict=True)]
        written = [terminal.written(text, encoding) for text in (title, *texts)]
        columns.append(Fitted(heading, written, values))
    mark = "~" if encoding == "ascii" else "…"

    def excess() -> int:
        return sum(each.widest + 2 for each in columns) - 2 - width

    def spare() -> int:
        return sum(max(0, each.widest - each.heading.wide) for each in columns if each.heading.wide)

    def shorten(limits: list[int]) -> None:
        """Shorten the texts of columns that have a limit, the widest first."""
        for column, least in sorted(zip(columns, limits, strict=True), key=lambda each: -each[0].widest):
            if least and (over := excess()) > 0:
                column.shorten(max(column.widest - over, least), mark)

    ranks = sorted(each.heading.drop for each in columns if each.heading.drop)
    while ranks and excess() > spare():
        lowest = ranks.pop(0)
        columns = [each for each in columns if each.heading.drop != lowest]
    if cut:
        break_lines([each for each in columns if each.heading.wrap], excess())
        shorten([0 if each.heading.wrap else each.heading.wide for each in columns])
        shorten([SHORTEST if each.heading.cut else 0 for each in columns])
    return columns


def break_lines(columns: Sequence[Fitted], excess: int) -> None:
    """Break texts into lines, so that the columns lose as many characters as are too many, or as many as they can."""
    limits = [each.widest for each in columns]
    for _ in range(excess):
        spare = [limit - each.heading.wrap for limit, each in zip(limits, columns, strict=True)]
        if max(spare, default=0) > 0:
            limits[spare.index(max(spare))] -= 1
    for column, limit in zip(columns, limits, strict=True):
        column.texts[:] = [filled(text, limit, whole_words=False) for text in column.texts]


def lay_out(columns: Sequence[Fitted], colour: bool) -> str:
    """The columns beside each other; where there is colour, titles are bold and values have that of their column."""
    if not columns:
        return ""
    painted = []
    for heading, (title, *texts), values in columns:
        if colour:
            title = coloured(title, "1")
        if colour and heading.colour:
            texts = [coloured(text, heading.colour(value)) for text, value in zip(texts, values, strict=True)]
        painted.append([title, *texts])
    rows = [line for row in zip(*painted, strict=True) for line in zip_longest(*map(lines_of, row), fillvalue="")]
    return aligned(rows, ["right" if each.heading.right else "left" for each in columns])


def lines_of(text: str) -> list[str]:
    """The lines of a cell."""
    return text.split("\n")


def coloured(text: str, code: str) -> str:
    """A text in a colour of the terminal."""
    return f"\x1b[{code}m{text}\x1b[0m" if text and code else text


def listed(lines: Sequence[tuple[str, int | None, Callable[[int], str]]], units: bool = True) -> str:
    """Figures with their names, each exactly and, with `units`, in its unit."""
    rows = []
    for label, n, write in lines:
        rows.append((label, "–", "") if n is None else (label, grouped(n), write(n) if units and n >= 1000 else ""))
    return aligned(rows, ("left", "right", "right"))


def aligned(rows: Iterable[Sequence[str]], sides: Sequence[str]) -> str:
    """Rows of texts in columns, each aligned to its side, left or right.

    >>> print(aligned([("conv", "864"), ("dense", "1,280")], ("left", "right")))
    conv     864
    dense  1,280
    """
    table = [list(row) for row in rows]
    widths = [max(map(seen, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        room = [" " * (width - seen(text)) for text, width in zip(row, widths, strict=True)]
        cells = zip(row, room, sides, strict=True)
        lines.append("  ".join(gap + text if side == "right" else text + gap for text, gap, side in cells).rstrip())
    return "\n".join(lines)


def seen(text: str) -> int:
    """How many columns of the terminal a text takes; its colours take none."""
    return len(re.sub(r"\x1b\[\d*m", "", text)) if "\x1b" in text else len(text)


def middle(text: str, limit: int, mark: str) -> str:
    """A text of at most `limit` characters; the middle of a longer one is replaced by a mark."""
    if len(text) <= limit:
        return text
    kept = limit - len(mark)
    return text[: kept - kept // 2] + mark + (text[-(kept // 2) :] if kept // 2 else "")


def filled(line: str, width: int, whole_words: bool = True) -> str:
    """A line of words, wrapped to lines of at most `width`, or of one longer word, such as an address.

    >>> print(filled("variants  tiny  small  base  large", 22))
    variants  tiny  small
              base  large
    """
    from textwrap import fill

    begin = re.match(r"(\w{1,12}  +| +|)", line)  # a label, or an indentation
    indent = " " * min(begin.end() if begin else 0, width // 2)
    return fill(line, width, subsequent_indent=indent, break_long_words=not whole_words, break_on_hyphens=False)
