"""The multiply-accumulates of a traced JAX program, exact and by scope: its jaxpr is walked, and nothing is run.

Every primitive is a contraction that a rule counts, a structure whose inner program is walked, or known to be free
of multiply-accumulates. Anything else is an error, so that no operation is ever dropped silently.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from paramcount.backend.trace.kernels import Program
from paramcount.backend.trace.primitives import FREE, results
from paramcount.backend.trace.products import (
    Rule,
    convolution,
    convolution_in_bounds,
    dot_general,
    is_contraction,
    is_gradient_of_contraction,
)
from paramcount.backend.trace.rules import CONTRACTIONS, registered
from paramcount.backend.trace.scopes import Stacks, named_trips, standing, written
from paramcount.backend.trace.structures import CALLS, STRUCTURES, alive, opened
from paramcount.errors import ParamcountError, quote
from paramcount.layers.layer import Work

NO_RULE = "no rule says what {} costs"


class Operation(NamedTuple):
    """One operation of a program: its name stacks, and its work in all the `times` that it runs."""

    stacks: Stacks
    primitive: str
    macs: int
    times: int
    elementwise: int = 0
    equation: Any = None
    owner: Any = None  # the parameter that it reads, or whose gradient it computes
    note: str = ""
    uncounted: bool = False
    update: bool = False  # it belongs to an optimizer

    @property
    def scope(self) -> str:
        """The name stack as JAX writes it."""
        return written(self.stacks)


class UncountedError(ParamcountError):
    """The program contains an operation whose multiply-accumulates are not known."""

    def __init__(self, primitive: str, scope: str, message: str = NO_RULE, hint: str = "") -> None:
        where = f" in {quote(scope)}" if scope else ""
        super().__init__(message.format(quote(primitive)) + where, hint=hint)
        self.primitive = primitive
        self.scope = scope


def count_macs(closed_jaxpr: Any) -> int:
    """The multiply-accumulates of a traced program; raises UncountedError if an operation has no rule.

    >>> import jax, jax.numpy as jnp
    >>> count_macs(jax.make_jaxpr(jnp.matmul)(jnp.ones((25, 16)), jnp.ones((16, 9))))
    3600
    """
    return sum(operation.macs for operation in walk(closed_jaxpr))


def in_bounds_macs(closed_jaxpr: Any) -> int:
    """The same, but a convolution's taps on padding and on inserted zeros are left out, as XLA's cost analysis does.

    >>> import jax
    >>> same = lambda x, w: jax.lax.conv(x, w, (1, 1), "SAME")
    >>> traced = jax.make_jaxpr(same)(jax.numpy.ones((1, 1, 4, 4)), jax.numpy.ones((2, 1, 2, 2)))
    >>> count_macs(traced), in_bounds_macs(traced)
    (128, 98)
    """
    rules = {**CONTRACTIONS, "conv_general_dilated": convolution_in_bounds}
    return sum(operation.macs for operation in walk(closed_jaxpr, rules))


def leaf_number(scope: str) -> int | None:
    """The number of the leaf that a name stack belongs to, which runs in the scope `§n`; None outside of all leaves.

    >>> leaf_number("transpose(jvp(§2))/while/§17"), leaf_number("jvp(loss)")
    (17, None)
    """
    found = re.findall(r"§(\d+)", scope)
    return int(found[-1]) if found else None


def by_leaf(closed_jaxpr: Any) -> dict[int | None, int]:
    """The multiply-accumulates of each leaf by its number; those outside of all leaves are under None.

    >>> import jax
    >>> def f(x):
    ...     with jax.named_scope("§17"):
    ...         return x @ x
    >>> by_leaf(jax.make_jaxpr(jax.vmap(f))(jax.numpy.ones((7, 3, 3))))
    {17: 189}
    """
    result: Counter[int | None] = Counter()
    for operation in walk(closed_jaxpr):
        result[leaf_number(operation.scope)] += operation.macs
    return dict(result)


def used_inputs(closed_jaxpr: Any) -> list[bool]:
    """For every flat input of a traced program, whether any output depends on it.

    >>> import jax
    >>> used_inputs(jax.make_jaxpr(lambda a, b: a + 1)(1.0, 2.0))
    [True, False]
    """
    return alive(closed_jaxpr)[1]


def walk(closed_jaxpr: Any, rules: Mapping[str, Rule] | None = None) -> list[Operation]:
    """Every contraction that an output depends on, in the program's order; raises UncountedError."""
    walker = Walker(rules)
    walker.program(alive(closed_jaxpr)[0], Place())
    return walker.operations


