"""Whose gradient a product computes, by what it reads: a layer's input, or the gradient of its output.

The product of a layer reads its parameter and its input. The two of its gradient share an operand with that or with
each other: one reads the parameter and the gradient of the output, the other that gradient and the input.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from paramcount.backend.trace.update import size


class Shared:
    """Which owners' products read a value; `join` says that two variables hold the same one."""

    def __init__(self) -> None:
        self.sources: dict[Any, Any] = {}
        self.readers: dict[Any, dict[Any, set[int]]] = defaultdict(dict)  # by value and owner: sizes of the parameter

    def source(self, variable: Any) -> Any:
        while variable in self.sources:
            variable = self.sources[variable]
        return variable

    def join(self, variable: Any, source: Any) -> None:
        if not (hasattr(variable, "val") or hasattr(source, "val")):
            source = self.source(source)
            if source is not self.source(variable):
                self.sources[self.source(variable)] = source

    def read(self, eqn: Any, parameter: Any, owner: Any) -> None:
        """A product that reads an owner's parameter, whole or a part of it, in this variable."""
        for each in eqn.invars:
            if each is not parameter and not hasattr(each, "val"):
                self.readers[self.source(each)].setdefault(owner, set()).add(size(parameter))

    def compute(self, eqn: Any, owner: Any) -> None:
        """A product that is known to be an owner's, though it reads no parameter."""
        for each in eqn.invars:
            if not hasattr(each, "val"):
                self.readers[self.source(each)].setdefault(owner, set())

    def owner(self, eqn: Any, nested: bool = False) -> Any:
        """The owner of a product that reads no parameter, if only one is possible.

        Its result is as large as the parameter, or as one for each example; not if it is `nested`, a product of the
        gradient of a gradient.
        """
        result = size(eqn.outvars[0])
        operands = [self.readers.get(self.source(each), {}) for each in eqn.invars if not hasattr(each, "val")]
        found = [{o for o, sizes in each.items() if nested or any(result % s == 0 for s in sizes)} for each in operands]
        found = [each for each in found if each]
        if not found:
            return None
        both = set.intersection(*found) or set.union(*found)
        return both.pop() if len(both) == 1 else None
