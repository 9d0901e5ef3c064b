"""What a kind takes: the arguments of a layer, a form or a block."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from paramcount.layers.checked import Checked
from paramcount.layers.fields import Check


class Signature(NamedTuple):
    """The arguments of a layer, a form or a block: their checks, and what they mean, by their names in Python.

    `words` are their names in a spec, `positional` those that may stand in a list.
    """

    kind: str
    checks: dict[str, Check]
    required: tuple[str, ...]
    positional: tuple[str, ...]
    words: dict[str, str]  # in a spec -> in Python
    meanings: dict[str, str]

    def word(self, name: str) -> str:
        """An argument's name in a spec."""
        return next(word for word, each in self.words.items() if each == name)

    @property
    def open(self) -> str:
        """The argument that collects all of other names, or nothing."""
        return next((name for name, check in self.checks.items() if check.takes == "sizes"), "")

    @property
    def taken_whole(self) -> str:
        """The argument that takes a whole list, or nothing."""
        first = self.positional[0] if self.positional else ""
        return first if first and self.checks[first].listed else ""


@cache
def signature_of(kind: type[Checked]) -> Signature:
    """What a layer or a form takes."""
    checks = dict(kind.checks())
    words = {kind.in_specs.get(name, name): name for name in checks}
    meanings = {name: kind.meaning(name) for name in checks}
    return Signature(kind.kind, checks, kind.required(), kind.positional(), words, meanings)
