"""What a result shows, between the results and the formats: a title, a table of raw values, and what stands below it.

A result makes a Sheet, a format writes one, and neither knows the other; `render/writing.py` has the formats.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from paramcount.numbers import units
from paramcount.numbers.units import binary, decimal, grouped, rounded

SCHEMA = 1  # of what JSON holds
BAR = 6  # characters
EIGHTHS = " ▏▎▍▌▋▊▉"
CODE = "    "
PEOPLE, PROGRAMS = "people", "programs"  # for whom a column is


class Share(NamedTuple):
    """A part of a whole, of which the quotient is shown."""

    part: int
    whole: int


class Heading(NamedTuple):
    """A column of a sheet: its name, as JSON has it, its title, and how a value is written.

    Numbers stand on the `right`, and an unknown one is a dash. If the table is too wide, texts are shortened to `wide`
    characters, then columns with a rank in `drop` are left out, the lowest first, then the texts of columns with `cut`
    are shortened further. A column with `if_any` is left out if it is empty, `colour` gives the code that the terminal
    has for a value, and `meaning` is explained below the table. `reader` is PEOPLE or PROGRAMS for a column that only
    those have: tables are for people, CSV and records for programs. An `indented` column shows the tree of the rows; an
    `aside` says more about a row, and may stand beside its name. Texts of a column with `wrap` are sentences, which are
    not shortened, but broken into lines of at least that many characters.
    """

    name: str
    title: str
    write: Callable[[Any], str] = str
    right: bool = False
    drop: int = 0
    wide: int = 0
    cut: bool = False
    if_any: bool = False
    colour: Callable[[Any], str] | None = None
    meaning: str = ""
    reader: str = ""
    indented: bool = False
    aside: bool = False
    wrap: int = 0

    def text(self, value: Any) -> str:
        """A value for people."""
        if value is None:
            return "–" if self.right else ""
        return self.write(value)

    def plain(self, value: Any) -> int | float | str | bool | None:
        """A value for programs: a number has all its digits, and a share is a fraction.

        >>> Heading("macs", "MACs", decimal).plain(10838016), Heading("share", "share", percent).plain(Share(1, 4))
        (10838016, 0.25)
        """
        if isinstance(value, Share):
            return value.part / value.whole if value.whole else None
        return value if value is None or isinstance(value, (bool, int, float, str)) else self.write(value)


class Sheet(NamedTuple):
    """A table with a value, or None, for each heading in each row, and what stands around it.

    `totals` are lines of a label, a whole number and how it is written in its unit; `below` are lines of text, where an
    empty line begins a paragraph, and one that begins with CODE is shown as it is written. `data` returns the whole
    result as plain values, for JSON. If the rows are a tree, `levels` has the depth of each, from 0. `footer` is the
    row of the totals of the columns, which a terminal does not show, since the totals stand below. `above` is a smaller
    sheet that stands before the rows, and `summary` says what the rows are, for formats that fold them away.
    """

    title: str
    headings: Sequence[Heading]
    rows: Sequence[Sequence[Any]]
    totals: Sequence[tuple[str, int | None, Callable[[int], str]]]
    below: Sequence[str]
    data: Callable[[], dict[str, Any]]
    levels: Sequence[int] = ()
    footer: Sequence[Any] | None = None
    above: Sheet | None = None
    summary: str = ""

    def saying(self, *lines: str) -> Sheet:
        """The same sheet with more lines below; empty ones are left out."""
        return self._replace(below=(*self.below, *filter(None, lines)))

    def warning(self, warnings: Iterable[str]) -> Sheet:
        """The same sheet with warnings below."""
        return self.saying(*(f"warning: {each}" for each in warnings))

    def for_reader(self, reader: str) -> Sheet:
        """The same sheet with the columns that are for PEOPLE, less those with `if_any` that are empty; or PROGRAMS."""
        kept = [index for index, each in enumerate(self.headings) if each.reader in ("", reader)]
        if reader == PEOPLE:
            kept = [index for index in kept if not self.headings[index].if_any or self.filled(index)]
        if len(kept) == len(self.headings):
            return self

        def chosen(cells: Sequence[Any]) -> list[Any]:
            return [cells[index] for index in kept]

        footer = None if self.footer is None else chosen(self.footer)
        rows = [chosen(row) for row in self.rows]
        return self._replace(headings=chosen(self.headings), rows=rows, footer=footer)

    def for_pages(self) -> Sheet:
        """The columns for people, without bars that nobody asked for: they are for a terminal, and repeat the share."""
        headings = [
            each._replace(reader=PROGRAMS) if each.reader and each.write is bar else each for each in self.headings
        ]
        return self._replace(headings=headings).for_reader(PEOPLE)

    def filled(self, index: int) -> bool:
        """Whether a column says anything."""
        write = self.headings[index].text
        return any(row[index] is not None and write(row[index]) for row in self.rows)

    def with_all_digits(self) -> Sheet:
        """The same sheet with all digits of counts and bytes in the rows."""
        headings = [each._replace(write=grouped) if each.write in (decimal, binary) else each for each in self.headings]
        return self._replace(headings=headings, above=self.above and self.above.with_all_digits())

    def leveled(self) -> Iterator[tuple[Sequence[Any], int]]:
        """The rows with their depths in the tree, which are 0 if they are none."""
        return zip(self.rows, self.levels or [0] * len(self.rows), strict=True)

    def texts(
        self, row: Sequence[Any], cell: Callable[[Heading, Any], str] = Heading.text, indent: str = ""
    ) -> list[str]:
        """The texts of a row as a format writes a cell, with an indent where the row's name stands."""
        cells = zip(self.headings, row, strict=True)
        return [indent * heading.indented + cell(heading, value) for heading, value in cells]

    def statement(self) -> str:
        """The totals in one line; a label that is indented says what a part of the one before it is."""
        found = ""
        for label, number, write in self.totals:
            text = f"{'–' if number is None else grouped(number)} {label.strip()}"
            if number is not None and write is binary and number >= 1024:
                text += f" ({binary(number)})"
            found += (", " if label.startswith(" ") else " · ") + text if found else text
        return found

    def records(self) -> list[dict[str, Any]]:
        """Each row as plain values by the names of their columns, as programs read them."""
        sheet = self.for_reader(PROGRAMS)
        return [
            {heading.name: heading.plain(value) for heading, value in zip(sheet.headings, row, strict=True)}
            for row in sheet.rows
        ]


