"""The rows of a sweep in a file, part by part: CSV, JSON or Parquet, by the file's name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from paramcount.errors import ArgumentError, needs, quote
from paramcount.render.csv import write_rows
from paramcount.render.replacement import Replacement, reported

if TYPE_CHECKING:
    from paramcount.sweeps.result import Sweep

FORMATS = ("csv", "json", "parquet")


class RowFile:
    """A file to which rows are appended; `count` is their number so far.

    Used in a `with` statement, at whose end the file takes the place of what was there; after an error nothing has
    changed. Rows that are not valid networks have their reason in the last column, `error`, and no figures.
    """

    def __init__(self, path: str, columns: Sequence[str]) -> None:
        self.path = path
        self.columns = list(columns)
        self.format = os.path.splitext(path)[1].removeprefix(".").lower()
        self.count, self.started = 0, False
        if self.format not in FORMATS:
            raise ArgumentError(f"{quote(path)} cannot hold rows", hint="a name must end in .csv, .json or .parquet")
        if self.format == "parquet":
            with needs(path):
                from paramcount.sweeps.parquet import Parquet
        self.file = Replacement(path)
        self.text: Any = None if self.format == "parquet" else TextIOWrapper(self.file.stream, "utf-8", newline="")
        self.parquet: Any = None if self.text else Parquet(self.file, [*columns, "error"])

    def __enter__(self) -> RowFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *raised: Any) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            if self.format == "parquet":
                self.parquet.discard()
            self.file.discard()  # which does nothing where the file is finished

    def finish(self) -> None:
        with reported(self.path):
            if self.format == "parquet":
                self.parquet.close()
            else:
                if self.format == "json":
                    self.text.write("\n]\n" if self.started else "[]\n")
                self.text.flush()
        self.file.finish()

    def append(self, part: Sweep) -> None:
        with reported(self.path):
            if self.format == "parquet":
                self.parquet.append(self.arrays(part))
            elif self.format == "csv":
                write_rows(self.text, [] if self.started else [[*self.columns, "error"]])
                write_rows(self.text, self.rows(part))
            else:
                from json import dumps

                names = [*self.columns, "error"]
                for index, row in enumerate(self.rows(part)):
                    self.text.write("[\n" if not self.started and not index else ",\n")
                    self.text.write(dumps(dict(zip(names, row, strict=True))))
        self.count += len(part)
        self.started = self.started or len(part) > 0 or self.format == "csv"

    def rows(self, part: Sweep) -> Iterator[list[Any]]:
        """The values of each row, with its error; one that is not a valid network has those that were given alone."""
        given = [name in part.space.axes for name in self.columns]
        lists = [part.columns[name].tolist() for name in self.columns]
        for code, *row in zip(part.reason.tolist(), *lists, strict=True):
            if code < 0:
                yield [*row, None]
            else:
                yield [*(value if kept else None for kept, value in zip(given, row, strict=True)), part.reasons[code]]

    def arrays(self, part: Sweep) -> Iterator[tuple[Any, Any]]:
        """The values of each column, with a mask of those that are unknown."""
        import numpy

        for name in self.columns:
            yield part.columns[name], None if name in part.space.axes else ~part.valid
        reasons = numpy.array([*part.reasons, None], object)[part.reason]
        yield reasons, part.reason < 0
