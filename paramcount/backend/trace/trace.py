"""The cost of any JAX function: traced on abstract values, walked, and reported by scope and by phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy
from jax.tree_util import tree_flatten_with_path

from paramcount.backend.trace.arguments import Arguments, Keys, is_value, keys_of
from paramcount.backend.trace.following import Following, paired
from paramcount.backend.trace.inline import Inlining
from paramcount.backend.trace.parameters import Parameters
from paramcount.backend.trace.statement import Statement
from paramcount.backend.trace.structures import UNKNOWN, alive
from paramcount.cost.traced import Trace
from paramcount.errors import ArgumentError, quote
from paramcount.layers.arguments import argument
from paramcount.layers.fields import Flag
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
    arguments = Arguments(function, args, kwargs, params)
    results: list[tuple[Keys, tuple[int, ...]]] = []  # the path and the sizes of each
    changed: list[int | None] = []

    def flat(*arrays: Any) -> list[Any]:
        result, changes = arguments.call(arrays)
        found = [(keys_of(path), leaf) for path, leaf in tree_flatten_with_path(result)[0] if is_value(leaf)]
        results[:] = [(keys, leaf.shape) for keys, leaf in found]
        changed[:] = [number for number, _ in changes]
        return [leaf for _, leaf in (*found, *changes)]

    try:
        closed = jax.make_jaxpr(flat)(*(leaf.value for leaf in arguments.leaves))
    except Exception as error:
        if type(error).__name__ != "TraceContextError":
            raise
        hint = "hand the module in as an argument: trace(step, model, x)"
        message = f"{quote(name_of(function))} changes a Flax nnx module that it closes over"
        raise ArgumentError(message, hint=hint, argument="function") from error
    walk = Following(trips, strict)
    inlining = Inlining(walk.rules)
    jaxpr, used = alive(closed)
    program = inlining.program(jaxpr, closed.consts)
    constants = {place_of(each): each for each in inlining.constants.values()}
    parameters = Parameters(params, arguments.leaves, list(constants.values()))
    inputs = [owner for owner, each in zip(parameters.inputs, used, strict=True) if each]
    held = dict(zip(constants, parameters.constants, strict=True))
    owners = paired(program.invars, inputs)
    owners |= {variable: owner for variable, each in inlining.constants.items() if (owner := held[place_of(each)])}
    outputs = [parameters.result(keys, sizes) for keys, sizes in results]
    outputs += [None if number is None else parameters.inputs[number] for number in changed]
    walk.trace(program, owners, paired(program.outvars, outputs), parameters.layers)
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


def place_of(array: Any) -> int:
    """Tells an array from others: JAX makes several views of one of NumPy's."""
    return array.__array_interface__["data"][0] if isinstance(array, numpy.ndarray) else id(array)


def name_of(function: Any) -> str:
    """The function's name, seen through jit, partial and the like; a callable object's class."""
    while not hasattr(function, "__name__"):
        inner = getattr(function, "func", None) or getattr(function, "__wrapped__", None)
        if inner is None:
            break
        function = inner
    name = getattr(function, "__name__", type(function).__name__)
    return "function" if name == "<lambda>" else name
