"""The table: which rows and columns it shows, how it fits, and what stands below it."""

import re

import pytest

from paramcount.cost.count import count
from paramcount.cost.outline import outline
from paramcount.errors import ArgumentError
from paramcount.graph.items import Residual
from paramcount.graph.loops import Repeat
from paramcount.graph.modifiers import With
from paramcount.graph.network import Network
from paramcount.language.load import load
from paramcount.layers.adaptive_pool import AdaptiveAvgPool
from paramcount.layers.conv import Conv
from paramcount.layers.dense import Dense
from paramcount.numbers.arithmetic import Column
from paramcount.render import terminal
from paramcount.render.sheet import Heading, Sheet, percent
from paramcount.render.table import middle
from paramcount.render.table import render as written

MLP = Network([Dense(512, activation="relu"), Dense(512, activation="relu"), Dense(10)], input=784, name="MLP")


def render(report, depth=None, columns=None, sort=None, **options):
    return written(report.sheet(depth, columns, sort), **options)


def table(network, **options):
    """The lines of the table alone, without title and totals."""
    options = {"width": 200, "encoding": "utf-8"} | options
    return render(count(network), **options).split("\n\n")[1].splitlines()


def test_rows_and_columns_at_depth_1():
    lines = [line.split() for line in table(MLP)]
    assert lines[0] == ["layer", "kind", "output", "params", "weights", "MACs", "share"]
    # 784·512 = 401,408 and 512 biases; of 668,672 MACs that is 60.03 %
    assert lines[1] == ["dense0", "dense", "512", "401,920", "401,408", "401", "k", "60.0%", "██████"]
    assert lines[3][:5] == ["dense2", "dense", "10", "5,130", "5,120"]
    assert len(lines) == 4


def test_depth_opens_groups():
    assert [line.split()[0] for line in table(MLP, depth=2)[1:4]] == ["dense0", "dense0", "relu0"]
    assert table(MLP, depth=2)[2].startswith("  dense0 ")


def test_setting_shape_and_repeat():
    network = Network([Conv(8, 3, 2), Repeat(3, [Conv(8, 3)])], input=(16, 16, 3))
    lines = [line.split() for line in table(network)]
    assert lines[0][:5] == ["layer", "kind", "setting", "output", "×N"]
    assert lines[1][:5] == ["conv0", "conv", "3×3/2", "8×8×8", "216"]
    assert lines[2][2:6] == ["3×3", "8×8×8", "×3", "1,728"]  # three times 9·8·8


def test_totals_are_exact_and_in_units():
    text = render(count(MLP), width=80, encoding="utf-8")
    lines = {line.split("  ")[0]: line.split()[-3:] for line in text.split("\n\n")[2].splitlines()}
    assert lines["weights (bias-free)"] == ["668,672", "669", "k"]
    assert lines["params"] == ["669,706", "670", "k"]
    assert lines["FLOPs"] == ["1,337,344", "1.34", "M"]
    assert lines["bytes of the parameters"] == ["2,678,824", "2.55", "MiB"]  # 4 · 669,706 / 1024²
    assert "FLOPs = 2 × MACs" in text.splitlines()[-1] and "float32" in text.splitlines()[-1]


def test_bytes_in_binary_units():
    # 25,557,032 float32 parameters: 102,228,128 B = 97.49 MiB, and not 102.23
    text = render(count(Dense(25_557_032, bias=False), 1), encoding="utf-8")
    assert "102,228,128  97.5 MiB" in text


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_it_fits(width, encoding):
    body = [Repeat(3, [With(Conv(256, 3, norm="batch_norm"), name="a_rather_long_name_for_a_layer")])]
    network = Network(
        [*body, Dense(8), With(Dense(8), share="x"), With(Dense(8), share="x")], input=(64, 8), name="n" * 10_000
    )
    lines = render(count(network), width=width, encoding=encoding).splitlines()
    assert max(map(len, lines)) <= width
    assert any("layer" in line and "MACs" in line for line in lines)


