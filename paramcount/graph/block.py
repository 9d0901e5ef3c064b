"""Blocks: items that are written as other items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paramcount.errors import ParamcountError, Position, SpecError, quote
from paramcount.graph.builder import Builder
from paramcount.graph.tree import Group
from paramcount.layers.layer import Item, Shape


class Block(Item):
    """Something that is expanded into items when its inputs' shapes are known. Subclass it to write one in Python.

    `inputs` are the values that it is given beyond the one that arrives, by the names that its items use for
    them; `outputs` names its results, if it has several.

    >>> import paramcount as pc
    >>> class Mlp(pc.Block):
    ...     def expand(self, x):
    ...         return [pc.Dense(4 * x.channels), pc.Relu(), pc.Dense(x.channels)]
    >>> pc.count([Mlp()], 8).weights  # 8 · 32 + 32 · 8
    512
    """

    kind: str = "block"
    outputs: Sequence[str] = ()
    setting: str = ""
    position: Position | None = None  # where it is used
    declared: dict[str, Position] | None = None  # names that are given somewhere in it

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.kind}{f': {self.setting}' if self.setting else ''}>"

    def inputs(self) -> dict[str, Any]:
        """The paths of the values that it is given beyond the one that arrives, by name."""
        return {}

    def expand(self, *inputs: Shape | None) -> Sequence[Item]:
        """The items; `inputs` are the shapes of the value that arrives, and of `inputs()` in their order."""
        raise SpecError(f"the block {quote(self.kind)} has no method `expand`", hint="it returns a list of items")

    def place(self, builder: Builder, name: str | None) -> None:
        given = {key: None if path is None else builder.optional_path(path, key) for key, path in self.inputs().items()}
        arrived = builder.prev
        builder.open(self.kind, name)
        outer = builder.enter(self.declared, root=True)
        builder.scope.names.update(given)
        try:
            builder.run(self.expand(*(value and value.shape for value in (arrived, *given.values()))))
            results = [builder.path(output, str(output)) for output in self.outputs]
            builder.leave(outer)
        except ParamcountError as error:
            if self.position is not None and error.position not in (None, self.position):
                error.frames.append((self.kind, self.position))
            raise
        if results:
            builder.prev = results[0]
        builder.close(self.kind, Group("", self.kind, made_by=self, scope=True))
        builder.results = tuple(results) or (builder.prev,)
