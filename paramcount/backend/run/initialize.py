"""The tensors of a network: their declarations, their initial values, or only their shapes."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import jax
import numpy

from paramcount.errors import ArgumentError, quote
from paramcount.graph.tree import Graph, leaves
from paramcount.layers.layer import Param
from paramcount.numbers.arithmetic import native

Tensors = dict[str, dict[str, Any]]  # the path of the leaf that owns them -> by name


class Tensor(NamedTuple):
    """One tensor of a network: as its layer declares it, stacked if each of several experts has its own."""

    param: Param
    copies: tuple[int, ...]
    frozen: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.copies, *self.param.shape)

    @property
    def is_buffer(self) -> bool:
        return self.param.role == "buffer"


def tensors(graph: Graph) -> dict[str, dict[str, Tensor]]:
    """Every tensor once, under the path of the leaf that owns it, also if it is shared or tied."""
    found: dict[str, dict[str, Tensor]] = {}
    for leaf in leaves(graph):
        declared = leaf.node.params() if leaf.owner not in found else {}
        if declared:
            copies = tuple(body.copies for body in leaf.bodies if body.copies is not None)
            found[leaf.owner] = {name: Tensor(param, copies, leaf.node.frozen) for name, param in declared.items()}
    return found


def initialize(graph: Graph, seed: int = 0) -> tuple[Tensors, Tensors]:
    """The initial values of a network's parameters and, separately, of its buffers, as float32 arrays in JAX.

    Each tensor depends only on the seed, its path and its name, so its values do not depend on the folding of loops,
    nor on the rest of the network. Raises ArgumentError unless the seed is a whole number from 0 to 2^63 - 1.

    >>> from paramcount.graph.network import Network
    >>> from paramcount.layers.dense import Dense
    >>> params, buffers = initialize(Network([Dense(10)], input=784).graph())
    >>> params["dense0"]["weight"].shape, buffers
    ((784, 10), {})
    """
    seed = seed_of(seed)
    return jax.device_put(arranged(graph, lambda path, name, tensor: values(tensor, seed, f"{path}/{name}")))


def seed_of(given: Any) -> int:
    """A seed as a Python number; raises ArgumentError unless it is a whole number from 0 to 2^63 - 1."""
    seed = native(given)
    if type(seed) is not int or not 0 <= seed < 2**63:
        raise ArgumentError(f"the seed must be a whole number from 0 to 2^63 - 1, not {quote(given)}", argument="seed")
    return seed


def shapes(graph: Graph) -> tuple[Tensors, Tensors]:
    """The same two trees, of shapes for tracing; nothing is allocated."""
    return arranged(graph, lambda path, name, tensor: jax.ShapeDtypeStruct(tensor.shape, numpy.float32))


def arranged(graph: Graph, make: Callable[[str, str, Tensor], Any]) -> tuple[Tensors, Tensors]:
    """What `make` returns for each tensor, parameters and buffers separately."""
    params: Tensors = {}
    buffers: Tensors = {}
    for path, declared in tensors(graph).items():
        for name, tensor in declared.items():
            (buffers if tensor.is_buffer else params).setdefault(path, {})[name] = make(path, name, tensor)
    return params, buffers


def values(tensor: Tensor, seed: int, place: str) -> numpy.ndarray:
    """A tensor's initial values; its random numbers depend on the seed and on `place`, which is unique."""
    init = tensor.param.init
    if init in ("zeros", "ones"):
        return numpy.full(tensor.shape, init == "ones", numpy.float32)
    if init == "log_range":
        logarithms = numpy.log(numpy.arange(1, tensor.shape[-1] + 1, dtype=numpy.float32))
        return numpy.tile(logarithms, (*tensor.shape[:-1], 1))
    generator = numpy.random.Generator(numpy.random.SFC64((seed, int.from_bytes(place.encode()))))
    drawn = generator.standard_normal(tensor.shape, numpy.float32)
    drawn *= 0.02 if init == "normal" else prod(tensor.param.shape[:-1]) ** -0.5
    return drawn


def split(graph: Graph, params: Tensors) -> tuple[Tensors, Tensors]:
    """The tensors that are trained, and the frozen ones."""
    declared = tensors(graph)
    trained: Tensors = {}
    kept: Tensors = {}
    for path, each in params.items():
        for name, tensor in each.items():
            (kept if declared[path][name].frozen else trained).setdefault(path, {})[name] = tensor
    return trained, kept


def merged(first: Tensors, second: Tensors) -> Tensors:
    """Two trees of tensors as one."""
    return {path: first.get(path, {}) | second.get(path, {}) for path in {**first, **second}}
