"""A walk that also counts elementwise operations, and follows parameters to what reads them.

A parameter owns an operation that reads it, through movements and calls, or that computes its gradient. This names
the layers of programs whose scopes do not, and finds the layer that a parameter belongs to.
"""

from __future__ import annotations

from typing import Any

from paramcount.backend.trace.lookups import Indices
from paramcount.backend.trace.primitives import ELEMENTWISE, FREE, MOVES
from paramcount.backend.trace.products import Rule
from paramcount.backend.trace.scopes import Stacks, elements, standing
from paramcount.backend.trace.shared import Shared
from paramcount.backend.trace.structures import opened
from paramcount.backend.trace.update import Update, inner_programs, size, transposed
from paramcount.backend.trace.walker import NO_RULE, Operation, Place, Walker, work
from paramcount.errors import ArgumentError, quote

Owners = dict[Any, Any]  # by variable

EXPORTED = "call_exported"  # a call of what `jax.export` has made


class Following(Walker):
    """A walk of an inlined program with owners: `reads` maps each owner to the name stacks of its first readers.

    `trips` is the number of iterations of `while` loops: a number, `unknown`, or either by scope. With `strict`, an
    operation without a rule is an error, otherwise it is marked as uncounted.
    """

    def __init__(self, trips: int | str | dict[str, Any] | None = None, strict: bool = True) -> None:
        super().__init__()
        self.given = trips
        self.unused = set(trips) if isinstance(trips, dict) else set()
        self.strict = strict
        self.owners: Owners = {}  # of variables that are parameters, possibly moved
        self.results: Owners = {}  # of variables that are a parameter's gradient or next value
        self.wanted: Owners = {}  # of those, and of variables that become one of them
        self.layers: Owners = {}  # of parts of an optimizer's state, the parameter that they belong to
        self.reads: dict[Any, Stacks] = {}  # the name stacks of the first operation that reads a parameter
        self.update: Any = None  # that of the program which is being walked
        self.updating = False  # within it
        self.states: set[Any] = set()  # the owners that an optimizer alone reads
        self.gradients: set[Any] = set()  # variables that are gradients, or made of one
        self.drawn: set[Any] = set()  # variables that are made of random numbers and constants alone
        self.shared = Shared()
        self.indices = Indices()

    def trace(self, program: Any, owners: Owners, results: Owners, layers: Owners) -> None:
        """Walk a whole program, with the owners of its inputs and of all constants in it, and of its results."""
        self.owners, self.results, self.layers = owners, results, layers
        self.indices.enter(program)
        self.follow(program, Place().within(program))
        for nested in (False, True):  # products of gradients of gradients, when those of the gradients are known
            for number, each in enumerate(self.operations):
                if not each.macs or each.update or (nested and not differentiated_twice(each.stacks)):
                    continue
                owner = each.owner
                if owner is None or (not owner.placed and transposed(each.stacks)):
                    owner = self.shared.owner(each.equation, nested) or owner
                if owner is not None:
                    self.shared.compute(each.equation, owner)
                    self.operations[number] = each._replace(owner=owner)

    def program(self, jaxpr: Any, place: Place, operands: Any = (), results: Any = (), carry: slice = slice(0)) -> None:
        self.indices.enter(jaxpr, operands, carry)
        self.owners |= paired(jaxpr.invars, [lookup(self.owners, each) for each in operands])
        if len(operands) == len(jaxpr.invars):
            for inner, operand in zip(jaxpr.invars, operands, strict=True):
                self.shared.join(inner, operand)
        self.results |= paired(jaxpr.outvars, [lookup(self.results, each) for each in results])
        gradients = [None if each in self.results else lookup(self.wanted, each) for each in results]
        self.wanted |= paired(jaxpr.outvars, gradients)
        self.follow(jaxpr, place.within(jaxpr, operands, results))
        self.owners |= paired(results, [lookup(self.owners, each) for each in jaxpr.outvars])
        if len(results) == len(jaxpr.outvars):
            for result, inner in zip(results, jaxpr.outvars, strict=True):
                self.shared.join(result, inner)

    def follow(self, jaxpr: Any, place: Place) -> None:
        around = self.update
        if not self.updating:
            given = {each: self.owners[each] for each in jaxpr.invars if each in self.owners}
            results = {each: owner for each in jaxpr.outvars if (owner := lookup(self.results, each)) is not None}
            self.update = Update(jaxpr, given, results, place.stacks)
            own, state = self.update.divided(given, results)
            self.states.update(state.values())
            self.wanted |= own
            demands(jaxpr, self.wanted, {each: self.layers.get(owner) for each, owner in state.items()}, self.update)
        self.equations(jaxpr, place)
        self.update = around

    def equation(self, eqn: Any, place: Place) -> None:
        around = self.updating
        self.updating = around or self.update.holds(eqn)
        super().equation(eqn, place)
        self.updating = around
        self.indices.leave(eqn)
        name = eqn.primitive.name
        if name in ELEMENTWISE or name in MOVES:
            made = any(each in self.gradients for each in eqn.invars if not hasattr(each, "val"))
            if (made or transposed(place.inside(eqn).stacks)) and not any(each in self.owners for each in eqn.outvars):
                self.gradients.update(eqn.outvars)
        else:
            self.gradients.update(each for each in eqn.outvars if self.is_gradient(eqn, each, place))

    def is_gradient(self, eqn: Any, result: Any, place: Place) -> bool:
        """Whether what is neither moved nor elementwise comes from a transposition."""
        if self.updating or inner_programs(eqn):
            return result in self.update.dependent
        return transposed(place.inside(eqn).stacks)

    def contraction(self, eqn: Any, place: Place, rule: Rule) -> None:
        self.add(eqn, place, *work(eqn, place, rule))
        for variable in eqn.invars:
            owner = lookup(self.owners, variable)
            if owner is not None and (owner.placed or not transposed(place.inside(eqn).stacks)):
                self.shared.read(eqn, variable, owner)

    def free(self, eqn: Any, place: Place) -> None:
        name = eqn.primitive.name
        if name in MOVES:
            moved, read = self.indices.moved_and_read(eqn, [lookup(self.owners, each) for each in eqn.invars])
            if len(eqn.invars) == len(eqn.outvars) == 1 and size(eqn.invars[0]) == size(eqn.outvars[0]):
                self.shared.join(eqn.outvars[0], eqn.invars[0])
            self.owners.update((each, by) for each, by in zip(eqn.outvars, moved, strict=False) if by is not None)
            if not self.updating:
                for owner in filter(None, read):
                    self.reads.setdefault(owner, place.inside(eqn).stacks)
            return
        operations = FREE[name](eqn)
        if operations:
            self.add(eqn, place, elementwise=operations)
        if name == "random_bits" or all(map(self.is_given, eqn.invars)):
            self.drawn.update(eqn.outvars)
        elif name in ELEMENTWISE or name.startswith("reduce_"):
            self.adapt(eqn)

    def is_given(self, variable: Any) -> bool:
        return variable in self.indices or variable in self.drawn

    def adapt(self, eqn: Any) -> None:
        """What is made of a layer's parameters alone stands for the largest: `quantized * scale`, `v / norm(v)`.

        Numbers, also random ones, may take part in it, and gradients in what is made of one: `w - 0.1 * gradient`.
        """
        owned = {each: owner for each in eqn.invars if (owner := lookup(self.owners, each)) is not None}
        others = [each for each in eqn.invars if not self.is_given(each) and each not in owned and size(each) > 1]
        owners = {each for each in owned.values() if each.placed or not others} - self.states
        if not owners or not all(each in self.gradients for each in others):
            return
        owner = max(owners, key=lambda each: (each.size, -each.number))
        if len(owners) > 1 and (others or not in_one_layer(owners)):
            return
        sizes = {size(each) for each in owned if owned[each] == owner}
        reduced = eqn.primitive.name not in ELEMENTWISE
        self.owners |= {each: owner for each in eqn.outvars if size(each) in sizes or (reduced and size(each) > 1)}

    def add(self, eqn: Any, place: Place, macs: int = 0, elementwise: int = 0, **more: Any) -> None:
        owner = None
        for variable in eqn.invars:
            found = lookup(self.owners, variable)
            if found is not None and not self.updating:
                owner = found if found.placed or owner is None else owner
                first = self.reads.get(found)
                if first is None or not standing(first).path:  # rather where a scope has a name
                    self.reads[found] = place.inside(eqn).stacks
        if not (self.updating or (owner is not None and owner.placed)):
            wanted = (found for each in eqn.outvars if (found := lookup(self.wanted, each)) is not None)
            owner = next(wanted, owner)
        stacks, times = place.inside(eqn).stacks, place.times
        operation = Operation(stacks, eqn.primitive.name, macs * times, times, elementwise * times, eqn, owner, **more)
        operation = operation._replace(update=self.updating)
        self.operations.append(operation)

    def note(self, eqn: Any, place: Place, text: str, uncounted: bool = False) -> None:
        self.add(eqn, place, note=text, uncounted=uncounted)

    def uncounted(self, eqn: Any, place: Place, message: str = NO_RULE, hint: str = "", scope: str = "") -> None:
        name = eqn.primitive.name
        if self.strict:
            if name == EXPORTED:
                hint = "an exported function does not show its operations: trace the function itself"
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


