"""A spec's text as nodes: every scalar stays text, every key and value knows its line and column."""

from __future__ import annotations

from paramcount.errors import Position


class Scalar:
    """A piece of text; `quoted` tells whether it stood in quotes. An empty value stands at its key."""

    __slots__ = ("position", "quoted", "text")

    def __init__(self, text: str, position: Position, quoted: bool = False) -> None:
        self.text = text
        self.position = position
        self.quoted = quoted

    def __repr__(self) -> str:
        return f"Scalar({self.text!r})"


class Sequence:
    """A list of nodes, as `- ...` or in [ ]."""

    __slots__ = ("items", "position")

    def __init__(self, items: list[Node], position: Position) -> None:
        self.items = items
        self.position = position

    def __repr__(self) -> str:
        return f"Sequence({self.items!r})"


class Mapping:
    """Keys and values in the order of the text; no key stands twice."""

    __slots__ = ("entries", "position")

    def __init__(self, entries: list[tuple[Scalar, Node]], position: Position) -> None:
        self.entries = entries
        self.position = position

    def get(self, key: str) -> Node | None:
        """The value of a key, or None."""
        for each, value in self.entries:
            if each.text == key:
                return value
        return None

    def __repr__(self) -> str:
        return f"Mapping({self.entries!r})"


Node = Scalar | Sequence | Mapping
