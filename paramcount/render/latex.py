r"""A sheet as a LaTeX table, which needs `\usepackage{booktabs}` alone; all else is in comments, so nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from paramcount.errors import visible
from paramcount.render.sheet import EIGHTHS, Heading, Sheet, explained, sentence
from paramcount.render.table import listed

INDENT = r"\quad "
TEX = {each: rf"\{each}" for each in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"$\sim$",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\`{}",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "−": r"$-$",
    "–": "--",
    "…": r"\dots{}",
    "Δ": r"$\Delta$",
    "µ": r"$\mu$",
    "→": r"$\to$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
}
EIGHTH = {each: eighths for eighths, each in enumerate(EIGHTHS + "█")}  # of a character, in a bar
FOREIGN = "[^ -~À-ÏÑ-ÖØ-Ýß-ïñ-öø-ýÿ]"  # what the usual fonts lack, also Ð and Þ
SPECIAL = re.compile(rf"[{EIGHTHS[1:]}█]+|{FOREIGN}|[\\&%$#_{{}}~^<>|`]|(?<=-)-|(?<=')'")


def render(sheet: Sheet) -> str:
    """The table, its last row bold with the totals; comments have the title, the totals, and the lines below."""
    sheet = sheet.for_pages()
    lines = explained(sheet.below, sheet.headings)
    convention = sheet.data().get("convention", "")
    parts = [
        comment(": ".join(filter(None, (sheet.title, convention)))),
        "" if sheet.above is None else render(sheet.above._replace(data=dict)) + "\n",  # whose convention is the same
        comment(sheet.summary),
        table(sheet),
        *map(comment, listed(sheet.totals).split("\n")),
        *[comment(line) for line in lines if line != convention],
    ]
    return "\n".join(filter(None, parts))


def table(sheet: Sheet) -> str:
    """The rows as a `tabular`; those of a tree are indented."""
    if not sheet.headings:
        return ""
    from tabulate import tabulate

    def texts(row: Sequence[Any], level: int = 0) -> list[str]:
        cells = zip(sheet.headings, row, strict=True)
        return begun(INDENT * level * heading.indented + cell(heading, value) for heading, value in cells)

    rows = [texts(row, level) for level, row in zip(sheet.levels or [0] * len(sheet.rows), sheet.rows, strict=True)]
    if sheet.footer is not None:
        rows.append([rf"\textbf{{{text}}}" if text else "" for text in texts(sheet.footer)])
    titles = begun(escaped(each.title) for each in sheet.headings)
    sides = ["right" if each.right else "left" for each in sheet.headings]
    text = tabulate(rows, headers=titles, tablefmt="latex_raw", colalign=sides if rows else None, disable_numparse=True)
    _, _, head, _, *body, _, _ = text.split("\n")
    if sheet.footer is not None:
        body.insert(-1, r"\midrule")
    begin = rf"\begin{{tabular}}{{{''.join(side[0] for side in sides)}}}"
    return "\n".join([begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"])


def cell(heading: Heading, value: Any) -> str:
    text = heading.text(value)
    return sentence(text, escaped, lambda code: rf"\texttt{{{escaped(code)}}}") if heading.wrap else escaped(text)


def escaped(text: str) -> str:
    r"""A text that LaTeX shows as it is; characters that its usual fonts lack are spelled by their numbers.

    >>> print(escaped("3×3 a_b"), escaped("卷"))
    3$\times$3 a\_b \textbackslash{}u5377
    """

    def spelled(found: re.Match[str]) -> str:
        text = found[0]
        if text in ("-", "'"):  # two of which would be one character
            return "{}" + text
        if text[0] in EIGHTH:
            return rf"\rule{{{sum(EIGHTH[each] for each in text) / 16:g}em}}{{1ex}}"
        return TEX.get(text) or text.encode("ascii", "backslashreplace").decode().replace("\\", TEX["\\"])

    return SPECIAL.sub(spelled, visible(text))


def begun(texts: Iterable[str]) -> list[str]:
    r"""The cells of a row, which cannot begin like an argument of the `\\` before it."""
    first, *others = texts
    return [f"{{{first}}}" if first.startswith(("[", "*")) else first, *others]


def comment(text: str) -> str:
    return f"% {visible(text)}" if text else ""
