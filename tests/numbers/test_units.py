"""How counts and bytes are written."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramcount.errors import ArgumentError
from paramcount.numbers.arithmetic import Column
from paramcount.numbers.units import BITS, binary, bytes_of, decimal, grouped


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.00 k"),
        (1004, "1.00 k"),
        (1005, "1.01 k"),
        (9994, "9.99 k"),
        (9995, "10.0 k"),
        (99_949, "99.9 k"),
        (99_950, "100 k"),
        (999_499, "999 k"),
        (999_500, "1.00 M"),
        (999_999, "1.00 M"),
        (3_504_872, "3.50 M"),
        (25_557_032, "25.6 M"),
        (300_774_272, "301 M"),
        (17_560_000_000, "17.6 G"),
        (999_999_999_999, "1.00 T"),
        (10**15, "1.00 P"),
        (10**18, "1,000 P"),
        (123_456 * 10**15, "123,456 P"),
        (-3_504_872, "-3.50 M"),
    ],
)
def test_decimal(count, text):
    assert decimal(count) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (1000 * 1024, "1000 KiB"),
        (1023 * 1024, "1023 KiB"),
        (1024 * 1024 - 1, "1.00 MiB"),
        (102_228_128, "97.5 MiB"),
        (2**30 - 2**19, "1.00 GiB"),
        (2**30 - 2**19 - 1, "1023 MiB"),
        (5 * 2**60, "5,120 PiB"),
    ],
)
def test_binary(count, text):
    assert binary(count) == text


@given(st.integers(1, 10**18))
def test_decimal_is_near(count):
    """Read back, the text is within half a unit of its third digit."""
    number, _, unit = decimal(count).replace(",", "").partition(" ")
    size = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}[unit]
    assert abs(float(number) * size - count) <= 0.00501 * count
    assert len(number.replace(".", "")) == 3 or count < 100 or unit == "P"


def test_grouped():
    assert grouped(3_504_872) == "3,504,872"


def test_bytes():
    assert bytes_of(10, "float32") == 40
    assert bytes_of(3, "int4") == 2
    assert bytes_of(0, "int4") == 0
    assert bytes_of(5, "int2") == 2
    assert bytes_of(Column(numpy.array([3, 4])), "int4").array.tolist() == [2, 2]


def test_unknown_dtype():
    with pytest.raises(ArgumentError, match="unknown dtype `flaot32`") as caught:
        bytes_of(1, "flaot32")
    assert caught.value.hint == "did you mean `float32`?"


def test_bits_agree_with_ml_dtypes():
    dtypes = pytest.importorskip("ml_dtypes")
    for name, bits in BITS.items():
        if name not in ("bool", "float8"):
            information = dtypes.iinfo if "int" in name else dtypes.finfo
            assert information(getattr(dtypes, name, name)).bits == bits, name


@pytest.mark.parametrize(("short", "name"), [("bf16", "bfloat16"), ("half", "float16"), ("fp32", "float32")])
def test_a_short_dtype_name_is_not_mistaken_for_another(short, name):
    with pytest.raises(ArgumentError, match=f"did you mean `{name}`"):
        bytes_of(1, short)
