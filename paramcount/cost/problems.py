"""What is wrong with specs: those that cannot be counted, and figures that are not within their limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from paramcount.cost.budgets import Violation, violations
from paramcount.cost.count import count
from paramcount.cost.expect import as_expected, expectation
from paramcount.cost.saved import saved_in
from paramcount.errors import ManyErrors, ParamcountError, Position, printable, quote
from paramcount.language.expect import Limit
from paramcount.language.language import SpecSyntax
from paramcount.language.load import Loaded, every_variant, expanded
from paramcount.numbers.units import grouped, number_of
from paramcount.render.sheet import SCHEMA, Heading, Sheet
from paramcount.render.shown import Shown


class Problem(NamedTuple):
    """One thing that is wrong with a spec: its `kind` is "error", "expect" or "budget".

    `place` is where it stands, `line` and `column` the same within the spec's own `file`. The message has several
    lines; the other fields are those of a limit.
    """

    spec: str
    file: str
    place: Position | None
    line: int | None
    column: int | None
    kind: str
    message: str
    figure: str | None = None
    bound: str | None = None
    counted: int | None = None
    limit: int | None = None

    def __str__(self) -> str:
        return f"{self.place or printable(self.spec)}: {self.message}"


def one_line(message: str) -> str:
    """All lines of a message in a cell."""
    return "; ".join(map(str.strip, message.splitlines()))


NAMES = ("spec", "line", "column", "kind", "figure", "bound", "counted", "limit", "message")  # as JSON has them
HEADINGS = (
    Heading("spec", "spec", printable, cut=True),
    Heading("line", "line", right=True),
    Heading("column", "column", right=True),
    Heading("kind", "kind"),
    Heading("figure", "figure", if_any=True),
    Heading("counted", "counted", grouped, right=True, if_any=True),
    Heading("limit", "limit", grouped, right=True, if_any=True),
    Heading("message", "message", one_line, wrap=30),
)


@dataclass(frozen=True)
class Problems(Shown):
    """All problems of some specs: of how many `specs`, and of how many `networks`, with their variants."""

    found: Sequence[Problem]
    specs: int
    networks: int
    passed_over: int = 0  # files that are not specs

    def __repr__(self) -> str:
        return f"<Problems: {self.verdict}>"

    @property
    def exit_code(self) -> int:
        """0 if there is none, 2 if a spec cannot be counted, or else 1."""
        return 2 if any(each.kind == "error" for each in self.found) else int(bool(self.found))

    @property
    def verdict(self) -> str:
        """How many there are, in one line."""
        parts = [number_or_no(self.specs, "spec"), number_or_no(len(self.found), "problem")]
        if self.networks > self.specs:
            parts.insert(1, number_or_no(self.networks, "network"))
        if self.passed_over:
            parts.insert(-1, f"{number_or_no(self.passed_over, 'file')} passed over")
        return ", ".join(parts)

    def sheet(self) -> Sheet:
        """A row for each problem."""
        rows = [[getattr(each, heading.name) for heading in HEADINGS] for each in self.found]
        return Sheet("", HEADINGS, rows, (), (self.verdict,), self.to_dict)

    def to_dict(self) -> dict[str, Any]:
        """All problems as plain values, ready for JSON."""
        problems = [{name: getattr(each, name) for name in NAMES} for each in self.found]
        return {"schema": SCHEMA, "command": "check", "specs": self.specs, "problems": problems}


def number_or_no(number: int, what: str) -> str:
    return number_of(number, what) if number else f"no {what}s"


def problems_of(
    spec: str, syntax: SpecSyntax, variant: str | None, variants: bool, limits: Sequence[Limit], dtype: str
) -> Iterator[tuple[list[Problem], Sequence[str]]]:
    """The problems and the warnings of a spec as read, or of each of its `variants`; `spec` is its name in them."""
    known: set[str] = set()  # errors that all variants have
    for each in every_variant(syntax) if variants and variant is None else [variant]:
        name = spec if each is None or each == variant else f"{spec}:{each}"
        try:
            network = expanded(Loaded(syntax, each, {}))
            report = count(network, dtype=dtype)
            found = [*violations(as_expected(network, report), expectation(network)), *violations(report, limits)]
        except ParamcountError as error:
            errors = errors_of(name, syntax.file.path, error)
            new = [problem for problem in errors if problem.message not in known]
            known.update(problem.message for problem in new)
            yield [problem if each in (None, variant) else in_variant(problem, each) for problem in new], ()
        else:
            yield [broken(name, syntax.file.path, report.title, violation) for violation in found], network.warnings


def problems_of_saved(spec: str, file: str, limits: Sequence[Limit]) -> list[Problem]:
    """The limits that do not hold for a count, or a trace, that was saved as JSON."""
    counted = saved_in(file)
    return [] if counted is None else [broken(spec, file, counted.title, each) for each in violations(counted, limits)]


def errors_of(spec: str, file: str, error: ParamcountError) -> list[Problem]:
    """The problems of a spec that cannot be counted, one for each of its errors."""
    found = []
    for each in error.errors if isinstance(error, ManyErrors) else [error]:
        places = [each.position, *(position for _, position in each.frames)]
        own = next((place for place in places if place is not None and place.file == file), None)
        line, column = (None, None) if own is None else own[1:]
        message = str(each).removeprefix(f"{each.position}: ")
        found.append(Problem(spec, file, each.position, line, column, "error", message))
    return found


def in_variant(problem: Problem, variant: str) -> Problem:
    """The problem, with the variant that has it first."""
    return problem._replace(message=f"{problem.message}\nin variant {quote(variant)}")


def broken(spec: str, file: str, title: str, violation: Violation) -> Problem:
    """The problem of a limit that does not hold."""
    (figure, bound, amount, _, position), lines = violation.limit, violation.lines
    if bound == "equal":
        lines = [f"`expect` of {quote(title)} differs from the count", *lines]
    line, column = (None, None) if position is None else position[1:]
    kind = "expect" if bound == "equal" else "budget"
    message = "\n".join(lines)
    return Problem(spec, file, position, line, column, kind, message, figure, bound, violation.counted, amount)
