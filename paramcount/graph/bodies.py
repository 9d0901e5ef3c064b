"""Bodies that run on pieces, on steps, or by experts: `each`, `scan`, `moe`. Each form places its body, and runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from paramcount.errors import ArgumentError, ShapeError, quote
from paramcount.errors.suggest import one_of
from paramcount.graph.builder import Builder
from paramcount.graph.form import Form, Items, Named, Start
from paramcount.graph.loops import same_shape
from paramcount.graph.tree import Body, Carry, Group
from paramcount.layers._pattern import (
    each_shapes,
    join_pieces,
    names,
    parse_pieces,
    rearranged,
    result_shape,
    split_pieces,
)
from paramcount.layers.fields import AxisSizes, Flag, Sizes, Text, ValuePath, Whole, Word, field
from paramcount.layers.layer import Item, Shape
from paramcount.layers.route import Combine, Router
from paramcount.numbers.arithmetic import product, same_sizes


@dataclass(eq=False)
class Each(Form):
    """A body on every piece of a value, with the same weights: `"t h w c -> t | h w c"`.

    Where the body keeps the number of axes, the pieces go back to their places; otherwise the result has the mapped
    axes first, then those of the body's result. Parameters count once, work once for each piece.

    >>> import paramcount as pc
    >>> report = pc.count([pc.Each("t d -> t | d", [pc.Dense(8, bias=False)])], (5, 8))
    >>> report.params, report.macs  # 8 · 8, and 5 times as many
    (64, 320)
    """

    pattern: str = field(Text(), doc="the axes of the value, then `->`, those of all pieces, `|`, those of one piece")
    body: Sequence[Item] = field(Items(), doc="the items that run on each piece")
    sizes: Any = field(AxisSizes(), (), doc="sizes of the pattern's axes, by name")
    along: Mapping[str, str] = field(Named(Text()), {}, doc="the pattern of each further value, by its name")

    kind = "each"
    by_name = ("pattern", "body", "along")
    in_specs: ClassVar = {"body": "do", "along": "with"}
    example = """\
input: {volume: [8, 32, 32, 3]}
layers:
  - each: {pattern: t h w c -> t | h w c, do: [conv: [8, 3], global_pool]}
  - dense: 4
"""

    def place(self, builder: Builder, name: str | None) -> None:
        source = builder.arrived()
        sizes = dict(self.sizes)
        mapped, piece_sizes = each_shapes(self.pattern, source.shape, sizes)
        builder.open("each", name)
        body = Body("", self, product(mapped), "pieces")
        with builder.inside(body):
            piece = builder.enters(body, source, rearranged(source.shape, *piece_sizes))
            for given, pattern in self.along.items():
                whole = builder.path(given, "path")
                mapped_too, sizes_too = each_shapes(pattern, whole.shape, self.sizes_in(pattern))
                if not same_sizes(mapped, mapped_too):
                    found = f"{quote(given)} has {product(mapped_too)} pieces"
                    raise ShapeError(
                        f"{found}, and the value that arrives {product(mapped)}",
                        hint="both patterns must map axes of the same sizes",
                        position=getattr(given, "position", None),
                    )
                inside = builder.enters(body, whole, rearranged(whole.shape, *sizes_too))
                builder.scope.names[str(given)] = inside
            builder.prev = piece
            builder.run(self.body)
            body.result = builder.arrived()
        shape = result_shape(self.pattern, source.shape, sizes, body.result.shape)
        builder.prev = body.collected = builder.value(shape)
        builder.results = (builder.prev,)
        builder.close("each", Group("", "each", made_by=body))

    def sizes_in(self, pattern: str) -> dict[str, Any]:
        """The sizes of the axes that a pattern has."""
        axes = names(parse_pieces(pattern).left)
        return {axis: size for axis, size in self.sizes if axis in axes}

    def forward(self, body: Body, run: Any) -> None:
        """All pieces at once, by `vmap`."""
        import jax

        axis, context = run.context.inside("pieces")

        def piece(*pieces: Any) -> tuple[Any, Any]:
            values = {inside: value for (_, inside), value in zip(body.enters, pieces, strict=True)}
            return run.once(body, values, context)

        sizes = dict(self.sizes)
        wholes = [run.values[outside] for outside, _ in body.enters]
        patterns = [(self.pattern, sizes), *((each, self.sizes_in(each)) for each in self.along.values())]
        pieces = [split_pieces(whole, *each) for whole, each in zip(wholes, patterns, strict=True)]
        results, run.buffers = jax.vmap(piece, axis_name=axis, out_axes=(0, None))(*pieces)
        shape = Shape.of(*wholes[0].shape)  # of one token inside `moe`
        run.values[body.collected] = join_pieces(results, self.pattern, sizes, shape)


@dataclass(eq=False)
class Scan(Form):
    """A body on each step of the first axis, with carried values.

    The body sees one step and the carried values; its results are the steps of the result. Parameters count once, work
    once for each step.

    >>> import paramcount as pc
    >>> scan = pc.Scan(carry={"state": [8]}, body=[pc.Dense(8), pc.Add(["prev", "state"])], next={"state": "prev"})
    >>> pc.count([scan], (5, 8)).macs  # 5 · 8 · 8
    320
    """

    carry: Mapping[str, Any] = field(Named(Start()), doc="each carried value's start: a path, or sizes for zeros")
    body: Sequence[Item] = field(Items(), doc="the items that run on each step")
    next: Mapping[str, Any] = field(Named(ValuePath()), doc="the path of each carried value's next value")

    kind = "scan"
    by_name = ("carry", "body", "next")
    in_specs: ClassVar = {"body": "do"}
    example = """\
