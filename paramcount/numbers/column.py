"""Numbers of a sweep: Column, an int64 array with exact bounds, and Mask, a condition of each variant.

Arrays have one axis, or one for each variable of a grid, of length 1 where a number does not depend on that variable;
operations broadcast, so that only what depends on all variables is as large as the grid.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from paramcount.errors import ArgumentError, ParamcountError, Undecided

LEAST, MOST = -(2**63), 2**63 - 1
IN_FLOATS = 2**53  # a float64 holds every whole number up to this one


class Column:
    """An int64 array, one entry for each variant of a sweep, with exact Python-int bounds.

    `+ - * // % **` and comparisons work with ints and Columns; the bounds are computed along with the array, so a
    result that does not fit int64 is refused (ArgumentError, whose mask marks the variants). `/` and operations with
    floats give a float64 array. A comparison that the bounds decide is a bool, any other a Mask.

    >>> width = Column.whole("width", [16, 32, 64])
    >>> 9 * width + 1
    Column([145, 289, 577])
    >>> width > 8
    True
    """

    __slots__ = ("array", "high", "low")
    __array_ufunc__ = None  # `array * column` is left to Column.__rmul__
    __hash__ = object.__hash__

    def __init__(self, array: Any, low: int | None = None, high: int | None = None) -> None:
        """Wrap an int64 array without a copy; bounds that are not given are the array's minimum and maximum."""
        self.array = array
        self.low = int(array.min()) if low is None else low
        self.high = int(array.max()) if high is None else high

    @staticmethod
    def whole(name: str, array: Any) -> Column:
        """Numbers as a Column; raises ArgumentError, with a mask of the wrong values, unless all are whole."""
        import numpy

        if isinstance(array, Column):
            return array
        try:
            values = numpy.asarray(array)
        except ValueError:  # lists of different lengths
            raise ArgumentError(f"{name} must be a list of whole numbers", argument=name) from None
        grid = values.ndim > 1 and values is array
        if (values.ndim != 1 and not grid) or not values.size or values.dtype.kind not in "iuf":
            raise ArgumentError(f"{name} must be a list of whole numbers", argument=name)
        if values.dtype.kind == "f":
            wrong = ~numpy.isfinite(values) | (numpy.floor(values) != values)
            problem, hint = "is not a whole number", "use `//`, `ceil(...)`, `floor(...)` or `round8(...)`"
            if wrong.any():
                refuse(name, values, wrong, f"{problem} ({wrong.sum()} of {values.size} values are not whole)", hint)
        if values.dtype.kind != "i":
            wrong = (values >= 2.0**63) | (values < -(2.0**63))
            if wrong.any():
                refuse(name, values, wrong, "is too large for a sweep", "")
        return Column(values.astype(numpy.int64))

    def __len__(self) -> int:
        return self.array.size

    def __getitem__(self, index: int) -> int:
        return int(self.array.flat[index])

    def __repr__(self) -> str:
        if len(self) <= 6:
            return f"Column({self.array.tolist()})"
        return f"Column({len(self)} values from {self.low} to {self.high})"

    def span(self, other: Any) -> tuple[Any, int, int] | None:
        """An operand's values and bounds; None if it is neither an int nor a Column."""
        if type(other) is int:
            if not LEAST <= other <= MOST:
                raise overflow(other)
            return other, other, other
        if type(other) is not Column:
            other = whole_operand(other)
            return None if other is None else self.span(other)
        one, two = self.array.shape, other.array.shape
        if one != two and (len(one) != len(two) or any(a != b and 1 not in (a, b) for a, b in grid_axes(one, two))):
            raise ArgumentError(f"columns of {len(self)} and {len(other)} values cannot be combined")
        return other.array, other.low, other.high

    def tighten(self) -> tuple[int, int]:
        """Set the bounds to the array's minimum and maximum, since computed ones may be wider, and return them."""
        self.low, self.high = int(self.array.min()), int(self.array.max())
        return self.low, self.high

    def __add__(self, other: Any) -> Any:
        span = self.span(other)
        if span is None:
            return real(operator.add, self, other)
        values, low, high = span
        if low == high == 0:
            return self
        low, high = self.low + low, self.high + high
        if low < LEAST or high > MOST:
            return careful(operator.add, self, other)
        return Column(self.array + values, low, high)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        span = self.span(other)
        if span is None:
            return real(operator.sub, self, other)
        values, low, high = span
        low, high = self.low - high, self.high - low
        if low < LEAST or high > MOST:
            return careful(operator.sub, self, other)
        return Column(self.array - values, low, high)

    def __rsub__(self, other: Any) -> Any:
        return reverse(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        span = self.span(other)
        if span is None:
            return real(operator.mul, self, other)
        values, low, high = span
        if low == high == 1:
            return self
        if low >= 0 and self.low >= 0:
            low, high = self.low * low, self.high * high
        else:
            corners = self.low * low, self.low * high, self.high * low, self.high * high
            low, high = min(corners), max(corners)
        if low < LEAST or high > MOST:
            return careful(operator.mul, self, other)
        return Column(self.array * values, low, high)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        span = self.span(other)
        if span is None:
            return real(operator.floordiv, self, other)
        values, low, high = span
        nonzero(values, low, high)
        if type(values) is int and values > 0:
            if values & (values - 1):
                return Column(self.array // values, self.low // values, self.high // values)
            shift = values.bit_length() - 1  # the same, and faster
            return Column(self.array >> shift, self.low >> shift, self.high >> shift) if shift else self
        # The quotient is monotone in each operand on either side of zero, so its extremes lie at these divisors.
        divisors = [each for each in (low, high, -1, 1) if each and low <= each <= high]
        corners = [edge // each for edge in (self.low, self.high) for each in divisors]
        low, high = min(corners), max(corners)
        if low < LEAST or high > MOST:
            return careful(operator.floordiv, self, other)
        return Column(self.array // values, low, high)

    def __rfloordiv__(self, other: Any) -> Any:
        return reverse(operator.floordiv, other, self)

    def __mod__(self, other: Any) -> Any:
        span = self.span(other)
        if span is None:
            return real(operator.mod, self, other)
        values, low, high = span
        nonzero(values, low, high)
        if low == high and self.low // low == self.high // low:  # all in one period: the bounds wrap alike
            return Column(self.array % values, self.low % low, self.high % low)
        return Column(self.array % values, min(low + 1, 0), max(high - 1, 0))

    def __rmod__(self, other: Any) -> Any:
        return reverse(operator.mod, other, self)

    def __truediv__(self, other: Any) -> Any:
        return real(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return real(operator.truediv, other, self)

    def __pow__(self, other: Any) -> Any:
        span = self.span(other)
        if span is None:
            return real(operator.pow, self, other)
        values, low, high = span
        if low < 0:
            raise ArgumentError("the exponent of a column must be a whole number of at least 0")
        largest = max(abs(self.low), abs(self.high), 1) ** min(high, 64)  # 2**64 is already too much
        if self.low > 0:
            least = self.low ** min(low, 64)
        else:
            least = 0 if self.low == 0 or (low == high and high % 2 == 0) else -largest
        if largest > MOST:
            huge = (values > 64) & ((self.array > 1) | (self.array < -1))  # too large to be computed at all
            require(Mask(~huge), "a power overflows the 64 bits of a sweep", hint=ALONE)
            return careful(operator.pow, self, other)
        return Column(self.array**values, least, largest)

    def __rpow__(self, other: Any) -> Any:
        return reverse(operator.pow, other, self)

    def __neg__(self) -> Column:
        if self.low == LEAST:
            return 0 - self
        return Column(-self.array, -self.high, -self.low)

    def __pos__(self) -> Column:
        return self

    def __abs__(self) -> Column:
        if self.low >= 0:
            return self
        if self.low == LEAST and self.tighten()[0] == LEAST:
            require(Mask(self.array != LEAST), "a number overflows the 64 bits of a sweep", hint=ALONE)
        return Column(abs(self.array), max(-self.high, 0), max(-self.low, self.high))

    def compare(self, operation: Callable, other: Any) -> Any:
        """An ordering: a bool where the bounds decide it for every variant, otherwise a Mask."""
        if type(other) is Column:
            low, high = other.low, other.high
        elif isinstance(other, (int, float)) and type(other) is not bool:
            low = high = other
        else:
            return Mask(compared(operation, self, other)) if hasattr(other, "dtype") else NotImplemented
        every = bool(operation(self.low, high))
        if every == operation(self.high, low):
            return every
        return Mask(compared(operation, self, other))

    def __lt__(self, other: Any) -> Any:
        return self.compare(operator.lt, other)

    def __le__(self, other: Any) -> Any:
        return self.compare(operator.le, other)

    def __gt__(self, other: Any) -> Any:
        return self.compare(operator.gt, other)

    def __ge__(self, other: Any) -> Any:
        return self.compare(operator.ge, other)

    def __eq__(self, other: Any) -> Any:
        if other is self:
            return True
        below, above = self.compare(operator.lt, other), self.compare(operator.gt, other)
        if below is True or above is True:
            return False
        if below is False and above is False:
            return bool(self.low == bound(other, "low"))
        return NotImplemented if below is NotImplemented else Mask(compared(operator.eq, self, other))

    def __ne__(self, other: Any) -> Any:
        equal = self.__eq__(other)
        if equal is NotImplemented:
            return equal
        return ~equal if type(equal) is Mask else not equal


class Mask:
    """A truth value for each variant of a sweep. `bool(mask)` is their common value, or raises Undecided."""

    __slots__ = ("array",)
    __array_ufunc__ = None

    def __init__(self, array: Any) -> None:
        self.array = array

    def __and__(self, other: Any) -> Any:
        return Mask(self.array & plain(other))

    def __or__(self, other: Any) -> Any:
        return Mask(self.array | plain(other))

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Mask:
        return Mask(~self.array)

    def __bool__(self) -> bool:
        every = bool(self.array.all())
        if not every and self.array.any():
            raise Undecided("a condition holds for some variants and not for others", mask=self.array)
        return every

    def __repr__(self) -> str:
        return f"Mask({self.array.sum()} of {self.array.size})"


def require(
    condition: Any, message: str, *values: Any, error: type[ParamcountError] = ArgumentError, **details: Any
) -> None:
    """Raise `error` unless the condition holds for all variants.

    The message is formatted with the values, those of the first failing variant; the error's mask marks all that fail.

    >>> require(7 % 2 == 0, "{} is odd", 7)
    Traceback (most recent call last):
    paramcount.errors.ArgumentError: 7 is odd
    """
    if condition is True:
        return
    failing = None
    if hasattr(condition, "dtype"):  # of two arrays of floats
        condition = Mask(condition)
    if type(condition) is Mask:
        failing = ~condition.array
        if not failing.any():
            return
    elif condition:
        return
    shown = at_first(True if failing is None else failing, values)
    raised = error(message.format(*shown), **details)
    raised.mask = failing
    raise raised


def plain(value: Any) -> Any:
    """A Column's or a Mask's array; anything else unchanged."""
    return value.array if type(value) is Column or type(value) is Mask else value


def bound(value: Any, side: str) -> int:
    return getattr(value, side) if type(value) is Column else value


def beyond(value: Any, limit: int) -> bool:
    """Whether an int or a Column may be above the limit or below its negative; floats never are."""
    return isinstance(value, (int, Column)) and not -limit <= bound(value, "low") <= bound(value, "high") <= limit


def compared(operation: Callable, left: Any, right: Any) -> Any:
    """A comparison of two numbers for each variant, as exact as Python's: NumPy rounds a large int beside a float."""
    if beyond(left, IN_FLOATS) or beyond(right, IN_FLOATS):
        import numpy

        left, right = (numpy.asarray(plain(each), dtype=object) for each in (left, right))
        return numpy.asarray(operation(left, right), dtype=bool)
    return operation(plain(left), plain(right))


def grid_axes(one: tuple[int, ...], two: tuple[int, ...]) -> Any:
    """The lengths of two arrays along each axis; a pair that never matches if they have one axis of all variants."""
    return zip(one, two, strict=True) if len(one) > 1 else [(0, -1)]


def at_first(failing: Any, values: tuple) -> list:
    """The values of the first failing variant."""
    import numpy

    arrays = numpy.broadcast_arrays(failing, *map(plain, values))
    first = int(arrays[0].argmax())
    kept = [type(value) is Column or hasattr(value, "dtype") for value in values]
    return [
        array.flat[first].item() if column else value
        for value, array, column in zip(values, arrays[1:], kept, strict=True)
    ]


def careful(operation: Callable, left: Any, right: Any) -> Column:
    """An operation whose bounds exceed int64; raises ArgumentError, with a mask, if a result does too."""
    import numpy

    for each in (left, right):
        if type(each) is Column:
            each.tighten()
    left, right = (numpy.asarray(plain(each), dtype=object) for each in (left, right))
    result = numpy.asarray(operation(left, right), dtype=object)
    fits = ((result >= LEAST) & (result <= MOST)).astype(bool)
    if not fits.all():
        error = overflow(result[~fits].flat[0])
        error.mask = ~fits
        raise error
    return Column(result.astype(numpy.int64))


SHOWN = 10**100
ALONE = "count this variant on its own: outside a sweep, numbers have no limit"


def overflow(number: int) -> ArgumentError:
    shown = f"{number:,}" if abs(number) < SHOWN else "of more than 100 digits"
    return ArgumentError(f"the number {shown} overflows the 64 bits of a sweep", hint=ALONE)


def nonzero(values: Any, low: int, high: int) -> None:
    if low <= 0 <= high:
        require(Mask(values != 0) if low < high else False, "division by zero")


def whole_operand(value: Any) -> Any:
    """NumPy integers as an int or a Column; None for anything else."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind not in ("i", "u"):
        return None
    return Column.whole("operand", value) if value.ndim else int(value)


def real(operation: Callable, left: Any, right: Any) -> Any:
    """An operation in float64; NotImplemented where an operand is not a number."""
    import numpy

    for each in (left, right):
        if type(each) is bool or not (isinstance(each, (int, float, Column)) or hasattr(each, "dtype")):
            return NotImplemented
    left, right = (numpy.asarray(plain(each), numpy.float64) for each in (left, right))
    if operation in (operator.truediv, operator.floordiv, operator.mod) and not right.all():
        require(Mask(right != 0) if right.ndim else False, "division by zero")
    with numpy.errstate(all="ignore"):
        return operation(left, right)


def reverse(operation: Callable, left: Any, column: Column) -> Any:
    """An operation whose left operand is not a Column."""
    import numpy

    span = column.span(left)
    if span is None:
        return real(operation, left, column)
    values, low, high = span
    return operation(Column(numpy.full_like(column.array, values), low, high), column)


def refuse(name: str, values: Any, wrong: Any, problem: str, hint: str) -> None:
    """Raise ArgumentError about the first of the wrong values."""
    require(Mask(~wrong), f"{name}: {{:.10g}} {problem}", values, hint=hint, argument=name)
