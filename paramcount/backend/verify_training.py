"""Proving the cost of training: one example's loss and its gradient, traced, against the count of every layer."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import jax
from jax import numpy as jnp

from paramcount.backend.context import Context
from paramcount.backend.evaluate import evaluate
from paramcount.backend.initialize import Tensors, shapes, tensors
from paramcount.backend.verification import Check, Difference
from paramcount.backend.walker import walk
from paramcount.gradient import gradient, unrolled
from paramcount.graph.tree import Graph, leaves
from paramcount.layer import Shape


def compare_training(graph: Graph) -> tuple[list[Check], list[Difference]]:
    """Compare the MACs of every leaf of a graph for training with those of the traced program, forward and backward.

    Raises LayerError where a layer does not run, UncountedError where an operation cannot be counted.
    """
    forward, backward = traced_macs(graph)
    costs = list(unrolled(gradient(graph)))
    differences = []
    agree = Counter()
    sides = (
        ("forward MACs in training", forward, [cost.forward for cost in costs]),
        ("backward MACs", backward, [cost.backward for cost in costs]),
    )
    for name, found, expected in sides:
        for number, (leaf, macs) in enumerate(zip(leaves(graph), expected, strict=True)):
            if macs == found[number]:
                agree[name] += 1
            else:
                differences.append(Difference(leaf.path, name, macs, found[number]))
        if found[None]:
            differences.append(Difference("outside of all layers", name, 0, found[None]))
    checks = []
    for name, found, expected in sides:
        checks.append(Check(f"{name} by layer", len(costs), agree[name], agree[name] == len(costs)))
        total, wanted = sum(found.values()), sum(expected)
        checks.append(Check(name, wanted, total, wanted == total))
    return checks, differences


def traced_macs(graph: Graph) -> tuple[Counter[int | None], Counter[int | None]]:
    """The MACs under each leaf's scope in the traced gradient, forward and backward; None is for those under none."""
    frozen = {(path, name) for path, each in tensors(graph).items() for name, tensor in each.items() if tensor.frozen}
    params, buffers = shapes(graph)
    trained, kept = split(params, frozen)
    inputs = {name: of(value.shape) for name, value in graph.inputs.items()}

    def loss(trained: Tensors, kept: Tensors, buffers: Tensors, inputs: dict[str, Any]) -> tuple[Any, Tensors]:
        tensors = {path: trained.get(path, {}) | kept.get(path, {}) for path in trained.keys() | kept.keys()}
        outputs, after = evaluate(graph, tensors, buffers, inputs, Context(train=True))
        losses = [cross_entropy(each) for each in outputs.values() if jnp.issubdtype(each.dtype, jnp.floating)]
        return sum(losses, jnp.zeros(())), after

    step = jax.value_and_grad(loss, has_aux=True)
    sides: tuple[Counter, Counter] = Counter(), Counter()
    for tally in walk(jax.make_jaxpr(step)(trained, kept, buffers, inputs)):
        found = re.findall(r"§(\d+)", tally.scope)
        sides["transpose(" in tally.scope][int(found[-1]) if found else None] += tally.macs
    return sides


def split(params: Tensors, frozen: set[tuple[str, str]]) -> tuple[Tensors, Tensors]:
    """The tensors that are trained, and the frozen ones."""
    trained, kept = {}, {}
    for path, each in params.items():
        for name, tensor in each.items():
            (kept if (path, name) in frozen else trained).setdefault(path, {})[name] = tensor
    return trained, kept


def cross_entropy(output: Any) -> Any:
    """Softmax cross entropy over the last axis, whose first class is the right one everywhere."""
    return -jnp.sum(jax.nn.log_softmax(jnp.atleast_1d(output))[..., 0])


def of(shape: Shape) -> Any:
    return jax.ShapeDtypeStruct(shape.sizes, jnp.int32 if shape.layout == "tokens" else jnp.float32)
