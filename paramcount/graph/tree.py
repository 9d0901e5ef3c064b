"""The expanded network: a tree whose leaves are layers with known shapes, and bodies that run several times.

Paths are joined from the names on the way down: `stage.conv0`, `[i]` for the iterations of a loop that have no names
of their own. A loop's child has no name. Values are known by identity; an iteration's `entry` is bound anew each time
that it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from paramcount.layers.layer import Contraction, Layer, Param, Shape, Work
from paramcount.numbers.arithmetic import Size


class Value:
    """One tensor that passes between leaves; `training_only` ones do not exist in inference, `stored_only` never."""

    __slots__ = ("shape", "stored_only", "training_only")

    def __init__(self, shape: Shape, training_only: bool = False, stored_only: bool = False) -> None:
        self.shape = shape
        self.training_only = training_only
        self.stored_only = stored_only


class Share(NamedTuple):
    """Whose weights an element has: the owner's path within its block or file, and whether it is the owner."""

    key: str
    owner: str
    first: bool


class Tie(NamedTuple):
    """The table that stands for a dense weight: its node's path within the block or file, and its name there."""

    owner: str
    param: str


@dataclass(eq=False, repr=False)
class Element:
    """A part of the tree: its name, and marks that hold for everything below it."""

    name: str
    share: Share | None = field(default=None, kw_only=True)
    frozen: bool = field(default=False, kw_only=True)
    training_only: bool = field(default=False, kw_only=True)  # only marked in a graph for inference
    stored_only: bool = field(default=False, kw_only=True)

    @property
    def runs(self) -> bool:
        """Whether it is computed in this graph; what is not has its tensors all the same."""
        return not (self.training_only or self.stored_only)

    def inside(self) -> Sequence[Element]:
        """The elements that stand directly in it; of a loop the different bodies."""
        return ()

    def below(self) -> Iterator[Element]:
        """The element itself and all that stand in it, at any depth."""
        yield self
        for element in self.inside():
            yield from element.below()


@dataclass(eq=False, repr=False)
class Node(Element):
    """A leaf: one layer, applied to values."""

    layer: Layer
    inputs: tuple[Value, ...]
    shapes: tuple[Shape, ...]  # of the inputs
    outputs: tuple[Value, ...]
    tie: Tie | None = None
    exact: bool = False  # whether only pairs of positions count that the layer does not mask

    @property
    def setting(self) -> str:
        return self.layer.setting(*self.shapes)

    def work(self) -> Work:
        """What running it once costs."""
        work = self.layer.work(*self.shapes)
        if self.exact:
            work = Work(*[self.layer.unmasked(figure, *self.shapes) for figure in work])
        return work

    def contractions(self) -> Sequence[Contraction]:
        """What its MACs are made of."""
        found = self.layer.contractions(*self.shapes)
        if self.exact:
            found = [each._replace(macs=self.layer.unmasked(each.macs, *self.shapes)) for each in found]
        return found

    def params(self) -> dict[str, Param]:
        """The tensors that the layer declares, without the one that is tied to another's."""
        declared = self.layer.params(*self.shapes)
        if self.tie:
            del declared["weight"]
        return declared


@dataclass(eq=False, repr=False)
class Group(Element):
    """Elements that run one after the other; `scope` groups (blocks) are where shared weights are looked up.

    `made_by` is what the group's setting describes: a block, the layer's node, or the body inside. `entry` is the value
    that arrives at it, `output` its result.
    """

    kind: str
    children: list[Element] = field(default_factory=list)
    made_by: Any = None
    scope: bool = False
    entry: Value | None = None
    output: Value | None = None

    @property
    def setting(self) -> str:
        return self.made_by.setting if self.made_by else ""

    def inside(self) -> Sequence[Element]:
        return self.children


@dataclass(eq=False, repr=False)
class Iteration:
    """A body of a loop, and the indices of all iterations that are this body."""

    indices: list[int]
    entry: Value | None
    child: Element | None
    results: tuple[Value | None, ...]
    layers: int  # how many layers it has
    steps: int  # how many steps its expansion took
    name: str = ""  # given in it, in place of the loop's and `[i]`
    alone: bool = False  # whether something made in it outlives it, so that no other iteration joins it


@dataclass(eq=False, repr=False)
class Loop(Element):
    """Bodies that run one after the other, each iteration on the result of the one before.

    With `shared`, all iterations have one set of weights, also where they are not all one body.
    """

    source: Value | None
    iterations: list[Iteration] = field(default_factory=list)
    results: tuple[Value | None, ...] = ()
    shared: bool = False

    def order(self) -> list[Iteration]:
        """The bodies in the order in which they run."""
        at = {index: each for each in self.iterations for index in each.indices}
        return [at[index] for index in sorted(at)]

    def inside(self) -> Sequence[Element]:
        return [each.child for each in self.iterations if each.child is not None]


