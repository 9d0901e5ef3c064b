"""Every result in every format: as in the files of the folder golden, as records, and as files.

After an intended change, `python tests/render/test_results.py` writes the golden files anew: read what differs before
it is committed. A new result is a line of RESULTS.
"""

import copy
import csv
import io
import json
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import paramcount as pc
from paramcount.backend.measure.result import Measurement, Measurements
from paramcount.backend.prove.verification import Check, Difference, Verification
from paramcount.backend.train.result import Epoch, Reduction, Training
from paramcount.cost.figures import Figures, Phases, Row
from paramcount.cost.memory import memory_of
from paramcount.cost.problems import Problem, Problems
from paramcount.cost.traced import Trace
from paramcount.errors import ArgumentError
from paramcount.graph.network import Subject
from paramcount.language.load import fresh_syntax
from paramcount.layers.layer import Shape
from paramcount.render.html import STYLE
from paramcount.render.table import whole
from paramcount.render.writing import FORMATS, rendered

GOLDEN = Path(__file__).parent / "golden"
SMALL = """
name: Small_net
input: {image: [8, 8, 3]}
vars: {n: 8}
layers:
  - conv: {out: n, kernel: 3, stride: 2, norm: batch_norm, activation: relu}
  - repeat: 3
    do:
      - conv: {out: n, kernel: 3}
  - residual:
      - conv: {out: n, kernel: 3, bias: false}
  - global_pool
  - dense: n
    share: head
  - dense: n
    share: head
  - dense: 10
"""
SUBJECT = Subject("Small_net", None, {"n": 8}, {"n": 8}, {"input": Shape.of(8, 8, 3)})


def measured() -> Measurements:
    counted, taken = (161_488, 322_976, 1e11), (10_792, 12_344)
    rows = (
        Measurement(1, 0.000_25, 0.000_2, 0.000_3, 100, *counted, *taken),
        Measurement(8, 0.001_5, 0.001_25, 0.002, 50, 8 * 161_488, 8 * 322_976, 1e11, 75_544, 86_408),
    )
    return Measurements(SUBJECT, rows, "cpu", 1e11)


def verified() -> Verification:
    checks = (
        Check("params", 2698, 2698, True),
        Check("output shapes", (8, 8, 8), (8, 8, 4), False),
        Check("XLA", 1, 2, True, "322,976 FLOPs lie in bounds\n(XLA skips taps on padding)"),
    )
    differences = (Difference("conv0", "output shape", (8, 8, 8), (8, 8, 4)),)
    return Verification(SUBJECT, checks, differences, True, "traced only: too large", 1.25, ("an odd layer",))


def traced() -> Trace:
    block = Figures(None, None, None, None, None, None, None, None, 7200, 14_400, 90, 225, None)
    rows = (
        Row("block", "scope", 1, block, repeat=2, stem="block", training=Phases(3600, 3600)),
        Row(
            "block.dot_0", "dot_general", 2, block, "", None, Shape.of(25, 9), 2, leaf=True, training=Phases(3600, 3600)
        ),
    )
    return Trace(Subject("model:step(float32[25,16])"), block, rows, Phases(3600, 3600), ("sort in block",))


def trained() -> Training:
    epochs = (Epoch(1, 0.75, 0.5, None, 1.25, 60_000), Epoch(2, 0.5, 0.875, 0.75, 1.0, 60_000))
    return Training(SUBJECT, {}, {}, epochs, 968_928, 1, 1e12, Reduction(2, 10_796, 2698))


def checked() -> Problems:
    error = "unknown kind `cnov`\nhint: did you mean `conv`?"
    wrong = Problem("a.yaml", "a.yaml", None, 5, 3, "error", error)
    budget = Problem("b.yaml:x", "b.yaml", None, None, None, "budget", "too many", "params", "at_most", 2698, 2000)
    return Problems((wrong, budget), 2, 3)


