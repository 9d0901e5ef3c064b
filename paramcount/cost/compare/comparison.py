"""Two networks beside each other, row by row, or several by their totals."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from paramcount.cost.compare.rows import EQUAL, Pair, opened, pairs_of
from paramcount.cost.count import count
from paramcount.cost.counted import Counted, plain
from paramcount.errors import ArgumentError, printable, quote
from paramcount.graph.network import as_written
from paramcount.layers.arguments import argument, column_names, whole_argument
from paramcount.layers.fields import Flag
from paramcount.numbers.arithmetic import Size
from paramcount.render.sheet import SCHEMA, Sheet
from paramcount.render.shown import Shown

ALL_LEVELS = 10**9
TRACED = "as traced"  # what the convention of a trace begins with
NOT_COUNTED = "NOT counted"  # what a convention says of a trace alone


def compare(
    a: Any,
    b: Any,
    /,
    *others: Any,
    batch: Size = 1,
    dtype: str = "float32",
    train: bool = False,
    freeze: Sequence[str] = (),
    remat: bool = False,
    optimizer: str | None = None,
    attention: str = "dense",
    kv_cache: Size | None = None,
) -> Comparison:
    """Compare networks: specs by their names, networks, and what was counted: reports, traces, and saved JSON files.

    Specs and networks are counted first, with the settings of `count`. Two networks are compared row by row, more by
    their totals. Raises ArgumentError for what is not a network, and if what was counted already was counted
    differently, as for another batch.

    >>> found = compare("mobilenet_v2", "mobilenet_v2:x0.5")
    >>> found.totals["params"], found.variables
    ((3504872, 1968680), {'width': (1.0, 0.5)})
    >>> [(row.label, row.a.params, row.b.params) for row in found.rows if row.depth == 1][:2]
    [('conv0', 928, 464), ('bottleneck0[0][0]', 896, 320)]
    """
    settings = {
        "batch": batch,
        "dtype": dtype,
        "train": train,
        "freeze": freeze,
        "remat": remat,
        "optimizer": optimizer,
        "attention": attention,
        "kv_cache": kv_cache,
    }
    found = [side(each, settings) for each in (a, b, *others)]
    return Comparison(tuple(name for name, _ in found), tuple(counted for _, counted in found))


def side(given: Any, settings: dict[str, Any]) -> tuple[str, Counted]:
    """What is called by which name in a comparison."""
    if isinstance(given, Counted):
        return given.title, given
    if isinstance(given, (str, os.PathLike)):
        from paramcount.cost.saved import named

        name = os.fsdecode(given)
        found = named(name)
        return name, found if isinstance(found, Counted) else count(found, **settings)
    found = count(given, **settings)
    return found.title, found


@dataclass(frozen=True)
class Comparison(Shown):
    """What was counted on each side: `names` and `sides`, at least two.

    `totals` are all figures by name, with one value for each side, and `variables` those whose values differ, None
    where a side does not have one of that name. `str()` is the table.
    """

    names: tuple[str, ...]
    sides: tuple[Counted, ...]

    def __post_init__(self) -> None:
        if not all(each.single for each in self.sides):
            raise ArgumentError("the variants of a sweep cannot be compared", hint="count one variant")
        first, *others = self.sides
        for name, other in zip(self.names[1:], others, strict=True):
            check_alike(self.names[0], first.convention, name, other.convention)

    def __repr__(self) -> str:
        return f"<Comparison {' → '.join(map(printable, self.names))}>"

    @property
    def title(self) -> str:
        return "  →  ".join(self.names)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The outermost parts of two networks, with those inside them; none of more networks."""
        return pairs_of(self.sides[0].rows, self.sides[1].rows) if len(self.sides) == 2 else ()

    @property
    def rows(self) -> tuple[Pair, ...]:
        """The parts of two networks in pre-order, below changed ones at every level; none of more networks."""
        return tuple(opened(self.pairs, ALL_LEVELS))

    @cached_property
    def totals(self) -> dict[str, tuple[int | None, ...]]:
        each = [side.all_totals() for side in self.sides]
        names = dict.fromkeys(name for totals in each for name in totals)
        return {name: tuple(totals.get(name) for totals in each) for name in names}

    @property
    def variables(self) -> dict[str, tuple[Any, ...]]:
        names = dict.fromkeys(name for side in self.sides for name in side.vars)
        values = {name: tuple(side.vars.get(name) for side in self.sides) for name in names}
        return {name: each for name, each in values.items() if any(differ(each[0], other) for other in each[1:])}

    @cached_property
    def equal(self) -> bool:
        """Whether all rows and all totals are equal."""
        first, *others = self.sides
        trees = [self.pairs] if len(self.sides) == 2 else [pairs_of(first.rows, other.rows) for other in others]
        rows = all(pair.change == EQUAL for pairs in trees for pair in pairs)
        return rows and all(len(set(values)) == 1 for values in self.totals.values())

    @property
    def convention(self) -> str:
        """What the figures mean; where the examples differ, it names all of them."""
        said = [stated(side.convention) for side in self.sides]
        head, _, rest = said[0]
        examples = (" → " if len(said) == 2 else " or ").join(dict.fromkeys(example for _, example, _ in said))
        return "; ".join([f"{head}: {examples}" if examples else head, *rest])

    @property
    def notes(self) -> list[str]:
        return [f"{name}: {note}" for name, side in zip(self.names, self.sides, strict=True) for note in side.notes]

    @property
    def warnings(self) -> list[str]:  # type: ignore[override]
        return [f"{name}: {each}" for name, side in zip(self.names, self.sides, strict=True) for each in side.warnings]

    def sheet(self, depth: int | None = None, columns: Sequence[str] | None = None, changed: bool = False) -> Sheet:
        """Two networks row by row, changed rows opened to `depth` levels, or a row for each of several networks.

        `columns` replaces the usual ones; if `changed`, equal rows are left out. Raises ArgumentError for an unknown
        column, and for `depth` and `changed` with more than two networks.
        """
        from paramcount.cost.compare.sheet import beside, listed

        changed = argument("changed", changed, Flag())
        columns = column_names(columns)
        if len(self.sides) == 2:
            levels = max(side.levels for side in self.sides)
            return beside(self, levels if depth is None else whole_argument("depth", depth), columns, changed)
        if depth is not None or changed:
            hint = "compare two of them to see their rows"
            raise ArgumentError("three networks or more are a row each, which cannot be opened or left out", hint=hint)
        return listed(self, columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything as raw values, ready for JSON, in lists with a value for each side."""
        if len(self.sides) == 2:
            rows = [pair_to_dict(pair) for pair in self.rows]
        else:
            sides = zip(self.names, self.sides, strict=True)
            rows = [{"name": name, **side.all_totals()} for name, side in sides]
        return {
            "schema": SCHEMA,
            "command": "compare",
            "title": self.title,
            "names": list(self.names),
            "convention": self.convention,
            "equal": self.equal,
            "variables": {name: list(values) for name, values in self.variables.items()},
            "totals": {name: list(values) for name, values in self.totals.items()},
            "rows": rows,
        }


def differ(one: Any, other: Any) -> bool:
    """Whether two values of a variable differ; JSON has no tuples, and a spec may write 1 or 1.0."""
    return one != other and as_written(one) != as_written(other)


def stated(convention: str) -> tuple[str, str, list[str]]:
    """A convention as how many examples were counted, of what, and the parts that follow.

    >>> stated("8 examples of 128 tokens; MACs include padding; float32")
    ('8 examples', '128 tokens', ['MACs include padding', 'float32'])
    """
    basis, *rest = convention.split("; ")
    found = re.fullmatch(r"(one example): (.*)|(\d+ examples) of (.*)", basis)
    head, example = (found[1] or found[3], found[2] or found[4]) if found else (basis, "")
    return head, example, [part for part in rest if not part.startswith(NOT_COUNTED)]


def check_alike(name: str, convention: str, other_name: str, other_convention: str) -> None:
    """Raises ArgumentError, with what differs, unless both were counted for the same batch, type and training."""
    parts = []
    for each in (convention, other_convention):
        head, _, rest = stated(each)
        parts.append([head, *rest, *([] if trains(rest) else ["inference"])])
    first, second = ([part for part in own if part not in other] for own, other in (parts, parts[::-1]))
    if first or second:
        if trains(first) != trains(second):
            first, second = ([part.partition(": ")[0] for part in each] for each in (first, second))
        names = f"{quote(name)} and {quote(other_name)}"
        message = f'{names} were counted differently: "{"; ".join(first)}" and "{"; ".join(second)}"'
        hint = "count both with the same batch, dtype, training and attention"
        if TRACED in first or TRACED in second:
            hint = "compare two traces, or two specs; `verify` compares a spec with its trace"
        raise ArgumentError(message, hint=hint)


def trains(parts: Sequence[str]) -> bool:
    return any(part.startswith("training: ") for part in parts)


def pair_to_dict(pair: Pair) -> dict[str, Any]:
    """A pair as JSON has it; a row that is missing on one side counts 0 there."""
    rows = (pair.a, pair.b)

    def texts(name: str) -> list[Any]:
        return [None if row is None else getattr(row, name) for row in rows]

    shapes = [row and row.output_shape for row in rows]
    return {
        "change": pair.change,
        "depth": pair.depth,
        **{name: texts(name) for name in ("path", "kind", "setting", "repeat", "note")},
        "output_shape": [None if shape is None else list(shape.sizes) for shape in shapes],
        **{name: list(pair.figure(name)) for name in plain(pair.a or pair.b)},  # type: ignore[arg-type]
    }
