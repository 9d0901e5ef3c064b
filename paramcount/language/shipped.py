"""The blocks that come with the package, as classes for networks in Python."""

from __future__ import annotations

from typing import Any

from paramcount.errors import ArgumentError, quote
from paramcount.errors.suggest import argument_hint
from paramcount.graph.block import Block
from paramcount.language.blocks import SpecBlock
from paramcount.language.definitions import load_shipped
from paramcount.language.reading import read_item
from paramcount.language.signature import introduce


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
            super().__init__(definition, given, paths)

    Shipped.__name__ = Shipped.__qualname__ = "".join(part.capitalize() for part in name.split("_"))
    introduce(Shipped, definition)
    return Shipped
