"""Whether a movement gives a parameter, or a value that is read from it: a view of a weight, or a look-up in a table.

A look-up takes vectors at indices that depend on data. What a loop takes of stacked parameters by its counter is still
a parameter, which a layer reads later; and so are matrices, such as the weights of experts that a router chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

JOINS = ("concatenate", "stack", "complex")
LOOKUPS = ("gather", "dynamic_slice")


class Indices:
    """The variables of a walk that do not depend on data, but on constants and on counters of loops alone."""

    def __init__(self) -> None:
        self.fixed: set[Any] = set()

    def __contains__(self, variable: Any) -> bool:
        return hasattr(variable, "val") or variable in self.fixed

    def enter(self, jaxpr: Any, operands: Sequence[Any] = (), carry: slice = slice(0)) -> None:
        """Begin a program that is called with these operands; a loop replaces its inputs `carry` by first results."""
        self.fixed.update(jaxpr.constvars)
        self.fixed.difference_update(jaxpr.invars)
        if len(operands) == len(jaxpr.invars):
            self.fixed.update(each for each, operand in zip(jaxpr.invars, operands, strict=True) if operand in self)
        carried = zip(jaxpr.invars[carry], jaxpr.outvars, strict=False)
        self.fixed.difference_update(each for each, after in carried if not counts(jaxpr, each, after))

    def leave(self, eqn: Any) -> None:
        """After an equation, its results are fixed if all that it reads is."""
        if all(each in self for each in eqn.invars):
            self.fixed.update(eqn.outvars)
        else:  # a program may be called again, with other operands
            self.fixed.difference_update(eqn.outvars)

    def moved_and_read(self, eqn: Any, owners: list[Any]) -> tuple[list[Any], list[Any]]:
        """The owners of a movement's results, given those of its operands, and the owners that it reads."""
        if len(owners) == len(eqn.outvars):
            return owners, []
        moved = owners[:1] * len(eqn.outvars)
        if eqn.primitive.name in JOINS and None in owners:
            return [], owners
        if not gives_vectors(eqn):
            return moved, owners[1:]
        if not all(each in self for each in eqn.invars[1:]):
            return [], owners
        return moved, owners if gives_several(eqn) else owners[1:]


def counts(jaxpr: Any, before: Any, after: Any) -> bool:
    """Whether a value that a loop carries is a counter, or stays as it is."""
    steps = [eqn.invars for eqn in jaxpr.eqns if eqn.primitive.name in ("add", "sub") and after is eqn.outvars[0]]
    return after is before or any(value is before and hasattr(step, "val") for value, step in steps)


def gives_vectors(eqn: Any) -> bool:
    return eqn.primitive.name in LOOKUPS and sum(size > 1 for size in eqn.params["slice_sizes"]) < 2


def gives_several(eqn: Any) -> bool:
    """Whether it takes several slices; the last axis of a gather's indices says where one of them starts."""
    return eqn.primitive.name == "gather" and prod(eqn.invars[1].aval.shape[:-1]) > 1
