"""The choice of experts in a mixture."""

from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError, SpecError
from paramcount.layers.fields import Flag, Whole, Word, field
from paramcount.layers.layer import Layer, Param, Shape, Work
from paramcount.numbers.arithmetic import exact_div, require


@dataclass(frozen=True)
class Router(Layer, kind="router"):
    """For each token the `top_k` of the experts, and their weights: two results.

    The weights sum to 1; without `normalize` they are the scores as they stand.

    Weights: channels × experts. MACs: tokens × channels × experts. Elementwise: softmax 5 per score (sigmoid 1),
    a correction 1 per score, and the weights' sum and division 2 per choice. With `groups`, experts are chosen
    from the `top_groups` best groups only, a group's score being that of its best expert, or with a correction the sum
    of its two best. `correction` adds a buffer to the scores that choose, not to the weights.
    Sources: https://arxiv.org/abs/2401.04088, groups https://arxiv.org/abs/2405.04434, the correction
    https://arxiv.org/abs/2412.19437

    >>> Router(experts=8, top_k=2).work(Shape.of(128, 4096)).macs
    4194304
    """

    experts: int = field(Whole(), doc="the number of experts")
    top_k: int = field(Whole(), doc="how many experts each token uses")
    router: str = field(Word("softmax", "sigmoid"), "softmax", doc="how scores become weights: `softmax` or `sigmoid`")
    groups: int = field(Whole(), 1, doc="the number of groups that the experts form")
    top_groups: int = field(Whole(), 1, doc="how many of the groups a token may choose from")
    correction: bool = field(Flag(), False, doc="whether a buffer corrects the scores that choose")
    normalize: bool = field(Flag(), True, doc="whether the weights of a token sum to 1")

    family = "routing"
    by_name = ("experts", "top_k", "router", "groups", "top_groups", "correction", "normalize")
    examples = (
        ({"experts": 4, "top_k": 2}, (5, 6)),
        ({"experts": 8, "top_k": 3, "router": "sigmoid", "groups": 4, "top_groups": 2, "correction": True}, (5, 6)),
        ({"experts": 6, "top_k": 2, "groups": 3, "top_groups": 2, "normalize": False}, (5, 6)),
        ({"experts": 4, "top_k": 1}, (6,)),
    )

    def setting(self, *inputs: Shape) -> str:
        return f"{self.top_k} of {self.experts}"

    def output_shape(self, x: Shape) -> tuple[Shape, Shape]:
        if x.layout == "tokens" or x.rank not in (1, 2):
            raise ShapeError(
                f"`moe` needs a sequence or features, and got {x.layout} {x}",
                hint="`rearrange` it to a sequence first",
            )
        message, hint = "top_k {} of {} experts", "a token chooses at most all experts"
        require(self.top_k <= self.experts, message, self.top_k, self.experts, argument="top_k", hint=hint)
        group = exact_div(self.experts, self.groups, "{} experts do not divide into {} groups", argument="groups")
        message = "top_groups {} of {} groups"
        require(self.top_groups <= self.groups, message, self.top_groups, self.groups, argument="top_groups")
        message = "top_k {}, but the chosen groups have {} experts"
        require(self.top_k <= self.top_groups * group, message, self.top_k, self.top_groups * group, argument="top_k")
        chosen = (*x.spatial, self.top_k)
        return Shape.of(*chosen), Shape(chosen, "tokens")  # the experts' numbers

    def params(self, x: Shape) -> dict[str, Param]:
        tensors = {"weight": Param({"input": x.channels, "experts": self.experts}, "weight")}
        if self.correction:
            tensors["correction"] = Param({"experts": self.experts}, "buffer", "zeros")
        return tensors

    def work(self, x: Shape) -> Work:
        chosen, _ = self.output_shape(x)
        scores = Shape((*x.spatial, self.experts)).elements
        per_score = (5 if self.router == "softmax" else 1) + self.correction
        return Work(x.elements * self.experts, per_score * scores + 2 * self.normalize * chosen.elements)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        import jax
        from jax import lax
        from jax import numpy as jnp

        logits = (x @ params["weight"]).astype(jnp.float32)
        scores = jax.nn.softmax(logits) if self.router == "softmax" else jax.nn.sigmoid(logits)
        rank = scores + params["correction"] if self.correction else scores
        if self.groups > 1:
            grouped = rank.reshape(*rank.shape[:-1], self.groups, -1)
            best, _ = lax.top_k(grouped, min(2 if self.correction else 1, grouped.shape[-1]))
            _, kept = lax.top_k(best.sum(-1), self.top_groups)
            open_groups = jax.nn.one_hot(kept, self.groups, dtype=bool).any(-2)
            rank = jnp.where(open_groups[..., None], grouped, -jnp.inf).reshape(rank.shape)
        _, chosen = lax.top_k(rank, self.top_k)
        weights = jnp.take_along_axis(scores, chosen, -1)
        if self.normalize:
            weights = weights / weights.sum(-1, keepdims=True)
        return weights.astype(x.dtype), chosen


@dataclass(frozen=True)
class Combine(Layer, kind="combine"):
    """The sum of each token's experts, by their weights: of `(tokens, top_k)` and `(tokens, top_k, ...)`.

    It is the end of every `moe`, and not an item of its own.

    Elementwise: a multiplication for each element of each choice, an addition for each beyond the first choice.

    >>> Combine().work(Shape.of(128, 2), Shape.of(128, 2, 64)).elementwise  # 128 · (2 + 1) · 64
    24576
    """

    family = "routing"
    examples = (
        ({}, (5, 2), (5, 2, 6)),
        ({}, (3,), (3, 4, 6)),
    )
    example = """\
input: {sequence: [5, 6]}
layers:
  - moe: {experts: 4, top_k: 2, body: [dense: 6]}
"""

    def place(self, builder: Any, name: str | None) -> None:
        raise SpecError("`combine` ends a `moe`, and is not an item of its own", hint="`moe` adds it to its body")

    def output_shape(self, weights: Shape, chosen: Shape) -> Shape:
        require(
            weights.sizes == chosen.sizes[: weights.rank],
            "`combine` got the weights of {} and the experts' results {}",
            weights,
            chosen,
            error=ShapeError,
        )
        return Shape.of(*weights.spatial, *chosen.sizes[weights.rank :])

    def params(self, weights: Shape, chosen: Shape) -> dict[str, Param]:
        return {}

    def work(self, weights: Shape, chosen: Shape) -> Work:
        return Work(0, 2 * chosen.elements - self.output_shape(weights, chosen).elements)

    def forward(self, params: dict[str, Any], weights: Any, chosen: Any, *, context: Any) -> Any:
        by_choice = weights.reshape(*weights.shape, *[1] * (chosen.ndim - weights.ndim))
        return (by_choice * chosen).sum(weights.ndim - 1)
