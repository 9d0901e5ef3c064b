"""Applying a network to arrays in JAX: its inputs and tensors, checked against the declared shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy
from jax import numpy as jnp

from paramcount.backend.run.arrays import array_of
from paramcount.backend.run.context import Context
from paramcount.backend.run.evaluate import by_path, evaluate
from paramcount.backend.run.initialize import Tensors, shapes
from paramcount.backend.run.inputs import check_tokens, tokens_of
from paramcount.errors import ArgumentError, ShapeError, quote
from paramcount.graph.network import Network
from paramcount.graph.tree import Graph
from paramcount.layers.arguments import argument
from paramcount.layers.fields import Flag


def apply(
    network: Network,
    params: Tensors,
    x: Any,
    buffers: Tensors | None = None,
    *,
    train: bool = False,
    key: Any = None,
    axis_name: str | None = None,
) -> Any:
    """The outputs of a network for one example; see `Network.apply`."""
    train = argument("train", train, Flag())
    graph = network.graph(train)
    inputs = named_inputs(graph, x)
    check_tokens(tokens_of(graph), inputs)
    buffers = {} if buffers is None else buffers
    check_tensors(graph, params=params, buffers=buffers)
    outputs, after = evaluate(graph, params, buffers, inputs, Context(train, key, axis_name), scope=by_path)
    result = single(outputs)
    return (result, after) if train else result


def check_tensors(graph: Graph, **trees: Any) -> None:
    """Raises ArgumentError if a tensor of `params` or `buffers` is missing, and ShapeError if it has another shape."""
    hint = "`params, buffers = network.init()` gives both"
    for (kind, tree), declared in zip(trees.items(), shapes(graph), strict=True):
        if not isinstance(tree, Mapping):
            message = f"`{kind}` must be arrays by path and name, not {quote(type(tree).__name__)}"
            raise ArgumentError(message, hint, argument=kind)
        for path, each in declared.items():
            found = tree.get(path)
            for name, tensor in each.items():
                place = quote(f"{path}/{name}")
                if not isinstance(found, Mapping) or name not in found:
                    raise ArgumentError(f"`{kind}` lack {place}", hint, argument=kind)
                try:
                    shape = numpy.shape(found[name])
                except ValueError:  # lists of different lengths
                    raise ArgumentError(f"{place} is not an array", hint, argument=kind) from None
                if shape != tensor.shape:
                    raise ShapeError(f"{place} has shape {shape}, not {tensor.shape}")


def named_inputs(graph: Graph, x: Any, batched: bool = False) -> dict[str, Any]:
    """The arrays of a network's inputs by name, from one array if there is one input, with their shapes checked.

    With `batched` they have a leading axis. Raises ArgumentError for names, ShapeError for shapes and types.
    """
    if not isinstance(x, Mapping):
        if len(graph.inputs) > 1:
            names = ", ".join(map(quote, graph.inputs))
            raise ArgumentError("the network has several inputs", hint=f"give a mapping with {names}")
        x = {next(iter(graph.inputs)): x}
    if set(x) != set(graph.inputs):
        names = ", ".join(map(quote, graph.inputs))
        raise ArgumentError(f"the network's inputs are {names}, not {', '.join(map(quote, x))}")
    try:
        arrays = {name: jnp.asarray(array_of(x[name]) if is_foreign(x[name]) else x[name]) for name in graph.inputs}
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError("the network takes arrays of numbers", argument="x") from error
    for name, array in arrays.items():
        shape, tokens = graph.inputs[name].shape, graph.inputs[name].shape.layout == "tokens"
        wanted = (*array.shape[:1], *shape.sizes) if batched else shape.sizes
        if array.shape != wanted or (batched and not array.ndim):
            found, axes = array.shape[1:] if batched else array.shape, " after the batch" if batched else ""
            alike = not batched and found[1:] == shape.sizes
            hint = "the network takes one example: put `jax.vmap` around it" if alike else ""
            raise ShapeError(f"{quote(name)} has shape {found}{axes}, but the network takes {shape.sizes}", hint)
        if tokens and not jnp.issubdtype(array.dtype, jnp.integer):
            raise ShapeError(f"{quote(name)} must be tokens, as integers, not {array.dtype}")
        if not tokens and not jnp.issubdtype(array.dtype, jnp.floating):
            hint = "e.g. x / 255 for the bytes of pixels, or x.astype(float32)"
            raise ShapeError(f"{quote(name)} must be floating-point, not {array.dtype}", hint)
    return arrays


def is_foreign(value: Any) -> bool:
    """Whether a value is an array of another library than JAX; lists are not, since they may hold traced arrays."""
    return hasattr(value, "__array__") and not isinstance(value, jax.Array)


def single(outputs: dict[str, Any]) -> Any:
    """The output itself if there is only one, otherwise all of them by label."""
    return next(iter(outputs.values())) if len(outputs) == 1 else outputs