def test_less_important_columns_drop_first():
    def kept(width):
        return table(Network([Conv(8, 3, 2, norm="batch_norm")], input=(64, 64, 3)), width=width)[0].split()

    assert kept(200) == ["layer", "kind", "setting", "output", "params", "weights", "MACs", "share"]
    assert kept(60) == ["layer", "setting", "output", "params", "weights", "MACs", "share"]
    assert kept(26) == ["layer", "params", "MACs"]


def test_chosen_columns_are_kept():
    lines = table(MLP, columns=["layer", "biases", "MACs"], width=20)
    assert [line.split() for line in lines[:2]] == [["layer", "biases", "MACs"], ["dense0", "512", "401", "k"]]


def test_sorting_keeps_groups_together():
    network = Network([Dense(2), Dense(64, activation="relu"), Dense(8)], input=4)
    assert [line.split()[0] for line in table(network, sort="params")[1:]] == ["dense2", "dense1", "dense0"]
    names = [line.split()[0] for line in table(network, sort="macs", depth=2)[1:]]
    assert names == ["dense2", "dense1", "dense0", "relu0", "dense0"]
    assert [line.split()[0] for line in table(network, sort="layer")[1:]] == ["dense0", "dense1", "dense2"]


def test_sorting_by_sizes_texts_and_what_rows_are():
    network = Network([Dense(2), Dense(64, activation="relu"), Repeat(2, [Dense(64)])], input=8)
    orders = {
        "output": "dense1 dense2[0:2] dense0",  # 64, 64, 2
        "input": "dense2[0:2] dense0 dense1",  # 64, 8, 2
        "repeat": "dense2[0:2] dense0 dense1",
        "leaf": "dense0 dense2[0:2] dense1",  # of which only the last is a group
        "kind": "dense0 dense1 dense2[0:2]",
        "depth": "dense0 dense1 dense2[0:2]",
        "path": "dense0 dense1 dense2[0:2]",
        "bar": "dense2[0:2] dense1 dense0",
        "params_share": "dense2[0:2] dense1 dense0",
    }
    for column, names in orders.items():
        assert " ".join(line.split()[0] for line in table(network, sort=column)[1:]) == names, column


@pytest.mark.parametrize("option", [{"sort": "parms"}, {"columns": ["layer", "parms"]}])
def test_unknown_columns(option):
    with pytest.raises(ArgumentError) as caught:
        table(MLP, **option)
    assert str(caught.value) == "unknown column `parms`\nhint: did you mean `params`?"


def test_shared_and_tied_are_marked():
    network = Network([With(Dense(8), share="x"), With(Dense(8), share="x")], input=8)
    assert "shared with dense0" in table(network)[2]
    assert "shared" in table(network, width=60)[2]


def test_training_only_stands_apart_in_the_totals():
    network = Network([Dense(8), With(Residual([Dense(8)]), only="training")], input=8)
    text = render(count(network), encoding="utf-8")
    line = next(line for line in text.splitlines() if "of which training only" in line)
    assert line.split()[-1] == "72"
    assert "training only" not in render(count(MLP), encoding="utf-8")


def test_nothing_to_share():
    assert percent((0, 0)) == "–"
    assert [percent((part, 3)) for part in (1, 2, 3, 0)] == ["33.3%", "66.7%", "100.0%", "0.0%"]
    (row,) = table(Network([AdaptiveAvgPool(1)], input=(5, 5, 10)))[1:]
    assert row.split() == ["adaptive_avg_pool0", "adaptive_avg_pool", "1", "1×1×10", "0", "0", "0", "–"]


def test_ascii():
    network = Network([With(Conv(8, 3), name="卷积-1"), Repeat(2, [Conv(8, 3)])], input=(9, 9, 3), name="网络")
    text = render(count(network), encoding="ascii", width=200)
    assert text.isascii()
    assert r"\u5377\u79ef-1" in text and "9x9x8" in text and "x2" in text and "####" in text and "3x3" in text
    assert "卷积-1" in render(count(network), encoding="utf-8")