class Place(NamedTuple):
    """Where a program is called from, and how many times it runs in all."""

    stacks: Stacks = ()
    times: int = 1
    program: Program | None = None

    def inside(self, eqn: Any) -> Place:
        """The place of an equation's inner program, whose scopes are relative to the call."""
        stack = eqn.source_info.name_stack
        return self._replace(stacks=(*self.stacks, stack)) if stack.stack else self

    def repeated(self, times: int) -> Place:
        return self._replace(times=self.times * times)

    def within(self, jaxpr: Any, operands: Any = (), results: Any = ()) -> Place:
        """The place of the equations of a program that is called with these operands, for these results."""
        return self._replace(program=Program(jaxpr, operands, results, self.program))


class Walker:
    """One walk over a program and all those inside it, which collects each contraction.

    `operands` and `results` are the variables of a call that correspond to the inner program's, for walks that
    follow values into it. In a loop, `carry` are those of its inputs that the first results of an iteration replace.
    """

    def __init__(self, rules: Mapping[str, Rule] | None = None) -> None:
        self.rules = {**(CONTRACTIONS if rules is None else rules), **registered}
        self.operations: list[Operation] = []

    def program(self, jaxpr: Any, place: Place, operands: Any = (), results: Any = (), carry: slice = slice(0)) -> None:
        self.equations(jaxpr, place.within(jaxpr, operands, results))

    def equations(self, jaxpr: Any, place: Place) -> None:
        for eqn in jaxpr.eqns:
            self.equation(eqn, place)

    def equation(self, eqn: Any, place: Place) -> None:
        name = eqn.primitive.name
        if name in self.rules:
            self.contraction(eqn, place, self.rules[name])
        elif name in FREE:
            self.free(eqn, place)
        elif name in CALLS:
            self.program(opened(eqn.params[CALLS[name]]), place.inside(eqn), eqn.invars, eqn.outvars)
        elif name in STRUCTURES:
            STRUCTURES[name](self, eqn, place)
        else:
            self.uncounted(eqn, place)

    def contraction(self, eqn: Any, place: Place, rule: Rule) -> None:
        stacks, times = place.inside(eqn).stacks, place.times
        self.operations.append(Operation(stacks, eqn.primitive.name, work(eqn, place, rule).macs * times, times))

    def free(self, eqn: Any, place: Place) -> None:
        """An operation without a multiply-accumulate."""

    def note(self, eqn: Any, place: Place, text: str, uncounted: bool = False) -> None:
        """A remark about an operation."""

    def uncounted(self, eqn: Any, place: Place, message: str = NO_RULE, hint: str = "", scope: str = "") -> None:
        raise UncountedError(eqn.primitive.name, scope or written(place.inside(eqn).stacks), message, hint)

    def trips(self, eqn: Any, place: Place) -> int | str | None:
        """The iterations of a `while`, if its scope gives them."""
        return named_trips(place.inside(eqn).stacks)

    def collected(self, run: Callable[[], Any]) -> list[Operation]:
        """The operations of a part of the walk, collected separately."""
        before, self.operations = self.operations, []
        run()
        found, self.operations = self.operations, before
        return found


def work(eqn: Any, place: Place, rule: Rule) -> Work:
    """What a rule says; what a convolution and a product that sums nothing are depends on what is around them."""
    if rule is convolution:
        return Work(convolution(eqn, place.program))
    if rule is dot_general and not is_contraction(eqn):
        of_contraction = standing(place.inside(eqn).stacks).phase == "backward" and is_gradient_of_contraction(eqn)
        return Work(rule(eqn)) if of_contraction else Work(0, results(eqn))
    return Work(rule(eqn))
