"""What all tests share: folders of reference data, JAX's cache of compiled programs, and what happens without JAX."""

import gc
import os
import signal
import sys
from collections.abc import Generator
from doctest import UnexpectedException
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from paramcount.language.load import shipped_specs

ROOT = Path(__file__).resolve().parents[1]
MISSING = "No module named 'jax"

# Half of the time goes into compiling. So JAX keeps each program for the next run, other workers, and the processes
# that tests start, and does without optimizations that take longer than they save. A program that another process is
# just writing, or was killed while writing, is compiled anew with a warning, which would stand among the messages that
# tests compare.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(ROOT / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "0")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")  # `XLA_FLAGS= pytest` compiles as users do
os.environ.setdefault("PYTHONWARNINGS", "ignore:Error reading persistent compilation cache:UserWarning")

# Python keeps what it compiles too, here and in the processes that tests start: without it, pytest takes several
# seconds in each worker to rewrite assertions, and each process up to half a second to start.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

hypothesis.settings.register_profile("tests", deadline=None)  # no test asserts a time
hypothesis.settings.load_profile("tests")

# In the background of a shell, signals are ignored, also by the processes that tests start. With a handler that does
# nothing they are so here alone.
for name in ("SIGINT", "SIGHUP"):
    if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) == signal.SIG_IGN:
        signal.signal(getattr(signal, name), lambda number, frame: None)

# Together these use every kind, form and modifier that any shipped spec uses, as a test proves.
CHOSEN = (
    *("albert", "alexnet", "clip", "ddpm", "deepspeech", "dit", "inception_v3", "mamba", "mixtral", "mobilenet_v2"),
    *("ofa_mobilenet_v3", "seq2seq", "swin_v2", "unet"),
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Workers take tests as they stand in files, so that a module's fixtures are made once; who ends first helps."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of a `shipped_spec` runs on those chosen, and with the mark `full` on the others too."""
    if "shipped_spec" in metafunc.fixturenames:
        others = [pytest.param(name, marks=pytest.mark.full) for name in shipped_specs() if name not in CHOSEN]
        metafunc.parametrize("shipped_spec", [*CHOSEN, *others])


@pytest.fixture(scope="session")
def chosen() -> tuple[str, ...]:
    return CHOSEN


@pytest.fixture(scope="session")
def shared() -> Path:
    folder = ROOT.parent / "shared"
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
    if "PARAMCOUNT_ONCE" in os.environ:
        config.pluginmanager.register(Once(Path(os.environ["PARAMCOUNT_ONCE"])))


def pytest_collection_finish() -> None:
    """Thousands of tests and modules stay to the end: the garbage collector need not go through them all the time."""
    gc.freeze()
    gc.set_threshold(10_000)


class Once:
    """Tests named in the file PARAMCOUNT_ONCE are left out, and those that pass are added to it when all have ended.

    So a run in a fuller environment takes up what the first skipped or left out.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.before = set(file.read_text("utf-8").splitlines()) if file.exists() else set()
        self.passed: list[str] = []

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in self.before])
        items[:] = [item for item in items if item.nodeid not in self.before]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.append(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not hasattr(session.config, "workerinput"):  # workers report to the process that started them
            with self.file.open("a", encoding="utf-8") as file:
                file.writelines(f"{name}\n" for name in self.passed)


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
