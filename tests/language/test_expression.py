"""Expressions: values against Python's own arithmetic, and each message at its exact column."""

import math

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramcount.errors import ParamcountError, Position, SpecError, Undecided
from paramcount.language.expression.functions import FUNCTIONS
from paramcount.language.expression.parse import Expression, parse
from paramcount.language.expression.tokens import spelling_hint
from paramcount.numbers.arithmetic import Column, Mask

HERE = Position("net.yaml", 3, 12)
VARS = {"d": 64, "w": 0.5, "n": [1, 2, 3], "kind": "relu", "yes_": True, "nothing": None, "i": 0, "s": 2}


def lookup(name):
    if name in VARS:
        return VARS[name]
    raise SpecError(f"unknown variable {name}")


def value(text, **variables):
    return parse(text, HERE).evaluate(lambda name: variables[name] if name in variables else lookup(name))


def error(text, **variables):
    with pytest.raises(SpecError) as caught:
        value(text, **variables)
    return caught.value


def column(*values):
    return Column(numpy.array(values, numpy.int64))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8", 8),
        ("1e3", 1000),
        ("32.0", 32.0),
        ("1e-3", 0.001),
        (".5", 0.5),
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 3 - 2", 5),
        ("2 ** 3 ** 2", 512),
        ("-2 ** 2", -4),
        ("2 ** -1", 0.5),
        ("+d", 64),
        ("- -3", 3),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("7 / 2", 3.5),
        ("s if i == 0 else 1", 2),
        ("1 if i > 0 else 2 if i < 0 else 3", 3),
        ("true", True),
        ("none", None),
        ("not yes_ or yes_", True),
        ("not 1 == 2", True),
        ("not not yes_", True),
        ("1 < s < 3", True),
        ("1 < s < 2", False),
        ("3 > s >= 2 != 1", True),
        ("s in [1, 2]", True),
        ("s not in n", False),
        ("kind == 'relu'", True),
        ('kind in ["gelu", "silu"]', False),
        ("nothing == none", True),
        ("kind != none", True),
        ("true == 1", False),
        ("[1, [2]] == [1, [2.0]]", True),
        ("[1, 2] == [1]", False),
        ("n[0] + n[-1]", 4),
        ("[n, [5]][1][0]", 5),
        ("n[1.0]", 2),
        ("[d, d // 2]", [64, 32]),
        ("[]", []),
        ("len(n) - 1", 2),
        ("sum(n)", 6),
        ("sum([])", 0),
        ("min(n)", 1),
        ("max(1, 2.5, 2)", 2.5),
        ("abs(-3)", 3),
        ("ceil(2.1)", 3),
        ("floor(-2.1)", -3),
        ("int(-2.9)", -2),
        ("round(2.5)", 2),
        ("round(3.5)", 4),
        ("round(-0.5)", 0),
        ("sqrt(16)", 4),
        ("sqrt(2)", math.sqrt(2)),
        ("log2(1024)", 10),
        ("log2(6)", math.log2(6)),
        # MobileNet-v2's widths, as published: 32 × 0.35 = 11.2 -> 8 is below 0.9 · 11.2 = 10.08 -> 16
        ("round8(32 * 0.35)", 16),
        ("round8(24 * 1.4)", 32),
        ("round8(1)", 8),
        ("round8(12)", 16),
        ("round8(11)", 16),
        ("divisible(10, 3)", 9),
        ("divisible(100, 64)", 128),
    ],
)
def test_values(text, expected):
    result = value(text)
    assert result == expected
    assert type(result) is type(expected)


def test_whole_quotients_stay_exact():
    large = 3 * (10**17 + 1)
    assert value("x / 3", x=large) == 10**17 + 1
    assert type(value("d / 2")) is int
    assert value("sqrt(x)", x=(10**8 + 7) ** 2) == 10**8 + 7


