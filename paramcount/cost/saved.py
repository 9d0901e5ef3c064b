"""A count that was saved as JSON, read again: every value of the file is checked, and nothing in it is ever run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paramcount.cost.counted import Counted, runs
from paramcount.cost.figures import FIGURES, Figures, Phases, Row, TrainingFigures
from paramcount.cost.outline import Branch, nested
from paramcount.cost.report import IN_TRAINING, STATED, USUAL
from paramcount.cost.traced import opening
from paramcount.errors import ArgumentError, quote
from paramcount.graph.network import Network, Subject
from paramcount.language.yaml.source import is_saved
from paramcount.layers.layer import Shape
from paramcount.render.sheet import SCHEMA

ENDING = ".json"
LARGEST = 1 << 26  # bytes; the longest shipped network takes one of these 64 MiB
DEEPEST = 150  # levels of rows
MOST = 10**1000  # of a number; no figure of a network is near, and a quotient of larger ones could not be written
MOST_ITERATIONS = 10**6  # that the rows of a file stand for, on all levels
BEYOND = ("loss_elementwise", "kv_cache_bytes")  # totals that are not figures of rows
SAVE_ONE = "save a count with `paramcount SPEC -o FILE.json`"


@dataclass(frozen=True, repr=False)
class Saved(Counted):
    """A count or a trace that was saved as JSON; what an older version did not save is unknown."""

    subject: Subject
    totals: Figures
    rows: tuple[Row, ...]
    convention: str = ""  # type: ignore[assignment]
    training: TrainingFigures | Phases | None = None  # type: ignore[assignment]
    beyond: Mapping[str, int | None] = field(default_factory=dict)
    uncounted: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def basis(self) -> str:
        return self.convention.partition("; ")[0]

    @property
    def notes(self) -> Sequence[str]:
        return [f"not counted: {each}" for each in self.uncounted]

    @property
    def usual(self) -> Sequence[str]:
        return IN_TRAINING if isinstance(self.training, TrainingFigures) else USUAL

    @property
    def extra(self) -> Sequence[str]:
        return TrainingFigures._fields if self.training is None else self.training._fields

    @property
    def levels(self) -> int:
        return opening(self.rows) if isinstance(self.training, Phases) else 1

    def statement(self) -> list[tuple[str, int | None, Any]]:
        names = [*STATED, *(self.extra if self.training else ())]
        return [(FIGURES[name].label.format("optimizer"), self.get(name), FIGURES[name].unit) for name in names]

    def all_totals(self) -> dict[str, int | None]:
        return super().all_totals() | dict(self.beyond)

    def to_dict(self) -> dict[str, Any]:
        found = super().to_dict()
        if isinstance(self.training, Phases):
            found["uncounted"] = list(self.uncounted)
        if self.warnings:
            found["warnings"] = list(self.warnings)
        return found

    def reason(self, name: str) -> str:
        return "it was not saved"


def named(path: str) -> Saved | Network:
    """What a name stands for: the count that was saved in a JSON file, or the network of a spec.

    >>> named("mlp")
    <Loaded MLP 784-512-512-10>
    """
    from paramcount.language.load import load

    return (saved_in(path) if path.lower().endswith(ENDING) else None) or load(path)


def saved_in(path: str) -> Saved | None:
    """The count that a JSON file holds, or None for a spec, which may be written as JSON too.

    Raises ArgumentError for a file that cannot be read, or that holds anything else.

    >>> saved_in("nowhere.json")
    Traceback (most recent call last):
    paramcount.errors.ArgumentError: `nowhere.json` cannot be read: No such file or directory
    hint: save a count with `paramcount SPEC -o FILE.json`
    """
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not a path"
        raise ArgumentError(f"{quote(path)} cannot be read: {reason}", hint=hint_for(path)) from None
    return None if b'"layers"' in data and not is_saved(data) else saved(data, path)


def hint_for(path: str) -> str:
    """What to do about a file that is not there: the nearest name beside it, if one is near."""
    from paramcount.errors.suggest import did_you_mean, nearest

    folder, name = os.path.split(path)
    try:
        beside = sorted(each for each in os.listdir(folder or ".") if each.endswith(ENDING))
    except (OSError, ValueError):
        beside = []
    guess = nearest(name, beside)
    return did_you_mean(guess and os.path.join(folder, guess), SAVE_ONE)


def saved(data: bytes, file: str) -> Saved:
    """The count that is written in a file's bytes; raises ArgumentError for anything else."""
    if len(data) > LARGEST:
        raise ArgumentError(f"{quote(file)} is larger than 64 MiB, the most that a saved count may have")
    try:
        found = json.loads(data)
    except RecursionError:
        raise foreign(file, "it is nested too deeply") from None
    except ValueError as problem:  # also of bytes that are not UTF-8, and of a number with too many digits
        raise ArgumentError(f"{quote(file)} is not JSON: {problem}", hint=SAVE_ONE) from None
    return Reader(file).count(found)


