"""One item of a spec: its kind and modifiers as read, and how it is expanded where it stands."""

from __future__ import annotations

from typing import Any

from paramcount.errors import ArgumentError, ParamcountError, Position, SpecError
from paramcount.graph.builder import LAYERS, Builder
from paramcount.graph.items import From, Skip
from paramcount.graph.loops import LoopItem, too_many_iterations
from paramcount.graph.modifiers import With
from paramcount.language.bindings import Bindings, Read
from paramcount.language.written import (
    Maker,
    Several,
    Template,
    Written,
)
from paramcount.layers.fields import Flag, Whole
from paramcount.layers.layer import Item, Shape
from paramcount.numbers.arithmetic import settle

MODIFIERS = ("for", "in", "from", "repeat", "when", "name", "into", "share", "push", "only", "frozen")
FOR, FROM, REPEAT, WHEN = range(4)  # the order in which an item's modifiers are looked at


class ItemSyntax:
    """An item as written: `make` turns its kind and arguments into an Item for the value that arrives.

    `places` says where each argument stands, `layer` is what it makes where that depends on nothing, `plain` says that
    it does not have modifiers, and `marks` that it has some for its weights or its results.
    """

    __slots__ = (
        "frozen",
        "into",
        "kind",
        "layer",
        "make",
        "marks",
        "name",
        "only",
        "places",
        "plain",
        "position",
        "push",
        "repeat",
        "rows",
        "share",
        "start",
        "variables",
        "when",
    )

    def __init__(self, position: Position, kind: str = "") -> None:
        self.position = position
        self.kind = kind
        self.make: Maker | None = None
        self.layer: Item | None = None
        self.places: dict[str, Position] = {}
        self.plain = True
        self.marks = True
        self.variables: tuple[str, ...] = ()
        self.rows: Written | None = None
        self.start: Written | None = None
        self.repeat: Written | None = None
        self.when: Written | None = None
        self.name: Template | None = None
        self.into: tuple[Template, ...] = ()
        self.share: Template | bool | None = None
        self.push: Template | None = None
        self.only: str | None = None
        self.frozen: Written | None = None

    @property
    def loops(self) -> int:
        """How many loops the item itself is: `for` and `repeat`."""
        return (self.rows is not None) + (self.repeat is not None)

    def names(self, bindings: Bindings, shape: Shape | None) -> list[str]:
        return [each.evaluate(bindings, shape) for each in (self.name, *self.into) if each is not None]

    def names_given(self, outside: int, bindings: Bindings, shape: Shape | None) -> tuple[str | None, list[str]]:
        """Its name and those of its results, where they name what its `outside` outer loops give."""

        def name(template: Template) -> str | None:
            here = min(template.same, self.loops) == outside
            return template.evaluate(bindings, shape, outside) if here else None

        return self.name and name(self.name), [each for each in map(name, self.into) if each]


class SpecItem(Item):
    """An item in the bindings of its place; it becomes layers and forms when the value that arrives is known."""

    __slots__ = ("bindings", "stage", "syntax")

    def __init__(self, syntax: ItemSyntax, bindings: Bindings, stage: int = FOR) -> None:
        self.syntax = syntax
        self.bindings = bindings
        self.stage = stage

    @property
    def kind(self) -> str:
        return self.syntax.kind

    def place(self, builder: Builder, name: str | None) -> None:
        syntax = self.syntax
        try:
            if syntax.plain:
                assert syntax.make is not None
                syntax.make(self.bindings, arriving(builder)).place(builder, name)
            else:
                self.modified(builder, name)
        except ParamcountError as error:
            if error.position is None:
                error.position = syntax.places.get(error.argument or "", syntax.position)
            raise

    def modified(self, builder: Builder, name: str | None) -> None:
        """Look at the modifiers in their order, from this item's stage on."""
        syntax, bindings, stage = self.syntax, self.bindings, self.stage
        if stage <= FOR and syntax.rows is not None:
            rows = loop_rows(syntax, bindings, arriving(builder))
            self.loop(builder, name, FROM, rows, len(rows), False)
            return
        if stage <= FROM and syntax.start is not None:
            builder.build(From(syntax.start.evaluate(bindings, arriving(builder))))
        if stage <= REPEAT and syntax.repeat is not None:
            count = settle(syntax.repeat.checked(Whole(at_least=0), "repeat", bindings, arriving(builder)))
            self.loop(builder, name, WHEN, None, count, syntax.share is True)
            return
        shape = arriving(builder)
        if syntax.when is not None and not holds(syntax.when, "when", bindings, shape):
            Skip(syntax.names(bindings, shape)).place(builder, name)
            return
        item = syntax.make(bindings, shape) if syntax.make else None
        if syntax.marks or item is None:
            item = self.marked(item, shape)
        item.place(builder, name)

    def loop(self, builder: Builder, name: str | None, stage: int, rows: list | None, count: int, share: bool) -> None:
        """Expand a loop; a name that is the same in all its iterations names its final result."""
        syntax = self.syntax
        item: Item = SpecLoop(syntax, self.bindings, stage, rows, count, share)
        outside = syntax.loops if stage == FROM else 1
        named, into = syntax.names_given(outside, self.bindings, arriving(builder))
        if named or into:
            item = With(item, name=named, into=into)
        builder.build(item, name)

    def marked(self, item: Item | None, shape: Shape | None) -> Item:
        """The item with the modifiers that belong to each iteration."""
        syntax, bindings = self.syntax, self.bindings
        named, into = syntax.names_given(0, bindings, shape)
        shared = syntax.share if isinstance(syntax.share, Template) else None
        frozen = syntax.frozen is not None and holds(syntax.frozen, "frozen", bindings, shape)
        if not (named or into or shared or syntax.push or syntax.only or frozen):
            return item or Skip()
        return With(
            item,
            name=named,
            into=into,
            share=shared.evaluate(bindings, shape) if shared else None,
            push=syntax.push.evaluate(bindings, shape) if syntax.push else None,
            only=syntax.only,
            frozen=frozen,
        )


