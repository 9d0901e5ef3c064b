"""Values as written on the command line: `width=0.35:1.4:0.05`, `300M`."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from paramcount.errors import ArgumentError, quote
from paramcount.language.address import between_commas
from paramcount.language.expression.tokens import LONGEST
from paramcount.numbers.arithmetic import LIMIT
from paramcount.numbers.units import BINARY, DECIMAL
from paramcount.render.terminal import complain
from paramcount.sweeps.space import MOST_VALUES

NUMBER = re.compile(r"[-+]?(?!0\d+$)(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
RANGE = re.compile(r"([^:]+):([^:]+)(?::([^:]+))?")
UNITS = {unit: 1000**power for power, unit in enumerate(DECIMAL)}
UNITS |= {unit: 1024**power for power, unit in enumerate(BINARY)}


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


def whole(text: str) -> int | None:
    """A count: 128, 32k, 1.5M; None for anything else.

    >>> whole("32k"), whole("1.5M"), whole("1.5"), whole("-1")
    (32000, 1500000, None, None)
    """
    match = re.fullmatch(r"([0-9]{1,18})(?:\.([0-9]{1,18}))?([A-Za-z]?)", text.strip())
    if match is None or match[3] not in DECIMAL:
        return None
    fraction = match[2] or ""
    number, rest = divmod(int(match[1] + fraction) * UNITS[match[3]], 10 ** len(fraction))
    return None if rest else number


def amount(text: str) -> int | float:
    """A budget: 300M, 5e9, 14MiB."""
    match = re.fullmatch(r"\s*([\d.,]+(?:[eE]\d+)?)\s*([A-Za-z]*)\s*", text)
    value = number_or_none(match[1].replace(",", "")) if match else None
    if match is None or value is None or match[2] not in UNITS:
        raise ArgumentError(f"{quote(text)} is not a budget", hint="write 300M, 5e9 or, of bytes, 14MiB")
    exact = Fraction(str(value)) * UNITS[match[2]]
    return int(exact) if exact.denominator == 1 else float(exact)
