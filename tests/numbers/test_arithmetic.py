"""Columns against Python's own integers, element by element."""

import math
import operator

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramcount.errors import ArgumentError, ShapeError, Undecided
from paramcount.numbers.arithmetic import (
    Column,
    Mask,
    by_variant,
    ceil_div,
    decide,
    exact_div,
    gcd,
    maximum,
    minimum,
    product,
    require,
    settle,
    where,
)
from paramcount.numbers.column import LEAST, MOST, compared

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
numbers = st.integers(-50, 50) | st.sampled_from([LEAST, LEAST + 1, MOST, MOST - 1, 2**31, -(2**32)])
pairs = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6)


def column(values):
    return Column(numpy.array(values, numpy.int64))


def in_range(values):
    return all(LEAST <= each <= MOST for each in values)


def check(result, expected):
    """A Column has the expected entries, and its bounds hold them."""
    assert isinstance(result, Column)
    assert result.array.dtype == numpy.int64
    assert result.array.tolist() == expected
    assert result.low <= min(expected) and max(expected) <= result.high


@pytest.mark.parametrize("operation", ARITHMETIC)
@given(pairs=pairs)
def test_columns_equal_integers(operation, pairs):
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    divides = operation in (operator.floordiv, operator.mod)
    if divides and 0 in right:
        with pytest.raises(ArgumentError, match="division by zero"):
            operation(column(left), column(right))
        return
    expected = list(map(operation, left, right))
    if in_range(expected):
        check(operation(column(left), column(right)), expected)
    else:  # a result that does not fit int64 is refused, and the mask marks it
        with pytest.raises(ArgumentError, match="overflows") as caught:
            operation(column(left), column(right))
        assert caught.value.mask.tolist() == [not in_range([each]) for each in expected]


@pytest.mark.parametrize("operation", ARITHMETIC)
@given(values=st.lists(st.integers(-99, 99), min_size=1, max_size=5), other=st.integers(-99, 99))
def test_integers_on_either_side(operation, values, other):
    divides = operation in (operator.floordiv, operator.mod)
    if not (divides and other == 0):
        check(operation(column(values), other), [operation(each, other) for each in values])
    if not (divides and 0 in values):
        check(operation(other, column(values)), [operation(other, each) for each in values])


def test_huge_powers_are_refused_before_they_are_computed():
    with pytest.raises(ArgumentError, match="a power overflows the 64 bits") as refused:
        column([0, 1, -1, 3]) ** 10**18
    assert refused.value.mask.tolist() == [False, False, False, True]
    check(column([0, 1, -1]) ** 10**18, [0, 1, 1])
    check(column([0, 1, -1, 2]) ** column([10**18, 10**17, 10**17 + 1, 62]), [0, 1, -1, 2**62])


@given(values=st.lists(st.integers(-99, 99), min_size=1, max_size=5), power=st.integers(0, 12))
def test_powers(values, power):
    if max(abs(each) for each in values) ** power <= MOST:
        check(column(values) ** power, [each**power for each in values])
    else:
        with pytest.raises(ArgumentError, match="overflows"):
            column(values) ** power
    check(3 ** abs(column(values) % 30), [3 ** (each % 30) for each in values])
    check(-column(values), [-each for each in values])
    check(abs(column(values)), [abs(each) for each in values])


@pytest.mark.parametrize("operation", COMPARISONS)
@given(pairs=pairs, other=numbers)
def test_comparisons(operation, pairs, other):
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    for result, expected in [
        (operation(column(left), column(right)), list(map(operation, left, right))),
        (operation(column(left), other), [operation(each, other) for each in left]),
        (operation(other, column(left)), [operation(other, each) for each in left]),
    ]:
        if isinstance(result, Mask):
            assert result.array.tolist() == expected
        else:
            assert isinstance(result, bool) and set(expected) == {result}


def test_comparison_is_a_bool_where_bounds_decide():
    sizes = column([8, 16, 24])
    assert (sizes >= 8) is True
    assert (sizes > 24) is False
    assert (sizes == 7) is False
    assert (sizes != 2**80) is True
    assert (sizes < 10**30) is True
    assert isinstance(sizes == 12, Mask)  # 12 lies between the bounds
    assert (column([5, 5]) == 5) is True
    assert sizes != "same" and sizes is not None and sizes not in (None, "same")
    assert (column([5]) == float("nan")) is False


