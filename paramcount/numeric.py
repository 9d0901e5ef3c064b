"""Arithmetic that means the same on an int and on a Column of int64."""

from collections.abc import Iterable
from typing import Any

from paramcount.errors import ArgumentError, ParamcountError


class Column:
    """An int64 array with exact Python-int bounds."""


Size = Any  # an int, or a Column in a sweep


def require(condition: Any, message: str, *values: Any, error: type[ParamcountError] = ArgumentError, **details: Any) -> None:
    """Raise `error` with the formatted message unless the condition holds."""
    if not condition:
        raise error(message.format(*values), **details)


def decide(condition: Any) -> bool:
    return bool(condition)


def product(sizes: Iterable[Size]) -> Size:
    result = 1
    for size in sizes:
        result = result * size
    return result


def ceil_div(a: Size, b: Size) -> Size:
    return -(-a // b)


def exact_div(a: Size, b: Size, message: str = "{} is not divisible by {}", **details: Any) -> Size:
    require(a % b == 0, message, a, b, **details)
    return a // b


def minimum(a: Size, b: Size) -> Size:
    return min(a, b)


def maximum(a: Size, b: Size) -> Size:
    return max(a, b)


def where(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b
