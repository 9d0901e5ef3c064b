"""Which layer a parameter belongs to, and its role there: by its path, its axes, and what stands beside it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

COLLECTIONS = ("params", "batch_stats")  # Flax's, which are not layers
WEIGHTS = ("w", "weight", "weights", "kernel", "kernels")
BIASES = ("b", "bias", "biases")
NORMS = ("scale", "gamma", "beta", "offset")
AVERAGES = ("mean_ema", "var_ema")  # Haiku's modules of running statistics

Keys = tuple[Any, ...]


def layers_of(keys: Sequence[Keys], shapes: Sequence[tuple[int, ...]], counts: Sequence[bool]) -> list[Keys]:
    """The layer of each of the leaves of one argument: where it stands, or what its name says of a flat dict or list.

    >>> layers_of([("w1",), ("b1",), ("w2",), ("b2",)], [(4, 8), (8,), (8, 2), (2,)], [True] * 4)
    [('w1',), ('w1',), ('w2',), ('w2',)]
    >>> layers_of([(0, 0), (0, 1), (1, 0), (1, 1)], [(4, 8), (8,), (8, 2), (2,)], [True] * 4)
    [(0,), (0,), (1,), (1,)]
    """
    beside: dict[Keys, list[int]] = defaultdict(list)
    for number, each in enumerate(keys):
        beside[each[:-1]].append(number)
    found: list[Keys] = [each[:-1] for each in keys]
    for around, numbers in beside.items():
        matrices = [number for number in numbers if len(shapes[number]) > 1]
        if len(matrices) < 2:
            continue
        first: dict[Any, str] = {}  # the name of each part
        last = None
        for number in numbers:
            name = keys[number][-1]
            if isinstance(name, int):  # in a list, each matrix begins a layer
                last = number if last is None or number in matrices else last
                found[number] = (*around, keys[last][-1])
                continue
            part, role = parts_of(name)
            if part and (part.isdecimal() or not around or around[-1] in COLLECTIONS) and (role or counts[number]):
                found[number] = (*around, first.setdefault(part, name if part.isdecimal() else part))
    return found


def parts_of(name: str) -> tuple[str, str]:
    """What a name says beside the role, and the word for the role.

    >>> parts_of("w1"), parts_of("encoder_bias"), parts_of("head"), parts_of("kernel")
    (('1', 'w'), ('encoder', 'bias'), ('head', ''), ('', 'kernel'))
    """
    words = re.findall(r"[A-Za-z]+|\d+", name)
    known = (*WEIGHTS, *BIASES, *NORMS)
    roles = [word for word in words if word.lower() in known]
    return "_".join(word for word in words if word not in roles), roles[0].lower() if roles else ""


def role_of(keys: Keys, shape: tuple[int, ...], dtype: Any, siblings: Sequence[tuple[int, ...]]) -> str:
    """By its name, else by its axes and those of the leaves beside it: with two or more it is a weight.

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
    if role in BIASES:
        return "bias"
    if role in NORMS:
        return "norm"
    if len(shape) > 1:
        return "weight"
    beside = keys and isinstance(keys[-1], int) and any(len(each) > 1 for each in siblings)
    return "bias" if beside else "norm"


def names(keys: Keys) -> tuple[str, ...]:
    """A path as a report shows it, with an index appended to the name before it: `blocks[0]`.

    >>> names(("blocks", 0, "attend")), names((0, 1))
    (('blocks[0]', 'attend'), ('0[1]',))
    """
    found: list[str] = []
    for key in keys:
        if isinstance(key, int) and found:
            found[-1] += f"[{key}]"
        else:
            found.append(str(key))
    return tuple(found)
