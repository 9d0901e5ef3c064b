"""`paramcount sweep` and `paramcount solve`: what they print and write, and their errors."""

import csv
import json
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

import paramcount as pc
from paramcount.cli.main import main
from paramcount.cli.values import setting
from paramcount.cost.figures import FIGURES
from paramcount.errors import printable
from paramcount.language.load import shipped_specs


def run(capsys, *arguments):
    code = main(arguments)
    out, err = capsys.readouterr()
    return out, err, code


def test_rows_in_order(capsys):
    out, err, code = run(capsys, "sweep", "mobilenet_v2", "width=0.5,1.0", "--top", "1", "--columns", "width,params")
    assert (err, code) == ("", 0)
    assert out.splitlines()[:2] == ["MobileNet-v2", ""]
    assert [line.split() for line in out.splitlines()[2:4]] == [["width", "params"], ["0.5", "1,968,680"]]
    assert "2 variants, 2 kept, 1 shown" in out


@pytest.mark.parametrize(
    ("options", "widths"),
    [
        (["--sort", "params"], ["1.0", "0.75", "0.5"]),
        (["--sort", "params", "--ascending"], ["0.5", "0.75", "1.0"]),
        (["--where", "params > 2e6"], ["0.75", "1.0"]),
        (["--pareto", "params,macs"], ["0.5"]),
        (["--pareto", "params,-macs", "--top", "2"], ["0.5", "0.75"]),
    ],
)
def test_the_best_rows(capsys, options, widths):
    out, _, code = run(capsys, "sweep", "mobilenet_v2", "width=0.5:1:0.25", *options)
    assert code == 0
    assert [line.split()[0] for line in out.split("\n\n")[1].splitlines()[1:]] == widths


def test_json_of_the_rows_shown(capsys):
    arguments = ("sweep", "vit", "heads=5,12", "depth=1:3", "--top", "2", "--columns", "heads,params")
    out, err, code = run(capsys, *arguments, "--format", "json")
    found = json.loads(out)
    assert (err, code) == ("", 0)
    assert (found["schema"], found["name"], found["variants"], found["kept"]) == (1, pc.load("vit").name, 6, 3)
    params = [pc.count(pc.load("vit", depth=depth)).params for depth in (1, 2)]
    assert found["rows"] == [{"heads": 12, "params": each} for each in params]
    ((reason, times),) = found["invalid"].items()
    assert "153.6 is not a whole number" in reason and times == 3


def test_files_hold_all_rows_and_why_some_are_none(capsys, tmp_path):
    arguments = ("sweep", "vit", "heads=5,12", "depth=1:3", "--top", "1", "--output")
    table, records, columns = (str(tmp_path / f"rows.{kind}") for kind in ("csv", "json", "parquet"))
    assert run(capsys, *arguments, table, "-o", records)[1:] == (
        f"wrote {printable(table)}, 6 rows\nwrote {printable(records)}, 6 rows\n",
        0,
    )
    rows = list(csv.DictReader(Path(table).read_text().splitlines()))
    objects = json.loads(Path(records).read_text())
    assert len(rows) == len(objects) == 6
    assert rows[0]["params"] == "" and objects[0]["params"] is None
    assert "153.6 is not a whole number" in rows[0]["error"] and "153.6" in objects[0]["error"]
    params = pc.count(pc.load("vit", depth=2)).params
    assert int(rows[4]["params"]) == objects[4]["params"] == params
    assert rows[4]["error"] == "" and objects[4]["error"] is None
    parquet = pytest.importorskip("pyarrow.parquet")
    assert run(capsys, *arguments, columns)[2] == 0
    read = parquet.read_table(columns).to_pylist()
    assert read == objects


