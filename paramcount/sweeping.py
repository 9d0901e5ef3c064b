"""Counting many variants of a spec at once: one walk for all that have the same structure."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from paramcount.column import Column, Mask
from paramcount.errors import ArgumentError, ManyErrors, ParamcountError, Position, SpecError, Undecided, quote
from paramcount.figures import Figures
from paramcount.regions import Region
from paramcount.report import count
from paramcount.space import Space
from paramcount.spec.expression import Expression, parse
from paramcount.spec.language import SpecSyntax
from paramcount.spec.load import fresh_syntax, locate, shown_path
from paramcount.spec.source import read_source

CHUNK = 2**16  # points of a grid in one walk, on whose axes most numbers are small arrays
LINE = 2**14  # points in one walk otherwise, so that its arrays stay in the cache


@dataclass(frozen=True)
class Sweep:
    """The variants of a spec, a row for each: `columns` are arrays by name, of the variables and of all figures.

    `valid` tells which rows are networks at all; the figures of the others are 0, and `reasons[reason[row]]` is why
    (that of the first row of those that failed together; `error(row)` counts the row alone to be exact).
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
        return f"<Sweep {self.name}: {len(self):,} variants by {', '.join(self.variables)}>"

    def take(self, rows: Any) -> Sweep:
        """Some rows: a mask, or indices in any order."""
        columns = {name: values[rows] for name, values in self.columns.items()}
        return Sweep(
            self.name,
            self.variant,
            self.variables,
            columns,
            self.valid[rows],
            self.reason[rows],
            self.reasons,
            self.space,
        )

    def where(self, condition: str) -> Sweep:
        """The valid rows for which an expression of the columns holds: `"params < 5e6 and macs / params > 80"`."""
        return self.take(holds(read_condition(condition, list(self.columns)), self.columns, self.valid))

    def top(self, rows: int, by: str) -> Sweep:
        """The valid rows with the smallest numbers of a column, or with `-macs` the largest; equal ones in order."""
        import numpy

        chosen = numpy.flatnonzero(self.valid)
        keys = self.signed(by)[chosen]
        if 0 < rows < len(keys):  # only the best need an order, and all that equal the last of them
            kept = keys <= numpy.partition(keys, rows - 1)[rows - 1]
            chosen, keys = chosen[kept], keys[kept]
        return self.take(chosen[numpy.argsort(keys, kind="stable")][:rows])

    def pareto(self, first: str, second: str) -> Sweep:
        """The valid rows that no other beats in two columns, both the less the better, or with `-macs` the more.

        Of equal rows only the first is there. They come in the order of the first column.
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
        """A column's values, the less the better: with `-` before the name they are turned round."""
        return -self.column(name[1:]) if name.startswith("-") else self.column(name)

    def column(self, name: str) -> Any:
        """A column's values; raises ArgumentError for one that there is not, or that holds no numbers."""
        values = self.columns.get(name)
        if values is None or values.dtype.kind not in "if":
            raise no_column(name, [name for name, each in self.columns.items() if each.dtype.kind in "if"])
        return values

    def plot(self, path: str, first: str = "params", second: str = "macs") -> None:
        """Draw the valid rows by two columns, with their Pareto front, into a .svg, .png or .pdf file."""
        from paramcount.render.plot import Plot

        plot = Plot(path, first, second, self.space.title)
        plot.append(self)
        plot.draw(len(self), int((~self.valid).sum()), None)

    def point(self, row: int) -> dict[str, Any]:
        """The variables of a row."""
        found = {name: self.columns[name][row] for name in self.variables}
        return {name: value.item() if hasattr(value, "item") else value for name, value in found.items()}

    def error(self, row: int) -> str | None:
        """Why a row is no valid network, or None: the row counted by itself."""
        try:
            count(self.space.network(self.space.indices(self.point(row))))
        except ParamcountError as error:
            return str(error)
        return None


