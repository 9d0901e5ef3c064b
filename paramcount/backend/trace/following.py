"""A walk that also counts elementwise operations, and follows parameters to what reads them.

A parameter owns an operation that reads it, through movements and calls, or that computes its gradient. This names
the layers of programs whose scopes do not, and finds the layer that a parameter belongs to.

A look-up in a table reads it: the vectors at indices that depend on data are values like any others. What a loop takes
of stacked parameters by its counter is still a parameter, which the layer reads.
"""

from __future__ import annotations

from math import prod
from typing import Any

from paramcount.backend.trace.primitives import ELEMENTWISE, FREE, MOVES
from paramcount.backend.trace.products import Rule
from paramcount.backend.trace.scopes import Stacks, standing
from paramcount.backend.trace.walker import NO_RULE, Operation, Place, Walker
from paramcount.errors import ArgumentError, quote

Owners = dict[Any, Any]  # by variable
JOINS = ("concatenate", "stack", "complex")
LOOK_UPS = ("gather", "dynamic_slice")


class Following(Walker):
    """A walk with owners: `reads` maps each owner to the name stacks of its first readers.

    `trips` is the number of iterations of `while` loops: a number, `unknown`, or either by scope. With `strict`, an
    operation without a rule is an error, otherwise it is marked as uncounted.
    """

    def __init__(self, trips: int | str | dict[str, Any] | None = None, strict: bool = True) -> None:
        super().__init__()
        self.given = trips
        self.unused = set(trips) if isinstance(trips, dict) else set()
        self.strict = strict
        self.owners: Owners = {}  # of variables that are parameters, possibly moved
        self.wanted: Owners = {}  # of variables that become a parameter's gradient or next value
        self.reads: dict[Any, Stacks] = {}  # the name stacks of the first operation that reads a parameter
        self.fixed: set[Any] = set()  # the variables that do not depend on data, but on constants and loop counters

    def trace(self, jaxpr: Any, inputs: list[Any], constants: list[Any], outputs: list[Any]) -> None:
        """Walk the whole program, with these owners of its inputs, constants and results."""
        self.follow(jaxpr, Place(), inputs, outputs, constants)

    def program(self, jaxpr: Any, place: Place, operands: Any = (), results: Any = (), carry: slice = slice(0)) -> None:
        if len(operands) == len(jaxpr.invars):
            known = [each for each, operand in zip(jaxpr.invars, operands, strict=True) if self.is_fixed(operand)]
            changing = zip(jaxpr.invars[carry], jaxpr.outvars, strict=False)
            self.fixed.difference_update(jaxpr.invars)
            self.fixed.update(known)
            self.fixed.difference_update(each for each, after in changing if not counts(jaxpr, each, after))
        inputs = [lookup(self.owners, each) for each in operands]
        outputs = [lookup(self.wanted, each) for each in results]
        owners = self.follow(jaxpr, place, inputs, outputs)
        if len(results) == len(jaxpr.outvars):
            self.owners.update(
                (result, owner)
                for result, inner in zip(results, jaxpr.outvars, strict=True)
                if (owner := lookup(owners, inner)) is not None
            )

    def follow(
        self, jaxpr: Any, place: Place, inputs: list[Any], outputs: list[Any], constants: list[Any] | None = None
    ) -> Owners:
        around = self.owners, self.wanted
        self.owners = paired(jaxpr.invars, inputs) | paired(jaxpr.constvars, constants or [])
        self.wanted = demands(jaxpr, paired(jaxpr.outvars, outputs))
        self.fixed.update(jaxpr.constvars)
        super().program(jaxpr, place)
        owners = self.owners
        self.owners, self.wanted = around
        return owners

    def equation(self, eqn: Any, place: Place) -> None:
        super().equation(eqn, place)
        if all(map(self.is_fixed, eqn.invars)):
            self.fixed.update(eqn.outvars)

    def is_fixed(self, variable: Any) -> bool:
        return hasattr(variable, "val") or variable in self.fixed

    def contraction(self, eqn: Any, place: Place, rule: Rule) -> None:
        self.add(eqn, place, macs=rule(eqn))

    def free(self, eqn: Any, place: Place) -> None:
        name = eqn.primitive.name
        if name in MOVES:
            self.move(eqn, place)
        elif operations := FREE[name](eqn):
            self.add(eqn, place, elementwise=operations)

    def move(self, eqn: Any, place: Place) -> None:
        """What a movement gives is still the parameter, but not if it is looked up, or a part of a value."""
        owners = [lookup(self.owners, each) for each in eqn.invars]
        moved, read = owners[:1] * len(eqn.outvars), owners[1:]
        if len(owners) == len(eqn.outvars):
            moved, read = owners, []
        elif eqn.primitive.name in JOINS and None in owners:
            moved, read = [], owners
        elif gives_vectors(eqn):
            fixed = all(map(self.is_fixed, eqn.invars[1:]))
            moved = moved if fixed else []
            read = owners[1:] if fixed and not gives_several(eqn) else owners
        self.owners.update((each, owner) for each, owner in zip(eqn.outvars, moved, strict=False) if owner is not None)
        for owner in filter(None, read):
            self.reads.setdefault(owner, place.inside(eqn).stacks)

    def add(self, eqn: Any, place: Place, macs: int = 0, elementwise: int = 0, **more: Any) -> None:
        owner = None
        for variable in eqn.invars:
            found = lookup(self.owners, variable)
            if found is not None:
                owner = found
                self.reads.setdefault(found, place.inside(eqn).stacks)
        if owner is None:
            owner = next((found for each in eqn.outvars if (found := lookup(self.wanted, each)) is not None), None)
        stacks, times = place.inside(eqn).stacks, place.times
        operation = Operation(stacks, eqn.primitive.name, macs * times, times, elementwise * times, eqn, owner, **more)
        self.operations.append(operation)

    def note(self, eqn: Any, place: Place, text: str, uncounted: bool = False) -> None:
        self.add(eqn, place, note=text, uncounted=uncounted)

    def uncounted(self, eqn: Any, place: Place, message: str = NO_RULE, hint: str = "", scope: str = "") -> None:
        name = eqn.primitive.name
        if self.strict:
            hint = hint or f'register_rule("{name}", lambda eqn: macs), or trace with strict=False'
            super().uncounted(eqn, place, message, hint, scope)
        self.note(eqn, place, f"uncounted: {message.format(quote(name))}", uncounted=True)

    def trips(self, eqn: Any, place: Place) -> int | str | None:
        """The iterations of a `while`, by its scope `trips=N`, else by the longest scope that `trips` names."""
        by_scope = super().trips(eqn, place)
        if by_scope is not None:
            return by_scope
        if not isinstance(self.given, dict):
            return self.given
        path = "/" + "/".join(standing(place.inside(eqn).stacks).path) + "/"
        named = [scope for scope in self.given if f"/{scope.strip('/')}/" in path]
        self.unused.difference_update(named)
        return self.given[max(named, key=len)] if named else None

    def check_trips(self) -> None:
        """Raises ArgumentError if `trips` names a scope without a loop."""
        for scope in sorted(self.unused):
            hint = "give the scope as the report's rows show it"
            raise ArgumentError(f"`trips` names {quote(scope)}, where no `while` runs", hint=hint, argument="trips")


