"""Proving the cost of training: the loss of one example and its gradient are traced and compared with the count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import jax
from jax import numpy as jnp

from paramcount.backend.prove.steps import Steps
from paramcount.backend.prove.verification import Check, Difference
from paramcount.backend.run.context import Context
from paramcount.backend.run.evaluate import LayerError, evaluate
from paramcount.backend.run.initialize import Tensors, merged, shapes, split
from paramcount.backend.run.inputs import input_shapes
from paramcount.backend.trace.walker import UncountedError, leaf_number, walk
from paramcount.cost.backward import gradient, unrolled
from paramcount.cost.count import count
from paramcount.graph.freeze import training_graph
from paramcount.graph.network import Network
from paramcount.graph.tree import Graph, leaves


def compare_training(network: Network, freeze: Sequence[str] = ()) -> tuple[list[Check], list[Difference]]:
    """Compare the MACs of a training step with those of the traced program, forward and backward, leaf by leaf.

    Raises ParamcountError if the network cannot be counted.
    """
    report = count(network, train=True, freeze=freeze)
    graph = training_graph(network, freeze)
    try:
        traced = traced_macs(graph)
    except LayerError as error:
        reason = str(error.__cause__).partition("\n")[0]
        return [], [Difference(error.path, "its computation in training", "to run", f"an error: {reason}")]
    except UncountedError as error:
        return [], [Difference(network.name, "MACs in training", "known operations", error.message)]
    every, costs = list(leaves(graph)), list(unrolled(gradient(graph)))
    steps = Steps(graph)
    forward = [steps.forward_macs(number) for number in range(len(every))]
    moved = [leaf.path for leaf, cost, macs in zip(every, costs, forward, strict=True) if cost.forward != macs]
    less = sum(cost.forward for cost in costs) - sum(forward)
    sides = (
        ("forward MACs in training", report.macs - less, forward, traced[0]),
        ("backward MACs", report.backward_macs, [cost.backward for cost in costs], traced[1]),
    )
    checks: list[Check] = []
    differences: list[Difference] = []
    for name, total, expected, found in sides:
        pairs = enumerate(zip(every, expected, strict=True))
        compared = [(i, leaf, macs) for i, (leaf, macs) in pairs if leaf.node not in graph.unused]
        wrong = [Difference(leaf.path, name, macs, found[i]) for i, leaf, macs in compared if macs != found[i]]
        if found[None]:
            wrong.append(Difference(network.name, f"{name} outside of all layers", 0, found[None]))
        differences += wrong
        checks.append(Check(f"{name} by layer", len(compared), len(compared) - len(wrong), not wrong))
        checks.append(Check(name, total, sum(found.values()), total == sum(found.values())))
    if moved:
        note = "equal in every step, so JAX computes them once, before the loop: " + ", ".join(moved)
        checks.append(Check("scan", len(moved), len(moved), True, note))
    return checks, differences


def traced_macs(graph: Graph) -> tuple[Counter[int | None], Counter[int | None]]:
    """The MACs of each leaf in the traced gradient, forward and backward; None is for those outside of all leaves."""
    params, buffers = shapes(graph)
    trained, kept = split(graph, params)

    def loss(trained: Tensors, kept: Tensors, buffers: Tensors, inputs: dict[str, Any]) -> tuple[Any, Tensors]:
        outputs, after = evaluate(graph, merged(trained, kept), buffers, inputs, Context(train=True))
        losses = [cross_entropy(each) for each in outputs.values() if jnp.issubdtype(each.dtype, jnp.floating)]
        return sum(losses, jnp.zeros(())), after

    step = jax.value_and_grad(loss, has_aux=True)
    sides: tuple[Counter, Counter] = Counter(), Counter()
    for operation in walk(jax.make_jaxpr(step)(trained, kept, buffers, input_shapes(graph))):
        sides["transpose(" in operation.scope][leaf_number(operation.scope)] += operation.macs
    return sides


def cross_entropy(output: Any) -> Any:
    """The softmax cross entropy over the last axis, with the first class as the target."""
    return -jnp.sum(jax.nn.log_softmax(jnp.atleast_1d(output))[..., 0])
