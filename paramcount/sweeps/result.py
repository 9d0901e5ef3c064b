"""The result of a sweep: columns of figures with a row for each variant, from which conditions choose."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

from paramcount.cost.count import count
from paramcount.cost.figures import Figures
from paramcount.errors import ArgumentError, ParamcountError, Position, SpecError, Undecided, needs, quote
from paramcount.language.expression.parse import Expression, parse
from paramcount.layers.arguments import argument, column_names, file_path, whole_argument
from paramcount.layers.fields import Text
from paramcount.numbers.amounts import amount, is_bytes
from paramcount.numbers.column import Column, Mask
from paramcount.numbers.units import number_of
from paramcount.render.sheet import Sheet
from paramcount.render.shown import Shown
from paramcount.render.writing import format_of
from paramcount.sweeps.space import Space

BRIEF = 10  # rows that a notebook shows
PARQUET = ".parquet"
SUFFIXED = r"(?<![\w.])(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]\+?[0-9]+)?[kmgtpbKMGTPB](?:i?[bB])?(?!\w)"  # 3.5M, 14MiB


@dataclass(frozen=True)
class Sweep(Shown):
    """The variants of a spec, a row for each: `columns` are arrays by name, of the variables and of all figures.

    `str()` is a table of the first ten rows.

    `valid` says which rows are valid networks; the figures of the others are 0, and `reasons[reason[row]]` says why.
    That is the reason of the first of several rows that failed together; `error(row)` is the row's own.
    """

    name: str
    variant: str | None
    variables: tuple[str, ...]
    columns: dict[str, Any]
    valid: Any
    reason: Any
    reasons: list[str]
    space: Space = field(repr=False)

    def __len__(self) -> int:
        return len(self.valid)

    def __repr__(self) -> str:
        return f"<Sweep {self.space.subject}: {number_of(len(self), 'variant')} by {', '.join(self.variables)}>"

    def sheet(self, columns: Sequence[str] | None = None, top: int | None = None) -> Sheet:
        """A line for each valid row, or for the first `top` of them, and how many there are.

        `columns` replaces the usual ones. Raises ArgumentError for an unknown column.
        """
        from paramcount.sweeps.table import Tried, sheet

        names, rows = self.asked(columns, top)
        reasons = {each: int((self.reason == code).sum()) for code, each in enumerate(self.reasons)}
        number = int(self.valid.sum())
        tried = Tried(len(self), number, {reason: number for reason, number in reasons.items() if number})
        return sheet(self.take(rows), names, tried, columns is not None)

    def asked(self, columns: Sequence[str] | None = None, top: int | None = None) -> tuple[list[str], Any]:
        """The columns that were asked for, or the usual ones, and the indices of the rows."""
        from paramcount.sweeps.table import USUAL

        names = column_names(columns) or [*self.variables, *(name for name in USUAL if name in self.columns)]
        for name in names:
            if name not in self.columns:
                from paramcount.errors.suggest import unknown

                raise unknown("column", name, self.columns)
        rows = self.valid.nonzero()[0]
        return list(dict.fromkeys(names)), rows if top is None else rows[: whole_argument("top", top)]

    def save(self, path: str | PathLike[str], *, exact: bool = False, **settings: Any) -> None:
        """Write the valid rows to a file, in the format of its ending: also .parquet, which needs pyarrow.

        A .svg, .png or .pdf file is a plot. Raises ArgumentError as that of every result, MissingPackageError without
        pyarrow or matplotlib.
        """
        from paramcount.sweeps.plot import PLOTS

        name = file_path("path", path)
        if format_of(name, PARQUET, *PLOTS) is not None:
            super().save(name, exact=exact, **settings)
            return
        self.check_settings(settings)
        if name.lower().endswith(PLOTS):
            if settings:
                raise ArgumentError("a plot takes no settings", hint="`Sweep.plot` takes two columns")
            self.plot(name)
            return
        names, rows = self.asked(**settings)
        if settings.get("columns") is None:
            names = list(dict.fromkeys([*names, *self.columns]))
        with needs(name):
            from paramcount.sweeps.parquet import write
        write(name, {each: self.columns[each][rows] for each in names})

    def brief(self) -> Sheet:
        return self.sheet(top=BRIEF)

    def to_dict(self) -> dict[str, Any]:
        """All valid rows as plain values, ready for JSON, and why others are not valid."""
        return self.sheet(list(self.columns)).data()

    def take(self, rows: Any) -> Sweep:
        """Some rows: a mask, or indices in any order; raises ArgumentError for those that do not exist."""
        rows = self.chosen(rows)
        columns = {name: values[rows] for name, values in self.columns.items()}
        return replace(self, columns=columns, valid=self.valid[rows], reason=self.reason[rows])

    def chosen(self, rows: Any) -> Any:
        """Indices, a mask or a slice, as NumPy takes them."""
        import numpy

        if isinstance(rows, slice):
            return rows
        try:
            found = numpy.atleast_1d(rows)
            whole = found.dtype.kind in "iu" or not found.size
            if found.ndim > 1 or not (whole or (found.dtype == bool and found.shape == self.valid.shape)):
                raise ValueError("neither indices nor a mask")
            found = found if found.size else found.astype(int)
            self.valid[found]
        except (IndexError, TypeError, ValueError, OverflowError):
            hint = f"there are {len(self):,}: give indices from 0, or a mask"
            raise ArgumentError(f"{quote(rows, repr)} are not rows of the sweep", hint=hint, argument="rows") from None
        return found

    def where(self, condition: str) -> Sweep:
        """The valid rows for which an expression of the columns holds: `"params < 5e6 and macs / params > 80"`."""
        return self.take(holds(read_condition(condition, list(self.columns)), self.columns, self.valid))

    def top(self, rows: int, by: str) -> Sweep:
        """The valid rows with the smallest values of a column, or the largest for `-macs`; equal ones in order."""
        import numpy

        rows = whole_argument("rows", rows, at_least=0)
        chosen = numpy.flatnonzero(self.valid)
        keys = self.signed(by)[chosen]
        if 0 < rows < len(keys):  # only the best need an order, and all that equal the last of them
            kept = keys <= numpy.partition(keys, rows - 1)[rows - 1]
            chosen, keys = chosen[kept], keys[kept]
        return self.take(chosen[numpy.argsort(keys, kind="stable")][:rows])

    def pareto(self, first: str, second: str) -> Sweep:
        """The Pareto front of the valid rows in two columns: smaller values are better, or larger ones for `-macs`.

        Of equal rows it has only the first. It is sorted by the first column.
        """
        import numpy

        chosen = numpy.flatnonzero(self.valid)
        one, two = self.signed(first)[chosen], self.signed(second)[chosen]
        order = numpy.lexsort((two, one))
        sorted_two = two[order]
        kept = numpy.ones(len(order), bool)
        kept[1:] = sorted_two[1:] < numpy.minimum.accumulate(sorted_two)[:-1]
        return self.take(chosen[order[kept]])

    def signed(self, name: str) -> Any:
        """A column's values, negated if the name begins with `-`, so that smaller ones are better."""
        return -self.column(name[1:]) if argument("a column", name, Text()).startswith("-") else self.column(name)

    def column(self, name: str) -> Any:
        """A column's values; raises ArgumentError for one that does not exist or does not hold numbers."""
        values = self.columns.get(argument("a column", name, Text()))
        if values is None or values.dtype.kind not in "if":
            raise no_column(name, [name for name, each in self.columns.items() if each.dtype.kind in "if"])
        return values

    def joined(self, *others: Sweep) -> Sweep:
        """These rows, and after them those of other parts of the same sweep."""
        import numpy

        if not others:
            return self
        if any(not isinstance(each, Sweep) or each.columns.keys() != self.columns.keys() for each in others):
            raise ArgumentError("only parts of the same sweep can be joined")
        parts = (self, *others)
        reasons: dict[str, int] = {}
        codes = []
        for part in parts:
            table = [reasons.setdefault(each, len(reasons)) for each in part.reasons]
            codes.append(numpy.array([*table, -1])[part.reason])
        return replace(
            self,
            columns={name: numpy.concatenate([part.columns[name] for part in parts]) for name in self.columns},
            valid=numpy.concatenate([part.valid for part in parts]),
            reason=numpy.concatenate(codes),
            reasons=list(reasons),
        )

    def plot(self, path: str, first: str = "params", second: str = "macs") -> None:
        """Draw the valid rows by two columns, with their Pareto front, into a .svg, .png or .pdf file."""
        from paramcount.sweeps.plot import Plot

        first, second = argument("first", first, Text()), argument("second", second, Text())
        plot = Plot(file_path("path", path), first, second, str(self.space.subject))
        plot.append(self)
        plot.draw(len(self), int((~self.valid).sum()), None)

    def point(self, row: int) -> dict[str, Any]:
        """The variables of a row."""
        row = whole_argument("row", row, at_least=0)
        if row >= len(self):
            raise ArgumentError(
                f"there is no row {quote(row)}", hint=f"there are {len(self):,}, from 0", argument="row"
            )
        found = {name: self.columns[name][row] for name in self.variables}
        return {name: value.item() if hasattr(value, "item") else value for name, value in found.items()}

    def error(self, row: int) -> str | None:
        """Why a row is not valid, or None: the error of its network, or else why a sweep cannot hold its figures."""
        try:
            count(self.space.network(self.space.indices(self.point(row))))
        except ParamcountError as error:
            return str(error)
        return None if self.valid[row] else self.reasons[self.reason[row]]