SOLVED = fresh_syntax(SMALL, "small.yaml")
RESULTS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {  # what makes each, and the settings of its sheet
    "count": (lambda: pc.count(pc.loads(SMALL)), {"depth": 2}),
    "count-train": (lambda: pc.count(pc.loads(SMALL), train=True, batch=8), {"flat": True, "top": 3, "sort": "macs"}),
    "sweep": (lambda: pc.sweep("mobilenet_v2", width=[0.5, 0.75, 1]), {}),
    "compare": (lambda: pc.compare(pc.loads(SMALL), pc.loads(SMALL, vars={"n": 4})), {}),
    "check": (checked, {}),
    "zoo": (lambda: pc.zoo("squeezenet"), {}),
    "solve": (lambda: pc.solve(SOLVED, "n", {"params": 3000}), {"columns": ["layer", "params", "macs"]}),
    "measure": (measured, {}),
    "verify": (verified, {}),
    "trace": (traced, {"depth": 2}),
    "train": (trained, {}),
    "memory": (lambda: memory_of(pc.loads(SMALL), batch=8, train=True), {}),
}
PLAIN = (int, float, str, bool, type(None))


@cache
def made(name: str) -> Any:
    return RESULTS[name][0]()


def written(name: str, form: str) -> str:
    """A result in a format, with a line's end, as a file has it; without the rules, which all of HTML has alike."""
    sheet = made(name).with_warnings(**RESULTS[name][1])
    text = whole(sheet) if form == "table" else rendered(sheet, form)
    return text.replace(f"<style>\n{STYLE}\n</style>\n", "") + "\n"


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", RESULTS)
def test_it_is_as_it_was(name, form):
    expected = (GOLDEN / f"{name}{FORMATS[form]}").read_text(encoding="utf-8")
    assert written(name, form) == expected, "if this is intended: python tests/render/test_results.py"


def test_no_file_is_left_over():
    names = {name + ending for name in RESULTS for ending in FORMATS.values()}
    assert {path.name for path in GOLDEN.iterdir()} == names


@pytest.mark.parametrize("name", RESULTS)
def test_records_are_plain_and_json_too(name):
    records = made(name).to_records(**RESULTS[name][1])
    assert records and all(each.keys() == records[0].keys() for each in records)
    assert all(type(value) in PLAIN for each in records for value in each.values())
    found = json.loads(json.dumps(made(name).to_dict()))
    assert found["schema"] == 1 and found == json.loads(made(name).render("json"))
    rows = list(csv.DictReader(io.StringIO(made(name).render("csv", **RESULTS[name][1]), newline="")))
    assert rows == [{key: "" if value is None else str(value) for key, value in each.items()} for each in records]


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("form", FORMATS)
def test_it_is_saved_in_every_format(name, form, tmp_path):
    path = tmp_path / f"result{FORMATS[form].upper()}"
    made(name).save(path, exact=True, **RESULTS[name][1])
    sheet = made(name).with_warnings(True, **RESULTS[name][1])
    text = whole(sheet) if form == "table" else made(name).render(form, exact=True, **RESULTS[name][1])
    assert path.read_text(encoding="utf-8") == text + "\n"
    with pytest.raises(ArgumentError):
        made(name).render("xml", **RESULTS[name][1])


@pytest.mark.parametrize("path", ["a\0b.csv", "a\ud800.csv"])
def test_what_no_file_can_be_called(path):
    with pytest.raises(ArgumentError, match="cannot be written: it is not a path"):
        made("zoo").save(path)


@pytest.mark.parametrize("name", RESULTS)
def test_data_frames_have_whole_numbers(name):
    pandas = pytest.importorskip("pandas")
    records = made(name).to_records(**RESULTS[name][1])
    frame = pandas.DataFrame(records)
    for column in frame:
        if all(type(each[column]) is int for each in records):
            assert frame[column].dtype == "int64", column


