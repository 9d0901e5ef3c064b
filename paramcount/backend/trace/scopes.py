"""What JAX's name stacks say: the path of scopes that an operation is in, and its phase, forward or backward.

A call's inner program has stacks relative to the call, so an operation has a chain of them, outermost first. Each
consists of scopes, which users and libraries name, and of transformations: `jvp`, `transpose`, `vmap`.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

Stacks = tuple[Any, ...]
EINSUM = re.compile(r"[A-Za-z.,\s]*->[A-Za-z.\s]*")  # einsum opens a scope of its own
TRIPS = re.compile(r"trips=(\d+)")  # a scope by which a user gives the iterations of a loop
RECOMPUTED = "rematted_computation"  # what `jax.checkpoint` recomputes in the backward pass


class Standing(NamedTuple):
    """The path of scopes, and the phase: forward, backward or recomputed."""

    path: tuple[str, ...]
    phase: str


def standing(stacks: Stacks) -> Standing:
    """The path of an operation, and its phase.

    >>> import jax
    >>> def f(x):
    ...     with jax.named_scope("block/dense"):
    ...         return x * x
    >>> *_, last = jax.make_jaxpr(jax.vmap(jax.grad(f)))(jax.numpy.ones(3)).eqns
    >>> standing((last.source_info.name_stack,))
    Standing(path=('block', 'dense'), phase='backward')
    """
    path: list[str] = []
    phase = "forward"
    for kind, name in elements(stacks):
        if kind == "Transform":
            if name == "transpose" and phase == "forward":
                phase = "backward"
        elif name == RECOMPUTED:
            phase = "recomputed"
        elif not EINSUM.fullmatch(name) and not TRIPS.fullmatch(name):
            path += filter(None, name.split("/"))
    return Standing(tuple(path), phase)


def elements(stacks: Stacks) -> list[tuple[str, str]]:
    """Every scope and transformation in a chain of stacks, each with its kind."""
    return [(type(each).__name__, each.name) for stack in stacks for each in stack.stack]


def written(stacks: Stacks) -> str:
    """The chain as JAX writes it."""
    return "/".join(filter(None, map(str, stacks)))


def named_trips(stacks: Stacks) -> int | None:
    """The iterations of a loop by the innermost scope `trips=N`, if there is one."""
    found = [match for kind, name in elements(stacks) if kind == "Scope" and (match := TRIPS.fullmatch(name))]
    return int(found[-1][1]) if found else None
