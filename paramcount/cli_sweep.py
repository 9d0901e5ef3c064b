"""`paramcount sweep`: many variants at once; `paramcount solve`: the largest that a budget allows."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from typing import Any

from paramcount.cli import Parser, at_least_one
from paramcount.errors import ArgumentError, quote
from paramcount.figures import Figures

SWEEP = """\
A variable takes a range with both ends (`width=0.35:1.4:0.05`, `depth=2:8`), values between commas, lists in
brackets, or one value or expression for all. `depths[2]=4:23` is one entry of a list, `depths[*]=2,3,4` each of them.

examples:
  paramcount sweep mobilenet_v2 width=0.35:1.4:0.05 resolution=96,128,160,192,224
  paramcount sweep mobilenet_v2 width=0.5:1.5:0.01 --where "macs < 300e6" --sort params --top 5
  paramcount sweep vit width=192:1024:64 heads=width//64 depth=4:24 --pareto params,-macs
  paramcount sweep resnet "depths[*]=2:12" --random 10000 --seed 7 --output resnets.csv
"""
SOLVE = """\
examples:
  paramcount solve mobilenet_v2 width --max-macs 300M
  paramcount solve llama depth --max-params 3G --set d=1024
"""
RANGE = re.compile(r"([^:]+):([^:]+)(?::([^:]+))?")
ROWS = 10
BUDGETS = tuple(Figures._fields)
UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
MOST_VALUES = 10_000_000


def sweep_parser() -> Parser:
    parser = Parser(
        prog="paramcount sweep",
        usage="paramcount sweep SPEC[:VARIANT] NAME=VALUES ... [options]",
        description="Count every combination of the values of a spec's variables.",
        epilog=SWEEP,
    )
    add = parser.add_argument
    add("spec", metavar="SPEC[:VARIANT]", help="a shipped spec or a file, and one of its variants")
    add("settings", metavar="NAME=VALUES", nargs="*", help="the values of a variable")
    add("--variant", metavar="V", help="the variant")
    add("--paired", action="store_true", help="the first values of all variables together, then the second, ...")
    add("--random", metavar="N", type=at_least_one, help="draw N points instead of taking all")
    add("--seed", metavar="S", type=int, default=0, help="of the drawing (default 0)")
    add("--where", metavar="CONDITION", help='keep the rows for which it holds: "params < 5e6 and macs / params > 80"')
    add("--pareto", metavar="A,B", help="only rows that no other beats in two columns, less is better, of -B more")
    add("--sort", metavar="COLUMN", help="order the rows, from the largest")
    add("--ascending", action="store_true", help="order them from the smallest")
    add("--top", metavar="N", type=at_least_one, help=f"how many rows to show (default {ROWS})")
    add("--columns", metavar="A,B", help="the columns, instead of the usual ones")
    add("--output", metavar="FILE", help="write all rows to a .csv, .json or .parquet file")
    return parser


def solve_parser() -> Parser:
    parser = Parser(
        prog="paramcount solve",
        usage="paramcount solve SPEC[:VARIANT] NAME --max-macs 300M [options]",
        description="Find the largest value of a variable within a budget, and count the network there.",
        epilog=SOLVE,
    )
    add = parser.add_argument
    add("spec", metavar="SPEC[:VARIANT]", help="a shipped spec or a file, and one of its variants")
    add("name", metavar="NAME", help="the variable")
    add("--variant", metavar="V", help="the variant")
    add("--set", metavar="NAME=VALUE", action="append", default=[], help="set another variable; may come again")
    add("--low", metavar="X", help="the smallest value to try (default: one step)")
    add("--high", metavar="X", help="the largest value to try (default: beyond the budget)")
    add("--step", metavar="X", help="between the values (default 1, or 0.01 of a fraction)")
    for name in BUDGETS:
        add(
            f"--max-{name.replace('_', '-')}",
            metavar="N",
            help=argparse.SUPPRESS
            if name != "macs"
            else "the most MACs: 300M, 5e9; so too --max-params, --max-param-bytes 14MiB, and every other figure",
        )
    return parser


def run_sweep(arguments: list[str]) -> int:
    """Count the variants, show the best rows, and write all to a file."""
    options, left = sweep_parser().parse_known_args(arguments)
    settings = options.settings + [word for word in left if "=" in word and not word.startswith("-")]
    sweep_parser().parse([options.spec, *(word for word in left if word not in settings)])  # what is left is wrong
    from paramcount.render import sweep as render
    from paramcount.render.rows import RowFile
    from paramcount.sweeping import Sweep, joined, no_column, space_of, sweep_parts

    space = space_of(
        options.spec, options.variant, dict(map(setting, settings)), options.paired, options.random, options.seed
    )
    if options.pareto and options.sort:
        raise ArgumentError("a Pareto front comes in the order of its first column", hint="leave out `--sort`")
    if options.ascending and not options.sort:
        raise ArgumentError("`--ascending` is the order of `--sort`", hint="add `--sort COLUMN`")
    front = options.pareto.split(",") if options.pareto else None
    if front is not None and len(front) != 2:
        raise ArgumentError("`--pareto` takes two columns", hint="--pareto params,-macs")
    top, order = options.top or ROWS, options.sort and ("" if options.ascending else "-") + options.sort

    def best_of(part: Sweep) -> Sweep:
        if front:
            return part.pareto(*front)
        return part.top(top, order) if order else part.take(part.valid.nonzero()[0][:top])

    best, file, points, kept, reasons = None, None, 0, 0, {}
    started = told = time.monotonic()
    try:
        for part in sweep_parts(space):
            points += len(part)
            if best is None:
                columns = options.columns.split(",") if options.columns else None
                for name in columns or []:
                    if name not in part.columns:
                        raise no_column(name, list(part.columns))
                file = RowFile(options.output, columns or list(part.columns)) if options.output else None
            for code, reason in enumerate(part.reasons):
                reasons[reason] = reasons.get(reason, 0) + int((part.reason == code).sum())
            part = part.where(options.where) if options.where else part
            kept += int(part.valid.sum())
            if file is not None:
                file.append(part)
            rows = best_of(part)
            best = rows if best is None else best_of(joined([best, rows]))
            if sys.stderr.isatty() and time.monotonic() - told > 1:
                told = time.monotonic()
                print(f"\r{points:,} of {space.size:,}", end="", file=sys.stderr, flush=True)
    finally:
        if told > started:
            print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
        if file is not None:
            file.close()
    assert best is not None
    rows = best.take(slice(0, top)) if front and options.top else best
    shown = columns or [*best.variables, *(name for name in used(options, render.USUAL) if name in best.columns)]
    if len(rows):
        print(render.table(rows, list(dict.fromkeys(shown))), end="\n\n")
    print(render.summary(points, kept, len(rows), reasons))
    if points and sum(reasons.values()) == points:
        raise ArgumentError("no variant is a network", hint=next(iter(reasons)).splitlines()[0])
    return 0


def used(options: argparse.Namespace, usual: tuple[str, ...]) -> Iterator[str]:
    """The usual columns, and those that the rows are chosen by."""
    yield from usual
    for text in (options.pareto, options.sort):
        yield from (name.removeprefix("-") for name in (text or "").split(",") if name)


def run_solve(arguments: list[str]) -> int:
    """Print the table of the largest network within the budget, and what comes next."""
    options = solve_parser().parse(arguments)
    from paramcount.render import terminal
    from paramcount.solving import solve

    budget = {name: amount(getattr(options, f"max_{name}")) for name in BUDGETS if getattr(options, f"max_{name}")}
    bounds = {name: number(getattr(options, name)) for name in ("low", "high", "step") if getattr(options, name)}
    fixed = {name: scalar(values) for name, values in map(setting, options.set)}
    found = solve(options.spec, options.name, budget, options.variant, **bounds, **fixed)
    lines = [f"{found.report}", ""]
    for name, most in budget.items():
        value = getattr(found.report, name)
        line = f"{found.variable} = {found.value}: {name} {value:,} of at most {most:,.0f}"
        lines.append(f"{line}; {found.following} has {getattr(found.beyond, name):,}" if found.beyond else line)
    if not found.monotone:
        shown = ", ".join(map(str, found.gaps[:5])) + (", ..." if len(found.gaps) > 5 else "")
        lines.append(f"not monotone: smaller values are over the budget: {shown}")
    print(terminal.written("\n".join(lines), terminal.encoding()))
    return 0


def setting(text: str) -> tuple[str, Any]:
    """A variable's name and its values."""
    name, equals, values = text.partition("=")
    name = name.strip()
    if not equals or not name or not values.strip():
        raise ArgumentError(f"{quote(text)} is no variable with values", hint="write `width=0.35:1.4:0.05`")
    pieces = [each.strip() for each in between_commas(values)]
    if "" in pieces:
        raise ArgumentError(f"a value is missing in {quote(text)}")
    if len(pieces) == 1 and not RANGE.fullmatch(pieces[0]):
        return name, pieces[0]
    ranges = [spread(each, text) if RANGE.fullmatch(each) else [number_or_none(each)] for each in pieces]
    numbers = [each for values in ranges for each in values]
    return name, pieces if None in numbers else numbers