@given(st.integers(-(10**4), 10**4) | st.floats(0.01, 5000), st.integers(1, 64))
def test_divisible(number, divisor):
    """Against the rule of MobileNet's reference code, in floats as it stands there."""
    expected = max(divisor, int(number + divisor / 2) // divisor * divisor)
    if expected < 0.9 * number:
        expected += divisor
    assert value("divisible(v, n)", v=number, n=divisor) == expected


def test_short_circuit():
    assert value("i > 0 and 1 / i > 0") is False
    assert value("i == 0 or 1 / i > 0") is True
    assert value("n[9] if i else 4", i=False) == 4
    assert value("1 / 0 if false else 4") == 4
    assert value("3 < 2 < 1 / 0") is False


def test_expression():
    expression = parse("max(d, s) + d", HERE)
    assert isinstance(expression, Expression)
    assert expression.text == "max(d, s) + d"
    assert expression.names == {"d", "s"}
    assert expression.constant is False
    assert expression.references == (
        ("d", Position("net.yaml", 3, 16)),
        ("s", Position("net.yaml", 3, 19)),
        ("d", Position("net.yaml", 3, 24)),
    )
    assert parse("max(2, 3)", HERE).constant is True
    assert parse("max", HERE).names == {"max"}  # not called, so a variable like any other


# Random arithmetic: the text is spelled for both, and Python's eval is the judge.
leaves = st.integers(0, 99).map(str) | st.floats(0.1, 9).map(lambda each: f"{each:.2f}") | st.sampled_from("abc")
arithmetic = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner).map(" ".join),
        inner.map("-{}".format),
        inner.map("({})".format),
        st.tuples(inner, inner).map("max({0[0]}, {0[1]})".format),
        st.tuples(inner, st.sampled_from(["<", "<=", "==", "!=", ">"]), inner, inner, inner).map(
            "({0[3]} if {0[0]} {0[1]} {0[2]} else {0[4]})".format
        ),
        st.tuples(inner, st.integers(0, 3)).map("({0[0]}) ** {0[1]}".format),
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(text=arithmetic, a=st.integers(-9, 9), b=st.integers(1, 99), c=st.floats(-9, 9))
def test_arithmetic_equals_pythons(text, a, b, c):
    names = {"a": a, "b": b, "c": c}
    try:
        expected = eval(text, {"max": max}, names)
    except (ZeroDivisionError, OverflowError):
        expected = None
    try:
        result = parse(text, HERE).evaluate(names.__getitem__)
    except SpecError as refused:
        large = expected is None or abs(expected) > 1e17 or "too large" in refused.message
        assert large or "200 characters" in refused.message or "division by zero" in refused.message
        return
    if expected is None:  # a whole quotient is an int here, and -0.0 a zero there
        return
    assert result == expected or math.isclose(result, expected, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize(
    ("text", "column", "message", "hint"),
    [
        ("4d", 0, "`4d` is not a number", "did you mean `4 * d`?"),
        ("2 * 4d", 4, "`4d`", "did you mean `4 * d`?"),
        ("4 d", 2, "an operator is missing before `d`", "did you mean `4 * d`?"),
        ("4 (d)", 2, "an operator is missing before `(`", "write `*`"),
        ("2 ^ 3", 2, "`^`", "write `**`"),
        ("2 *** 3", 2, "`***`", "write `**`"),
        ("x²", 1, "`²`", "write `** 2`"),
        ("2 × 3", 2, "`×`", "write `*`"),
        ("${w}", 0, "`${w}`", "write the bare name `w`"),
        ("2 * $w", 4, "`$w`", "write the bare name `w`"),
        ("{{ w }}", 0, "`{{ w }}`", "to use a variable just write its name: `w`"),
        ("1,024", 0, "`1,024`", "write 1024"),
        ("1,200,000", 0, "`1,200,000`", "write 1200000"),
        ("max(8, 1,024)", 7, "`1,024`", "write 1024"),
        ("4, 5", 1, "`,` does not belong here", "a list is written `[a, b]`"),
        ("4k", 0, "`4k` is not a number", "suffixes are not supported; write it out, e.g. 4 * 1024"),
        ("7B", 0, "`7B` is not a number", "7 * 10 ** 9"),
        ("010", 0, "`010`", "write 10"),
        ("8 * 007", 4, "`007`", "write 7"),
        ("0x1F", 0, "`0x1F` is not decimal", "write 31"),
        ("1_000", 0, "`1_000`", "write 1000"),
        ("1:30", 0, "`1:30` is not a number", ""),
        (".inf", 0, "`.inf` is not a usable number", ""),
        ("-.INF", 1, "`.INF` is not a usable number", ""),
        (".nan", 0, "`.nan` is not a usable number", ""),
        ("1e400", 0, "`1e400` is too large", "1e18"),
        ("9**9**9", 1, "too large", "1e18"),
        ("10 ** 19", 3, "too large", "1e18"),
        ("1e18 + 1", 5, "too large", "1e18"),
        ("2.0 ** 4000", 4, "too large", "1e18"),
        ("8 / (4 - 4)", 2, "division by zero in `8 / (4 - 4)`", ""),
        ("8 % (d - 64)", 2, "division by zero", ""),
        ("0 ** -1", 2, "division by zero", ""),
        ("(-8) ** 0.5", 5, "not real", ""),
        ("__import__('os').system('id')", 0, "`__import__` is not allowed in expressions", "an expression has numbers"),
        ("(1).__class__", 3, "`.` is not allowed in expressions", "an expression has numbers"),
        ("n.append", 1, "`.` is not allowed in expressions", "an expression has numbers"),
        ("lambda: 1", 0, "`lambda` is not allowed in expressions", "an expression has numbers"),
        ("[x for x in n]", 3, "`for` is not allowed in expressions", "an expression has numbers"),
        ("d; s", 1, "`;` is not allowed in expressions", "an expression has numbers"),
        ("n[0:2]", 3, "`:` is not allowed in expressions", "an expression has numbers"),
        ("d is s", 2, "`is` is not allowed in expressions", "write `==`"),
        ("d = 3", 2, "`=`", "write `==`"),
        ("d === 3", 2, "`===`", "write `==`"),
        ("yes_ && yes_", 5, "`&&`", "write `and`"),
        ("yes_ || yes_", 5, "`||`", "write `or`"),
        ("!yes_", 0, "`!`", "write `not`"),
        ("d <> 3", 2, "`<>`", "write `!=`"),
        ("1 << 3", 2, "`<<`", "multiply"),
        ("d ? 1 : 2", 2, "`?`", "write `a if condition else b`"),
        ("'abc", 0, "the quote ' is never closed", ""),
        ("max(8", 3, "`(` is never closed", "inside { }"),
        ("2 * n[2", 5, "`[` is never closed", "inside { }"),
        ("d)", 1, "`)` does not belong here", ""),
        ("8 +", 2, "a value is missing after `+`", ""),
        ("max(", 3, "a value is missing after `(`", ""),
        ("* d", 0, "a value is missing before `*`", ""),
        ("1 == not yes_", 5, "a value is missing before `not`", "brackets"),
        ("1 if yes_", 2, "`if` without `else`", "write `a if condition else b`"),
        ("", 0, "the expression is empty", "an expression has numbers"),
        ("mix(1, 2)", 0, "unknown function `mix`", "did you mean `min`?"),
        ("frobnicate(1)", 0, "unknown function `frobnicate`", "round8"),
        ("2 + round8(1, 2)", 4, "`round8` takes one value, not 2", ""),
        ("divisible(1)", 0, "`divisible` takes two values, not 1", ""),
        ("min()", 0, "`min` takes one value or more, not 0", ""),
        ("max([])", 0, "the list is empty", ""),
        ("yes_ + 1", 5, "`true` is not a number", "write `1 if condition else 0`"),
        ("n * 2", 2, "a list is not a number", ""),
        ("n < 3", 2, "a list is not a number", ""),
        ("-kind", 0, "the word `relu` is not a number", ""),
        ("nothing * 2", 8, "`none` is not a number", ""),
        ("not d", 0, "`64` is neither true nor false", "write a comparison"),
        ("d and yes_", 2, "`64` is neither true nor false", "write a comparison"),
        ("1 if d else 2", 2, "`64` is neither true nor false", "write a comparison"),
        ("n[3]", 1, "the list has 3 items, and none at 3", "the first is at 0"),
        ("n[-4]", 1, "none at -4", ""),
        ("n[0.5]", 1, "0.5", ""),
        ("d[0]", 1, "only a list has items", ""),
        ("len(d)", 0, "`len` counts the items of a list, not of `64`", ""),
        ("sum(kind)", 0, "the word `relu`", ""),
        ("d in kind", 2, "`in` looks into a list", ""),
        ("sqrt(-1)", 0, "-1, a negative number", ""),
        ("log2(0)", 0, "0, which is not above 0", ""),
        ("divisible(8, 0)", 0, "the divisor must be at least 1, not 0", ""),
        ("(" * 41 + "1" + ")" * 41, 40, "more than 40 expressions", "`vars:`"),
        ("-" * 41 + "1", 40, "more than 40 expressions", "`vars:`"),
        ("1" + "+1" * 100, 0, "at most 200 characters, and this one 201", "`vars:`"),
    ],
)
def test_errors(text, column, message, hint):
    found = error(text)
    assert found.position == Position("net.yaml", 3, 12 + column)
    assert message in found.message
    assert hint in found.hint


def test_limits_are_reached():
    assert value("(" * 40 + "1" + ")" * 40) == 1
    assert value("1" + "+1" * 99) == 100
    assert value("1e18") == 10**18
    assert value("2 ** 59") == 2**59


def test_errors_are_printable():
    assert "\x1b" not in str(error("1 + \x1b[31m"))
    assert "\x1b" not in str(error("'\x1b' + 1"))


def test_spellings():
    for name in ("yes", "no", "On", "off"):
        assert spelling_hint(name) == "write `true` or `false`"
    assert spelling_hint("True") == "write `true`"
    assert spelling_hint("None") == spelling_hint("null") == "write `none`"
    assert "not a usable number" in spelling_hint("inf")
    assert spelling_hint("width") == ""


def test_counts_of_columns_stay_columns():
    for text in ("round8(x * 0.35)", "ceil(x / 3)", "x / 2", "x if x > 5 else 2", "min(x, 9)", "[1, 2, 3][x % 3]"):
        assert isinstance(value(text, x=column(2, 8)), Column), text
    assert value("x > 100", x=column(2, 8)) is False  # the bounds decide
    assert isinstance(value("x > 5", x=column(2, 8)), Mask)


def test_words_cannot_differ_between_variants():
    with pytest.raises(Undecided) as caught:
        value("'relu' if x > 5 else 'gelu'", x=column(2, 8))
    assert caught.value.mask.tolist() == [False, True]


def test_errors_of_columns_say_which():
    found = error("12 // (x - 5)", x=column(4, 5, 6))
    assert "division by zero in `12 // (x - 5)`" in found.message
    assert found.mask.tolist() == [False, True, False]
    assert error("x * 0.5 ** 0.5 / (y - 0.5)", x=column(1, 2), y=numpy.array([1.5, 0.5])).mask.tolist() == [False, True]
    assert error("[1, 2][x]", x=column(0, 2)).mask.tolist() == [False, True]
    assert "too large" in error("x * x", x=column(2, 2**62)).message
    assert error("sqrt(x)", x=column(4, -4)).mask.tolist() == [False, True]


SOUP = [
    *(
        "d",
        "w",
        "n",
        "kind",
        "yes_",
        "nothing",
        "x",
        "f",
        "col",
        "arr",
        "0",
        "1",
        "2",
        "8",
        "0.5",
        "1e18",
        "007",
        "1,024",
    ),
    *("+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", "in", "not", "and", "or", "if", "else", "(", ")"),
    *("[", "]", ",", "true", "none", "'relu'", ".", ":", "$", "{", "}", "'", "\\", "é", "∞", "\n", "__", "lambda"),
    *(f"{name}(" for name in FUNCTIONS),
]
SWEEP = {"col": column(1, 2, 3), "arr": numpy.array([0.5, -1.0, 4.0])}


def only_our_errors(text):
    try:
        parse(text, HERE).evaluate(lambda name: SWEEP[name] if name in SWEEP else lookup(name))
    except ParamcountError as refused:
        str(refused)


@settings(max_examples=500)
@given(st.lists(st.sampled_from(SOUP), max_size=14))
def test_token_soup(tokens):
    only_our_errors(" ".join(tokens))


@settings(max_examples=300)
@given(st.text(max_size=40))
def test_any_text(text):
    only_our_errors(text)


# Well-formed texts of any values: what types do to each other.
anything = st.recursive(
    st.sampled_from(["d", "w", "n", "kind", "yes_", "nothing", "col", "arr", "0", "3", "0.5", "1e18", "[]", "'a'"]),
    lambda inner: st.one_of(
        st.tuples(
            inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "<", "==", "in", "and", "or"]), inner
        ).map("({0[0]} {0[1]} {0[2]})".format),
        st.tuples(inner, inner).map("{0[0]}[{0[1]}]".format),
        st.tuples(inner, inner, inner).map("({0[0]} if {0[1]} else {0[2]})".format),
        st.tuples(st.sampled_from([*FUNCTIONS, "not ", "-"]), inner).map("{0[0]}({0[1]})".format),
        st.tuples(st.sampled_from(["min", "max", "divisible"]), inner, inner).map("{0[0]}({0[1]}, {0[2]})".format),
        st.tuples(inner, inner).map("[{0[0]}, {0[1]}]".format),
    ),
    max_leaves=8,
)


@settings(max_examples=500)
@given(anything)
def test_any_values(text):
    only_our_errors(text)


def test_a_column_picks_from_a_list_that_holds_columns():
    values = {"d": 3, "c": Column(numpy.array([10, 20, 30])), "i": Column(numpy.array([0, 1, -1]))}
    found = parse("[d, 7, c][i]", Position("x", 1, 1)).evaluate(values.__getitem__)
    assert [found[each] for each in range(3)] == [3, 7, 30]
