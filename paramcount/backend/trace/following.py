"""A walk that also counts elementwise operations, and follows parameters to what reads them.

A parameter owns an operation that reads it, through movements and calls, or that computes its gradient. This names
the layers of programs whose scopes do not, and finds the layer that a parameter belongs to.
"""

from __future__ import annotations

from typing import Any

from paramcount.backend.trace.lookups import Indices
from paramcount.backend.trace.primitives import ELEMENTWISE, FREE, MOVES
from paramcount.backend.trace.products import Rule
from paramcount.backend.trace.scopes import Stacks, standing
from paramcount.backend.trace.walker import NO_RULE, Operation, Place, Walker, work
from paramcount.errors import ArgumentError, quote

Owners = dict[Any, Any]  # by variable


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
        self.indices = Indices()

    def trace(self, jaxpr: Any, inputs: list[Any], constants: list[Any], outputs: list[Any]) -> None:
        """Walk the whole program, with these owners of its inputs, constants and results."""
        self.indices.enter(jaxpr)
        self.follow(jaxpr, Place().within(jaxpr), inputs, outputs, constants)

    def program(self, jaxpr: Any, place: Place, operands: Any = (), results: Any = (), carry: slice = slice(0)) -> None:
        self.indices.enter(jaxpr, operands, carry)
        inputs = [lookup(self.owners, each) for each in operands]
        outputs = [lookup(self.wanted, each) for each in results]
        owners = self.follow(jaxpr, place.within(jaxpr, operands, results), inputs, outputs)
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
        self.equations(jaxpr, place)
        owners = self.owners
        self.owners, self.wanted = around
        return owners

    def equation(self, eqn: Any, place: Place) -> None:
        super().equation(eqn, place)
        self.indices.leave(eqn)

    def contraction(self, eqn: Any, place: Place, rule: Rule) -> None:
        self.add(eqn, place, *work(eqn, place, rule))

    def free(self, eqn: Any, place: Place) -> None:
        name = eqn.primitive.name
        if name in MOVES:
            moved, read = self.indices.moved_and_read(eqn, [lookup(self.owners, each) for each in eqn.invars])
            self.owners.update((each, by) for each, by in zip(eqn.outvars, moved, strict=False) if by is not None)
            for owner in filter(None, read):
                self.reads.setdefault(owner, place.inside(eqn).stacks)
            return
        operations = FREE[name](eqn)
        if operations:
            self.add(eqn, place, elementwise=operations)

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
