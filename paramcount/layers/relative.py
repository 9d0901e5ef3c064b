"""Biases of attention's scores that depend on the distance alone: relative, alibi, offsets."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paramcount.errors import ArgumentError, ShapeError, quote
from paramcount.layers.fields import Flag, PerAxis, Whole, field
from paramcount.layers.layer import Free, Shape, along
from paramcount.numbers.arithmetic import Size, product, require

GRIDS = "a window is a number, [h, w] or [d, h, w]"


@dataclass(frozen=True)
class Relative(Free, kind="relative"):
    """A table with a row for each distance and a column for each head, as the biases (heads, queries, keys).

    With `grid`, a number or [h, w], the positions are those of a window and the table has (2h - 1) · (2w - 1) rows,
    the distance's row from the top, then its column; with [d, h, w] those of a window of a volume, as in Swin3D. With
    `query` and `key`, numbers of positions in a sequence, the table's rows are T5's buckets: near distances one by one,
    farther ones by their logarithm up to `max_distance`, half of them for keys after the query unless `causal`. The
    last query is at the position of the last key. Costs nothing: each bias is looked up.
    Sources: https://arxiv.org/abs/2103.14030, https://arxiv.org/abs/1910.10683

    >>> str(Relative(grid=7).output_shape(Shape.of(169, 3)))
    '3×49×49'
    """

    grid: Any = field(
        PerAxis(none=True), None, doc="the window whose positions are compared: a number, [h, w] or [d, h, w]"
    )
    query: Any = field(Whole(none=True), None, doc="how many positions the queries have, in a sequence")
    key: Any = field(Whole(none=True), None, doc="how many positions the keys have, in a sequence")
    causal: bool = field(Flag(), False, doc="whether keys after a query get no buckets of their own")
    max_distance: int = field(Whole(), 128, doc="the distance from which on all share the last bucket")

    family = "position"
    by_name = ("grid", "query", "key", "causal", "max_distance")
    examples = (
        ({"grid": 3}, (25, 2)),
        ({"grid": (2, 4)}, (21, 3)),
        ({"grid": (2, 1, 3)}, (15, 2)),
        ({"query": 5, "key": 7}, (8, 2)),
        ({"query": 6, "key": 6, "causal": True, "max_distance": 20}, (8, 3)),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.grid is None) == (self.query is None and self.key is None):
            raise ArgumentError(
                "`relative` takes either `grid` or `query` and `key`",
                hint="`grid: 7` for the positions of a window, `query: T, key: S` for those of a sequence",
            )
        if self.grid is None and (self.query is None or self.key is None):
            missing = "key" if self.key is None else "query"
            raise ArgumentError(f"`relative` needs `{missing}` too", hint="give the number of positions of both")

    def setting(self, *inputs: Shape) -> str:
        if self.grid is not None:
            return "×".join(map(str, window(self.grid)))
        return f"{self.query}×{self.key}" + " causal" * self.causal

    def output_shape(self, table: Shape) -> Shape:
        if table.rank != 2 or table.layout == "tokens":
            raise ShapeError(
                f"`relative` needs a table of two axes, distances and heads, and got {table.layout} {table}",
                hint="put `parameter: [(2 * window - 1) ** 2, heads]` before it",
            )
        rows, heads = table.sizes
        if self.grid is None:
            each = rows if self.causal else rows // 2
            require(each >= 2, "a table of {} rows has too few buckets", rows, error=ShapeError)
            message = "max_distance {} is not beyond the {} distances that have a bucket each"
            require(self.max_distance > each // 2, message, self.max_distance, each // 2, argument="max_distance")
            return Shape((heads, self.query, self.key))
        sizes = window(self.grid)
        distances = product(2 * size - 1 for size in sizes)
        message = f"the table has {{}} rows, and a grid of {' by '.join(['{}'] * len(sizes))} has {{}} distances"
        require(rows == distances, message, rows, *sizes, distances, error=ShapeError, argument="grid")
        return Shape((heads, product(sizes), product(sizes)))

    def forward(self, params: dict[str, Any], table: Any, *, context: Any) -> Any:
        from jax import numpy as jnp

        if self.grid is None:
            places = jnp.arange(self.query)[:, None] - jnp.arange(self.key) + self.key - 1
            return table.T[:, jnp.asarray(self.buckets(len(table)))[places]]
        sizes, row = window(self.grid), 0
        for size, place in zip(sizes, jnp.unravel_index(jnp.arange(product(sizes)), sizes), strict=True):
            row = row * (2 * size - 1) + place[:, None] - place + size - 1
        return table.T[:, row]

    def buckets(self, count: int) -> Any:
        """The bucket of each distance, from the key that is farthest ahead to the one farthest behind."""
        import numpy

        each = count if self.causal else count // 2
        exact = each // 2
        behind = numpy.arange(1 - self.query, self.key)
        size = numpy.maximum(behind, 0) if self.causal else abs(behind)
        logarithm = numpy.log(numpy.maximum(size, exact) / exact) / math.log(self.max_distance / exact)
        far = numpy.minimum(exact + (logarithm * (each - exact)).astype(int), each - 1)
        bucket = numpy.where(size < exact, size, far)
        return bucket if self.causal else bucket + each * (behind < 0)


def window(grid: Any) -> tuple[Size, ...]:
    """The sizes of a window: one number is both sizes of an image's."""
    axes = len(grid) if isinstance(grid, tuple) else 2
    if axes not in (2, 3):
        raise ArgumentError(f"grid {quote(list(grid))} has {axes} entries", hint=GRIDS, argument="grid")
    return along("grid", grid, axes)


