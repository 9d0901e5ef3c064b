"""Names, stacks and shared weights: what is visible where while a network is expanded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from paramcount.errors import Position, SpecError, quote
from paramcount.graph.tree import Element, Value

PATH_MARKS = frozenset(".[]")
SKIPPED = "the item that names it was skipped by `when`"


class Name(str):
    """A name that knows where it was written, and how many loops outside it is given."""

    __slots__ = ("position", "up")
    position: Position | None
    up: int

    def __new__(cls, text: str, position: Position | None = None, up: int = 0) -> Name:
        self = super().__new__(cls, text)
        self.position, self.up = position, up
        return self


@dataclass
class Weights:
    """Weights under a key: where their owner stands in the block or file, and the shapes of its tensors.

    `experts` are the numbers of experts around, outermost first, each of which has its own; `homes` are the paths of
    the leaves that hold the tensors, and whether these are frozen.
    """

    owner: str
    tensors: dict[tuple[str, str], Any]  # (path below the owner, name) -> Param
    experts: tuple[Any, ...] = ()
    homes: dict[str, bool] = field(default_factory=dict)


class Standing:
    """A place where an item stands: its index in a list, and what it becomes there, `start` of the `children`.

    `trail` are the names on the way down to it. It holds the item, so that no other one gets its identity.
    """

    __slots__ = ("children", "index", "item", "items", "start", "trail", "warned")

    def __init__(self, item: Any, items: Any, index: int, trail: tuple[str, ...], children: list[Element]) -> None:
        self.item, self.items, self.index = item, items, index
        self.trail, self.children, self.start = trail, children, len(children)
        self.warned = False

    def path_below(self, root: int) -> list[str]:
        """The names on the way down to what the item became, without the first `root` of them."""
        return [*self.trail[root:], self.children[self.start].name]


class Scope:
    """The names given in one block, file, iteration or body; iterations and bodies also read the scope around them."""

    def __init__(
        self, around: Scope | None = None, trail: int = 0, declared: dict[str, Position] | None = None
    ) -> None:
        self.around = around
        self.root: Scope = around.root if around else self
        self.names: dict[str, Value | None] = {}
        self.unused: dict[str, Position | None] = {}
        self.escaped = False  # whether something made here outlives it
        self.closed = False  # whether nothing made here may outlive it: the body of each, scan or moe
        if around is None:
            self.trail = trail
            self.declared = declared or {}
            self.stacks: dict[str, list[Value]] = {}
            self.weights: dict[str, Weights] = {}
            self.gone: dict[str, str] = {}
            self.shared: dict[str, int] = {}  # how often networks in Python use each key of shared weights
            self.standing: dict[int, Standing] = {}  # the first place of each item of a list, by identity

    def give(self, name: str, value: Value | None, up: int = 0, must_use: bool = False) -> None:
        """Give a value a name, `up` loops outside; a name is given once in its scope."""
        position = getattr(name, "position", None)
        if name == "prev" or not PATH_MARKS.isdisjoint(name):
            hint = "`prev` is reserved, and `.`, `[` and `]` stand in the paths of rows"
            raise SpecError(f"{quote(name)} cannot be a name", hint=hint, position=position)
        scope = self
        for _ in range(up):
            if scope.around is None:
                break
            if scope.closed:
                raise SpecError(
                    f"the name {quote(name)} cannot leave the body that it is given in",
                    hint="`each`, `scan` and `moe` give their result only",
                    position=position,
                )
            scope.escaped = True
            scope = scope.around
        if name in scope.names:
            first = next((each.position for each in scope.names if each == name and isinstance(each, Name)), None)
            raise SpecError(
                f"the name {quote(name)} is given twice" + (f", first at {first}" if first else ""),
                hint="give the second value another name; inside a loop use braces, as in `c{i}`",
                position=position,
            )
        scope.names[name] = value
        if must_use and not name.startswith("_"):
            scope.unused[str(name)] = position

    def outwards(self) -> Iterator[Scope]:
        """This scope and those around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.around

    def find(self, name: str) -> Value | None:
        """The value of a name, None for an input that was not given; raises SpecError where nothing has the name."""
        for scope in self.outwards():
            if name in scope.names:
                scope.unused.pop(name, None)
                return scope.names[name]
        raise self.unknown(name)

    def visible(self) -> list[str]:
        """All names that can be used here."""
        return [name for scope in self.outwards() for name in scope.names]

    def skipped(self, name: str) -> bool:
        """Whether nothing has this name only because `when` skipped every item that gives it."""
        reason = self.root.gone.get(name, SKIPPED if name in self.root.declared else "")
        return reason == SKIPPED and not any(name in scope.names for scope in self.outwards())

    def unknown(self, name: str) -> SpecError:
        """The error for a name that has no value here, with the most likely reason."""
        from paramcount.errors.suggest import did_you_mean, nearest

        position = getattr(name, "position", None)
        root = self.root
        if name in root.gone:
            return SpecError(f"nothing is named {quote(name)} here", hint=root.gone[name], position=position)
        if name in root.declared:
            later = f"it is named later, at {root.declared[name]}; a value must be named before it is used"
            return SpecError(f"nothing is named {quote(name)} yet", hint=later, position=position)
        otherwise = "give a value this name before it is used: `name: ...` or `let: ...`"
        hint = did_you_mean(nearest(name, [*self.visible(), "prev"]), otherwise)
        return SpecError(f"nothing is named {quote(name)}", hint=hint, position=position)

    def close(self) -> None:
        """Remember why this scope's names are no longer visible."""
        for name in self.names:
            self.root.gone.setdefault(
                name, f"it is named inside a loop or body that is over; to use it outside a loop, write `{name}{{i}}`"
            )

    def escape(self) -> None:
        """Mark every scope up to the block or file: a stack was used, so that no iteration can stand for another."""
        for scope in self.outwards():
            if scope.closed:
                raise SpecError(
                    "a stack cannot be used inside the body of `each`, `scan` or `moe`",
                    hint="name the value, and use the name inside",
                )
            scope.escaped = True
