"""Values of variables as written on the command line: `width=0.35:1.4:0.05`."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from paramcount.errors import ArgumentError, quote
from paramcount.language.address import between_commas
from paramcount.language.expression.tokens import LONGEST
from paramcount.numbers.arithmetic import LIMIT
from paramcount.render.terminal import complain
from paramcount.sweeps.space import MOST_VALUES

NUMBER = re.compile(r"[-+]?(?!0\d+$)(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
RANGE = re.compile(r"([^:]+):([^:]+)(?::([^:]+))?")


def setting(text: str) -> tuple[str, Any]:
    """A variable's name and its values."""
    name, equals, values = text.partition("=")
    name = name.strip()
    if not equals or not name or not values.strip():
        name = name or "NAME"
        hint = f"write {quote(f'{name}=1,2')}, or a range that includes both ends, {quote(f'{name}=1:4')}"
        raise ArgumentError(f"{quote(text)} is not a variable with values", hint=hint)
    pieces = [each.strip() for each in between_commas(values)]
    if "" in pieces:
        raise ArgumentError(f"a value is missing in {quote(text)}")
    if len(pieces) == 1 and not RANGE.fullmatch(pieces[0]):
        return name, pieces[0]
    ranges = [spread(each, text) if RANGE.fullmatch(each) else [number_or_none(each)] for each in pieces]
    numbers = [each for values in ranges for each in values]
    return name, pieces if None in numbers else numbers


def spread(text: str, whole: str) -> list[Any]:
    """The numbers of a range, both ends included."""
    from math import lcm

    parts = [each for each in map(number_or_none, text.split(":")) if each is not None]
    if len(parts) < text.count(":") + 1:
        raise ArgumentError(f"{quote(text)} is not a range of numbers", hint="write `first:last` or `first:last:step`")
    if len(parts) == 2 and not all(isinstance(each, int) for each in parts):
        hint = f"write {quote(text + ':0.1')}, or another step"
        raise ArgumentError(f"the range {quote(text)} of fractions has no step", hint=hint)
    first, last, step = (*parts, 1)[:3]
    if not step or (last - first) / step < 0:
        raise ArgumentError(f"the range {quote(text)} has no values", hint="write `first:last:step`, step towards last")
    start, end, by = (Fraction(str(each)) for each in (first, last, step))
    count = int((end - start) / by) + 1
    if count > MOST_VALUES:
        raise ArgumentError(
            f"the range {quote(text)} has {count:,} values", hint=f"at most {MOST_VALUES:,}: take a larger step"
        )
    scale = lcm(start.denominator, by.denominator)
    least, more = int(start * scale), int(by * scale)
    numbers = range(least, least + count * more, more)
    values = list(numbers) if all(isinstance(each, int) for each in (first, step)) else [n / scale for n in numbers]
    if start + (count - 1) * by != end:
        complain(f"the range {quote(text)} ends at {values[-1]}: steps of {step} from {first} do not reach {last}")
    return values


def number_or_none(text: str) -> int | float | None:
    """A number as a spec writes it, 1e3 being whole; None for any other text, and for a number beyond 1e18."""
    if not NUMBER.fullmatch(text) or len(text) > LONGEST:
        return None
    value = int(text) if text.lstrip("+-").isdigit() else float(text)
    if abs(value) > LIMIT:
        return None
    return int(value) if "." not in text and value == int(value) else value


def number(text: str) -> int | float:
    value = number_or_none(text)
    if value is None:
        raise ArgumentError(f"{quote(text)} is not a number")
    return value


def scalar(values: Any) -> Any:
    if isinstance(values, list):
        raise ArgumentError("`--set` takes one value", hint="only the variable to solve for has several values")
    return values
