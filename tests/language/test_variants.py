"""Expressions in a sweep: each variant has the value, its type, or the error that it has alone."""

import random

import numpy
import pytest

from paramcount.errors import ParamcountError, Position, Undecided
from paramcount.language.expression.parse import parse
from paramcount.numbers.column import Column, Mask

HERE = Position("net.yaml", 1, 1)
FAILED = "an error that other variants have too"

SWEPT = [
    "round8(x * 0.35)",
    "round8(x)",
    "divisible(x, 3)",
    "divisible(x * 0.7, 2)",
    "divisible(50, x)",
    "x // 3 + x % 5 - -x",
    "x / 2",
    "(x * 6) / 3",
    "100 / x",
    "x ** 2 + 2 ** (x % 7)",
    "2 ** -(x % 3)",
    "x ** 0.5",
    "ceil(x / 3) + floor(x / 3) + round(x / 2) + int(x * 1.1)",
    "abs(5 - x)",
    "sqrt(x) + log2(x)",
    "min(x, 9) + max(x, 4, 2.5)",
    "max(x * 0.5, x - 4.5)",
    "sum([x, 1, x])",
    "x if x > 5 else 2 * x",
    "x * 0.5 if x > 5 else x",
    "1 / (x - 5) if x != 5 else 0",
    "1 if x in [3, 5, 7] else 0",
    "1 if 3 < x <= 7 and not x == 5 else 0",
    "1 if x < 3 or x * 0.5 > 4 else 0",
    "[10, 20, 30][x % 3]",
    "min([x, 8])",
]


# Where NumPy has another last bit than Python, or rounds what Python computes exactly.
DELICATE = [
    "floor(x ** (1 / 3))",
    "floor(11 * 1.1 ** (x - 2))",
    "0.1 ** x * y ** x",
    "(x * 10 ** 15 + 1) / 3",
    "(x + 9007199254740992) / (x + 1) > 9007199254740992 / (x + 1)",
    "x + 9007199254740992 == y + 9007199254740992.0",
    "min(x + 9007199254740992, 9007199254740992.0 + y) // 1",
    "(x / 2) ** 37 % 10",
    "(x if x > 2 else 0.5) * 100000000000000001 % 7",
    "[1, 2.0, 'a'][x % 3]",
    "log2(x * 1.1) + log2(x + 7)",
    "sqrt(x * x * 1000000) // 1 + sqrt(2 * x)",
    "divisible(x * 10 ** 17, 7) + round8(y * 10 ** 15)",
    "y // 0.1 + y % 0.3 + (-y) % 0.7",
    "1 / (x - y)",
    "(2 - x) ** y",
    "10 ** (x * 5)",
    "x > y and 'a'",
    "abs(x > y)",
    "len(x)",
]
GIVEN = {
    "small": {"x": [1, 2, 3, 5, 8, 12, 27, 64, 125], "y": [0.5, 1.0, 2.5, 0.1, 3.0, 1.1, 9.9, 64.0, 0.3]},
    "one": {"x": [7], "y": [2.25]},
    "equal": {"x": [3, 3], "y": [0.5, 2.0]},
    "large": {"x": [2**53 + 1, 10**9 + 7, 3**37, 0], "y": [1e15 + 0.5, 2.0**53, 1e18, -0.7]},
}


def alone(expression, values):
    """The value for one variant, or its error as text in a tuple."""
    try:
        return expression.evaluate(values.__getitem__)
    except ParamcountError as error:
        return (str(error),)


def swept(expression, given):
    """The values of all variants, as a walk of a sweep finds them: those that disagree are split, those that fail left.

    Of several that fail together the first has its own error, and the others FAILED.
    """
    size = len(next(iter(given.values())))
    found, regions = [None] * size, [numpy.arange(size)]
    while regions:
        rows = regions.pop()
        operands = {name: operand(array[rows]) for name, array in given.items()}
        try:
            result = expression.evaluate(operands.__getitem__)
        except Undecided as undecided:
            key = undecided.mask if undecided.sizes is None else undecided.sizes
            regions += [rows[key == each] for each in numpy.unique(key)]
            assert len(regions[-1]) < len(rows)
            continue
        except ParamcountError as error:
            failing = numpy.broadcast_to(True if error.mask is None else error.mask, rows.shape)
            for row in rows[failing]:
                found[row] = (FAILED,)
            found[rows[failing][0]] = (str(error),)
            regions += [] if failing.all() else [rows[~failing]]
            continue
        entries = result.array if isinstance(result, Column | Mask) else result
        for row, entry in zip(
            rows, entries if isinstance(entries, numpy.ndarray) else [entries] * len(rows), strict=True
        ):
            found[row] = entry.item() if hasattr(entry, "item") else entry
    return found