def sentence(text: str, plain: Callable[[str], str], code: Callable[[str], str]) -> str:
    """A sentence in a format, of which `code` writes what stands in backticks, and `plain` all else.

    >>> sentence("`bias` is false", str.upper, "<{}>".format)
    '<bias> IS FALSE'
    """
    parts = re.split(r"(?<!`)`(?! )([^`]+)(?<! )`(?!`)", text)
    return "".join(code(part) if index % 2 else plain(part) for index, part in enumerate(parts))


def explained(below: Sequence[str], headings: Iterable[Heading]) -> list[str]:
    """The lines below a table; the last one goes on with what the columns mean."""
    found = meanings(headings)
    return [*below[:-1], "; ".join([*below[-1:], *found])] if found else list(below)


def meanings(headings: Iterable[Heading]) -> list[str]:
    """What columns mean that do not speak for themselves."""
    return [f"{each.title} = {each.meaning}" for each in headings if each.meaning]


def percent(share: Share) -> str:
    """A part of a whole in percent, to one decimal; a dash if the whole is 0.

    >>> percent(Share(1, 3)), percent(Share(0, 0))
    ('33.3%', '–')
    """
    part, whole = share
    return units.percent(part, whole) if whole else "–"


def bar(share: Share) -> str:
    """A bar whose length is the part relative to the largest of its column."""
    part, most = share
    full, eighths = divmod(rounded(8 * BAR * part, most) if most else 0, 8)
    return "█" * full + EIGHTHS[eighths].strip()
