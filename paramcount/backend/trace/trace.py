"""The cost of any JAX function: traced on abstract values, walked, and reported by scope and by phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from paramcount.backend.trace.following import Following
from paramcount.backend.trace.parameters import Parameters, is_array
from paramcount.backend.trace.statement import Statement
from paramcount.backend.trace.walker import UNKNOWN, alive
from paramcount.cost.traced import Trace
from paramcount.errors import ArgumentError, quote
from paramcount.layers.fields import Flag, argument
from paramcount.numbers.arithmetic import native


def trace(
    function: Callable[..., Any],
    /,
    *args: Any,
    params: Any = None,
    trips: int | str | dict[str, int | str] | None = None,
    strict: bool = True,
    **kwargs: Any,
) -> Trace:
    """The work of a JAX function on these arguments: MACs, FLOPs and elementwise operations, by scope.

    Arrays and `jax.ShapeDtypeStruct`s among the arguments are traced, everything else is passed on unchanged; nothing
    is run or allocated. `params`, an argument or a part of one, or arrays that the function closes over, are paired
    with the scopes that read them. `trips` is the number of iterations of `while` loops: a number, numbers by scope, or
    "unknown", which leaves them out and reports it. Raises UncountedError for an operation without a rule, or, if not
    `strict`, leaves it out and lists it in `uncounted`.

    >>> import jax, jax.numpy as jnp
    >>> x, w = jax.ShapeDtypeStruct((8, 64), jnp.float32), jax.ShapeDtypeStruct((64, 10), jnp.float32)
    >>> report = trace(jax.grad(lambda w, x: jax.nn.relu(x @ w).sum(), argnums=(0, 1)), w, x)
    >>> report.macs, report.forward_macs, report.backward_macs  # 8·64·10, and twice that
    (15360, 5120, 10240)
    """
    if not callable(function):
        hint = "trace(function, *arguments)"
        raise ArgumentError(f"{quote(function, repr)} is not a function", hint=hint, argument="function")
    trips, strict = numbers_of(trips), argument("strict", strict, Flag())
    leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
    traced = [is_array(leaf) for leaf in leaves]

    def flat(*arrays: Any) -> Any:
        remaining = iter(arrays)
        values = [next(remaining) if array else leaf for leaf, array in zip(leaves, traced, strict=True)]
        positional, named = jax.tree_util.tree_unflatten(tree, values)
        return function(*positional, **named)

    arrays = [leaf for leaf, array in zip(leaves, traced, strict=True) if array]
    closed, results = jax.make_jaxpr(flat, return_shape=True)(*arrays)
    parameters = Parameters(params, args, kwargs, closed.consts)
    jaxpr, used = alive(closed)
    walk = Following(trips, strict)
    inputs = [owner for owner, each in zip(parameters.inputs, used, strict=True) if each]
    walk.trace(jaxpr, inputs, parameters.constants, parameters.outputs(results))
    walk.check_trips()
    named = None if params is None else parameters.counted
    return Statement(walk.operations, walk.reads, named).trace(name_of(function))


def numbers_of(trips: Any) -> Any:
    """Numbers of trips in Python's own types; raises ArgumentError if one is not valid."""
    by_scope = isinstance(trips, dict)
    found = {scope: native(each) for scope, each in trips.items()} if by_scope else native(trips)
    for each in found.values() if by_scope else [found]:
        if each is None or (isinstance(each, str) and each == UNKNOWN) or (type(each) is int and each >= 0):
            continue
        hint = 'a whole number, {"scope": number}, or "unknown"'
        raise ArgumentError(f"{quote(each, repr)} is not a number of trips", hint=hint, argument="trips")
    return found


def name_of(function: Any) -> str:
    """The function's name, seen through jit, partial and the like; a callable object's class."""
    while not hasattr(function, "__name__"):
        inner = getattr(function, "func", None) or getattr(function, "__wrapped__", None)
        if inner is None:
            break
        function = inner
    name = getattr(function, "__name__", type(function).__name__)
    return "function" if name == "<lambda>" else name
