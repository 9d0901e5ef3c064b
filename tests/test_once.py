"""CI runs a test in the second of its environments only where the first has not passed it."""

from pathlib import Path
from types import SimpleNamespace

import pytest


@pytest.fixture
def once(pytestconfig, tmp_path):
    """The plugin of the file `passed`, which names `a`."""
    (tmp_path / "passed").write_text("a\n", encoding="utf-8")
    conftest = pytestconfig.pluginmanager.get_plugin(str(Path(__file__).with_name("conftest.py")))
    return conftest.Once(tmp_path / "passed")


def test_what_has_passed_is_left_out(once):
    left_out = []
    config = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items)))
    items = [SimpleNamespace(nodeid=name) for name in ("a", "b", "a[1]")]
    first, *others = items
    once.pytest_collection_modifyitems(config, items)
    assert items == others and left_out == [first]


@pytest.mark.parametrize(("settings", "written"), [({}, "a\nb\n"), ({"workerinput": {}}, "a\n")])
def test_what_passes_is_written_once(once, settings, written):
    outcomes = [("b", "call", True), ("b", "teardown", True), ("skipped", "setup", False), ("failed", "call", False)]
    for name, when, passed in outcomes:
        once.pytest_runtest_logreport(SimpleNamespace(nodeid=name, when=when, passed=passed))
    once.pytest_sessionfinish(SimpleNamespace(config=SimpleNamespace(**settings)))
    assert once.file.read_text(encoding="utf-8") == written
