"""The windows of a sweep, counted by the workers of a running Dask cluster."""

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

PATIENCE = 5  # seconds to wait for a scheduler's answer, and for its first worker
ABSENCE = 60  # seconds that a sweep waits without any worker
RETRIES = 3  # of a failed window; one whose worker was lost is counted again by Dask itself
AHEAD = 2  # windows in flight for each thread of a worker, which bounds the memory on both sides
SHARES = 4  # windows of a grid for each thread at least, so that no thread is idle
FEWEST = 256  # points of such a window at least
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

    The rows are those of a local sweep. A window whose worker is lost is counted by another; only a few are in flight
    at a time. Raises ArgumentError if the scheduler does not answer, has no workers, or has workers of another version,
    and MissingPackageError if Dask is not installed.
    """
    if "://" not in address:
        raise ArgumentError(f"{quote(address)} is not the address of a scheduler", hint="give tcp://HOST:PORT")
    with needs(address):
        from distributed import Client
    with quiet():
        refuse_silent(address)
        with warnings.catch_warnings(action="ignore"):  # about versions of packages that counting does not use
            client = Client(address, timeout=PATIENCE, set_as_default=False)
        try:
            refuse_others(client)
            yield from results(client, space, where, chunk)
        finally:
            client.close(timeout=PATIENCE)


def refuse_silent(address: str) -> None:
    """Raise ArgumentError if no scheduler answers in time; a client that fails would keep trying."""
    from distributed import Security, rpc

    async def greet() -> None:
        async with rpc(
            address, timeout=PATIENCE, connection_args=Security().get_connection_args("client")
        ) as scheduler:
            await asyncio.wait_for(scheduler.identity(), PATIENCE)

    try:
        with ThreadPoolExecutor(1) as apart:  # a notebook's thread already runs an event loop
            apart.submit(asyncio.run, greet()).result()
    except (OSError, ValueError, TypeError) as error:
        hint = "start one with `dask scheduler`" if isinstance(error, OSError) else str(error)
        raise ArgumentError(f"no Dask scheduler answers at {quote(address)}", hint=hint) from None


def refuse_others(client: Any) -> None:
    """Raise ArgumentError if there are no workers, or if one has another version of paramcount or Python."""
    from paramcount import __version__

    def versions() -> tuple[str | None, tuple[int, ...]]:  # sent as code, to workers without the package too
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
            raise ArgumentError(f"paramcount is not installed on the worker at {quote(worker)}", hint=hint)
        if version != __version__:
            message = f"the worker at {quote(worker)} has paramcount {version}, but this process has {__version__}"
            raise ArgumentError(message, hint="install the same version on every worker")
        if python != sys.version_info[:2]:
            shown = [".".join(map(str, each)) for each in (python, sys.version_info[:2])]
            message = f"the worker at {quote(worker)} runs Python {shown[0]}, but this process runs {shown[1]}"
            raise ArgumentError(message, hint="use the same version of Python on every worker")


def results(client: Any, space: Space, where: str | None, chunk: int | None) -> Iterator[Sweep]:
    """The rows of each window; only a few windows are in flight at a time."""
    from distributed import CancelledError, KilledWorker

    carried = client.submit(bytes, packed(space), pure=False)  # a task, so that it survives the loss of its worker
    threads = max(sum(client.nthreads().values()), 1)
    if chunk is None and not space.single:  # random draws depend on the window
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
        message = "workers died repeatedly while counting the same rows"
        raise ArgumentError(message, hint="they may be out of memory: use a smaller `chunk`") from None
    except CancelledError:
        raise ArgumentError("the Dask scheduler was lost while its workers were counting") from None
    except ModuleNotFoundError as error:
        raise ArgumentError(f"a package is missing on a worker: {error}", hint="install it on every worker") from None


def arrived(client: Any, future: Any) -> Sweep:
    """A window's rows, once they are counted; raises ArgumentError if no worker is left to count them."""
    while True:
        try:
            return future.result(timeout=ABSENCE)
        except TimeoutError:
            if not client.nthreads():
                raise ArgumentError("the Dask scheduler has no workers left") from None


def packed(space: Space) -> bytes:
    """A space as bytes, together with everything it was read from: the spec's files and the sources of plugins."""
    import cloudpickle

    from paramcount import __version__

    plugins = {}
    for layer in registry.values():
        name = layer.__module__
        if getattr(sys.modules.get(name), "__file__", None) == name:  # a plugin's module is named after its file
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
    """The space in packed bytes; raises ArgumentError if another version packed them."""
    from paramcount import __version__
    from paramcount.language.plugin import run

    version, plugins, space = pickle.loads(carried)
    if version != __version__:
        raise ArgumentError(f"a worker has paramcount {__version__}, but the sweep was started by {version}")
    for name, source in plugins.items():
        if name not in sys.modules:
            run(os.path.basename(name), name, source)
    return pickle.loads(space)


@lru_cache(maxsize=4)
def walk_of(carried: bytes, chunk: int | None) -> Walk:
    """One walk for all windows of a worker, since it learns what determines the structure."""
    return Walk(unpacked(carried), chunk)


def part(carried: bytes, start: int, points: int, where: str | None, chunk: int | None) -> Sweep:
    """A window's rows, counted on a worker; without the space, which the receiver has."""
    with ONE_AT_A_TIME:  # the threads of a worker read a spec, and run its plugins, only once
        walk = walk_of(carried, chunk)
    return replace(walk.kept(where, start, points), space=cast(Any, None))


@contextmanager
def quiet() -> Iterator[None]:
    """Silence Dask's logs of lost connections, which are reported as errors."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
