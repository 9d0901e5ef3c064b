"""The windows of a sweep counted by the workers of a Dask cluster that is there already."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import sys
import warnings
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from io import BytesIO
from threading import Lock
from typing import Any, cast

from paramcount.errors import ArgumentError, needs, quote
from paramcount.layers import find
from paramcount.layers.layer import Layer, registry
from paramcount.sweeps.result import Sweep
from paramcount.sweeps.space import GRID, Space
from paramcount.sweeps.walk import Walk

PATIENCE = 5  # seconds in which a scheduler answers, and has a worker
ABSENCE = 60  # seconds that a sweep goes on without any worker
RETRIES = 3  # of a window that failed, beside those whose worker was lost, which Dask itself counts again
AHEAD = 2  # windows in flight for each thread of a worker: they bound the memory, there and here
SHARES = 4  # windows of a grid for each thread at least, so that all of them count
FEWEST = 256  # points of such a window
ONE_AT_A_TIME = Lock()
LOGGERS = (
    "distributed",
    "distributed.client",
    "distributed.core",
    "distributed.comm",
    "distributed.batched",
    "tornado",
)


def parts_of_cluster(space: Space, where: str | None, chunk: int | None, address: str) -> Generator[Sweep, None, None]:
    """The windows of a sweep in their order, each counted by a worker of the scheduler at an address.

    They are those of a local sweep, and so are their rows. A window whose worker is lost is counted by another; few
    are under way at a time. Raises ArgumentError for a scheduler that does not answer, that has no workers, or whose
    workers have another version, and MissingPackageError without Dask.
    """
    if "://" not in address:
        raise ArgumentError(f"{quote(address)} is no address of a scheduler", hint="give tcp://HOST:PORT")
    with needs(address):
        from distributed import Client
    with quiet():
        refuse_silent(address)
        with warnings.catch_warnings(action="ignore"):  # of the versions of packages that we do not count with
            client = Client(address, timeout=PATIENCE, set_as_default=False)
        try:
            refuse_others(client)
            yield from results(client, space, where, chunk)
        finally:
            client.close(timeout=PATIENCE)


def refuse_silent(address: str) -> None:
    """Raise ArgumentError where no scheduler answers soon; a client that fails would go on trying."""
    from distributed import Security, rpc

    async def greet() -> None:
        async with rpc(
            address, timeout=PATIENCE, connection_args=Security().get_connection_args("client")
        ) as scheduler:
            await asyncio.wait_for(scheduler.identity(), PATIENCE)

    try:
        with ThreadPoolExecutor(1) as apart:  # a notebook's thread has a loop that runs
            apart.submit(asyncio.run, greet()).result()
    except (OSError, ValueError, TypeError) as error:
        hint = "start one with `dask scheduler`" if isinstance(error, OSError) else str(error)
        raise ArgumentError(f"no Dask scheduler answers at {quote(address)}", hint=hint) from None


def refuse_others(client: Any) -> None:
    """Raise ArgumentError where there are no workers, or one that would not count as this process does."""
    from paramcount import __version__

    def versions() -> tuple[str | None, tuple[int, ...]]:  # travels as code, to workers without the package too
        import sys

        try:
            import paramcount
        except ImportError:
            return None, sys.version_info[:2]
        return paramcount.__version__, sys.version_info[:2]

    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        message = f"the scheduler at {quote(client.scheduler.address)} has no workers"
        raise ArgumentError(message, hint="start some with `dask worker`") from None
    for worker, (version, python) in sorted(client.run(versions).items()):
        if version is None:
            hint = f"install paramcount {__version__} on every worker"
            raise ArgumentError(f"the worker at {quote(worker)} has no paramcount", hint=hint)
        if version != __version__:
            message = f"the worker at {quote(worker)} has paramcount {version}, and here is {__version__}"
            raise ArgumentError(message, hint="install the same version on every worker")
        if python != sys.version_info[:2]:
            shown = [".".join(map(str, each)) for each in (python, sys.version_info[:2])]
            message = f"the worker at {quote(worker)} runs Python {shown[0]}, and here is {shown[1]}"
            raise ArgumentError(message, hint="specs travel between equal versions of Python")


def results(client: Any, space: Space, where: str | None, chunk: int | None) -> Iterator[Sweep]:
    """The rows of each window, of which few are under way at a time."""
    from distributed import CancelledError, KilledWorker

    carried = client.submit(bytes, packed(space), pure=False)  # a task, so that losing its worker does not lose it
    threads = max(sum(client.nthreads().values()), 1)
    if chunk is None and not space.single:  # what is drawn at random depends on its window
        chunk = min(max(space.size // (SHARES * threads), FEWEST), GRID)
    most = AHEAD * threads
    waiting: deque[Any] = deque()
    windows = iter(space.windows(chunk))
    try:
        while True:
            while len(waiting) < most and (window := next(windows, None)):
                waiting.append(client.submit(part, carried, *window, where, chunk, retries=RETRIES, pure=False))
            if not waiting:
                return
            found = arrived(client, waiting.popleft())
            yield replace(found, space=space)
    except KilledWorker:
        message = "workers ended again and again while they counted the same rows"
        raise ArgumentError(message, hint="they may lack memory: let one count fewer rows at once") from None
    except CancelledError:
        raise ArgumentError("the Dask scheduler went away while its workers counted") from None
    except ModuleNotFoundError as error:
        raise ArgumentError(f"a worker lacks a package: {error}", hint="install it on every worker") from None


def arrived(client: Any, future: Any) -> Sweep:
    """A window's rows, once they are counted; raises ArgumentError where no worker is left to do so."""
    while True:
        try:
            return future.result(timeout=ABSENCE)
        except TimeoutError:
            if not client.nthreads():
                raise ArgumentError("the Dask scheduler has no workers left") from None


