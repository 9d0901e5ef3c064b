"""A traced program without calls: what `jit` and the like hold stands where it is called, as JAX would run it.

Only loops, branches and programs for several devices keep one of their own. Every variable then belongs to one place,
so that what is found out about a value may be kept by variable.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any, NamedTuple

from paramcount.backend.trace.structures import CALLS, opened


class Variable:
    """A value of an inlined program."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval = aval


class Program(NamedTuple):
    """A program, as a jaxpr has it; `constvars` are in `Inlining.constants`."""

    invars: list[Any]
    outvars: list[Any]
    eqns: list[Any]
    constvars: tuple[Any, ...] = ()


class Inlining:
    """`program` inlines one after the other; `constants` collects what they close over, by variable.

    A primitive with a rule of its own stays a call.
    """

    def __init__(self, rules: Container[str]) -> None:
        self.rules = rules
        self.constants: dict[Any, Any] = {}

    def program(self, jaxpr: Any, constants: Iterable[Any] = ()) -> Program:
        """A program with variables of its own."""
        bare = opened(jaxpr)
        known = {variable: Variable(variable.aval) for variable in (*bare.invars, *bare.constvars)}
        inputs = [known[variable] for variable in bare.invars]
        values = list(constants or getattr(jaxpr, "consts", ()))
        self.constants.update(zip([known[each] for each in bare.constvars], values, strict=False))
        eqns: list[Any] = []
        return Program(inputs, self.run(bare, known, eqns, None), eqns)

    def run(self, jaxpr: Any, known: dict[Any, Any], eqns: list[Any], around: Any) -> list[Any]:
        """Add a program's equations, given its inputs; returns its results."""

        def value(atom: Any) -> Any:
            return atom if hasattr(atom, "val") else known[atom]

        for eqn in jaxpr.eqns:
            stack = eqn.source_info.name_stack
            stack = stack if around is None else around + stack
            operands = [value(each) for each in eqn.invars]
            name = eqn.primitive.name
            inner = eqn.params.get(CALLS[name]) if name in CALLS and name not in self.rules else None
            if inner is not None and fits(opened(inner), eqn):
                bare = opened(inner)
                within = dict(zip(bare.invars, operands, strict=True))
                for variable, constant in zip(bare.constvars, getattr(inner, "consts", ()), strict=True):
                    within[variable] = Variable(variable.aval)
                    self.constants[within[variable]] = constant
                known.update(zip(eqn.outvars, self.run(bare, within, eqns, stack), strict=True))
                continue
            results = [Variable(variable.aval) for variable in eqn.outvars]
            known.update(zip(eqn.outvars, results, strict=True))
            params = eqn.params
            if name not in self.rules:  # whose rule may look into it
                params = {key: self.inner(each) for key, each in params.items()}
            source = eqn.source_info.replace(name_stack=stack)
            eqns.append(eqn.replace(invars=operands, outvars=results, params=params, source_info=source))
        return [value(each) for each in jaxpr.outvars]

    def inner(self, parameter: Any) -> Any:
        """A parameter of an equation, inlined if it is a program, or several of them."""
        if type(parameter) is tuple and parameter and all(map(is_program, parameter)):
            return tuple(map(self.program, parameter))
        return self.program(parameter) if is_program(parameter) else parameter


def is_program(value: Any) -> bool:
    return hasattr(opened(value), "eqns")


def fits(jaxpr: Any, eqn: Any) -> bool:
    """Whether the operands and results of a call are those of the program that it runs."""
    return len(jaxpr.invars) == len(eqn.invars) and len(jaxpr.outvars) == len(eqn.outvars)
