"""What is shared by all that was counted: unknown figures, rows by their paths, sums by kind."""

import json

import pytest

from paramcount.cost.count import count
from paramcount.cost.counted import Counted
from paramcount.cost.figures import FIGURES, Figured, Figures, Phases, Row, TrainingFigures
from paramcount.errors import ArgumentError
from paramcount.graph.loops import Repeat
from paramcount.graph.network import Network, Subject
from paramcount.language.load import load
from paramcount.layers.conv import Conv
from paramcount.layers.dense import Dense
from paramcount.render.html import render as html
from paramcount.render.json import render as to_json
from paramcount.render.table import render
from paramcount.render.writing import rendered


class Tensors(Counted):
    """Tensors of a file: how many there are is known, but not what is computed with them."""

    subject, basis, convention = Subject("weights.bin"), "of a file", "elements of tensors"
    usual = ("layer", "params", "macs", "share", "bar")

    def __init__(self, sizes):
        self.tensors = [tensor(f"tensor{index}", size) for index, size in enumerate(sizes)]
        self.totals = Figures.total([row.figures for row in self.tensors])

    @property
    def rows(self):
        return self.tensors

    def statement(self):
        return [(FIGURES[name].label, self.get(name), FIGURES[name].unit) for name in ("params", "macs")]

    def reason(self, name):
        return "a file does not say what is done with its tensors"


def tensor(path, size):
    return Row(path, "tensor", 1, Figures(params=size, macs=None, flops=None), leaf=True)


def test_unknown_figures_are_dashes_and_null_and_raise():
    found = Tensors([1_500, 2_000])
    assert (found.params, found.totals.macs, found.get("macs")) == (3_500, None, None)
    with pytest.raises(ArgumentError) as caught:
        _ = found.macs
    assert str(caught.value) == "`macs` is not known here\nhint: a file does not say what is done with its tensors"
    with pytest.raises(ArgumentError, match=r"`macs` is not known here\nhint: `report\.macs` says why"):
        _ = found.rows[0].macs
    lines = [line.split() for line in render(found.sheet(), encoding="utf-8").splitlines()]
    assert lines[2] == ["layer", "params", "MACs", "share"]
    assert lines[3:5] == [["tensor0", "1,500", "–", "–"], ["tensor1", "2,000", "–", "–"]]
    assert lines[6:8] == [["params", "3,500", "3.50", "k"], ["MACs", "–"]]
    data = json.loads(to_json(found.sheet()))
    assert (data["totals"]["params"], data["totals"]["macs"], data["rows"][0]["macs"]) == (3_500, None, None)
    assert "<span>&#8211;</span>" in html(found.sheet()) and "&#8211; MACs</p>" in html(found.sheet())
    ordered = found.sheet(sort="macs", columns=["layer"]).rows
    assert ordered == [["tensor0"], ["tensor1"]]


def test_a_sum_with_an_unknown_part_is_unknown():
    parts = [Figures(params=2, macs=3), Figures(params=5, macs=None), Figures(params=1, macs=4)]
    assert Figures.total(parts)[:2] == (8, 0) and Figures.total(parts).macs is None
    assert Figures.total(parts[::2]).macs == 7
    assert TrainingFigures.total([TrainingFigures(1, None, 3, 4, 5)] * 2) == (2, None, 6, 8, 10)
    assert (Figures.total([]), Phases.total([])) == (Figures(), Phases())


def test_every_figure_is_in_the_one_table_and_has_a_name():
    names = {*Figures._fields, *TrainingFigures._fields, *Phases._fields}
    assert names == set(FIGURES) == {name for name in names if isinstance(getattr(Figured, name), property)}
    titles = [figure.title for figure in FIGURES.values()]
    assert len(set(titles)) == len(titles)


def test_a_row_by_its_path():
    report = count(load("mobilenet_v2"))
    for row in report.rows:
        assert report[row.path] is row
    # bottleneck0[2][1:3] stands for both, and so do those below it
    assert report["bottleneck0[2][1]"] is report["bottleneck0[2][2]"] is report["bottleneck0[2][1:3]"]
    assert report["bottleneck0[2][0]"].path == "bottleneck0[2][0]"
    below = next(row.path for row in report.rows if row.path.startswith("bottleneck0[2][1:3]."))
    assert report[below.replace("[1:3]", "[2]")].path == below
    nested = count([Repeat(3, [Repeat(2, [Dense(8)])])], 4)
    assert nested["dense0[2][1]"].path == nested["dense0[1:2][0]"].path == "dense0[1:3][0:2]"


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("bottlenck0[1][0]", "did you mean `bottleneck0[1][0]`?"),
        ("bottleneck0[2][3]", "did you mean"),
        ("bottleneck0[2][1:9]", "did you mean"),
        ("bottleneck0[2][1:99999999999999]", "the rows are conv0, "),
        ("bottleneck0[2][2:1]", "did you mean"),
        ("bottleneck0[2][,]", "did you mean"),
        ("[", "the rows are conv0, "),
        (0, "the rows are conv0, "),
    ],
)
def test_no_such_row(path, hint):
    with pytest.raises(ArgumentError) as caught:
        count(load("mobilenet_v2"))[path]
    assert str(caught.value).startswith(f"there is no row `{path}`\nhint: {hint}")


def test_figures_by_kind_and_setting():
    items = [Conv(8, 3, activation="relu"), Repeat(2, [Conv(8, 1)]), Conv(4, 3)]
    report = count(Network(items, input=(9, 9, 3)), train=True)
    kinds = report.by("kind")
    assert list(kinds) == ["conv", "relu"]
    assert kinds["conv"].params == 27 * 8 + 2 * 64 + 72 * 4  # convs have no biases
    assert (kinds["relu"].params, kinds["relu"].elementwise) == (0, 8 * 81)
    settings = {name: part.macs for name, part in report.by("setting").items() if part.macs}
    assert settings == {"3×3": (27 * 8 + 72 * 4) * 81, "1×1": 2 * 64 * 81}
    for name in FIGURES:
        if name not in ("forward_macs", "update_macs"):  # which only traces have
            assert sum(part.get(name) for part in kinds.values()) == getattr(report, name)
    with pytest.raises(ArgumentError, match="a figure of training"):
        _ = count(Dense(3), 4).by("kind")["dense"].train_macs
    with pytest.raises(ArgumentError, match='by\\("kind"\\)'):
        report.by("path")


def test_a_format_is_found_by_its_name():
    sheet = count(Dense(3), 4).sheet()
    assert json.loads(rendered(sheet, "json")) == count(Dense(3), 4).to_dict()
    assert rendered(sheet, "html").startswith('<div class="paramcount">')
    assert rendered(sheet, "table").splitlines()[0] == "network"
