"""Regions of a sweep: points that are counted together, as arrays that broadcast to one another.

A region of a grid has an axis for each variable, along which the others have length 1; other regions have one axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

FEW = 16  # values at most of a variable by which points are grouped


class Region(NamedTuple):
    """The variables' values by name, and the place of each point in the result."""

    values: dict[str, Any]
    places: Any

    @property
    def size(self) -> int:
        return self.places.size

    def take(self, axis: int, chosen: Any) -> Region:
        """The points at some indices along an axis; a slice copies nothing."""
        index = (slice(None),) * axis + (chosen,)
        values = {name: each[index] if each.shape[axis] > 1 else each for name, each in self.values.items()}
        return Region(values, self.places[index])

    def first(self) -> Region:
        """The first point alone."""
        region = self
        for axis in range(self.places.ndim):
            region = region.take(axis, slice(0, 1))
        return region

    def select(self, mask: Any) -> Region:
        """The points that a mask marks: still a grid if the mask depends on only one variable."""
        import numpy

        mask = reduced(mask)
        axes = [axis for axis, length in enumerate(mask.shape) if length > 1]
        if not axes:
            return self if mask.all() else self.take(0, slice(0, 0))
        if len(axes) == 1:
            return self.take(axes[0], numpy.flatnonzero(mask))
        shape = self.places.shape
        mask = numpy.broadcast_to(mask, shape)
        values = {name: numpy.broadcast_to(each, shape)[mask] for name, each in self.values.items()}
        return Region(values, self.places[mask])

    def groups(self, key: Any) -> Iterator[Region]:
        """The points of each distinct value of a key, an array that broadcasts to the region."""
        import numpy

        for value in numpy.unique(key):
            yield self.select(key == value)

    def blocks(self, most: int) -> Iterator[Region]:
        """Pieces of at most `most` points: all of the last axes, a slice of one, one value of those before."""
        axis, inner = 0, self.size
        while inner > most:
            length = self.places.shape[axis]
            inner //= length
            if inner <= most or axis == self.places.ndim - 1:
                step = max(most // max(inner, 1), 1)
                for start in range(0, length, step):
                    yield self.take(axis, slice(start, start + step))
                return
            if length > 1:
                for start in range(length):
                    yield from self.take(axis, slice(start, start + 1)).blocks(most)
                return
            axis += 1
        yield self

    def deciding(self, key: Any) -> str | None:
        """The variable of few values that determines the key, if there is one."""
        import numpy

        key = reduced(key)
        for name, each in self.values.items():
            if numpy.broadcast_shapes(each.shape, key.shape) != each.shape or each.dtype.kind != "i":
                continue
            found = numpy.unique(each)
            if 1 < len(found) <= FEW:
                spread = numpy.broadcast_to(key, each.shape)
                if all(numpy.ptp(spread[each == value].astype(numpy.int64)) == 0 for value in found):
                    return name
        return None


def reduced(array: Any) -> Any:
    """A mask or key with length 1 along each axis on which it does not depend."""
    for axis in range(array.ndim):
        if array.shape[axis] > 1:
            first = array.take([0], axis)
            if (array == first).all():
                array = first
    return array
