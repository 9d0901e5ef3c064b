"""What an expression computes with: numbers, conditions, words and lists; Columns and float64 arrays in a sweep.

All raise ArgumentError for values that they cannot take, and never compute a number beyond 1e18.
"""

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

from paramcount.errors import ArgumentError, quote
from paramcount.numbers.arithmetic import LIMIT, by_variant, settle, where
from paramcount.numbers.column import IN_FLOATS, Column, Mask, beyond, compared, plain, real, require

MOST_ENTRIES = 1_000_000


def described(value: Any) -> str:
    """A value in the user's words."""
    if value is None or isinstance(value, bool):
        return quote(str(value).lower())
    if isinstance(value, str):
        return f"the word {quote(value)}"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, Mask):
        return described(bool(value))
    if isinstance(value, Column) or is_array(value):
        return described(plain(value).flat[0].item())  # the first of the variants, which all fail
    return quote(value) if isinstance(value, (int, float)) else "this value"


def is_array(value: Any) -> bool:
    return hasattr(value, "dtype")


def number(value: Any) -> Any:
    """The value if it is a number, for each variant in a sweep."""
    kind = type(value)
    if kind is int or kind is float or kind is Column:
        return value
    if is_array(value) and value.dtype.kind in "iuf":
        if not value.ndim:
            return bounded(value.item())
        return value if value.dtype.kind == "f" else Column.whole("the value", value)
    hint = "write `1 if condition else 0`" if kind is bool or kind is Mask else ""
    raise ArgumentError(f"{described(value)} is not a number", hint=hint)


def bounded(value: Any) -> Any:
    """The number, unless it is beyond 1e18 or not real."""
    if isinstance(value, (int, float)):
        if -LIMIT <= value <= LIMIT:
            return value
        raise too_large()
    if type(value) is Column:
        if beyond(value, LIMIT) and beyond(Column(value.array), LIMIT):
            raise too_large()
    elif is_array(value):
        require(Mask(abs(value) <= LIMIT), "the result is too large")
    elif isinstance(value, complex):
        raise ArgumentError("a fractional power of a negative number is not real")
    return value


def too_large() -> ArgumentError:
    return ArgumentError("the result is too large", hint="numbers go up to 1e18")


PLAIN = {int, float}


def whole(value: Any) -> bool:
    """Whether a number is an int in each variant."""
    return isinstance(value, (int, Column))


def swept(value: Any) -> bool:
    """Whether a number differs between variants."""
    return isinstance(value, Column) or is_array(value)


def arithmetic(operation: Callable) -> Callable:
    """An operation on two numbers, checked.

    In a sweep each variant has the value that it has alone, to the last bit, or the same error. NumPy adds, subtracts,
    multiplies and divides floats as Python does, and computes exactly on Columns; the rest is left to Python.
    """
    alike = operation in (operator.add, operator.sub, operator.mul, operator.truediv)

    def apply(a: Any, b: Any) -> Any:
        if type(a) not in PLAIN or type(b) not in PLAIN:
            a, b = number(a), number(b)
            if swept(a) or swept(b):
                try:
                    if whole(a) and whole(b):
                        return bounded(operation(a, b))
                    if alike:
                        return bounded(real(operation, a, b))
                except ArgumentError:  # of some variants, and perhaps only of a sweep
                    pass
                return by_variant(apply, a, b)
        try:
            result = operation(a, b)
        except ZeroDivisionError:
            raise ArgumentError("division by zero", hint="look at the values of its variables") from None
        except OverflowError:
            raise too_large() from None
        return result if type(result) is int and -LIMIT <= result <= LIMIT else bounded(result)

    return apply


add = arithmetic(operator.add)
subtract = arithmetic(operator.sub)
multiply = arithmetic(operator.mul)
floor_divide = arithmetic(operator.floordiv)
remainder = arithmetic(operator.mod)
true_divide = arithmetic(operator.truediv)
true_power = arithmetic(operator.pow)


def divide(a: Any, b: Any) -> Any:
    """a / b: the whole number where whole numbers divide, so that it stays exact; else a float."""
    if not (whole(a) and whole(b)):
        return true_divide(a, b)
    if (swept(a) or swept(b)) and (beyond(a, IN_FLOATS) or beyond(b, IN_FLOATS)):
        return by_variant(divide, a, b)
    return a // b if remainder(a, b) == 0 else a / b


