"""LaTeX: every text is escaped, rows begin with no argument of a command, and nothing is lost beside the table."""

import re
import subprocess
from shutil import which

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import paramcount as pc
from paramcount.numbers.units import decimal
from paramcount.render.latex import escaped, render
from paramcount.render.sheet import Heading, Share, Sheet, bar

HOSTILE = [
    *("\\", "&", "%", "$", "#", "_", "{", "}", "~", "^", "<", ">", "|", "`", "?`", "--", "---", "''", "[x", "*", "* x"),
    *("\\\\[1cm]", "\\input{x}", "\\end{tabular}", "^^5c", "a\nb", "\r", "\x00", "\ud800", "\u200f", "\u2028", "", " "),
    *("😀", "卷积", "Ð", "é", "×·–−Δ…µ→±≤≥≈", "██▎", "ß", "ﬁ"),
]
TEXT = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=[]), max_size=8)
ESCAPES = r"\\(?:[&%$#_{}]|text(?:backslash|asciicircum|less|greater|bar)\{\}|`\{\}|dots\{\}|quad )"
RULE = r"\\rule\{[\d.]+em\}\{1ex\}"
FORMULA = r"\$\\(?:sim|times|cdot|Delta|mu|to|pm|leq|geq|approx)\$|\$-\$"
PLAIN = r"[ !\"'()*+,\-./0-9:;=?@A-Z\[\]a-zÀ-ÖØ-öø-ÿ]|\{\}[-']"


def sheet_of(rows, title="T", below=(), **changes):
    headings = [Heading("a", "a", indented=True), Heading("b", "b", right=True)]
    return Sheet(title, headings, rows, (), below, dict)._replace(**changes)


@given(TEXT)
@example("".join(HOSTILE))
def test_a_text_has_only_what_latex_knows(text):
    assert re.fullmatch(f"(?:{ESCAPES}|{RULE}|{FORMULA}|{PLAIN})*", escaped(text)), escaped(text)
    assert "--" not in escaped(text.replace("–", ""))


@given(st.lists(st.tuples(TEXT, TEXT), max_size=4), TEXT, TEXT)
@example([(text, text) for text in HOSTILE], "\\x", "\n\\x")
def test_hostile_texts_stay_in_their_cells(rows, title, line):
    text = render(sheet_of(rows, title, [line], footer=("total", "1")))
    lines = [each for each in text.split("\n") if not each.startswith("%")]
    rules = [r"\toprule", r"\midrule", r"\midrule", r"\bottomrule"]
    assert [lines[0], *[each for each in lines if "rule" in each and "&" not in each], lines[-1]] == [
        r"\begin{tabular}{lr}",
        *rules,
        r"\end{tabular}",
    ]
    body = [each for each in lines if each.endswith(r"\\")]
    assert len(body) == len(rows) + 2 and len(lines) == len(rows) + 8
    for each in body:
        first, *others = re.split(r"(?<!\\)&", each.removesuffix(r"\\"))
        assert len(others) == 1 and not first.strip().startswith(("[", "*"))


def test_words_in_backticks_are_code_in_sentences_alone():
    text = render(Sheet("", [Heading("a", "a"), Heading("b", "b", wrap=8)], [("`x_y`", "a `x_y` b")], (), (), dict))
    assert r" \`{}x\_y\`{} & a \texttt{x\_y} b \\" in text


def test_the_parts_and_their_order():
    sheet = sheet_of(
        [("[p", "50%"), ("q_1", "3×3")],
        "MLP\n\\end",
        ["top 2", "one example; float32", "expect: equal"],
        totals=[("params", 2_000_000, decimal), ("  of which tables", None, decimal)],
        levels=(0, 1),
        footer=("total", 12),
        data=lambda: {"convention": "one example; float32"},
        above=sheet_of([("x", "1")], ""),
        summary="2 rows",
    )
    assert [re.sub(" +", " ", line.strip()) for line in render(sheet).split("\n")] == [
        r"% MLP\n\end: one example; float32",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"a & b \\",
        r"\midrule",
        r"x & 1 \\",
        r"\bottomrule",
        r"\end{tabular}",
        "",
        r"% 2 rows",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"a & b \\",
        r"\midrule",
        r"{[p} & 50\% \\",
        r"\quad q\_1 & 3$\times$3 \\",
        r"\midrule",
        r"\textbf{total} & \textbf{12} \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"% params 2,000,000 2.00 M",
        r"% of which tables –",
        r"% top 2",
        r"% expect: equal",
    ]


def test_what_fonts_lack_is_spelled():
    assert escaped("卷😀Ð\u200f") == "".join(
        rf"\textbackslash{{}}{code}" for code in ("u5377", "U0001f600", "xd0", "u200f")
    )
    assert escaped("é–−Δ…") == r"é--$-$$\Delta$\dots{}"
    assert escaped(bar(Share(3, 8))) == r"\rule{1.125em}{1ex}"  # 6 characters of half an em, of which 3/8
    assert escaped("a--b---c ''") == "a-{}-b-{}-{}-c '{}'"


def test_no_rows_and_no_columns():
    assert render(sheet_of([])).split("\n")[1:] == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        " a   & b   \\\\",
        r"\midrule",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert render(Sheet("T", (), (), (), ("0 variants",), dict)) == "% T\n% 0 variants"


def test_a_sweep_is_as_in_the_guide():
    found = pc.sweep("mobilenet_v2", width=[0.5, 0.75, 1])
    assert found.render("latex", columns=["width", "params", "macs"]).split("\n") == [
        "% MobileNet-v2: one example each; MACs include padding; FLOPs = 2 × MACs; float32",
        r"\begin{tabular}{rrr}",
        r"\toprule",
        "   width &    params &   MACs \\\\",
        r"\midrule",
        "     0.5 & 1,968,680 & 97.1 M \\\\",
        "    0.75 & 2,636,424 &  209 M \\\\",
        "     1.0 & 3,504,872 &  301 M \\\\",
        r"\bottomrule",
        r"\end{tabular}",
        "% 3 variants, 3 kept, 3 shown",
    ]


def test_it_compiles(tmp_path):
    if which("pdflatex") is None:
        pytest.skip("no pdflatex")
    rows = [(text, text) for text in HOSTILE]
    tables = [
        render(sheet_of(rows, "T\n\\bad", ["\n\\bad"], levels=[1] * len(rows), footer=("total", "1"))),
        render(sheet_of(rows)),
        *[pc.count(pc.load(name)).render("latex", depth=2) for name in ("mobilenet_v2", "clip", "mixtral")],
    ]
    document = [r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}", *tables, r"\end{document}"]
    (tmp_path / "x.tex").write_text("\n\n".join(document), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "x.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