def between_commas(text: str) -> Iterator[str]:
    """The pieces of a text between commas that are in no brackets."""
    depth, piece = 0, ""
    for letter in text:
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and not depth:
            yield piece
            piece = ""
        else:
            piece += letter
    yield piece


def spread(text: str, whole: str) -> list[Any]:
    """The numbers of a range, both ends included."""
    from fractions import Fraction

    parts = [each for each in map(number_or_none, text.split(":")) if each is not None]
    if len(parts) < text.count(":") + 1:
        raise ArgumentError(f"{quote(text)} is no range of numbers", hint="write `first:last` or `first:last:step`")
    first, last, step = (*parts, 1)[:3]
    if not step or (last - first) / step < 0:
        raise ArgumentError(f"the range {quote(text)} has no values", hint="write `first:last:step`, step towards last")
    start, by = Fraction(str(first)), Fraction(str(step))
    count = int((Fraction(str(last)) - start) / by) + 1
    if count > MOST_VALUES:
        raise ArgumentError(f"the range {quote(text)} has {count:,} values", hint="take a larger step")
    kind = int if isinstance(first, int) and isinstance(step, int) else float
    return [kind(start + index * by) for index in range(count)]


def number_or_none(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if abs(value) < 1e18 else None
    return None


def number(text: str) -> int | float:
    value = number_or_none(text)
    if value is None:
        raise ArgumentError(f"{quote(text)} is not a number")
    return value


def scalar(values: Any) -> Any:
    if isinstance(values, list):
        raise ArgumentError("`--set` takes one value", hint="only the variable that is solved for is searched")
    return values


def amount(text: str) -> int | float:
    """A budget: 300M, 5e9, 14MiB."""
    match = re.fullmatch(r"\s*([\d.,]+(?:[eE]\d+)?)\s*([A-Za-z]*)\s*", text)
    value = number_or_none(match[1].replace(",", "")) if match else None
    if match is None or value is None or match[2] not in UNITS:
        raise ArgumentError(f"{quote(text)} is no budget", hint="write 300M, 5e9 or, of bytes, 14MiB")
    return value * UNITS[match[2]]
