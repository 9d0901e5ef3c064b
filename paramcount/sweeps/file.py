"""The rows of a sweep in a file, part by part: CSV, JSON or Parquet, by the file's name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from paramcount.errors import ArgumentError, needs, quote
from paramcount.sweeps.result import Sweep

FORMATS = ("csv", "json", "parquet")
FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # how a text begins that a spreadsheet reads as a formula


def cell(value: Any) -> Any:
    """A value for CSV; a text that a spreadsheet would read as a formula gets the apostrophe that makes it a text.

    >>> cell("=1+1"), cell(-5), cell("relu"), cell(None)
    ("'=1+1", -5, 'relu', '')
    """
    if isinstance(value, str):
        number = value[1:].replace(".", "", 1).isdigit()
        return f"'{value}" if value.startswith(FORMULAS) and not number else value
    return "" if value is None else value


class RowFile:
    """A file to which rows are appended; `count` is their number so far.

    Rows that are not valid networks have their reason in the last column, `error`, and no figures.
    """

    def __init__(self, path: str, columns: Sequence[str]) -> None:
        self.path = path
        self.columns = list(columns)
        self.format = os.path.splitext(path)[1].removeprefix(".").lower()
        self.count, self.started = 0, False
        self.parquet: Any = None
        self.stream: Any = None
        if self.format not in FORMATS:
            raise ArgumentError(f"{quote(path)} cannot hold rows", hint="a name must end in .csv, .json or .parquet")
        if self.format == "parquet":
            with needs(path):
                import pyarrow.parquet  # noqa: F401
            return
        try:
            self.stream = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115
        except OSError as error:
            raise ArgumentError(f"{quote(path)} cannot be written: {error.strerror}") from None

    def append(self, part: Sweep) -> None:
        if self.format == "parquet":
            self.append_table(part)
        elif self.format == "csv":
            from csv import writer

            rows = writer(self.stream, lineterminator="\n")
            if not self.started:
                rows.writerow([*self.columns, "error"])
            rows.writerows([list(map(cell, row)) for row in self.rows(part)])
        else:
            from json import dumps

            names = [*self.columns, "error"]
            for index, row in enumerate(self.rows(part)):
                self.stream.write("[\n" if not self.started and not index else ",\n")
                self.stream.write(dumps(dict(zip(names, row, strict=True))))
        self.count += len(part)
        self.started = self.started or len(part) > 0 or self.format == "csv"

    def rows(self, part: Sweep) -> Iterator[list[Any]]:
        figures = [name not in part.variables for name in self.columns]
        lists = [part.columns[name].tolist() for name in self.columns]
        for code, *row in zip(part.reason.tolist(), *lists, strict=True):
            if code < 0:
                yield [*row, None]
            else:
                kept = [None if figure else value for figure, value in zip(figures, row, strict=True)]
                yield [*kept, part.reasons[code]]

    def append_table(self, part: Sweep) -> None:
        import pyarrow
        import pyarrow.parquet

        arrays = []
        for name in self.columns:
            values = part.columns[name]
            if name not in part.variables:
                arrays.append(pyarrow.array(values, mask=~part.valid))
            elif values.dtype == object:
                arrays.append(pyarrow.array([str(value) for value in values.tolist()], pyarrow.string()))
            else:
                arrays.append(pyarrow.array(values))
        reasons = [None if code < 0 else part.reasons[code] for code in part.reason.tolist()]
        arrays.append(pyarrow.array(reasons, pyarrow.string()))
        table = pyarrow.Table.from_arrays(arrays, names=[*self.columns, "error"])
        if self.parquet is None:
            try:
                self.parquet = pyarrow.parquet.ParquetWriter(self.path, table.schema)
            except OSError as error:
                raise ArgumentError(f"{quote(self.path)} cannot be written: {error}") from None
        self.parquet.write_table(table)

    def close(self) -> None:
        if self.parquet is not None:
            self.parquet.close()
        if self.stream is not None:
            if self.format == "json":
                self.stream.write("\n]\n" if self.started else "[]\n")
            self.stream.close()
