"""Files of rows: complete or not there, whatever happens while they are written."""

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import paramcount as pc
from paramcount.cli.main import main
from paramcount.language.load import fresh_syntax
from paramcount.render.replacement import Replacement
from paramcount.sweeps.file import RowFile
from paramcount.sweeps.sweep import space_of, sweep_parts

SPEC = "{input: {features: 4}, vars: {n: 1, m: 1}, layers: [dense: n]}"
LONG = ("sweep", "mobilenet_v2", "width=0.3:3:0.001", "resolution=32:512")  # seconds


def written(path, chunk, **variables):
    """The number of rows in a file that a sweep writes part by part."""
    space = space_of(fresh_syntax(SPEC, "<text>"), None, variables)
    parts = list(sweep_parts(space, chunk=chunk, workers=1))
    with RowFile(str(path), [*variables, "params"]) as file:
        for part in parts:
            file.append(part)
    return file.count


FORMATS = ["csv", "json", "parquet"]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    "sign", ["SIGINT", *(pytest.param(each, marks=pytest.mark.full) for each in ("SIGTERM", "SIGHUP"))]
)
def test_a_stopped_sweep_leaves_what_was_there(tmp_path, kind, sign):
    if not hasattr(signal, sign) or sys.platform == "win32":
        pytest.skip("no such signal")
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"rows.{kind}"
    path.write_text("before")
    command = [sys.executable, "-m", "paramcount", *LONG, "--output", path]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    until = time.monotonic() + 60
    while not any(each.stat().st_size for each in tmp_path.glob(".*.partial")):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(getattr(signal, sign))
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + getattr(signal, sign)
    assert err.decode() == ("stopped\n" if sign == "SIGINT" else "")
    assert path.read_text() == "before" and os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_full_disk_leaves_what_was_there(tmp_path, kind):
    pytest.importorskip("resource")
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"rows.{kind}"
    path.write_text("before")
    source = """
import resource, sys
from paramcount.cli.main import main
from paramcount.errors import ArgumentError
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
sys.exit(main())
"""
    command = [sys.executable, "-c", source, "sweep", "vit", "depth=1:99", "--output", path.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, f"error: `{path.name}` cannot be written: File too large\n")
    assert path.read_text() == "before" and os.listdir(tmp_path) == [path.name]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
@pytest.mark.parametrize("kind", FORMATS)
def test_a_device_is_written_directly(capsys, tmp_path, kind):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"rows.{kind}"
    path.symlink_to("/dev/full")
    assert main(["sweep", "vit", "depth=1:99", "--output", str(path)]) == 2
    assert "cannot be written: No space left on device" in capsys.readouterr().err
    path.unlink()
    path.symlink_to("/dev/null")
    assert main(["sweep", "vit", "depth=1:99", "--output", str(path)]) == 0
    assert os.listdir(tmp_path) == [path.name] and path.is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_is_written_directly(tmp_path):
    path, found = tmp_path / "rows.csv", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: found.append(path.read_text()))
    reader.start()
    assert written(path, 2, n=[1, 2, 3]) == 3
    reader.join(timeout=10)
    assert found == ["n,params,error\n1,5,\n2,10,\n3,15,\n"]


def test_a_file_keeps_its_permissions_and_a_link_its_target(tmp_path):
    path, link = tmp_path / "rows.csv", tmp_path / "link.csv"
    path.write_text("before")
    path.chmod(0o640)
    link.symlink_to(path)
    written(link, None, n=[1])
    assert link.is_symlink() and path.read_text() == "n,params,error\n1,5,\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_folder_or_a_missing_one_is_an_error(tmp_path):
    for path in (tmp_path / "no" / "rows.csv", tmp_path / "rows.csv"):
        (tmp_path / "rows.csv").mkdir(exist_ok=True)
        with pytest.raises(pc.ArgumentError, match="cannot be written"):
            Replacement(str(path))
    assert os.listdir(tmp_path) == ["rows.csv"]


@pytest.mark.parametrize(
    ("m", "expected"),
    [
        ("n / 2", [0.5, 1.0, 1.5, 2.0]),  # fractions in the first part, whole numbers later
        ("(n + 1) / 2 if n > 2 else n", [1.0, 2.0, 2.0, 2.5]),  # whole numbers first
        ("n if n > 2 else 'a'", ["a", "a", "3", "4"]),
        ("0.5 if n < 2 else n == 2", ["0.5", "True", "False", "False"]),
        ("7 if n > 1 else none", [None, "7", "7", "7"]),
        ("n", [1, 2, 3, 4]),
    ],
)
def test_a_parquet_column_holds_all_its_values(tmp_path, m, expected):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    assert written(path, 1, n=[1, 2, 3, 4], m=m) == 4
    table = parquet.read_table(path)
    assert table.column("m").to_pylist() == expected
    assert table.column("params").to_pylist() == [5, 10, 15, 20]
    assert os.listdir(tmp_path) == ["rows.parquet"]


def test_what_cannot_be_computed_is_unknown(tmp_path):
    pytest.importorskip("pyarrow")
    for kind in FORMATS:
        written(tmp_path / f"rows.{kind}", None, n=[0, 2], m="n // 2")
    rows = list(csv.reader((tmp_path / "rows.csv").read_text().splitlines()))
    assert [row[:3] for row in rows[1:]] == [["0", "", ""], ["2", "1", "10"]]
    records = json.loads((tmp_path / "rows.json").read_text())
    assert [(each["n"], each["m"], each["params"]) for each in records] == [(0, None, None), (2, 1, 10)]
    from pyarrow.parquet import read_table

    assert read_table(tmp_path / "rows.parquet").column("m").to_pylist() == [None, 1]


def test_a_sweep_in_python_is_saved_as_parquet(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    swept = pc.sweep("vit", heads=[3, 5, 4], depth=[1, 2])  # 5 heads do not divide the width
    path = tmp_path / "rows.PARQUET"
    swept.save(path)
    table = parquet.read_table(path)
    assert table.to_pylist() == swept.to_records() and len(table) == 4
    assert str(table.schema.field("params").type) == str(table.schema.field("heads").type) == "int64"
    swept.save(str(path), columns=["depth", "macs"], top=1)
    assert parquet.read_table(path).to_pylist() == [{"depth": 1, "macs": int(swept.columns["macs"][0])}]
    for settings, words in {"depth": "`Sweep` has no setting", "columns": "must be a list", "top": "whole"}.items():
        with pytest.raises(pc.ArgumentError, match=words):
            swept.save(path, **{settings: "x"})
    with pytest.raises(pc.ArgumentError, match=r"\.html \.parquet \.svg"):
        swept.save(tmp_path / "rows.xml")
    with pytest.raises(pc.ArgumentError, match="a plot takes no settings"):
        swept.save(tmp_path / "rows.svg", top=1)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "paramcount.sweeps.parquet")
    with pytest.raises(pc.MissingPackageError, match=r"needs pyarrow\nhint: pip install"):
        swept.save(tmp_path / "others.parquet")
    assert os.listdir(tmp_path) == ["rows.PARQUET"] and len(parquet.read_table(path)) == 1


def test_a_sweep_in_python_is_saved_as_a_plot(tmp_path):
    pytest.importorskip("matplotlib")
    pc.sweep("mobilenet_v2", width=[0.5, 1]).save(tmp_path / "rows.svg")
    assert (tmp_path / "rows.svg").read_text().startswith("<?xml")
