"""`paramcount sweep`: many variants of a spec at once."""

from __future__ import annotations

import argparse
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

from paramcount.cli.interrupt import Interruptible, Stoppable
from paramcount.cli.options import Parser, at_least_one, at_least_zero, output_file, show
from paramcount.cli.specs import named, spec_of
from paramcount.errors import ArgumentError, printable
from paramcount.numbers.units import grouped, number_of
from paramcount.render.terminal import complain, progress
from paramcount.render.writing import format_of
from paramcount.sweeps.plot import PLOTS

if TYPE_CHECKING:
    from paramcount.sweeps.result import Sweep
    from paramcount.sweeps.table import Tried

EXAMPLES = """\
A variable takes a range that includes both ends (`width=0.35:1.4:0.05`,
`depth=2:8`), values separated by commas, lists in brackets, or one value or
expression for all variants. "depths[2]=4:23" varies one entry of a list,
"depths[*]=2,3,4" each of them.

examples:
  paramcount sweep mobilenet_v2 width=0.35:1.4:0.05 resolution=96,128,160,192
  paramcount sweep mobilenet_v2 width=0.5:1:0.01 --where "macs < 200e6" --top 5
  paramcount sweep vit width=192:1024:64 heads=width//64 --pareto params,-macs
  paramcount sweep resnet "depths[*]=2:12" --random 10000 --output resnets.csv
"""
ROWS = 10
OTHERS = (".parquet", *PLOTS)  # endings of files besides those of formats


def run(arguments: list[str]) -> int:
    """Count the variants, print the best rows, and write all rows to a file."""
    options = parser().parse(arguments)
    from paramcount.cli.values import values_of, without_values
    from paramcount.sweeps.file import RowFile
    from paramcount.sweeps.plot import Plot
    from paramcount.sweeps.result import no_column
    from paramcount.sweeps.sweep import space_of, sweep_parts
    from paramcount.sweeps.table import USUAL, sheet
    from paramcount.sweeps.walk import Walk

    if not options.settings:
        from paramcount.cli.hints import values

        raise ArgumentError("a sweep needs a variable and its values", hint=values(options.spec))
    given = {name: values_of(name, text) for name, text in named(options.settings, without_values).items()}
    space = space_of(spec_of(options), options.variant, given, options.paired, options.random, options.seed)
    selection, known = Selection(options), Walk(space, None).columns
    columns = options.columns
    for name in columns or []:
        if name not in known:
            raise no_column(name, known)
    tables, rows_in, drawn = sorted_out(options.output)
    drawn += [options.plot] if options.plot else []
    plots = [Plot(path, *axes(options), str(space.subject), bool(options.pareto)) for path in drawn]
    with Interruptible(), Stoppable():
        with (
            ExitStack() as stack,
            closing(reported(sweep_parts(space, dask=options.dask), space.size)) as parts,
        ):
            files = [stack.enter_context(RowFile(path, columns or known)) for path in rows_in]
            for part in parts:
                kept = selection.add(part)
                for each in (*files, *plots):
                    each.append(kept)
        for plot in plots:
            plot.draw(selection.points, selection.invalid, options.where)
    rows = selection.rows()
    shown = columns or [*rows.variables, *(name for name in used(options, USUAL) if name in known)]
    table = sheet(rows, list(dict.fromkeys(shown)), selection.tried, chosen=columns is not None)
    show(table, options, tables)
    if options.format == "csv":
        say_what_is_missing(len(rows), selection)
    for file in files:
        complain(f"wrote {printable(file.path)}, {number_of(file.count, 'row')}")
    for plot in plots:
        complain(f"wrote {printable(plot.path)}, {number_of(plot.cloud.added, 'point')}")
    if selection.points and selection.invalid == selection.points:
        raise ArgumentError("no variant is a valid network", hint=next(iter(selection.reasons)).splitlines()[0])
    return 0


def say_what_is_missing(shown: int, selection: Selection) -> None:
    """Print what stands below the rows in other formats, which CSV does not have, if not all rows are shown."""
    from paramcount.sweeps.table import summary

    if shown < selection.points:
        for line in summary(selection.tried, shown):
            complain(line)
        if shown < selection.kept:
            complain("hint: `--output rows.csv` writes all rows, `--top N` prints more")


def output(text: str) -> str:
    """A file whose ending says what is written to it."""
    return output_file(text, *OTHERS)


