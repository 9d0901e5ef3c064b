"""The page of all kinds of layers, from what they say of themselves: `python docs/make_layers.py`."""

from __future__ import annotations

import os
import re
from dataclasses import fields
from importlib import import_module
from inspect import getdoc
from textwrap import fill
from typing import Any

from paramcount.language.vocabulary import FOLDER, FORMS, shipped
from paramcount.layers import MODULES, find
from paramcount.layers.fields import REQUIRED
from paramcount.layers.layer import FAMILIES, Layer

INTRODUCTION = """\
# Kinds of layers

<!-- made by: python docs/make_layers.py > docs/layers.md -->

Each kind with its arguments: first those that may stand in a list, in that order, then those that are given by name.
What follows `=` is the default; arguments without one must be given. Every kind also takes `norm` and `activation`,
short for items after it: `norm: batch_norm, activation: relu`. In Python a kind is a class with the same arguments:
`conv_transpose` is `pc.ConvTranspose`, and `help(pc.ConvTranspose)` says what stands here.
[language.md](language.md) has the language around them and the forms that are not layers
({forms}),
[conventions.md](conventions.md) what the figures mean.

`moe` consists of `router`, its experts and `combine`.
"""
WIDTH = 120
BLOCKS = """\
## Blocks

These come with the package, and are written in the spec language. In Python they are classes too:
`pc.Bottleneck(out=24)`.
"""


def page() -> str:
    """The whole page, in Markdown."""
    forms = ", ".join(f"`{name}`" for name in FORMS)
    parts = [INTRODUCTION.format(forms=forms)]
    explained = set()
    for family in FAMILIES:
        parts.append(f"## {family.capitalize()}\n")
        for kind, module in MODULES.items():
            found = find(kind)
            assert found is not None
            if found.family != family:
                continue
            _, _, about = (getdoc(import_module(f"paramcount.layers.{module}")) or "").partition("\n\n")
            if about and module not in explained:
                explained.add(module)
                parts.append(f"{paragraphs(about)}\n")
            parts.append(section(found))
    parts.append(BLOCKS)
    for name in sorted(shipped()):
        with open(os.path.join(FOLDER, f"{name}.yaml"), encoding="utf-8") as file:
            parts.append(f"### `{name}`\n\n```yaml\n# file: blocks/{name}.yaml\n{file.read()}```\n")
    return "\n".join(parts)


def section(layer: type[Layer]) -> str:
    """One kind: its signature, what its class says of it, without the example, and what its arguments mean."""
    about = re.split("\n>>> |\n\nArguments:", getdoc(layer) or "")[0]
    lines = [f"### `{layer.kind}`", "", signature(layer), "", paragraphs(about), ""]
    docs = {each.name: each.metadata["doc"] for each in fields(layer)}
    own = [name for name, _ in layer.checks() if name not in ("norm", "activation")]
    lines += [wrapped(f"- `{name}`: {docs[name]}") for name in own] + [""] * bool(own)
    return "\n".join(lines)


def signature(layer: type[Layer]) -> str:
    """The arguments with their defaults: `conv: [out, kernel, stride=1]`, and those by name."""
    defaults = {each.name: each.default for each in fields(layer)}
    own = [(name, check) for name, check in layer.checks() if name not in ("norm", "activation")]
    shown = {name: argument(name, defaults[name]) for name, check in own if check.takes != "sizes"}
    positional = [text for name, text in shown.items() if name not in layer.by_name]
    by_name = [f"`{text}`" for name, text in shown.items() if name in layer.by_name]
    if any(check.takes == "sizes" for _, check in own):
        by_name.append("sizes of axes")
    first = f"`{layer.kind}: [{', '.join(positional)}]`" if positional else f"`{layer.kind}`"
    if own and own[0][1].listed and positional:
        first = f"`{layer.kind}: {positional[0]}` (a list is taken whole)"
    return wrapped(first + (f", by name {' '.join(by_name)}" if by_name else ""))


def argument(name: str, default: Any) -> str:
    """An argument as a spec would write its default."""
    if default is REQUIRED:
        return name
    words = {True: "true", False: "false", None: "none"}
    shown = words[default] if default is None or isinstance(default, bool) else default
    return f"{name}={shown}"


def paragraphs(text: str) -> str:
    """Text in lines of the page's width, with empty ones between paragraphs."""
    return "\n\n".join(wrapped(joined(each)) for each in text.strip().split("\n\n"))


def wrapped(text: str) -> str:
    """A paragraph in lines of the page's width, none of which begins with a sign that would start a list or a title.

    >>> wrapped("x = y" + "y" * 114 + " - z").split("\\n")[0]  # 119 letters, and no room for the sign
    'x ='
    """
    held = re.sub(r" (?=([-+*=#>]+|\d+[.)])( |$))", "\0", text)  # stays behind the word before it
    return fill(held, WIDTH, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def joined(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    import sys

    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    print(page(), end="")