class Carry(NamedTuple):
    """A value that a body hands from each run to the next: its start, a Shape for zeros, and its two ends inside."""

    start: Value | Shape
    inside: Value
    next: Value


@dataclass(eq=False, repr=False)
class Body(Element):
    """Elements that run several times as one program: the inside of `each`, `scan` and `moe`.

    Values enter it from outside, and it may carry some from each run to the next; the results of all runs are collected
    in one value. A body does not have a name or a row: it stands in a group of the `form` that placed it. That is an
    item whose `forward(body, run)` runs the body in JAX, by means of `run.once`.
    """

    form: Any
    times: Size  # how many times the declared work is done for one example
    unit: str = ""  # what it runs on
    sequential: bool = False  # whether one run follows the other, so that the tensors of one run exist at a time
    copies: Size | None = None  # how many of each tensor are stacked, one for a run; None where all runs share it
    gathered: Size = 0  # how many copies are taken from the stacks for one example, before any run
    enters: list[tuple[Value, Value]] = field(default_factory=list)  # outside, inside
    carries: list[Carry] = field(default_factory=list)
    children: list[Element] = field(default_factory=list)
    result: Value | None = None  # of one run
    collected: Value | None = None  # of all, outside

    @property
    def setting(self) -> str:
        return f"×{self.times} {self.unit}"

    def inside(self) -> Sequence[Element]:
        return self.children


@dataclass(eq=False, repr=False)
class Graph:
    """A network for one mode, expanded: inputs by name, the tree, and outputs by label."""

    inputs: dict[str, Value]
    children: list[Element]
    outputs: dict[str, Value]
    training: bool = False
    warnings: list[str] = field(default_factory=list)
    unused: frozenset[Node] = frozenset()  # leaves that count and whose results reach no output

    def below(self) -> Iterator[Element]:
        """All elements of the tree; of a loop the different bodies."""
        for element in self.children:
            yield from element.below()


def join(prefix: str, name: str) -> str:
    """A path and a name below it."""
    return f"{prefix}.{name}" if prefix and name else prefix or name


def indices_label(indices: list[int]) -> str:
    """The iterations of one body: `[2]`, `[0:5]`, or `[0:5,6:11]` where they are not one run."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and runs[-1][1] == index:
            runs[-1][1] = index + 1
        else:
            runs.append([index, index + 1])
    parts = [str(start) if stop - start == 1 else f"{start}:{stop}" for start, stop in runs]
    return "[" + ",".join(parts) + "]"


def iteration_paths(loop: Loop, each: Iteration, path: str, owner: str, label: str) -> tuple[str, str]:
    """The paths of an iteration and of its parameters, from those of its loop; `label` are its indices."""

    def one(whole: str, iteration: Iteration, label: str) -> str:
        if iteration.name:  # it stands beside what the loop would be called
            return join(whole.removesuffix(loop.name).removesuffix("."), iteration.name)
        return whole + label

    if loop.shared and len(loop.iterations) == 1 and not each.name:
        return path, owner
    return one(path, each, label), one(owner, loop.iterations[0], "[0]") if loop.shared else one(owner, each, label)


class Leaf(NamedTuple):
    """A leaf as it stands in one iteration: its path, the path of its parameters, its node, its table's path.

    `bodies` are those of `each`, `scan` and `moe` in which it stands, outermost first.
    """

    path: str
    owner: str
    node: Node
    tied: str | None
    bodies: tuple[Body, ...]


def leaves(graph: Graph) -> Iterator[Leaf]:
    """Every leaf in the order of running, folded iterations unrolled; bodies of each, scan and moe once."""
    return leaves_of(graph.children)


def leaves_of(children: list[Element]) -> Iterator[Leaf]:
    """The same for some elements of a block or file; paths are within it."""
    return _leaves(children, "", "", "", "", ())


def _leaves(
    children: list[Element], path: str, owner: str, root: str, root_owner: str, bodies: tuple[Body, ...]
) -> Iterator[Leaf]:
    for element in children:
        here, holder = join(path, element.name), join(owner, element.name)
        if element.share:
            holder = join(root_owner, element.share.owner)
        match element:
            case Node():
                yield Leaf(here, holder, element, join(root_owner, element.tie.owner) if element.tie else None, bodies)
            case Loop():
                for index, each in enumerate(element.order()):
                    if each.child is not None:
                        paths = iteration_paths(element, each, here, holder, f"[{index}]")
                        yield from _leaves([each.child], *paths, root, root_owner, bodies)
            case Body():
                yield from _leaves(element.children, here, holder, root, root_owner, (*bodies, element))
            case Group():
                inner = (here, holder) if element.scope else (root, root_owner)
                yield from _leaves(element.children, here, holder, *inner, bodies)
