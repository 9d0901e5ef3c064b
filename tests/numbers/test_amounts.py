"""Amounts as people write them."""

import pytest

from paramcount.errors import ArgumentError
from paramcount.numbers.amounts import amount


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[("300M", 300 * 10**6), ("3.5M", 3_500_000), ("5e9", 5 * 10**9), ("8B", 8 * 10**9), ("1.5 G", 15 * 10**8)],
        *[
            ("1,000", 1000),
            ("3,504,872", 3_504_872),
            ("0.29M", 290_000),
            (".5k", 500),
            ("5.", 5),
            ("0", 0),
            ("2K", 2000),
        ],
        *[("9007199254740993", 2**53 + 1), ("9007199254740.993k", 2**53 + 1), ("1.1P", 11 * 10**14), ("1e18", 10**18)],
    ],
)
def test_counts(text, expected):
    found = amount(text, "params")
    assert found == expected and type(found) is int


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[("16MiB", 16 * 2**20), ("14MB", 14 * 10**6), ("14000000", 14 * 10**6), ("512B", 512), ("1.5KiB", 1536)],
        *[("2kB", 2000), ("2KB", 2000), ("1GiB", 2**30), ("1 TB", 10**12), ("5e9", 5 * 10**9)],
    ],
)
def test_bytes(text, expected):
    found = amount(text, "param_bytes")
    assert found == expected and type(found) is int


OTHERS = ["", " ", "k", "1.5", "-5M", "+5M", "0x10", "010", "1e400", "1e-3", "inf", "nan", "1,5M", "1,00"]
OTHERS += ["١٢M", "３M", "3M\n", "1" * 65, ".."]


@pytest.mark.parametrize(
    ("text", "figure", "hint"),
    [
        *[("3.5MB", "params", "write 3.5M"), ("3.5m", "params", "write 3.5M"), ("16MiB", "macs", "write 16M")],
        *[("14M", "param_bytes", "write 14MiB or 14MB"), ("8G", "param_bytes", "write 8GiB or 8GB")],
        *[
            ("14mib", "param_bytes", "write 14MiB"),
            ("1_000", "params", "write 1000"),
            ("1_0MB", "param_bytes", "write 10MB"),
            ("1.2345KiB", "params", "write a whole amount, such as 3.5M, 5e9"),
            ("0.0001m", "params", "write 0.0001M"),
            ("0.0000001m", "params", "write a whole amount, such as 3.5M, 5e9"),
        ],
        *((text, "params", "write a whole amount, such as 3.5M, 5e9") for text in OTHERS),
        *((text, "param_bytes", "write a whole amount, such as 16MiB, 14MB") for text in [*OTHERS[3:], "8X"]),
    ],
)
def test_what_is_not_an_amount(text, figure, hint):
    with pytest.raises(ArgumentError) as refused:
        amount(text, figure)
    assert refused.value.message.endswith(f" is not an amount of {figure}")
    assert refused.value.hint == hint