def test_names_are_escaped():
    network = Network([With(Dense(3), name="a\x1b(0b\nc")], input=3, name="x\x1b[2Jy\r")
    text = render(count(network), encoding="utf-8")
    assert "\x1b" not in text and "\r" not in text
    assert r"a\x1b(0b\nc" in text


def test_titles_of_columns_are_escaped():
    sheet = Sheet("", [Heading("a", "x\x1b[2Jy\n")], [["1"]], (), (), dict)
    assert written(sheet, colour=False) == "x\\x1b[2Jy\\n\n1"


def test_colour_only_when_asked():
    assert "\x1b" not in render(count(MLP), encoding="utf-8", width=200)
    coloured = render(count(MLP), encoding="utf-8", width=200, colour=True)
    assert "\x1b[1mlayer\x1b[0m" in coloured
    # Colours take no room.
    assert re.sub(r"\x1b\[[0-9]+m", "", coloured) == render(count(MLP), encoding="utf-8", width=200)


def test_names_shorten_in_the_middle():
    assert middle("bottleneck10[0:2]", 11, "…") == "bottl…[0:2]"
    assert middle("short", 11, "…") == "short"
    assert len(middle("bottleneck", 4, "…")) == 4


def test_equal_iterations_that_the_graph_keeps_apart_stand_in_one_row():
    # each iteration pushes a value, so the graph cannot fold them; iterations 0 and 2 differ from 1 and 3
    class Alternating(Repeat):
        kind = "conv"

        def body_of(self, index):
            return With(Conv(8, 1 + 2 * (index % 2), norm="batch_norm"), push="kept")

        def alike(self, index, earlier):
            return index % 2 == earlier % 2

    from paramcount.graph.items import Pop
    from paramcount.layers.concat import Concat

    taken = [[Pop("kept")] for _ in range(4)]
    report = count(Network([Alternating(4, []), Concat(taken)], input=(9, 9, 8)))
    assert [row.path for row in report.rows if row.depth == 1][:4] == [f"conv0[{index}]" for index in range(4)]
    rows = [row for _, row in outline(report.rows, 2)]
    assert [row.path for row in rows[:3]] == ["conv0[0,2]", "conv0[0,2].conv0", "conv0[0,2].batch_norm0"]
    assert (rows[0].repeat, rows[0].params) == (2, 2 * (64 + 16))
    assert (rows[1].repeat, rows[1].params) == (2, 2 * 64)
    assert (rows[3].path, rows[3].params) == ("conv0[1,3]", 2 * (9 * 64 + 16))


def test_a_sweep_has_no_table():
    with pytest.raises(ArgumentError, match="sweep"):
        str(count(Dense(Column.whole("width", [1, 2])), 3))


def test_json():
    import json

    from paramcount.render.json import render as to_json

    report = count(Network([Conv(8, 3, norm="batch_norm")], input=(4, 4, 3), name="small"))
    found = json.loads(to_json(report.sheet()))
    assert list(found) == ["schema", "name", "variant", "vars", "set", "convention", "totals", "rows"]
    assert (found["schema"], found["name"], found["variant"], found["vars"]) == (1, "small", None, {})
    assert found["set"] == {}
    figures = ["params", "trainable", "weights", "tables", "biases", "norms", "buffers", "active_params"]
    figures += ["macs", "flops", "elementwise", "activations", "param_bytes"]
    assert list(found["totals"]) == figures
    assert sorted(found["rows"][0]) == sorted(
        [
            *figures,
            "path",
            "kind",
            "input_shapes",
            "output_shape",
            "repeat",
            "copies",
            "depth",
            "leaf",
            "setting",
            "note",
        ]
    )
    assert found["totals"]["params"] == 9 * 3 * 8 + 16
    assert found["rows"][1]["path"] == "conv0.conv0" and found["rows"][1]["output_shape"] == [4, 4, 8]
    assert all(type(value) is int for value in found["totals"].values())