def gives_vectors(eqn: Any) -> bool:
    """Whether it takes vectors out of an array at indices. Matrices, as those of experts, are weights of a layer."""
    return eqn.primitive.name in LOOK_UPS and sum(size > 1 for size in eqn.params["slice_sizes"]) < 2


def gives_several(eqn: Any) -> bool:
    """Whether it takes several slices; the last axis of a gather's indices says where one of them starts."""
    return eqn.primitive.name == "gather" and prod(eqn.invars[1].aval.shape[:-1]) > 1


def counts(jaxpr: Any, before: Any, after: Any) -> bool:
    """Whether a value that a loop carries is a counter, or stays as it is."""
    steps = [eqn.invars for eqn in jaxpr.eqns if eqn.primitive.name in ("add", "sub") and after is eqn.outvars[0]]
    return after is before or any(value is before and hasattr(step, "val") for value, step in steps)


def lookup(owners: Owners, variable: Any) -> Any:
    """A variable's owner; a literal has none."""
    return None if hasattr(variable, "val") else owners.get(variable)


def paired(variables: list[Any], owners: list[Any]) -> Owners:
    """Owners by variable, if there is one entry for each."""
    if len(variables) != len(owners):
        return {}
    return {v: owner for v, owner in zip(variables, owners, strict=True) if owner is not None and not hasattr(v, "val")}


def demands(jaxpr: Any, wanted: Owners) -> Owners:
    """The owners of all variables that become one of the wanted results by movements and elementwise operations."""
    if not wanted:
        return wanted
    for eqn in reversed(jaxpr.eqns):
        name = eqn.primitive.name
        owner = next((found for each in eqn.outvars if (found := wanted.get(each)) is not None), None)
        if owner is None or not (name in MOVES or name in ELEMENTWISE):
            continue
        result = eqn.outvars[0].aval
        for variable in eqn.invars[:1] if name in MOVES else eqn.invars:
            if not hasattr(variable, "val") and (name in MOVES or variable.aval.shape == result.shape):
                wanted.setdefault(variable, owner)
    return wanted
