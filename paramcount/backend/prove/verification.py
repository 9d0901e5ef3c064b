"""The result of a verification: the comparisons and the differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paramcount.errors import printable
from paramcount.graph.network import Subject
from paramcount.render.sheet import SCHEMA, Heading, Sheet
from paramcount.render.shown import Shown

MOST = 20  # differences that are shown


def shown(figure: Any) -> str:
    """A figure as text: numbers with separated thousands, sizes joined."""
    if isinstance(figure, int):
        return f"{figure:,}"
    if isinstance(figure, tuple):
        return "×".join(map(str, figure)) or "scalar"
    return str(figure)


def agreement(ok: bool) -> str:
    return "agrees" if ok else "DIFFERS"


HEADINGS = (
    Heading("name", "", cut=True),
    Heading("counted", "counted", shown, right=True),
    Heading("in_jax", "in JAX", shown, right=True),
    Heading("ok", "", agreement),
)


@dataclass(frozen=True)
class Check:
    """One comparison: the counted figure and that of JAX. A `note` explains it in place of a row of the table."""

    name: str
    expected: Any
    found: Any
    ok: bool
    note: str = ""


@dataclass(frozen=True)
class Difference:
    """Something of one layer that is not as counted. `layer` is its path."""

    layer: str
    what: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        return f"{printable(self.layer)}: {self.what}: counted {shown(self.expected)}, in JAX {shown(self.found)}"


@dataclass(frozen=True)
class Verification(Shown):
    """A network's count compared with the network in JAX. `str()` is a table.

    If `abstract`, it was only traced and nothing was allocated; `remark` says why. `warnings` are those of the count.
    """

    subject: Subject
    checks: tuple[Check, ...]
    differences: tuple[Difference, ...]
    abstract: bool
    remark: str
    seconds: float
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all figures agree."""
        return not self.differences and all(check.ok for check in self.checks)

    def __repr__(self) -> str:
        return f"<Verification {self.outcome}>"

    @property
    def outcome(self) -> str:
        """Whether all figures agree, in a few words."""
        failed = sum(not check.ok for check in self.checks)
        found = "all figures agree" if self.ok else f"{failed} of {len(self.checks)} checks failed"
        return f"{printable(str(self.subject))}: {found}"

    @property
    def verdict(self) -> str:
        """The outcome, how long it took, and for which input."""
        return f"{self.outcome} ({self.seconds:.1f} s); {self.subject.examples()}"

    @property
    def name(self) -> str:
        return self.subject.name

    def sheet(self) -> Sheet:
        """A line for each comparison, the notes, and the first differences."""
        rows = [(check.name, check.expected, check.found, check.ok) for check in self.checks if not check.note]
        below = [line for check in self.checks if check.note for line in f"{check.name}: {check.note}".splitlines()]
        below += [self.remark] if self.remark else []
        below += map(str, self.differences[:MOST])
        if len(self.differences) > MOST:
            below.append(f"and {len(self.differences) - MOST} more")
        return Sheet("", HEADINGS, rows, (), [*below, self.verdict], self.to_dict)

    def to_dict(self) -> dict[str, Any]:
        """All comparisons as plain values, ready for JSON."""
        return {
            "schema": SCHEMA,
            **self.subject.to_dict(),
            "ok": self.ok,
            "abstract": self.abstract,
            "remark": self.remark,
            "seconds": self.seconds,
            **({"warnings": list(self.warnings)} if self.warnings else {}),
            "checks": [
                {
                    "name": check.name,
                    "counted": plain(check.expected),
                    "in_jax": plain(check.found),
                    "ok": check.ok,
                    "note": check.note,
                }
                for check in self.checks
            ],
            "differences": [
                {
                    "layer": each.layer,
                    "what": each.what,
                    "counted": plain(each.expected),
                    "in_jax": plain(each.found),
                }
                for each in self.differences
            ],
        }


def plain(figure: Any) -> Any:
    """A figure as JSON holds it: a number, a list of sizes, or text."""
    return list(figure) if isinstance(figure, tuple) else figure if isinstance(figure, int) else str(figure)