def packed(space: Space) -> bytes:
    """A space as bytes, which hold all that it was read from: the spec's files, and the sources of plugins."""
    import cloudpickle

    from paramcount import __version__

    plugins = {}
    for layer in registry.values():
        name = layer.__module__
        if getattr(sys.modules.get(name), "__file__", None) == name:  # a plugin's module is called as its file
            with open(name, "rb") as file:
                plugins[name] = file.read()

    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, type) and obj.__module__ in plugins and issubclass(obj, Layer):
                return find, (obj.kind,)
            return super().reducer_override(obj)

    stream = BytesIO()
    Pickler(stream).dump(space)
    return pickle.dumps((__version__, plugins, stream.getvalue()))


@lru_cache(maxsize=4)
def unpacked(carried: bytes) -> Space:
    """The space of some bytes; raises ArgumentError where another version made them."""
    from paramcount import __version__
    from paramcount.language.plugin import run

    version, plugins, space = pickle.loads(carried)
    if version != __version__:
        raise ArgumentError(f"a worker has paramcount {__version__}, and the sweep is of {version}")
    for name, source in plugins.items():
        if name not in sys.modules:
            run(os.path.basename(name), name, source)
    return pickle.loads(space)


@lru_cache(maxsize=4)
def walk_of(carried: bytes, chunk: int | None) -> Walk:
    """One for all windows of a worker: it learns what decides structure."""
    return Walk(unpacked(carried), chunk)


def part(carried: bytes, start: int, points: int, where: str | None, chunk: int | None) -> Sweep:
    """A window's rows, as a worker counts them; without the space, which is known where they go."""
    with ONE_AT_A_TIME:  # threads of a worker read a spec, and run its plugins, once
        walk = walk_of(carried, chunk)
    return replace(walk.kept(where, start, points), space=cast(Any, None))


@contextmanager
def quiet() -> Iterator[None]:
    """Without what Dask logs of lost connections, which errors say."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