def operand(array):
    """Numbers as a walk of a sweep binds them."""
    if (array == array[0]).all():
        return array[0].item()
    return Column(array) if array.dtype == numpy.int64 else array


def check(text, given):
    """Every variant's outcome in a sweep is that of the variant alone; returns the outcomes."""
    expression = parse(text, HERE)
    given = {name: numpy.asarray(values) for name, values in given.items()}
    outcomes = []
    for row, found in enumerate(swept(expression, given)):
        values = {name: array[row].item() for name, array in given.items()}
        outcomes.append(alone(expression, values))
        same = type(found) is type(outcomes[-1]) and found in (outcomes[-1], (FAILED,))
        assert same, (text, values, found, outcomes[-1])
    return outcomes


@pytest.mark.parametrize("text", SWEPT + DELICATE)
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_each_variant_is_what_it_is_alone(text, given):
    check(text, given)


def test_powers_to_the_last_bit():
    """By hand: 11 / 1.1 is 10, and the cube root of 27 is 3."""
    assert check("floor(11 * 1.1 ** w)", {"w": [-2, -1, 0, 1, 2]}) == [9, 10, 11, 12, 13]
    assert check("floor(n ** (1 / 3))", {"n": [8, 27, 64]}) == [2, 3, 3]  # 64 ** (1 / 3) is 3.9999999999999996


LITERALS = ("0", "1", "2", "3", "7", "1000", "1e15", "9007199254740993", "1e18", "0.5", "0.1", "1.1", "2.5", "3.0")
OPERATORS = ("+", "-", "*", "/", "//", "%", "**")
ORDERS = ("<", "<=", ">", ">=", "==", "!=")
ONE = ("floor", "ceil", "round", "int", "abs", "sqrt", "log2", "round8", "-", "len", "not ")
TWO = ("min", "max", "divisible")


def any_expression(draw, depth):
    """A random expression of x, y and z."""
    if depth == 0 or draw.random() < 0.15:
        return draw.choice(["x", "y", "z", "x", "y", "z", *LITERALS])
    a, b, c, d = (any_expression(draw, depth - 1) for _ in range(4))
    forms = [
        *[f"({a} {draw.choice(OPERATORS)} {b})"] * 4,
        *[f"({draw.choice(ONE)}({a}))"] * 2,
        f"{draw.choice(TWO)}({a}, {b})",
        f"({a} if {b} {draw.choice(ORDERS)} {c} else {d})",
        f"({a} < {b} {draw.choice(['and', 'or'])} {c} {draw.choice(ORDERS)} {d})",
        f"[{a}, {b}, {c}][{d}]",
        f"({a} in [{b}, {c}])",
    ]
    return draw.choice(forms)


def any_numbers(draw, size, whole):
    """Numbers of a random magnitude, whole or fractions, some of them at the edges of what a float holds."""
    edges = [0, 1, -1, 2**53, 2**53 + 1, 10**18, -(10**18), 3**37]
    most = 10 ** draw.randint(0, 18)
    if whole:
        kinds = [lambda: draw.choice(edges), lambda: draw.randint(-most, most), lambda: draw.randint(0, 12)]
    else:
        kinds = [
            lambda: float(draw.choice(edges)),
            lambda: draw.uniform(-most, most),
            lambda: draw.choice([0.5, -0.0, 1.0, 2.0, 0.25]),
        ]
    kind = draw.choice(kinds)
    return [kind() for _ in range(size)]


def test_random_expressions():
    draw = random.Random(5)
    failed = 0
    for _ in range(3000):
        size = draw.randint(2, 8)
        given = {"x": True, "y": False, "z": draw.random() < 0.5}
        text = any_expression(draw, draw.randint(1, 3))
        if len(text) <= 200:
            outcomes = check(text, {name: any_numbers(draw, size, whole) for name, whole in given.items()})
            failed += sum(isinstance(each, tuple) for each in outcomes)
    assert failed > 1000
