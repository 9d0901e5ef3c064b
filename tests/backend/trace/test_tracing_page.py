"""The examples of docs/tracing.md that need other packages; its other examples are doctests."""

import re
from pathlib import Path

import pytest

pytest.importorskip("jax")

PAGE = Path(__file__).parents[3] / "docs" / "tracing.md"
BLOCKS = re.findall(
    r"^```python\n# needs: (\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize("package, block", BLOCKS)
def test_example(package, block):
    pytest.importorskip(package, reason=f"needs {package}")
    exec(block, {"__name__": "example"})


def test_there_are_examples():
    assert {package for package, _ in BLOCKS} == {"flax", "equinox", "haiku", "diffrax"}
