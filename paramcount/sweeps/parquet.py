"""Columns of numbers and texts in a Parquet file, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow
from pyarrow.parquet import ParquetFile, ParquetWriter

from paramcount.render.replacement import Replacement, reported

WHOLE, FRACTION, TEXT = pyarrow.int64(), pyarrow.float64(), pyarrow.string()


class Parquet:
    """A table that is appended to. Where a column's type differs between parts, it takes the one that holds all values.

    Those are fractions where some are whole and others are not, otherwise texts; the rows so far are written once more.
    """

    def __init__(self, file: Replacement, names: Sequence[str]) -> None:
        self.file, self.names = file, names
        self.writer: Any = None

    def append(self, columns: Iterable[tuple[Any, Any]]) -> None:
        """Write the values of each column, of which those under its mask are unknown."""
        part = pyarrow.Table.from_arrays([array(values, mask) for values, mask in columns], self.names)
        if self.writer is None:
            self.writer = ParquetWriter(self.file.stream, part.schema)
        elif self.writer.schema != part.schema:
            types = [wider(one.type, two.type) for one, two in zip(self.writer.schema, part.schema, strict=True)]
            schema = pyarrow.schema(zip(self.names, types, strict=True))
            if schema != self.writer.schema:
                self.rewrite(schema)
            part = cast(part, schema)
        self.writer.write_table(part)

    def rewrite(self, schema: Any) -> None:
        """Begin again with the rows so far, in columns of other types."""
        self.writer.close()
        with self.file.again() as before, ParquetFile(before) as rows:
            self.writer = ParquetWriter(self.file.stream, schema)
            for group in range(rows.num_row_groups):
                self.writer.write_table(cast(rows.read_row_group(group), schema))

    def close(self) -> None:
        """Write the end of the table."""
        if self.writer is not None:
            self.writer.close()

    def discard(self) -> None:
        """Keep the writer from writing to a file that is given up."""
        if self.writer is not None:
            self.writer.is_open = False


def write(path: str, columns: Mapping[str, Any]) -> None:
    """Replace a file by one with arrays of values by name; raises ArgumentError where it cannot be written."""
    file = Replacement(path)
    table = Parquet(file, list(columns))
    try:
        with reported(path):
            table.append((values, None) for values in columns.values())
            table.close()
        file.finish()
    finally:
        table.discard()
        file.discard()


def array(values: Any, mask: Any) -> Any:
    if values.dtype.kind == "O":
        texts = [None if value is None else str(value) for value in values.tolist()]
        return pyarrow.array(texts, TEXT, mask=mask)
    return pyarrow.array(values, mask=mask)


def wider(one: Any, two: Any) -> Any:
    """The type that holds the values of two types."""
    if one == two:
        return one
    return FRACTION if {one, two} == {WHOLE, FRACTION} else TEXT


def cast(table: Any, schema: Any) -> Any:
    """A table with columns of other types; a number becomes text as Python writes it."""
    columns = []
    for column, field in zip(table.columns, schema, strict=True):
        if field.type == TEXT != column.type:
            texts = [None if value is None else str(value) for value in column.to_pylist()]
            columns.append(pyarrow.array(texts, TEXT))
        else:
            columns.append(column.cast(field.type))
    return pyarrow.Table.from_arrays(columns, schema=schema)