def foreign(file: str, problem: str) -> ArgumentError:
    return ArgumentError(f"{quote(file)} is not a count that paramcount saved: {problem}", hint=SAVE_ONE)


class Reader:
    """The values of one file, each checked before it is used."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.left = MOST_ITERATIONS

    def wrong(self, problem: str) -> ArgumentError:
        return foreign(self.file, problem)

    def count(self, found: Any) -> Saved:
        schema = self.mapping(found, "the file").get("schema")
        if type(schema) is not int or schema < SCHEMA:
            raise self.wrong(f"it does not have `schema: {SCHEMA}`")
        if schema > SCHEMA:
            message = f"{quote(self.file)} has schema {schema}, and this version of paramcount reads schema {SCHEMA}"
            raise ArgumentError(message, hint="update paramcount")
        totals = self.mapping(found.get("totals"), "totals")
        figures, training = self.figures(totals, "totals")
        rows = self.rows(found.get("rows"), isinstance(training, Phases))
        self.check(nested(rows), figures, training)
        return Saved(
            subject=Subject(
                self.text(found.get("name"), "name"),
                self.text(found["variant"], "variant") if found.get("variant") is not None else None,
                self.mapping(found.get("vars", {}), "vars"),
                self.mapping(found.get("set", {}), "set"),
            ),
            totals=figures,
            rows=tuple(rows),
            convention=self.text(found.get("convention"), "convention"),
            training=training,
            beyond={name: self.whole(totals[name], name) for name in BEYOND if name in totals},
            uncounted=tuple(self.texts(found, "uncounted")),
            warnings=tuple(self.texts(found, "warnings")),
        )

    def figures(self, found: Mapping[str, Any], where: str) -> tuple[Figures, TrainingFigures | Phases | None]:
        """The figures of a mapping; those that it lacks are unknown."""

        def made(kind: Any) -> Any:
            return kind(**{name: self.whole(found.get(name), f"{name} of {where}") for name in kind._fields})

        if not {"params", "macs"} & set(found):
            raise self.wrong(f"{where} has neither `params` nor `macs`")
        training = TrainingFigures if "train_macs" in found else Phases if "forward_macs" in found else None
        return made(Figures), training and made(training)

    def rows(self, found: Any, traced: bool) -> list[Row]:
        if not isinstance(found, list):
            raise self.wrong("`rows` is not a list")
        rows: list[Row] = []
        depth = 0
        for number, each in enumerate(found):
            row = self.row(self.mapping(each, f"row {number}"), f"row {number}", traced)
            if not 1 <= row.depth <= min(depth + 1, DEEPEST):
                raise self.wrong(f"row {number} has depth {row.depth}, after depth {depth}")
            rows.append(row)
            depth = row.depth
        return rows

    def row(self, found: Mapping[str, Any], where: str, traced: bool) -> Row:
        figures, training = self.figures(found, where)
        path = self.text(found.get("path"), f"path of {where}")
        repeat = self.whole(found.get("repeat"), f"repeat of {where}") or 1
        copies = self.whole(found.get("copies"), f"copies of {where}")
        stem, indices = ("", ()) if traced else self.iterations(path, repeat, where)
        sizes, inputs = found.get("output_shape"), found.get("input_shapes")
        if inputs is not None:
            shapes = self.checked(inputs, list, f"input_shapes of {where}", "a list")
            inputs = tuple(self.shape(each, f"input_shapes of {where}") for each in shapes)
        return Row(
            path=path,
            kind=self.text(found.get("kind"), f"kind of {where}"),
            depth=self.whole(found.get("depth"), f"depth of {where}") or 0,
            figures=figures,
            setting=self.text(found.get("setting", ""), f"setting of {where}"),
            input_shapes=inputs,
            output_shape=None if sizes is None else self.shape(sizes, f"output_shape of {where}"),
            repeat=repeat,
            note=self.text(found.get("note", ""), f"note of {where}"),
            leaf=found.get("leaf") is True,
            stem=stem,
            indices=indices,
            training=training,
            copies=copies or 0,
        )

    def iterations(self, path: str, repeat: int, where: str) -> tuple[str, tuple[int, ...]]:
        """The path of a loop, and which of its iterations a row stands for, from the label at the end of its path."""
        stem, bracket, label = path.rpartition("[")
        if not bracket or not label.endswith("]"):
            return "", ()
        found = runs(label[:-1])
        number = sum(stop - start for start, stop in found)
        if not 0 < number <= self.left or repeat % number:
            raise self.wrong(f"path of {where} names iterations that it cannot stand for")
        self.left -= number
        return stem, tuple(index for start, stop in found for index in range(start, stop))

    def check(self, branches: list[Branch], figures: Figures, training: Any, path: str = "") -> None:
        """Raises ArgumentError unless, at every level, parts stand once and sum to what they are part of.

        A comparison finds them by their names, and shows the sums.
        """
        rows = [branch.row for branch in branches]
        found: dict[tuple[str, bool], set[int]] = {}
        for row in rows:
            iterations = row.indices or (0,)
            before = found.setdefault((row.stem, True) if row.indices else (row.path, False), set())
            if not row.path.startswith(path) or not before.isdisjoint(iterations):
                below = f" below {quote(path)}" if path else ""
                raise self.wrong(f"its row {quote(row.path)}{below} is misplaced, or stands there twice")
            before.update(iterations)
        sums = [(Figures.total([row.figures for row in rows]), figures)]
        if any(type(row.training) is not type(training) for row in rows):
            raise self.wrong("its rows and its totals have different figures")
        if training is not None:
            sums.append((type(training).total([row.training for row in rows]), training))
        for summed, total in sums:
            for name, each, whole in zip(total._fields, summed, total, strict=True):
                if each != whole:
                    of = f"the rows of {quote(path)}" if path else "its rows"
                    raise self.wrong(f"`{name}` of {of} does not sum to its total")
        for row, below in branches:
            if below:
                self.check(below, row.figures, row.training, row.path)

    def shape(self, found: Any, where: str) -> Shape:
        sizes = self.checked(found, list, where, "a list")
        return Shape.of(*[self.whole(size, where) or 0 for size in sizes])

    def whole(self, value: Any, where: str) -> int | None:
        """A whole number of at least 0, or None where it is unknown."""
        if value is None or (type(value) is int and 0 <= value < MOST):
            return value
        raise self.wrong(f"{where} is {quote(json.dumps(value))}, not a whole number")

    def text(self, value: Any, where: str) -> str:
        return self.checked(value, str, where, "a text")

    def mapping(self, value: Any, where: str) -> dict[str, Any]:
        return self.checked(value, dict, where, "an object")

    def texts(self, found: Mapping[str, Any], name: str) -> list[str]:
        return [self.text(each, name) for each in self.checked(found.get(name, []), list, name, "a list")]

    def checked(self, value: Any, kind: Callable[..., Any], where: str, what: str) -> Any:
        if type(value) is not kind:
            raise self.wrong(f"{where} is not {what}")
        return value
