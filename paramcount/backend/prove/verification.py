"""The result of a verification: what was compared, what differs, and the table that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paramcount.errors import printable


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
class Verification:
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

    def __str__(self) -> str:
        from tabulate import tabulate

        rows = [
            (check.name, shown(check.expected), shown(check.found), "agrees" if check.ok else "DIFFERS")
            for check in self.checks
            if not check.note
        ]
        table = tabulate(
            rows, ("", "counted", "in JAX", ""), disable_numparse=True, colalign=("left", "right", "right", "left")
        )
        lines = [table, ""]
        lines += [f"{check.name}: {check.note}" for check in self.checks if check.note]
        lines += [self.remark] if self.remark else []
        shown_differences = self.differences[:20]
        lines += [str(each) for each in shown_differences]
        if len(self.differences) > len(shown_differences):
            lines.append(f"and {len(self.differences) - len(shown_differences)} more")
        failed = sum(not check.ok for check in self.checks)
        verdict = "all figures agree" if self.ok else f"{failed} of {len(self.checks)} checks failed"
        lines.append(f"{printable(self.name)}: {verdict} ({self.seconds:.1f} s)")
        return "\n".join(lines)


def shown(figure: Any) -> str:
    """A figure for reading: numbers with their thousands apart, sizes joined."""
    if isinstance(figure, int):
        return f"{figure:,}"
    if isinstance(figure, tuple):
        return "×".join(map(str, figure)) or "scalar"
    return str(figure)
