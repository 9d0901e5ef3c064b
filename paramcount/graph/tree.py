"""The expanded network: a tree whose leaves are layers with known shapes, and bodies that run several times.

Paths are joined from the names on the way down: `stage.conv0`, `[i]` for the passes of a loop. A loop's child has
no name of its own. Values are known by identity; a body's `entry` is bound anew each time that it runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from paramcount.layers.layer import Layer, Param, Shape


class Value:
    """One tensor that passes between leaves; `training_only` ones do not exist in inference."""

    __slots__ = ("shape", "training_only")

    def __init__(self, shape: Shape, training_only: bool = False) -> None:
        self.shape = shape
        self.training_only = training_only


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
    """What all parts of the tree have: a name, and marks that hold for everything below."""

    name: str
    share: Share | None = field(default=None, kw_only=True)
    frozen: bool = field(default=False, kw_only=True)
    training_only: bool = field(default=False, kw_only=True)


@dataclass(eq=False, repr=False)
class Node(Element):
    """A leaf: one layer, applied to values."""

    layer: Layer
    inputs: tuple[Value, ...]
    shapes: tuple[Shape, ...]  # of the inputs
    outputs: tuple[Value, ...]
    tie: Tie | None = None

    @property
    def setting(self) -> str:
        return self.layer.setting(*self.shapes)

    def params(self) -> dict[str, Param]:
        """The tensors that the layer declares, without the one that is tied to another's."""
        declared = self.layer.params(*self.shapes)
        if self.tie:
            del declared["weight"]
        return declared


@dataclass(eq=False, repr=False)
class Group(Element):
    """Elements that run one after the other; `scope` groups (blocks) are where shared weights are looked up.

    `made_by` is what the group's setting describes: a block, or the layer's node.
    """

    kind: str
    children: list[Element] = field(default_factory=list)
    made_by: Any = None
    scope: bool = False
    output: Value | None = None

    @property
    def setting(self) -> str:
        return self.made_by.setting if self.made_by else ""


@dataclass(eq=False, repr=False)
class Pass:
    """A body of a loop, and the indices of all passes that are this body."""

    indices: list[int]
    entry: Value | None
    child: Element | None
    results: tuple[Value | None, ...]
    layers: int = -1  # how many layers it has; -1 where something made in it outlives it, so that it stands alone
    steps: int = 0  # how many steps its expansion took


@dataclass(eq=False, repr=False)
class Loop(Element):
    """Bodies that run one after the other, each pass on the result of the one before.

    With `shared`, all passes are one body with one set of weights.
    """

    source: Value | None
    passes: list[Pass] = field(default_factory=list)
    results: tuple[Value | None, ...] = ()
    shared: bool = False

    def order(self) -> list[Pass]:
        """The bodies in the order in which they run."""
        at = {index: each for each in self.passes for index in each.indices}
        return [at[index] for index in sorted(at)]


@dataclass(eq=False, repr=False)
class Pieces(Group):
    """`each`: a body that runs on pieces of a value; `along` pairs further values with their pieces."""

    pattern: str = ""
    sizes: dict[str, Any] = field(default_factory=dict)
    source: Value | None = None
    piece: Value | None = None
    along: list[tuple[str, dict[str, Any], Value, Value]] = field(default_factory=list)  # pattern, sizes, whole, piece
    result: Value | None = None  # of the body
    count: Any = 1

    @property
    def setting(self) -> str:
        return f"×{self.count} pieces"


@dataclass(eq=False, repr=False)
class Steps(Group):
    """`scan`: a body that runs on each step of the first axis with values carried along."""

    source: Value | None = None
    step: Value | None = None
    carry: list[tuple[Value | Shape, Value, Value]] = field(default_factory=list)  # initial, inside, next
    result: Value | None = None  # of the body, one step
    count: Any = 1

    @property
    def setting(self) -> str:
        return f"×{self.count} steps"


@dataclass(eq=False, repr=False)
class Experts(Group):
    """`moe`: the children are the router's node, the body, whose tensors are stacked × experts, and the sum's node."""

    experts: Any = 1
    top_k: Any = 1
    source: Value | None = None
    entry: Value | None = None
    result: Value | None = None  # of the body


@dataclass(eq=False, repr=False)
class Graph:
    """A network for one mode, expanded: inputs by name, the tree, and outputs by label."""

    inputs: dict[str, Value]
    children: list[Element]
    outputs: dict[str, Value]
    training: bool = False
    warnings: list[str] = field(default_factory=list)


def join(prefix: str, name: str) -> str:
    """A path and a name below it."""
    return f"{prefix}.{name}" if prefix and name else prefix or name


def indices_label(indices: list[int]) -> str:
    """The passes of one body: `[2]`, `[0:5]`, or `[0:5,6:11]` where they are not one run."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and runs[-1][1] == index:
            runs[-1][1] = index + 1
        else:
            runs.append([index, index + 1])
    parts = [str(start) if stop - start == 1 else f"{start}:{stop}" for start, stop in runs]
    return "[" + ",".join(parts) + "]"


class Leaf(NamedTuple):
    """A leaf as it stands in one pass: its path, the path of its parameters, its node, its table's path.

    `bodies` are the `each`, `scan` and `moe` in whose bodies it stands, outermost first.
    """

    path: str
    owner: str
    node: Node
    tied: str | None
    bodies: tuple[Group, ...]


def leaves(graph: Graph) -> Iterator[Leaf]:
    """Every leaf in the order of running, folded passes unrolled; bodies of each, scan and moe once."""
    return leaves_of(graph.children)


def leaves_of(children: list[Element]) -> Iterator[Leaf]:
    """The same of some elements of a block or file; paths are within it."""
    return _leaves(children, "", "", "", "", ())


def _leaves(
    children: list[Element], path: str, owner: str, root: str, root_owner: str, bodies: tuple[Group, ...]
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
                        mark = "" if element.shared else f"[{index}]"
                        yield from _leaves([each.child], here + mark, holder + mark, root, root_owner, bodies)
            case Experts():
                router, *body, combine = element.children
                yield from _leaves([router], here, holder, root, root_owner, bodies)
                yield from _leaves(body, here, holder, root, root_owner, (*bodies, element))
                yield from _leaves([combine], here, holder, root, root_owner, bodies)
            case Pieces() | Steps():
                yield from _leaves(element.children, here, holder, root, root_owner, (*bodies, element))
            case Group():
                inner = (here, holder) if element.scope else (root, root_owner)
                yield from _leaves(element.children, here, holder, *inner, bodies)
