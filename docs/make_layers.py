"""The page of all that specs can write, from what each says of itself: `python docs/make_layers.py`."""

from __future__ import annotations

import re
from collections import Counter
from textwrap import fill

from paramcount.cost.kinds import counts_of
from paramcount.language.definitions import load_shipped
from paramcount.language.description import AXES, BLOCK, MODIFIER, STRUCTURE, Description, describe, families
from paramcount.language.reading import read_item
from paramcount.language.shipped import written_block
from paramcount.layers.checked import SUGAR
from paramcount.layers.layer import FAMILIES

INTRODUCTION = """\
# Kinds of layers

<!-- made by: python docs/make_layers.py > docs/layers.md -->

Each kind with its arguments: first those that may stand in a list, in that order, then those that are given by name.
What follows `=` is the default; arguments without one must be given. Every kind also takes `norm` and `activation`,
short for items after it: `norm: batch_norm, activation: relu`. In Python a kind is a class with the same arguments:
`conv_transpose` is `pc.ConvTranspose`, and `help(pc.ConvTranspose)` says what stands here.
[language.md](language.md) has the language around them, [conventions.md](conventions.md) what the figures mean.

`paramcount kinds` lists all that stands on this page, and your own layers with `--plugin FILE.py`; `paramcount kinds
conv` shows one, and what each of its arguments may be.
"""
ABOUT = {  # a family, in a sentence below its title
    STRUCTURE: "Forms, which are not layers, and place other items.",
    MODIFIER: "What can stand beside any kind: `{dense: 8, repeat: 3}`.",
    BLOCK: "These come with the package, and are written in the spec language. In Python they are classes too:\n"
    "`pc.Bottleneck(out=24)`.",
}
WIDTH = 120


def page() -> str:
    """The whole page, in Markdown."""
    parts = [INTRODUCTION, index()]
    explained = {""}
    for family, words in families().items():
        parts.append(f"## {title(family)}\n")
        if family in ABOUT:
            parts.append(f"{ABOUT[family]}\n")
        for word in words:
            found = describe(word)
            if found.more not in explained:
                explained.add(found.more)
                parts.append(f"{paragraphs(found.more)}\n")
            parts.append(section(found))
    return "\n".join(parts)


def title(family: str) -> str:
    return f"{family.capitalize()}{'s' * (family in (MODIFIER, BLOCK))}"


def index() -> str:
    """All words by their families, each with a link to its section."""
    lines, seen = ["| | |", "|---|---|"], Counter()

    def link(text: str) -> str:
        anchor = text.strip("`").lower().replace(" ", "-")
        seen[anchor] += 1  # GitHub numbers sections of the same title
        return f"[{text}](#{anchor}{f'-{seen[anchor] - 1}' if seen[anchor] > 1 else ''})"

    for family, words in families().items():
        lines.append(f"| {link(title(family))} | {' '.join(link(f'`{word}`') for word in words)} |")
    return "\n".join([*lines, ""])


def section(found: Description) -> str:
    """One word: how it is written, what it means, what its arguments mean, and an example."""
    lines = [f"### `{found.kind}`", ""]
    own = [each for each in found.arguments if found.family not in FAMILIES or each.name not in SUGAR]
    if found.family == BLOCK:
        definition = written_block(load_shipped(found.kind, read_item))
        lines += [f"```yaml\n# file: blocks/{found.kind}.yaml\n{definition}```", ""]
    else:
        lines += [signature(found), "", paragraphs(found.text), ""]
        lines += [wrapped(f"- `{each.name}`: {each.meaning}") for each in own] + [""] * bool(own)
    if own:
        lines += [f"```yaml\n{found.example}# out: {counts_of(found.example)}\n```", ""]
    return "\n".join(lines)


def signature(found: Description) -> str:
    """How it is written: `conv: [out, kernel, stride=1]`, and the arguments by name."""
    whole = f" (a {found.whole} is taken whole)" if found.whole else ""
    by_name = [each if each == AXES else f"`{each}`" for each in found.by_name]
    return wrapped(f"`{found.usage}`{whole}" + (f", by name {' '.join(by_name)}" if by_name else ""))


def paragraphs(text: str) -> str:
    """Text in lines of the page's width, with empty ones between paragraphs."""
    return "\n\n".join(wrapped(joined(each)) for each in text.strip().split("\n\n"))


def wrapped(text: str) -> str:
    """A paragraph in lines of the page's width, none of which begins with a sign that would start a list or a title.

    >>> wrapped("x = y" + "y" * 114 + " - z").split("\\n")[0]  # 119 letters, and no room for the sign
    'x ='
    """
    held = re.sub(r" (?=([-+*=#>]+|\d+[.])( |$))", "\0", text)  # stays behind the word before it
    return fill(held, WIDTH, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def joined(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    import sys

    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    print(page(), end="")
