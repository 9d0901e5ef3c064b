"""Which part of a program is the optimizer's: what makes of the gradients the next values of what it was given.

A gradient is what a transposition has made. An operation of the update depends on one, or is needed together with one,
for a next value; and it is itself in no differentiated function, where all operations are in the scope `jvp`.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

from paramcount.backend.trace.scopes import Stacks, elements
from paramcount.backend.trace.structures import opened


class Update:
    """The equations of the update in one program, by identity, and the variables that depend on a gradient.

    `given` are its inputs by owner, and `results` the owner that each result is the next value of. `stacks` are the
    scopes around the program.
    """

    def __init__(self, program: Any, given: dict[Any, Any], results: dict[Any, Any], stacks: Stacks = ()) -> None:
        self.equations: set[int] = set()
        self.read: set[Any] = set()  # variables that the update reads
        self.dependent: set[Any] = set() if differentiated(stacks) else dependent(program)
        self.makers: dict[Any, Any] = {}
        if not self.dependent:
            return
        self.makers = {variable: eqn for eqn in program.eqns if is_plain(eqn) for variable in eqn.outvars}
        current = {owner: variable for variable, owner in given.items()}
        known = [(result, current[owner]) for result, owner in results.items() if owner in current]
        self.add(result for result, old in known if result in self.dependent and self.stems_from(result, old))
        self.add(result for result, old in known if old in self.read)  # a counter that the update reads
        for eqn in program.eqns:
            if id(eqn) not in self.equations:
                self.read.difference_update(each for each in eqn.invars if not hasattr(each, "val"))

    def holds(self, eqn: Any) -> bool:
        return id(eqn) in self.equations

    def divided(self, given: dict[Any, Any], results: dict[Any, Any]) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The results whose owners are parameters, and those whose owners are the optimizer's state.

        The update alone reads the state. It may stand among what is given as parameters, and is then known by another
        parameter with the same end of its path, which the model reads.
        """
        model = {(owner.keys[1:], owner.shape) for variable, owner in given.items() if variable not in self.read}
        state = {
            owner
            for variable, owner in given.items()
            if variable in self.read
            and not (owner.counts and all((end, owner.shape) not in model for end in ends(owner.keys)))
        }
        own = {each: owner for each, owner in results.items() if owner not in state}
        return own, {each: owner for each, owner in results.items() if owner in state}

    def add(self, results: Iterable[Any]) -> None:
        """Add the equations that these results are made by, back to the gradients and the inputs."""
        left = list(results)
        while left:
            variable = left.pop()
            eqn = self.makers.get(variable)
            if eqn is None:
                self.read.add(variable)
            elif id(eqn) not in self.equations:
                self.equations.add(id(eqn))
                left += (each for each in eqn.invars if not hasattr(each, "val"))

    def stems_from(self, result: Any, old: Any) -> bool:
        """Whether a next value is made of the current one by operations on as many elements, and not of it alone."""
        left, seen = [result], {result}
        while left:
            variable = left.pop()
            if variable is old:
                return True
            eqn = self.makers.get(variable)
            for each in eqn.invars if eqn else ():
                if not hasattr(each, "val") and each not in seen and size(each) == size(old):
                    seen.add(each)
                    left.append(each)
        return False


def dependent(program: Any) -> set[Any]:
    """The variables of a program that depend on a gradient made in it."""
    found: set[Any] = set()
    for eqn in program.eqns:
        stack = (eqn.source_info.name_stack,)
        operands = [each for each in eqn.invars if not hasattr(each, "val")]
        if transposed(stack) or any(each in found for each in operands):
            found.update(eqn.outvars)
            continue
        for inner in inner_programs(eqn):
            made = dependent(inner)
            if len(inner.outvars) == len(eqn.outvars):
                pairs = zip(eqn.outvars, inner.outvars, strict=True)
                found.update(result for result, each in pairs if not hasattr(each, "val") and each in made)
            elif made:
                found.update(eqn.outvars)
    return found


def inner_programs(eqn: Any) -> list[Any]:
    """The programs that an equation runs, as far as they are inlined."""
    values = [each for value in eqn.params.values() for each in (value if type(value) is tuple else (value,))]
    return [opened(each) for each in values if hasattr(opened(each), "eqns")]


def is_plain(eqn: Any) -> bool:
    """Whether an equation is in no differentiated function, and none in it."""
    inside = (each for inner in inner_programs(eqn) for each in inner.eqns)
    return not differentiated((eqn.source_info.name_stack,)) and all(map(is_plain, inside))


def transposed(stacks: Stacks) -> bool:
    return ("Transform", "transpose") in elements(stacks)


def differentiated(stacks: Stacks) -> bool:
    return any(kind == "Transform" and name in ("jvp", "transpose") for kind, name in elements(stacks))


def ends(keys: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The ends of a path that are shorter than it, without the empty one."""
    return [keys[start:] for start in range(1, len(keys))]


def size(variable: Any) -> int:
    return prod(getattr(variable.aval, "shape", ()))
