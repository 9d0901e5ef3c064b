"""Two processes that train together over the loopback interface, compared with one."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys

import numpy
import pytest

from paramcount.backend.train.checkpoint import load
from paramcount.backend.train.processes import join
from paramcount.cli.main import main
from paramcount.errors import ArgumentError

pytest.importorskip("optax", reason="needs optax")
pytest.importorskip("safetensors", reason="needs safetensors")

SPEC = """
input: {image: [4, 4, 1]}
layers:
  - conv: {out: 3, kernel: 3, norm: batch_norm, activation: relu}
  - dropout: 0.2
  - flatten
  - dense: 3
"""
SCRIPT = """
import json, sys
import jax
import numpy
import paramcount as pc

rank = int(sys.argv[2])
jax.distributed.initialize(sys.argv[1], 2, rank)
x = numpy.random.default_rng(0).normal(size=(12, 5)).astype("float32")
y = numpy.arange(12) % 3
network = pc.Network([pc.Dense(4), pc.BatchNorm(), pc.Relu(), pc.Dense(3)], input=5)
result = pc.train(network, [(x[:8], y[:8]), (x[4:], y[4:])], devices=2, epochs=2, staleness=1, test=[(x[:5], y[:5])])
print(json.dumps({
    "epochs": [[each.loss, each.train, each.test] for each in result.epochs],
    "mean": numpy.asarray(result.buffers["batch_norm0"]["mean"]).tolist(),
    "weight": numpy.asarray(result.params["dense0"]["weight"]).tolist(),
    "reduction": [result.reduction.compiled, result.reduction.predicted],
}))
"""


@pytest.fixture
def pair(tmp_path):
    """A function that runs a command in two processes and returns the output of both."""
    running = []

    def run(command, devices):
        port = free_port()
        flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
        environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
        for rank in (0, 1):
            arguments = [sys.executable, "-W", "ignore", *command(f"127.0.0.1:{port}", rank)]
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
            running.append(subprocess.Popen(arguments, env=environment, cwd=tmp_path, **pipes))
        outcomes = [(*process.communicate(timeout=120), process.returncode) for process in running]
        assert [code for *_, code in outcomes] == [0, 0], outcomes
        return [re.sub(r"\[Gloo\].*\n", "", out) for out, *_ in outcomes]  # what the library logs

    yield run
    for process in running:
        process.kill()
        process.wait()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.mark.full
def test_from_python(pair):
    from paramcount.backend.train.train import train
    from paramcount.graph.network import Network
    from paramcount.layers.activation import Relu
    from paramcount.layers.batch_norm import BatchNorm
    from paramcount.layers.dense import Dense

    first, second = map(json.loads, pair(lambda at, rank: ["-c", SCRIPT, at, str(rank)], devices=1))
    assert first == second
    x = numpy.random.default_rng(0).normal(size=(12, 5)).astype("float32")
    y = numpy.arange(12) % 3
    network = Network([Dense(4), BatchNorm(), Relu(), Dense(3)], input=5)
    one = train(network, [(x[:8], y[:8]), (x[4:], y[4:])], epochs=2, staleness=1, test=[(x[:5], y[:5])])
    epochs = [[each.loss, each.train, each.test] for each in one.epochs]
    numpy.testing.assert_allclose(first["epochs"], epochs, rtol=1e-5)
    numpy.testing.assert_allclose(first["mean"], one.buffers["batch_norm0"]["mean"], rtol=1e-4, atol=1e-6)
    numpy.testing.assert_allclose(first["weight"], one.params["dense0"]["weight"], rtol=1e-4, atol=1e-6)
    assert first["reduction"] == [4 * (5 * 4 + 4 + 2 * 4 + 4 * 3 + 3 + 1 + 5 * 4)] * 2


@pytest.mark.full
def test_the_command_resumes_what_one_process_started(pair, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    generator = numpy.random.default_rng(1)
    numpy.savez("data.npz", x_train=generator.random((32, 4, 4)), y_train=generator.integers(0, 3, 32))
    (tmp_path / "net.yaml").write_text(SPEC, encoding="utf-8")
    shared = [
        "train",
        "./net.yaml",
        "--data",
        "data.npz",
        "--batch",
        "16",
        "--lr",
        "0.1",
        "--optimizer",
        "adam",
        "--checkpoint",
    ]
    assert main([*shared, "one", "--epochs", "1"]) == 0
    shutil.copy("one", "two")
    assert main([*shared, "one", "--epochs", "2", "--resume"]) == 0
    rest = ["two", "--epochs", "2", "--resume", "--devices", "4", "--processes", "2"]

    def command(at, rank):
        return ["-m", "paramcount", *shared, *rest, "--coordinator", at, "--process", str(rank)]

    first, second = pair(command, devices=2)
    assert second == ""
    assert "all-reduce over 4 devices" in first
    assert scores(first) == scores(capsys.readouterr().out)[1:]  # those of epoch 1
    (one, one_meta), (two, two_meta) = load("one"), load("two")
    assert one.keys() == two.keys() and len(json.loads(two_meta["epochs"])) == len(json.loads(one_meta["epochs"])) == 2
    for name, array in one.items():
        numpy.testing.assert_allclose(two[name], array, rtol=1e-3, atol=1e-4, err_msg=name)


def scores(printed):
    return re.findall(r"^(epoch \d+  loss \S+  train \S+)", printed, re.MULTILINE)


@pytest.mark.parametrize(
    "options",
    [
        "--coordinator 127.0.0.1:9",
        "--processes 2",
        "--process 0",
        "--processes 2 --process 0",
        "--coordinator h:9 --process 0",
    ],
)
def test_options_that_come_together(options, capsys):
    assert main(["train", "mlp", "--data", "nowhere", *options.split()]) == 2
    error = "error: `--coordinator`, `--processes` and `--process` belong together\nhint: give all three, or none\n"
    assert capsys.readouterr() == ("", error)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("127.0.0.1:9", 2, 2), "process 2 is not one of 2\nhint: they are 0 to 1"),
        (("127.0.0.1:9", 2, -1), "process -1 is not one of 2\nhint: they are 0 to 1"),
        (("127.0.0.1:9", 1, 1), "process 1 is not one of 1\nhint: the only one is 0"),
        (("127.0.0.1", 2, 0), "the coordinator must be HOST:PORT, not `127.0.0.1`"),
        ((":80", 2, 0), "the coordinator must be HOST:PORT, not `:80`"),
        (("host:http", 2, 0), "the coordinator must be HOST:PORT, not `host:http`"),
        (("host:0", 2, 0), "the coordinator must be HOST:PORT, not `host:0`"),
        (("host:70000", 2, 0), "the coordinator must be HOST:PORT, not `host:70000`"),
    ],
)
def test_wrong_processes(arguments, said):
    with pytest.raises(ArgumentError) as caught:
        join(*arguments)
    assert str(caught.value).startswith(said)


def test_nothing_listens():
    at = f"127.0.0.1:{free_port()}"
    with pytest.raises(ArgumentError) as caught:
        join(at, 2, 1, patience=0.3)
    assert str(caught.value).startswith(f"nothing listens at `{at}`: ") and "start process 0" in caught.value.hint


def test_the_port_is_taken():
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(ArgumentError, match=f"cannot listen on port {port}: Address already in use"):
            join(f"127.0.0.1:{port}", 2, 0)
