"""Freezing parts of a network, which are chosen by the paths of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paramcount.errors import ArgumentError, quote
from paramcount.graph.network import Network
from paramcount.graph.tree import Body, Element, Graph, Loop, indices_label, iteration_paths, join


def training_graph(network: Network, freeze: Sequence[str] = ()) -> Graph:
    """The tree for training, with all that a pattern matches frozen.

    A pattern is matched with the paths of rows: `*` stands for anything, `?` for one character, and what is below a
    row is frozen with it. `block[3]` is one iteration of a loop. Raises ArgumentError for a pattern without a row.
    """
    if not freeze:
        return network.graph(training=True)
    graph = network.expand(training=True)
    if unmatched(graph, freeze) and any("[" in pattern for pattern in freeze):
        graph = network.expand(training=True, fold=False)
    wrong = unmatched(graph, freeze)
    if wrong:
        hint = "the rows' paths are in the first column of the table; `--depth` opens groups"
        raise ArgumentError(f"no row to freeze is called {quote(wrong[0])}", hint=hint, argument="freeze")
    for pattern in freeze:
        for element, path, stem in rows(graph.children, ""):
            if matches(pattern, path, stem):
                for each in element.below():
                    each.frozen = True
    return graph


def unmatched(graph: Graph, freeze: Sequence[str]) -> list[str]:
    """The patterns that match no row."""
    found = list(rows(graph.children, ""))
    return [pattern for pattern in freeze if not any(matches(pattern, path, stem) for _, path, stem in found)]


def matches(pattern: str, path: str, stem: str) -> bool:
    """Whether a pattern matches a row's path, or the loop's that it is iterations of; brackets hold iterations."""
    from fnmatch import fnmatchcase

    literal = pattern.replace("[", "[[]")
    return fnmatchcase(path, literal) or (bool(stem) and fnmatchcase(stem, literal))


def rows(children: Sequence[Element], path: str) -> Iterator[tuple[Element, str, str]]:
    """Every row's element, its path, and the path of its loop if it is iterations of one."""
    for element in children:
        yield from below(element, join(path, element.name), "")


def below(element: Element, path: str, stem: str) -> Iterator[tuple[Element, str, str]]:
    if isinstance(element, Loop):
        for each in element.iterations:
            if each.child is not None:
                _, own = iteration_paths(element, each, path, path, indices_label(each.indices))
                yield from below(each.child, own, path)
        return
    if not isinstance(element, Body):
        yield element, path, stem
    yield from rows(element.inside(), path)
