"""Parts of a value, and its elements moved along or beyond its axes: split, slice, pick, roll, pad, crop."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers._accept import has_axis
from paramcount.layers.fields import Pairs, Parts, Sizes, Whole, field
from paramcount.layers.layer import Free, Shape
from paramcount.numbers.arithmetic import Size, exact_div, require, settle

MOST_PARTS = 50_000  # as many as a network may have layers


@dataclass(frozen=True)
class Split(Free, kind="split"):
    """A value cut along one axis into a number of equal parts, or parts of the listed sizes; each is a result.

    Costs nothing.

    >>> [str(part) for part in Split([512, 64]).output_shape(Shape.of(128, 576))]
    ['128×512', '128×64']
    """

    parts: int | Sequence[int] = field(Parts(), doc="a number of equal parts, or the list of their sizes")
    axis: int = field(Whole(at_least=None), -1, doc="the axis that is cut; -1 is the last")

    family = "shape"
    by_name = ("axis",)
    examples = (
        ({"parts": 3}, (4, 6)),
        ({"parts": (2, 3)}, (4, 5)),
        ({"parts": (1, 3), "axis": 0}, (4, 5, 2)),
        ({"parts": 2, "axis": 0}, Shape((6,), "tokens")),
    )

    def setting(self, *inputs: Shape) -> str:
        return "+".join(map(str, self.parts)) if isinstance(self.parts, Sequence) else str(self.parts)

    def output_shape(self, x: Shape) -> tuple[Shape, ...]:
        axis = has_axis(x, self.axis)
        return tuple(with_size(x, axis, part) for part in self.sizes(x.sizes[axis]))

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import numpy as jnp

        ends = list(accumulate(self.sizes(x.shape[self.axis])))
        return tuple(jnp.split(x, ends[:-1], self.axis))

    def sizes(self, size: Size) -> tuple[Size, ...]:
        """The size of each part of an axis."""
        if not isinstance(self.parts, Sequence):
            count = settle(self.parts)
            if count > MOST_PARTS:
                raise ArgumentError(f"{count:,} parts; there can be {MOST_PARTS:,}", argument="parts")
            message = "an axis of {} does not divide into {} equal parts"
            return (exact_div(size, count, message, error=ShapeError, argument="parts"),) * count
        total = sum(self.parts)
        message = "the parts sum to {}, the axis has {}"
        require(total == size, message, total, size, error=ShapeError, argument="parts")
        return tuple(self.parts)


@dataclass(frozen=True)
class Slice(Free, kind="slice"):
    """The positions of one axis from `start` up to before `stop`. Costs nothing.

    >>> str(Slice(77).output_shape(Shape.of(512, 768)))
    '77×768'
    """

    stop: int = field(Whole(), doc="the end: the first position that is not kept")
    start: int = field(Whole(at_least=0), 0, doc="the first position that is kept")
    axis: int = field(Whole(at_least=None), 0, doc="the axis that is cut; -1 is the last")

    family = "shape"
    examples = (
        ({"stop": 3}, (5, 4)),
        ({"stop": 4, "start": 1, "axis": -1}, (3, 2, 5)),
        ({"stop": 2}, Shape((6,), "tokens")),
    )

    def setting(self, *inputs: Shape) -> str:
        return f"{self.start}:{self.stop}"

    def output_shape(self, x: Shape) -> Shape:
        axis = has_axis(x, self.axis)
        size = x.sizes[axis]
        require(
            self.stop <= size, "stop {} is beyond the axis of {}", self.stop, size, error=ShapeError, argument="stop"
        )
        require(self.start < self.stop, "start {} is not before stop {}", self.start, self.stop, argument="start")
        return with_size(x, axis, self.stop - self.start)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import lax

        return lax.slice_in_dim(x, self.start, self.stop, axis=self.axis % x.ndim)


@dataclass(frozen=True)
class Pick(Free, kind="pick"):
    """One position of an axis, which is removed; a negative index counts from the end. Costs nothing.

    >>> str(Pick(-1).output_shape(Shape.of(197, 768)))
    '768'
    """

    index: int = field(Whole(at_least=None), 0, doc="the position that is taken; -1 is the last")
    axis: int = field(Whole(at_least=None), 0, doc="the axis that goes; -1 is the last")

    family = "shape"
    examples = (({}, (5, 4)), ({"index": -2, "axis": -1}, (3, 2, 5)), ({}, (4,)))

    def setting(self, *inputs: Shape) -> str:
        return str(self.index)

    def output_shape(self, x: Shape) -> Shape:
        axis = has_axis(x, self.axis)
        if x.layout == "tokens":
            raise ShapeError(f"`pick` of tokens {x} leaves no axis", hint="use `slice: 1`, or `embedding` before it")
        size = x.sizes[axis]
        inside = (self.index < size) & (self.index >= -size)
        require(inside, "index {} is outside the axis of {}", self.index, size, error=ShapeError, argument="index")
        return Shape.of(*x.sizes[:axis], *x.sizes[axis + 1 :])

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import lax

        axis = self.axis % x.ndim
        return lax.index_in_dim(x, self.index % x.shape[axis], axis, keepdims=False)


@dataclass(frozen=True)
class Roll(Free, kind="roll"):
    """The positions of the leading axes shifted in a circle, each by its entry in `shifts`. Costs nothing.

    >>> str(Roll([-3, -3]).output_shape(Shape.of(56, 56, 96)))
    '56×56×96'
    """

    shifts: Sequence[int] = field(
        Sizes(at_least=None), doc="how far each of the leading axes is shifted; negative numbers shift to the front"
    )

    family = "shape"
    examples = (({"shifts": (-1, 2)}, (4, 5, 3)), ({"shifts": (7,)}, (4, 2)))

    def setting(self, *inputs: Shape) -> str:
        return " ".join(map(str, self.shifts))

    def output_shape(self, x: Shape) -> Shape:
        if len(self.shifts) > x.rank:
            raise ShapeError(f"{len(self.shifts)} shifts for {x.rank} axes ({x})", argument="shifts")
        return x

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import numpy as jnp

        return jnp.roll(x, self.shifts, tuple(range(len(self.shifts))))


@dataclass(frozen=True)
class Pad(Free, kind="pad"):
    """Zeros before and after each axis: one [before, after] for every axis. Costs nothing.

    >>> str(Pad([[3, 3], [3, 3], [0, 0]]).output_shape(Shape.of(224, 224, 3)))
    '230×230×3'
    """

    padding: Sequence[Sequence[int]] = field(
        Pairs(at_least=0), doc="how many zeros are added [before, after] every axis"
    )

    family = "shape"
    examples = (({"padding": ((1, 2), (0, 1), (0, 0))}, (4, 5, 3)), ({"padding": ((0, 3),)}, Shape((4,), "tokens")))

    def setting(self, *inputs: Shape) -> str:
        return in_brief(self.padding)

    def output_shape(self, x: Shape) -> Shape:
        every_axis(x, self.padding, "padding")
        sizes = [size + before + after for size, (before, after) in zip(x.sizes, self.padding, strict=True)]
        return Shape(tuple(sizes), x.layout)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import numpy as jnp

        return jnp.pad(x, self.padding)


@dataclass(frozen=True)
class Crop(Free, kind="crop"):
    """A value without its first and last positions: one [before, after] for every axis.

    Costs nothing.

    >>> str(Crop([[4, 4], [4, 4], [0, 0]]).output_shape(Shape.of(64, 64, 512)))
    '56×56×512'
    """

    margins: Sequence[Sequence[int]] = field(
        Pairs(at_least=0), doc="how many positions are cut off [before, after] every axis"
    )

    family = "shape"
    examples = (({"margins": ((1, 2), (0, 1), (0, 0))}, (4, 5, 3)), ({"margins": ((0, 3),)}, Shape((4,), "tokens")))

    def setting(self, *inputs: Shape) -> str:
        return in_brief(self.margins)

    def output_shape(self, x: Shape) -> Shape:
        every_axis(x, self.margins, "margins")
        sizes = []
        for size, (before, after) in zip(x.sizes, self.margins, strict=True):
            message = "a crop of {} leaves nothing of an axis of {}"
            require(before + after < size, message, before + after, size, error=ShapeError, argument="margins")
            sizes.append(size - before - after)
        return Shape(tuple(sizes), x.layout)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import lax

        starts = [before for before, _ in self.margins]
        return lax.slice(x, starts, [size - after for size, (_, after) in zip(x.shape, self.margins, strict=True)])


def with_size(x: Shape, axis: int, size: Size) -> Shape:
    """The same shape with another size of one axis."""
    return Shape((*x.sizes[:axis], size, *x.sizes[axis + 1 :]), x.layout)


def every_axis(x: Shape, pairs: Sequence, name: str) -> None:
    """Raise ArgumentError unless there is one pair for each axis."""
    if len(pairs) != x.rank:
        raise ArgumentError(
            f"{name} has {len(pairs)} pairs, the value {x.rank} axes ({x})",
            hint="give [before, after] for every axis, [0, 0] for the channels",
            argument=name,
        )


def in_brief(pairs: Sequence) -> str:
    return " ".join(f"{before}+{after}" for before, after in pairs)
