"""CSV: raw values for programs, read back by Python's own reader, and no formulas for spreadsheets."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import paramcount as pc
from paramcount.layers.layer import Shape
from paramcount.numbers.units import decimal
from paramcount.render.csv import cell, render
from paramcount.render.sheet import Heading, Share, Sheet, percent

HOSTILE = [
    *("=1+1", "+1+1", "-a", "@x", "\t=1", "\r", "\n=1", "＝1+1", "＋x", "－x", "＠x", "=cmd|' /C calc'!A0", "'", '"'),
    *('a"b,c', "a,b", "a\r\nb", "", " ", "\x00", "\ud800", "\u200f", "😀", "-5", "+2.5", "-.5", "-5\n", "-", "+"),
]
TEXT = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=[]), max_size=8)
STARTS = tuple("=+-@\t\r\n＝＋－＠")


def sheet_of(rows):
    return Sheet("T", [Heading("a", "A"), Heading("b", "B")], rows, (), ("below",), dict)


def read(text):
    return list(csv.reader(io.StringIO(text, newline="")))


@given(st.lists(st.tuples(TEXT, TEXT), max_size=4))
@example([(text, text) for text in HOSTILE])
def test_texts_are_read_back(rows):
    found = read(render(sheet_of(rows)))
    assert found[0] == ["a", "b"] and len(found) == 1 + len(rows)
    for row, again in zip(rows, found[1:], strict=True):
        for text, read_text in zip(row, again, strict=True):
            written = text.encode("utf-8", "backslashreplace").decode()
            assert read_text in (written, f"'{written}")
            assert not read_text.startswith(STARTS) or (float(read_text) is not None and "\n" not in read_text)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        *[(start + "x", f"'{start}x") for start in STARTS],
        ("=5", "'=5"),
        ("-5 apples", "'-5 apples"),
        ("-5\n", "'-5\n"),
        *[(text, text) for text in ("-5", "+2.5", "-.5", "relu", "3-5", "", "'x")],
        (-5, -5),
        (-0.5, -0.5),
        (True, True),
        (None, ""),
    ],
)
def test_only_texts_get_an_apostrophe(value, written):
    assert cell(value) == written and type(cell(value)) is type(written)


def test_values_are_raw():
    headings = [
        Heading("path", "path"),
        Heading("macs", "MACs", decimal, right=True),
        Heading("share", "share", percent, right=True),
        Heading("output", "output", right=True),
        Heading("leaf", "leaf", reader="programs"),
        Heading("bar", "", reader="people"),
        Heading("note", "note", if_any=True),
    ]
    rows = [
        ("a", 10**20 + 1, Share(1, 4), Shape.of(2, 3), True, "██", ""),
        ("b", None, Share(0, 0), None, False, "", ""),
    ]
    sheet = Sheet(
        "T", headings, rows, [("total", 5, decimal)], ("below",), dict, footer=("total", 5, None, None, "", "", "")
    )
    assert render(sheet) == f"path,macs,share,output,leaf,note\na,{10**20 + 1},0.25,2×3,True,\nb,,,,False,"


def test_no_rows_and_no_columns():
    assert render(sheet_of([])) == "a,b"
    assert render(Sheet("T", (), (), (), (), dict)) == ""


def test_a_count_is_as_in_the_guide():
    text = pc.count(pc.load("mobilenet_v2")).render(
        "csv", columns=["layer", "output", "repeat", "params", "macs", "share"]
    )
    assert text.split("\n")[:3] == [
        "layer,output,repeat,params,macs,share",
        "conv0,112×112×32,1,928,10838016,0.03603372033097299",
        "bottleneck0[0][0],112×112×16,1,896,10035200,0.03336455586201203",
    ]


def test_the_usual_columns_tell_groups_from_leaves():
    rows = read(pc.count(pc.load("mlp")).render("csv", depth=2))
    found = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    assert rows[0][0] == "path" and rows[0][-2:] == ["depth", "leaf"]
    assert [(row["path"], row["depth"], row["leaf"]) for row in found[:3]] == [
        ("dense0", "1", "False"),
        ("dense0.dense0", "2", "True"),
        ("dense0.relu0", "2", "True"),
    ]
