"""Work that reaches no output: layers that a network counts, and whose results nothing uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from paramcount.errors import quote, series
from paramcount.graph.tree import Body, Element, Graph, Loop, Node, Value, indices_label, iteration_paths, join
from paramcount.layers.layer import Free, ParameterFree

MOST = 5  # paths that are named


class Needed:
    """The sweep backward over a tree that finds which values some of its values depend on, without unrolling it.

    What only exists in training is taken to be used there.
    """

    def __init__(self, children: Sequence[Element], ends: Iterable[Value]) -> None:
        self.values: set[Value | None] = set(ends)
        self.idle: dict[Node, None] = {}  # leaves that nothing needed when the sweep met them
        self.elements(children)

    def elements(self, children: Sequence[Element]) -> None:
        for element in reversed(children):
            if isinstance(element, Node):
                if self.node(element):
                    self.values.update(element.inputs)
                else:
                    self.idle[element] = None
            elif isinstance(element, Loop):
                self.loop(element)
            elif isinstance(element, Body):
                self.body(element)
            else:
                self.elements(element.inside())

    def node(self, node: Node) -> bool:
        """Whether anything needs a leaf."""
        return not node.stored_only and (node.training_only or not self.values.isdisjoint(node.outputs))

    def loop(self, loop: Loop) -> None:
        ends = [value in self.values for value in loop.results]
        known: set[tuple[int, tuple[bool, ...]]] = set()
        order = loop.order()
        for each in reversed(order):
            key = id(each), tuple(ends)
            if key not in known:
                known.add(key)
                self.values.update(value for value, needed in zip(each.results, ends, strict=False) if needed)
                self.elements(() if each.child is None else (each.child,))
            ends = [each.entry in self.values]
        if order and ends[0]:
            self.values.add(loop.source)

    def body(self, body: Body) -> None:
        """What is carried is needed after each step if it is at the start of one."""
        if body.collected in self.values or body.training_only:
            self.values.add(body.result)
        while True:
            self.elements(body.children)
            carried = {after for _, inside, after in body.carries if inside in self.values}
            if carried <= self.values:
                break
            self.values |= carried
        self.values.update(outside for outside, inside in body.enters if inside in self.values)
        starts = [start for start, inside, _ in body.carries if inside in self.values]
        self.values.update(start for start in starts if isinstance(start, Value))


def unused_work(graph: Graph, outputs: Iterable[Value], known: Iterable[Value]) -> tuple[list[Node], str]:
    """The layers whose parameters or work count and whose results reach no output, and a sentence that names them.

    `outputs` are those of training too. A layer without work of its own whose weights others have is not among them.
    The sentence leaves out what leads to the values that are `known` to be unused.
    """
    needed = Needed(graph.children, outputs)
    dead = [node for node in needed.idle if not node.stored_only and not needed.node(node)]
    if dead:
        shared = {node for element in graph.below() if element.share for node in element.below()}
        tied = any(element.tie for element in graph.below() if isinstance(element, Node))
        dead = [node for node in dead if costs(node, node in shared or tied)]
    said = Needed(graph.children, known) if dead else None
    named = {node for node in dead if said and not said.node(node)}
    return dead, sentence(list(places(graph.children, named, ""))) if named else ""


def costs(node: Node, lent: bool) -> bool:
    """Whether a layer counts with any figure; `lent`: its weights may be those of another layer too."""
    layer = node.layer
    return not isinstance(layer, Free) and (isinstance(layer, ParameterFree) or not lent or bool(node.work().macs))


def places(children: Sequence[Element], dead: set[Node], path: str) -> Iterator[str]:
    """The paths of the outermost elements of which no layer is needed, and of single layers elsewhere."""
    for element in children:
        here = join(path, element.name)
        counted = {node for node in element.below() if isinstance(node, Node) and not isinstance(node.layer, Free)}
        called = isinstance(element, Loop) and any(each.name for each in element.iterations)  # has no row of its own
        if counted and counted <= dead and not called:
            yield here
        elif isinstance(element, Loop):
            for each in element.iterations:
                if each.child is not None:
                    row, _ = iteration_paths(element, each, here, here, indices_label(each.indices))
                    yield from places([each.child], dead, row)
        else:
            yield from places(element.inside(), dead, here)


def sentence(paths: list[str]) -> str:
    """What to say of the paths."""
    named = [quote(path) for path in paths[:MOST]]
    if len(paths) > MOST:
        named.append(f"{len(paths) - MOST} more")
    verbs = "reaches no output and is counted" if len(paths) == 1 else "reach no output and are counted"
    return f"{series(named, 'and')} {verbs}: use the result, list it under `outputs`, or mark it `only: stored`"
