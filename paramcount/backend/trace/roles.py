"""Which layer a parameter belongs to, and its role there: by its path, its axes, and what stands beside it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

COLLECTIONS = ("params", "batch_stats")  # Flax's, which are not layers
WEIGHTS = ("w", "weight", "weights", "kernel", "kernels")
BIASES = ("b", "bias", "biases")
NORMS = ("scale", "gamma", "beta", "offset")
ROLES = (*WEIGHTS, *BIASES, *NORMS)
AVERAGES = ("mean_ema", "var_ema")  # Haiku's modules of running statistics

Keys = tuple[Any, ...]  # a path in a tree: names, and whole numbers for places in lists


class Attribute(str):
    """The name of an attribute in a path: what stands beside it is in one layer, as its class says."""


def layers_of(keys: Sequence[Keys], shapes: Sequence[tuple[int, ...]], counts: bool) -> list[Keys]:
    """The layer of each of the leaves of one tree: what it stands in, or, in flat dicts and lists, what its name says.

    `counts` says that all of them are parameters, whatever they are called.

    >>> layers_of([("w1",), ("b1",), ("w2",), ("b2",)], [(4, 8), (8,), (8, 2), (2,)], True)
    [('w1',), ('w1',), ('w2',), ('w2',)]
    >>> layers_of([(0, 0), (0, 1), (1, 0), (1, 1)], [(4, 8), (8,), (8, 2), (2,)], True)
    [(0,), (0,), (1,), (1,)]
    """
    found = [each[1:-1] if each[:1] and each[0] in COLLECTIONS else each[:-1] for each in keys]
    beside: dict[Keys, list[int]] = defaultdict(list)
    for number, each in enumerate(keys):
        if each:  # an array by itself has no name
            beside[each[:-1]].append(number)
    for numbers in beside.values():
        if isinstance(keys[numbers[0]][-1], Attribute):
            continue
        around = found[numbers[0]]
        matrices = [number for number in numbers if len(shapes[number]) > 1]
        if any(isinstance(keys[number][-1], int) for number in numbers):
            for number in numbers if len(matrices) > 1 else ():  # each matrix of a list begins a layer
                first = max((each for each in matrices if each <= number), default=matrices[0])
                found[number] = (*around, keys[first][-1])
            continue
        labels: dict[str, str] = {}
        for number in (*matrices, *numbers):
            part, role = parts_of(str(keys[number][-1]))
            if (role or counts) if not around else (role and part.isdecimal() and len(matrices) > 1):
                label = str(keys[number][-1]) if not part or part.isdecimal() else part
                found[number] = (*around, labels.setdefault(part, label))
    return found


def parts_of(name: str) -> tuple[str, str]:
    """What a name says beside the role, and the word for the role.

    >>> parts_of("w1"), parts_of("layer1_bias"), parts_of("head"), parts_of("kernel")
    (('1', 'w'), ('layer1', 'bias'), ('head', ''), ('', 'kernel'))
    """
    role, rest = "", []
    for word in re.split(r"[\W_]+", name):
        letters = word.rstrip("0123456789")
        if letters.lower() in ROLES:
            role = role or letters.lower()
            word = word[len(letters) :]
        rest += [word] if word else []
    return "_".join(rest), role


def role_of(keys: Keys, shape: tuple[int, ...], dtype: Any, siblings: Mapping[str, tuple[int, ...]]) -> str:
    """By its name, else by its axes and those of the leaves beside it: with two or more it is a weight.

    `siblings` are the axes of all leaves there by name, among which the matrices `a` and `b` of LoRA are a pair.

    What a framework keeps among running statistics is a buffer, as are keys of random numbers and counters: an
    integer by itself is no more a weight than the two that make up a key.
    """
    name = str(keys[-1]) if keys else ""
    kind = getattr(dtype, "kind", "key")
    counter = kind in "iu" and (shape == () or (shape[-1:] == (2,) and dtype.name == "uint32"))
    averaged = any(str(each).endswith(AVERAGES) for each in keys[:-1])
    if "batch_stats" in keys or averaged or kind in ("key", "b") or counter:
        return "buffer"
    role = parts_of(name)[1]
    first = name[:-1] + ("a" if name.endswith("b") else "A")
    if role in BIASES and not (first in siblings and len(shape) > 1):
        return "bias"
    if role in NORMS:
        return "norm"
    if len(shape) > 1:
        return "weight"
    beside = keys and isinstance(keys[-1], int) and any(len(each) > 1 for each in siblings.values())
    return "bias" if beside else "norm"


def names(keys: Keys) -> tuple[str, ...]:
    """A path as a report shows it, with an index appended to the name before it: `blocks[0]`.

    Haiku's names are paths, in which `~` stands for a module made by another one's constructor.

    >>> names(("blocks", 0, "attend")), names((0, 1)), names(("mlp/~/linear_0",))
    (('blocks[0]', 'attend'), ('0[1]',), ('mlp', 'linear_0'))
    """
    found: list[str] = []
    for key in keys:
        if isinstance(key, int) and found:
            found[-1] += f"[{key}]"
        else:
            found += [name for name in str(key).split("/") if name not in ("", "~")]
    return tuple(found)
