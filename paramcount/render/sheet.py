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
BAR = 6  # characters
EIGHTHS = " ▏▎▍▌▋▊▉"


class Heading(NamedTuple):
    """A column of a sheet: its name, as JSON has it, its title, and how a value is written.

    Numbers stand on the `right`, and an unknown one is a dash. If the table is too wide, texts are shortened to `wide`
    characters, then columns with a rank in `drop` are left out, the lowest first, then the texts of columns with `cut`
    are shortened further. A column with `if_any` is left out if it is empty, `colour` is a code of the terminal, and
    `meaning` is explained below the table.
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

    `totals` are lines of a label, a whole number and how it is written in its unit; `below` are lines of text, where
    an empty line begins a paragraph. `data` returns the whole result as plain values, for JSON.
    """

    title: str
    headings: Sequence[Heading]
    rows: Sequence[Sequence[Any]]
    totals: Sequence[tuple[str, int | None, Callable[[int], str]]]
    below: Sequence[str]
    data: Callable[[], dict[str, Any]]

    def saying(self, *lines: str) -> Sheet:
        """The same sheet with more lines below; empty ones are left out."""
        return self._replace(below=(*self.below, *filter(None, lines)))


def percent(share: tuple[int, int]) -> str:
    """A part of a whole in percent, to one decimal; a dash if the whole is 0.

    >>> percent((1, 3)), percent((0, 0))
    ('33.3%', '–')
    """
    part, whole = share
    if not whole:
        return "–"
    ones, tenth = divmod(rounded(1000 * part, whole), 10)
    return f"{ones}.{tenth}%"


def bar(share: tuple[int, int]) -> str:
    """A bar whose length is the part relative to the largest of its column."""
    part, most = share
    full, eighths = divmod(rounded(8 * BAR * part, most) if most else 0, 8)
    return "█" * full + EIGHTHS[eighths].strip()
