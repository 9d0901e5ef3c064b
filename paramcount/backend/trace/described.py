"""A function and its arguments as the command line describes them: `module:function`, `float32[8,224,224,3]`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import jax
from jax import numpy as jnp

from paramcount.errors import ArgumentError, ParamcountError, quote
from paramcount.errors.suggest import did_you_mean, nearest, unknown
from paramcount.numbers.units import SHORT

ARRAY = re.compile(r"\s*([A-Za-z]\w*)\s*\[([\d\s,]*)\]\s*")
NUMBERS = ("float", "int", "uint", "bfloat", "complex", "bool")
HINT = 'write it like "float32[8,224,224,3]", "int32[]", a number, true or false'


class TracingError(ParamcountError):
    """The user's function failed during tracing."""


def argument(text: str) -> Any:
    """An abstract array, or a plain number, true, false or none.

    >>> argument("float32[8, 224,224,3]")
    ShapeDtypeStruct(shape=(8, 224, 224, 3), dtype=float32)
    >>> argument("10"), argument("true")
    (10, True)
    """
    plain = text.strip().lower()
    if plain in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[plain]
    for kind in (int, float):
        try:
            return kind(plain)
        except ValueError:
            continue
    match = ARRAY.fullmatch(text)
    if not match:
        raise ArgumentError(f"{quote(text)} is not a valid argument", hint=HINT, argument="args")
    name, sizes = match.groups()
    entries = [entry.strip() for entry in sizes.split(",")] if sizes.strip() else []
    if entries and not entries[-1]:
        entries.pop()  # as in Python, a trailing comma is allowed
    if not all(entry.isdigit() for entry in entries):
        raise ArgumentError(f"the sizes of {quote(text)} are not whole numbers", hint=HINT, argument="args")
    return jax.ShapeDtypeStruct(tuple(map(int, entries)), dtype(name))


def dtype(name: str) -> Any:
    """A dtype by JAX's name or XLA's short one."""
    full = SHORT.get(name, name)
    found = getattr(jnp, "bool_" if full == "bool" else full, None) if full.startswith(NUMBERS) else None
    if isinstance(found, type(jnp.float32)):
        return jnp.dtype(found)
    known = [
        each for each in dir(jnp) if each.startswith(NUMBERS) and isinstance(getattr(jnp, each), type(jnp.float32))
    ]
    raise unknown("dtype", name, known, "float32, bfloat16, int32, ...", argument="args")


def function(text: str) -> Callable[..., Any]:
    """What `module:function` or `module:object.attribute` names; the current directory is importable.

    >>> function("jax.numpy:matmul").__name__
    'matmul'
    """
    module_name, colon, attributes = text.partition(":")
    if not colon or not module_name or not attributes:
        hint = "give the module as it is imported, a colon, and a name in it: my_model:forward"
        raise ArgumentError(f"{quote(text)} does not name a function", hint=hint)
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = import_module(module_name.removesuffix(".py"))
    except ModuleNotFoundError as error:
        if not module_name.startswith(error.name or " "):
            raise TracingError(f"{quote(module_name)} cannot be imported: {error}") from error
        hint = "run it where the module is, or install it"
        raise ArgumentError(f"there is no module {quote(module_name)}", hint=hint) from None
    except Exception as error:
        raise TracingError(f"{quote(module_name)} cannot be imported: {brief(error)}") from error
    for name in attributes.split("."):
        if not hasattr(found, name):
            guess = nearest(name, [each for each in dir(found) if not each.startswith("_")])
            hint = did_you_mean(guess, "see its names with dir()")
            raise ArgumentError(f"{quote(module_name)} has no {quote(attributes)}", hint=hint)
        found = getattr(found, name)
    if not callable(found):
        raise ArgumentError(f"{quote(text)} is of type {type(found).__name__}, not a function", hint="name a function")
    return found


def trips(texts: list[str]) -> int | str | dict[str, Any] | None:
    """`--trips 10`, `--trips unknown`, or `--trips scope=10`, which may be repeated.

    >>> trips(["10"]), trips(["loop=3", "solve=unknown"])
    (10, {'loop': 3, 'solve': 'unknown'})
    """

    def number(text: str) -> int | str:
        return int(text) if text.strip().isdigit() else text.strip()

    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return number(texts[0])
    for text in texts:
        if "=" not in text:
            raise ArgumentError(f"{quote(text)} does not name a scope", hint="--trips scope=10, or one number for all")
    return {scope.strip(): number(n) for scope, _, n in (text.rpartition("=") for text in texts)}


def traced(name: str, arguments: list[str], loops: list[str], strict: bool) -> Any:
    """The report of a function by its name on described arguments; raises TracingError if the function fails."""
    from paramcount.backend.trace.trace import trace

    called, values = function(name), [argument(text) for text in arguments]
    try:
        return trace(called, *values, trips=trips(loops), strict=strict)
    except ParamcountError:
        raise
    except Exception as error:
        hint = "check the function, and `--args`: one for each argument, in order"
        raise TracingError(f"tracing {quote(name)} failed: {brief(error)}", hint=hint) from error


def brief(error: Exception) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}".rstrip(": ")
