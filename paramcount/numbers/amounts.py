"""Amounts of a figure as people write them: 3.5M, 5e9, 8B parameters, 14MiB, 14MB. They are whole and exact."""

from __future__ import annotations

import re

from paramcount.errors import ArgumentError, quote

COUNTS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "B": 10**9, "T": 10**12, "P": 10**15}
BYTES = {"": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
BYTES |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
LONGEST = 64
NUMBER = r"(?!0[0-9])(?=\.?[0-9])([0-9]{1,3}(?:,[0-9]{3})+|[0-9]*)(?:\.([0-9]*))?(?:[eE]\+?([0-9]{1,2}))?"
AMOUNT = NUMBER + r"[ ]*([A-Za-z]*)"  # text, since a spec whose amounts are plain digits needs no pattern


def amount(text: str, figure: str) -> int:
    """The amount of a figure that a text stands for; raises ArgumentError for any other text, and for fractions.

    Bytes take `B`, and prefixes of 1000 (`MB`) and of 1024 (`MiB`), other figures `k M G T P` and `B`, a billion.

    >>> amount("3.5M", "params"), amount("8B", "params"), amount("5e9", "macs"), amount("16MiB", "param_bytes")
    (3500000, 8000000000, 5000000000, 16777216)
    """
    stripped = text.strip(" ")
    value = whole(stripped, BYTES if is_bytes(figure) else COUNTS)
    if value is None:
        raise ArgumentError(f"{quote(text)} is not an amount of {figure}", hint=hint(stripped, figure), argument=figure)
    return value


def whole(text: str, units: dict[str, int]) -> int | None:
    """The whole number that a text with a unit stands for, or None."""
    found = re.fullmatch(AMOUNT, text) if len(text) <= LONGEST else None
    if found is None or found[4] not in units:
        return None
    part = found[2] or ""
    scale = int(found[3] or 0) - len(part)
    value = int(found[1].replace(",", "") + part) * units[found[4]] * 10 ** max(scale, 0)
    value, rest = divmod(value, 10 ** max(-scale, 0))
    return None if rest else value


def is_bytes(figure: str) -> bool:
    return figure.endswith("bytes")


def hint(text: str, figure: str) -> str:
    """What may be meant by a text that is not an amount of a figure."""
    units, examples = (BYTES, "16MiB, 14MB") if is_bytes(figure) else (COUNTS, "3.5M, 5e9")
    plain = text.replace("_", "")
    found = re.fullmatch(AMOUNT, plain) if len(text) <= LONGEST else None
    if found is None:
        return f"write a whole amount, such as {examples}"
    number, unit = plain[: found.start(4)].strip(), found[4]
    if unit in units:
        near = [unit]  # without the underscores
    elif is_bytes(figure):
        prefix = unit.upper() if unit.upper() in ("K", "M", "G", "T", "P") else ""
        near = [f"{prefix}iB", f"{prefix}B"] if prefix else [each for each in BYTES if each.lower() == unit.lower()][:1]
    else:  # of 3.5MB and 3.5mb, the M
        near = [each for each in (unit[0], unit[0].upper()) if each in COUNTS][:1]
    able = [number + each for each in near if whole(number + each, units) is not None]
    return "write " + (" or ".join(able) or f"a whole amount, such as {examples}")
