"""The blocks that come with the package, as classes for networks in Python."""

from __future__ import annotations

import os
import re
from functools import cache
from inspect import Parameter, Signature
from itertools import takewhile
from typing import Any

from paramcount.errors import ArgumentError, quote
from paramcount.errors.suggest import argument_hint
from paramcount.graph.block import Block
from paramcount.language.bindings import EMPTY
from paramcount.language.blocks import BlockDefinition, SpecBlock
from paramcount.language.definitions import load_shipped
from paramcount.language.reading import read_item
from paramcount.language.variables import given_value
from paramcount.language.written import Formula, Written
from paramcount.layers.layer import Item


@cache
def block_class(name: str) -> type[Block]:
    """A shipped block as a class, for networks in Python: `Bottleneck(out=24, expand=6, stride=2)`."""
    definition = load_shipped(name, read_item)
    names = list(definition.arguments)

    class Shipped(SpecBlock):
        def __init__(self, *positional: Any, **named: Any) -> None:
            if len(positional) > len(names):
                raise ArgumentError(f"{quote(name)} takes at most {len(names)} positional arguments")
            given = {**dict(zip(names, positional, strict=False)), **named}
            if len(given) < len(positional) + len(named):
                twice = next(each for each in names[: len(positional)] if each in named)
                raise ArgumentError(f"{quote(name)} is given {quote(twice)} twice", hint="by its place, and by name")
            for each in given:
                if each not in names and each not in definition.inputs:
                    raise ArgumentError(
                        f"{quote(name)} has no argument {quote(each)}",
                        hint=argument_hint(each, [*names, *definition.inputs]) or f"it takes {', '.join(names)}",
                    )
            missing = [each for each in definition.signature.required if each not in given]
            if missing:
                raise ArgumentError(f"{quote(name)} needs {quote(missing[0])}")
            paths = {each: given.pop(each) for each in definition.inputs if each in given}
            for each, value in given.items():
                if not isinstance(value, (Item, type)):
                    given[each] = given_value(each, value)
            super().__init__(definition, given, paths)

    Shipped.__name__ = Shipped.__qualname__ = "".join(part.capitalize() for part in name.split("_"))
    Shipped.__module__ = "paramcount"  # where pickle finds it
    introduce(Shipped, definition)
    return Shipped


class AsWritten(str):
    """The default of an argument that depends on others, or on what arrives, shown as it is written: `cin / heads`."""

    __repr__ = str.__str__


def introduce(block: Any, definition: BlockDefinition) -> None:
    """Give a block's class the signature and the docstring of its definition.

    >>> import paramcount as pc, inspect
    >>> inspect.signature(pc.Ffn)
    <Signature (hidden, activation='gelu', bias=True, out=cin, gated=False)>
    """
    shown = signature(definition)
    itself = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    block.__init__.__signature__ = shown.replace(parameters=[itself, *shown.parameters.values()])
    about, call = text_of_block(definition), f"{definition.name}{shown}"
    arguments = "".join(f"    {name}: {meaning}\n" for name, meaning in meanings(definition).items())
    block.__doc__ = (
        f"{about}\n\nThe shipped block `{call}`, written in the spec language: {definition.file.path}.\n"
        f"\nArguments:\n{arguments}"
    )


def source_of_block(definition: BlockDefinition) -> str:
    """The file of a shipped block, which is a spec: the block, and an example of it."""
    with open(os.path.join(os.path.dirname(__file__), definition.file.path), encoding="utf-8") as file:
        return file.read()


def text_of_block(definition: BlockDefinition) -> str:
    """What a shipped block is: the comment at the head of its file."""
    lines = takewhile(lambda line: line.startswith("#"), source_of_block(definition).splitlines())
    return "\n".join(line.removeprefix("# ") for line in lines)


def written_block(definition: BlockDefinition) -> str:
    """The part of a shipped block's file that defines it."""
    return source_of_block(definition).partition("\ninput")[0]


def example_of_block(definition: BlockDefinition) -> str:
    """The part of a shipped block's file that uses it."""
    return "".join(source_of_block(definition).partition("\ninput")[1:]).lstrip()


def meanings(definition: BlockDefinition) -> dict[str, str]:
    """What each argument and input of a shipped block means: the comment behind it in the file."""
    found = dict(re.findall(r"^ +(\w+): [^#\n]*# (.*)$", written_block(definition), re.MULTILINE))
    return {name: found[name] for name in (*definition.arguments, *definition.inputs)}


def signature(definition: BlockDefinition) -> Signature:
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
