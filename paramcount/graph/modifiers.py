"""What can be said beside an item: its name, where its results go, whose weights it has, and when it is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paramcount.errors import ArgumentError, SpecError, quote
from paramcount.graph.builder import Builder
from paramcount.graph.scope import Weights
from paramcount.graph.sharing import homes, same_weights, tensors_below
from paramcount.graph.tree import Node, Share, join
from paramcount.layers.fields import Flag, Text
from paramcount.layers.layer import Item

ONLY = ("training", "stored")


@dataclass(eq=False)
class With(Item):
    """An item with modifiers; without an item, a name or a stack is for the value that arrives.

    `name` and `into` name its result or results, `push` puts it on a stack, `share` gives it the weights of
    every item with the same key, `only="training"` leaves it out in inference, `only="stored"` everywhere, and `frozen`
    keeps its weights from training.

    >>> import paramcount as pc
    >>> pc.count([pc.With(pc.Dense(8), share="both"), pc.With(pc.Dense(8), share="both")], 8).params  # once
    72
    """

    item: Item | None = None
    name: str | None = None
    into: Sequence[str] = ()
    share: str | None = None
    push: str | None = None
    only: str | None = None
    frozen: bool = False

    def __post_init__(self) -> None:
        if self.only is not None and (not isinstance(self.only, str) or self.only not in ONLY):
            raise SpecError(f"`only` must be `training` or `stored`, not {quote(self.only)}", argument="only")
        for what in ("name", "share", "push"):
            if getattr(self, what) is not None:
                Text()(what, getattr(self, what))
        if not isinstance(self.into, (list, tuple)):
            raise ArgumentError(f"into must be a list of names, not {quote(self.into)}", argument="into")
        for each in self.into:
            Text()("a name of into", each)
        for what in ("share", "only", "frozen") if self.item is None else ():
            if getattr(self, what):
                raise ArgumentError(f"{quote(what)} needs an item", hint="give the item that it is for", argument=what)
        self.frozen = Flag()("frozen", self.frozen)

    @property
    def kind(self) -> str:
        return getattr(self.item, "kind", "") or "do"

    def place(self, builder: Builder, name: str | None) -> None:
        if self.name is not None and getattr(self.name, "up", 0):
            if name == "" and self.item is not None:  # an iteration's only element, whose name is that of the iteration
                builder.call(str(self.name))
            else:
                name = None
        elif self.name is not None:
            name = builder.group.free(str(self.name)) if self.item is not None else None
        outer = builder.frozen, builder.dormant, builder.stored
        before, ran = builder.prev, not (builder.dormant or builder.stored)
        builder.frozen = builder.frozen or self.frozen
        builder.dormant = builder.dormant or (self.only == "training" and not builder.training)
        builder.stored = builder.stored or self.only == "stored"
        if self.item is None:
            builder.results = (builder.arrived(),)
        elif self.share is None and self.name is None:
            builder.build(self.item, name)
        else:
            self.keep_weights(builder, name)
        self.give_names(builder)
        runs = not (builder.dormant or builder.stored)
        builder.frozen, builder.dormant, builder.stored = outer
        if ran and not runs:
            builder.prev, builder.results = before, (before,)

    def keep_weights(self, builder: Builder, name: str | None) -> None:
        """Build the item, and give it the weights under its key or remember its own there."""
        assert self.item is not None
        start = len(builder.group.children)
        builder.build(self.item, name)
        built = builder.group.children[start:]
        if len(built) != 1:
            if self.share is not None and built:
                raise SpecError("`share` needs one item", hint="put the items into a `do:`")
            return
        weights = builder.scope.root.weights
        element, owner = built[0], join(builder.here(), built[0].name)
        if self.share is not None:
            mine = Weights(owner, tensors_below(element), builder.experts)
            known = weights.setdefault(self.share, mine)
            builder.uses(self.share)
            element.share = Share(str(self.share), known.owner, known.owner == owner)
            mine.homes = homes(element)
            if known.owner != owner:
                same_weights(self.share, known, mine)
        if self.name is not None and isinstance(element, Node):
            weights.setdefault(self.name, Weights(owner, tensors_below(element), builder.experts))

    def give_names(self, builder: Builder) -> None:
        if self.name is not None:
            up = getattr(self.name, "up", 0)
            must_use = self.item is None and not up  # the name of an item is also that of its row
            builder.scope.give(self.name, builder.arrived(), up, must_use)
        if self.into:
            results = builder.results
            if len(self.into) != len(results):
                raise SpecError(
                    f"`into` names {len(self.into)}, and the item gives {len(results)}",
                    hint="name every result; a name that starts with `_` may stay unused",
                    argument="into",
                )
            for given, value in zip(self.into, results, strict=True):
                builder.scope.give(given, value, getattr(given, "up", 0), must_use=True)
        if self.push is not None:
            builder.scope.root.stacks.setdefault(self.push, []).append(builder.arrived())
            builder.scope.escape()
        if self.name is not None or self.push is not None:
            builder.results = (builder.prev,)