def sorted_out(paths: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The files for what is shown, for all rows, and for plots."""
    tables, rows, plots = [], [], []
    for path in paths:
        form = format_of(path, *OTHERS)
        if path.lower().endswith(PLOTS):
            plots.append(path)
        elif form in (None, "csv", "json"):
            rows.append(path)
        else:
            tables.append(path)
    return tables, rows, plots


class Selection:
    """The best rows of a sweep so far, how many rows there were, and why some are not valid networks."""

    def __init__(self, options: argparse.Namespace) -> None:
        if options.pareto and options.sort:
            raise ArgumentError("a Pareto front is sorted by its first column", hint="leave out `--sort`")
        if options.ascending and not options.sort:
            raise ArgumentError("`--ascending` is for `--sort`", hint="add `--sort COLUMN`")
        self.front = options.pareto.split(",") if options.pareto else None
        if self.front is not None and len(self.front) != 2:
            raise ArgumentError("`--pareto` takes two columns", hint="--pareto params,-macs")
        self.where, self.top = options.where, options.top
        self.order = options.sort and ("" if options.ascending else "-") + options.sort
        self.points, self.kept = 0, 0
        self.reasons: dict[str, int] = {}
        self.found: Any = None

    @property
    def tried(self) -> Tried:
        from paramcount.sweeps.table import Tried

        return Tried(self.points, self.kept, self.reasons)

    @property
    def invalid(self) -> int:
        return sum(self.reasons.values())

    def add(self, part: Sweep) -> Sweep:
        """The rows of a part for which the condition holds, from which the best are kept."""
        self.points += len(part)
        for code, reason in enumerate(part.reasons):
            self.reasons[reason] = self.reasons.get(reason, 0) + int((part.reason == code).sum())
        part = part.where(self.where) if self.where else part
        self.kept += int(part.valid.sum())
        best = self.best(part)
        self.found = best if self.found is None else self.best(self.found.joined(best))
        return part

    def best(self, part: Sweep) -> Sweep:
        if self.front:
            return part.pareto(*self.front)
        top = self.top or ROWS
        return part.top(top, self.order) if self.order else part.take(part.valid.nonzero()[0][:top])

    def rows(self) -> Sweep:
        """The rows to show."""
        return self.found.take(slice(0, self.top)) if self.front and self.top else self.found


def reported(parts: Iterator[Sweep], size: int) -> Generator[Sweep, None, None]:
    """The parts, with a count of the finished points on the terminal every second."""
    points = 0
    started = last = time.monotonic()
    try:
        for part in parts:
            points += len(part)
            yield part
            if time.monotonic() - last > 1:
                last = time.monotonic()
                progress(f"{grouped(points)} of {grouped(size)}")
    finally:
        if last > started:
            progress()


def axes(options: argparse.Namespace) -> tuple[str, str]:
    """The columns of a plot, those that the rows are chosen by, with `-` before one whose larger values are better."""
    if options.pareto:
        first, second = options.pareto.split(",")
        return first, second
    if not options.sort:
        return "params", "macs"
    return "macs" if options.sort == "params" else "params", ("" if options.ascending else "-") + options.sort


def used(options: argparse.Namespace, usual: tuple[str, ...]) -> Iterator[str]:
    """The usual columns, and those that the rows are chosen by."""
    yield from usual
    for text in (options.pareto, options.sort):
        yield from (name.removeprefix("-") for name in (text or "").split(",") if name)


def parser() -> Parser:
    parser = Parser(
        prog="paramcount sweep",
        usage="paramcount sweep SPEC[:VARIANT] NAME=VALUES ... [options]",
        description="Count every combination of the values of a spec's variables.",
        epilog=EXAMPLES,
    )
    add = parser.add_argument
    parser.shared("spec")
    add("settings", metavar="NAME=VALUES", nargs="*", help="the values of a variable")
    parser.shared("--variant")
    add("--paired", action="store_true", help="combine the first values of all variables, then the second, ...")
    add("--random", metavar="N", type=at_least_one, help="draw N points at random instead of counting all")
    add("--seed", metavar="N", type=at_least_zero, default=0, help="the seed of the random points (default 0)")
    add("--where", metavar="CONDITION", help='keep rows that satisfy it: "params < 5e6 and macs / params > 80"')
    add("--pareto", metavar="A,B", help="keep the Pareto front of two columns; smaller is better, for -B larger")
    parser.shared("--sort", help="sort the rows by a column, from the largest")
    add("--ascending", action="store_true", help="sort them from the smallest")
    parser.shared("--top", help=f"the number of rows to show (default {ROWS})")
    parser.shared("--columns")
    parser.shared("--format", "--exact")
    written = (
        "all rows to .csv, .json or .parquet, those shown to .txt, .md, .tex or .html, a plot to .svg, .png or .pdf"
    )
    parser.shared("--output", type=output, help=f"also write a file: {written}; repeatable")
    add("--plot", metavar="FILE", help="plot params by MACs, or the columns of the choice: .svg, .png or .pdf")
    add("--dask", metavar="ADDRESS", help="count on the workers of a Dask scheduler: tcp://HOST:PORT")
    parser.shared("--plugin")
    return parser
