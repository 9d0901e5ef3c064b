"""What goes into a network in JAX: arrays of its inputs' shapes, abstract ones and random ones."""

from __future__ import annotations

import jax
import numpy

from paramcount.graph.tree import Graph, Leaf
from paramcount.layer import Shape


def abstract(shape: Shape) -> jax.ShapeDtypeStruct:
    """An array of a shape, for tracing: whole numbers for tokens, else float32.

    >>> abstract(Shape((128,), "tokens"))
    ShapeDtypeStruct(shape=(128,), dtype=int32)
    """
    return jax.ShapeDtypeStruct(shape.sizes, numpy.int32 if shape.layout == "tokens" else numpy.float32)


def input_shapes(graph: Graph) -> dict[str, jax.ShapeDtypeStruct]:
    """The abstract inputs of a network by name."""
    return {name: abstract(value.shape) for name, value in graph.inputs.items()}


def random_inputs(graph: Graph, leaves: list[Leaf], seed: int) -> dict[str, numpy.ndarray]:
    """Normal numbers; tokens below the vocabulary of the embedding that takes them, else below 2."""
    generator = numpy.random.default_rng(seed)
    made = {}
    for name, value in graph.inputs.items():
        if value.shape.layout == "tokens":
            vocabularies = [getattr(leaf.node.layer, "vocab", 2) for leaf in leaves if value in leaf.node.inputs]
            made[name] = generator.integers(min(vocabularies, default=2), size=value.shape.sizes, dtype=numpy.int32)
        else:
            made[name] = generator.standard_normal(value.shape.sizes, numpy.float32)
    return made
