"""Markdown: every text is shown as it is, in a table with a cell for each column, and nothing is lost beside it."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import paramcount as pc
from paramcount.errors import visible
from paramcount.numbers.units import decimal, grouped
from paramcount.render.markdown import render
from paramcount.render.sheet import Heading, Share, Sheet, bar

HOSTILE = [
    *(
        "|",
        "a|b",
        "\\|",
        "\\",
        "a\\",
        "`x`",
        "*x*",
        "**x**",
        "_x_",
        "<script>",
        "</details>",
        "&copy;",
        "[x](y)",
        "![x](y)",
    ),
    *("$x$", "~~x~~", "~x~", "# x", "- x", "1. x", "=1+1", "---", "|---|", "\n", "a\nb", "\r", "\t", "\x00", "\x1b[2J"),
    *("\ud800", "\u200f", "\u202e", "😀", "卷积", "\u2028", "http://a.b/c_d_e", "https://a.b/|c", "www.a.b", " ", ""),
]
TEXT = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=[]), max_size=8)
TABLE = st.lists(st.tuples(TEXT, TEXT), max_size=4)


def read(text: str) -> list[list[str]]:
    """The rows of the first pipe table in a text, the head first: cells as they are shown, bold or not."""
    lines = [line for line in text.split("\n") if line.startswith("|")]
    rows = [re.findall(r"((?:\\.|[^\\|])*)\|", line)[1:] for line in lines]
    assert all(re.fullmatch(r"\s*:?-+:?\s*", cell) for cell in rows[1])
    return [[shown(cell) for cell in row] for row in rows[:1] + rows[2:]]


def shown(cell: str) -> str:
    cell = cell.strip().replace("&nbsp;", "")
    cell = re.sub(r"^(?:\*\*|<)(.*?)(?:\*\*|>)$", r"\1", cell)
    return re.sub(r"\\(.)", r"\1", cell)


def sheet_of(rows, title="T", below=(), wrap=0, **changes):
    headings = [Heading("a", "a"), Heading("b", "b", right=True, wrap=wrap)]
    return Sheet(title, headings, rows, (), below, dict)._replace(**changes)


@given(TABLE, TEXT, TEXT)
@example([(text, text) for text in HOSTILE], "**x**", "1. x")
def test_hostile_texts_stay_in_their_cells(rows, title, line):
    text = render(sheet_of(rows, title, [line]))
    assert text.isprintable() or set(filter(lambda c: not c.isprintable(), text)) == {"\n"}
    assert read(text) == [["a", "b"], *[[visible(cell).strip() for cell in row] for row in rows]]


WORDS = st.lists(TEXT | st.sampled_from("`` "), max_size=6).map("".join)


@given(TABLE | st.lists(st.tuples(TEXT, WORDS), max_size=2), TEXT, TEXT | WORDS)
@example([(text, text) for text in HOSTILE], "**x**", "1. x")
@example([], "**x**", "    - <b> `x`")
@example([("`x`", "a `b|c` `` d` `e\\` *f* `g``h`")], "`x`", "`1` a `b|c` `` d` `e\\` *f* `g``h`")
def test_a_parser_of_markdown_reads_the_same(rows, title, line):
    markdown_it = pytest.importorskip("markdown_it")
    parser = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = parser.parse(render(sheet_of(rows, title, [line], wrap=8)))
    assert not [each for each in tokens if each.type == "html_block"]
    inline = [each.children or [] for each in tokens if each.type == "inline"]
    kinds = {child.type for children in inline for child in children}
    assert kinds <= {"text", "text_special", "strong_open", "strong_close", "link_open", "link_close", "code_inline"}
    texts = ["".join(map(content, children)) for children in inline]
    texts += [each.content.strip() for each in tokens if each.type == "code_block"]
    cells = ["a", "b", *[visible(cell).strip() for row in rows for cell in row]]
    last = visible(line).strip() if line.startswith("    ") else visible(line.strip())
    whole = [visible(title.strip()), *cells, last]
    assert texts == [each for at, each in enumerate(whole) if each or 0 < at < len(whole) - 1]


def content(token):
    return f"`{token.content}`" if token.type == "code_inline" else token.content


def test_words_in_backticks_are_code_in_sentences_alone():
    text = render(sheet_of([("`a`", "a `b|c` d*")], "`t`", ["`bias` is *on*: `a|b_c`"], wrap=8))
    assert text.startswith("**\\`t\\`**") and r"| \`a\` | a `b\|c` d\* |" in text
    assert text.endswith(r"`bias` is \*on\*: `a|b_c`")


def test_the_parts_and_their_order():
    above = sheet_of([("x", "1")], "", ["counted"])
    sheet = sheet_of(
        [("p", "2"), ("q", "3")],
        "MLP",
        ["one example", "", "expect: equal"],
        totals=[("params", 2_000_000, decimal), ("  of which tables", None, decimal), ("MACs", 5, decimal)],
        levels=(0, 1),
        footer=("total", None),
        above=above,
        summary="2 changed <rows>",
    )
    sheet = sheet._replace(headings=[sheet.headings[0]._replace(indented=True), sheet.headings[1]])
    assert render(sheet).split("\n\n") == [
        "**MLP**",
        "| a   |   b |\n|:----|----:|\n| x   |   1 |",
        "counted",
        "<details><summary>2 changed &lt;rows&gt;</summary>",
        "| a             |     b |\n|:--------------|------:|\n| p             |     2 |\n| &nbsp;&nbsp;q |     3 |\n"
        "| **total**     | **–** |",
        "</details>",
        "2,000,000 params, – of which tables · 5 MACs",
        "one example",
        "expect: equal",
    ]


def test_lines_of_code_stay_as_they_are_written():
    text = render(Sheet("", (), (), (), ("a_b", "    layers:", "      - conv: <8>", "", "    c_d", "e"), dict))
    assert text == "a\\_b\n\n    layers:\n      - conv: <8>\n\n    c_d\n\ne"


def test_columns_for_people_that_are_not_empty():
    headings = [
        Heading("a", "a"),
        Heading("b", "b", if_any=True),
        Heading("c", "c", if_any=True),
        Heading("d", "d", reader="programs"),
        Heading("n", "n", grouped, right=True, reader="people", meaning="how many"),
        Heading("bar", "", bar, reader="people"),
        Heading("m", "m", grouped, right=True, if_any=True),
    ]
    rows, footer = [("x", "", "y", "z", 1000, Share(1, 2), None)], ("total", "", "", "", 1000, None, None)
    text = render(Sheet("", headings, rows, (), ("all",), dict, footer=footer))
    assert read(text) == [["a", "c", "n"], ["x", "y", "1,000"], ["total", "", "1,000"]]
    assert text.endswith("\n\nall; n = how many")


def test_numbers_are_taken_as_they_are_written():
    rows = [("1e3", "007"), ("nan", "1,000"), ("0x10", "1.50"), ("  x", "-0"), ("", "1_000")]
    assert read(render(sheet_of(rows)))[1:] == [[one.strip(), other] for one, other in rows]
    assert "| **12.50** |" in render(sheet_of([], footer=("1e3", "12.50")))


def test_no_rows_and_no_columns():
    assert read(render(sheet_of([]))) == [["a", "b"]]
    assert render(Sheet("T", (), (), (), ("0 variants",), dict)) == "**T**\n\n0 variants"


def test_a_sweep_is_as_in_the_guide():
    found = pc.sweep("mobilenet_v2", width=[0.5, 0.75, 1])
    assert found.render("markdown", columns=["width", "params", "macs"]).split("\n\n")[1].split("\n") == [
        "|   width |    params |   MACs |",
        "|--------:|----------:|-------:|",
        "|     0.5 | 1,968,680 | 97.1 M |",
        "|    0.75 | 2,636,424 |  209 M |",
        "|     1.0 | 3,504,872 |  301 M |",
    ]


def test_totals_that_have_no_column_are_not_lost():
    report = pc.count(pc.load("llama:tiny"), kv_cache=4096)
    assert f"{report.kv_cache_bytes:,} bytes of the KV cache, 4,096 tokens" in report.render("markdown")
