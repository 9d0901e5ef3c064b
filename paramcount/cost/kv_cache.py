"""What generation caches of the positions so far: `count(..., kv_cache=TOKENS)`.

Every causal `attend` caches the keys and values of all tokens, or of those in its window, separately in each iteration
of a loop. Cross attention, which is not causal and whose queries depend on an input that its keys do not depend on,
caches those of its memory. Any other attention runs once over all positions, and caches nothing. A value is kept once,
however many layers read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from paramcount.cost.walk import Entry
from paramcount.errors import ArgumentError, quote
from paramcount.graph.runner import Runner
from paramcount.graph.tree import Body, Element, Graph, Loop, Node, Value
from paramcount.layers.layer import ParameterFree
from paramcount.numbers.arithmetic import Size, decide, maximum, product


def kept(graph: Graph, entries: Sequence[Entry], tokens: Size, batch: Size) -> Size:
    """How many numbers the whole batch caches after this many tokens.

    Raises ArgumentError if no attention is causal, and for attention in a body that runs on pieces of a value.
    """
    found = list(with_cache(entries))
    if all(node.layer.cached_positions(tokens) is None for _, node, _ in found):
        raise ArgumentError("nothing here has a KV cache", hint="a causal `attend` has one")
    sources = [reached(graph, value) for value in graph.inputs.values()]
    caches: dict[Node, Cache] = {}
    for entry, node, numbers in found:
        positions = node.layer.cached_positions(tokens)
        if positions is None:
            query, key = node.inputs[:2]
            if any(query in each and key not in each for each in sources):
                positions = key.shape.sizes[0]
        if positions is None:
            continue
        if decide(entry.place.work != entry.place.repeat * batch):
            hint = "its body runs on pieces, steps or chosen experts"
            raise ArgumentError(f"the cache of {quote(entry.path)} is not known", hint=hint)
        caches[node] = Cache(numbers, positions)
    return Keeping(graph, caches).numbers * batch


class Cache(NamedTuple):
    """What one layer caches: how many numbers of each position, and of how many positions."""

    numbers: Size
    positions: Size


class Keeping(Runner):
    """The generation of one example, each iteration of a loop by itself: `kept` has the numbers of each cached value.

    A value is known by what computed it. A layer without work that keeps all elements, such as `reshape`, makes no new
    one.
    """

    def __init__(self, graph: Graph, caches: dict[Node, Cache]) -> None:
        self.caches = caches
        self.kept: dict[object, Size] = {}
        self.values: dict[Value | None, Any] = {value: object() for value in graph.inputs.values()}
        self.elements(graph.children)

    @property
    def numbers(self) -> Size:
        return sum(self.kept.values())

    def node(self, node: Node) -> None:
        cache = self.caches.get(node)
        if cache is not None:
            shared = node.layer.cached_inputs()
            for index in shared:
                numbers = product(node.shapes[index].sizes[1:]) * cache.positions
                known = self.values[node.inputs[index]]
                self.kept[known] = maximum(self.kept.get(known, 0), numbers)
            if not shared:
                self.kept[object()] = cache.numbers * cache.positions
        passed = passes(node)
        for value in node.outputs:
            self.values[value] = self.values[node.inputs[0]] if passed else object()

    def body(self, body: Body) -> None:
        starts = [(carry.start, carry.inside) for carry in body.carries]
        for outside, inside in (*body.enters, *starts):
            self.values[inside] = self.values[outside] if isinstance(outside, Value) else object()
        self.elements(body.children)
        self.values[body.collected] = object()


def passes(node: Node) -> bool:
    """Whether a layer's result is its input, perhaps in other axes."""
    if not isinstance(node.layer, ParameterFree) or not len(node.inputs) == len(node.outputs) == 1:
        return False
    same = node.inputs[0].shape.elements == node.outputs[0].shape.elements
    return decide(same) and not any(decide(figure != 0) for figure in node.work())


def with_cache(entries: Sequence[Entry]) -> Iterator[tuple[Entry, Node, Size]]:
    """Every leaf of inference that can have a cache, and how many numbers it holds for one position."""
    for entry in entries:
        node = entry.element
        if isinstance(node, Node) and node.runs:
            numbers = node.layer.cached(*node.shapes)
            if numbers is not None:
                yield entry, node, numbers


def reached(graph: Graph, start: Value) -> set[Value]:
    """The values that depend on one, in any iteration."""
    follow: dict[Value, list[Value]] = {}
    for before, after in (pair for element in graph.below() for pair in flow(element)):
        if before is not None and after is not None:
            follow.setdefault(before, []).append(after)
    found, ahead = {start}, [start]
    while ahead:
        new = [value for value in follow.get(ahead.pop(), ()) if value not in found]
        found.update(new)
        ahead += new
    return found


def flow(element: Element) -> list[tuple[Value | None, Value | None]]:
    """Pairs of a value and one that is computed from it by the element itself, not by those below it."""
    match element:
        case Node():
            return [(before, after) for before in element.inputs for after in element.outputs]
        case Loop():
            starts = [element.source, *[each.results[0] for each in element.iterations if each.results]]
            ends = [pair for each in element.iterations for pair in zip(each.results, element.results, strict=False)]
            return [(start, each.entry) for start in starts for each in element.iterations] + ends
        case Body():
            starts = [(start, inside) for start, inside, _ in element.carries if isinstance(start, Value)]
            again = [(after, inside) for _, inside, after in element.carries]
            return [*element.enters, *starts, *again, (element.result, element.collected)]
    return []
