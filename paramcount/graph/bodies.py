"""Bodies that run on pieces, on steps, or by experts: `each`, `scan`, `moe`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paramcount.errors import ShapeError, quote
from paramcount.graph.builder import Builder
from paramcount.graph.loops import same_shape
from paramcount.graph.tree import Experts, Pieces, Steps
from paramcount.layers._pattern import each_shapes, names, parse_pieces, rearranged, result_shape
from paramcount.layers.fields import Sizes
from paramcount.layers.layer import Item, Shape
from paramcount.layers.route import Combine, Router
from paramcount.numbers.arithmetic import product, same_sizes


@dataclass(eq=False)
class Each(Item):
    """A body on every piece of a value, with the same weights: `"t h w c -> t | h w c"`.

    `sizes` are the pattern's axis sizes; `along` maps further values by patterns of their own.

    >>> import paramcount as pc
    >>> report = pc.count([pc.Each("t d -> t | d", [pc.Dense(8, bias=False)])], (5, 8))
    >>> report.params, report.macs  # 8 · 8, and 5 times as many
    (64, 320)
    """

    pattern: str
    body: Sequence[Item]
    sizes: Mapping[str, Any] = field(default_factory=dict)
    along: Mapping[str, str] = field(default_factory=dict)

    kind = "each"

    def place(self, builder: Builder, name: str | None) -> None:
        source = builder.arrived()
        sizes = dict(self.sizes)
        mapped, piece_sizes = each_shapes(self.pattern, source.shape, sizes)
        builder.open("each", name)
        pieces = Pieces("", "each", pattern=self.pattern, sizes=sizes, source=source, count=product(mapped))
        outer = builder.enter(closed=True)
        for given, pattern in self.along.items():
            whole = builder.path(given, "path")
            axes = names(parse_pieces(pattern).left)
            theirs = {axis: size for axis, size in sizes.items() if axis in axes}
            mapped_too, sizes_too = each_shapes(pattern, whole.shape, theirs)
            if not same_sizes(mapped, mapped_too):
                raise ShapeError(
                    f"{quote(given)} has {product(mapped_too)} pieces, and the value that arrives {product(mapped)}",
                    hint="both patterns must map axes of the same sizes",
                    position=getattr(given, "position", None),
                )
            inside = builder.value(rearranged(whole.shape, *sizes_too))
            pieces.along.append((pattern, theirs, whole, inside))
            builder.scope.names[str(given)] = inside
        pieces.piece = builder.prev = builder.value(rearranged(source.shape, *piece_sizes))
        builder.run(self.body)
        pieces.result = builder.arrived()
        builder.leave(outer)
        builder.prev = builder.value(result_shape(self.pattern, source.shape, sizes, pieces.result.shape))
        builder.results = (builder.prev,)
        builder.close("each", pieces)


@dataclass(eq=False)
class Scan(Item):
    """A body on each step of the first axis, with carried values.

    `carry` gives each carried value its start: a path, or sizes for zeros; `next` the path of its next value.

    >>> import paramcount as pc
    >>> scan = pc.Scan(carry={"state": [8]}, body=[pc.Dense(8), pc.Add(["prev", "state"])], next={"state": "prev"})
    >>> pc.count([scan], (5, 8)).macs  # 5 · 8 · 8
    320
    """

    carry: Mapping[str, Any]
    body: Sequence[Item]
    next: Mapping[str, Any]

    kind = "scan"

    def place(self, builder: Builder, name: str | None) -> None:
        source = builder.arrived()
        if source.shape.rank < 2:
            raise ShapeError(
                f"`scan` walks the first axis of a value, and got {source.shape.layout} {source.shape}",
                hint="give it a sequence, (steps, width)",
            )
        name = name if name is not None else builder.called("scan")
        starts = {}
        for given, start in self.carry.items():  # before the group opens: a path runs once, not at each step
            sizes = Sizes()("carry", start) if is_sizes(start) else None
            starts[given] = Shape.of(*sizes) if sizes else builder.path(start, "path", f"{name}_{given}")
        builder.open("scan", name)
        steps = Steps("", "scan", source=source, count=source.shape.sizes[0])
        outer = builder.enter(closed=True)
        inside = {}
        for given, start in starts.items():
            inside[given] = builder.value(start if isinstance(start, Shape) else start.shape)
            builder.scope.give(given, inside[given])
        steps.step = builder.prev = builder.value(Shape.of(*source.shape.sizes[1:]))
        builder.run(self.body)
        steps.result = builder.arrived()
        for given, start in starts.items():
            if given not in self.next:
                raise ShapeError(
                    f"`scan` carries {quote(given)} and does not say what is next", hint=f"next: {{{given}: prev}}"
                )
            after = builder.path(self.next[given], "path", f"next_{given}")
            if not same_shape(inside[given], after):
                raise ShapeError(
                    f"the carried value {quote(given)} is {inside[given].shape} at first, {after.shape} after a step",
                    hint="a carried value keeps its shape",
                )
            steps.carry.append((start, inside[given], after))
        builder.leave(outer)
        builder.prev = builder.value(Shape.of(steps.count, *steps.result.shape.sizes))
        builder.results = (builder.prev,)
        builder.close("scan", steps)


@dataclass(eq=False)
class Moe(Item):
    """Experts of equal bodies, of which each token uses the `top_k` that a router chooses.

    Parameters × experts, work × top_k; the router is a matrix product without bias, `softmax` or `sigmoid`.

    >>> import paramcount as pc
    >>> report = pc.count([pc.Moe(experts=4, top_k=2, body=[pc.Dense(8)])], (5, 8))
    >>> report.params, report.active_params  # 8 · 4 of the router, and 72 of each expert
    (320, 176)
    """

    experts: int
    top_k: int
    body: Sequence[Item]
    router: str = "softmax"
    groups: int = 1
    top_groups: int = 1
    correction: bool = False
    normalize: bool = True

    kind = "moe"

    def place(self, builder: Builder, name: str | None) -> None:
        source = builder.arrived()
        choice = (self.router, self.groups, self.top_groups, self.correction, self.normalize)
        router = Router(self.experts, self.top_k, *choice)
        builder.open("moe", name)
        experts = Experts("", "moe", experts=router.experts, top_k=router.top_k, source=source)
        builder.leaf(router, "router")
        weights = builder.prev
        outer = builder.enter(closed=True)
        experts.entry = builder.prev = builder.value(source.shape)
        around = builder.experts
        builder.experts = (*around, experts.experts)
        builder.run(self.body)
        builder.experts = around
        result = experts.result = builder.arrived()
        builder.leave(outer)
        tokens = source.shape.spatial
        if not same_sizes(result.shape.sizes[: len(tokens)], tokens) or result.shape.rank < source.shape.rank:
            raise ShapeError(
                f"the body of `moe` makes {result.shape} of {source.shape}",
                hint="it works on each token by itself, and may change its width only",
            )
        assert weights is not None
        chosen = builder.value(Shape.of(*weights.shape.sizes, *result.shape.sizes[source.shape.rank - 1 :]))
        builder.merge(Combine(), (weights, chosen), "combine")
        experts.made_by = builder.children[0]
        builder.close("moe", experts)


def is_sizes(start: Any) -> bool:
    """Whether a carried value's start is a list of sizes, and not a path."""
    return isinstance(start, (list, tuple)) and not any(isinstance(each, (Item, str)) for each in start)
