"""A sheet as CSV: the columns for programs, raw numbers, no totals, since programs sum the rows themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from paramcount.render.sheet import PROGRAMS, Sheet

NUMBER = r"[+-][0-9]*[.]?[0-9]+\Z"
FORMULA = re.compile(f"(?!{NUMBER})[=+\\-@\t\r\n＝＋－＠]")  # how a text begins that a spreadsheet computes


def render(sheet: Sheet) -> str:
    """A line of names, and a line for each row; an unknown value is empty."""
    from io import StringIO

    sheet, text = sheet.for_reader(PROGRAMS), StringIO()
    if sheet.headings:
        write_rows(text, [[each.name for each in sheet.headings]])
        plain = [each.plain for each in sheet.headings]
        write_rows(text, ([write(value) for write, value in zip(plain, row, strict=True)] for row in sheet.rows))
    return text.getvalue().removesuffix("\n")


class Lines:
    """A text file for a CSV writer, which quotes no ends of lines but its own, `\\r\\n`; the file has `\\n`."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def write(self, line: str) -> None:
        self.file.write(line.removesuffix("\r\n") + "\n")


def write_rows(file: Any, rows: Iterable[Iterable[Any]]) -> None:
    """Write rows of plain values to a text file."""
    from csv import writer

    writer(Lines(file), lineterminator="\r\n").writerows(list(map(cell, row)) for row in rows)


def cell(value: Any) -> Any:
    """A value for CSV; a text that a spreadsheet would read as a formula gets the apostrophe that makes it a text.

    Half of a surrogate pair, which UTF-8 does not have, is escaped.

    >>> cell("=1+1"), cell(-5), cell("-5"), cell("relu"), cell(None)
    ("'=1+1", -5, '-5', 'relu', '')
    """
    if not isinstance(value, str):
        return "" if value is None else value
    text = value.encode("utf-8", "backslashreplace").decode()
    return f"'{text}" if FORMULA.match(text) else text
