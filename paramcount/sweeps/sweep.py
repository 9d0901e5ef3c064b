"""Sweeps: many variants of a spec at once."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from paramcount.errors import ArgumentError
from paramcount.graph.network import Network
from paramcount.language.address import own_settings, with_own
from paramcount.language.language import SpecSyntax
from paramcount.language.load import syntax_of
from paramcount.language.variables import all_variables
from paramcount.layers.arguments import argument, file_path, whole_argument
from paramcount.layers.fields import Text
from paramcount.layers.layer import Item
from paramcount.sweeps.result import Sweep, read_condition
from paramcount.sweeps.space import GRID, Space
from paramcount.sweeps.walk import Walk

MOST_ROWS = 10**8  # of a result in Python, which holds them all: some 15 GB


def sweep(
    spec: str,
    /,
    variant: str | None = None,
    where: str | None = None,
    *,
    paired: bool = False,
    random: int | None = None,
    seed: int = 0,
    chunk: int | None = None,
    workers: int | None = None,
    dask: str | None = None,
    vars: Mapping[str, Any] | None = None,
    **variables: Any,
) -> Sweep:
    """Count every combination of the values of a spec's variables, each exactly as if it were counted alone.

    A variable takes a list, a range or an array of numbers, or a list of words, conditions or lists; a single value, or
    an expression as text, sets it for all variants. `vars={"depths[2]": range(4, 24)}` varies one entry of a list,
    `depths[*]` all of them; variables whose names have another meaning here, such as `seed`, stand there too. With
    `paired`, the first values of all variables make the first variant, and so on; `random` draws that many points, each
    variable independently. `where` keeps the valid rows for which an expression of the columns holds. Variants that are
    not valid networks are marked, and raise no error. `chunk` limits the points of one walk, `workers` the threads;
    `dask` is the address of a scheduler whose workers count the variants instead.

    >>> found = sweep("mobilenet_v2", width=[0.5, 1.0], resolution=[192, 224])
    >>> found.columns["params"].tolist()
    [1968680, 1968680, 3504872, 3504872]
    >>> found.where("macs < 250e6").columns["resolution"].tolist()
    [192, 224, 192]
    """
    space = space_of(spec, variant, all_variables(variables, vars), paired, random, seed)
    if where is None and space.size > MOST_ROWS:
        hint = f"at most {MOST_ROWS:,}: choose with `where`, draw with `random`, or use `paramcount sweep --output`"
        raise ArgumentError(f"{space.size:,} rows are too many to hold in memory", hint=hint)
    part, *parts = sweep_parts(space, where, chunk, workers, dask)
    return part.joined(*parts)


def space_of(
    spec: str | SpecSyntax,
    variant: str | None,
    variables: Mapping[str, Any],
    paired: bool = False,
    random: int | None = None,
    seed: int = 0,
) -> Space:
    """The points of a sweep over the variables of a spec, given by its file or name, or already read."""
    if isinstance(spec, (Network, Item)):
        hint = "write a spec, or count each size: `[count(build(width)) for width in widths]`"
        raise ArgumentError("a sweep varies the variables of a spec, and a network in Python has none", hint=hint)
    if not isinstance(spec, SpecSyntax):
        path, own = own_settings(file_path("a spec", spec))
        variables = with_own(own, variables)
        spec, given = syntax_of(path)
        variant = variant if variant is not None else given
    return Space(spec, variant, variables, paired, random, seed)


def sweep_parts(
    space: Space,
    where: str | None = None,
    chunk: int | None = None,
    workers: int | None = None,
    dask: str | None = None,
) -> Generator[Sweep, None, None]:
    """The windows of a sweep in order, a few at a time, each as a separate Sweep."""
    chunk = None if chunk is None else whole_argument("chunk", chunk)
    workers = None if workers is None else whole_argument("workers", workers)
    walk = Walk(space, chunk)
    if where is not None:
        read_condition(where, walk.columns)
    if dask is not None:
        from paramcount.sweeps.cluster import parts_of_cluster

        yield from parts_of_cluster(space, where, chunk, argument("dask", dask, Text()))
        return
    windows = space.windows(chunk)
    workers = min(workers or os.cpu_count() or 1, -(-space.size // (chunk or GRID)))

    def part(window: tuple[int, int]) -> Sweep:
        return walk.kept(where, *window)

    if workers <= 1:
        yield from map(part, windows)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque = deque()
        for window in windows:
            waiting.append(pool.submit(part, window))
            if len(waiting) >= workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
