"""How a shipped block shows itself in Python: its signature, and a docstring from the head of its file."""

from __future__ import annotations

import os
from inspect import Parameter, Signature
from itertools import takewhile
from typing import Any

from paramcount.language.bindings import EMPTY
from paramcount.language.written import Formula, Written


class AsWritten(str):
    """The default of an argument that depends on others, or on what arrives, shown as it is written: `cin / heads`."""

    __repr__ = str.__str__


def introduce(block: Any, definition: Any) -> None:
    """Give a block's class the signature and the docstring of its definition.

    >>> import paramcount as pc, inspect
    >>> inspect.signature(pc.Ffn)
    <Signature (hidden, activation='gelu', bias=True, out=cin, gated=False)>
    """
    shown = signature(definition)
    itself = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    block.__init__.__signature__ = shown.replace(parameters=[itself, *shown.parameters.values()])
    with open(os.path.join(os.path.dirname(__file__), definition.file.path), encoding="utf-8") as file:
        about = "".join(line.removeprefix("# ") for line in takewhile(lambda line: line.startswith("#"), file))
    call = f"{definition.name}{shown}"
    block.__doc__ = f"{about}\nThe shipped block `{call}`, written in the spec language: {definition.file.path}.\n"


def signature(definition: Any) -> Signature:
    """A block's arguments in their order, and then its inputs by name, as Python shows them."""
    found = []
    for name, written in definition.arguments.items():
        default = Parameter.empty if written is None else default_of(written)
        found.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default))
    for name, path in definition.inputs.items():
        default = Parameter.empty if path is None else AsWritten("...")
        found.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default))
    return Signature(found)


def default_of(written: Written) -> Any:
    return AsWritten(written.expression.text) if isinstance(written, Formula) else written.evaluate(EMPTY, None)
