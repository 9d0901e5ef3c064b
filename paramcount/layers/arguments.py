"""What an argument of a function may be: one value, checked by the same checks as the fields of layers."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from paramcount.errors import ArgumentError, printable, quote
from paramcount.layers.fields import Check
from paramcount.numbers.arithmetic import Column, native


def argument(name: str, value: Any, check: Check) -> Any:
    """A checked argument of a function, which has one value, unlike a layer's in a sweep; None where the check has it.

    >>> from paramcount.layers.fields import Text
    >>> argument("path", "mlp", Text())
    'mlp'
    """
    if value is None and check.none:
        return None
    if type(value) is Column:
        raise ArgumentError(f"{name} must be one value, not {quote(value)}", argument=name)
    return check(name, native(value))


def whole_argument(name: str, value: Any, at_least: int = 1) -> int:
    """A whole number of at least `at_least` as the argument of a function, where neither 2.0 nor true is one.

    >>> whole_argument("batch", 8)
    8
    """
    found = native(value)
    if type(found) is not int or found < at_least:
        message = f"{name} must be a whole number of at least {at_least}, not {quote(value)}"
        raise ArgumentError(message, argument=name)
    return found


def texts(name: str, value: Any, what: str, hint: str = "") -> tuple[str, ...]:
    """A list of texts, which are `what`; any iterable of them is read once."""
    listed = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
    found = tuple(native(value)) if listed and getattr(value, "shape", None) != () else (None,)
    if not all(isinstance(each, str) for each in found):
        message = f"{name} must be a list of {what}, not {quote(value, repr)}"
        raise ArgumentError(message, hint=hint, argument=name)
    return found  # type: ignore[return-value]


def column_names(value: Any) -> tuple[str, ...] | None:
    """The names of columns to show, None for the usual ones; raises ArgumentError for anything else.

    >>> column_names(["layer", "macs"])
    ('layer', 'macs')
    """
    if value is None:
        return None
    separate = [each.strip() for each in value.split(",")] if isinstance(value, str) and value else ["layer", "macs"]
    hint = "columns=[" + ", ".join(f'"{printable(each)}"' for each in separate[:3]) + "]"
    found = texts("columns", value, "names of columns", hint)
    if not found:
        raise ArgumentError("columns must name at least one column", hint=hint, argument="columns")
    return found


def file_path(name: str, value: Any, what: str = "a file") -> str:
    """A path as text, which may be given as a `pathlib.Path`."""
    found = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(found, str):
        raise ArgumentError(f"{name} must be the path of {what}, not {quote(value, repr)}", argument=name)
    return found
