"""Parameters of a traced function: the array leaves of its arguments by path, and which of them are counted."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy
from jax.tree_util import tree_flatten, tree_flatten_with_path

from paramcount.backend.trace.arguments import Leaf, is_array, is_module, keys_of, split
from paramcount.backend.trace.roles import Keys, layers_of, names, role_of
from paramcount.errors import ArgumentError

RANDOM = "rngs"
STATES = ("BatchStat", "RngState", "Cache", "Intermediate")  # nnx variables that are not parameters


class Parameter(NamedTuple):
    """An array leaf of an argument: its path in the tree, and whether it is one of the given `params`."""

    number: int
    keys: Keys
    module: tuple[str, ...]  # the path of the layer that it belongs to
    role: str
    shape: tuple[int, ...]
    dtype: Any
    counts: bool

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def placed(self) -> bool:
        """Whether it is of a layer, unlike data: an argument may be a dict of images and labels."""
        return self.counts or bool(self.module)


class Parameters:
    """The leaves of a call: `inputs` has a Parameter or None for each of them, `constants` for each constant.

    The given `params` say which of them count. They are an argument or a part of one, known by its place, or else
    the same arrays, each of which counts in one place. Raises ArgumentError if the function has none of them.
    """

    def __init__(self, params: Any, leaves: Sequence[Leaf], constants: Sequence[Any]) -> None:
        own, self.states = leaves_of(params)
        self.all: list[Parameter] = []
        if any(leaf.start for leaf in leaves):
            paths = [leaf.keys[leaf.start :] if leaf.start and not leaf.again else None for leaf in leaves]
        else:
            paths = matched(own, leaves)
        there = {id(leaf.value) for leaf, path in zip(leaves, paths, strict=True) if path is not None}
        held = matched_constants([each for each in own if id(each[1]) not in there], constants)
        if own and not any(path is not None for path in (*paths, *held)):
            raise ArgumentError(
                "`params` is not an argument or a part of one, and the function uses none of its arrays",
                hint="trace(function, params, x, params=params)",
                argument="params",
            )
        given = [(path, leaf.value) for path, leaf in zip(paths, leaves, strict=True) if path is not None]
        given += [(path, value) for path, value in zip(held, constants, strict=True) if path is not None]
        counted = iter(self.described(given, counts=True))
        self.inputs: list[Parameter | None] = [None if path is None else next(counted) for path in paths]
        self.constants = [None if path is None else next(counted) for path in held]
        models = {
            leaf.keys[: len(leaf.keys) - len(path)]
            for leaf, path in zip(leaves, paths, strict=True)
            if path is not None
        }
        for (_, start, named), rest in others(leaves, paths, models if own else None).items():
            found = self.described([(leaves[n].keys[start:], leaves[n].value) for n in rest], counts=False)
            modules = {each.module for each in self.counted}
            for number, each in zip(rest, found, strict=True):
                if each.keys:  # an array by itself has no name
                    self.inputs[number] = each if named or each.module in modules else each._replace(module=())
        named = [each for each in (*self.constants, *self.inputs) if each and each.keys]
        named.sort(key=lambda each: not each.counts)
        self.known: dict[Keys, list[Parameter]] = defaultdict(list)  # by their paths, those that count first
        self.ends: dict[Keys, list[Parameter]] = defaultdict(list)  # by all ends of them
        for each in named:
            self.known[each.keys].append(each)
            for start in range(1, len(each.keys)):
                self.ends[each.keys[start:]].append(each)

    @property
    def counted(self) -> list[Parameter]:
        return [each for each in self.all if each.counts]

    def described(self, leaves: Sequence[tuple[Keys, Any]], counts: bool) -> list[Parameter]:
        """A Parameter for each of the leaves of one tree."""
        keys, shapes = [each for each, _ in leaves], [tuple(value.shape) for _, value in leaves]
        layers = layers_of(keys, shapes, counts)
        beside: dict[Keys, dict[str, tuple[int, ...]]] = defaultdict(dict)
        for each, shape in zip(keys, shapes, strict=True):
            beside[each[:-1]][str(each[-1]) if each else ""] = shape
        found = []
        for (each, value), shape, layer in zip(leaves, shapes, layers, strict=True):
            role = role_of(each, shape, value.dtype, beside[each[:-1]])
            role = "buffer" if id(value) in self.states else role
            if RANDOM in layer:  # a source of random keys is a part of the layer that draws from it
                layer = layer[: layer.index(RANDOM)]
            module = names(layer)
            found.append(Parameter(len(self.all) + len(found), each, module, role, shape, value.dtype, counts))
        self.all += found
        return found

    def result(self, keys: Keys, shape: tuple[int, ...]) -> Parameter | None:
        """The parameter whose gradient or next value a result is: it has the same path, if it has one, and axes.

        A gradient may have further axes in front, one for each example or output. Where the paths begin differently,
        as of a part that a function returns by itself, their ends tell if they do so of one parameter alone.
        """
        for start in range(len(keys)):
            for each in self.known.get(keys[start:], ()):
                if shape[len(shape) - len(each.shape) :] == each.shape:
                    return each
        for start in range(len(keys)):
            alike = [each for each in self.ends.get(keys[start:], ()) if each.shape == shape]
            if alike:
                return alike[0] if len(alike) == 1 else None
        return None

    @property
    def layers(self) -> dict[Parameter, Parameter]:
        """For each part of an optimizer's state the counted parameter with the same path, at its end, and shape."""
        ends = {(each.keys, each.shape): each for each in self.counted}
        found = {}
        for state in self.all:
            paths = (state.keys[start:] for start in range(1, len(state.keys)))
            layer = next((ends[keys, state.shape] for keys in paths if (keys, state.shape) in ends), None)
            if layer and not state.counts:
                found[state] = layer
        return found


