"""The published training on docs/mnist.md, its first epoch on the real data."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "mnist.md"


def test_published_first_epoch(mnist, tmp_path):
    for package in ("jax", "optax"):
        pytest.importorskip(package)
    script = re.search(r"^# file: published.py\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert script
    (tmp_path / "published.py").write_text(script[1], encoding="utf-8")
    command = [sys.executable, "published.py", str(mnist), "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = re.search(r"^epoch 0 .*train (\S+)  test (\S+)", done.stdout, re.MULTILINE)
    assert found, done.stdout
    # Published: 0.9157 and 0.9197.
    assert float(found[1]) == pytest.approx(0.9157, abs=0.005)
    assert float(found[2]) == pytest.approx(0.9197, abs=0.005)
