"""The command line: what it prints, where, and its exit code; as a process where that can make a difference."""

import json
import os
import subprocess
import sys

import pytest

from paramcount.cli.main import main

SMALL = """\
name: Small
input: {image: [8, 8, 3]}
vars: {width: 4}
variants: {wide: {width: 6}, unchecked: {width: 5}}
layers:
  - conv: {out: width, kernel: 3, norm: batch_norm}
  - global_pool
  - dense: 10
expect: {params: 166, weights: 148, macs: 6952, variants: {wide: {params: 245}}}
"""
# 9·3·4 + 4·10 = 148 weights, 2·4 of the norm, 10 biases; 108·64 + 40 MACs. wide: 162 + 60 + 12 + 10 = 244, not 245.


@pytest.fixture
def spec(tmp_path):
    def write(text=SMALL, name="small.yaml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def run(*arguments, **environment):
    """Standard output, standard error and exit code of a run."""
    clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    done = subprocess.run(
        [sys.executable, "-m", "paramcount", *arguments],
        capture_output=True,
        env=clean | {"PYTHONIOENCODING": "utf-8"} | environment,
    )
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    assert "Traceback" not in err
    return out, err, done.returncode


@pytest.fixture
def call(capsys, monkeypatch):
    """A run in this process: standard output, standard error and exit code."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments):
        code = main(list(arguments))
        return *capsys.readouterr(), code

    return call


def test_a_table(spec):
    out, err, code = run(spec())
    assert (err, code) == ("", 0)
    lines = out.splitlines()
    assert lines[0] == "Small"
    assert lines[2].split() == ["layer", "kind", "setting", "output", "params", "weights", "MACs", "share"]
    assert lines[3].split()[:6] == ["conv0", "conv", "3×3", "8×8×4", "116", "108"]
    assert lines[-1] == "expect: equal (params, weights, macs)"
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in out


def test_json(spec, call):
    out, err, code = call(spec(), "--format", "json", "--batch", "2")
    found = json.loads(out)
    assert (err, code) == ("", 0)
    assert (found["totals"]["params"], found["totals"]["macs"]) == (166, 2 * 6952)
    assert found["vars"] == {"width": 4} and found["variant"] is None


def test_variants_and_variables(spec, call):
    assert json.loads(call(spec(), "--variant", "unchecked", "--format", "json")[0])["totals"]["weights"] == 27 * 5 + 50
    out, err, code = call(f"{spec()}:unchecked")
    assert (err, code) == ("", 0)
    assert out.startswith("Small:unchecked\n")
    assert out.splitlines()[-1] == "expect: not checked (variant `unchecked` has no figures)"
    out, err, code = call(spec(), "--set", "width=2 * 4")
    assert (err, code) == ("", 0)
    assert out.splitlines()[-1] == "expect: not checked (vars overridden)"
    assert "216" in out  # 9·3·8


def test_a_difference_is_exit_1(spec, call):
    out, err, code = call(f"{spec()}:wide")
    assert code == 1
    assert "244" in out and out.splitlines()[-1] == "expect: different"
    assert "params: expected 245, counted 244, difference -1" in err
    assert "`conv0` 174, `dense0` 70" in err  # 162 + 12 and 60 + 10
    assert "small.yaml:9:" in err
    out, _, code = call(f"{spec()}:wide", "--format", "json")
    assert code == 1 and json.loads(out)["totals"]["params"] == 244


def test_shipped_specs_by_name():
    out, err, code = run("mobilenet_v2")
    assert (err, code) == ("", 0)
    assert "3,504,872" in out and "300,774,272" in out and "3,469,760" in out and "34,112" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: SPEC[:VARIANT]"),
        (["mlp", "--colums", "layer"], "unknown option `--colums`\nhint: did you mean `--columns`?"),
        (["mlp", "--sort", "parms"], "unknown column `parms`\nhint: did you mean `params`?"),
        (["mlp", "--columns", "layer,flop"], "unknown column `flop`\nhint: did you mean `flops`?"),
        (["mlp", "--batch", "0"], "argument --batch: `0` is not a whole number of at least 1"),
        (["mlp", "--depth", "two"], "argument --depth: `two` is not a whole number of at least 1"),
        (["mlp", "--dtype", "float33"], "unknown dtype `float33`\nhint: did you mean `float32`?"),
        (["mlp", "--set", "width"], "`--set` takes a name and a value, not `width`"),
        (["mlp", "--set", "path=1"], "there is no variable `path`"),
        (["mlp", "more"], "one spec at a time; `more` is left over"),
        (["mlp", "--format", "xml"], "unknown format `xml`\nhint: one of table, json, csv, markdown, latex, html\n"),
        (["mlpp"], "there is no spec `mlpp`\nhint: did you mean `mlp`?"),
        (["./mlp"], "there is no spec `./mlp`: no such file\nhint: did you mean `mlp`?"),
        (["nothing.yml"], "there is no spec `nothing.yml`: no such file\nhint: check the path; `paramcount list`"),
        (["nothing"], "there is no spec `nothing`\nhint: `paramcount list` shows the shipped specs\n"),
        (["tarin", "my.yaml", "--data", "mnist"], "there is no command or spec `tarin`\nhint: did you mean `train`?"),
        (["mesure"], "there is no command or spec `mesure`\nhint: did you mean `measure`?"),
        (["verify"], "the following arguments are required: SPEC[:VARIANT]"),
        (["mlp", "--plugin", "missing.py"], "missing.py"),
    ],
)
def test_wrong_input_is_exit_2(arguments, message, call):
    out, err, code = call(*arguments)
    assert (out, code) == ("", 2)
    assert message in err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["verify", "mlp"], "one spec at a time"),
        (["measure", "mlp"], "one spec at a time"),
        (["trace", "json:dumps"], "the function's arguments follow `--args`"),
        (["train", "mlp", "--data", "mnist"], "one spec at a time"),
        (["zoo", "resnet"], "one word at a time"),
        (["solve", "mlp", "classes"], "one spec and one variable at a time"),
    ],
)
def test_each_command_names_its_own_help(capsys, command, message):
    hint = f"\nhint: `paramcount {command[0]} --help` lists the options\n"
    assert main([*command, "f32[8]"]) == 2
    assert capsys.readouterr().err == f"error: {message}; `f32[8]` is left over{hint}"
    assert main([*command, "--qqqqqqqqqq"]) == 2
    assert capsys.readouterr().err == f"error: unknown option `--qqqqqqqqqq`{hint}"
    assert main([command[0], "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: paramcount {command[0]} ")


def test_an_option_is_no_command(call):
    out, err, code = call("--train", "mlp")
    assert (err, code) == ("", 0) and "sgd" in out


def test_verify_has_its_own_help(call):
    out, err, code = call("verify", "--help")
    assert (err, code) == ("", 0) and out.isascii()
    assert "compare" in out and "--freeze" in out and "--kv-cache" not in out and "--columns" not in out


def test_a_name_beside_its_file(spec, tmp_path, monkeypatch, capsys):
    spec(name="my.yaml")
    monkeypatch.chdir(tmp_path)
    for word, meant in (
        ("my", "./my.yaml"),
        ("my:wide", "./my.yaml:wide"),
        ("mj.yml", "./my.yaml"),
        ("./my", "./my.yaml"),
    ):
        assert main([word]) == 2
        assert f"\nhint: did you mean `{meant}`?\n" in capsys.readouterr().err


def test_help_and_version():
    out, err, code = run("--help")
    assert (err, code) == ("", 0)
    assert "paramcount mobilenet_v2:x0.5" in out and "--columns" in out and out.isascii()
    assert run("--version") == ("paramcount 0.4.0\n", "", 0)


def test_warnings_go_to_stderr(spec, call):
    out, err, code = call(spec(SMALL.replace("vars: {width: 4}", "vars: {width: 4, unused: 1}")))
    assert code == 0
    assert err.startswith("warning: ") and "unused" in err and "unused" not in out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_an_output_that_cannot_take_unicode(spec, encoding):
    path = spec(SMALL.replace("- global_pool", "- {global_pool, name: 卷积-1}").replace("name: Small", "name: 网络"))
    out, err, code = run(path, "--set", "width=4", PYTHONIOENCODING=encoding)
    assert (err, code) == ("", 0)
    assert out.isascii() and "8x8x4" in out and r"\u5377\u79ef-1" in out and "166" in out
    out, err, code = run(spec(SMALL.replace("conv:", "卷积:")), PYTHONIOENCODING=encoding)
    assert (out, code) == ("", 2) and r"\u5377\u79ef" in err


@pytest.mark.parametrize("columns", ["40", "20", "1", "80", "500"])
def test_any_width(columns, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    out, err, code = call("mobilenet_v2")
    assert (err, code) == ("", 0)
    if int(columns) >= 40:
        assert max(map(len, out.splitlines())) <= int(columns)
    assert ("█" in out) == (columns == "500")


@pytest.mark.parametrize("options", [[], ["--format", "json"], ["--depth", "9"]])
def test_an_output_that_closes_early(options):
    command = [sys.executable, "-m", "paramcount", "resnet", *options]
    # What is still in the buffer when Python exits must not fail either.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=buffered) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("command", "code"),
    [("mlp", 0), ("zoo lenet", 0), ("sweep mobilenet_v2 width=0.5,1", 0), ("solve mobilenet_v2 width", 2)],
)
def test_a_closed_standard_error(command, code):
    done = subprocess.run(["sh", "-c", f"{sys.executable} -m paramcount {command} 2>&-"], capture_output=True)
    assert (done.returncode, bool(done.stdout)) == (code, not code)


def test_no_output_at_all():
    command = f"{sys.executable} -m paramcount mlp >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_on_a_terminal_only(environment, coloured):
    import pty

    ours, theirs = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    command = [sys.executable, "-m", "paramcount", "mlp"]
    settings = clean | {"TERM": "xterm", "PYTHONIOENCODING": "utf-8", "COLUMNS": "120"} | environment
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=settings)
    os.close(theirs)
    text = b""
    try:
        while chunk := os.read(ours, 65536):
            text += chunk
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    assert b"668,672" in text
    assert (b"\x1b[" in text) == coloured


def test_names_are_escaped(spec, call):
    name = r'"a\x1b[31m\n' + "b" * 10_000 + '"'
    text = f"name: {name}\ninput: {{features: 3}}\nlayers:\n  - {{dense: 2, name: {name}}}\n"
    out, err, _ = call(spec(text))
    assert "\x1b" not in out + err
    assert len(max((out + err).splitlines(), key=len)) < 1000
    out, err, code = call(spec(SMALL), "--set", "wid\x1b[31mth=3")
    assert code == 2 and "\x1b" not in err and r"\x1b" in err


def test_an_own_kind(spec, tmp_path):
    plugin = tmp_path / "twice.py"
    plugin.write_text(
        '''\
from dataclasses import dataclass
from paramcount import Layer, Work

@dataclass(frozen=True)
class Twice(Layer, kind="twice"):
    """The value times two."""

    def output_shape(self, x):
        return x

    def params(self, x):
        return {}

    def work(self, x):
        return Work(0, x.elements)

    def forward(self, params, x, *, context):
        return 2 * x
'''
    )
    path = spec("input: {features: 3}\nlayers: [twice, dense: 2]\n")
    assert run(path)[2] == 2
    out, err, code = run(path, "--plugin", str(plugin), "--columns", "layer,elementwise")
    assert (err, code) == ("", 0)
    assert ["twice0", "3"] in [line.split() for line in out.splitlines()]


def test_verify():
    pytest.importorskip("jax")
    out, err, code = run("verify", "mlp")
    assert (err, code) == ("", 0)
    assert "669,706" in out
    assert out.splitlines()[-1] == "expect: equal (params, weights, macs)"


def test_verify_in_json(spec, call):
    pytest.importorskip("jax")
    out, err, code = call("verify", "mlp", "--format", "json")
    found = json.loads(out)
    assert (err, code) == ("", 0)
    assert (found["schema"], found["name"], found["ok"], found["differences"]) == (1, "MLP 784-512-512-10", True, [])
    params = next(check for check in found["checks"] if check["name"] == "params")
    assert params == {"name": "params", "counted": 669_706, "in_jax": 669_706, "ok": True, "note": ""}
    out, err, code = call("verify", f"{spec()}:wide", "--format", "json")
    assert code == 1 and json.loads(out)["ok"] and "counted 244" in err


def test_verify_checks_expect(spec, call):
    pytest.importorskip("jax")
    out, err, code = call("verify", f"{spec()}:wide")
    assert code == 1
    assert "all figures agree" in out and out.splitlines()[-1] == "expect: different"
    assert "params: expected 245, counted 244, difference -1" in err


def test_verify_without_jax(tmp_path):
    (tmp_path / "jax.py").write_text("raise ModuleNotFoundError(\"No module named 'jax'\", name='jax')")
    out, err, code = run("verify", "mlp", PYTHONPATH=str(tmp_path))
    assert (out, code) == ("", 2)
    assert "pip install jax\n" in err and len(err.splitlines()) == 2


def test_a_spec_named_like_the_subcommand(spec, tmp_path):
    spec(name="verify")
    done = subprocess.run(
        [sys.executable, "-m", "paramcount", "./verify"], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        ("RecursionError()", 2, "nested too deeply"),
        ("MemoryError()", 2, "memory"),
        ("KeyboardInterrupt()", 130, "stopped\n"),
    ],
)
def test_what_can_happen_anywhere(monkeypatch, capsys, raised, code, said):
    from paramcount.cli import main as cli

    def fail(arguments):
        raise eval(raised)

    monkeypatch.setattr(cli, "run", fail)
    assert cli.main(["mlp"]) == code
    assert said in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["mlp"], ["mlp", "--format", "json"]])
def test_a_full_disk(arguments):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "paramcount", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "error: the output cannot be written: No space left on device\n")


@pytest.mark.parametrize("option, name", [("--output", "a.csv"), ("--plot", "a.pdf")])
def test_a_file_that_grows_too_large(option, name, tmp_path):
    pytest.importorskip("resource")
    if option == "--plot":
        pytest.importorskip("matplotlib")
    pytest.importorskip("numpy")
    source = """
import resource, sys
from paramcount.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
sys.exit(main())
"""
    command = [sys.executable, "-c", source, "sweep", "vit", "depth=1:99", option, name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, f"error: `{name}` cannot be written: File too large\n")


def test_a_spec_from_standard_input():
    done = subprocess.run([sys.executable, "-m", "paramcount", "-"], input=SMALL, capture_output=True, text=True)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.splitlines()[-1] == "expect: equal (params, weights, macs)"
    done = subprocess.run([sys.executable, "-m", "paramcount", "-"], input="[]", capture_output=True, text=True)
    assert done.stderr.startswith("error: <stdin>:1:1: ") and done.returncode == 2


def test_all_levels(spec, call):
    assert [line.split()[0] for line in call(spec(), "--depth", "all")[0].splitlines()[3:6]] == [
        "conv0",
        "conv0",
        "batch_norm0",
    ]


@pytest.mark.parametrize(
    "option", [("--depth", "2"), ("--columns", "params"), ("--sort", "macs"), ("--flat",), ("--top", "3")]
)
def test_json_takes_no_options_of_the_table(spec, option, call):
    out, err, code = call(spec(), "--format", "json", *option)
    assert (out, code) == ("", 2)
    assert err.startswith(f"error: `{option[0]}` is for the other formats, not for json\nhint: ")


@pytest.mark.parametrize("words", [["-"], ["sweep", "-", "n=1"], ["verify", "-"]])
def test_a_spec_from_standard_input_that_is_closed(words, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    assert main(words) == 2
    assert capsys.readouterr().err.startswith("error: a spec `-` is read from standard input, which is closed\nhint: ")
