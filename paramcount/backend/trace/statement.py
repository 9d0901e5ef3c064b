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
        self.scoped = {owner for owner, stacks in reads.items() if in_scope(standing(stacks).path)}
        placed = [(each, *self.place(each.stacks, each.owner)) for each in operations]
        homes = [
            (each, self.place(reads[each], each)[0] if each in reads else each.module) for each in parameters or ()
        ]
        self.forward = {
            path[:end]
            for each, path, phase in placed
            if phase == "forward" and not each.update
            for end in range(len(path) + 1)
        }
        self.only = only_layer(placed, homes)
        for each, path, phase in placed:
            path = self.known(path)
            if each.uncounted:
                path = (*path, each.primitive)
                self.uncounted.append(f"{'/'.join(path)}: {each.note.removeprefix('uncounted: ')}")
            if each.update:
                phase = "update"
                path = (*path, OPTIMIZER) if path in self.forward or not path else path
            self.tallies.at(path).work(
                phase, each.primitive, each.macs, each.elementwise, each.times, shape_of(each), each.note
            )
        for parameter, path in homes:
            self.tallies.at(self.known(path)).parameter(parameter.role, parameter.size, bits(parameter.dtype))

    def place(self, stacks: Stacks, owner: Parameter | None) -> tuple[Path, str]:
        """The path of an operation's row, and its phase; layers that scopes do not tell apart, their parameters do."""
        path, phase = standing(stacks)
        if owner and owner.module and owner not in self.scoped and not in_scope(path):
            path = (*(name for name in path if not name.startswith(EQUINOX)), *owner.module)
        return path, phase

    def known(self, path: Path) -> Path:
        """The path of the forward pass: JAX repeats a scope around a loop's body in the backward pass."""
        if path == self.only:
            return ()
        if path in self.forward:
            return path
        shorter = tuple(name for name, _ in groupby(path))
        return shorter if shorter in self.forward else path

    def trace(self, name: str) -> Trace:
        return self.tallies.trace(name, tuple(self.uncounted))


def only_layer(placed: list[tuple[Operation, Path, str]], homes: list[tuple[Parameter, Path]]) -> Path | None:
    """The path of a layer by the name of its parameter, if the function consists of it: it has the function's name."""
    if any(each.update for each, _, _ in placed):
        return None
    paths = {path for _, path, _ in placed if path} | {path for _, path in homes if path}
    flat = {each.owner.module for each, _, _ in placed if each.owner and len(each.owner.keys) == 1}
    flat |= {each.module for each, _ in homes if len(each.keys) == 1}
    return paths.pop() if len(paths) == 1 and paths <= flat else None


def in_scope(path: Path) -> bool:
    """Whether a scope tells layers apart, as those of Equinox' classes do not."""
    return bool(path) and not path[-1].startswith(EQUINOX)


def shape_of(operation: Operation) -> Shape | None:
    variables = getattr(operation.equation, "outvars", ())
    return Shape(tuple(getattr(variables[0].aval, "shape", ()))) if variables else None


def bits(dtype: Any) -> int:
    return BITS.get(dtype.name) or 8 * getattr(dtype, "itemsize", 0)  # keys of random numbers have none
