"""Lists of items, and paths: a path is a name or such a list."""

from __future__ import annotations

from paramcount.errors import Position, quote
from paramcount.language.bindings import Bindings
from paramcount.language.context import Context, describe, empty, wrong
from paramcount.language.items import ItemSyntax, SpecItem, bind
from paramcount.language.written import Constant, Written, read_template
from paramcount.language.yaml.nodes import Mapping, Node, Sequence
from paramcount.layers.layer import Shape


class ItemList(Written):
    """A list of items, which is given in the bindings of its place."""

    __slots__ = ("items",)

    def __init__(self, position: Position, items: list[ItemSyntax]) -> None:
        super().__init__(position, False)
        self.items = items

    def evaluate(self, bindings: Bindings, shape: Shape | None) -> list[SpecItem]:
        return bind(self.items, bindings)


def read_items(node: Node, context: Context, what: str = "layers") -> list[ItemSyntax]:
    """A list of items, every error in it noted."""
    if not isinstance(node, Sequence):
        hint = f"write `{what}:` and `- ...` below"
        raise wrong(node, f"{quote(what)} takes a list of layers, not {describe(node)}", hint)
    pairs = zip([None, *node.items], node.items, strict=False)
    items = [context.attempt(context.read_item, each, context, before) for before, each in pairs]
    return [item for item in items if item is not None]


def read_path(node: Node, context: Context) -> Written:
    """Where a value comes from: `prev`, a name, or a list of items; `none` stands for no value."""
    if isinstance(node, Sequence):
        return ItemList(node.position, read_items(node, context, "path"))
    if isinstance(node, Mapping):
        raise wrong(node, "a path is a name or a list of items, not a mapping", "put it into a list: `[...]`")
    if empty(node):
        raise wrong(node, "a path is missing here", "write `prev`, a name, or a list of items")
    if node.text == "none" and not node.quoted:
        return Constant(node.position, None)
    return read_template(node, context, "a path")
