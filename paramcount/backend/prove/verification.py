"""The result of a verification: what was compared, and what differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paramcount.errors import printable
from paramcount.render.sheet import SCHEMA, Heading, Sheet
from paramcount.render.shown import Shown

MOST = 20  # differences that are shown


def shown(figure: Any) -> str:
    """A figure for reading: numbers with their thousands apart, sizes joined."""
    if isinstance(figure, int):
        return f"{figure:,}"
    if isinstance(figure, tuple):
        return "×".join(map(str, figure)) or "scalar"
    return str(figure)


HEADINGS = (
    Heading("name", "", cut=True),
    Heading("counted", "counted", shown, right=True),
    Heading("in_jax", "in JAX", shown, right=True),
    Heading("ok", "", lambda ok: "agrees" if ok else "DIFFERS"),
)


@dataclass(frozen=True)
class Check:
    """One comparison: the count's figure, and what JAX gave. `note` says what must be known to read it."""

    name: str
    expected: Any
    found: Any
    ok: bool
    note: str = ""


@dataclass(frozen=True)
class Difference:
    """Something of one layer that is not as it was counted. `layer` is its path."""

    layer: str
    what: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        return f"{printable(self.layer)}: {self.what}: counted {shown(self.expected)}, in JAX {shown(self.found)}"


@dataclass(frozen=True)
class Verification(Shown):
    """A network's count beside the network itself in JAX. `str()` is a table.

    `abstract` says that it was traced only, with nothing allocated; `remark` why.
    """

    name: str
    checks: tuple[Check, ...]
    differences: tuple[Difference, ...]
    abstract: bool
    remark: str
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether all figures agree."""
        return not self.differences and all(check.ok for check in self.checks)

    @property
    def verdict(self) -> str:
        """Whether all agrees, in a line."""
        failed = sum(not check.ok for check in self.checks)
        verdict = "all figures agree" if self.ok else f"{failed} of {len(self.checks)} checks failed"
        return f"{printable(self.name)}: {verdict} ({self.seconds:.1f} s)"

    def sheet(self) -> Sheet:
        """A line for each comparison, what must be known to read it, and the first differences."""
        rows = [(check.name, check.expected, check.found, check.ok) for check in self.checks if not check.note]
        below = [line for check in self.checks if check.note for line in f"{check.name}: {check.note}".splitlines()]
        below += [self.remark] if self.remark else []
        below += map(str, self.differences[:MOST])
        if len(self.differences) > MOST:
            below.append(f"and {len(self.differences) - MOST} more")
        return Sheet("", HEADINGS, rows, (), [*below, self.verdict], self.to_dict)

    def to_dict(self) -> dict[str, Any]:
        """Everything that was compared as plain values, ready for JSON."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "ok": self.ok,
            "abstract": self.abstract,
            "remark": self.remark,
            "seconds": self.seconds,
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
    """A figure as JSON has it: a number, or sizes, or a text."""
    return list(figure) if isinstance(figure, tuple) else figure if isinstance(figure, int) else str(figure)