class SpecLoop(LoopItem):
    """A looping item: one iteration for each row of variables, or `count` of them."""

    def __init__(
        self, syntax: ItemSyntax, bindings: Bindings, stage: int, rows: list | None, count: int, share: bool
    ) -> None:
        self.syntax = syntax
        self.bindings = bindings
        self.stage = stage
        self.rows = rows
        self.count = count
        self.share = share
        self.kind = syntax.kind or "pass"
        self.reads: dict[int, list[Read]] = {}

    def variables(self, index: int) -> dict[str, Any]:
        return {**self.rows[index], "i": index} if self.rows is not None else {"i": index}

    def body_of(self, index: int) -> Item:
        reads = self.reads[index] = []
        return SpecItem(self.syntax, self.bindings.inside(self.variables(index), reads), self.stage)

    def alike(self, index: int, earlier: int) -> bool:
        return self.bindings.replays(self.reads[earlier], self.variables(index))


def arriving(builder: Builder) -> Shape | None:
    return builder.prev.shape if builder.prev is not None else None


def holds(written: Written, what: str, bindings: Bindings, shape: Shape | None) -> bool:
    """Whether a condition is true."""
    try:
        return written.checked(Flag(), what, bindings, shape)
    except ArgumentError as error:
        error.hint = error.hint or "compare with something: `x > 0`"
        raise


def loop_rows(syntax: ItemSyntax, bindings: Bindings, shape: Shape | None) -> list[dict[str, Any]]:
    """The variables of each iteration of a `for`: from rows, a list variable, or a count."""
    assert syntax.rows is not None
    given = syntax.rows.evaluate(bindings, shape)
    rows: list[Any] = given
    if not isinstance(given, list):
        count = settle(syntax.rows.checked(Whole(at_least=0), "in", bindings, shape))
        if count > LAYERS:
            raise too_many_iterations(count, "in")
        rows = list(range(count))
    names = syntax.variables
    if len(names) == 1:
        return [{names[0]: row} for row in rows]
    for index, row in enumerate(rows):
        if not isinstance(row, (list, tuple)) or len(row) != len(names):
            raise row_error(row, names, row_position(syntax.rows, index))
    return [dict(zip(names, row, strict=True)) for row in rows]


def row_error(row: Any, names: tuple[str, ...], position: Position) -> SpecError:
    count = len(row) if isinstance(row, (list, tuple)) else 1
    return SpecError(
        f"the row has {count} value{'s' * (count != 1)}, and `for` names {len(names)}: {', '.join(names)}",
        hint="give each row one value for each name",
        position=position,
    )


def row_position(rows: Written, index: int) -> Position:
    return rows.parts[index].position if isinstance(rows, Several) else rows.position


def bind(items: list[ItemSyntax], bindings: Bindings) -> list[SpecItem]:
    """Items in the bindings of their place."""
    return [SpecItem(item, bindings) for item in items]