def test_a_column_is_dropped_before_its_words_are_cut(monkeypatch):
    from paramcount.language.load import load

    monkeypatch.setenv("COLUMNS", "80")
    lines = render(count(load("resnet"))).splitlines()
    assert lines[2].split() == ["layer", "output", "×N", "params", "weights", "MACs", "share"]
    assert "…" not in "".join(lines)


def test_only_a_terminal_cuts_texts(monkeypatch):
    name = "a_name_" * 20
    report = count(Network([With(Dense(8), name=name)], input=8, name="n" * 200))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(terminal, "interactive", lambda stream=None: False)
    assert name in render(report) and "n" * 200 in render(report)
    monkeypatch.setattr(terminal, "interactive", lambda stream=None: True)
    assert "…" in render(report, colour=False) and max(map(len, render(report, colour=False).splitlines())) <= 100


def rows_of(report, **settings):
    return [tuple(each.values()) for each in report.to_records(**settings)]


NESTED = Network([Repeat(3, [Residual([Dense(8, activation="relu")])]), Dense(4)], input=8)


def test_flat_rows_are_the_leaves_of_every_level_with_their_paths():
    # three times 8·8 + 8 and 8·8; 8·4 + 4 and 8·4
    columns = ["path", "layer", "input", "output", "repeat", "params", "macs"]
    assert rows_of(count(NESTED), flat=True, columns=columns) == [
        (path := "residual0[0:3].dense0.dense0", path, "8", "8", 3, 216, 192),
        (path := "residual0[0:3].dense0.relu0", path, "8", "8", 3, 0, 0),
        (path := "residual0[0:3].add", path, "8, 8", "8", 3, 0, 0),
        ("dense0", "dense0", "8", "4", 1, 36, 32),
    ]


def test_the_heaviest_layers():
    report = count(Network([Dense(4), Residual([Dense(4), Dense(4, bias=False)]), Dense(9)], input=4))
    text = report.render(flat=True, sort="macs", top=2, columns=["layer", "macs"])
    assert text.split("\n\n")[1].split() == ["layer", "MACs", "dense1", "36", "dense0", "16"]
    assert "\nthe first 2 of 5 layers\n" in text
    totals = [line.split() for line in text.split("\n\n")[2].splitlines()]
    assert ["MACs", "84"] in totals  # of the whole network


def test_top_keeps_outermost_rows_with_those_below_them():
    shown = [row["layer"] for row in count(NESTED).to_records(depth=3, top=1, columns=["layer"])]
    assert shown == ["residual0[0:3]", "dense0", "dense0", "relu0", "add"]
    assert "the first 1 of 2 rows" in count(NESTED).render(top=1)
    assert "of 2 rows" not in count(NESTED).render(top=2) and "of 2 rows" not in count(NESTED).render(top=7)


def test_shares_of_parameters_stand_beside_those_of_macs():
    report = count(Network([Dense(3), Dense(1, bias=False)], input=3))  # 12 + 3 parameters, 9 + 3 MACs
    titles, *rows = report.render(columns=["params_share", "share"]).split("\n\n")[1].splitlines()
    assert titles.split() == ["params", "%", "MACs", "%"]
    assert [row.split() for row in rows] == [["80.0%", "75.0%"], ["20.0%", "25.0%"]]
    assert report.render(columns=["share"]).split("\n\n")[1].split()[0] == "share"
    assert rows_of(report, columns=["params_share", "share"]) == [(0.8, 0.75), (0.2, 0.25)]


def test_the_tree_is_indented_wherever_its_column_stands():
    lines = count(NESTED).render(depth=2, columns=["params", "layer"]).split("\n\n")[1].splitlines()
    assert lines[1:4] == ["   216  residual0[0:3]", "   216    dense0", "     0    add"]


def test_leaves_alone_have_no_levels():
    with pytest.raises(ArgumentError, match="leaves alone have no levels"):
        count(NESTED).sheet(depth=2, flat=True)
    for wrong in ({"top": 0}, {"top": "3"}, {"flat": 1}, {"flat": "yes"}):
        with pytest.raises(ArgumentError):
            count(NESTED).sheet(**wrong)


