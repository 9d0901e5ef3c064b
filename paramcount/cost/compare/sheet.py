"""A comparison as a sheet: two networks row by row below their totals, or several with a row each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from paramcount.cost.compare.rows import ADDED, CHANGED, EQUAL, REMOVED, Pair, opened
from paramcount.cost.figures import FIGURES, Phases
from paramcount.cost.sheet import check, heading, known
from paramcount.graph.network import as_written
from paramcount.numbers.units import grouped, number_of, percent
from paramcount.render.sheet import PEOPLE, PROGRAMS, Heading, Sheet

if TYPE_CHECKING:
    from paramcount.cost.compare.comparison import Comparison

MARKS = {EQUAL: "", CHANGED: "~", ADDED: "+", REMOVED: "-"}
GREEN, RED = "32", "31"  # of the terminal
COLOURS = {ADDED: GREEN, REMOVED: RED}
FILES = (".json", ".yaml", ".yml")

DESCRIBING = ("layer", "kind", "setting", "output", "repeat", "note")  # the columns that are not figures
USUAL = ("params", "macs")
OF_SEVERAL = ("params", "macs", "activations", "param_bytes")
DROPPED = {"param_bytes": 1, "activations": 2}  # of several networks, on a narrow terminal
STATED = ("params", "active_params", "trainable", "weights", "macs", *Phases._fields, "train_macs", "flops")
STATED += ("train_flops", "activations", "param_bytes", "kv_cache_bytes", "optimizer_elementwise", "loss_elementwise")
# totals that are stated even if they are 0
ALWAYS = ("params", "weights", "macs", "flops", "activations", "param_bytes")
IF_OTHER = {"active_params": "params", "trainable": "params", "forward_macs": "macs"}  # those stated where they differ
LABELS = {name: shown.label for name, shown in FIGURES.items()}
LABELS |= {"weights": "weights", "optimizer_elementwise": "elementwise: optimizer"}
LABELS |= {"kv_cache_bytes": "bytes of the KV cache", "loss_elementwise": "elementwise: softmax cross entropy"}


class Change(NamedTuple):
    """How a figure changes, in a row that is equal, changed, added or removed as a whole."""

    a: int | None
    b: int | None
    row: str = CHANGED


def changing(change: Change) -> str:
    """A change in percent of what was there; new and gone are whole rows alone.

    >>> changing(Change(200, 191)), changing(Change(5, 0)), changing(Change(0, 5)), changing(Change(5, 5))
    ('−4.5%', '−100.0%', 'from 0', '')
    """
    a, b, row = change
    if row in (ADDED, REMOVED):
        return "new" if row == ADDED else "gone"
    if a is None or b is None or a == b:
        return ""
    if a == 0:
        return "from 0"
    return f"{'+' if b > a else '−'}{percent(abs(b - a), a)}"


def difference(change: Change) -> str:
    """A change with all its digits."""
    a, b, _ = change
    if a is None or b is None or a == b:
        return ""
    return f"{'+' if b > a else '−'}{grouped(abs(b - a))}"


def colour_of_change(change: Change) -> str:
    return COLOURS.get(change.row, "")


def colour_of_mark(row: str) -> str:
    return COLOURS.get(row, "")


def beside(comparison: Comparison, depth: int, columns: Sequence[str] | None, changed: bool) -> Sheet:
    """Two networks: their totals, the variables that differ, and their rows."""
    names = chosen(comparison, columns, DESCRIBING) or ["layer", "output", *usual(comparison, USUAL)]
    shown = list(opened(comparison.pairs, depth))
    numbers = {change: sum(pair.change == change for pair in shown) for change in MARKS}
    below = [tally(numbers)]
    if changed:
        shown = [pair for pair in shown if pair.change != EQUAL]
        below[0] += " (left out)" if numbers[EQUAL] else ""
    headings = [Heading("change", "", mark, colour=colour_of_mark)]
    headings += [each for name in names for each in headings_of(name, dropped=columns is None)]
    rows = [[pair.change, *(cell for name in names for cell in cells(pair, name))] for pair in shown]
    if columns is None:
        headings.append(heading("depth")._replace(reader=PROGRAMS))
        rows = [[*row, pair.depth] for row, pair in zip(rows, shown, strict=True)]
    return Sheet(
        comparison.title,
        headings,
        rows,
        (),
        [*below, *comparison.notes, comparison.convention],
        comparison.to_dict,
        levels=[pair.depth - 1 for pair in shown],
        above=totals(comparison),
        summary=number_of(sum(numbers.values()) - numbers[EQUAL], "changed row"),
    )


def mark(change: str) -> str:
    return MARKS[change]


def tally(numbers: dict[str, int]) -> str:
    """How many rows changed in which way.

    >>> tally({EQUAL: 2, CHANGED: 10, ADDED: 4, REMOVED: 0})
    '4 added (+), 0 removed (-), 10 changed (~), 2 equal'
    """
    marked = [f"{numbers[change]} {change} ({mark(change)})" for change in (ADDED, REMOVED, CHANGED)]
    return ", ".join([*marked, f"{numbers[EQUAL]} {EQUAL}"])


def totals(comparison: Comparison) -> Sheet:
    """The totals of two networks, and the variables that differ."""
    names = short(comparison.names)
    found = stated(comparison)
    digits = max([len(grouped(each)) for _, values in found for each in values if each is not None], default=0)
    headings = [
        Heading("figure", "", cut=True),
        Heading("a", names[0], grouped, right=True, wide=digits),  # only a name is longer, and may be shortened
        Heading("b", names[1], grouped, right=True, wide=digits),
        Heading("difference", "change", difference, right=True, drop=1),
        Heading("change", "", changing, right=True),
    ]
    phased = any(isinstance(side.training, Phases) for side in comparison.sides)
    labels = LABELS | {name: f"  {FIGURES[name].title}" for name in Phases._fields if phased}
    rows = [[labels[name], a, b, Change(a, b), Change(a, b)] for name, (a, b) in found]
    differing = [f"{name} {' → '.join(map(value_of, values))}" for name, values in variables(comparison).items()]
    below = [f"variables: {', '.join(differing)}"] if differing else []
    return Sheet("", headings, rows, (), below, comparison.to_dict)


def short(names: Sequence[str]) -> Sequence[str]:
    """The names without the folders of files, if that leaves them apart."""
    found = [os.path.basename(name) if name.endswith(FILES) else name for name in names]
    return found if len(set(found)) == len(set(names)) else names


def variables(comparison: Comparison) -> dict[str, tuple[Any, ...]]:
    """The variables that differ; of different networks those that both have, since the others say nothing."""
    a, b = comparison.sides
    found = comparison.variables
    if a.name == b.name:
        return found
    return {name: values for name, values in found.items() if name in a.vars and name in b.vars}


def stated(comparison: Comparison) -> list[tuple[str, tuple[int | None, ...]]]:
    """The totals that are shown, those left out that are unknown on both sides."""
    found = []
    for name in STATED:
        values = comparison.totals.get(name, ())
        if name in IF_OTHER:
            kept = values != comparison.totals[IF_OTHER[name]]
        else:
            kept = name in ALWAYS or any(values)
        if kept and any(each is not None for each in values):
            found.append((name, values))
    return found


def value_of(value: Any) -> str:
    """A variable's value, a dash where the spec has no such variable."""
    return "–" if value is None else as_written(value)


