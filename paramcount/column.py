"""Numbers of a sweep: Column, an int64 array with exact bounds, and Mask, a condition of each variant."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from paramcount.errors import ArgumentError, ParamcountError, Undecided

LEAST, MOST = -(2**63), 2**63 - 1


class Column:
    """An int64 array, one entry for each variant of a sweep, with exact Python-int bounds.

    `+ - * // % **` and comparisons work with ints and Columns; the bounds are computed along with the array, so a
    result that could leave int64 is refused before it is computed (ArgumentError). `/` and operations with floats
    give a float64 array. A comparison that the bounds decide is a bool, any other a Mask.

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
        """An int64 array as it is; bounds that are not given are the array's own."""
        self.array = array
        self.low = int(array.min()) if low is None else low
        self.high = int(array.max()) if high is None else high

    @staticmethod
    def whole(name: str, array: Any) -> Column:
        """Numbers as a Column; raises ArgumentError, with a mask of the offenders, unless all are whole."""
        import numpy

        if isinstance(array, Column):
            return array
        values = numpy.asarray(array)
        if values.ndim != 1 or not len(values) or values.dtype.kind not in "iuf":
            raise ArgumentError(f"{name} must be a list of whole numbers", argument=name)
        if values.dtype.kind == "f":
            wrong = ~numpy.isfinite(values) | (numpy.floor(values) != values)
            problem, hint = "is not a whole number", "use `//`, `ceil(...)`, `floor(...)` or `round8(...)`"
            if wrong.any():
                refuse(name, values, wrong, f"{problem} ({wrong.sum()} of {len(values)} values are not whole)", hint)
        if values.dtype.kind != "i":
            wrong = (values >= 2.0**63) | (values < -(2.0**63))
            if wrong.any():
                refuse(name, values, wrong, "is too large for a sweep", "")
        return Column(values.astype(numpy.int64))

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: int) -> int:
        return int(self.array[index])

    def __repr__(self) -> str:
        if len(self) <= 6:
            return f"Column({self.array.tolist()})"
        return f"Column({len(self)} values from {self.low} to {self.high})"

    def span(self, other: Any) -> tuple[Any, int, int] | None:
        """An operand's values and bounds; None for what is neither an int nor a Column."""
        if type(other) is int:
            within(other, other)
            return other, other, other
        if type(other) is not Column:
            other = whole_operand(other)
            return None if other is None else self.span(other)
        if len(other.array) != len(self.array):
            raise ArgumentError(f"columns of {len(self)} and {len(other)} values do not go together")
        return other.array, other.low, other.high

    def __add__(self, other: Any) -> Any:
        span = self.span(other)
        if span is None:
            return real(operator.add, self, other)
        values, low, high = span
        low, high = within(self.low + low, self.high + high)
        return Column(self.array + values, low, high)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        span = self.span(other)
        if span is None:
            return real(operator.sub, self, other)
        values, low, high = span
        low, high = within(self.low - high, self.high - low)
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
        corners = self.low * low, self.low * high, self.high * low, self.high * high
        low, high = within(min(corners), max(corners))
        return Column(self.array * values, low, high)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        span = self.span(other)
        if span is None:
            return real(operator.floordiv, self, other)
        values, low, high = span
        nonzero(values, low, high)
        # The quotient is monotone in each operand on either side of zero, so its extremes lie at these divisors.
        divisors = [each for each in (low, high, -1, 1) if each and low <= each <= high]
        corners = [edge // each for edge in (self.low, self.high) for each in divisors]
        low, high = within(min(corners), max(corners))
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
            raise ArgumentError("the power of a column is a whole number, 0 or more")
        largest = max(abs(self.low), abs(self.high), 1) ** min(high, 64)  # 2**64 is already too much
        if self.low > 0:
            least = self.low ** min(low, 64)
        else:
            least = 0 if self.low == 0 or (low == high and high % 2 == 0) else -largest
        return Column(self.array**values, *within(least, largest))

    def __rpow__(self, other: Any) -> Any:
        return reverse(operator.pow, other, self)

    def __neg__(self) -> Column:
        low, high = within(-self.high, -self.low)
        return Column(-self.array, low, high)

    def __pos__(self) -> Column:
        return self

    def __abs__(self) -> Column:
        if self.low >= 0:
            return self
        low, high = within(max(-self.high, 0), max(-self.low, self.high))
        return Column(abs(self.array), low, high)

    def compare(self, operation: Callable, other: Any) -> Any:
        """An ordering, which is decided where it is the same at its least and at its most favourable corner."""
        if type(other) is Column:
            low, high = other.low, other.high
        elif isinstance(other, (int, float)) and type(other) is not bool:
            low = high = other
        else:
            return Mask(operation(self.array, other)) if hasattr(other, "dtype") else NotImplemented
        corner = bool(operation(self.low, high))
        if corner == operation(self.high, low):
            return corner
        return Mask(operation(self.array, plain(other)))

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
        return NotImplemented if below is NotImplemented else Mask(self.array == plain(other))

    def __ne__(self, other: Any) -> Any:
        equal = self.__eq__(other)
        if equal is NotImplemented:
            return equal
        return ~equal if type(equal) is Mask else not equal


class Mask:
    """One truth for each variant of a sweep. `bool(mask)` is theirs where all agree, otherwise raises Undecided."""

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
        first = bool(self.array[0])
        if (self.array != first).any():
            raise Undecided("a condition holds for some variants and not for others", mask=self.array)
        return first

    def __repr__(self) -> str:
        return f"Mask({self.array.sum()} of {len(self.array)})"


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
    first, failing = 0, None
    if type(condition) is Mask:
        failing = ~condition.array
        if not failing.any():
            return
        first = int(failing.argmax())
    elif condition:
        return
    shown = [value[first] if type(value) is Column or hasattr(value, "dtype") else value for value in values]
    raised = error(message.format(*shown), **details)
    raised.mask = failing
    raise raised


def plain(value: Any) -> Any:
    """A Column's or a Mask's array; anything else as it is."""
    return value.array if type(value) is Column or type(value) is Mask else value


def bound(value: Any, side: str) -> int:
    return getattr(value, side) if type(value) is Column else value


def within(low: int, high: int) -> tuple[int, int]:
    """The bounds, which must lie in int64."""
    if low < LEAST or high > MOST:
        raise ArgumentError(
            f"a number of up to {high if high > MOST else low:,} overflows the 64 bits of a sweep",
            hint="count this variant alone, where numbers have no limit",
        )
    return low, high


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
