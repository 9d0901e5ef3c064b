"""What all tests share: the folder of reference counts, and that doctests without JAX installed are skipped."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.doctest import DoctestItem, DoctestModule, MultipleDoctestFailures

WITHOUT_JAX = "Skipped: needs jax"


@pytest.fixture(scope="session")
def shared() -> Path:
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not (folder / "truth").is_dir():
        pytest.skip("no folder `shared` with reference counts beside the repository")
    return folder


def pytest_configure(config: pytest.Config) -> None:
    if find_spec("jax") is None:
        config.pluginmanager.register(SkipDoctestsOfJax())


class SkipDoctestsOfJax:
    """Where JAX is missing, examples that import it are skipped: those of the backend's modules and of the pages."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> pytest.CollectReport | None:
        if isinstance(collector, DoctestModule) and "backend" in collector.path.parts:
            return pytest.CollectReport(collector.nodeid, "skipped", (str(collector.path), 0, WITHOUT_JAX), [])
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> object:
        try:
            return (yield)
        except MultipleDoctestFailures as error:
            first = error.failures[0]
            if isinstance(item, DoctestItem) and isinstance(getattr(first, "exc_info", (None, None))[1], ImportError):
                pytest.skip("needs jax")
            raise
