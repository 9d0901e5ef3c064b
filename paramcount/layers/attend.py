"""Attention: queries that look up values by their keys."""

from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError
from paramcount.layers.fields import Flag, Number, ValuePath, Whole, field
from paramcount.layers.layer import Contraction, ParameterFree, Shape, Work
from paramcount.numbers.arithmetic import Size, decide, maximum, minimum, product, require

PATHS = {"query": "q", "key": "k", "value": "v"}


@dataclass(frozen=True)
class Attend(ParameterFree, kind="attend"):
    """Each query's mean of the values, weighted by softmax(scale · query · key + position), head by head.

    From queries (T, H, D), keys (S, K, D) and values (S, K, E) it computes (T, H, E); K divides H, and each key head
    serves H / K neighbouring heads. `position` is added to the scores, and broadcasts to (H, T, S). `regions` are
    labels (T,): only equal ones attend to each other. `causal` hides the keys after a query, `window` those that many
    positions away or more; the last query is at the position of the last key. `scale` is D ** -0.5 by default. With
    `softcap` the scaled scores become softcap · tanh(scores / softcap). `cache` is how many numbers generation
    keeps for a token: K · (D + E), its keys and values, by default; less where they are computed from something
    narrower.

    MACs: H · T · S · (D + E), hidden pairs included. Elementwise: per score 1 to scale, 5 for the softmax, 1 for
    a position, and 3 for a softcap. Source: https://arxiv.org/abs/1706.03762; heads that share a key: https://arxiv.org/abs/2305.13245

    >>> attend = Attend(query="q", key="k", value="v", causal=True)
    >>> attend.work(Shape.of(128, 8, 64), Shape.of(128, 2, 64), Shape.of(128, 2, 64)).macs  # 8 · 128² · (64 + 64)
    16777216
    """

    query: Any = field(ValuePath(), doc="the path of the queries, (T, heads, D)")
    key: Any = field(ValuePath(), doc="the path of the keys, (S, key heads, D)")
    value: Any = field(ValuePath(), doc="the path of the values, (S, key heads, E)")
    position: Any = field(
        ValuePath(none=True), None, doc="the path of a bias that is added to the scores, (heads, T, S)"
    )
    regions: Any = field(
        ValuePath(none=True), None, doc="the path of labels, (T,): only equal ones attend to each other"
    )
    causal: bool = field(Flag(), False, doc="whether the keys after a query are hidden")
    window: int = field(Whole(at_least=0), 0, doc="keys this many positions away or more are hidden; 0 hides none")
    scale: Any = field(Number(none=True), None, doc="the factor of the scores; D ** -0.5 unless given")
    softcap: Any = field(Number(none=True), None, doc="the bound that tanh keeps the scores within")
    cache: Any = field(
        Whole(none=True), None, doc="the numbers kept for each token in generation; keys and values unless given"
    )

    family = "attention"
    by_name = ("query", "key", "value", "position", "regions", "causal", "window", "scale", "softcap", "cache")
    takes_prev = False
    examples = (
        (PATHS, (5, 2, 4), (6, 2, 4), (6, 2, 3)),
        (PATHS | {"causal": True, "window": 3}, (5, 6, 4), (5, 3, 4), (5, 3, 4)),
        (PATHS | {"position": "p"}, (4, 2, 3), (5, 1, 3), (5, 1, 3), (2, 4, 5)),
        (PATHS | {"position": "p", "scale": 1}, (4, 2, 3), (5, 2, 3), (5, 2, 3), (4, 1)),
        (PATHS | {"softcap": 50, "causal": True}, (5, 4, 4), (5, 2, 4), (5, 2, 3)),
        (PATHS | {"regions": "r"}, (4, 2, 3), (4, 2, 3), (4, 2, 3), Shape((4,), "tokens")),
        (PATHS | {"position": "p", "regions": "r"}, *3 * ((4, 2, 3),), (2, 4, 4), Shape((4,), "tokens")),
    )

    def setting(self, *inputs: Shape) -> str:
        parts = ["causal"] if self.causal else []
        parts += [f"window {self.window}"] if self.window else []
        if inputs:
            heads, groups = inputs[0].sizes[1], inputs[1].sizes[1]
            parts.insert(0, f"{heads} heads" if heads == groups else f"{heads} heads on {groups}")
        return ", ".join(parts)

    def output_shape(self, query: Shape, key: Shape, value: Shape, *others: Shape) -> Shape:
        for name, x in (("query", query), ("key", key), ("value", value)):
            if x.rank != 3 or x.layout == "tokens":
                raise ShapeError(
                    f"`attend` needs a {name} of three axes, positions, heads and width, and got {x.layout} {x}",
                    hint="split the heads by `rearrange: {pattern: t (h d) -> t h d, h: HEADS}`",
                    argument=name,
                )
        (queries, heads, width), (keys, groups, key_width) = query.sizes, key.sizes
        message = "the query is {} wide and the key {}"
        require(width == key_width, message, width, key_width, error=ShapeError, argument="key")
        message, hint = "{} heads of the query do not divide by the {} of the key", "key heads must divide query heads"
        require(heads % groups == 0, message, heads, groups, error=ShapeError, hint=hint, argument="key")
        alike = (value.sizes[0] == keys) & (value.sizes[1] == groups)
        message = "key {} and value {} differ in their positions or heads"
        require(alike, message, key, value, error=ShapeError, argument="value")
        if self.causal or decide(self.window > 0):
            message = "{} queries of {} positions: with `causal` or `window` the last query stands at the last key"
            require(queries <= keys, message, queries, keys, error=ShapeError, argument="query")
        position, regions = self.optional(others)
        if position is not None:
            self.fits(position, Shape((heads, queries, keys)))
        if regions is not None:
            self.labels(regions, query, key)
        return Shape.of(queries, heads, value.channels)

    def fits(self, position: Shape, scores: Shape) -> None:
        """Raise ShapeError unless a position's bias broadcasts to the scores."""
        message = "the position {} does not fit the scores, {}: heads, queries, keys"
        details = {"error": ShapeError, "argument": "position"}
        require(position.layout != "tokens" and position.rank <= 3, message, position, scores, **details)
        for one, other in zip(reversed(position.sizes), reversed(scores.sizes), strict=False):
            require((one == other) | (one == 1), message, position, scores, **details)

    def labels(self, regions: Shape, query: Shape, key: Shape) -> None:
        """Raise ShapeError unless there is one label for each position, of queries and keys alike."""
        if regions.layout != "tokens" or regions.rank != 1:
            raise ShapeError(
                f"`attend` needs one label of a region for each position, and got {regions.layout} {regions}",
                hint="labels come from `regions`; `each` takes them along with the pieces: `with: {regions: ...}`",
                argument="regions",
            )
        (count,) = regions.sizes
        message = "{} labels of regions for {} queries and {} keys"
        queries, keys = query.sizes[0], key.sizes[0]
        alike = (count == queries) & (count == keys)
        require(alike, message, count, queries, keys, error=ShapeError, argument="regions")

    def optional(self, others: tuple) -> tuple[Any, Any]:
        """The position and the regions among the inputs that follow the three, None for a missing one."""
        rest = iter(others)
        position = None if self.position is None else next(rest)
        return position, None if self.regions is None else next(rest)

    def work(self, *inputs: Shape) -> Work:
        scores, mix = self.contractions(*inputs)
        query, key = inputs[:2]
        per_score = 6 + (self.position is not None) + 3 * (self.softcap is not None)
        return Work(scores.macs + mix.macs, per_score * product((*query.spatial, key.sizes[0])))

    def contractions(self, *inputs: Shape) -> tuple[Contraction, ...]:
        query, key, value = inputs[:3]
        self.output_shape(*inputs)
        pairs = product((*query.spatial, key.sizes[0]))
        weights = (0, 1) if self.position is None else (0, 1, 3)
        return Contraction(pairs * query.channels, ((0,), (1,))), Contraction(pairs * value.channels, (weights, (2,)))

    def cached(self, *inputs: Shape) -> Size:
        _, key, value = inputs[:3]
        return key.sizes[1] * (key.channels + value.channels) if self.cache is None else self.cache

    def cached_inputs(self) -> tuple[int, ...]:
        return (1, 2) if self.cache is None else ()

    def cached_positions(self, tokens: Size) -> Size | None:
        if not self.causal:
            return None
        return minimum(tokens, self.window) if decide(self.window > 0) else tokens

    def unmasked(self, figure: Size, *inputs: Shape) -> Size:
        queries, keys = inputs[0].sizes[0], inputs[1].sizes[0]
        return figure // (queries * keys) * self.pairs(queries, keys)  # every pair has the same part of it

    def pairs(self, queries: Size, keys: Size) -> Size:
        """How many pairs of a query and a key `causal` and `window` leave."""
        before = keys - queries  # positions before the first query
        if decide(self.window == 0):
            return queries * before + up_to(queries, queries) if self.causal else queries * keys
        behind = up_to(keys, self.window) - up_to(before, self.window)
        return behind if self.causal else behind + up_to(queries - 1, self.window - 1)

    def forward(self, params: dict[str, Any], query: Any, key: Any, value: Any, *others: Any, context: Any) -> Any:
        import jax
        from jax import numpy as jnp

        position, regions = self.optional(others)
        (queries, heads, width), (keys, groups, _) = query.shape, key.shape
        scale = width**-0.5 if self.scale is None else self.scale
        # The heads that share a key are an axis of their own: keys and values are never repeated.
        grouped = query.reshape(queries, groups, heads // groups, width)
        scores = jnp.einsum("tkgd,skd->kgts", grouped, key).astype(jnp.float32).reshape(heads, queries, keys) * scale
        if self.softcap is not None:
            scores = self.softcap * jnp.tanh(scores / self.softcap)
        if position is not None:
            scores = scores + position
        distance = jnp.arange(keys) - (jnp.arange(queries) + keys - queries)[:, None]
        if self.causal:
            scores = jnp.where(distance <= 0, scores, -jnp.inf)
        if self.window:
            scores = jnp.where(abs(distance) < self.window, scores, -jnp.inf)
        if regions is not None:
            scores = jnp.where(regions[:, None] == regions, scores, -jnp.inf)
        weights = jax.nn.softmax(scores).astype(value.dtype).reshape(groups, heads // groups, queries, keys)
        return jnp.einsum("kgts,ske->tkge", weights, value).reshape(queries, heads, -1)


def up_to(last: Size, most: Size) -> Size:
    """The sum of 1, 2, ..., last, where each counts `most` at most.

    >>> up_to(5, 3)  # 1 + 2 + 3 + 3 + 3
    12
    """
    least = minimum(last, most)
    return least * (least + 1) // 2 + most * maximum(last - most, 0)
