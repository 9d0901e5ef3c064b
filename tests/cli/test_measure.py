"""`paramcount measure`: what it prints, and its errors. Times are not looked at."""

import json
import re

import pytest

pytest.importorskip("jax")

from paramcount.backend.measure import measure as measuring
from paramcount.backend.measure.result import HEADINGS, Measurement, Measurements
from paramcount.cli.main import main
from paramcount.graph.network import Subject
from paramcount.layers.layer import Shape
from paramcount.render.table import render


@pytest.fixture
def run(capsys, monkeypatch):
    monkeypatch.setattr(measuring, "matmul_peak", lambda: 1e9)
    monkeypatch.setenv("COLUMNS", "140")

    def run(*arguments):
        code = main(["measure", *arguments])
        return *capsys.readouterr(), code

    return run


def test_a_table(run):
    out, err, code = run("lenet", "--batch", "1,4", "--repeats", "3")
    assert (err, code) == ("", 0)
    lines = out.splitlines()
    assert lines[0] == "LeNet-5"
    titles = ["batch", "time", "quartiles", "runs", "examples/s", "MACs", "FLOP/s", "share", "predicted", "compiled"]
    assert lines[2].split() == titles
    assert [line.split()[0] for line in lines[3:5]] == ["1", "4"]
    assert "417 k" in lines[3] and "1.67 M" in lines[4]  # 416,520 MACs an example
    below = " ".join(lines[6:])
    what = "cpu, float32, the forward computation (one example: image 28×28×1)"
    assert f"{what}; batch = examples at once; time = median of the runs;" in below
    assert "; share = of 1.00 GFLOP/s, the fastest large matrix product here; predicted = bytes of memory" in below


def test_json_of_a_step(run):
    pytest.importorskip("optax", reason="needs optax")
    options = ("--train", "--optimizer", "adam", "--batch", "2", "--repeats", "2", "--format", "json")
    out, err, code = run("mlp", *options)
    assert (err, code) == ("", 0)
    found = json.loads(out)
    assert list(found) == [
        *("schema", "name", "variant", "vars", "set"),
        *("device", "dtype", "optimizer", "peak", "convention", "remark", "rows"),
    ]
    assert (found["schema"], found["optimizer"], found["peak"]) == (1, "adam", 1e9)
    (row,) = found["rows"]
    assert (row["batch"], row["repeats"], row["macs"], row["flops"]) == (2, 2, 2 * 1604608, 4 * 1604608)
    assert 0 < row["low"] <= row["seconds"] <= row["high"]
    # parameters, gradients and two moments; input, both layers with their activations, output; loss
    assert row["predicted_bytes"] == 4 * (4 * 669706 + 2 * (784 + 4 * 512 + 10) + 2 * 2 * 10)
    assert set(row) >= {"compiled_bytes", "examples_per_second", "rate", "share", "peak"}


def test_variants_and_variables(run):
    out, _, code = run("mobilenet_v2:x0.5", "--set", "resolution=32", "--repeats", "1", "--format", "json")
    assert code == 0 and json.loads(out)["rows"][0]["macs"] < 10_000_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lenet", "--batch", "0"], "argument --batch: `0` is not a whole number of at least 1"),
        (["lenet", "--batch", "1,,2"], "argument --batch: `` is not a whole number of at least 1"),
        (["lenet", "--optimizer", "adam"], "`--optimizer` is for training\nhint: add `--train`"),
        (["lenet", "--repeat", "3"], "unknown option `--repeat`\nhint: write `--repeats 3`"),
        (["llama", "--batch", "1000000"], "a batch of 1000000 would take about"),
        (["no_such_spec"], "no_such_spec"),
    ],
)
def test_errors(run, arguments, message):
    out, err, code = run(*arguments)
    assert (out, code) == ("", 2)
    assert message in err


ROW = Measurement(8, 0.0123, 0.011, 1.5, 40, 10**6, 2 * 10**6, 10**9, 2**20, 3 * 2**20)
FOUND = Measurements(Subject("Net", inputs={"input": Shape.of(8)}), (ROW,), "cpu", 10**9, "sgd")


def test_units():
    line = render(FOUND.sheet(), width=200, encoding="utf-8").splitlines()[3]
    cells = "8 12.3 ms 11.0 ms – 1.50 s 40 650 1.00 M 163 M 16.3% 1.00 MiB 3.00 MiB"
    assert line.split() == cells.split()


def test_figures_below_one_keep_their_digits():
    slow = Measurement(1, 2.2727, 2.2, 2.3, 5, 100, 200, 10**6, 2**20, 2**20)
    found = Measurements(Subject("Net", inputs={"input": Shape.of(8)}), (slow,), "cpu", 10**6)
    line = render(found.sheet(), width=200, encoding="utf-8").splitlines()[3]
    # 1 / 2.2727 examples, 200 / 2.2727 = 88.0 FLOPs a second, 0.0088% of a million
    cells = "1 2.27 s 2.20 s – 2.30 s 5 0.44 100 88 0.0088% 1.00 MiB 1.00 MiB"
    assert line.split() == cells.split()


def test_a_share_above_all_gets_a_remark():
    fast = ROW._replace(peak=ROW.flops / ROW.seconds / 1.96)
    found = Measurements(Subject("Net", inputs={"input": Shape.of(8)}), (fast,), "cpu", fast.peak)
    text = str(found)
    assert "196.0%" in text and "a share above 100%: the machine was busy" in text
    assert found.to_dict()["remark"].startswith("a share above 100%")
    assert FOUND.remark == "" and "above 100%" not in str(FOUND)


@pytest.mark.parametrize("width", [200, 95, 60])
def test_every_column_that_is_shown_is_explained(width):
    lines = render(FOUND.sheet(), width=width, encoding="utf-8").splitlines()
    below = " ".join(lines[5:])
    assert [part.split(" = ")[0] for part in below.split("; ")[1:]] == lines[2].split()
    assert ("runs =" in below) == (width > 60)


def test_help_explains_every_column(run):
    out, _, code = run("--help")
    lines = [each.split(maxsplit=1) for each in out.split("columns:\n")[1].split("\n\n")[0].splitlines()]
    assert code == 0 and [name for name, _ in lines] == [each.title for each in HEADINGS if each.meaning]
    assert ["share", "of the FLOP/s of the fastest large matrix product here"] in lines


def test_progress_on_a_terminal(run, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    _, err, code = run("lenet", "--batch", "1,4", "--repeats", "1")
    said = [line.strip() for line in re.split(r"\r\x1b\[K", err)]
    assert code == 0 and [re.sub(r"[\d.]+ (µs|ms|s)", "TIME", line) for line in said] == [
        *("", "measuring matrix products"),
        *("batch 1: compiling", "batch 1: running", "batch 1: TIME"),
        *("batch 4: compiling", "batch 4: running", "batch 4: TIME", ""),
    ]


def test_stopped_by_hand(run, monkeypatch):
    def stop(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(measuring, "measure", stop)
    assert run("lenet") == ("", "stopped\n", 130)


def test_a_narrow_terminal_and_ascii():
    text = render(FOUND.sheet(), width=60, encoding="ascii")
    assert text.isascii() and max(map(len, text.splitlines())) <= 60
    titles = text.splitlines()[2].split()
    assert titles == ["batch", "time", "FLOP/s", "share", "predicted", "compiled"]
