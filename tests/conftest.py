"""What all tests share: the folder of reference counts, and what happens where JAX is missing."""

import os
import sys
from collections.abc import Generator
from doctest import UnexpectedException
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

MISSING = "No module named 'jax"


@pytest.fixture(scope="session")
def shared() -> Path:
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not (folder / "truth").is_dir():
        pytest.skip("no folder `shared` with reference counts beside the repository")
    return folder


@pytest.fixture(scope="session")
def mnist() -> Path:
    folder = Path(os.environ.get("PARAMCOUNT_MNIST", ""))
    if not list(folder.glob("train-images*")):
        pytest.skip("PARAMCOUNT_MNIST names no folder with MNIST's files")
    return folder


def pytest_configure(config: pytest.Config) -> None:
    if find_spec("jax") is None:
        config.pluginmanager.register(SkipWithoutJax())


class SkipWithoutJax:
    """Where JAX is missing, modules, tests and examples that import it are skipped."""

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, pytest.CollectReport, Any]:
        report = yield
        if report.failed and MISSING in str(report.longrepr):
            report.outcome, report.longrepr = "skipped", (str(collector.path), 0, "Skipped: needs jax")
            for name, module in list(sys.modules.items()):  # pytest leaves what failed to import half made
                if getattr(module, "__file__", None) == str(collector.path):
                    del sys.modules[name]
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        try:
            return (yield)
        except (ImportError, UnexpectedException) as error:
            raised = error.exc_info[1] if isinstance(error, UnexpectedException) else error
            if isinstance(raised, ImportError) and MISSING in str(raised):
                pytest.skip("needs jax")
            raise
