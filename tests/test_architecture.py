"""The page that says where everything is names only what is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "paramcount"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PAGES = [(PACKAGE, PAGE)] + [
    (PACKAGE / folder, (PACKAGE / folder / "README.md").read_text(encoding="utf-8")) for folder in ("graph", "language")
]
NAMED = re.compile(r"`([\w./]+(?:\.py|\.pyi|\.yaml|\.json|\.md|\.toml|/))(?::(\w+))?`")


def places(text: str) -> list[tuple[str, str]]:
    """The files and folders that a page names, each with the name in it that follows a colon."""
    return sorted({(match[1], match[2] or "") for match in NAMED.finditer(text)})


def found(path: str, home: Path = PACKAGE) -> Path:
    """Where a path of a page leads: within the page's folder or the package, or from the root of the repository."""
    return next((base / path for base in (home, PACKAGE, ROOT) if (base / path).exists()), PACKAGE / path)


def defines(path: Path, name: str) -> bool:
    """Whether a file has a function, a class or a constant of a name at its top."""
    return re.search(rf"^(?:(?:def|class) {name}\b|{name}\b.* = )", path.read_text(encoding="utf-8"), re.M) is not None


@pytest.mark.parametrize(("home", "path", "name"), [(home, *each) for home, page in PAGES for each in places(page)])
def test_what_is_named_is_there(home, path, name):
    assert found(path, home).exists(), f"{path} is not there"
    assert not name or defines(found(path, home), name), f"{path} has no {name}"


def test_a_wrong_name_would_be_seen():
    assert places("in `cost/count.py:count` and `layers/`, not `count`") == [
        ("cost/count.py", "count"),
        ("layers/", ""),
    ]
    assert not found("cost/nothing.py").exists()
    assert defines(PACKAGE / "cost" / "count.py", "count") and not defines(PACKAGE / "cost" / "count.py", "counts")


def test_every_folder_is_on_the_map():
    folders = {each.name for each in PACKAGE.iterdir() if (each / "__init__.py").exists()}
    rows = re.findall(r"^\| `(\w+)/` \|", PAGE, re.M)
    assert set(rows) == folders


def test_the_map_is_in_the_order_of_imports():
    order = re.search(r"^ORDER = \((.*?)^\)", (ROOT / "tests" / "test_imports.py").read_text(), re.M | re.S)
    assert order is not None
    assert re.findall(r"^\| `(\w+)/` \|", PAGE, re.M) == [
        name for name in re.findall(r'"(\w+)"', order[1]) if not name.startswith("__")
    ]