def test_rows_of_several_windows_are_written_once(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("paramcount.sweeps.space.GRID", 4)
    path = str(tmp_path / "rows.csv")
    out, _, _ = run(capsys, "sweep", "mobilenet_v2", "width=0.5,1", "resolution=96:105", "--output", path)
    rows = [
        (float(row["width"]), int(row["resolution"])) for row in csv.DictReader(Path(path).read_text().splitlines())
    ]
    assert rows == [(width, size) for width in (0.5, 1.0) for size in range(96, 106)]
    assert "20 variants" in out


def test_no_variant_is_a_network(capsys):
    _, err, code = run(capsys, "sweep", "vit", "heads=5,7")
    assert code == 2 and "no variant is a valid network" in err and "153.6" in err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("width=0.35:0.5:0.05", [0.35, 0.4, 0.45, 0.5]),
        ("n=3:5", [3, 4, 5]),
        ("n=5:3:-1", [5, 4, 3]),
        ("n=1,4:6,9", [1, 4, 5, 6, 9]),
        ("n=7", "7"),
        ("n=1e3,2e3", [1000, 2000]),
        ("n=1e3:1.002e3:1", [1000, 1001, 1002]),
        ("n=1.0:3:1", [1.0, 2.0, 3.0]),
        ("n=0.1:0.3:0.1", [0.1, 0.2, 0.3]),
        ("n=1_000,2", ["1_000", "2"]),
        ("n=1e19,2", ["1e19", "2"]),
        ("n=1e999999999,1e-999999999", ["1e999999999", "1e-999999999"]),
        ("n=-5,+3,1e-999999999,1e-1", [-5, 3, 0, 0.1]),
        ("n=007,8", ["007", "8"]),
        ("n=2.,.5", [2.0, 0.5]),
        ("heads=width // 64", "width // 64"),
        ("norm=none,batch_norm", ["none", "batch_norm"]),
        ("depths=[1,2],[3,4]", ["[1,2]", "[3,4]"]),
    ],
)
def test_values(text, expected):
    name, values = setting(text)
    assert name == text.split("=")[0]
    assert values == expected and list(map(type, values)) == list(map(type, expected))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["widht=1,2"], "did you mean `width`?"),
        ([], "a sweep needs a variable"),
        (["width"], "is not a variable with values"),
        (["width=1,,2"], "a value is missing"),
        (["width=2:1"], "has no values"),
        (["width=0.5:1.0"], "the range `0.5:1.0` of fractions has no step\nhint: write `0.5:1.0:0.1`"),
        (["width=1:2.5"], "of fractions has no step"),
        (["width=1,2", "width=3,4"], "`width` is given twice"),
        (["width=1,2", "--top", "1", "--top=2"], "`--top` is given twice"),
        (["width=1,2", "--seed", "-1"], "`-1` is not a whole number of at least 0"),
        (["resolution=1:1000000000000"], "has 1,000,000,000,000 values\nhint: at most 10,000,000: take a larger step"),
        (["resolution=1:1000000", "width=1:1000000"], "1,000,000,000,000 points are too many to count"),
        (["width=a:b"], "is not a range of numbers"),
        (["width=1,2", "--where", "parms < 3"], "did you mean `params`?"),
        (["width=1,2", "--pareto", "params"], "takes two columns"),
        (["width=1,2", "--sort", "parms"], "did you mean `params`?"),
        (["width=1,2", "--columns", "parms"], "did you mean `params`?"),
        (["width=1,2", "--output", "rows.xls"], "did you mean `rows.csv`? the endings are .txt .json .csv"),
        (["width=1,2", "--output", "no/such/rows.csv"], "cannot be written"),
        (["width=1,2", "--ascending"], "add `--sort COLUMN`"),
        (["width=1,2", "--tpo", "3"], "did you mean `--top`?"),
    ],
)
def test_wrong_sweeps(capsys, arguments, message):
    out, err, code = run(capsys, "sweep", "mobilenet_v2", *arguments)
    assert (out, code) == ("", 2)
    assert message in err


