"""Sweeps on a real Dask scheduler with two worker processes, one of which is killed while it counts."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import paramcount as pc
from paramcount.cli.main import main
from paramcount.language.plugin import load_plugin
from paramcount.layers.layer import registry
from paramcount.sweeps.sweep import space_of, sweep_parts

pytest.importorskip("distributed", reason="needs dask and distributed")
cloudpickle = pytest.importorskip("cloudpickle", reason="needs dask and distributed")
from paramcount.sweeps import cluster as windows  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
STARTING = 120  # seconds that processes may take on a slow machine
SLOW = """
import time
from dataclasses import dataclass
from paramcount.layers.layer import Layer, Work

@dataclass(frozen=True)
class Slow(Layer, kind="slow"):
    'The identity, which is slow to count.'

    examples = (({}, (4,)),)

    def output_shape(self, x):
        return x

    def params(self, x):
        return {}

    def work(self, x):
        time.sleep(0.1)
        return Work()

    def forward(self, params, x, *, context):
        return x
"""
QUIET = """
import sys
from paramcount.sweeps import cluster as windows
from paramcount.cli.main import main
windows.PATIENCE = 0.5
sys.exit(main(["sweep", "mobilenet_v2", "width=0.5,1", "--dask", sys.argv[1]]))
"""


def process(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "dask", *arguments]
    with open(folder / f"{arguments[0]}{time.monotonic_ns()}.log", "w") as log:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)


def until(found, *processes):
    """The first result of a function that is not empty."""
    deadline = time.monotonic() + STARTING
    while time.monotonic() < deadline:
        assert all(each.poll() is None for each in processes), "a process ended early"
        if result := found():
            return result
        time.sleep(0.05)
    raise AssertionError("no result in time")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The address of a scheduler, and its two workers."""
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    local = ("--host", "127.0.0.1", "--no-dashboard")
    processes = [process(folder, "scheduler", *local, "--port", "0", "--scheduler-file", str(file))]
    try:
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(folder), "--scheduler-file", str(file))
        processes += [process(folder, "worker", *local, *options) for _ in range(2)]
        address = until(
            lambda: file.exists() and file.read_text() and json.loads(file.read_text())["address"], *processes
        )
        from distributed import Client

        with Client(address, set_as_default=False, timeout=STARTING) as client:
            client.wait_for_workers(2, timeout=STARTING)
        yield address, processes[1:]
    finally:
        for each in processes:  # at once: they have nothing to save
            each.kill()
            each.wait()


def equal(one, other):
    assert one.variables == other.variables and one.reasons == other.reasons
    assert one.valid.tolist() == other.valid.tolist() and one.reason.tolist() == other.reason.tolist()
    assert {name: values.tolist() for name, values in one.columns.items()} == {
        name: values.tolist() for name, values in other.columns.items()
    }


@pytest.mark.parametrize(
    "settings",
    [
        {"width": [0.5, 0.75, 1.0], "resolution": range(96, 130), "chunk": 10},
        {"width": [0.5, 0.75, 1.0], "resolution": range(96, 130), "chunk": 10, "where": "macs > 5e7"},
        {"width": [0.5, 0.75, 1.0, 1.4], "resolution": range(96, 225), "random": 100, "seed": 5, "chunk": 30},
        {"width": [0.5 + step / 20 for step in range(20)], "resolution": range(96, 196)},
    ],
    ids=["grid", "condition", "random", "shares"],
)
def test_the_rows_are_those_of_a_local_sweep(cluster, settings):
    address, _ = cluster
    found = pc.sweep("mobilenet_v2", dask=address, **settings)
    equal(found, pc.sweep("mobilenet_v2", **settings))
    assert found.error(0) is None  # the rows know their space again


def test_files_are_those_of_a_local_sweep(cluster, capsys, tmp_path):
    address, _ = cluster
    arguments = ["sweep", "vit", "heads=5,12,16", "depth=1:4", "--output"]
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    assert main([*arguments, str(here)]) == 0
    local = capsys.readouterr().out
    assert main([*arguments, str(there), "--dask", address]) == 0
    assert capsys.readouterr().out == local
    assert here.read_bytes() == there.read_bytes() and "153.6" in here.read_text()


