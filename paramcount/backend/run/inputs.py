"""The inputs of a network in JAX: abstract or random arrays of their shapes, and checks of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy
from jax.core import Tracer

from paramcount.errors import ArgumentError, quote
from paramcount.graph.tree import Graph, Leaf, leaves
from paramcount.layers.layer import Shape


def abstract(shape: Shape) -> jax.ShapeDtypeStruct:
    """An array of a shape, for tracing: int32 for tokens, otherwise float32.

    >>> abstract(Shape((128,), "tokens"))
    ShapeDtypeStruct(shape=(128,), dtype=int32)
    """
    return jax.ShapeDtypeStruct(shape.sizes, numpy.int32 if shape.layout == "tokens" else numpy.float32)


def input_shapes(graph: Graph) -> dict[str, jax.ShapeDtypeStruct]:
    """The abstract inputs of a network by name."""
    return {name: abstract(value.shape) for name, value in graph.inputs.items()}


class Tokens(NamedTuple):
    """The lookup of an input's tokens in a table with `rows` rows; `path` is the table's."""

    name: str
    path: str
    rows: int


def tokens_of(graph: Graph) -> list[Tokens]:
    """The inputs of a network that are looked up in tables."""
    found = []
    for leaf in leaves(graph):
        rows = leaf.node.layer.vocabulary
        if rows is not None:
            names = [name for name, value in graph.inputs.items() if value in leaf.node.inputs]
            found += [Tokens(name, leaf.path, rows) for name in names]
    return found


def check_tokens(lookups: list[Tokens], x: Any) -> None:
    """Raises ArgumentError for tokens without a row in their table; `x` holds the inputs by name, or the only one."""
    for name, path, rows in lookups:
        tokens = x.get(name) if isinstance(x, Mapping) else x
        if tokens is None or isinstance(tokens, Tracer):
            continue
        values = numpy.asarray(tokens)
        wrong = values[(values < 0) | (values >= rows)]
        if wrong.size:
            message = f"{quote(name)} holds the token `{wrong[0]}`, and {quote(path)} has rows for 0 to {rows - 1}"
            raise ArgumentError(message, "use a larger vocabulary, or replace unknown tokens by one within it")


def random_inputs(graph: Graph, leaves: list[Leaf], seed: int) -> dict[str, numpy.ndarray]:
    """Normal numbers; tokens are below the vocabulary of the embedding that reads them, or else below 2."""
    generator = numpy.random.default_rng(seed)
    made = {}
    for name, value in graph.inputs.items():
        if value.shape.layout == "tokens":
            vocabularies = [leaf.node.layer.vocabulary or 2 for leaf in leaves if value in leaf.node.inputs]
            made[name] = generator.integers(min(vocabularies, default=2), size=value.shape.sizes, dtype=numpy.int32)
        else:
            made[name] = generator.standard_normal(value.shape.sizes, numpy.float32)
    return made