input: {sequence: [100, 32]}
layers:
  - scan:
      carry: {h: [64]}
      do: [add: [[dense: 64], [from: h, dense: 64]], tanh]
      next: {h: prev}
"""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.next:
            if name not in self.carry:
                hint = one_of(name, self.carry, "add it to `carry`")
                position = getattr(name, "position", None)
                raise ArgumentError(f"{quote(name)} is not carried", hint, position=position, argument="next")
        for name in self.carry:
            if name not in self.next:
                message = f"`scan` carries {quote(name)} and does not say what is next"
                raise ArgumentError(message, hint=f"add `{name}: prev`", argument="next")

    def place(self, builder: Builder, name: str | None) -> None:
        source = builder.arrived()
        if source.shape.rank < 2:
            raise ShapeError(
                f"`scan` walks the first axis of a value, and got {source.shape.layout} {source.shape}",
                hint="give it a sequence, (steps, width)",
            )
        name = builder.group.named("scan", name)
        starts = {}
        for given, start in self.carry.items():  # before the group opens: a path runs once, not at each step
            sizes = Sizes()("carry", start) if is_sizes(start) else None
            starts[given] = Shape.of(*sizes) if sizes else builder.path(start, "path", f"{name or 'scan'}_{given}")
        builder.open("scan", name)
        body = Body("", self, source.shape.sizes[0], "steps", sequential=True)
        with builder.inside(body):
            inside = {}
            for given, start in starts.items():
                inside[given] = builder.value(start if isinstance(start, Shape) else start.shape)
                builder.scope.give(given, inside[given])
            builder.prev = builder.enters(body, source, Shape.of(*source.shape.sizes[1:]))
            builder.run(self.body)
            body.result = builder.arrived()
            for given, start in starts.items():
                after = builder.path(self.next[given], "path", f"next_{given}")
                if not same_shape(inside[given], after):
                    shapes = f"{inside[given].shape} at first, {after.shape} after a step"
                    raise ShapeError(
                        f"the carried value {quote(given)} is {shapes}",
                        hint="a carried value keeps its shape",
                    )
                body.carries.append(Carry(start, inside[given], after))
        builder.prev = body.collected = builder.value(Shape.of(body.times, *body.result.shape.sizes))
        builder.results = (builder.prev,)
        builder.close("scan", Group("", "scan", made_by=body))

    def forward(self, body: Body, run: Any) -> None:
        """One step after the other, by `lax.scan`."""
        from jax import lax
        from jax import numpy as jnp

        ((source, step),) = body.enters
        steps = run.values[source]
        dtype = steps.dtype if jnp.issubdtype(steps.dtype, jnp.floating) else jnp.float32

        def one(carried: tuple, numbered: tuple[Any, Any]) -> tuple[tuple, Any]:
            index, value = numbered
            values = {step: value} | {carry.inside: x for carry, x in zip(body.carries, carried, strict=True)}
            result, _, *after = run.once(body, values, run.context.step(index))
            return tuple(after), result

        starts = tuple(
            jnp.zeros(start.sizes, dtype) if isinstance(start, Shape) else run.values[start]
            for start, _, _ in body.carries
        )
        _, run.values[body.collected] = lax.scan(one, starts, (jnp.arange(len(steps)), steps))


@dataclass(eq=False)
class Moe(Form):
    """Experts with equal bodies; for each token a router chooses `top_k` of them.

    Parameters × experts, work × top_k; the router is a matrix product without bias, then softmax or sigmoid: it and
    the weighted sum of the experts' results count as `router` and `combine`.

    >>> import paramcount as pc
    >>> report = pc.count([pc.Moe(experts=4, top_k=2, body=[pc.Dense(8)])], (5, 8))
    >>> report.params, report.active_params  # 8 · 4 of the router, and 72 of each expert
    (320, 176)
    """

    experts: int = field(Whole(), doc="how many experts there are")
    top_k: int = field(Whole(), doc="how many experts each token uses")
    body: Sequence[Item] = field(Items(), doc="the items of one expert")
    router: str = field(Word("softmax", "sigmoid"), "softmax", doc="how results of the router become scores")
    groups: int = field(Whole(), 1, doc="how many groups the experts are divided into")
    top_groups: int = field(Whole(), 1, doc="how many of the groups a token's experts may come from")
    correction: bool = field(Flag(), False, doc="whether a buffer is added to the scores that choose")
    normalize: bool = field(Flag(), True, doc="whether the weights of a token's experts sum to 1")

    kind = "moe"
    by_name = ("experts", "top_k", "body", "router", "groups", "top_groups", "correction", "normalize")
    example = """\