def others(leaves: Sequence[Leaf], paths: Sequence[Keys | None], models: set[Keys] | None) -> dict[Any, list[int]]:
    """The leaves that do not count, by where their paths begin, and whether they belong to a model.

    They do if they are beside its parameters, as running statistics are: their paths begin in the same way. Without
    `models` everything does.
    """
    found: dict[Any, list[int]] = defaultdict(list)
    for number, (leaf, path) in enumerate(zip(leaves, paths, strict=True)):
        if path is None:
            start = next((each for each in models or () if each and leaf.keys[: len(each)] == each), None)
            begins = leaf.start or len(start or leaf.keys[:1])
            found[leaf.keys[:begins], begins, start is not None or models is None].append(number)
    return found


def matched(own: list[tuple[Keys, Any]], leaves: Sequence[Leaf]) -> list[Keys | None]:
    """For each leaf its path in `params`, if it is one of those arrays: rather where its own path ends alike.

    Of the two paths the shorter one is kept."""
    left: dict[int, list[Keys]] = defaultdict(list)
    for keys, value in own:
        left[id(value)].append(keys)
    found: list[Keys | None] = [None] * len(leaves)
    for alike in (True, False):
        for number, leaf in enumerate(leaves):
            paths = left.get(id(leaf.value), [])
            keys = next((keys for keys in paths if not alike or leaf.keys[-len(keys) :] == keys), None)
            if keys is not None and found[number] is None:
                inside = leaf.keys[1:]
                found[number] = inside if inside and keys[-len(inside) :] == inside else keys
                paths.remove(keys)
    return found


def matched_constants(own: list[tuple[Keys, Any]], constants: Sequence[Any]) -> list[Keys | None]:
    """For each constant its path in `params`; JAX copies arrays of NumPy, which are known by what is in them."""
    left = list(own)
    found: list[Keys | None] = []
    for constant in constants:
        each = next((each for each in left if each[1] is constant or same(each[1], constant)), None)
        found.append(each[0] if each else None)
        if each:
            left.remove(each)
    return found


def same(array: Any, constant: Any) -> bool:
    """Whether a constant is the copy of an array of NumPy."""
    if not (isinstance(array, numpy.ndarray) and isinstance(constant, numpy.ndarray)) or array.shape != constant.shape:
        return False
    return numpy.array_equal(array.astype(constant.dtype), constant)


def leaves_of(tree: Any) -> tuple[list[tuple[Keys, Any]], set[int]]:
    """The arrays of a tree with their paths, and which of them Flax nnx says to be no parameters, by identity."""
    if is_module(tree):
        tree = split([tree])[1][0]
    found = [(keys_of(path), leaf) for path, leaf in tree_flatten_with_path(tree)[0] if is_array(leaf)]
    nnx: Any = sys.modules.get("flax.nnx")
    if nnx is None:
        return found, set()
    kinds = tuple(getattr(nnx, name) for name in STATES if hasattr(nnx, name))
    variables = tree_flatten(tree, is_leaf=lambda each: isinstance(each, nnx.Variable))[0]
    others = [leaf for each in variables if isinstance(each, kinds) for leaf in tree_flatten(each)[0]]
    return found, {id(leaf) for leaf in others}
