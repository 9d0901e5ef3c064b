"""The pages say what is so: every YAML example is loaded and counted, every command prints what is shown.

A `yaml` block is a whole spec, or a list of items below a comment `# in: INPUT`. A last line `# out: SHAPE, N params,
N MACs` holds its figures. `# file: NAME` at its head writes it for the specs behind it to include. A `console` block is
a command and all that it prints.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from paramcount.expect import check
from paramcount.render.layers_page import page
from paramcount.report import count
from paramcount.spec.load import load

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def fenced(page: Path, language: str) -> list[tuple[int, str]]:
    """Every block of a language on a page, with the line that it starts in."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start()) + 1, match[1]) for match in found]


def blocks(language: str) -> list:
    return [
        pytest.param(page, block, id=f"{page.name}:{line}") for page in PAGES for line, block in fenced(page, language)
    ]


def as_spec(block: str) -> str:
    """A list of items as a whole spec."""
    if not block.startswith("# in: "):
        return block
    first, items = block.split("\n", 1)
    return f"input: {first.removeprefix('# in: ')}\nlayers:\n{items}"


def summary(network) -> str:
    """What a last line says of a spec."""
    report = count(network)
    shapes = " and ".join(str(value.shape) for value in network.graph().outputs.values())
    return f"{shapes}, {report.params:,} params, {report.macs:,} MACs"


@pytest.mark.parametrize("page, block", blocks("yaml"))
def test_example(page, block, tmp_path):
    for _, other in fenced(page, "yaml"):
        if other.startswith("# file: "):
            file = tmp_path / other.split("\n", 1)[0].removeprefix("# file: ")
            file.parent.mkdir(exist_ok=True)
            file.write_text(other, encoding="utf-8")
    if block.startswith("# file: "):
        return
    path = tmp_path / "example.yaml"
    path.write_text(as_spec(block), encoding="utf-8")
    network = load(str(path))
    assert network.warnings == []
    claimed = re.search(r"^# out: (.*)\n\Z", block, re.MULTILINE)
    assert claimed or network.expect, "an example shows its figures"
    if claimed:
        assert claimed[1] == summary(network)
    for variant in [None, *network.variants]:
        check(load(str(path), variant=variant))


@pytest.mark.parametrize("page, block", blocks("console"))
def test_command(page, block):
    command, shown = block.split("\n", 1)
    words = command.split()
    assert words[:2] == ["$", "paramcount"]
    if "verify" in words and find_spec("jax") is None:
        pytest.skip("needs jax")
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", "paramcount", *words[2:]],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        cwd=ROOT,
        timeout=120,
    )
    assert steady(done.stdout + done.stderr) == steady(shown)


def steady(text: str) -> list[str]:
    """The lines of a text without what differs from run to run: seconds, and XLA's own figures, by its version."""
    text = re.sub(r"\d+\.\d+ s\b", "N s", text)
    text = re.sub(r"XLA: [\d,]+", "XLA: N", text)
    return [line.rstrip() for line in text.strip().splitlines()]


def test_the_page_of_layers_is_current():
    assert page() == (ROOT / "docs" / "layers.md").read_text(encoding="utf-8"), (
        "run: python -m paramcount.render.layers_page > docs/layers.md"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", text):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{target} is not there"
