"""Positions as sines and cosines of many wavelengths: rope, sinusoidal."""

import math
from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError
from paramcount.layers._accept import has_channels
from paramcount.layers.fields import Number, Whole, field
from paramcount.layers.layer import ParameterFree, Shape, Work
from paramcount.numbers.arithmetic import Size, decide, exact_div, require


@dataclass(frozen=True)
class Rope(ParameterFree, kind="rope"):
    """Rotary positions: element i of the last axis and element i + dims / 2 turned by position · base^(-2i / dims).

    Positions are those of the first axis, as in (T, D) or (T, H, D). `dims` rotates only that many leading elements.
    With a `factor` above 1, as in Llama 3.1, elements that turn less than `low` times in `original` positions turn
    `factor` times slower, those that turn more than `high` times are unchanged, and those between get a mean of both.
    Elementwise: 3 per turned element: two multiplications, one addition.
    Source: https://arxiv.org/abs/2104.09864, the halves paired as in GPT-NeoX and Llama

    >>> Rope(500000).work(Shape.of(128, 32, 64)).elementwise  # 3 · 128 · 32 · 64
    786432
    """

    base: float = field(Number(at_least=1), 10000, doc="the base of the wavelengths")
    dims: Any = field(Whole(none=True), None, doc="how many elements of the last axis are rotated; all unless given")
    factor: float = field(
        Number(at_least=1), 1, doc="how many times slower the slow elements turn, for longer contexts"
    )
    low: float = field(Number(), 1, doc="turns in `original` positions below which an element is slow")
    high: float = field(Number(), 4, doc="turns in `original` positions above which an element is fast")
    original: int = field(Whole(), 8192, doc="the context length, in positions, of the original training")

    family = "position"
    by_name = ("dims", "factor", "low", "high", "original")
    examples = (
        ({}, (5, 4)),
        ({"base": 500000}, (5, 2, 6)),
        ({"dims": 2}, (5, 3, 8)),
        ({"factor": 8, "original": 20}, (5, 2, 6)),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.high > self.low, "high must be above low, {}, not {}", self.low, self.high, argument="high")

    def setting(self, *inputs: Shape) -> str:
        return f"{self.base:g}" if isinstance(self.base, (int, float)) else ""

    def output_shape(self, x: Shape) -> Shape:
        has_channels(x, "rope")
        if x.rank < 2:
            raise ShapeError(
                f"`rope` turns by position, along the first of two axes or more, and got {x.layout} {x}",
                hint="give it a sequence (T, D), or heads (T, H, D)",
            )
        self.turned(x.channels)
        return x

    def turned(self, width: Size) -> Size:
        """How many elements of the last axis are turned."""
        if self.dims is not None:
            require(self.dims <= width, "{} dims of a width of {}", self.dims, width, error=ShapeError, argument="dims")
        dims = width if self.dims is None else self.dims
        return 2 * exact_div(dims, 2, "`rope` turns pairs, and {} is not divisible by {}", error=ShapeError)

    def work(self, x: Shape) -> Work:
        return Work(0, 3 * x.with_channels(self.turned(x.channels)).elements)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import numpy as jnp

        dims = self.turned(x.shape[-1])
        speeds = self.base ** (-jnp.arange(0, dims, 2) / dims)
        turns = self.original * speeds / (2 * math.pi)
        fast = jnp.clip((turns - self.low) / (self.high - self.low), 0, 1)
        speeds = fast * speeds + (1 - fast) * speeds / self.factor
        angles = jnp.arange(x.shape[0])[:, None] * speeds
        angles = angles.reshape(x.shape[0], *[1] * (x.ndim - 2), dims // 2)
        cosine, sine = jnp.cos(angles).astype(x.dtype), jnp.sin(angles).astype(x.dtype)
        first, second, rest = jnp.split(x, (dims // 2, dims), axis=-1)
        return jnp.concatenate([first * cosine - second * sine, second * cosine + first * sine, rest], axis=-1)


@dataclass(frozen=True)
class Sinusoidal(ParameterFree, kind="sinusoidal"):
    """A number t, such as a diffusion's time, as `out` features: the sines, then the cosines, of t · 10000^(-2i / out).

    One feature gives (out,), T features or tokens give (T, out). Elementwise: 1 per wavelength to multiply, 1 per
    feature. Source: https://arxiv.org/abs/1706.03762

    >>> str(Sinusoidal(256).output_shape(Shape.of(1)))
    '256'
    """

    out: int = field(Whole(), doc="the features of the result: half sines, half cosines")

    family = "position"
    examples = (({"out": 8}, (1,)), ({"out": 6}, (5,)), ({"out": 4}, Shape((3,), "tokens")))

    def setting(self, *inputs: Shape) -> str:
        return str(self.out)

    def output_shape(self, x: Shape) -> Shape:
        if x.rank != 1:
            raise ShapeError(
                f"`sinusoidal` takes numbers, (1,) or (T,), and got {x.layout} {x}",
                hint="learned positions are `add: [prev, [parameter: [T, d]]]`",
            )
        exact_div(self.out, 2, "out must be even, for sines and cosines; {} is not divisible by {}", argument="out")
        single = x.layout != "tokens" and decide(x.sizes[0] == 1)
        return Shape.of(self.out) if single else Shape.of(x.sizes[0], self.out)

    def work(self, x: Shape) -> Work:
        features = self.output_shape(x).elements
        return Work(0, features + features // 2)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import numpy as jnp

        angles = x[:, None] * 10000 ** (-jnp.arange(0, self.out, 2) / self.out)
        features = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)
        single = x.shape == (1,) and jnp.issubdtype(x.dtype, jnp.floating)
        return features[0] if single else features