def test_the_smallest_number_cannot_be_negated():
    with pytest.raises(ArgumentError, match="9,223,372,036,854,775,808 overflows"):
        -column([LEAST])
    with pytest.raises(ArgumentError, match="overflows"):
        abs(column([LEAST, 3]))
    with pytest.raises(ArgumentError, match="overflows"):
        column([LEAST]) // -1


def test_floats_give_arrays():
    sizes = column([10, 20])
    for result, expected in [
        (sizes * 0.35, [3.5, 7.0]),
        (0.35 * sizes, [3.5, 7.0]),
        (sizes / 4, [2.5, 5.0]),
        (100 / sizes, [10.0, 5.0]),
        (2.5 - sizes, [-7.5, -17.5]),
        (numpy.array([0.5, 0.25]) * sizes, [5.0, 5.0]),
        (sizes // numpy.array([3.0, 3.0]), [3.0, 6.0]),
    ]:
        assert isinstance(result, numpy.ndarray)
        assert result.dtype == numpy.float64
        assert result.tolist() == expected
    with pytest.raises(ArgumentError, match="division by zero"):
        sizes / 0.0
    with pytest.raises(ArgumentError, match="division by zero") as caught:
        1 / column([1, 0])
    assert caught.value.mask.tolist() == [False, True]


def test_numpy_integers_stay_guarded():
    check(column([1, 2]) * numpy.int64(3), [3, 6])
    check(numpy.array([5, 6]) + column([1, 2]), [6, 8])


@pytest.mark.parametrize("other", [True, "8", None, [1, 2]])
def test_other_operands_are_refused(other):
    with pytest.raises(TypeError):
        column([1, 2]) + other


def test_columns_of_different_lengths():
    with pytest.raises(ArgumentError, match="2 and 3 values"):
        column([1, 2]) * column([1, 2, 3])


def test_whole():
    check(Column.whole("width", [16.0, 32.0]), [16, 32])
    check(Column.whole("width", numpy.array([1, 2], numpy.int32)), [1, 2])
    sizes = column([4])
    assert Column.whole("width", sizes) is sizes
    with pytest.raises(ArgumentError) as caught:
        Column.whole("width", [8.0, 11.2, numpy.inf])
    assert "width: 11.2 is not a whole number" in caught.value.message
    assert "2 of 3 values are not whole" in caught.value.message
    assert caught.value.mask.tolist() == [False, True, True]
    with pytest.raises(ArgumentError, match="too large") as caught:
        Column.whole("width", [1.0, 2.0**63])
    assert caught.value.mask.tolist() == [False, True]
    with pytest.raises(ArgumentError, match="too large"):
        Column.whole("width", numpy.array([2**63], numpy.uint64))
    for wrong in ([True, False], ["8"], [], [[1]], [2**70]):
        with pytest.raises(ArgumentError, match="must be a list of whole numbers"):
            Column.whole("width", wrong)


def test_container():
    sizes = column([3, 5])
    assert len(sizes) == 2
    assert type(sizes[1]) is int and sizes[1] == 5
    assert repr(sizes) == "Column([3, 5])"
    assert repr(column(range(9))) == "Column(9 values from 0 to 8)"
    assert len({sizes, column([3, 5])}) == 2


def test_mask():
    sizes = column([1, 2, 3])
    small, odd = sizes < 3, sizes % 2 == 1
    assert (small & odd).array.tolist() == [True, False, False]
    assert (small | odd).array.tolist() == [True, True, True]
    assert (~small).array.tolist() == [False, False, True]
    assert (True & small).array.tolist() == [True, True, False]
    assert decide(small | odd) is True
    assert decide(~(small | odd)) is False
    with pytest.raises(Undecided) as caught:
        decide(small)
    assert caught.value.mask.tolist() == [True, True, False]


def test_require():
    sizes = column([8, 9, 10, 11])
    require(column([2, 4]) % 2 == 0, "never")
    with pytest.raises(ShapeError, match="9 does not divide by 2 or 3") as caught:
        require(sizes % 2 == 0, "{} does not divide by {} or {}", sizes, 2, column([3] * 4), error=ShapeError, hint="x")
    assert caught.value.mask.tolist() == [False, True, False, True]
    assert caught.value.hint == "x"
    with pytest.raises(ArgumentError, match="8 is small") as caught:
        require(sizes > 20, "{} is small", sizes)
    assert caught.value.mask is None  # all of them
    with pytest.raises(ArgumentError, match="3 is odd"):
        require(False, "{} is odd", 3)


@pytest.mark.parametrize("other", [12, [6, 35, 64]])
def test_gcd(other):
    sizes, others = [4, 7, 48], other if isinstance(other, list) else [other] * 3
    expected = list(map(math.gcd, sizes, others))
    found = gcd(column(sizes), column(other) if isinstance(other, list) else other)
    check(found, expected)
    assert found.low <= min(expected) and max(expected) <= found.high
    assert gcd(10, 7) == 1


@given(pairs=pairs)
def test_minimum_maximum_where(pairs):
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    check(minimum(column(left), column(right)), list(map(min, left, right)))
    check(maximum(column(left), column(right)), list(map(max, left, right)))
    for other in (7, column([7] * len(left))):
        lower = minimum(other, column(left))
        assert (
            [lower] * len(left) == [7] * len(left)
            if lower is other
            else lower.array.tolist() == [min(7, each) for each in left]
        )
    condition = Mask(numpy.array([a < b for a, b in pairs]))
    check(where(condition, column(left), 3), [a if a < b else 3 for a, b in pairs])


def test_plain_integers():
    assert product([]) == 1
    assert product((2, 3, 4)) == 24
    check(product((2, column([3, 4]), 5)), [30, 40])
    assert (ceil_div(7, 2), ceil_div(8, 2), ceil_div(-7, 2)) == (4, 4, -3)
    check(ceil_div(column([7, 8]), 2), [4, 4])
    assert exact_div(12, 3) == 4
    check(exact_div(column([12, 15]), 3), [4, 5])
    with pytest.raises(ArgumentError, match="10 is not divisible by 4"):
        exact_div(10, 4)
    with pytest.raises(ArgumentError, match="10 input channels, 4 groups"):
        exact_div(column([8, 10]), 4, "{} input channels, {} groups", argument="groups")
    assert (minimum(3, 4), maximum(3, 4), minimum(2.5, 2), where(True, 1, 2), where(False, 1, 2)) == (3, 4, 2, 1, 2)
    assert where(column([1, 2]) > 1, 0.5, column([4, 4])).tolist() == [4.0, 0.5]


def test_settle():
    assert settle(3) == 3
    assert settle(Column(numpy.array([4, 4]), low=0, high=9)) == 4
    with pytest.raises(Undecided) as caught:
        settle(Column.whole("parts", [2, 3, 2]))
    assert caught.value.mask.tolist() == [True, False, True]


def test_comparisons_of_large_numbers_with_floats_are_exact():
    """A float64 has 2 ** 53 and 2 ** 53 + 2, and nothing between them."""
    large = column([2**53, 2**53 + 1, 2**53 + 2])
    for other in (2.0**53, numpy.array([2.0**53] * 3)):
        assert (large == other).array.tolist() == [True, False, False]
        assert (large != other).array.tolist() == [False, True, True]
        assert (large > other).array.tolist() == [False, True, True]
    assert compared(operator.le, numpy.array([2.0**53, 2.0**53 + 2]), 2**53 + 1).tolist() == [True, False]


def test_by_variant_is_python_for_each():
    assert by_variant(pow, numpy.array([1.1, 2.0]), -1).tolist() == [1.1**-1, 0.5]
    grid = by_variant(pow, Column(numpy.array([[2], [3]])), Column(numpy.array([[0, 1, 39]])))
    assert grid.array.tolist() == [[1, 2, 2**39], [1, 3, 3**39]]
    with pytest.raises(Undecided) as undecided:
        by_variant(lambda x: x // 2 if x % 2 == 0 else x / 2, column([1, 2, 4]))
    assert undecided.value.mask.tolist() == [False, True, True]
    with pytest.raises(ArgumentError, match="the number 12,157,665,459,056,928,801 overflows") as refused:
        by_variant(pow, column([2, 3]), 40)
    assert refused.value.mask.tolist() == [False, True]
    with pytest.raises(ArgumentError, match="the number of more than 100 digits overflows") as refused:
        by_variant(pow, column([10, 0]), 5000)
    assert refused.value.mask.tolist() == [True, False]