def test_a_spec_travels_with_all_its_files(cluster, tmp_path):
    """Neither the spec nor the files it includes exist any more when the workers count."""
    address, _ = cluster
    (tmp_path / "parts.yaml").write_text("blocks: {wide: {args: {n: required}, layers: [dense: 3 * n]}}")
    spec = tmp_path / "spec.yaml"
    spec.write_text("{input: {features: 4}, vars: {n: 1}, include: parts.yaml, layers: [wide: n]}")
    space = space_of(str(spec), None, {"n": [1, 2, 10]})
    for path in tmp_path.iterdir():
        path.unlink()
    part, *parts = sweep_parts(space, chunk=2, dask=address)
    found = part.joined(*parts)
    assert found.columns["params"].tolist() == [15, 30, 150]  # (4 + 1) · 3 n


@pytest.fixture
def slow(tmp_path):
    """A spec with a layer of a plugin, which counts slowly."""
    plugin = tmp_path / "slow.py"
    plugin.write_text(SLOW)
    load_plugin(str(plugin))
    spec = tmp_path / "spec.yaml"
    spec.write_text("{input: {features: 4}, vars: {n: 1}, layers: [slow, dense: n]}")
    yield str(spec)
    sys.modules.pop(registry.pop("slow").__module__)


@pytest.mark.full
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that ends a process at once")
def test_every_row_is_there_once_when_a_worker_is_killed(cluster, slow):
    """Twelve windows, four of them under way: after the first is here, both workers count or hold others."""
    address, workers = cluster
    space = space_of(slow, None, {"n": range(1, 25)})
    parts = sweep_parts(space, chunk=2, dask=address)
    rows = next(parts).columns["n"].tolist()
    workers[0].send_signal(signal.SIGKILL)
    assert workers[0].wait(STARTING) == -signal.SIGKILL
    for part in parts:
        assert part.columns["params"].tolist() == [5 * n for n in part.columns["n"].tolist()]
        rows += part.columns["n"].tolist()
    assert rows == list(range(1, 25))


@pytest.mark.full
def test_a_missing_scheduler_is_one_error():
    """Nothing else is printed, neither at once nor when the process ends."""
    done = subprocess.run([sys.executable, "-c", QUIET, "tcp://127.0.0.1:1"], capture_output=True, text=True)
    message = "error: no Dask scheduler answers at `tcp://127.0.0.1:1`\nhint: start one with `dask scheduler`\n"
    assert (done.stdout, done.stderr, done.returncode) == ("", message, 2)


@pytest.mark.parametrize(
    ("address", "hint"),
    [("127.0.0.1:1", "tcp://HOST:PORT"), ("carrier://here:1", "known schemes"), ("tls://127.0.0.1:1", "TLS")],
)
def test_a_wrong_address(capsys, address, hint):
    assert main(["sweep", "mobilenet_v2", "width=1,2", "--dask", address]) == 2
    out, err = capsys.readouterr()
    assert out == "" and hint in err


class Stub:
    """A client whose workers give these answers; without answers it has no workers."""

    def __init__(self, **answers):
        self.answers = answers
        self.scheduler = self
        self.address = "tcp://s"

    def wait_for_workers(self, count, timeout):
        if not self.answers:
            raise TimeoutError

    def run(self, function):
        return {
            name: answer or cloudpickle.loads(cloudpickle.dumps(function))() for name, answer in self.answers.items()
        }


def test_workers_must_have_the_same_versions(monkeypatch):
    here = pc.__version__, sys.version_info[:2]
    windows.refuse_others(Stub(a=here, b=None))  # None: as this process itself answers
    wrong = {
        "`b` has paramcount 0.0.9, but this process has": Stub(a=here, b=("0.0.9", here[1])),
        "`b` runs Python 2.7, but this process runs": Stub(a=here, b=(here[0], (2, 7))),
        "`tcp://s` has no workers": Stub(),
    }
    for message, client in wrong.items():
        with pytest.raises(pc.ArgumentError, match=message):
            windows.refuse_others(client)
    client = Stub(a=None)
    client.run = lambda function: {"a": without_paramcount(monkeypatch, cloudpickle.dumps(function))}
    with pytest.raises(pc.ArgumentError, match="paramcount is not installed on the worker at `a`"):
        windows.refuse_others(client)


def without_paramcount(monkeypatch, function):
    """What a function answers where the package cannot be imported."""
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "paramcount", None)
        return cloudpickle.loads(function)()


def test_another_version_never_counts(monkeypatch):
    carried = windows.packed(space_of("mobilenet_v2", None, {"width": [1.0]}))
    monkeypatch.setattr(pc, "__version__", "0.0.9")
    with pytest.raises(pc.ArgumentError, match="a worker has paramcount"):
        windows.unpacked(carried)
