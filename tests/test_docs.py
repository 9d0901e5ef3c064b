"""The pages say what is so: every YAML example is loaded and counted, every command prints what is shown.

A `yaml` block is a whole spec, or a list of items below a comment `# in: INPUT`. A last line `# out: SHAPE, N params,
N MACs` holds its figures. `# file: NAME` at the head of a `yaml` or `python` block makes it a file for the examples of
its page: a spec to include, a plugin, a test to run. A `console` block is a command and all that it prints.
"""

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

import pytest

from paramcount.cli.main import main
from paramcount.cost.count import count
from paramcount.cost.expect import check
from paramcount.language.description import SUGAR, describe, families
from paramcount.language.load import load
from paramcount.language.plugin import load_plugin
from paramcount.layers.layer import registry

ROOT = Path(__file__).resolve().parents[1]
page = run_path(str(ROOT / "docs" / "make_layers.py"))["page"]
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


def files(page: Path) -> dict[str, str]:
    """The files of a page, by name."""
    found = [block for language in ("yaml", "python") for _, block in fenced(page, language)]
    pairs = [block.split("\n", 1) for block in found if block.startswith("# file: ")]
    return {first.removeprefix("# file: "): text for first, text in pairs}


def write_files(page: Path, folder: Path) -> None:
    for name, text in files(page).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def plugins():
    """A function that loads plugins, whose kinds are gone after the test."""
    before = dict(registry)

    def load_all(folder: Path) -> None:
        for path in folder.glob("*.py"):
            if not path.name.startswith("test_"):
                load_plugin(str(path))

    yield load_all
    for kind in set(registry) - set(before):
        if not registry[kind].__module__.startswith("paramcount."):
            sys.modules.pop(registry.pop(kind).__module__, None)


@pytest.mark.parametrize("page, block", blocks("yaml"))
def test_example(page, block, tmp_path, plugins):
    write_files(page, tmp_path)
    plugins(tmp_path)
    if block.startswith("# file: ") and "\nlayers:" not in block:
        return  # blocks alone, for other examples
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


@pytest.mark.parametrize("page", [page for page in PAGES if any(name.startswith("test_") for name in files(page))])
def test_tests(page, tmp_path):
    pytest.importorskip("jax", reason="needs jax")
    write_files(page, tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page, block", blocks("console"))
def test_command(page, block, tmp_path, plugins, monkeypatch, capsys):
    command, shown = block.split("\n", 1)
    words = shlex.split(command)
    assert words[:2] == ["$", "paramcount"]
    if {"verify", "trace"} & set(words) and find_spec("jax") is None:
        pytest.skip("needs jax")
    write_files(page, tmp_path)
    monkeypatch.chdir(tmp_path if files(page) else ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("GITHUB_ACTIONS", "")
    main(words[2:])
    assert steady("".join(capsys.readouterr())) == steady(shown)


def steady(text: str) -> list[str]:
    """The lines of a text without what differs from run to run: seconds, and XLA's own figures, by its version."""
    text = re.sub(r"\d+\.\d+ s\b", "N s", text)
    text = re.sub(r"XLA: [\d,]+", "XLA: N", text)
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def test_the_page_of_layers_is_current():
    assert page() == (ROOT / "docs" / "layers.md").read_text(encoding="utf-8"), (
        "run: python docs/make_layers.py > docs/layers.md"
    )


def test_the_page_of_layers_has_what_specs_can_write_and_what_kinds_shows():
    text, words = page(), [word for found in families().values() for word in found]
    assert re.findall("^### `(.+)`$", text, re.MULTILINE) == words
    flat = " ".join(text.split())
    for found in map(describe, words):
        assert " ".join(found.text.split()) in flat.replace(" # ", " ")
        assert all(each.meaning in flat for each in found.arguments if each.name not in SUGAR)


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def links(text: str) -> list[str]:
    """Where the links of a page lead; those in blocks of code are none."""
    return re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", prose(text))


def test_code_holds_no_links():
    assert links("[one](one.md#part)\n```cpp\n[](int key) {}\n```\n[two](two.md)\n```\n[](a)\n```\n") == [
        "one.md",
        "two.md",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in links(page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{target} is not there"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_are_short(page):
    lines = prose(page.read_text(encoding="utf-8")).splitlines()
    free = ("|", "[")  # tables, and where links lead
    assert [line for line in lines if len(line) > 120 and not line.startswith(free)] == []


def test_the_shipped_specs_are_named():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in (ROOT / "configs").glob("*.yaml"):
        assert f"`{path.stem}`" in text
