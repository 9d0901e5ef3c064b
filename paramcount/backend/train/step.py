"""One training step as a compiled function: the network on a batch, its loss, the gradient, the update."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy
from jax import numpy as jnp

from paramcount.backend.run.apply import named_inputs, single
from paramcount.backend.run.evaluate import batched
from paramcount.backend.run.initialize import Tensors, merged, split
from paramcount.errors import ArgumentError
from paramcount.graph.network import Network
from paramcount.graph.tree import Graph

Loss = Callable[[Any, Any], Any]


class State(NamedTuple):
    """Everything that a step changes. `params` are the trained parameters, `kept` the frozen ones.

    `earlier` are the parameters before the last updates, newest first, for stale gradients.
    """

    params: Tensors
    kept: Tensors
    buffers: Tensors
    optimizer: Any
    step: Any
    earlier: tuple[Tensors, ...] = ()

    @property
    def all_params(self) -> Tensors:
        return merged(self.params, self.kept)


class Step:
    """The training step of a network: `step(state, x, y)` returns the next state and the batch's loss.

    `loss(outputs, y)` returns a number, or one for each example, whose mean is taken. `transform(x)` makes the
    network's inputs from the batch's. Each step's random numbers depend only on the seed and the step's number.
    `placed` is the sharding of all results: replicated on each of the devices.
    """

    def __init__(
        self, graph: Graph, loss: Loss, optimizer: Any, transform: Callable | None, seed: int, placed: Any = None
    ) -> None:
        self.graph = graph
        self.loss = loss
        self.optimizer = optimizer
        self.transform = transform
        self.seed = seed
        self.compiled = jax.jit(self.run, donate_argnums=0, out_shardings=placed)
        self.several = jax.jit(self.run_each, donate_argnums=0)

    def start(self, params: Tensors, buffers: Tensors, staleness: int = 0) -> State:
        """The state before the first step, as a copy, since a step donates the memory of its state."""
        trained, kept = split(self.graph, params)
        state = State(trained, kept, buffers, self.optimizer.init(trained), jnp.int32(0), (trained,) * staleness)
        return jax.tree.map(partial(jnp.array, copy=True), state)

    def __call__(self, state: State, x: Any, y: Any) -> tuple[State, Any]:
        return self.compiled(state, x, y)

    def run(self, state: State, x: Any, y: Any) -> tuple[State, Any]:
        import optax

        read = state.earlier[-1] if state.earlier else state.params
        key = jax.random.fold_in(jax.random.key(self.seed), state.step)
        differentiate = jax.value_and_grad(self.loss_of, has_aux=True)
        (loss, buffers), gradient = differentiate(read, state.kept, state.buffers, x, y, key)

        def loss_at(params: Tensors) -> Any:  # for optimizers with a line search
            return self.loss_of(params, state.kept, state.buffers, x, y, key)[0]

        known = {"value": loss, "grad": gradient, "value_fn": loss_at}
        update = optax.with_extra_args_support(self.optimizer).update
        updates, optimizer = update(gradient, state.optimizer, state.params, **known)
        params: Any = optax.apply_updates(state.params, updates)
        earlier = (state.params, *state.earlier[:-1]) if state.earlier else ()
        return State(params, state.kept, buffers, optimizer, state.step + 1, earlier), loss

    def run_each(self, state: State, xs: Any, ys: Any) -> tuple[State, Any]:
        """A step on each of several batches, stacked along a new first axis; returns their losses too."""
        return jax.lax.scan(lambda state, batch: self.run(state, *batch), state, (xs, ys))

    def loss_of(self, params: Tensors, kept: Tensors, buffers: Tensors, x: Any, y: Any, key: Any) -> tuple[Any, Any]:
        inputs = named_inputs(self.graph, self.transform(x) if self.transform else x, batched=True)
        outputs, buffers = batched(self.graph, train=True)(merged(params, kept), buffers, inputs, key)
        return number(self.loss(single(outputs), y), "loss"), buffers


class Scorer:
    """The score of a network: the mean over examples of `metric(outputs, y)`, in inference.

    `settled` receives each batch's score while it is being computed, and may wait for it.
    """

    def __init__(
        self, network: Network, metric: Loss, transform: Callable | None, settled: Callable[[Any], Any]
    ) -> None:
        self.graph = network.graph()
        self.metric = metric
        self.transform = transform
        self.settled = settled
        self.compiled = jax.jit(self.run)

    def run(self, params: Tensors, buffers: Tensors, x: Any, y: Any) -> Any:
        inputs = named_inputs(self.graph, self.transform(x) if self.transform else x, batched=True)
        outputs, _ = batched(self.graph)(params, buffers, inputs)
        return number(self.metric(single(outputs), y), "metric")

    def __call__(self, state: State, batches: Any) -> float:
        """The score of all batches, each weighted by its examples."""
        params = state.all_params
        scores = [(self.settled(self.compiled(params, state.buffers, x, y)), length(x)) for x, y in batches]
        if not scores:
            raise ArgumentError("there is no batch to score")
        return sum(float(score) * size for score, size in scores) / sum(size for _, size in scores)


def number(value: Any, name: str) -> Any:
    """A loss or a score as one number, the mean of several. Raises ArgumentError if it is not numeric."""
    if not isinstance(value, (jax.Array, numpy.ndarray, numpy.number, int, float)) or jnp.iscomplexobj(value):
        hint = "return a real number, or an array with one for each example"
        raise ArgumentError(f"`{name}` must return numbers, not {type(value).__name__}", hint, argument=name)
    return jnp.mean(value)


def length(arrays: Any) -> int:
    """The number of examples in a batch. Raises ArgumentError if its arrays disagree."""
    lengths = sorted({len(leaf) if getattr(leaf, "ndim", 0) else 0 for leaf in jax.tree.leaves(arrays)})
    if len(lengths) != 1 or 0 in lengths:
        found = " and ".join(map(str, lengths)) or "none"
        hint = "their first axis counts the examples, at least one"
        raise ArgumentError(f"the arrays of a batch must have one common length, not {found}", hint)
    return lengths[0]