def sweep(
    spec: str,
    /,
    variant: str | None = None,
    where: str | None = None,
    *,
    paired: bool = False,
    random: int | None = None,
    seed: int = 0,
    chunk: int | None = None,
    workers: int | None = None,
    dask: str | None = None,
    **variables: Any,
) -> Sweep:
    """Count every combination of the values of a spec's variables, each exactly as if it were counted alone.

    A variable takes a list, a range or an array of numbers, or a list of words, conditions or lists; one value or an
    expression, as text, sets it for all. `**{"depths[2]": range(4, 24)}` is one entry of a list, `depths[*]` all of
    them. With `paired`, the first values belong together, and so on; `random` draws that many points, each value by
    itself. `where` keeps the valid rows for which an expression of the columns holds. Variants that do not hold
    together are marked, and raise nothing. `chunk` bounds the points of one walk, `workers` the threads; `dask` is the
    address of a scheduler, on whose workers the variants are counted instead.

    >>> found = sweep("mobilenet_v2", width=[0.5, 1.0], resolution=[192, 224])
    >>> found.columns["params"].tolist()
    [1968680, 1968680, 3504872, 3504872]
    >>> found.where("macs < 250e6").columns["resolution"].tolist()
    [192, 224, 192]
    """
    space = space_of(spec, variant, variables, paired, random, seed)
    return joined(list(sweep_parts(space, where, chunk, workers, dask)))


def joined(parts: Sequence[Sweep]) -> Sweep:
    """The rows of all parts, in their order."""
    import numpy

    first = parts[0]
    if len(parts) == 1:
        return first
    reasons: dict[str, int] = {}
    codes = []
    for part in parts:
        table = [reasons.setdefault(each, len(reasons)) for each in part.reasons]
        codes.append(numpy.array([*table, -1])[part.reason])
    return Sweep(
        first.name,
        first.variant,
        first.variables,
        {name: numpy.concatenate([part.columns[name] for part in parts]) for name in first.columns},
        numpy.concatenate([part.valid for part in parts]),
        numpy.concatenate(codes),
        list(reasons),
        first.space,
    )


def space_of(
    spec: str | SpecSyntax,
    variant: str | None,
    variables: Mapping[str, Any],
    paired: bool = False,
    random: int | None = None,
    seed: int = 0,
) -> Space:
    """The points of a sweep over the variables of a spec: by its file or name, or as it was read."""
    if not isinstance(spec, SpecSyntax):
        file, given = locate(os.fspath(spec))
        spec = fresh_syntax(read_source(file), shown_path(file))
        variant = variant if variant is not None else given
    return Space(spec, variant, variables, paired, random, seed)


def sweep_parts(
    space: Space,
    where: str | None = None,
    chunk: int | None = None,
    workers: int | None = None,
    dask: str | None = None,
) -> Generator[Sweep, None, None]:
    """The windows of a sweep, in their order and few at a time, each as a Sweep of its own."""
    if chunk is not None and chunk < 1:
        raise ArgumentError(f"a chunk has at least one point, not {chunk}", argument="chunk")
    walk = Walk(space, chunk)
    if where is not None:
        read_condition(where, walk.columns)
    if dask is not None:
        from paramcount.distributed import parts_of_cluster

        yield from parts_of_cluster(space, where, chunk, dask)
        return
    windows = space.windows(chunk)
    workers = min(workers or os.cpu_count() or 1, len(windows))

    def part(window: tuple[int, int]) -> Sweep:
        return walk.kept(where, *window)

    if workers <= 1:
        yield from map(part, windows)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque = deque()
        for window in windows:
            waiting.append(pool.submit(part, window))
            if len(waiting) >= workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class Walk:
    """Counting the regions of a space; `learned` are the variables that decided structure so far."""

    def __init__(self, space: Space, chunk: int | None) -> None:
        self.space = space
        self.chunk = chunk or (LINE if space.single else CHUNK)
        self.learned: list[str] = list(space.choices)
        self.computed = sorted({name for name, value in space.fixed.items() if isinstance(value, str)})
        self.columns = [*space.axes, *self.computed, *Figures._fields]

    def kept(self, where: str | None, start: int, points: int) -> Sweep:
        """The points of a window for which a condition holds, or all."""
        found = self.window(start, points)
        return found if where is None else found.where(where)

    def window(self, start: int, points: int) -> Sweep:
        """All points of a window."""
        import numpy

        whole = self.space.region(start, points)
        shape = whole.places.shape
        columns = {
            name: self.space.shown(name, numpy.broadcast_to(values, shape).reshape(-1))
            for name, values in whole.values.items()
        }
        figures = {name: numpy.zeros(points, numpy.int64) for name in Figures._fields}
        computed = {name: numpy.empty(points, object) for name in self.computed}
        reason, reasons = numpy.full(points, -1, numpy.int32), {}
        regions = [whole]
        learned = list(self.learned)
        while regions:
            if learned != self.learned:  # sort all points by it first, for fewer walks
                learned, regions = list(self.learned), [whole]
                reason[:] = -1
            region = regions.pop()
            parts = self.parts(region)
            if parts is not None:
                regions += reversed(parts)
                continue
            try:
                network = self.network(region)
                for name, value in count(network).totals._asdict().items():
                    place(figures[name], region, value)
                for name, into in computed.items():
                    place(into, region, network.vars[name])
            except Undecided as undecided:
                regions += self.split(region, undecided)
            except ParamcountError as error:
                cause = first_cause(error)
                if isinstance(cause, Undecided):
                    regions += self.split(region, cause)
                    continue
                failing = region if cause.mask is None else region.select(cause.mask)
                reason[failing.places] = reasons.setdefault(str(cause), len(reasons))
                if cause.mask is not None:
                    rest = region.select(~cause.mask)
                    regions += [rest] if rest.size else []
        columns |= {name: numbers_if_any(values) for name, values in computed.items()} | figures
        space, syntax = self.space, self.space.syntax
        variables = (*space.axes, *self.computed)
        return Sweep(syntax.name, space.variant, variables, columns, reason < 0, reason, list(reasons), space)

    def parts(self, region: Region) -> list[Region] | None:
        """The groups of a region by what decides structure, or its pieces where it is too large for one walk."""
        for name in self.learned:
            groups = list(region.groups(region.values[name]))
            if len(groups) > 1:
                return groups
        return list(region.blocks(self.chunk)) if region.size > self.chunk else None

    def network(self, region: Region) -> Any:
        import numpy

        values = {}
        for name, each in region.values.items():
            first = each.flat[0]
            if each.size == 1 or (each == first).all():
                values[name] = first.item()
            else:
                values[name] = Column(each) if each.dtype == numpy.int64 else each
        return self.space.network(values)

    def split(self, region: Region, undecided: Undecided) -> list[Region]:
        """The parts of a region on which a condition is the same, or a size that decides structure."""
        key = undecided.mask if undecided.sizes is None else undecided.sizes
        if undecided.sizes is not None or self.space.single:
            name = region.deciding(key)
            if name is not None and name not in self.learned:
                self.learned.append(name)
        return list(region.groups(key))


