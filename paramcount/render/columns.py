"""Text in columns and lines that fit the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence


def aligned(rows: Iterable[Sequence[str]], sides: Sequence[str]) -> str:
    """Rows of texts in columns, each of which is aligned to a side, left or right.

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
    """How many columns a text takes where its colours take none."""
    return len(re.sub(r"\x1b\[\d*m", "", text)) if "\x1b" in text else len(text)


def fit(
    cells: dict[str, list[str]],
    titles: dict[str, str],
    width: int,
    encoding: str,
    dropped: Sequence[str],
    shortened: Mapping[str, int],
) -> None:
    """Drop columns, and shorten the texts of others in the middle, until a line is at most `width` wide.

    `dropped` are those that may go, the least important first, `shortened` columns of text with how wide they stay.
    """
    mark = "~" if encoding == "ascii" else "…"

    def widest(name: str) -> int:
        return max(map(len, [titles[name], *cells[name]]))

    def excess() -> int:
        return sum(widest(name) + 2 for name in cells) - 2 - width

    def shorten(least: Mapping[str, int]) -> None:
        for name in sorted(cells.keys() & least.keys(), key=widest, reverse=True):
            over = excess()
            if over > 0:
                limit = max(widest(name) - over, least[name])
                cells[name] = [middle(text, limit, mark) for text in cells[name]]

    left = list(dropped)
    while excess() > sum(max(0, widest(name) - least) for name, least in shortened.items() if name in cells) and left:
        cells.pop(left.pop(0), None)
    shorten(shortened)
    shorten(dict.fromkeys((*shortened, "setting", "kind"), 6))  # where columns were chosen


def middle(text: str, limit: int, mark: str) -> str:
    """A text of at most `limit` characters, what is too much taken out of its middle."""
    if len(text) <= limit:
        return text
    kept = limit - len(mark)
    return text[: kept - kept // 2] + mark + (text[-(kept // 2) :] if kept // 2 else "")


def wrapped(line: str, width: int) -> str:
    """A line of words, in several lines where the terminal is narrow."""
    if width >= 80:
        return line
    from textwrap import fill

    return fill(line, width)
