"""What `--format` prints and `-o` writes: files whole or untouched, and an answer to everything that may be asked."""

import csv
import errno
import io
import json
import os
import signal
import subprocess
import sys

import pytest

from paramcount.cli.main import main, run
from paramcount.render import terminal

WARNED = """
name: "Small\\x07_net"
input: {features: 4}
layers:
  - dense: 8
  - let: {a: [dense: 3]}
  - dense: 10
"""
BEFORE = "before"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files_stand_beside_what_is_printed(capsys, folder):
    assert main(["mobilenet_v2"]) == 0
    printed, _ = capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "500")
        assert main(["mobilenet_v2"]) == 0
    whole, _ = capsys.readouterr()
    names = ["a.txt", "b.json", "c.csv", "d.md", "e.TEX", "f.html"]
    assert main(["mobilenet_v2", *(word for name in names for word in ("-o", name))]) == 0
    out, err = capsys.readouterr()
    assert out == printed and err == "".join(f"wrote {name}\n" for name in names)
    assert sorted(os.listdir(folder)) == names
    assert (folder / "a.txt").read_text("utf-8") == whole != printed
    for name, form in zip(names[1:], ("json", "csv", "markdown", "latex", "html"), strict=True):
        assert main(["mobilenet_v2", "--format", form]) == 0
        assert capsys.readouterr().out == (folder / name).read_text("utf-8")
    params = [int(row["params"]) for row in csv.DictReader((folder / "c.csv").read_text("utf-8").splitlines())]
    assert sum(params) == json.loads((folder / "b.json").read_text())["totals"]["params"]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("-o x.xlsx", "the ending `.xlsx` of `x.xlsx` is unknown\nhint: did you mean `x.csv`?"),
        ("-o x.markdown", "the ending `.markdown` of `x.markdown` is unknown\nhint: did you mean `x.md`?"),
        ("-o -", "`-` is not a file\nhint: `--format` says what is printed"),
        ("-o nofolder/x.md", "`nofolder/x.md` cannot be written: there is no folder `nofolder`"),
        ("-o old.md -o old.md", "`old.md` is given twice\nhint: name a file once"),
        ("-o old.md -o ./old.md", "`./old.md` is given twice\nhint: name a file once"),
        ("-o dir.md", "`dir.md` cannot be written: it is a folder"),
        ("-o full.md", "`full.md` cannot be written: No space left on device"),
        ("-o locked/old.md", "`locked/old.md` cannot be written: Permission denied"),
        ("--format xml", "unknown format `xml`\nhint: one of table, json, csv, markdown, latex, html"),
        ("--json", "unknown option `--json`\nhint: write `--format json`"),
        ("--csv", "unknown option `--csv`\nhint: write `--format csv`"),
        ("--md", "unknown option `--md`\nhint: write `--format markdown`"),
    ],
)
@pytest.mark.parametrize("command", ["lenet", "sweep mobilenet_v2 width=0.5,1"])
def test_what_cannot_be_written_changes_nothing(command, words, answer, capsys, folder):
    for path in (folder / "old.md", folder / "locked" / "old.md"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(BEFORE)
    (folder / "dir.md").mkdir()
    if "full" in words:
        if not os.path.exists("/dev/full"):
            pytest.skip("no full device")
        (folder / "full.md").symlink_to("/dev/full")
    if "locked" in words:
        (folder / "locked").chmod(0o500)
        if os.access(folder / "locked", os.W_OK):
            pytest.skip("nothing is locked for this user")
    before = sorted(os.listdir(folder))
    assert main([*command.split(), *words.split()]) == 2
    assert f"error: {answer}" in capsys.readouterr().err
    (folder / "locked").chmod(0o700)
    assert (folder / "old.md").read_text() == (folder / "locked" / "old.md").read_text() == BEFORE
    assert sorted(os.listdir(folder)) == before and os.listdir(folder / "locked") == ["old.md"]


@pytest.mark.parametrize("when", ["fsync", "replace"])
def test_an_interrupt_leaves_what_was_there(when, capsys, folder, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    (folder / "old.md").write_text(BEFORE)
    monkeypatch.setattr(os, when, stop)
    assert main(["lenet", "-o", "old.md"]) == 130
    assert capsys.readouterr().err == "stopped\n"
    assert (folder / "old.md").read_text() == BEFORE and os.listdir(folder) == ["old.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
@pytest.mark.parametrize("sign", ["SIGINT", "SIGTERM"])
def test_a_process_that_is_stopped_leaves_what_was_there(sign, folder):
    (folder / "old.md").write_text(BEFORE)
    source = f"""
import os, signal, sys
os.fsync = lambda _: os.kill(os.getpid(), signal.{sign})
from paramcount.cli.main import main
sys.exit(main())
"""
    command = [sys.executable, "-c", source, "list", "lenet", "-o", "old.md"]
    assert subprocess.run(command, capture_output=True).returncode == 128 + getattr(signal, sign)
    assert (folder / "old.md").read_text() == BEFORE and os.listdir(folder) == ["old.md"]


@pytest.mark.parametrize(
    "words",
    [
        "./x.json -o x.json",
        "./x.json:small -o x.json",
        "./x.json@n=2 -o link.json",
        "info ./x.json -o ./x.json",
        "check lenet ./x.json -o x.json",
        "compare lenet ./x.json -o a.md -o x.json",
        "sweep ./x.json n=1,2 -o x.json",
        "solve ./x.json n --max-params 50 -o x.json",
    ],
)
def test_what_is_read_is_not_written(words, capsys, folder):
    spec = '{"input": {"features": 4}, "vars": {"n": 2}, "variants": {"small": {}}, "layers": [{"dense": "n"}]}'
    (folder / "x.json").write_text(spec)
    (folder / "link.json").symlink_to("x.json")
    name = words.split()[-1]
    assert main(words.split()) == 2
    assert capsys.readouterr().err == f"error: `{name}` is read, and would be lost\nhint: write to another file\n"
    assert (folder / "x.json").read_text() == spec and sorted(os.listdir(folder)) == ["link.json", "x.json"]


def test_a_plot_and_a_file_are_not_the_same(capsys):
    assert main(["sweep", "mobilenet_v2", "width=0.5,1", "-o", "a.svg", "--plot", "./a.svg"]) == 2
    assert capsys.readouterr().err == "error: `./a.svg` is given twice\nhint: name a file once\n"


class Full(io.StringIO):
    def write(self, _):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("command", ["list lenet", "check lenet"])
def test_a_full_output_loses_no_file(command, folder, monkeypatch):
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(OSError, match="No space left"):
        run([*command.split(), "-o", "a.md"])
    assert (folder / "a.md").exists()


@pytest.mark.parametrize("command", ["{}", "solve {} n --max-params 100"])
def test_files_hold_the_warnings_that_are_printed_apart(command, capsys, folder):
    (folder / "x.yaml").write_text(WARNED.replace("dense: 8", "dense: n").replace("layers", "vars: {n: 8}\nlayers"))
    words = command.format("x.yaml").split()
    assert main([*words, "-o", "x.txt", "-o", "x.md", "-o", "x.json"]) == 0
    out, err = capsys.readouterr()
    warning = "x.yaml:7:11: the name `a` is never used"
    assert err.splitlines()[0] == f"warning: {warning}" and warning not in out
    assert (folder / "x.txt").read_text("utf-8").endswith(f"{out.splitlines()[-1]}\nwarning: {warning}\n")
    assert (folder / "x.md").read_text("utf-8").endswith(f"\n\nwarning: {warning}\n")
    found = json.loads((folder / "x.json").read_text())
    assert found.get("report", found)["warnings"] == [warning]


@pytest.mark.parametrize("form", ["csv", "markdown", "latex", "html"])
def test_an_output_without_unicode(form, monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, "ascii"))
    assert main(["mobilenet_v2", "--format", form]) == 0
    times = {"latex": r"$\times$", "html": "&#215;"}.get(form, "x")
    assert f"112{times}112{times}32" in raw.getvalue().decode()


def test_a_file_does_not_depend_on_the_terminal(folder, monkeypatch):
    assert main(["mobilenet_v2", "-o", "a.txt"]) == 0
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(terminal, "interactive", lambda stream=None: True)
    monkeypatch.setattr(terminal, "encoding", lambda *_: "ascii")
    assert main(["mobilenet_v2", "-o", "b.txt"]) == 0
    assert (folder / "a.txt").read_text("utf-8") == (folder / "b.txt").read_text("utf-8")


def test_a_terminal_gets_no_control_characters(capsys, folder, monkeypatch):
    (folder / "x.yaml").write_text(WARNED.replace("- dense: 8", '- dense: 8\n    name: "a\\x1bb"'))
    assert main(["x.yaml", "--format", "csv"]) == 0
    raw = capsys.readouterr().out
    monkeypatch.setattr(terminal, "interactive", lambda stream=None: True)
    assert main(["x.yaml", "--format", "csv"]) == 0
    shown = capsys.readouterr().out
    assert shown == raw.replace("\x1b", r"\x1b") and "\x1b" not in shown


def test_options_of_the_rows_mean_the_same_in_every_format(capsys):
    chosen = ["--flat", "--top", "2", "--sort", "macs", "--columns", "path,macs"]
    for form in ("table", "csv", "markdown", "latex", "html"):
        assert main(["lenet", "--format", form, *chosen]) == 0
        out = capsys.readouterr().out.replace("\\_", "_")
        assert out.index("conv1.conv0") < out.index("conv0.conv0") and "dense0" not in out, form


def test_csv_says_apart_that_there_are_more_rows(capsys):
    sweep = "sweep mobilenet_v2 width=0.5:1.5:0.1 resolution=64,0 --columns macs --format csv"
    assert main(sweep.split()) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 11
    first, invalid, hint = err.splitlines()
    assert first == "22 variants, 11 kept, 10 shown" and invalid.startswith("11 invalid: ")
    assert hint == "hint: `--output rows.csv` writes all rows, `--top N` prints more"
    assert main(["sweep", "mobilenet_v2", "width=0.5,1", "--format", "csv"]) == 0
    assert not capsys.readouterr().err