def test_solve(capsys):
    out, err, code = run(capsys, "solve", "mobilenet_v2", "width", "--max-macs", "300M", "--max-params", "4M")
    assert (err, code) == ("", 0)
    macs = {width: pc.count(pc.load("mobilenet_v2", width=width)).macs for width in (0.98, 0.99)}
    assert macs[0.98] <= 300e6 < macs[0.99]
    assert f"width = 0.98: macs {macs[0.98]:,} of at most 300,000,000; 0.99 has {macs[0.99]:,}" in out
    assert out.startswith("MobileNet-v2")


def test_solve_in_json(capsys):
    out, err, code = run(capsys, "solve", "mobilenet_v2", "width", "--max-macs", "300M", "--format", "json")
    found = json.loads(out)
    assert (err, code) == ("", 0)
    assert (found["variable"], found["value"], found["following"]) == ("width", 0.98, 0.99)
    assert (found["schema"], found["at_most"], found["gaps"]) == (1, {"macs": 300_000_000}, [])
    assert found["beyond"]["macs"] == pc.count(pc.load("mobilenet_v2", width=0.99)).macs
    assert found["report"] == pc.count(pc.load("mobilenet_v2", width=0.98)).to_dict()


def test_solve_skips_what_is_no_network():
    found = pc.solve("vit", "width", {"params": 50e6})
    assert found.value % 12 == 0 and found.following == found.value + 12
    assert found.report.params <= 50e6 < found.beyond.params


def test_solve_says_where_it_is_not_monotone(tmp_path, capsys):
    path = tmp_path / "saw.yaml"
    path.write_text("{input: {features: 4}, vars: {n: 1}, layers: [dense: n % 10 + 1]}")
    found = pc.solve(str(path), "n", {"params": 30}, high=25)  # 5 (n % 10 + 1) of at most 30: n % 10 of at most 5
    assert (found.value, found.gaps) == (25, [6, 7, 8, 9, 16, 17, 18, 19])
    assert not found.monotone
    out, _, _ = run(capsys, "solve", str(path), "n", "--max-params", "30", "--high", "25")
    assert "not monotone: smaller values are over the budget: 6, 7, 8, 9, 16, ..." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["width"], "a budget is needed"),
        (["width", "--max-macs", "1X"], "`1X` is not an amount of macs\nhint: write a whole amount, such as 3.5M, 5e9"),
        (["width", "--max-macs", "1G", "--max-params", ""], "`` is not an amount of params"),
        (["width", "--max-bytes", "14M"], "`14M` is not an amount of param_bytes\nhint: write 14MiB or 14MB"),
        (["widht", "--max-macs", "1M"], "did you mean `width`?"),
        (["width", "--max-macs", "1k"], "macs are at least"),
        (["classes", "--max-macs", "1e17"], "--high"),
        (["width", "--max-macs", "1M", "--set", "classes=1,2"], "takes one value"),
        (["width", "--max-macs", "1M", "--set", "width=3"], "`width` is solved for, and cannot be set"),
        (["width", "--max-macs", "1M", "--max-macs", "2M"], "`--max-macs` is given twice"),
        (["width", "--max-macs", "1M", "--set", "classes=1", "--set", "classes=2"], "`classes` is given twice"),
    ],
)
def test_wrong_budgets(capsys, arguments, message):
    out, err, code = run(capsys, "solve", "mobilenet_v2", *arguments)
    assert (out, code) == ("", 2)
    assert message in err


def test_many_entries_of_lists_leave_the_figures_in_the_table(capsys):
    out, _, code = run(capsys, "sweep", "ofa_mobilenet_v3", "kernels[*]=3,5,7", "--random", "5")
    assert code == 0
    assert out.splitlines()[2].split()[-3:] == ["params", "MACs", "activations"]


def piped(text):
    return TextIOWrapper(BytesIO(text.encode()))


def test_a_spec_may_be_piped_in(capsys, monkeypatch):
    text = "{name: Tiny, input: {features: 4}, vars: {n: 1}, layers: [dense: n]}"
    monkeypatch.setattr("sys.stdin", piped(text))
    out, err, code = run(capsys, "sweep", "-", "n=1,2,3", "--columns", "n,params")
    assert (err, code) == ("", 0)
    assert [line.split() for line in out.splitlines()[3:6]] == [["1", "5"], ["2", "10"], ["3", "15"]]
    monkeypatch.setattr("sys.stdin", piped(text))
    out, err, code = run(capsys, "solve", "-", "n", "--max-params", "33")
    assert (err, code) == ("", 0)
    assert out.splitlines()[-1] == "n = 6: params 30 of at most 33; 7 has 35"