def in_one_layer(owners: set[Any]) -> bool:
    """Whether the layer of one of these parameters holds all the others."""
    outer = min((each.module for each in owners), key=len)
    return bool(outer) and all(each.module[: len(outer)] == outer for each in owners)


def differentiated_twice(stacks: Stacks) -> bool:
    return elements(stacks).count(("Transform", "jvp")) > 1


def lookup(owners: Owners, variable: Any) -> Any:
    """A variable's owner; a literal has none."""
    return None if hasattr(variable, "val") else owners.get(variable)


def paired(variables: list[Any], owners: list[Any]) -> Owners:
    """Owners by variable, if there is one entry for each."""
    if len(variables) != len(owners):
        return {}
    return {v: owner for v, owner in zip(variables, owners, strict=True) if owner is not None and not hasattr(v, "val")}


def demands(jaxpr: Any, wanted: Owners, weak: Owners, update: Update) -> None:
    """Add the owners of all variables that become one of the wanted by movements and elementwise operations.

    `weak` are owners of results that no other owner needs. Sums and branches are seen through in the update alone:
    elsewhere a sum mixes what belongs to different layers.
    """
    if not (wanted or weak):
        return
    for eqn in reversed(jaxpr.eqns):
        name = eqn.primitive.name
        owners = [found if (found := wanted.get(each)) is not None else weak.get(each) for each in eqn.outvars]
        owner = next((each for each in owners if each is not None), None)
        if owner is None:
            continue
        if name == "cond" and update.holds(eqn):
            for branch in map(opened, eqn.params["branches"]):
                wanted |= paired(branch.outvars, owners)
                demands(branch, wanted, {}, update)
                for operand, inner in zip(eqn.invars[1:], branch.invars, strict=True):
                    if inner in wanted and not hasattr(operand, "val"):
                        wanted.setdefault(operand, wanted[inner])
            continue
        result = eqn.outvars[0]
        if name in MOVES:
            operands = eqn.invars[:2] if name == "dynamic_update_slice" else eqn.invars[:1]
            if name == "concatenate" or (name == "broadcast_in_dim" and size(operands[0]) < size(result)):
                operands = []  # of several parameters, or none
        elif name in ELEMENTWISE:
            operands = [each for each in eqn.invars if each.aval.shape == result.aval.shape]
        else:
            summed = name == "reduce_sum" and (update.holds(eqn) or size(eqn.invars[0]) == size(result))
            operands = eqn.invars[:1] if summed else []
        for variable in operands:
            if not hasattr(variable, "val"):
                wanted.setdefault(variable, owner)
