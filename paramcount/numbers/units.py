"""How numbers are written: 25.6 M, 97.5 MiB, 25,557,032; and how many bits an element takes."""

from typing import Any

from paramcount.errors import ArgumentError, quote
from paramcount.numbers.arithmetic import Size, ceil_div

DECIMAL = ("", "k", "M", "G", "T", "P")
BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
BITS = {
    "float64": 64,
    "float32": 32,
    "float16": 16,
    "bfloat16": 16,
    "float8": 8,
    "float8_e4m3fn": 8,
    "float8_e5m2": 8,
    "float4_e2m1fn": 4,
    "int64": 64,
    "int32": 32,
    "int16": 16,
    "int8": 8,
    "int4": 4,
    "int2": 2,
    "uint64": 64,
    "uint32": 32,
    "uint16": 16,
    "uint8": 8,
    "uint4": 4,
    "uint2": 2,
    "bool": 8,
}


SHORT = {"fp64": "float64", "fp32": "float32", "float": "float32", "fp16": "float16", "half": "float16"}
SHORT |= {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "fp8": "float8"}
SHORT |= {"double": "float64", "c64": "complex64", "c128": "complex128", "pred": "bool"}
SHORT |= {f"{letter}{bits}": f"int{bits}" for letter in "is" for bits in (4, 8, 16, 32)} | {"i64": "int64"}
SHORT |= {f"u{bits}": f"uint{bits}" for bits in (4, 8, 16, 32)}


def decimal(n: int) -> str:
    """A count in thousands, to three digits; exact below a thousand.

    >>> decimal(25_557_032), decimal(999_999), decimal(864)
    ('25.6 M', '1.00 M', '864')
    """
    return scaled(n, 1000, DECIMAL)


def binary(n: int) -> str:
    """A number of bytes in powers of 1024, to three digits.

    >>> binary(102_228_128), binary(512)
    ('97.5 MiB', '512 B')
    """
    return scaled(n, 1024, BINARY)


def number_of(n: int, noun: str) -> str:
    """How many of something there are.

    >>> number_of(1, "variant"), number_of(2000, "variant")
    ('1 variant', '2,000 variants')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def duration(seconds: float) -> str:
    """A time to three digits.

    >>> duration(0.0123), duration(2.5)
    ('12.3 ms', '2.50 s')
    """
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= size:
            return f"{digits(seconds / size)} {unit}"
    return f"{digits(seconds / 1e-6)} µs"


def rate(per_second: float) -> str:
    """How many a second, to three digits.

    >>> rate(0.4444), rate(650.2), rate(25_557_032.5)
    ('0.444', '650', '25.6 M')
    """
    whole = round(per_second)
    return decimal(whole) if whole >= 100 else f"{per_second:.3g}"


def portion(share: float) -> str:
    """A fraction in percent, to two digits at least.

    >>> portion(0.1634), portion(0.00042)
    ('16.3%', '0.042%')
    """
    return f"{share:.1%}" if share >= 0.01 else f"{100 * share:.2g}%"


def percent(part: int, whole: int) -> str:
    """A part of a whole that is not 0, in percent to one decimal; whole numbers throughout, so it is exact.

    >>> percent(1, 3), percent(504_872, 3_000_000), percent(3, 100_000)
    ('33.3%', '16.8%', '0.0%')
    """
    ones, tenth = divmod(rounded(1000 * part, whole), 10)
    return f"{ones:,}.{tenth}%"


def digits(value: float) -> str:
    """A number to three digits."""
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def grouped(n: int) -> str:
    """All digits of a count, in groups of three.

    >>> grouped(3_504_872)
    '3,504,872'
    """
    return f"{n:,}"


def scaled(n: int, base: int, units: tuple[str, ...]) -> str:
    """n in the first unit that keeps it below `base` when rounded; integers throughout, so no boundary is off."""
    sign, n = ("-", -n) if n < 0 else ("", n)
    if n < base:
        return f"{sign}{n} {units[0]}".rstrip()
    size = 1
    for unit in units[1:]:
        size *= base
        for places in (2, 1, 0):
            digits = rounded(n * 10**places, size)
            if digits < 1000 or (places == 0 and digits < base):
                whole, part = divmod(digits, 10**places)
                return f"{sign}{whole}.{part:0{places}} {unit}" if places else f"{sign}{whole} {unit}"
    return f"{sign}{grouped(rounded(n, size))} {units[-1]}"


def rounded(n: int, size: int) -> int:
    """n / size to the nearest whole number, halves up."""
    return (2 * n + size) // (2 * size)


def bytes_of(size: Size, dtype: str) -> Any:
    """The bytes that `size` elements take, rounded up to whole bytes; raises ArgumentError for an unknown dtype.

    >>> bytes_of(3, "int4"), bytes_of(1000, "bfloat16")
    (2, 2000)
    """
    bits = BITS.get(dtype) if isinstance(dtype, str) else None
    if bits is None:
        from paramcount.errors.suggest import did_you_mean, nearest

        guess = (SHORT.get(dtype) or nearest(dtype, tuple(BITS))) if isinstance(dtype, str) else None
        hint = did_you_mean(guess, "one of " + ", ".join(BITS))
        raise ArgumentError(f"unknown dtype {quote(dtype)}", hint=hint, argument="dtype")
    return ceil_div(size * bits, 8)