def test_all_digits_where_they_are_asked_for():
    report = count(Dense(1000, bias=False), 1234)
    assert "1.23 M" in report.render(columns=["macs"]).split("\n\n")[1]
    assert "1,234,000" in report.render(columns=["macs"], exact=True).split("\n\n")[1]


def test_a_sheet_above_stands_before_the_rows():
    sheet = count(MLP).sheet()
    above = count(Dense(1), 7).sheet(columns=["layer", "params"])._replace(title="", totals=(), below=())
    parts = written(sheet._replace(above=above), width=100, encoding="utf-8").split("\n\n")
    assert parts[1].split() == ["layer", "params", "dense0", "8"] and parts[2].startswith("layer")


def test_texts_are_broken_into_lines_where_a_table_is_too_wide():
    headings = [Heading("a", "a"), Heading("b", "words", wrap=8), Heading("c", "n", right=True)]
    rows = [("x", "one two three four five", 1), ("y", "six", 22)]
    sheet = Sheet("", headings, rows, (), (), dict)
    assert written(sheet, width=18, encoding="utf-8", colour=False).splitlines() == [
        "a  words        n",
        "x  one two      1",
        "   three four",
        "   five",
        "y  six         22",
    ]
    wide = ["a  words                     n", "x  one two three four five   1", "y  six                      22"]
    assert written(sheet, width=30, encoding="utf-8", colour=False).splitlines() == wide
    assert written(sheet, encoding="utf-8", colour=False).splitlines() == wide  # a pipe has whole lines
    assert written(sheet, width=5, encoding="utf-8", colour=False).splitlines()[2:4] == ["   three", "   four"]


def test_lines_are_not_shortened():
    headings = [Heading("a", "a", wide=2), Heading("b", "b", wide=4, wrap=4)]
    sheet = Sheet("", headings, [("abcdef", "one two six")], (), (), dict)
    lines = written(sheet, width=7, encoding="utf-8", colour=False).splitlines()
    assert lines == ["a   b", "a…  one", "    two", "    six"]


def test_the_column_with_most_to_spare_is_broken_first():
    headings = [Heading("a", "a", wrap=4), Heading("b", "b", wrap=4)]
    sheet = Sheet("", headings, [("one two", "a b c d e f g h i j")], (), (), dict)
    lines = written(sheet, width=20, encoding="utf-8", colour=False).splitlines()
    assert lines == ["a        b", "one two  a b c d e f", "         g h i j"]


def test_paths_of_layers_are_told_apart_where_a_table_is_too_wide():
    sheet = count(load("resnet:50")).sheet(flat=True, sort="macs", top=4)
    head, *lines = written(sheet, width=80, encoding="utf-8", colour=False).split("\n\n")[1].splitlines()
    assert head.split() == ["layer", "output", "×N", "params", "MACs", "share"]  # no weights
    assert len({line.split()[0] for line in lines}) == 4 and all(len(line) <= 80 for line in lines)


def test_lines_below_go_on_below_what_follows_their_label_and_addresses_stay_whole():
    lines = ("variants  one-two  three-four  five", "  largest: a 1, b 2, c 3", "https://paramcount.org/a-long-address")
    text = written(Sheet("", (), (), (), lines, dict), width=20, encoding="utf-8", colour=False)
    assert text.splitlines() == [
        "variants  one-two",
        "          three-four",
        "          five",
        "  largest: a 1, b 2,",
        "  c 3",
        "https://paramcount.org/a-long-address",
    ]


def test_lines_below_are_wrapped_on_a_terminal_unless_they_are_code():
    sheet = Sheet("", (), (), (), ("word " * 30, "", f"    {'code ' * 30}"), dict)
    text, _, code = written(sheet, encoding="utf-8", colour=False).split("\n")
    assert (text, code) == ("word " * 30, f"    {'code ' * 30}")  # whole in a pipe
    *lines, _, code = written(sheet, width=100, encoding="utf-8", colour=False).split("\n")
    assert lines == [" ".join(["word"] * 20), " ".join(["word"] * 10)]
    assert code == f"    {'code ' * 30}"
