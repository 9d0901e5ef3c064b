"""What was counted as a sheet: its columns, and the rows of the tree down to a depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paramcount.cost.figures import FIGURES, Figures, Row, TrainingFigures
from paramcount.cost.outline import flattened, outline
from paramcount.errors import ArgumentError
from paramcount.layers.layer import Shape
from paramcount.render.sheet import PEOPLE, PROGRAMS, Heading, Share, Sheet, bar, percent

if TYPE_CHECKING:
    from paramcount.cost.counted import Counted


def times(repeat: int) -> str:
    """How often a row stands there, where that is more than once."""
    return f"×{repeat}" if repeat > 1 else ""


def cyan(_: object) -> str:
    return "36"


def true_or_false(flag: bool) -> str:
    return str(flag).lower()


def several(shapes: Sequence[Shape]) -> str:
    return ", ".join(map(str, shapes))


DESCRIBING = {  # the columns that are not figures
    "path": Heading("path", "path", wide=18, cut=True),
    "layer": Heading("layer", "layer", wide=18, cut=True, indented=True),
    "kind": Heading("kind", "kind", drop=2, cut=True, aside=True),
    "setting": Heading("setting", "setting", drop=3, cut=True, if_any=True, aside=True),
    "input": Heading("input", "input", several),
    "output": Heading("output", "output", drop=7),
    "repeat": Heading("repeat", "×N", times, drop=5, if_any=True, aside=True),
    "params_share": Heading("params_share", "params %", percent, right=True),
    "share": Heading("share", "share", percent, right=True, drop=4),
    "bar": Heading("bar", "", bar, drop=1, colour=cyan, reader=PEOPLE),
    "note": Heading("note", "note", drop=8, wide=14, cut=True, if_any=True, aside=True),
    "depth": Heading("depth", "depth", right=True),
    "leaf": Heading("leaf", "leaf", true_or_false),
}
FLAT = {  # what differs where rows are layers: their paths need room, and shares say which are the heaviest
    "path": {"wide": 36},
    "layer": {"wide": 36},
    "weights": {"drop": 4},
    "share": {"drop": 6},
}
DROPPED = {"weights": 6}


def sheet_of(
    counted: Counted, depth: int, columns: Sequence[str] | None, sort: str | None, flat: bool, top: int | None
) -> Sheet:
    """The sheet of what was counted; columns that the user chose are all shown."""
    if not counted.single:
        raise ArgumentError("the variants of a sweep need a table each", hint="count one variant, and print that")
    names = [*DESCRIBING, *Figures._fields, *counted.extra]
    order = ordering(known(sort, names), counted) if sort else None
    chosen = [known(name, names) for name in columns or ()]
    for name in chosen:
        check(name, counted)
    headings = [heading(name) for name in chosen] or usual(counted)
    if "params_share" in chosen:
        headings = [each._replace(title="MACs %") if each.name == "share" else each for each in headings]
    if flat:
        headings = [each._replace(**FLAT.get(each.name, {})) for each in headings]
    if chosen:
        headings = [each._replace(drop=0, if_any=False, reader="") for each in headings]
    lines = flattened(counted.rows, order) if flat else outline(counted.rows, depth, order)
    outermost = [index for index, (_, row) in enumerate(lines) if flat or row.depth == 1]
    below = [*counted.notes, counted.convention]
    if top is not None and top < len(outermost):
        lines = lines[: outermost[top]]
        below = [f"the first {top} of {len(outermost)} {'layers' if flat else 'rows'}", *below]
    most = max([row.get("macs") or 0 for _, row in lines], default=0)
    rows = [[value(row, each.name, label, counted, most) for each in headings] for label, row in lines]
    footer = [total(counted, each.name) for each in headings]
    levels = () if flat else [row.depth - 1 for _, row in lines]
    return Sheet(counted.title, headings, rows, counted.statement(), below, counted.to_dict, levels, footer)


def usual(counted: Counted) -> list[Heading]:
    """The usual columns; programs get a path in place of the name, and what tells groups from their leaves."""
    people = [heading(name) for name in counted.usual]
    people[0] = people[0]._replace(reader=PEOPLE)
    path, depth, leaf = (heading(name)._replace(reader=PROGRAMS) for name in ("path", "depth", "leaf"))
    return [path, *people, depth, leaf]


def heading(name: str) -> Heading:
    if name in DESCRIBING:
        return DESCRIBING[name]
    return Heading(name, FIGURES[name].title, FIGURES[name].write, right=True, drop=DROPPED.get(name, 0))


def value(row: Row, name: str, label: str, counted: Counted, most: int) -> Any:
    """What a column has for a row; `label` is the row's name in the tree, and `most` the largest MACs of all."""
    if name in FIGURES:
        return row.get(name)
    match name:
        case "layer":
            return label
        case "input":
            return row.input_shapes
        case "output":
            return row.output_shape
        case "share":
            return share(row.get("macs"), counted.totals.macs)
        case "params_share":
            return share(row.get("params"), counted.totals.params)
        case "bar":
            return share(row.get("macs"), most)
    return getattr(row, name)


def share(part: Any, whole: Any) -> Share | None:
    return None if part is None or whole is None else Share(part, whole)


def total(counted: Counted, name: str) -> Any:
    """What a column has in the row of totals."""
    if name in ("layer", "path"):
        return "total"
    if name in FIGURES:
        return counted.get(name)
    if name == "depth":
        return ""
    whole = {"share": counted.totals.macs, "params_share": counted.totals.params}.get(name)
    return share(whole, whole)


def known(name: str, names: Sequence[str]) -> str:
    """The column with a name, as the table or as JSON writes it; raises ArgumentError for an unknown one."""
    plain = name.strip().lower()
    for key in names:
        if plain and plain in (key, heading(key).title.lower()):
            return key
    from paramcount.errors.suggest import unknown

    raise unknown("column", name, names)


def check(name: str, counted: Counted) -> None:
    """Raises ArgumentError for a figure of training if inference was counted."""
    if counted.training is None and name in TrainingFigures._fields:
        raise counted.unknown(name)


def ordering(name: str, counted: Counted) -> Callable[[Row], Any]:
    """The key that rows are sorted by: texts alphabetically, numbers from the largest, unknown ones last."""
    check(name, counted)
    if name in ("kind", "setting", "note", "path"):
        return lambda row: getattr(row, name)
    if name == "layer":
        return lambda row: row.path
    if name == "input":
        return lambda row: -sum(shape.elements for shape in row.input_shapes or ())
    if name == "output":
        return lambda row: -row.output_shape.elements if row.output_shape else 0
    figure = {"share": "macs", "bar": "macs", "params_share": "params"}.get(name, name)

    def key(row: Row) -> tuple[bool, int]:
        found = row.get(figure) if figure in FIGURES else getattr(row, figure)
        return found is None, -(found or 0)

    return key
