"""What a result shows, between the results and the formats: a title, a table of raw values, and what stands below it.

A result makes a Sheet, a format writes one, and neither knows the other. A new format is a module of this folder with
`render(sheet)`, and its name in FORMATS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from paramcount.numbers.units import rounded

FORMATS = ("table", "json")  # of `--format`
SCHEMA = 1  # of what JSON holds
BAR = 6
EIGHTHS = " ▏▎▍▌▋▊▉"


class Heading(NamedTuple):
    """A column of a sheet: its name, as JSON has it, its title, and how a value is written.

    Numbers stand on the `right`, and an unknown one is a dash. Where the room is narrow, columns with a rank in `drop`
    go, the lowest first, but only once texts are as short as `wide`; those of a column with `cut` become even shorter
    where nothing else helps. A column with `if_any` is left out where it is empty, `colour` is a code of the terminal,
    and `meaning` is said below the table.
    """

    name: str
    title: str
    write: Callable[[Any], str] = str
    right: bool = False
    drop: int = 0
    wide: int = 0
    cut: bool = False
    if_any: bool = False
    colour: str = ""
    meaning: str = ""

    def text(self, value: Any) -> str:
        if value is None:
            return "–" if self.right else ""
        return self.write(value)


class Sheet(NamedTuple):
    """A table with a value, or None, for each heading in each row, and what stands around it.

    `totals` are lines of a label, a whole number and how it is written in its unit; `below` are lines of text, of which
    an empty one begins a paragraph. `data` gives the whole result as plain values, for JSON.
    """

    title: str
    headings: Sequence[Heading]
    rows: Sequence[Sequence[Any]]
    totals: Sequence[tuple[str, int | None, Callable[[int], str]]]
    below: Sequence[str]
    data: Callable[[], dict[str, Any]]

    def saying(self, *lines: str) -> Sheet:
        """The same with more lines below, but for empty ones."""
        return self._replace(below=(*self.below, *filter(None, lines)))


def percent(share: tuple[int, int]) -> str:
    """A part of a whole in percent, to one decimal; a dash where there is nothing to share.

    >>> percent((1, 3)), percent((0, 0))
    ('33.3%', '–')
    """
    part, whole = share
    if not whole:
        return "–"
    ones, tenth = divmod(rounded(1000 * part, whole), 10)
    return f"{ones}.{tenth}%"


def bar(share: tuple[int, int]) -> str:
    """A bar that is full where the part is the most."""
    part, most = share
    full, eighths = divmod(rounded(8 * BAR * part, most) if most else 0, 8)
    return "█" * full + EIGHTHS[eighths].strip()
