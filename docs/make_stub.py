"""What editors and type checkers see of the package: `python docs/make_stub.py > paramcount/__init__.pyi`.

Functions, forms and kinds of layers are imported from where they are defined, so that their own signatures and
docstrings are shown; a shipped block, which is written in YAML, becomes a class with its arguments.
"""

from __future__ import annotations

from inspect import Parameter, getdoc, signature
from textwrap import fill

import paramcount as pc
from paramcount.graph.block import Block
from paramcount.language.shipped import AsWritten

INTRODUCTION = '''\
"""The public names, for editors and type checkers; written by docs/make_stub.py."""

from collections.abc import Sequence
from typing import Any

'''


def page() -> str:
    """The whole stub."""
    found = {name: getattr(pc, name) for name in (*pc.kinds(), *pc.blocks())}
    layers = {found[name].__name__: found[name].__module__ for name in pc.kinds()}
    blocks = {found[name].__name__: found[name] for name in pc.blocks()}
    homes = {name: f"paramcount.{home}" for name, home in pc.NAMES.items()} | layers
    homes |= {name: f"paramcount.{path}".rpartition(".")[0] for name, path in pc.MODULES.items()}
    imports = [
        f"from {homes[name]} import {name} as {name}\n" for name in sorted(homes, key=lambda n: order(homes[n], n))
    ]
    spelled = [f"{name} = {each.__name__}\n" for name, each in sorted(found.items()) if name != each.__name__]
    classes = [class_of(blocks[name]) for name in sorted(blocks)]
    return "".join([INTRODUCTION, *imports, "\n__version__: str\n\n", *classes, *spelled])


def order(module: str, name: str) -> tuple[str, int, str]:
    """Ruff's order of imports: by module, then constants, classes and the rest."""
    return module, 0 if name.isupper() else 1 if name[0].isupper() else 2, name


def class_of(block: type[Block]) -> str:
    """A shipped block as a class with typed arguments."""
    about = (getdoc(block) or "").split("\n\n")[0]
    lines = [f"class {block.__name__}(Block):", fill(f'"""{" ".join(about.split())}', 120, **INDENTED) + '"""', ""]
    lines += ["    def __init__(", "        self,"]
    parameters = list(signature(block).parameters.values())
    for before, each in zip([None, *parameters], parameters, strict=False):
        if each.kind is Parameter.KEYWORD_ONLY and before is not None and before.kind is not Parameter.KEYWORD_ONLY:
            lines.append("        *,")
        lines.append(f"        {argument(each)},")
    return "\n".join([*lines, "    ) -> None: ...", "", ""])


INDENTED = {"initial_indent": "    ", "subsequent_indent": "    ", "break_long_words": False, "break_on_hyphens": False}


def argument(parameter: Parameter) -> str:
    """An argument with its type, as its default tells it; one that must be given is a whole number."""
    default = parameter.default
    if default is Parameter.empty:
        return f"{parameter.name}: int"
    if isinstance(default, AsWritten) or default is None:
        return f"{parameter.name}: Any = {None if default is None else '...'}"
    if isinstance(default, bool):
        return f"{parameter.name}: bool = {default}"
    if isinstance(default, str):
        return f'{parameter.name}: str | Item | None = "{default}"'
    return f"{parameter.name}: float | Sequence[int] = {default}"


if __name__ == "__main__":
    print(page(), end="")
