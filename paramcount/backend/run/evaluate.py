"""Running an expanded network in JAX: one example, its leaves in the order of the tree; `vmap` makes the batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import dropwhile, islice, takewhile
from typing import Any

import jax

from paramcount.backend.run.context import Context
from paramcount.backend.run.initialize import Tensors
from paramcount.errors import ParamcountError, quote
from paramcount.graph.runner import Runner
from paramcount.graph.tree import Body, Graph, Leaf, Node, leaves

Watch = Callable[[int, Leaf, tuple[Any, ...]], None]
Scope = Callable[[int, Leaf], str]


def numbered(number: int, leaf: Leaf) -> str:
    """A scope that identifies the leaf, for the walk over the traced program."""
    return f"§{number}"


def by_path(number: int, leaf: Leaf) -> str:
    """A scope for readers: the path of the leaf's row."""
    return leaf.path


class LayerError(ParamcountError):
    """A layer's forward computation failed; `path` is the layer's."""

    def __init__(self, path: str, error: Exception) -> None:
        reason = str(error).strip().partition("\n")[0]
        super().__init__(f"{quote(path)}: its computation failed: {type(error).__name__}: {reason}")
        self.path = path


def evaluate(
    graph: Graph,
    params: Tensors,
    buffers: Tensors,
    inputs: Mapping[str, Any],
    context: Context | None = None,
    watch: Watch | None = None,
    scope: Scope = numbered,
) -> tuple[dict[str, Any], Tensors]:
    """The outputs of one example by label, and the buffers afterwards, which training changes.

    `inputs` are arrays by name. Every leaf runs in a `scope` of JAX, by default `§n`, where n is its number in
    `tree.leaves`. `watch` is called with the number, the leaf and its results whenever a leaf is traced. Raises
    LayerError if a layer fails. The new statistics of batch norms are kept, except for those inside `scan` and `moe`.

    >>> from jax import numpy as jnp
    >>> from paramcount.backend.run.initialize import initialize
    >>> from paramcount.graph.network import Network
    >>> from paramcount.layers.dense import Dense
    >>> graph = Network([Dense(10)], input=3).graph()
    >>> outputs, buffers = evaluate(graph, *initialize(graph), {"input": jnp.ones(3)})
    >>> outputs["output"].shape
    (10,)
    """
    values = {value: inputs[name] for name, value in graph.inputs.items()}
    run = Run(list(leaves(graph)), values, params, dict(buffers), context or Context(), watch, scope)
    run.elements(graph.children)
    return {label: run.values[value] for label, value in graph.outputs.items()}, run.buffers


def batched(graph: Graph, train: bool = False) -> Callable[..., tuple[dict[str, Any], Tensors]]:
    """The same for a batch: a function of params, buffers, inputs with a leading axis, and in training a key.

    Batch norms use the statistics of the whole batch, even if it is spread over several devices.
    """

    def run(params: Tensors, buffers: Tensors, inputs: Mapping[str, Any], key: Any = None) -> tuple:
        context = Context(train, key, "batch")
        one = partial(evaluate, graph, params, buffers, context=context)
        return jax.vmap(one, axis_name="batch", out_axes=(0, None))(inputs)

    return run


class Run(Runner):
    """One evaluation of a tree, or of one body in it: the arrays so far, and the number of the next leaf."""

    def __init__(
        self,
        leaves: list[Leaf],
        values: dict[Any, Any],
        params: Tensors,
        buffers: Tensors,
        context: Context,
        watch: Watch | None,
        scope: Scope,
        number: int = 0,
    ) -> None:
        self.leaves = leaves
        self.values = values
        self.params = params
        self.buffers = buffers
        self.context = context
        self.watch = watch
        self.scope = scope
        self.number = self.after = number  # of the next leaf, and of the next after a body

    def node(self, node: Node) -> None:
        while self.leaves[self.number].node is not node:  # skips leaves that only run in training
            self.number += 1
        leaf = self.leaves[self.number]
        tensors = self.params.get(leaf.owner, {}) | self.buffers.get(leaf.owner, {})
        if node.tie and leaf.tied is not None:
            tensors["weight"] = self.params[leaf.tied][node.tie.param].T
        context = self.context.at(leaf.path)
        inputs = [self.values[value] for value in node.inputs]
        try:
            with jax.named_scope(self.scope(self.number, leaf)):
                results = node.layer.forward(tensors, *inputs, context=context)
            results = tuple(results) if isinstance(results, (tuple, list)) else (results,)
            if not all(hasattr(result, "shape") for result in results):
                raise TypeError("`forward` must return an array, or a tuple of arrays")
            self.values.update(zip(node.outputs, results, strict=True))
        except Exception as error:
            raise LayerError(leaf.path, error) from error
        if context.updates:
            self.buffers[leaf.owner] = self.buffers[leaf.owner] | context.updates
        if self.watch:
            self.watch(self.number, leaf, results)
        self.number += 1

    def body(self, body: Body) -> None:
        """All runs of a body: its form calls `once` for each."""
        self.after = self.number
        body.form.forward(body, self)
        self.number = self.after

    def once(
        self,
        body: Body,
        given: dict[Any, Any],
        context: Context,
        params: Tensors | None = None,
        buffers: Tensors | None = None,
    ) -> tuple[Any, ...]:
        """One run of a body on the given values of its inside: its result, the buffers, and what it carries on.

        It also reads the values around it, and begins at the same leaf whenever it is traced. `params` and `buffers`
        replace those of the same paths.
        """
        values = self.values | given
        tensors = self.params | (params or {}), self.buffers | (buffers or {})
        run = Run(self.leaves, values, *tensors, context, self.watch, self.scope, self.number)
        run.elements(body.children)
        self.after = run.number
        return run.values[body.result], run.buffers, *(run.values[carry.next] for carry in body.carries)

    def stacks(self, body: Body) -> tuple[Tensors, Tensors]:
        """The parameters and the buffers of the leaves of a body, including tied ones."""
        ahead = dropwhile(lambda leaf: body not in leaf.bodies, islice(self.leaves, self.number, None))
        inside = takewhile(lambda leaf: body in leaf.bodies, ahead)
        owners = {path for leaf in inside for path in (leaf.owner, leaf.tied)}
        params, buffers = (
            {path: each for path, each in tree.items() if path in owners} for tree in (self.params, self.buffers)
        )
        return params, buffers
