"""A report as text: a table of rows that fits the terminal, the totals, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from paramcount.cost.count import Report
from paramcount.cost.figures import Figures, Row
from paramcount.cost.outline import outline
from paramcount.errors import ArgumentError, printable, quote
from paramcount.numbers.units import binary, decimal, grouped, rounded
from paramcount.render import terminal
from paramcount.render.columns import aligned, fit, middle, wrapped

BAR = 6
EIGHTHS = " ▏▎▍▌▋▊▉"


class Heading(NamedTuple):
    """A column: its title, how a row's cell is written, and what it is sorted by (numbers with the largest first)."""

    title: str
    text: Callable[[Row, Figures], str]
    key: Callable[[Row], Any]
    right: bool = False


def counted(title: str, name: str, write: Callable[[int], str]) -> Heading:
    return Heading(title, lambda row, totals: write(getattr(row, name)), lambda row: -getattr(row, name), True)


HEADINGS = {
    "layer": Heading("layer", lambda row, totals: row.path, lambda row: row.path),
    "kind": Heading("kind", lambda row, totals: row.kind, lambda row: row.kind),
    "setting": Heading("setting", lambda row, totals: row.setting, lambda row: row.setting),
    "output": Heading(
        "output",
        lambda row, totals: str(row.output_shape) if row.output_shape else "",
        lambda row: -row.output_shape.elements if row.output_shape else 0,
    ),
    "repeat": Heading("×N", lambda row, totals: f"×{row.repeat}" if row.repeat > 1 else "", lambda row: -row.repeat),
    "params": counted("params", "params", grouped),
    "trainable": counted("trainable", "trainable", grouped),
    "weights": counted("weights", "weights", grouped),
    "tables": counted("tables", "tables", grouped),
    "biases": counted("biases", "biases", grouped),
    "norms": counted("norms", "norms", grouped),
    "buffers": counted("buffers", "buffers", grouped),
    "active_params": counted("active", "active_params", grouped),
    "macs": counted("MACs", "macs", decimal),
    "flops": counted("FLOPs", "flops", decimal),
    "elementwise": counted("elementwise", "elementwise", decimal),
    "activations": counted("activations", "activations", decimal),
    "param_bytes": counted("bytes", "param_bytes", binary),
    "share": Heading("share", lambda row, totals: percent(row.macs, totals.macs), lambda row: -row.macs, True),
    "bar": Heading("", lambda row, totals: "", lambda row: -row.macs),
    "note": Heading("note", lambda row, totals: row.note, lambda row: row.note),
}
WITH_TRAINING = {  # raises ArgumentError where a report is not of training
    **HEADINGS,
    "backward_macs": counted("backward", "backward_macs", decimal),
    "recomputed_macs": counted("recomputed", "recomputed_macs", decimal),
    "train_macs": counted("step", "train_macs", decimal),
    "train_flops": counted("step FLOPs", "train_flops", decimal),
    "optimizer_elementwise": counted("optimizer", "optimizer_elementwise", decimal),
}
USUAL = ("layer", "kind", "setting", "output", "repeat", "params", "weights", "macs", "share", "bar", "note")
IN_TRAINING = ("layer", "kind", "setting", "output", "repeat", "params", "macs", "backward_macs", "train_macs", "note")
WITH_REMAT = (*IN_TRAINING[:-2], "recomputed_macs", *IN_TRAINING[-2:])
IF_ANY = ("setting", "repeat", "note")  # left out where no row has one
DROPPED = ("bar", "kind", "setting", "share", "repeat", "weights", "output", "note")  # the least important first
SHORTENED = {"layer": 18, "note": 14}  # columns of text, and how wide they stay; a part of the others says nothing


def render(
    report: Report,
    *,
    depth: int = 1,
    columns: Sequence[str] | None = None,
    sort: str | None = None,
    width: int | None = None,
    encoding: str | None = None,
    colour: bool = False,
    status: str = "",
) -> str:
    """The table, the totals, the convention, and `status`, a line about what was checked.

    `depth` levels of groups are open; `columns` replaces the usual ones and `sort` orders the rows of each
    group. `width` and `encoding` are by default the terminal's.
    """
    if any(type(each) is not int for each in report.totals):
        raise ArgumentError("a sweep has many tables", hint="count one variant alone, and print that")
    encoding = encoding or terminal.encoding()
    chosen = [known(name, WITH_TRAINING) for name in columns] if columns else None
    order = WITH_TRAINING[known(sort, WITH_TRAINING)].key if sort else None
    step = report.step
    usual = USUAL if step is None else WITH_REMAT if step.remat else IN_TRAINING
    width = width or terminal.width()
    title = middle(printable(report.name + (f":{report.variant}" if report.variant else "")), width, "…")
    below = [wrapped(line, width) for line in (report.convention, status) if line]
    parts = [
        terminal.written(title, encoding),
        lay_out(report, depth, chosen, order, width, encoding, colour, WITH_TRAINING, usual),
        terminal.written(totals(report, units=width >= 50), encoding),
        terminal.written("\n".join(below), encoding),
    ]
    return "\n\n".join(parts)


