"""The fragment of HTML: what it shows, that it opens by itself, and that nothing of it gets out."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paramcount as pc
from paramcount.cli.main import main
from paramcount.errors import visible
from paramcount.graph.modifiers import With
from paramcount.numbers.units import binary, decimal, grouped
from paramcount.render.html import STYLE, render
from paramcount.render.sheet import PROGRAMS, Heading, Share, Sheet, bar

BLOCKS = {"div", "p", "pre", "details", "table"}
CELLS = {"span", "small", "td", "th"}
INSIDE = {  # the tags that may stand directly in each
    None: {"div"},
    "div": BLOCKS | {"style", "b", "span", "small"},
    "details": BLOCKS | {"summary"},
    "summary": {"span", "small"},
    "span": {"small"},
    "p": {"br", "code"},
    "td": {"code"},
    "table": {"caption", "thead", "tbody", "tfoot"},
    "thead": {"tr"},
    "tbody": {"tr"},
    "tfoot": {"tr"},
    "tr": {"th", "td"},
}
ATTRIBUTES = {
    "class": re.compile(r"paramcount(-\w+)?( paramcount-\w+)?"),
    "style": re.compile(r"--columns:minmax\(0,1fr\)( \d+ch)*;min-width:\d+ch"),
    "open": re.compile(""),
}


BAR = 6 * "█"


class Page(HTMLParser):
    """A fragment as a browser reads it: its rows, each with its level in the tree, its paragraphs, and all texts."""

    def __init__(self, text):
        super().__init__()
        self.stack, self.rows, self.paragraphs, self.texts = [], [], [], []
        self.opened = []  # the numbers of the rows that are open
        self.before = None  # the tag before
        text.encode("ascii")
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attributes):
        around = self.stack[-1] if self.stack else None
        assert tag in INSIDE.get(around, ()), (tag, self.stack)
        assert all(ATTRIBUTES[name].fullmatch(value or "") for name, value in attributes), attributes
        assert (tag == "summary") == (self.before == "details")
        if ("open", None) in attributes:
            self.opened.append(len(self.rows))
        if tag in CELLS and around != "span":
            if self.before in ("summary", "div", "tr"):
                self.rows.append((self.stack.count("details") - (around == "summary"), []))
            self.rows[-1][1].append("")
        elif tag in ("p", "pre"):
            self.paragraphs.append("")
        elif tag == "br":
            self.paragraphs[-1] += "\n"
        self.before = tag
        if tag != "br":
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag
        self.before = None

    def handle_data(self, data):
        if self.stack[-1] == "style":
            assert data.strip() == STYLE
            return
        inside = self.stack[-1]
        if inside == "code":
            data, inside = f"`{data}`", self.stack[-2]
        self.texts.append(data)
        if inside in CELLS:
            self.rows[-1][1][-1] += data
        elif inside in ("p", "pre"):
            self.paragraphs[-1] += data

    def handle_decl(self, decl):
        raise AssertionError(decl)

    handle_comment = handle_pi = unknown_decl = handle_decl


def test_words_in_backticks_are_code_in_sentences_alone():
    sheet = Sheet("", [Heading("a", "a"), Heading("b", "b", wrap=8)], [("`a`", "b `<c>` d")], (), ["`x` is on"], dict)
    text = render(sheet)
    assert "<td>`a`</td><td>b <code>&lt;c&gt;</code> d</td>" in text and "<p><code>x</code> is on</p>" in text


def number(text):
    return int(text.replace(",", ""))


HOSTILE = st.one_of(
    st.text(st.characters(), max_size=12),
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            "</style></details></div>",
            "<!-- ",
            "<![CDATA[",
            '" onclick="x',
            "' & &amp; &lt;",
            "a\nb\r\n",
            "\ud83d",
            "\u202eabc",
            "שלום",
            "\x00\x1b[31m",
            "<?php",
            "    </pre>",
        ]
    ),
)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_hostile_texts_are_texts(data):
    title, label, summary, *below = data.draw(st.lists(HOSTILE.filter(bool), min_size=6, max_size=6))
    headings = [
        Heading("mark", data.draw(HOSTILE)),
        Heading("layer", data.draw(HOSTILE), indented=True),
        Heading("kind", data.draw(HOSTILE), aside=True),
        Heading("output", data.draw(HOSTILE)),
        Heading("params", data.draw(HOSTILE), right=True, meaning=data.draw(HOSTILE)),
    ]
    rows = data.draw(st.lists(st.tuples(*[HOSTILE] * 5), min_size=1, max_size=6))
    levels = [0]
    for _ in rows[1:]:
        levels.append(data.draw(st.integers(0, levels[-1] + 1)))
    is_tree = data.draw(st.booleans())
    folded = data.draw(st.booleans())
    sheet = Sheet(title, headings, rows, [(label, 7, decimal)], below, dict, levels if is_tree else ())
    page = Page(render(sheet._replace(footer=rows[0], summary=summary if folded else "")))
    assert visible(title) in page.texts
    assert page.paragraphs[0] == f"7 {visible(label.strip())}"
    for found, row, level in zip(page.rows[1:], [*rows, rows[0]], [*levels, 0], strict=True):
        mark, name, kind, output, params = map(visible, row)
        if is_tree:
            name = " ".join(filter(None, [mark, name]))
            assert found == (level + folded, [f"{name} {kind}" if kind else name, output, params])
        else:
            assert found == (folded, [mark, name, kind, output, params])
    lines = [line for paragraph in page.paragraphs[1:] for line in paragraph.split("\n")]
    meaning = [f"{headings[-1].title} = {headings[-1].meaning}"] if headings[-1].meaning else []
    assert lines == [visible(each.removeprefix("    ")) for each in [*below, *meaning]]


@pytest.mark.parametrize(("spec", "most"), [("llama:3-8b", 9_800), ("deepseek_v3", 27_000), ("mobilenet_v2", 39_000)])
def test_a_notebook_shows_the_whole_tree_and_its_figures_add_up(spec, most):
    report = pc.count(pc.load(spec))
    notebook = report._repr_html_() or ""
    assert len(notebook) < most
    (_, titles), *rows, (_, total) = Page(report.render("html", exact=True, depth=99)).rows
    assert [cells[0] for _, cells in rows] == [cells[0] for _, cells in Page(notebook).rows[1:-1]]
    assert titles[1:] == ["output", "params", "weights", "MACs", "share"]
    assert total == ["total", "", *map(grouped, (report.params, report.weights, report.macs)), "100.0%"]
    assert max(level for level, _ in rows) + 1 == max(row.depth for row in report.rows)
    levels = [level for level, _ in rows]
    figures = [[number(cells[2]), number(cells[4])] for _, cells in rows]
    for start, (level, own) in enumerate(zip([-1, *levels], [[report.params, report.macs], *figures], strict=True)):
        end = next((index for index in range(start, len(levels)) if levels[index] <= level), len(levels))
        below = [figures[index] for index in range(start, end) if levels[index] == level + 1]
        assert not below or [sum(column) for column in zip(*below, strict=True)] == own


def test_totals_are_whole_and_parts_follow_them():
    report = pc.count(pc.load("llama:tiny"), kv_cache=1024)
    line, convention = Page(report._repr_html_() or "").paragraphs
    expected = ""
    for label, n, write in report.statement():
        unit = f" ({binary(n)})" if write is binary else ""
        expected += f"{', ' if label.startswith(' ') else ' · '}{grouped(n)} {label.strip()}{unit}"
    assert line == expected.removeprefix(" · ") and f"{report.macs:,} MACs · " in line
    assert convention == report.convention
    assert f", {report.tables:,} of which tables" in line and "bytes of the KV cache, 1,024 tokens (" in line


def test_the_table_stays_as_it_was_and_a_depth_is_that_of_the_page():
    report = pc.count(pc.load("mobilenet_v2"))
    assert str(report) == report.render("table") and "\n  " not in str(report).split("\n\n")[1]
    assert max(level for level, _ in Page(report.render("html", depth=2)).rows) == 1
    assert "<details" not in report.render("html")


def test_what_stands_alone_is_open():
    alone = pc.count(pc.Network([pc.Do([pc.Do([pc.Dense(3, activation="relu"), pc.Dense(4)])])], input=2))
    assert Page(alone._repr_html_() or "").opened == [1, 2]
    assert Page(pc.count([pc.Dense(3, activation="relu")] * 2, 3)._repr_html_() or "").opened == []


def test_warnings_and_notes_are_not_lost():
    network = pc.Network(
        [pc.Add([[pc.Dense(3)], [With(pc.Dense(3), share="a")]]), With(pc.Dense(3), share="a")], input=3
    )
    report = replace(pc.count(network), warnings=("<odd>",))
    page = Page(report._repr_html_() or "")
    assert page.paragraphs[-1].split("\n")[-1] == "warning: <odd>"
    notes = [row.note for row in report.rows if row.note]
    assert notes and all(any(cells[0].endswith(note) for _, cells in page.rows) for note in notes)


def test_columns_that_were_asked_for():
    report = pc.count(pc.Network([pc.Dense(3, activation="relu")], input=2))
    page = Page(report.render("html", depth=2, columns=["params", "layer", "kind", "bar"]))
    names = ["network", "9 dense0 dense", "9 dense0 dense", "0 relu0 relu", "9 total"]
    assert [cells for _, cells in page.rows] == [list(row) for row in zip(names, ["", BAR, BAR, "", ""], strict=True)]
    page = Page(report.render("html", depth=2, columns=["kind", "params"]))
    assert [cells for _, cells in page.rows] == [["kind", "params"], *[["dense", "9"]] * 2, ["relu", "0"], ["", "9"]]
    page = Page(report.render("html", flat=True))
    assert page.rows[1] == (0, ["dense0.dense0", "dense", "3", "9", "6", "6", "100.0%"])


def test_a_table_leaves_out_what_is_not_for_people():
    headings = [
        Heading("name", "name"),
        Heading("note", "note", if_any=True),
        Heading("path", "path", reader=PROGRAMS),
        Heading("bar", "", bar, reader="people"),
        Heading("size", "size", grouped, right=True, meaning="how much"),
    ]
    rows = [("a", "", "x.a", Share(1, 2), 1234), ("b", "", "x.b", Share(1, 2), None)]
    page = Page(render(Sheet("", headings, rows, (), ("one", "", "two"), dict)))
    assert [cells for _, cells in page.rows] == [["name", "size"], ["a", "1,234"], ["b", "–"]]
    assert page.paragraphs == ["one", "two\nsize = how much"]


def test_a_comparison_begins_with_the_sheet_above_and_folds_its_rows():
    above = Sheet("", [Heading("figure", ""), Heading("a", "A", right=True)], [("params", 5)], (), (), dict)
    headings = [Heading("mark", ""), Heading("layer", "layer", indented=True), Heading("a", "A", right=True)]
    rows = [("~", "block", 5), ("+", "dense0", 5)]
    sheet = Sheet("A and B", headings, rows, (), ("1 changed",), dict, (0, 1), None, above, "2 changed rows")
    page = Page(render(sheet))
    assert [text for text in page.texts if text.strip()][:4] == ["A and B", "A", "params", "5"]
    assert [cells for _, cells in page.rows[2:]] == [["layer", "A"], ["~ block", "5"], ["+ dense0", "5"]]
    assert [level for level, _ in page.rows[2:]] == [1, 1, 2]
    assert "2 changed rows" in page.texts and page.paragraphs == ["1 changed"]
    found = Page(pc.compare("llama:2-7b", "llama:3-8b").render("html", depth=3))
    assert [level for level, cells in found.rows if cells[0] in ("~ block[0:32]", "~ residual1", "~ ffn0")] == [1, 2, 3]


def test_lines_of_code_stay_as_they_are_written():
    lines = ("of <all>", "one", "    layers:", "      - conv: <3>", "", "    other", "end")
    assert render(Sheet("", (), (), (), lines, dict)).partition("</style>\n")[2] == (
        "<p>of &lt;all&gt;<br>one</p>\n<pre>layers:\n  - conv: &lt;3&gt;</pre>\n<pre>other</pre>\n<p>end</p>\n</div>"
    )


def test_a_long_result_shows_ten_rows_and_how_many_there_are():
    pytest.importorskip("numpy")
    found = pc.sweep("mobilenet_v2", resolution=list(range(32, 2032)))
    page = Page(found._repr_html_())
    assert len(page.rows) == 11 and page.paragraphs[-1].startswith("2,000 variants, 2,000 kept, 10 shown\n")


def test_other_results():
    pytest.importorskip("numpy")
    solution = pc.solve("mobilenet_v2", "width", {"macs": 300e6})
    page = Page(solution._repr_html_() or "")
    assert max(level for level, _ in page.rows) == 3
    assert page.paragraphs[-1].startswith("width = 0.98: macs 299,896,192 of at most")
    odd = solution._replace(report=replace(solution.report, warnings=("odd",)))
    assert Page(odd._repr_html_() or "").paragraphs[-1].endswith("\nwarning: odd") and "warning: odd" in str(odd)
    zoo = pc.zoo("resnet")
    assert [cells[0] for _, cells in Page(zoo._repr_html_() or "").rows] == ["name", *(each.name for each in zoo)]
    assert Page(pc.memory_of(pc.load("mlp"))._repr_html_() or "").rows[-1][1][0] == "total"


def test_nothing_gets_out_of_the_fragment():
    for rule in STYLE.splitlines():
        selectors, declarations = re.fullmatch(r"(.+?)\{(.+)\}", rule).groups()
        assert all(re.match(r"\.paramcount(-\w+)?\b", selector) for selector in selectors.split(","))
        assert not re.search(r"#[0-9a-f]{3}|url|@|position|(?<!-)color:(?!inherit)|background", declarations)
        assert set(re.findall(r"rgba?\([^)]*", declarations)) <= {f"rgba(128,128,128,{a}" for a in (".25", ".8")}
    assert "<script" not in (pc.count(pc.load("mlp"))._repr_html_() or "")


def test_a_file_is_the_fragment_in_ascii(tmp_path, capsys):
    path = tmp_path / "mlp.html"
    assert main(["mlp", "--depth", "2", "-o", str(path)]) == 0
    assert main(["mlp", "--depth", "2", "--format", "html"]) == 0
    written = path.read_bytes()
    assert written.isascii() and written.decode() in capsys.readouterr().out
    assert written.startswith(b'<div class="paramcount">\n<style>') and written.endswith(b"</div>\n")
    Page(written.decode().strip())


@pytest.mark.full
def test_a_notebook_has_html_and_text_of_every_result():
    """As the kernel of a notebook formats what a cell returns."""
    jax = pytest.importorskip("jax")
    formatter = pytest.importorskip("IPython.core.formatters", reason="needs ipython").DisplayFormatter()
    network = pc.Network([pc.Dense(4, activation="relu")], input=3)
    results = [
        pc.count(network),
        pc.count(network, train=True),
        pc.memory_of(network),
        pc.sweep("mobilenet_v2", width=[0.5, 1]),
        pc.solve("mobilenet_v2", "width", {"params": 2e6}),
        pc.zoo("mlp"),
        pc.compare("resnet:18", "resnet:50"),
        pc.info("mlp"),
        pc.verify(network, abstract=True),
        pc.measure(network, batch=[1]),
        pc.trace(lambda x: x @ x, jax.numpy.ones((4, 4))),
    ]
    for result in results:
        data, _ = formatter.format(result)
        assert data["text/plain"] == repr(result) or isinstance(result, pc.Memory)
        Page(data["text/html"])