@dataclass(frozen=True)
class Alibi(Free, kind="alibi"):
    """Attention with linear biases: minus the distance of query and key, times a slope for each head.

    For a sequence (T, D) the biases are (heads, T, T). The slopes of n heads, a power of two, are
    2^(-8 / n), 2^(-16 / n), ..., 2^-8; other numbers take those of the next smaller power, and then every second one of
    twice as many. Costs nothing: the biases depend on the sizes alone.
    Source: https://arxiv.org/abs/2108.12409

    >>> str(Alibi(heads=16).output_shape(Shape.of(128, 1024)))
    '16×128×128'
    """

    heads: int = field(Whole(), doc="the number of heads, each with a slope of its own")

    family = "position"
    examples = (({"heads": 4}, (5, 3)), ({"heads": 3}, (1, 2)), ({"heads": 12}, (4, 6)))

    def setting(self, *inputs: Shape) -> str:
        return f"{self.heads} heads"

    def output_shape(self, x: Shape) -> Shape:
        if x.rank != 2:
            raise ShapeError(
                f"`alibi` needs a sequence, for its length, and got {x.layout} {x}",
                hint="give it what the attention gets: `attention: {heads: 8, position: [alibi: 8]}`",
            )
        return Shape((self.heads, x.sizes[0], x.sizes[0]))

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import numpy as jnp

        power = 2 ** (self.heads.bit_length() - 1)
        steps = [2 * (head + 1) for head in range(power)] + [2 * head + 1 for head in range(self.heads - power)]
        slopes = 2.0 ** (-4 / power * jnp.array(steps))
        places = jnp.arange(len(x))
        return -slopes[:, None, None] * abs(places[:, None] - places)


@dataclass(frozen=True)
class Offsets(Free, kind="offsets"):
    """A source of every distance in a window, on a logarithmic scale from -1 to 1: ((2h - 1) · (2w - 1), 2).

    A small network of dense layers turns it into the table for `relative`, as in Swin v2. It ignores the value that
    arrives, and costs nothing: the distances depend on `grid`, a number, [h, w] or [d, h, w], alone.
    Source: https://arxiv.org/abs/2111.09883

    >>> str(Offsets(8).output_shape())
    '225×2'
    """

    grid: int | Sequence[int] = field(PerAxis(), doc="the window: a number, [h, w] or [d, h, w]")

    family = "position"
    takes_prev = False
    examples = (({"grid": 3},), ({"grid": (2, 4)},), ({"grid": 1},), ({"grid": (2, 1, 3)},))

    def setting(self, *inputs: Shape) -> str:
        return "×".join(map(str, window(self.grid)))

    def output_shape(self) -> Shape:
        sizes = window(self.grid)
        return Shape.of(product(2 * size - 1 for size in sizes), len(sizes))

    def forward(self, params: dict[str, Any], *, context: Any) -> Any:
        from jax import numpy as jnp

        axes = [jnp.arange(1 - size, size) / max(size - 1, 1) for size in window(self.grid)]
        steps = 8 * jnp.stack(jnp.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        return jnp.sign(steps) * jnp.log2(abs(steps) + 1) / 3  # log2(8 + 1) / 3: near 1
