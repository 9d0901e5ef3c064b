"""The functions of expressions; in a sweep, of Columns and float64 arrays.

All raise ArgumentError for values that they cannot take.
"""

import math
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

from paramcount.errors import ArgumentError
from paramcount.language.expression.values import add, chosen, is_array, items_of, number, ordering
from paramcount.numbers.arithmetic import LIMIT, by_variant, maximum, where
from paramcount.numbers.column import Column, Mask, beyond, require

FAR = LIMIT // 100  # what lies within it does not overflow in `divisible`


def listed(values: tuple) -> list | tuple:
    """A function's values, which may come as one list."""
    items = values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values
    if not items:
        raise ArgumentError("the list is empty")
    return [number(each) for each in items]


def smaller(a: Any, b: Any) -> Any:
    return chosen(ordering(operator.le)(a, b), a, b)


def larger(a: Any, b: Any) -> Any:
    return chosen(ordering(operator.ge)(a, b), a, b)


def least(*values: Any) -> Any:
    return reduce(smaller, listed(values))


def greatest(*values: Any) -> Any:
    return reduce(larger, listed(values))


def rounding(scalar: Callable, elementwise: str) -> Callable:
    """A function to whole numbers: Python's for a float, NumPy's of that name for an array."""

    def apply(value: Any) -> Any:
        value = number(value)
        if isinstance(value, float):
            return scalar(value)
        if not is_array(value):
            return value
        import numpy

        return Column.whole("the result", getattr(numpy, elementwise)(value))

    return apply


truncate = rounding(int, "trunc")


def absolute(value: Any) -> Any:
    return abs(number(value))


def square_root(value: Any) -> Any:
    """The root, whole where it is one."""
    value = number(value)
    require(ordering(operator.ge)(value, 0), "the root of {}, a negative number", value)
    if isinstance(value, int) and math.isqrt(value) ** 2 == value:
        return math.isqrt(value)
    return math.sqrt(value) if isinstance(value, (int, float)) else by_variant(square_root, value)


def logarithm(value: Any) -> Any:
    """The logarithm to base 2, whole where it is one."""
    value = number(value)
    require(ordering(operator.gt)(value, 0), "the logarithm of {}, which is not above 0", value)
    if isinstance(value, int) and value & (value - 1) == 0:
        return value.bit_length() - 1
    return math.log2(value) if isinstance(value, (int, float)) else by_variant(logarithm, value)


def length(value: Any) -> int:
    return len(items_of(value, "`len` counts the items of a list, not of {}"))


def total(value: Any) -> Any:
    return reduce(add, items_of(value, "`sum` adds the items of a list, not of {}"), 0)


def divisible(value: Any, divisor: Any) -> Any:
    """The nearest multiple of the divisor, at least the divisor, and one more where that is below 0.9 of the value."""
    value, divisor = number(value), number(divisor)
    require(ordering(operator.ge)(divisor, 1), "the divisor must be at least 1, not {}", divisor)
    if isinstance(divisor, float):
        require(divisor.is_integer(), "the divisor {} is not whole", divisor)
        divisor = int(divisor)
    if is_array(divisor):
        require(Mask(divisor % 1 == 0), "the divisor {} is not whole", divisor)
        divisor = Column.whole("the divisor", divisor)
    if (isinstance(value, Column) or isinstance(divisor, Column)) and (beyond(value, FAR) or beyond(divisor, FAR)):
        return by_variant(divisible, value, divisor)
    if isinstance(value, (int, Column)):
        multiple = maximum((2 * value + divisor) // (2 * divisor) * divisor, divisor)
        return multiple + where(10 * multiple < 9 * value, divisor, 0)
    multiple = maximum(truncate(value + divisor / 2) // divisor * divisor, divisor)
    return multiple + where(ordering(operator.lt)(multiple, 0.9 * value), divisor, 0)


def round8(value: Any) -> Any:
    return divisible(value, 8)


# Each function with the fewest and the most values that it takes.
FUNCTIONS: dict[str, tuple[Callable, int, float]] = {
    "min": (least, 1, math.inf),
    "max": (greatest, 1, math.inf),
    "ceil": (rounding(math.ceil, "ceil"), 1, 1),
    "floor": (rounding(math.floor, "floor"), 1, 1),
    "round": (rounding(round, "rint"), 1, 1),
    "int": (truncate, 1, 1),
    "abs": (absolute, 1, 1),
    "sqrt": (square_root, 1, 1),
    "log2": (logarithm, 1, 1),
    "len": (length, 1, 1),
    "sum": (total, 1, 1),
    "round8": (round8, 1, 1),
    "divisible": (divisible, 2, 2),
}
