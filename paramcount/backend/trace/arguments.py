"""The arrays among the arguments of a call: what is traced, and what the function has changed by its end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any, NamedTuple

import jax
import numpy
from jax.tree_util import GetAttrKey, tree_flatten, tree_flatten_with_path, tree_unflatten

from paramcount.backend.trace.roles import Attribute, Keys
from paramcount.errors import ArgumentError, quote

COMPILED = ("PjitFunction", "JitWrapped", "JitFn")  # what `jax.jit` and `nnx.jit` return

UNTRACED = ("O", "S", "U", "M", "m")  # kinds of NumPy's types that JAX does not have: objects, texts, dates


class Leaf(NamedTuple):
    """A traced array: its path, which begins with the number of its argument.

    `start` is the length of the part that leads to `params` itself, if the array is in it; `again` if that is not the
    first place where `params` stands.
    """

    keys: Keys
    value: Any
    start: int = 0
    again: bool = False


class Arguments:
    """The arguments of a call, taken apart into arrays, and put together again around the tracers of a trace.

    A Flax nnx module stands as its state. Such modules may share parts and change while the function runs, so all of
    them are split together, with the function's own, and looked at again afterwards. NumPy's scalars are passed on
    as they are, like Python's numbers, unless they are parameters.
    """

    def __init__(self, function: Callable[..., Any], args: tuple, kwargs: dict[str, Any], params: Any) -> None:
        self.function, held = unbound(function)
        self.sizes = len(held), len(args)
        self.names = sorted(kwargs)
        given = [*held, *args, *(kwargs[name] for name in self.names)]
        values, self.tree = tree_flatten(given, is_leaf=is_module)
        self.places = [place for place, value in enumerate(values) if is_module(value)]
        self.definition, states = split([values[place] for place in self.places])
        for place, state in zip(self.places, states, strict=True):
            values[place] = state
        found, self.opened = tree_flatten_with_path(tree_unflatten(self.tree, values))
        starts = [keys for keys, value in located(given, lambda each: each is params) if value is params]
        self.leaves: list[Leaf] = []
        self.numbers: dict[Keys, int] = {}  # of leaves, by their paths from the outermost
        self.values: list[Any] = []  # a Leaf where the value is traced
        for path, value in found:
            keys = keys_of(path)
            start = next((number for number, start in enumerate(starts) if keys[: len(start)] == start), None)
            if is_array(value) and (start is not None or not isinstance(value, numpy.generic)):
                check_sizes(value)
                value = Leaf(keys, value) if start is None else Leaf(keys, value, len(starts[start]), start > 0)
                self.numbers[keys] = len(self.leaves)
                self.leaves.append(value)
            self.values.append(value)

    def call(self, arrays: tuple[Any, ...]) -> tuple[Any, list[tuple[int | None, Any]]]:
        """The function's result on these arrays, and each array that it has changed, with the number of its leaf."""
        remaining = iter(arrays)
        opened = [next(remaining) if isinstance(value, Leaf) else value for value in self.values]
        values = self.tree.flatten_up_to(tree_unflatten(self.opened, opened))
        modules = merge(self.definition, [values[place] for place in self.places])
        for place, module in zip(self.places, modules, strict=True):
            values[place] = module
        given = tree_unflatten(self.tree, values)
        held, args = self.sizes
        named = dict(zip(self.names, given[held + args :], strict=True))
        result = self.function(*given[:held])(*given[held : held + args], **named)
        return result, self.changed(given, modules, arrays)

    def changed(self, given: Any, modules: list[Any], arrays: tuple[Any, ...]) -> list[tuple[int | None, Any]]:
        """The arrays in the arguments that were not there before, with the number of the leaf at that place."""
        states = {id(module): state for module, state in zip(modules, split(modules)[1], strict=True)}
        values, tree = tree_flatten(given, is_leaf=is_module)
        opened = tree_unflatten(tree, [states.get(id(value), value) for value in values])
        before = {id(each) for each in (*arrays, *self.values)}
        found = [(keys_of(path), value) for path, value in tree_flatten_with_path(opened)[0]]
        return [(self.numbers.get(keys), value) for keys, value in found if is_value(value) and id(value) not in before]


