"""Parameters of a traced function: the array leaves of its arguments by path, and which of them are counted."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from jax.tree_util import tree_flatten_with_path

from paramcount.errors import ArgumentError

COLLECTIONS = ("params", "batch_stats")  # Flax's, which are not layers
STATISTICS = ("mean", "var", "running_mean", "running_var", "count", "ema")
BIASES = ("bias", "b")
NORMS = ("scale", "gamma", "beta", "offset")


class Parameter(NamedTuple):
    """An array leaf of an argument: its path in the tree, and whether it is one of the given `params`."""

    number: int
    path: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: Any
    counts: bool

    @property
    def module(self) -> tuple[str, ...]:
        """The path of the layer that it belongs to."""
        inside = self.path[:-1]
        return inside[1:] if inside[:1] and inside[0] in COLLECTIONS else inside

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def role(self) -> str:
        """By its name, else by its axes: with two or more it is a weight."""
        name = self.path[-1] if self.path else ""
        if "batch_stats" in self.path or name in STATISTICS or self.dtype.kind in "biu":
            return "buffer"
        if name in BIASES:
            return "bias"
        return "norm" if name in NORMS or len(self.shape) < 2 else "weight"


class Parameters:
    """The leaves of a call: `inputs` has a Parameter or None for each traced argument, `constants` for each constant.

    Raises ArgumentError if `params` is neither an argument, nor a part of one, nor among the constants.
    """

    def __init__(self, params: Any, args: tuple, kwargs: dict[str, Any], constants: Any) -> None:
        self.all: list[Parameter] = []
        own = {} if params is None else {id(leaf): path for path, leaf in leaves(params)}
        self.inputs: list[Parameter | None] = []
        for argument in (*args, *(kwargs[name] for name in sorted(kwargs))):
            for path, leaf, inside in parts(argument, params):
                if not inside and id(leaf) in own:
                    path, inside = own[id(leaf)], True
                self.inputs.append(self.parameter(path, leaf, inside))
        self.constants = [
            self.parameter(own[id(constant)], constant, True) if id(constant) in own else None for constant in constants
        ]
        if own and not self.counted:
            raise ArgumentError(
                "`params` is not an argument or a part of one, and the function uses none of its arrays",
                hint="trace(function, params, x, params=params)",
                argument="params",
            )

    @property
    def counted(self) -> list[Parameter]:
        return [each for each in self.all if each.counts]

    def parameter(self, path: tuple[str, ...], leaf: Any, counts: bool) -> Parameter | None:
        if not path and not counts:
            return None  # an array by itself has no name
        found = Parameter(len(self.all), path, tuple(leaf.shape), leaf.dtype, counts)
        self.all.append(found)
        return found

    def outputs(self, tree: Any) -> list[Parameter | None]:
        """For each result, the parameter with the same path and shape: the result is its gradient or next value."""
        known = {(each.path, each.shape): each for each in reversed(self.all) if each.path}
        return [
            next((known[key] for at in range(len(path)) if (key := (path[at:], leaf.shape)) in known), None)
            for path, leaf in leaves(tree)
        ]


def leaves(tree: Any) -> list[tuple[tuple[str, ...], Any]]:
    """The arrays of a tree with their paths."""
    return [(names(path), leaf) for path, leaf in tree_flatten_with_path(tree)[0] if is_array(leaf)]


def parts(argument: Any, params: Any) -> list[tuple[tuple[str, ...], Any, bool]]:
    """The arrays of an argument with their paths, which start at `params` for those inside it."""
    found = []
    for path, leaf in tree_flatten_with_path(argument, is_leaf=lambda each: params is not None and each is params)[0]:
        if params is not None and leaf is params:
            found += [(path, leaf, True) for path, leaf in leaves(params)]
        elif is_array(leaf):
            found.append((names(path), leaf, False))
    return found


def names(path: Any) -> tuple[str, ...]:
    """A JAX path as names, with an index appended to the name before it: `blocks[0]`."""
    found: list[str] = []
    for key in path:
        name = next((getattr(key, kind) for kind in ("key", "name", "idx") if hasattr(key, kind)), key)
        if isinstance(name, int) and found:
            found[-1] += f"[{name}]"
        else:
            found.append(str(name))
    if len(found) > 1 and found[-1] in ("value", "raw_value"):  # a Flax variable around the array
        found.pop()
    return tuple(found)


def is_array(leaf: Any) -> bool:
    return hasattr(leaf, "shape") and hasattr(leaf, "dtype")
