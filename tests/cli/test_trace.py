"""`paramcount trace` as a process: functions by name, arguments by type and sizes."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("jax")

from paramcount.backend.trace.described import argument, dtype, trips
from paramcount.cli.main import main
from paramcount.errors import ArgumentError

MODULE = """\
import jax
from jax import lax, numpy as jnp

@jax.jit
def forward(x, tokens):
    with jax.named_scope("embed"):
        x = x[tokens]
    with jax.named_scope("mix"):
        return x @ x.T

class Solver:
    def solve(self, x, steps):
        return lax.while_loop(lambda c: c[0] < steps, lambda c: (c[0] + 1, c[1] @ c[1]), (0, x))[1]

    def repeat(self, x, steps, twice=False):
        x = lax.fori_loop(0, steps, lambda i, x: x @ x, x)
        return x @ x if twice else x

solver = Solver()
number = 3

def wrong(x):
    return x @ x.T @ x.T

def foreign(x):
    return jax.pure_callback(lambda x: x, x, x) @ x
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    (tmp_path / "my_model.py").write_text(MODULE)
    (tmp_path / "broken.py").write_text("import no_such_package\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*arguments):
        code = main(["trace", *arguments])
        return *capsys.readouterr(), code

    yield run
    sys.modules.pop("my_model", None)


def test_a_function_of_this_directory(run):
    out, err, code = run("my_model:forward", "--args", "float32[100,16]", "int32[8]")
    assert (err, code) == ("", 0)
    lines = out.splitlines()
    assert lines[0] == "my_model:forward(float32[100,16], int32[8])"
    assert lines[2].split() == ["layer", "kind", "output", "MACs", "share"]
    assert lines[-1].startswith("as traced; MACs include padding")
    found = json.loads(run("my_model:forward", "--args", "f32[100,16]", "i32[8]", "--format", "json")[0])
    assert found["totals"]["macs"] == 8 * 16 * 8
    assert [row["path"] for row in found["rows"] if row["macs"]] == ["mix"]


def test_budgets(run):
    multiply = ("jax.numpy:matmul", "--args", "f32[25,16]", "f32[16,9]")  # 25 * 16 * 9 MACs
    out, err, code = run(*multiply, "--max-macs", "3.6k", "--min-forward-macs", "1k")
    assert (err, code) == ("", 0) and out.endswith("budget: kept (macs at most 3.6k, forward_macs at least 1k)\n")
    out, err, code = run(*multiply, "--max-macs", "3k")
    assert code == 1 and out.endswith("budget: not kept\n")
    assert "macs 3,600 is over the budget of 3k by 600 (+20.0%)\n  largest: matmul 3.60 k" in err
    out, err, code = run(*multiply, "--max-params", "3k")  # which nobody told
    assert (out, code) == ("", 2) and "`params` is not known here" in err


def test_an_installed_function_and_columns(run):
    out, err, code = run("jax.numpy:matmul", "--args", "bfloat16[25,16]", "bf16[16,9]", "--columns", "layer,flops")
    assert (err, code) == ("", 0)
    assert out.splitlines()[2:4] == ["layer    FLOPs", "matmul  7.20 k"]


def test_methods_numbers_and_loops(run):
    assert "MACs                      640" in run("my_model:solver.repeat", "--args", "f32[4,4]", "10")[0]
    assert "MACs                      704" in run("my_model:solver.repeat", "--args", "f32[4,4]", "10", "true")[0]
    arguments = "my_model:solver.solve", "--args", "f32[4,4]", "int32[]"
    out, err, code = run(*arguments)
    assert (out, code) == ("", 2) and "nothing says how many times `while` runs its dot_general" in err
    assert "MACs                      640" in run(*arguments, "--trips", "10")[0]
    out, err, code = run(*arguments, "--trips", "unknown")
    assert (err, code) == ("", 0) and "not counted: while: unknown trips of 64 MACs each" in out


def test_uncounted_operations(run):
    out, err, code = run("my_model:foreign", "--args", "f32[4,4]")
    assert (out, code) == ("", 2) and "no rule says what `pure_callback` costs" in err
    out, err, code = run("my_model:foreign", "--args", "f32[4,4]", "--no-strict")
    assert (err, code) == ("", 0) and "MACs counted             64" in out and "NOT counted: 1 operation" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: MODULE:FUNCTION"),
        (["my_model"], "`my_model` does not name a function\nhint: give the module as it is imported"),
        (["my_modell:forward"], "there is no module `my_modell`"),
        (["broken:forward"], "`broken` cannot be imported: No module named 'no_such_package'"),
        (["my_model:forwards"], "`my_model` has no `forwards`\nhint: did you mean `forward`?"),
        (["my_model:number"], "`my_model:number` is of type int, not a function"),
        (["my_model:forward", "--args", "float32(3,4)"], "`float32(3,4)` is not a valid argument\nhint: write it like"),
        (["my_model:forward", "--args", "flaot32[3,4]"], "unknown dtype `flaot32`\nhint: did you mean `float32`?"),
        (["my_model:forward", "--args", "f32[3,4]"], "tracing `my_model:forward` failed: TypeError:"),
        (["my_model:wrong", "--args", "f32[3,4]"], "tracing `my_model:wrong` failed: TypeError: dot_general"),
        (["my_model:wrong", "--arg", "f32[3,4]"], "unknown option `--arg`\nhint: write `--args 'f32[3,4]'`"),
        (["my_model:foreign", "--args", "f32[4,4]", "--no-strict", "--sort", "mac"], "unknown column `mac`"),
    ],
)
def test_mistakes(run, arguments, message):
    out, err, code = run(*arguments)
    assert (out, code) == ("", 2)
    assert err.startswith(f"error: {message}"), err


def test_arguments():
    assert argument(" bf16[ 3, 4, ] ").shape == (3, 4)
    assert argument("float8_e4m3fn[2]").dtype.name == "float8_e4m3fn"
    assert argument("int32[]").shape == () and argument("bool[2]").dtype == bool
    assert (argument("-3"), argument("0.5"), argument("False"), argument("none")) == (-3, 0.5, False, None)
    for text in ("float32[3,,4]", "float32[3,x]", "float32[-1]", "[3]", "float32", "", "None[3]"):
        with pytest.raises(ArgumentError):
            argument(text)
    for name in ("floating", "interp", "numpy", "integer", "object"):
        with pytest.raises(ArgumentError, match="unknown dtype"):
            dtype(name)


def test_trips():
    assert (trips([]), trips(["3"]), trips(["unknown"])) == (None, 3, "unknown")
    assert trips(["a/b=3", "c=unknown"]) == {"a/b": 3, "c": "unknown"}
    with pytest.raises(ArgumentError):
        trips(["3", "a=4"])


@pytest.mark.full
def test_as_a_process(run):
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "paramcount", "trace", "my_model:forward", "--args", "f32[9,4]", "i32[8]"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout == run("my_model:forward", "--args", "f32[9,4]", "i32[8]")[0]


def test_help_names_the_command(capsys):
    assert main(["--help"]) == 0
    assert "\n  trace " in capsys.readouterr().out
    assert main(["trace", "--help"]) == 0
    assert "MODULE:FUNCTION" in capsys.readouterr().out