def test_records_hold_raw_values():
    assert made("count").to_records(columns=["layer", "input", "output", "repeat", "share", "leaf", "note"])[1] == {
        "layer": "do0[0:3]",
        "input": "4×4×8",
        "output": "4×4×8",
        "repeat": 3,
        "share": 27_648 / 40_528,  # 3 · 16 · 9 · 8 · 8 of all
        "leaf": False,
        "note": "",
    }
    usual = [
        "path",
        "kind",
        "setting",
        "output",
        "repeat",
        "params",
        "weights",
        "macs",
        "share",
        "note",
        "depth",
        "leaf",
    ]
    assert list(made("count").to_records()[0]) == usual
    (first, *_) = made("sweep").to_records()
    assert first["width"] == 0.5 and first["params"] == 1_968_680 and set(Figures._fields) < set(first)
    assert made("measure").to_records()[0]["low"] == 0.0002 and "quartiles" not in made("measure").to_records()[0]
    assert made("verify").to_records()[1] == {
        "name": "output shapes",
        "counted": "8×8×8",
        "in_jax": "8×8×4",
        "ok": False,
    }
    assert made("train").to_records()[0]["test"] is None and made("train").to_records()[0]["examples"] == 60_000
    assert made("trace").to_records()[0] | {"macs": 7200, "share": 1.0, "repeat": 2} == made("trace").to_records()[0]
    assert made("memory").to_records()[0]["bytes"] == 4 * 2698


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
@pytest.mark.parametrize("name", RESULTS)
def test_copies_are_equal(name, twin):
    found = twin(made(name))
    assert type(found) is type(made(name))
    assert str(found) == str(made(name)) and found.to_dict() == made(name).to_dict()


@pytest.mark.parametrize("name", RESULTS)
def test_its_repr_is_short(name):
    text = repr(made(name))
    assert type(made(name)).__name__ in text and len(text) < 160 and "\n" not in text


@pytest.mark.parametrize("name", RESULTS)
def test_a_setting_is_one_of_its_sheet(name):
    found = made(name)
    for write in (found.to_records, found.render, lambda **settings: found.save("nowhere.md", **settings)):
        with pytest.raises(ArgumentError, match=f"`{type(found).__name__}` has no setting `colour`"):
            write(colour="red")
    with pytest.raises(ArgumentError, match="exact must be true or false, not `yes`"):
        found.render(exact="yes")


def test_a_setting_that_is_misspelled():
    with pytest.raises(ArgumentError, match="`Report` has no setting `column`\nhint: did you mean `columns`"):
        made("count").to_records(column=["params"])
    with pytest.raises(ArgumentError, match="`Sweep` has no setting `depth`\nhint: one of columns, top"):
        made("sweep").to_records(depth=2)
    with pytest.raises(ArgumentError, match="hint: one of depth, columns, sort, flat, top"):
        made("solve").render(form="html")
    with pytest.raises(ArgumentError, match="`Zoo` has no setting `top`\nhint: its rows cannot be chosen"):
        made("zoo").render("html", top=3)


@pytest.mark.parametrize("name", ["count", "sweep", "solve", "compare", "trace"])
def test_columns_are_a_list_of_names(name):
    for wrong, message in {
        "params,macs": r'not `\'params,macs\'`\nhint: columns=\["params", "macs"\]',
        "prams": r'hint: columns=\["prams"\]',
        (): "at least one column",
        ("prams",): "unknown column `prams`\nhint: did you mean `params`",
    }.items():
        with pytest.raises(ArgumentError, match=message):
            made(name).to_records(columns=wrong)


@pytest.mark.parametrize(
    ("form", "meant"),
    {"md": "markdown", ".md": "markdown", "Tex": "latex", "htm": "html", "xlsx": "csv", "lates": "latex"}.items(),
)
def test_a_format_by_another_name(form, meant):
    with pytest.raises(ArgumentError, match=f"unknown format `{form}`\nhint: did you mean `{meant}`"):
        made("memory").render(form)


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_exact_is_all_digits(form):
    text, exact = (made("memory").render(form, exact=exact) for exact in (False, True))
    assert "10.5 KiB" in text and "10.5 KiB" not in exact
    assert "10,792" not in text and "10,792" in exact


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html"])
def test_nothing_that_is_said_below_is_lost(form):
    text = {name: made(name).render(form, **RESULTS[name][1]).replace("\\", "") for name in RESULTS}
    assert "warning: an odd layer" in text["verify"] and "traced only: too large" in text["verify"]
    assert "not counted: sort in block" in text["trace"]
    assert "median of the runs" in text["measure"] and "100 GFLOP/s" in text["measure"]
    assert "of at most 3,000" in text["solve"]
    assert "5.8% of a large" in text["train"]
    assert "the first 3 of 10 layers" in text["count-train"] and "softmax cross entropy" in text["count-train"]


if __name__ == "__main__":
    for path in GOLDEN.iterdir():
        path.unlink()
    for each in RESULTS:
        for form, ending in FORMATS.items():
            (GOLDEN / (each + ending)).write_text(written(each, form), encoding="utf-8", newline="")
