"""From the operations of a walk to a report: which scope of JAX each operation and each parameter belongs to."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from paramcount.backend.trace.parameters import Parameter
from paramcount.backend.trace.scopes import Stacks, standing
from paramcount.backend.trace.walker import Operation
from paramcount.cost.tally import Path, Tallies
from paramcount.cost.traced import Trace
from paramcount.layers.layer import Shape
from paramcount.numbers.units import BITS

OPTIMIZER = "optimizer"  # the row of what makes the next parameters
EQUINOX = "eqx."  # its layers' scopes are class names, the same for all layers of a class


class Statement:
    """The tallies of all scopes, and the report made of them. `parameters` is None if none are given."""

    def __init__(
        self, operations: list[Operation], reads: dict[Parameter, Stacks], parameters: list[Parameter] | None
    ) -> None:
        self.tallies = Tallies(named=parameters is not None)
        self.uncounted: list[str] = []
        placed = [(each, *place(each.stacks, each.owner)) for each in operations]
        self.forward = {
            path[:end]
            for each, path, phase in placed
            if phase == "forward" and not each.update
            for end in range(len(path) + 1)
        }
        for each, path, phase in placed:
            if each.update:
                phase = "update"
                path = (*path, OPTIMIZER) if path in self.forward or not path else path
            path = self.known(path)
            if each.uncounted:
                path = (*path, each.primitive)
                self.uncounted.append(f"{'/'.join(path)}: {each.note.removeprefix('uncounted: ')}")
            self.tallies.at(path).work(
                phase, each.primitive, each.macs, each.elementwise, each.times, shape_of(each), each.note
            )
        for parameter in parameters or ():
            stacks = reads.get(parameter)
            path = parameter.module if stacks is None else self.known(place(stacks, parameter)[0])
            self.tallies.at(path).parameter(parameter.role, parameter.size, bits(parameter.dtype))

    def known(self, path: Path) -> Path:
        """The path of the forward pass: JAX repeats a scope around a loop's body in the backward pass."""
        if path in self.forward:
            return path
        shorter = tuple(name for name, _ in groupby(path))
        return shorter if shorter in self.forward else path

    def trace(self, name: str) -> Trace:
        return self.tallies.trace(name, tuple(self.uncounted))


def place(stacks: Stacks, owner: Parameter | None) -> tuple[Path, str]:
    """The path of an operation's row, and its phase; layers that scopes do not tell apart, their parameters do."""
    path, phase = standing(stacks)
    if owner and owner.module and (not path or path[-1].startswith(EQUINOX)):
        path = (*(name for name in path if not name.startswith(EQUINOX)), *owner.module)
    return path, phase


def shape_of(operation: Operation) -> Shape | None:
    variables = getattr(operation.equation, "outvars", ())
    return Shape(tuple(getattr(variables[0].aval, "shape", ()))) if variables else None


def bits(dtype: Any) -> int:
    return BITS.get(dtype.name) or 8 * getattr(dtype, "itemsize", 0)  # keys of random numbers have none