def read_condition(text: str, columns: Sequence[str]) -> Expression:
    """An expression of columns; raises ParamcountError for others."""
    expression = parse(with_amounts(argument("where", text, Text())), Position("where", 1, 1))
    for name, position in expression.references:
        if name not in columns:
            error = no_column(name, list(columns))
            raise SpecError(error.message, hint=error.hint, position=position)
    return expression


def with_amounts(condition: str) -> str:
    """A condition whose amounts of figures are plain numbers; raises ArgumentError for those that are not amounts.

    >>> with_amounts("params < 3.5M and param_bytes <= 14MiB")
    'params < 3500000 and param_bytes <= 14680064'
    """
    return "".join(map(with_plain_amounts, re.split(r"(\b(?:and|or|not|if|else)\b)", condition)))


def with_plain_amounts(comparison: str) -> str:
    """The same for one comparison, whose figure says what a suffix means; without a figure, it is left as it is."""
    figures = [name for name in re.findall(r"\w+", comparison) if name in Figures._fields]
    if not figures:
        return comparison
    figure = next(filter(is_bytes, figures), figures[0])
    return re.sub(SUFFIXED, lambda found: str(amount(found[0], figure)), comparison)


def holds(condition: Expression, columns: Mapping[str, Any], valid: Any) -> Any:
    """A mask of the valid rows for which a condition holds."""
    import numpy

    for name in condition.names:
        if columns[name].dtype.kind not in "if":
            raise ArgumentError(f"column {quote(name)} is not numeric", hint="a condition compares numbers")
    mask = numpy.zeros(len(valid), bool)
    regions = [numpy.flatnonzero(valid)]
    while regions:
        rows = regions.pop()
        if not len(rows):
            continue
        values = {name: columns[name][rows] for name in condition.names}
        values = {name: Column(each) if each.dtype.kind == "i" else each for name, each in values.items()}
        try:
            found = condition.evaluate(values.__getitem__)
        except Undecided as undecided:  # rows that need different arithmetic, such as whole quotients and fractions
            key = undecided.mask if undecided.sizes is None else undecided.sizes
            regions += [rows[key == each] for each in numpy.unique(key)]
            continue
        if not isinstance(found, (bool, Mask)):
            raise ArgumentError("`where` must be a condition", hint='e.g. "params < 5e6"')
        mask[rows] = found.array if isinstance(found, Mask) else found
    return mask


def no_column(name: str, columns: list[str]) -> ArgumentError:
    from paramcount.errors.suggest import one_of

    return ArgumentError(f"there is no numeric column {quote(name)}", hint=one_of(name, columns))