def place(into: Any, region: Region, value: Any) -> None:
    """Put a region's figure where its points are."""
    if isinstance(value, Column):
        value = value.array
    into[region.places] = value


def numbers_if_any(values: Any) -> Any:
    """Computed values as an array of numbers, where they are."""
    import numpy

    numbers = all(
        isinstance(each, (int, float)) and type(each) is not bool for each in values.tolist() if each is not None
    )
    if not numbers:
        return values
    return numpy.array([0 if each is None else each for each in values.tolist()])


def first_cause(error: ParamcountError) -> ParamcountError:
    """Of several errors one that must be split on, or the first."""
    if isinstance(error, ManyErrors):
        return next((each for each in error.errors if isinstance(each, Undecided)), error.errors[0])
    return error


def read_condition(text: str, columns: Sequence[str]) -> Expression:
    """An expression of columns; raises ParamcountError for others."""
    expression = parse(text, Position("where", 1, 1))
    for name, position in expression.references:
        if name not in columns:
            error = no_column(name, list(columns))
            raise SpecError(error.message, hint=error.hint, position=position)
    return expression


def holds(condition: Expression, columns: Mapping[str, Any], valid: Any) -> Any:
    """A mask of the valid rows for which a condition holds."""
    import numpy

    rows = numpy.flatnonzero(valid)
    mask = numpy.zeros(len(valid), bool)
    if not len(rows):
        return mask
    values: dict[str, Any] = {}
    for name in condition.names:
        column = columns[name][rows]
        if column.dtype.kind not in "if":
            raise ArgumentError(f"{quote(name)} holds no numbers", hint="a condition compares numbers")
        values[name] = Column(column) if column.dtype.kind == "i" else column
    found = condition.evaluate(values.__getitem__)
    if not isinstance(found, (bool, Mask)):
        raise ArgumentError("`where` is a condition", hint='e.g. "params < 5e6"')
    mask[rows] = found.array if isinstance(found, Mask) else found
    return mask


def no_column(name: str, columns: list[str]) -> ArgumentError:
    from paramcount.suggest import nearest

    guess = nearest(name, columns)
    hint = f"did you mean `{guess}`?" if guess else "the columns are " + ", ".join(columns)
    return ArgumentError(f"there is no column {quote(name)} of numbers", hint=hint)
