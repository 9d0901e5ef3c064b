"""Loops: iterations one after the other; equal ones are expanded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paramcount.errors import ShapeError, SpecError, Undecided
from paramcount.graph.builder import LAYERS, Builder
from paramcount.graph.form import Items
from paramcount.graph.items import Do
from paramcount.graph.sharing import equal_tensors
from paramcount.graph.tree import Group, Iteration, Loop, Value
from paramcount.layers.checked import Checked
from paramcount.layers.fields import Flag, Whole, field
from paramcount.layers.layer import Item
from paramcount.numbers.arithmetic import same_sizes, settle

REMEMBERED = 8  # how many earlier bodies an iteration is compared with


class LoopItem(Item):
    """A body that runs `count` times. A kind of loop says what an iteration holds, and whether two are alike."""

    count: int
    share: bool = False
    kind: str = "repeat"

    def body_of(self, index: int) -> Item:
        """The item of one iteration."""
        raise NotImplementedError

    def alike(self, index: int, earlier: int) -> bool:
        """Whether an iteration would be expanded exactly as an earlier one was, given a value of the same shape."""
        raise NotImplementedError

    def place(self, builder: Builder, name: str | None) -> None:
        name = builder.group.named(self.kind, name)
        if self.count > LAYERS:
            raise too_many_iterations(self.count, "repeat")
        loop = Loop(name, source=builder.prev, shared=self.share)
        builder.mark(loop)
        with builder.down(name):
            for index in range(self.count):
                self.iterate(builder, loop, index)
        if not self.count:
            builder.results = (builder.prev,)
            return
        last = loop.order()[-1].results
        loop.results = tuple(value and builder.value(value.shape) for value in last)
        builder.prev, builder.results = loop.results[0], loop.results
        builder.group.children.append(loop)

    def iterate(self, builder: Builder, loop: Loop, index: int) -> None:
        """Add an iteration to those of an earlier one that it equals, or expand it."""
        same = self.earlier(builder, loop, index)
        if same is not None:
            builder.count_steps(same.steps)
            builder.count_layers(same.layers)
            same.indices.append(index)
            builder.prev = same.results[0]
            return
        loop.iterations.append(self.expand(builder, index, loop.name))
        if self.share and not equal_tensors(loop.iterations[0].child, loop.iterations[-1].child):
            raise ShapeError(
                f"`share: true` needs equal iterations, and the weights of iteration {index} differ",
                hint="the body must keep the shape, and its weights must not depend on `i`",
                argument="share",
            )

    def earlier(self, builder: Builder, loop: Loop, index: int) -> Iteration | None:
        """An earlier iteration that this one equals: nothing outlives it, the same shape arrives, and it is alike.

        In a sweep, iterations that are equal only in some variants are kept apart, rather than splitting the variants.
        """
        if not builder.fold and not self.share:
            return None
        for each in reversed(loop.iterations[-REMEMBERED:]):
            try:
                if not each.alone and same_shape(each.entry, builder.prev) and self.alike(index, each.indices[0]):
                    return each
            except Undecided:
                if self.share:
                    raise
        return None

    def expand(self, builder: Builder, index: int, name: str) -> Iteration:
        layers, steps = builder.layers, builder.steps
        entry = builder.prev and builder.value(builder.prev.shape)
        with builder.aside(f"[{index}]") as (children, scope):
            builder.prev, builder.results = entry, (entry,)
            builder.build(self.body_of(index), "")
            called = builder.group.called_by
        builder.trail[-1] = name
        if len(children) > 1:  # the items of a path stand beside what they lead to
            children = [Group("", self.kind, children, output=builder.prev)]
            builder.mark(children[0])
        return Iteration(
            indices=[index],
            entry=entry,
            child=children[0] if children else None,
            results=(builder.prev, *builder.results[1:]),
            layers=builder.layers - layers,
            steps=builder.steps - steps,
            alone=scope.escaped,
            name=called,
        )


@dataclass(eq=False)
class Repeat(Checked, LoopItem):
    """A body `count` times, each iteration with weights of its own, or with `share` all with the same.

    >>> import paramcount as pc
    >>> pc.count([pc.Repeat(3, [pc.Dense(8)])], 8).params  # 3 · (8 · 8 + 8)
    216
    """

    count: int = field(Whole(at_least=0), doc="how many iterations there are")
    body: Sequence[Item] = field(Items(), doc="the items of one iteration")
    share: bool = field(Flag(), False, doc="whether all iterations have the same weights")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.count = settle(self.count)

    @property
    def kind(self) -> str:  # type: ignore[override]
        return getattr(self.body_of(0), "kind", "") or "do"

    def body_of(self, index: int) -> Item:
        alone = isinstance(self.body, Sequence) and len(self.body) == 1
        return self.body[0] if alone else Do(self.body)

    def alike(self, index: int, earlier: int) -> bool:
        return True


def too_many_iterations(count: int, argument: str) -> SpecError:
    message = f"{count:,} iterations; a network has at most {LAYERS:,} layers after expansion"
    return SpecError(message, hint="lower the repeats", argument=argument)


def same_shape(one: Value | None, two: Value | None) -> bool:
    """Whether two values are alike for a body that starts at them."""
    if one is None or two is None:
        return one is two
    first, second = one.shape, two.shape
    if first is second:
        return True
    return first.layout == second.layout and same_sizes(first.sizes, second.sizes)