def known(name: str, headings: Mapping[str, Heading]) -> str:
    """The column of a name, as the table or as JSON writes it."""
    plain = name.strip().lower()
    for key, heading in headings.items():
        if plain and plain in (key, heading.title.lower()):
            return key
    from paramcount.errors.suggest import did_you_mean, nearest

    hint = did_you_mean(nearest(plain, headings), "one of " + ", ".join(headings))
    raise ArgumentError(f"unknown column {quote(name)}", hint=hint)


def lay_out(
    report: Report,
    depth: int,
    chosen: list[str] | None,
    order: Callable[[Row], Any] | None,
    width: int,
    encoding: str,
    colour: bool,
    headings: Mapping[str, Heading],
    usual: Sequence[str],
) -> str:
    """The rows as a table that is at most `width` wide; columns that the user chose are all kept."""
    lines = outline(report.rows, depth, order)
    most = max([row.macs for _, row in lines], default=0)
    cells: dict[str, list[str]] = {}
    for name in chosen or usual:
        heading = headings[name]
        if name == "layer":
            texts = ["  " * (row.depth - 1) + printable(label) for label, row in lines]
        elif name == "bar":
            texts = [bar(row.macs, most) for _, row in lines]
        else:
            texts = [printable(heading.text(row, report.totals)) for _, row in lines]
        if chosen or name not in IF_ANY or any(texts):
            cells[name] = [terminal.written(text, encoding) for text in texts]
    titles = {name: terminal.written(headings[name].title, encoding) for name in cells}
    fit(cells, titles, width, encoding, () if chosen else DROPPED, SHORTENED)
    headers = [f"\x1b[1m{titles[name]}\x1b[0m" if colour and titles[name] else titles[name] for name in cells]
    if colour and "bar" in cells:
        cells["bar"] = [f"\x1b[36m{text}\x1b[0m" if text else "" for text in cells["bar"]]
    sides = ["right" if headings[name].right else "left" for name in cells]
    # The titles are a row as any other: tabulate makes room beside headers.
    return aligned([headers, *zip(*cells.values(), strict=True)], sides)


def percent(part: int, whole: int) -> str:
    """A share in percent, to one decimal; a dash where there is nothing to share."""
    if not whole:
        return "–"
    ones, tenth = divmod(rounded(1000 * part, whole), 10)
    return f"{ones}.{tenth}%"


def bar(part: int, most: int) -> str:
    """A bar that is full for the largest row."""
    full, eighths = divmod(rounded(8 * BAR * part, most) if most else 0, 8)
    return "█" * full + EIGHTHS[eighths].strip()


def totals(report: Report, units: bool = True) -> str:
    """Every total, exactly and, if there is room, in its unit."""
    figures = report.totals
    training = sum(row.params for row in report.rows if row.leaf and row.training_only)
    lines = [
        ("weights (bias-free)", figures.weights, decimal),
        ("  of which tables", figures.tables, decimal),
        ("biases", figures.biases, decimal),
        ("norms", figures.norms, decimal),
        ("params", figures.params, decimal),
        ("  of which training only", training, decimal),
        ("  active for one token", figures.active_params, decimal),
        ("trainable", figures.trainable, decimal),
        ("buffers", figures.buffers, decimal),
        ("MACs", figures.macs, decimal),
        ("FLOPs", figures.flops, decimal),
        ("elementwise operations", figures.elementwise, decimal),
        ("activations", figures.activations, decimal),
        ("bytes of the parameters", figures.param_bytes, binary),
    ]
    if report.kv_cache is not None and report.kv_cache_bytes is not None:
        lines.append((f"bytes of the KV cache, {grouped(report.kv_cache)} tokens", report.kv_cache_bytes, binary))
    if report.training and report.step:
        lines += [
            ("backward MACs", report.training.backward_macs, decimal),
            ("recomputed MACs", report.training.recomputed_macs, decimal),
            ("MACs of a step", report.training.train_macs, decimal),
            ("FLOPs of a step", report.training.train_flops, decimal),
            ("elementwise: softmax cross entropy", report.step.loss_elementwise, decimal),
            (f"elementwise: {report.step.optimizer}", report.training.optimizer_elementwise, decimal),
        ]
    left_out = {"  of which tables": 0, "  of which training only": 0, "  active for one token": figures.params}
    left_out["recomputed MACs"] = 0
    return listed([line for line in lines if left_out.get(line[0]) != line[1]], units)


def listed(lines: Sequence[tuple[str, int, Callable[[int], str]]], units: bool = True) -> str:
    """Figures with their names, each exactly and, with `units`, as its writer writes it."""
    rows = [(label, grouped(n), write(n) if units and n >= 1000 else "") for label, n, write in lines]
    return aligned(rows, ("left", "right", "right"))
