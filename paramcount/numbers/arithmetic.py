"""Arithmetic that means the same on an int and on a Column of int64."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from paramcount.errors import ArgumentError, Undecided
from paramcount.numbers.column import LEAST, MOST, Column, Mask, bound, overflow, plain, require

__all__ = [
    "LIMIT",
    "Column",
    "Mask",
    "Size",
    "by_variant",
    "ceil_div",
    "decide",
    "exact_div",
    "gcd",
    "maximum",
    "minimum",
    "native",
    "product",
    "require",
    "same_sizes",
    "settle",
    "varies",
    "where",
]

Size = Any  # an int, or a Column in a sweep
LIMIT = 10**18  # of a number that is given, or that an expression gives


def varies(value: Any) -> bool:
    """Whether a value is a number for each variant of a sweep: a Column, or an array of float64 computed from one."""
    return type(value) is Column or (
        hasattr(value, "dtype") and bool(getattr(value, "shape", ())) and value.dtype == "float64"
    )


def native(value: Any) -> Any:
    """A value of NumPy, JAX or PyTorch in Python's own types: a scalar as a number, an array as a list.

    Anything else is returned unchanged. None of these libraries is imported.

    >>> import numpy
    >>> native(numpy.int32(3)), native(numpy.array([8, 8, 3])), native("same")
    (3, [8, 8, 3], 'same')
    """
    if not hasattr(value, "tolist"):
        return value
    try:
        return value.tolist()
    except (TypeError, RuntimeError):  # a traced or a deleted array of JAX has no values
        return value


def decide(condition: Any) -> bool:
    """A condition as a bool; raises Undecided if the variants of a sweep disagree."""
    return bool(condition)


def settle(size: Any) -> Any:
    """A number that determines structure, such as how many parts there are; raises Undecided if variants disagree.

    >>> settle(Column.whole("parts", [3, 3]))
    3
    """
    array = plain(size)
    if not getattr(array, "ndim", 0):
        return size
    first = array.flat[0].item()
    same = array == first
    if not same.all():
        raise Undecided("a number differs between variants", mask=same, sizes=array)
    return first


def same_sizes(one: Sequence[Size], two: Sequence[Size]) -> bool:
    """Whether two lists of sizes are equal; raises Undecided if the variants of a sweep disagree.

    >>> same_sizes((3, 3), (3, 3, 1))
    False
    """
    return len(one) == len(two) and all(decide(a == b) for a, b in zip(one, two, strict=True))


def by_variant(function: Callable, *operands: Any) -> Any:
    """A function of Python numbers for each variant, as if it were alone: for what NumPy would compute differently.

    Raises Undecided where some results are whole and others not, and ArgumentError, with a mask, where the function
    does, and where a whole result does not fit int64.

    >>> by_variant(lambda x, y: x**y, Column.whole("x", [2, 3]), 39)
    Column([549755813888, 4052555153018976267])
    """
    import numpy

    def outcome(row: tuple) -> Any:
        try:
            result = function(*row)
        except ArgumentError as error:
            return error
        return overflow(result) if type(result) is int and not LEAST <= result <= MOST else result

    arrays = numpy.broadcast_arrays(*map(plain, operands))
    shape = arrays[0].shape
    rows = list(zip(*(array.reshape(-1).tolist() for array in arrays), strict=True))
    outcomes = {row: outcome(row) for row in set(rows)}
    found = [outcomes[row] for row in rows]
    if any(isinstance(each, ArgumentError) for each in outcomes.values()):
        first = next(each for each in found if isinstance(each, ArgumentError))
        alike = [isinstance(each, ArgumentError) and each.message == first.message for each in found]
        first.mask = numpy.array(alike).reshape(shape)
        raise first
    kinds = set(map(type, outcomes.values()))
    if len(kinds) > 1:
        whole = numpy.array([type(each) is int for each in found]).reshape(shape)
        raise Undecided("a number is whole in some variants and not in others", mask=whole)
    if kinds == {int}:
        return Column(numpy.array(found, dtype=numpy.int64).reshape(shape))
    return numpy.array(found, dtype=numpy.float64).reshape(shape)


def product(sizes: Iterable[Size]) -> Size:
    """The product of all sizes; 1 if there are none.

    >>> product((3, 3, 64))
    576
    """
    return math.prod(sizes)


def ceil_div(a: Size, b: Size) -> Size:
    """a / b rounded up.

    >>> ceil_div(7, 2)
    4
    """
    return (a + (b - 1)) // b if type(b) is int and b > 0 else -(-a // b)


def exact_div(a: Size, b: Size, message: str = "{} is not divisible by {}", **details: Any) -> Size:
    """a / b, which must be a whole number; raises ArgumentError otherwise.

    >>> exact_div(12, 4)
    3
    """
    if type(a) is not int or type(b) is not int or a % b:
        require(a % b == 0, message, a, b, **details)
    return a // b


def gcd(a: Size, b: Size) -> Size:
    """The greatest common divisor of two sizes of at least 1.

    >>> gcd(12, 18)
    6
    """
    if type(a) is int and type(b) is int:
        return math.gcd(a, b)
    import numpy

    return Column(numpy.gcd(plain(a), plain(b)), 1, min(bound(a, "high"), bound(b, "high")))


def minimum(a: Size, b: Size) -> Size:
    """The smaller of two sizes, for each variant."""
    if type(a) is not int or type(b) is not int:
        smaller = a <= b
        if type(smaller) is Mask:
            return where(smaller, a, b)
        return a if smaller else b
    return a if a <= b else b


def maximum(a: Size, b: Size) -> Size:
    """The larger of two sizes, for each variant."""
    if type(a) is not int or type(b) is not int:
        larger = a >= b
        if type(larger) is Mask:
            return where(larger, a, b)
        return a if larger else b
    return a if a >= b else b


def where(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds and b elsewhere, for each variant; both are numbers.

    >>> where(3 > 2, 5, 7)
    5
    """
    if type(condition) is not Mask:
        return a if condition else b
    import numpy

    chosen = numpy.where(condition.array, plain(a), plain(b))
    if not isinstance(a, (int, Column)) or not isinstance(b, (int, Column)):
        return chosen
    low, high = min(bound(a, "low"), bound(b, "low")), max(bound(a, "high"), bound(b, "high"))
    return Column(chosen, low, high)