input: {sequence: [16, 32]}
layers:
  - moe: {experts: 8, top_k: 2, body: [dense: 64, gelu, dense: 32]}
"""

    def place(self, builder: Builder, name: str | None) -> None:
        source = builder.arrived()
        choice = (self.router, self.groups, self.top_groups, self.correction, self.normalize)
        router = Router(self.experts, self.top_k, *choice)
        builder.open("moe", name)
        builder.leaf(router, "router")
        weights, chosen = builder.results
        assert weights is not None and chosen is not None
        tokens = source.shape.spatial
        body = Body("", self, router.top_k, copies=router.experts, gathered=router.top_k * product(tokens))
        around = builder.experts
        with builder.inside(body):
            builder.prev = builder.enters(body, source, source.shape)
            builder.enters(body, chosen, chosen.shape)
            builder.experts = (*around, router.experts)
            builder.run(self.body)
            builder.experts = around
            result = body.result = builder.arrived()
        if not same_sizes(result.shape.sizes[: len(tokens)], tokens) or result.shape.rank < source.shape.rank:
            raise ShapeError(
                f"the body of `moe` makes {result.shape} of {source.shape}",
                hint="it works on each token by itself, and may change its width only",
            )
        width = result.shape.sizes[source.shape.rank - 1 :]
        body.collected = builder.value(Shape.of(*weights.shape.sizes, *width))
        builder.merge(Combine(), (weights, body.collected), "combine")
        builder.close("moe", Group("", "moe", made_by=builder.group.children[0]))

    def forward(self, body: Body, run: Any) -> None:
        """Each token through its experts, with the tensors of each gathered from the stacks of all, by `vmap`."""
        import jax

        (source, token), (choice, _) = body.enters
        stacks = run.stacks(body)
        by_token, context = run.context.inside("token")
        by_choice, context = context.inside("choice")

        def expert(value: Any, index: Any) -> Any:
            params, buffers = jax.tree.map(lambda stack: stack[index], stacks)
            return run.once(body, {token: value}, context, params, buffers)[0]

        def experts(value: Any, chosen: Any) -> Any:
            return jax.vmap(lambda index: expert(value, index), axis_name=by_choice)(chosen)

        tokens, chosen = run.values[source], run.values[choice]
        if source.shape.rank == 1:
            results = experts(tokens, chosen)
        else:  # a body sees a sequence of one token
            results = jax.vmap(experts, axis_name=by_token)(tokens[:, None], chosen)[:, :, 0]
        run.values[body.collected] = results


def is_sizes(start: Any) -> bool:
    """Whether a carried value's start is a list of sizes, and not a path."""
    return isinstance(start, (list, tuple)) and not any(isinstance(each, (Item, str)) for each in start)