def headings_of(name: str, dropped: bool) -> list[Heading]:
    """The columns of one name: for people those of both sides beside each other, for programs each for itself."""
    own = heading(name)
    if name in FIGURES:
        unit = FIGURES[name].unit
        return [
            Heading(f"{name}_a", own.title, unit, right=True),
            Heading(f"{name}_b", "→", unit, right=True),
            Heading(f"{name}_change", "", changing, right=True, colour=colour_of_change, reader=PEOPLE),
        ]
    people = Heading(name, own.title, cut=own.cut, reader=PEOPLE, drop=1 if dropped and name != "layer" else 0)
    if name == "layer":
        people = people._replace(wide=own.wide, indented=True)
    plain = "path" if name == "layer" else name
    programs = [heading(plain)._replace(name=f"{plain}_{each}", reader=PROGRAMS) for each in "ab"]
    return [people, *programs]


def cells(pair: Pair, name: str) -> list[Any]:
    """What the columns of one name have for a pair."""
    if name in FIGURES:
        a, b = pair.figure(name)
        return [a, b, Change(a, b, pair.change)]
    if name == "layer":
        return [pair.label, pair.a and pair.a.path, pair.b and pair.b.path]
    values = [row and getattr(row, "output_shape" if name == "output" else name) for row in (pair.a, pair.b)]
    texts = list(dict.fromkeys(heading(name).text(value) or "–" for value in values))
    return ["" if texts == ["–"] else " → ".join(texts), *values]


def listed(comparison: Comparison, columns: Sequence[str] | None) -> Sheet:
    """Several networks, a row each, with their changes from the first."""
    names = chosen(comparison, columns, ()) or usual(comparison, OF_SEVERAL)
    headings = [Heading("name", "", wide=40, cut=True)]
    for name in names:
        own = heading(name)._replace(drop=DROPPED.get(name, 0) if columns is None else 0)
        change = Heading(f"{name}_change", "", changing, own.right, own.drop, colour=colour_of_change, reader=PEOPLE)
        headings += [own, change]
    rows = []
    for number, name in enumerate(short(comparison.names)):
        figures = [(comparison.totals[each][0], comparison.totals[each][number]) for each in names]
        rows.append([name, *(cell for a, b in figures for cell in (b, Change(a, b)))])
    below = [*comparison.notes, f"changes are from {short(comparison.names)[0]}; {comparison.convention}"]
    return Sheet("", headings, rows, (), below, comparison.to_dict)


def usual(comparison: Comparison, names: Sequence[str]) -> list[str]:
    """The usual figures that are known on a side; those of a training step too if it was counted."""
    totals = comparison.totals
    return [name for name in (*names, "train_macs") if any(each is not None for each in totals.get(name, ()))]


def chosen(comparison: Comparison, columns: Sequence[str] | None, others: Sequence[str]) -> list[str]:
    """The columns that were asked for; raises ArgumentError for an unknown one."""
    side = next((each for each in comparison.sides if each.training is not None), comparison.sides[0])
    extra = dict.fromkeys(name for each in comparison.sides for name in each.extra)
    found = [known(name, [*others, *side.totals._fields, *extra]) for name in columns or ()]
    for name in found:
        check(name, side)
    return found
