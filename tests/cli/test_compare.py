"""`paramcount compare`: what stands on each side, exit codes, formats, and errors; and the variables behind an @."""

import csv
import io
import json
import sys

import pytest

from paramcount.cli.main import main
from paramcount.language.load import load


@pytest.fixture
def run(capsys, monkeypatch):
    def call(*arguments, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        code = main(list(arguments))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return call


@pytest.fixture
def saved(run, tmp_path):
    def save(spec, *options, name="base.json"):
        path = tmp_path / name
        path.write_text(run(spec, *options, "--format", "json")[1], encoding="utf-8")
        return str(path)

    return save


def test_two_specs(run):
    code, out, err = run("compare", "mobilenet_v2", "mobilenet_v2:x0.5")
    lines = out.splitlines()
    assert (code, err, lines[0]) == (0, "", "mobilenet_v2  →  mobilenet_v2:x0.5")
    assert lines[-2] == "0 added (+), 0 removed (-), 14 changed (~), 2 equal"


def test_the_exit_code(run):
    assert run("compare", "mlp", "mlp", "--fail-on-change")[0] == 0
    assert run("compare", "resnet:18", "resnet:34", "--fail-on-change")[0] == 1
    assert run("compare", "mlp", "mlp", "lenet", "--fail-on-change")[0] == 1
    assert run("compare", "resnet:18", "resnet:34")[0] == 0


def test_options_of_rows(run):
    out = run("compare", "llama:2-7b", "llama:3-8b", "--depth", "3", "--changed", "--columns", "layer,params")[1]
    rows = out.split("\n\n")[3].splitlines()
    assert [row.split()[:2] for row in rows[1:]] == [
        ["~", name] for name in ("embedding0", "block[0:32]", "residual0", "attention0", "residual1", "ffn0", "dense0")
    ]
    assert rows[3].startswith("~    residual0")
    exact = run("compare", "llama:2-7b", "llama:3-8b", "--columns", "params", "--exact")[1]
    assert "6,476,267,520  6,979,584,000" in exact


def test_variables(run):
    _, out, _ = run("compare", "mobilenet_v2", "mobilenet_v2@width=0.5", "--set", "resolution=192", "--format", "json")
    found = json.loads(out)
    assert found["totals"]["params"] == [3_504_872, 1_968_680]
    assert found["variables"] == {"width": [1.0, 0.5]}
    assert "image 192×192×3" in found["convention"]
    _, out, _ = run("compare", "mobilenet_v2", "mobilenet_v2@width=0.5", "--set", "resolution=192")
    assert out.splitlines()[-1] == "set in all: resolution=192"
    code, _, err = run("compare", "mobilenet_v2", "mlp", "--set", "width=2")
    assert (code, err) == (2, "error: `mlp` has no variable `width`\nhint: it has no variables\n")
    code, _, err = run("compare", "mlp", "mobilenet_v2", "--set", "widht=2")
    assert (code, err.splitlines()[0]) == (2, "error: `mlp` has no variable `widht`")
    code, _, err = run("compare", "mobilenet_v2", "mobilenet_v2", "--set", "widht=2")
    assert err == "error: `mobilenet_v2` has no variable `widht`\nhint: did you mean `width`?\n"
    code, _, err = run("compare", "mobilenet_v2@width=1", "mobilenet_v2", "--set", "width=2")
    assert (code, err.splitlines()[0]) == (2, "error: `width` is given twice")


def test_settings_of_counting(run):
    found = json.loads(run("compare", "mlp", "lenet", "--batch", "8", "--train", "--format", "json")[1])
    assert found["convention"].startswith("8 examples: ") and "training: " in found["convention"]
    assert found["totals"]["macs"][0] == 8 * 668_672  # 784 · 512 + 512 · 512 + 512 · 10
    assert "train_macs" in found["totals"]


def test_saved_counts(run, saved):
    base = saved("resnet:18")
    code, out, err = run("compare", base, "resnet:18", "--fail-on-change")
    assert (code, err) == (0, "")
    assert out.splitlines()[2].split() == ["base.json", "resnet:18", "change"]
    assert run("compare", base, "resnet:34", "--fail-on-change")[0] == 1
    eight = saved("resnet:18", "--batch", "8", name="eight.json")
    code, _, err = run("compare", base, eight)
    assert code == 2
    assert (
        err.splitlines()[0] == f'error: `{base}` and `{eight}` were counted differently: "one example" and "8 examples"'
    )
    assert run("compare", eight, "resnet:18", "--batch", "8", "--fail-on-change")[0] == 0
    code, _, err = run("compare", base, eight, "--batch", "8")
    assert err.startswith("error: `--batch` is for counting, and all of these were counted already\n")
    code, _, err = run("compare", base, "resnet:18", "--set", "basic=true")
    assert err.splitlines() == [
        f"error: `{base}` was counted already, so `--set` cannot set its variables",
        "hint: write `SPEC@basic=true` for those that it is for",
    ]
    code, _, err = run("compare", f"{base}@basic=true", "resnet:18")
    assert (code, err.splitlines()[0]) == (2, f"error: `{base}` was counted already")


def test_standard_input(run, saved):
    with open(saved("resnet:18"), encoding="utf-8") as file:
        text = file.read()
    code, out, _ = run("compare", "-", "resnet:18", "--fail-on-change", stdin=text)
    assert (code, out.splitlines()[0]) == (0, "ResNet:18  →  resnet:18")
    spec = "name: Mine\ninput: {features: 8}\nvars: {n: 8}\nlayers: [dense: n]\n"
    out = run("compare", "mlp", "-", "--format", "json", stdin=spec)[1]
    assert json.loads(out)["names"] == ["mlp", "Mine"] and json.loads(out)["totals"]["params"][1] == 72
    code, _, err = run("compare", "-", "-", stdin=spec)
    assert (code, err.splitlines()[0]) == (2, "error: standard input, `-`, can be read once")
    code, _, err = run("compare", "mlp", "-", stdin='{"schema": 1')
    assert (code, err.splitlines()[0][:30]) == (2, "error: `<stdin>` is not JSON: ")


def test_formats(run, tmp_path):
    code, out, _ = run("compare", "resnet:18", "resnet:50", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    for side, total in (("a", 11_689_512), ("b", 25_557_032)):
        assert sum(int(row[f"params_{side}"]) for row in rows if row["depth"] == "1") == total
    assert [row["change"] for row in rows[:5]] == ["equal", "equal", "changed", "changed", "added"]
    target = tmp_path / "found.json"
    code, _, err = run("compare", "resnet:18", "resnet:50", "-o", str(target), "--depth", "2")
    assert (code, err) == (0, f"wrote {target}\n")
    assert json.loads(target.read_text())["totals"]["params"] == [11_689_512, 25_557_032]
    code, _, err = run("compare", "mlp", "mlp", "--format", "json", "--changed")
    assert (code, err.splitlines()[0]) == (2, "error: `--changed` is for the other formats, not for json")


def test_a_terminal(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    marks = [line.split()[0] for line in run("compare", "resnet:18", "resnet:50")[1].splitlines() if "unit0[1]" in line]
    assert marks == ["~", "~", "\x1b[32m+\x1b[0m"]
    marks = [line.split()[0] for line in run("compare", "resnet:50", "resnet:18")[1].splitlines() if "unit0[1]" in line]
    assert marks == ["~", "~", "\x1b[31m-\x1b[0m"]
    monkeypatch.delenv("FORCE_COLOR")
    monkeypatch.setattr("paramcount.render.terminal.encoding", lambda stream=None: "ascii")
    out = run("compare", "resnet:50", "resnet:18")[1]
    assert out.isascii()
    assert "resnet:50  ->  resnet:18" in out and "-54.3%" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["resnet:18"], "error: `compare` takes two specs or more\nhint: `paramcount compare resnet:18 resnet:50`\n"),
        ([], "error: `compare` takes two specs or more\nhint: `paramcount compare resnet:18 resnet:50`\n"),
        (["resnet:18", "resnet:51"], "error: `ResNet` has no variant `51`\nhint: did you mean `50`?\n"),
        (["resnet:18", "resnt:50"], "error: there is no spec `resnt:50`\nhint: did you mean `resnet:50`?\n"),
        (["mlp", "mlp", "width=2"], "error: `width=2` is not a spec\nhint: write `--set width=2` to set it in all, "),
        (["mlp", "mlp", "--columns", "parms"], "error: unknown column `parms`\nhint: did you mean `params`?\n"),
        (["mlp", "mlp", "mlp", "--columns", "layer"], "error: unknown column `layer`\n"),
        (["mlp", "mlp", "--chnged"], "error: unknown option `--chnged`\nhint: did you mean `--changed`?\n"),
        (["mlp", "mlp", "mlp", "--depth", "2"], "error: three networks or more are a row each"),
    ],
)
def test_errors(run, arguments, message):
    code, out, err = run("compare", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(message)


def test_what_is_guessed(run):
    assert run("mobilenet_v2", "width=0.5")[2].splitlines()[1] == "hint: write `--set width=0.5`"
    hint = "hint: to compare them, write `paramcount compare resnet:18 resnet:50`"
    assert run("resnet:18", "resnet:50")[2].splitlines()[1] == hint
    assert "paramcount compare" in run("diff", "resnet:18", "resnet:50")[2]


def test_variables_behind_a_spec(run):
    code, out, err = run("mobilenet_v2:x0.5@width=0.75,resolution=192")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == str(load("mobilenet_v2:x0.5", width="0.75", resolution="192").subject)
    lists = run("resnet:18@depths=[3,4,6,3],basic=false", "--columns", "params")[1]
    assert lists.split("\n\n")[1:3] == run("resnet:50", "--columns", "params")[1].split("\n\n")[1:3]
    code, _, err = run("mobilenet_v2@width=1", "--set", "width=2")
    assert (code, err.splitlines()[0]) == (2, "error: `width` is given twice")
    assert run("mobilenet_v2@widht=1")[2] == "error: there is no variable `widht`\nhint: did you mean `width`?\n"
    assert "1,968,680" in run("sweep", "mobilenet_v2@width=0.5", "resolution=64,128")[1]


def test_markdown_of_a_pull_request(run):
    out = run("compare", "mobilenet_v2", "mobilenet_v2:x0.5", "--format", "markdown")[1]
    head, folded = out.split("<details><summary>14 changed rows</summary>")
    assert "| 3,504,872 |" in " ".join(head.split()) and "−43.8%" in head
    assert "variables: width 1.0 → 0.5" in head
    assert "bottleneck0" not in head and "bottleneck0" in folded and "</details>" in folded
