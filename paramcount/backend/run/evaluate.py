"""Running an expanded network in JAX: one example, its leaves in the order of the tree; `vmap` makes the batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice, takewhile
from typing import Any

import jax
from jax import lax
from jax import numpy as jnp

from paramcount.backend.run.context import Context
from paramcount.backend.run.initialize import Tensors
from paramcount.errors import ParamcountError, quote
from paramcount.graph.tree import Element, Experts, Graph, Group, Leaf, Loop, Node, Pieces, Steps, leaves
from paramcount.layers._pattern import join_pieces, split_pieces
from paramcount.layers.layer import Shape

Watch = Callable[[int, Leaf, tuple[Any, ...]], None]
Scope = Callable[[int, Leaf], str]


def numbered(number: int, leaf: Leaf) -> str:
    """The scope that tells a leaf from all others."""
    return f"§{number}"


def by_path(number: int, leaf: Leaf) -> str:
    """The scope that a reader knows, the row's path."""
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

    `inputs` are arrays by name. Every leaf runs in a `scope` of JAX: `§n`, n being its number in `tree.leaves`.
    `watch` is called with the number, the leaf and its results whenever one is traced. Raises LayerError where a layer
    fails. A batch norm's new statistics are kept, but for those inside `scan` and `moe`.

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
    """The same on a batch: a function of params, buffers, inputs with a leading axis, and in training a key.

    Batch norms use the whole batch's statistics, on however many devices it lies.
    """

    def run(params: Tensors, buffers: Tensors, inputs: Mapping[str, Any], key: Any = None) -> tuple:
        context = Context(train, key, "batch")
        one = partial(evaluate, graph, params, buffers, context=context)
        return jax.vmap(one, axis_name="batch", out_axes=(0, None))(inputs)

    return run


class Run:
    """One evaluation of a tree, or of one body in it: the arrays at hand, and which leaf comes next."""

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
        self.number = number

    def elements(self, children: list[Element]) -> None:
        for element in children:
            if element.training_only:  # only marked in a graph for inference
                continue
            match element:
                case Node():
                    self.node(element)
                case Loop():
                    self.loop(element)
                case Pieces():
                    self.pieces(element)
                case Steps():
                    self.steps(element)
                case Experts():
                    self.mixture(element)
                case Group():
                    self.elements(element.children)

    def node(self, node: Node) -> None:
        while self.leaves[self.number].node is not node:  # past those that only run in training
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

    def loop(self, loop: Loop) -> None:
        results = [] if loop.source is None else [self.values[loop.source]]
        for each in loop.order():
            if each.entry is not None:
                self.values[each.entry] = results[0]
            if each.child is not None:
                self.elements([each.child])
            results = [None if value is None else self.values[value] for value in each.results]
        self.values.update((value, result) for value, result in zip(loop.results, results, strict=True) if value)

    def inside(self, values: dict[Any, Any], context: Context, params: Tensors, buffers: Tensors) -> Run:
        """The run of a body: it reads the values around it, and begins at the same leaf each time it is traced."""
        values = self.values | values
        return Run(self.leaves, values, params, dict(buffers), context, self.watch, self.scope, self.number)

    def pieces(self, group: Pieces) -> None:
        assert group.source and group.piece and group.result and group.output
        mapped = [(group.pattern, group.sizes, group.source, group.piece), *group.along]
        axis, context = self.context.inside("pieces")
        after = self.number

        def body(*pieces: Any) -> tuple[Any, Tensors]:
            nonlocal after
            given = {inside: piece for (_, _, _, inside), piece in zip(mapped, pieces, strict=True)}
            run = self.inside(given, context, self.params, self.buffers)
            run.elements(group.children)
            after = run.number
            return run.values[group.result], run.buffers

        pieces = [split_pieces(self.values[whole], pattern, sizes) for pattern, sizes, whole, _ in mapped]
        results, self.buffers = jax.vmap(body, axis_name=axis, out_axes=(0, None))(*pieces)
        self.number = after
        shape = Shape.of(*self.values[group.source].shape)  # of one token inside `moe`
        self.values[group.output] = join_pieces(results, group.pattern, group.sizes, shape)

    def steps(self, group: Steps) -> None:
        assert group.source and group.step and group.result and group.output
        steps = self.values[group.source]
        kind = steps.dtype if jnp.issubdtype(steps.dtype, jnp.floating) else jnp.float32
        after = self.number

        def body(carried: tuple, step: tuple[Any, Any]) -> tuple[tuple, Any]:
            nonlocal after
            index, value = step
            given = {group.step: value} | {inside: x for (_, inside, _), x in zip(group.carry, carried, strict=True)}
            run = self.inside(given, self.context.step(index), self.params, self.buffers)
            run.elements(group.children)
            after = run.number
            return tuple(run.values[following] for _, _, following in group.carry), run.values[group.result]

        starts = tuple(
            jnp.zeros(start.sizes, kind) if isinstance(start, Shape) else self.values[start]
            for start, _, _ in group.carry
        )
        _, results = lax.scan(body, starts, (jnp.arange(len(steps)), steps))
        self.number = after
        self.values[group.output] = results

    def mixture(self, group: Experts) -> None:
        """Each token through its experts' body, with the tensors of each gathered from the stacks of all."""
        assert group.source and group.entry and group.result
        router, *children, combine = group.children
        assert isinstance(router, Node) and isinstance(combine, Node)
        self.node(router)
        body = takewhile(lambda leaf: group in leaf.bodies, islice(self.leaves, self.number, None))
        owners = {path for leaf in body for path in (leaf.owner, leaf.tied)}
        stacks = [{path: each for path, each in tree.items() if path in owners} for tree in (self.params, self.buffers)]
        one_token, context = self.context.inside("token")
        one_choice, context = context.inside("choice")
        after = self.number

        def expert(token: Any, index: Any) -> Any:
            nonlocal after
            params, buffers = jax.tree.map(lambda stack: stack[index], stacks)
            run = self.inside({group.entry: token}, context, self.params | params, self.buffers | buffers)
            run.elements(children)
            after = run.number
            return run.values[group.result]

        def experts(token: Any, chosen: Any) -> Any:
            return jax.vmap(partial(expert, token), axis_name=one_choice)(chosen)

        tokens, chosen = self.values[group.source], self.values[router.outputs[1]]
        if group.source.shape.rank == 1:
            results = experts(tokens, chosen)
        else:  # a body sees a sequence of one token
            results = jax.vmap(experts, axis_name=one_token)(tokens[:, None], chosen)[:, :, 0]
        self.number = after
        self.values[combine.inputs[1]] = results
        self.node(combine)
