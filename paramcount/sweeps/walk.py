"""Counting the points of a space: one walk for all points that have the same structure."""

from __future__ import annotations

from typing import Any

from paramcount.cost.count import count
from paramcount.cost.figures import Figures
from paramcount.errors import ManyErrors, ParamcountError, Undecided
from paramcount.numbers.column import IN_FLOATS, MOST, Column, beyond, overflow
from paramcount.sweeps.region import Region
from paramcount.sweeps.result import Sweep
from paramcount.sweeps.space import Space

CHUNK = 2**16  # points of a grid in one walk, where most numbers are small arrays along its axes
LINE = 2**14  # points in one walk otherwise, so that its arrays stay in the cache


class Walk:
    """Counts the regions of a space; `learned` are the variables found so far to determine the structure."""

    def __init__(self, space: Space, chunk: int | None) -> None:
        self.space = space
        self.chunk = chunk or (LINE if space.single else CHUNK)
        self.learned: list[str] = list(space.choices)
        self.computed = sorted({name for name, value in space.fixed.items() if isinstance(value, str)})
        self.columns = [*space.axes, *self.computed, *Figures._fields]

    def kept(self, where: str | None, start: int, points: int) -> Sweep:
        """The points of a window for which a condition holds, or all of them without one."""
        found = self.window(start, points)
        return found if where is None else found.where(where)

    def window(self, start: int, points: int) -> Sweep:
        """All points of a window."""
        import numpy

        whole = self.space.region(start, points)
        shape = whole.places.shape
        columns = {
            name: self.space.shown(name, numpy.broadcast_to(values, shape).reshape(-1))
            for name, values in whole.values.items()
        }
        figures = {name: numpy.zeros(points, numpy.int64) for name in Figures._fields}
        computed = {name: numpy.empty(points, object) for name in self.computed}
        reason, reasons = numpy.full(points, -1, numpy.int32), {}
        regions = [whole]
        learned = list(self.learned)
        while regions:
            if learned != self.learned:  # group all points by the new variable first, for fewer walks
                learned, regions = list(self.learned), [whole]
                reason[:] = -1
            region = regions.pop()
            parts = self.parts(region)
            if parts is not None:
                regions += reversed(parts)
                continue
            try:
                network = self.network(region)
                totals = count(network).totals._asdict()
                for value in totals.values():
                    if type(value) is int and value > MOST:  # of all variants of a region, or of its only one
                        raise overflow(value)
                for name, value in totals.items():
                    place(figures[name], region, value)
                for name, into in computed.items():
                    place(into, region, network.vars[name])
            except Undecided as undecided:
                regions += self.split(region, undecided)
            except ParamcountError as error:
                cause = first_cause(error)
                if isinstance(cause, Undecided):
                    regions += self.split(region, cause)
                    continue
                failing = region if cause.mask is None else region.select(cause.mask)
                reason[failing.places] = reasons.setdefault(self.reason(failing, cause), len(reasons))
                if cause.mask is not None:
                    rest = region.select(~cause.mask)
                    regions += [rest] if rest.size else []
        columns |= {name: numbers_if_any(values, reason < 0) for name, values in computed.items()} | figures
        space, syntax = self.space, self.space.syntax
        variables = (*space.axes, *self.computed)
        return Sweep(syntax.name, space.variant, variables, columns, reason < 0, reason, list(reasons), space)

    def parts(self, region: Region) -> list[Region] | None:
        """A region in groups of one structure, or in pieces if it is too large for one walk, else None."""
        for name in self.learned:
            groups = list(region.groups(region.values[name]))
            if len(groups) > 1:
                return groups
        return list(region.blocks(self.chunk)) if region.size > self.chunk else None

    def network(self, region: Region) -> Any:
        import numpy

        values = {}
        for name, each in region.values.items():
            first = each.flat[0]
            if each.size == 1 or (each == first).all():
                values[name] = first.item()
            else:
                values[name] = Column(each) if each.dtype == numpy.int64 else each
        return self.space.network(values)

    def reason(self, failing: Region, cause: ParamcountError) -> str:
        """Why points fail, as the first of them says when counted alone: a message about many shows no number.

        What fails only in a sweep, such as a number of more than 64 bits, is said as it was found.
        """
        try:
            count(self.network(failing.first()))
        except ParamcountError as error:
            cause = first_cause(error)
        return str(cause)

    def split(self, region: Region, undecided: Undecided) -> list[Region]:
        """The parts of a region on which a condition, or a size that determines the structure, is the same."""
        key = undecided.mask if undecided.sizes is None else undecided.sizes
        if undecided.sizes is not None or self.space.single:
            name = region.deciding(key)
            if name is not None and name not in self.learned:
                self.learned.append(name)
        return list(region.groups(key))


def place(into: Any, region: Region, value: Any) -> None:
    """Write a region's figure to the rows of its points."""
    if isinstance(value, Column):
        value = value.array
    into[region.places] = value


def numbers_if_any(values: Any, valid: Any) -> Any:
    """Computed values as an array of numbers, if those of all valid rows are numbers that it holds exactly."""
    import numpy

    held = values[valid].tolist()
    kinds = set(map(type, held))
    if not kinds <= {int, float} or (len(kinds) > 1 and any(beyond(each, IN_FLOATS) for each in held)):
        return values
    numbers = numpy.zeros(len(values), float if float in kinds else numpy.int64)
    numbers[valid] = held
    return numbers


def first_cause(error: ParamcountError) -> ParamcountError:
    """Of several errors, the first that the region must be split on, or else the first."""
    if isinstance(error, ManyErrors):
        return next((each for each in error.errors if isinstance(each, Undecided)), error.errors[0])
    return error