def unbound(function: Callable[..., Any]) -> tuple[Callable[..., Any], list[Any]]:
    """The nnx modules that a function is made of, and what makes the function of them again."""
    if type(function).__name__ in COMPILED and unbound(inner := function.__wrapped__)[1]:  # type: ignore[attr-defined]
        return unbound(inner)  # a module that changes must not be held by `jit`, which costs nothing
    if is_module(function):
        return lambda module: module, [function]
    if is_module(owner := getattr(function, "__self__", None)):
        return lambda module: MethodType(function.__func__, module), [owner]  # type: ignore[attr-defined]
    if isinstance(function, partial):
        inner, held = unbound(function.func)
        bound = [function.args, function.keywords]
        if held or any(map(is_module, tree_flatten(bound, is_leaf=is_module)[0])):
            return lambda args, keywords, *held: partial(inner(*held), *args, **keywords), [*bound, *held]
    return lambda: function, []


def is_module(value: Any) -> bool:
    """Whether a value is an object of Flax nnx: a module, an optimizer, a metric, a source of random keys."""
    nnx: Any = sys.modules.get("flax.nnx")
    return nnx is not None and isinstance(value, getattr(nnx, "Pytree", None) or nnx.Object)


def split(modules: list[Any]) -> tuple[Any, list[Any]]:
    """What the nnx modules are without their arrays, and the state of each; what several share is in the first."""
    if not modules:
        return None, []
    nnx: Any = sys.modules["flax.nnx"]
    definition, state = nnx.split(modules)
    return definition, [state.get(number, {}) for number in range(len(modules))]


def merge(definition: Any, states: list[Any]) -> list[Any]:
    if not states:
        return []
    nnx: Any = sys.modules["flax.nnx"]
    return nnx.merge(definition, nnx.State({number: state for number, state in enumerate(states) if state}))


def located(tree: Any, wanted: Callable[[Any], bool]) -> list[tuple[Keys, Any]]:
    """The leaves of a tree with their paths, where what is wanted and modules are leaves as well."""
    found = tree_flatten_with_path(tree, is_leaf=lambda each: wanted(each) or is_module(each))[0]
    return [(keys_of(path), value) for path, value in found]


def keys_of(path: Any) -> Keys:
    """A path of JAX as names and numbers; a Flax variable around an array is skipped."""
    keys = tuple(key_of(key) for key in path)
    return keys[:-1] if len(keys) > 1 and keys[-1] in ("value", "raw_value") else keys


def key_of(key: Any) -> Any:
    if isinstance(key, GetAttrKey):
        return Attribute(key.name)
    return next((getattr(key, kind) for kind in ("key", "name", "idx") if hasattr(key, kind)), str(key))


def is_array(leaf: Any) -> bool:
    """Whether a leaf is an array or stands for one; types such as `numpy.float32` have the same attributes."""
    if not (isinstance(getattr(leaf, "shape", None), tuple) and hasattr(leaf, "dtype")):
        return False
    return getattr(leaf.dtype, "kind", "key") not in UNTRACED


def is_value(leaf: Any) -> bool:
    """Whether a leaf is an array that a traced function can return."""
    return is_array(leaf) and isinstance(leaf, (jax.Array, numpy.ndarray, numpy.generic))


def check_sizes(array: Any) -> None:
    """Raises ArgumentError if a size of an array is not a number."""
    if not all(isinstance(size, int) for size in array.shape):
        shape = ", ".join(map(str, array.shape))
        hint = "trace it with numbers, once for each size that you want to know"
        raise ArgumentError(f"an array has the symbolic shape {quote(f'({shape})')}", hint=hint, argument="args")