def test_plugins_are_loaded(capsys):
    _, err, code = run(capsys, "sweep", "mobilenet_v2", "width=1,2", "--plugin", "no_such_file.py")
    assert code == 2 and "there is no file `no_such_file.py`" in err
    _, err, code = run(capsys, "solve", "mobilenet_v2", "width", "--max-macs", "1G", "--plugin", "no_such_file.py")
    assert code == 2 and "there is no file `no_such_file.py`" in err


def test_a_range_that_misses_its_end_says_so(capsys):
    out, err, code = run(capsys, "sweep", "mobilenet_v2", "width=0.5:1.0:0.2", "--columns", "width")
    assert code == 0 and [line.strip() for line in out.splitlines()[2:6]] == ["width", "0.5", "0.7", "0.9"]
    assert "the range `0.5:1.0:0.2` ends at 0.9: steps of 0.2 from 0.5 do not reach 1.0" in err
    assert run(capsys, "sweep", "mobilenet_v2", "width=0.5:0.9:0.2")[1] == ""


def test_columns_that_were_asked_for_are_all_shown(capsys):
    names = ["width", *pc.Figures._fields]
    out, _, code = run(capsys, "sweep", "mobilenet_v2", "width=0.5,1", "--columns", ",".join(names))
    assert code == 0
    headings = out.splitlines()[2]
    assert headings.split() == ["width", *(FIGURES[name].title for name in names[1:])] and len(headings) > 80


@pytest.mark.full
def test_names_of_specs_are_whole(capsys):
    out, _, code = run(capsys, "zoo")
    assert code == 0 and "…" not in out
    assert {line.split()[0] for line in out.splitlines()[1:-2]} == set(shipped_specs())


def test_variables_of_any_name(capsys, monkeypatch):
    text = "{input: {features: 1}, vars: {n: 1, low: 1, step: 1, file: 1}, layers: [dense: n + low + step + file]}"
    for name in ("low", "step", "file"):
        monkeypatch.setattr("sys.stdin", piped(text))
        out, _, code = run(capsys, "solve", "-", "n", "--max-params", "100", "--set", f"{name}=11")
        assert code == 0 and out.splitlines()[-1] == "n = 37: params 100 of at most 100; 38 has 102"
        monkeypatch.setattr("sys.stdin", piped(text))
        out, _, code = run(capsys, "-", "--set", f"{name}=11")
        assert code == 0 and "28" in out  # 2 (1 + 11 + 1 + 1)


@pytest.mark.parametrize("given", [("--set", "width=1", "--set", "width=2"), ("--batch", "1", "--batch=2")])
def test_what_is_given_twice_is_refused(capsys, given):
    out, err, code = run(capsys, "mobilenet_v2", *given)
    assert (out, code) == ("", 2) and "is given twice" in err


def test_a_text_in_csv_is_not_a_formula(capsys, tmp_path):
    """Neither a word, nor a reason that begins with the name of a file; numbers stay numbers."""
    spec, path = tmp_path / "=x.yaml", tmp_path / "rows.csv"
    spec.write_text("{input: {features: 4}, vars: {n: 1, w: relu}, layers: [dense: {out: 8 // n, activation: w}]}")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert run(capsys, "sweep", "=x.yaml", "n=-1,2,16", "w=-elu,relu", "--output", str(path))[2] == 0
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [row["n"] for row in rows] == ["-1", "-1", "2", "2", "16", "16"]
    assert [row["w"] for row in rows[:2]] == ["'-elu", "relu"]
    assert rows[1]["error"].startswith("'=x.yaml:1:") and rows[3]["error"] == ""
