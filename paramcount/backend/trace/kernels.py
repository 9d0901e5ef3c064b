"""Which kernels of convolutions stand in reverse: the gradient by an input differs from a forward convolution in that.

JAX reverses the kernel for the gradient by an input, and a transposed convolution that reverses its own kernel has it
reversed once more there, or reverses the kernel's gradient. So reversals are counted: those of a kernel from where it
was computed to the convolution, and those of a gradient until it is used, through all that only moves it, and into and
out of calls.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from paramcount.backend.trace.primitives import MOVES


class Program:
    """A program in a walk; `operands` and `results` are its inputs and results where `caller` calls it."""

    def __init__(self, jaxpr: Any, operands: Any = (), results: Any = (), caller: Program | None = None) -> None:
        self.jaxpr = jaxpr
        self.operands = operands
        self.results = results
        self.caller = caller

    @cached_property
    def makers(self) -> dict[Any, Any]:
        """The equation that makes each variable."""
        return {variable: eqn for eqn in self.jaxpr.eqns for variable in eqn.outvars}

    @cached_property
    def readers(self) -> dict[Any, Any]:
        """The first equation that moves each variable, adds it to another, or calls a program with it."""
        found: dict[Any, Any] = {}
        for eqn in self.jaxpr.eqns:
            if eqn.primitive.name in MOVES or eqn.primitive.name == "add_any" or self.inside(eqn):
                for variable in eqn.invars:
                    if not is_literal(variable):
                        found.setdefault(variable, eqn)
        return found

    def inside(self, eqn: Any) -> list[Program]:
        """The programs of a call, a loop or a branching, if their inputs and results correspond to the equation's."""
        operands = eqn.invars[1:] if eqn.primitive.name == "cond" else eqn.invars
        values = [each for value in eqn.params.values() for each in (value if type(value) is tuple else (value,))]
        jaxprs = [getattr(value, "jaxpr", value) for value in values]
        return [
            Program(jaxpr, operands, eqn.outvars, self)
            for jaxpr in jaxprs
            if hasattr(jaxpr, "eqns") and len(jaxpr.invars) == len(operands) and len(jaxpr.outvars) == len(eqn.outvars)
        ]


def reversed_before(program: Program | None, variable: Any) -> int:
    """How many axes of a value have been reversed since it was computed.

    >>> import jax, jax.numpy as jnp
    >>> jaxpr = jax.make_jaxpr(lambda w: jnp.flip(w, (0, 1)).T)(jnp.ones((3, 2))).jaxpr
    >>> reversed_before(Program(jaxpr), jaxpr.outvars[0])
    2
    """
    if program is None or variable is None or is_literal(variable):
        return 0
    eqn = program.makers.get(variable)
    if eqn is None:
        return reversed_before(program.caller, corresponding(variable, program.jaxpr.invars, program.operands))
    if inner := program.inside(eqn):  # the other branches of a `cond` make zeros where one keeps a kernel
        return max(reversed_before(each, corresponding(variable, eqn.outvars, each.jaxpr.outvars)) for each in inner)
    if eqn.primitive.name not in MOVES or not eqn.invars:
        return 0
    moved = corresponding(variable, eqn.outvars, eqn.invars) or eqn.invars[0]
    return axes_reversed_by(eqn) + reversed_before(program, moved)


def reversed_after(program: Program | None, variable: Any) -> int:
    """How many axes of a value are reversed before it is used in a computation other than a sum of gradients.

    >>> import jax, jax.numpy as jnp
    >>> jaxpr = jax.make_jaxpr(lambda w: jnp.flip(jnp.sin(w), 0))(jnp.ones((3, 2))).jaxpr
    >>> reversed_after(Program(jaxpr), jaxpr.eqns[0].outvars[0])
    1
    """
    if program is None or variable is None:
        return 0
    eqn = program.readers.get(variable)
    if eqn is None:
        return reversed_after(program.caller, corresponding(variable, program.jaxpr.outvars, program.results))
    if inner := program.inside(eqn):
        operands = inner[0].operands
        return max(reversed_after(each, corresponding(variable, operands, each.jaxpr.invars)) for each in inner)
    moved = corresponding(variable, eqn.invars, eqn.outvars) or eqn.outvars[0]
    return axes_reversed_by(eqn) + reversed_after(program, moved)


def axes_reversed_by(eqn: Any) -> int:
    return len(eqn.params["dimensions"]) if eqn.primitive.name == "rev" else 0


def corresponding(variable: Any, variables: Any, others: Any) -> Any:
    """What stands among `others` where a variable stands among `variables`, if they correspond; else None."""
    if len(variables) != len(others):
        return None
    return next((other for each, other in zip(variables, others, strict=True) if each is variable), None)


def is_literal(variable: Any) -> bool:
    return hasattr(variable, "val")