def power(a: Any, b: Any) -> Any:
    """a ** b, refused before it is computed where it would be huge."""
    if type(a) is int and type(b) is int:
        if (abs(a).bit_length() - 1) * b >= LIMIT.bit_length():
            raise too_large()
    elif type(a) not in PLAIN or type(b) not in PLAIN:
        a, b = number(a), number(b)
        if not (swept(a) or swept(b)):
            return power(a, b)
        try:
            if whole(a) and whole(b):
                return bounded(a**b)
        except ArgumentError:  # of some variants, and perhaps only of a sweep
            pass
        return by_variant(power, a, b)
    return true_power(a, b)


def negative(a: Any) -> Any:
    return -number(a)


def condition(value: Any) -> Any:
    """The value if it is true or false, for each variant in a sweep."""
    if type(value) is bool or type(value) is Mask:
        return value
    hint = "write a comparison, such as `x > 0`"
    raise ArgumentError(f"{described(value)} is neither true nor false", hint=hint)


def invert(a: Any) -> Any:
    return ~a if type(condition(a)) is Mask else not a


def both(a: Any, b: Any) -> Any:
    if type(a) is bool:
        return b if a else False
    return a & b


def either(a: Any, b: Any) -> Any:
    return invert(both(invert(a), invert(b)))


def ordering(operation: Callable) -> Callable:
    """A comparison of two numbers."""

    def apply(a: Any, b: Any) -> Any:
        if type(a) is not int or type(b) is not int:
            a, b = number(a), number(b)
            if is_array(a) or is_array(b):
                return Mask(compared(operation, a, b))
        return operation(a, b)

    return apply


def chosen(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds and b elsewhere; raises Undecided where one is whole in its variants, one a fraction.

    So each variant has a number of the type that it has alone.
    """
    a, b = number(a), number(b)
    return where(condition if whole(a) == whole(b) else bool(condition), a, b)


def is_number(value: Any) -> bool:
    return (isinstance(value, (int, float, Column)) and type(value) is not bool) or is_array(value)


equal_numbers = ordering(operator.eq)


def equal(a: Any, b: Any) -> Any:
    """Whether two values are the same; those of different kinds never are."""
    if is_number(a) and is_number(b):
        return equal_numbers(a, b)
    if isinstance(a, (bool, Mask)) and isinstance(b, (bool, Mask)):
        return either(both(a, b), both(invert(a), invert(b)))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and reduce(both, map(equal, a, b), True)
    return type(a) is type(b) and a == b


def unequal(a: Any, b: Any) -> Any:
    return invert(equal(a, b))


def items_of(value: Any, message: str) -> list | tuple:
    if not isinstance(value, (list, tuple)):
        raise ArgumentError(message.format(described(value)), hint="a list is written `[a, b]`")
    return value


def contained(a: Any, items: Any) -> Any:
    """Whether a list holds a value."""
    items = items_of(items, "`in` looks into a list, not into {}")
    return reduce(either, [equal(a, each) for each in items], False)


def missing(a: Any, items: Any) -> Any:
    return invert(contained(a, items))


def listed(*items: Any) -> list:
    """A list, unless it holds so much, in the lists that it holds, that nothing could be done with it."""
    if any(isinstance(each, (list, tuple)) for each in items) and entries(items) > MOST_ENTRIES:
        raise ArgumentError(f"a list with more than {MOST_ENTRIES:,} entries in its lists")
    return list(items)


def entries(items: Any) -> int:
    """How many values a list and its lists hold, counted no further than is allowed."""
    total = 0
    for each in items:
        total += entries(each) if isinstance(each, (list, tuple)) else 1
        if total > MOST_ENTRIES:
            break
    return total


def item(items: Any, index: Any) -> Any:
    """items[index], from the end where the index is negative."""
    items = items_of(items, "only a list has items, not {}")
    index = number(index)
    if isinstance(index, float) and index.is_integer():
        index = int(index)
    if isinstance(index, int):
        if -len(items) <= index < len(items):
            return items[index]
        raise ArgumentError(f"the list has {len(items)} items, and none at {index}", hint="the first is at 0")
    if isinstance(index, float):
        raise ArgumentError(f"the index {quote(index)} is not a whole number")
    if is_array(index):
        require(Mask(index % 1 == 0), "the index `{}` is not a whole number", index)
        index = Column.whole("the index", index)
    inside = both(index >= -len(items), index < len(items))
    hint = "the first is at 0"
    require(inside, f"the list has {len(items)} items, and none at {{}}", index, hint=hint)
    if not all(is_number(each) and whole(each) == whole(items[0]) for each in items):
        return items[settle(index)]
    import numpy

    place, *every = numpy.broadcast_arrays(index.array, *map(plain, items))
    return number(numpy.take_along_axis(numpy.stack(every), place[None], 0)[0])
