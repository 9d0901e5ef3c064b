"""What was counted, whatever it was counted from, a spec or a traced function: the input of all that shows results."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from paramcount.cost.figures import FIGURES, Figured, Figures, Phases, Row, TrainingFigures
from paramcount.errors import ArgumentError, printable, quote
from paramcount.graph.network import Subject
from paramcount.layers.arguments import argument, column_names, whole_argument
from paramcount.layers.fields import Flag, Text
from paramcount.layers.layer import Shape
from paramcount.numbers.units import grouped
from paramcount.render.sheet import SCHEMA, Sheet
from paramcount.render.shown import Shown

RUN = re.compile(r"([0-9]{1,9})(?::([0-9]{1,9}))?")
LABEL = re.compile(r"\[([\d:,]+)\]")  # of the iterations of a loop, in a path
KEYS = ("kind", "setting")  # of `Counted.by`


class Counted(Figured, Shown):
    """What was counted: `totals`, also by name (`report.params`), and `rows`, the tree in pre-order.

    An unknown figure is None in `totals` and in rows, a dash in the table and null in JSON; as an attribute it raises
    an ArgumentError that says why. `str()` is the table, `to_dict()` the JSON object.
    """

    subject: Subject
    totals: Figures
    rows: Sequence[Row]
    uncounted: Sequence[str] = ()  # what is in no figure, since it could not be counted

    @property
    def training(self) -> TrainingFigures | Phases | None:
        """The totals of a training step, or of the phases of a traced function, if they were counted."""
        return None

    @property
    def basis(self) -> str:
        """What the figures are of: `one example: 128 tokens`, `8 examples of 128 tokens`, `as traced`."""
        raise NotImplementedError

    @property
    def convention(self) -> str:
        """What the figures mean, in one line."""
        raise NotImplementedError

    @property
    def notes(self) -> Sequence[str]:
        """Remarks that one needs to read the figures, a line each."""
        return ()

    @property
    def usual(self) -> Sequence[str]:
        """The columns of the table."""
        raise NotImplementedError

    @property
    def extra(self) -> Sequence[str]:
        """The names of the figures beyond those of `Figures`."""
        return TrainingFigures._fields

    @property
    def levels(self) -> int:
        """How many levels of the tree the table opens."""
        return 1

    def statement(self) -> list[tuple[str, int | None, Any]]:
        """The totals below the table: a label, a figure, and the function that writes it in its unit."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        return str(self.subject)

    @property
    def name(self) -> str:
        return self.subject.name

    @property
    def variant(self) -> str | None:
        return self.subject.variant

    @property
    def vars(self) -> Mapping[str, Any]:
        """The value of every variable."""
        return self.subject.vars

    @property
    def figures(self) -> Figures:
        return self.totals

    @property
    def single(self) -> bool:
        """Whether this is one network rather than the variants of a sweep."""
        return all(each is None or type(each) is int for each in self.totals)

    def __repr__(self) -> str:
        known = {name: self.get(name) for name in ("params", "macs")}
        shown = [f"{grouped(n)} {FIGURES[name].title}" for name, n in known.items() if type(n) is int]
        return f"<{type(self).__name__} {printable(self.title)}{': ' if shown else ''}{', '.join(shown)}>"

    def __getitem__(self, path: str) -> Row:
        """The row with a path; for one iteration of a folded loop, the row that stands for it.

        Raises ArgumentError if there is none.

        >>> from paramcount.cost.count import count
        >>> from paramcount.layers.dense import Dense
        >>> from paramcount.graph.loops import Repeat
        >>> row = count([Repeat(4, [Dense(8)])], 4)["dense0[2]"]
        >>> row.path, row.repeat, row.params  # 3 · (8 · 8 + 8)
        ('dense0[1:4]', 3, 216)
        """
        known = isinstance(path, str)
        for row in self.rows if known else ():
            if row.path == path:
                return row
        wanted = pieces(path) if known else []
        for row in self.rows if len(wanted) > 1 else ():
            if within(wanted, pieces(row.path)):
                return row
        from paramcount.errors.suggest import one_of

        paths = [row.path for row in self.rows]
        hint = one_of(path, paths, "the rows are " + ", ".join(paths[:5]))
        raise ArgumentError(f"there is no row {quote(path)}", hint=hint)

    def by(self, key: str) -> dict[str, Subtotal]:
        """The figures of all leaves, summed by their "kind" or their "setting", in the order of the network.

        Raises ArgumentError for another key.

        >>> from paramcount.cost.count import count
        >>> from paramcount.layers.dense import Dense
        >>> found = count([Dense(32, activation="relu"), Dense(10)], 784).by("kind")
        >>> {kind: (part.params, len(part.rows)) for kind, part in found.items()}
        {'dense': (25450, 2), 'relu': (0, 1)}
        """
        if not isinstance(key, str) or key not in KEYS:
            from paramcount.errors.suggest import one_of

            raise ArgumentError(
                f"rows cannot be summed by {quote(key)}", hint=one_of(key, KEYS, 'by("kind") or by("setting")')
            )
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            if row.leaf:
                found.setdefault(getattr(row, key), []).append(row)
        return {name: Subtotal(rows) for name, rows in found.items()}

    def sheet(
        self,
        depth: int | None = None,
        columns: Sequence[str] | None = None,
        sort: str | None = None,
        flat: bool = False,
        top: int | None = None,
    ) -> Sheet:
        """The rows of the outermost `depth` levels, the totals, and what the figures mean.

        `columns` replaces the usual ones, and `sort` orders the rows of each group, numbers from the largest. If
        `flat`, the rows are the leaves alone, whatever their level. `top` keeps that many of the outermost rows.
        Raises ArgumentError for an unknown column.
        """
        from paramcount.cost.sheet import sheet_of

        flat = argument("flat", flat, Flag())
        if flat and depth is not None:
            raise ArgumentError("leaves alone have no levels", hint="leave out `flat` or `depth`")
        depth = self.levels if depth is None else whole_argument("depth", depth)
        if top is not None:
            top = whole_argument("top", top)
        sort = argument("sort", sort, Text(none=True))
        return sheet_of(self, depth, column_names(columns), sort, flat, top)

    def folded(self) -> Sheet:
        """All levels of the tree."""
        return self.with_warnings(depth=sys.maxsize)

    def all_totals(self) -> dict[str, int | None]:
        """The totals by name, also those that are not a sum of rows."""
        return plain(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as raw integers, ready for JSON; shapes are lists without the batch, rows are in pre-order."""
        return {
            "schema": SCHEMA,
            **self.subject.to_dict(),
            "convention": self.convention,
            "totals": self.all_totals(),
            "rows": [
                {
                    "path": row.path,
                    "kind": row.kind,
                    "input_shapes": None if row.input_shapes is None else [*map(sizes, row.input_shapes)],
                    "output_shape": None if row.output_shape is None else sizes(row.output_shape),
                    "repeat": row.repeat,
                    "copies": row.copies or None,
                    "depth": row.depth,
                    "leaf": row.leaf,
                    "setting": row.setting,
                    "note": row.note,
                    **plain(row),
                }
                for row in self.rows
            ],
        }


class Subtotal(Figured):
    """Some rows of a report, and the sums of their figures."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.figures = Figures.total([row.figures for row in rows])
        training = [row.training for row in rows if row.training is not None]
        self.training = type(training[0]).total(training) if training else None


def sizes(shape: Shape) -> list[Any]:
    return list(shape.sizes)


def plain(figured: Row | Counted) -> dict[str, int | None]:
    """All figures by name."""
    return figured.figures._asdict() | (figured.training._asdict() if figured.training is not None else {})


def pieces(path: str) -> list[str]:
    """A path as names, alternating with the labels of iterations between them."""
    return LABEL.split(path)


def within(wanted: list[str], path: list[str]) -> bool:
    """Whether a path stands for another, both in pieces: it has the same names, and all the iterations."""
    if len(wanted) != len(path) or wanted[::2] != path[::2]:
        return False
    return all(included(runs(one), runs(other)) for one, other in zip(wanted[1::2], path[1::2], strict=True))


def included(some: list[tuple[int, int]], others: list[tuple[int, int]]) -> bool:
    """Whether there are runs of iterations, and each lies in one of the others."""
    return bool(some) and all(any(a <= start < stop <= b for a, b in others) for start, stop in some)


def runs(label: str) -> list[tuple[int, int]]:
    """The first and the end of each run of a label: `0:2,5` has (0, 2) and (5, 6); none where it is not a label."""
    found = [RUN.fullmatch(part) for part in label.split(",")]
    if not all(found):
        return []
    return [(int(run[1]), int(run[2] or int(run[1]) + 1)) for run in found if run]
