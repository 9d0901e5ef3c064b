"""Several processes, mostly one on each host, that train together with the same program."""

from __future__ import annotations

import os
import socket
from time import monotonic, sleep

import jax

from paramcount.errors import ArgumentError, quote

PATIENCE = 60  # seconds until all processes must be there


def join(coordinator: str, processes: int, process: int, patience: float = PATIENCE) -> None:
    """Join the processes that train together: afterwards JAX finds the devices of all of them.

    `coordinator` is HOST:PORT, where process 0 waits for the others and the others look for it, for `patience` seconds.
    Raises ArgumentError for an address that is none, for a process that is not among them, where nobody listens, and
    where process 0 cannot listen. Where process 0 waits in vain, JAX aborts it.

    >>> join("localhost", 2, 0)
    Traceback (most recent call last):
    paramcount.errors.ArgumentError: the coordinator is HOST:PORT, not `localhost`
    hint: e.g. 10.0.0.1:1234: the host of process 0, and a port that is free there
    """
    host, _, port = coordinator.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        hint = "e.g. 10.0.0.1:1234: the host of process 0, and a port that is free there"
        raise ArgumentError(f"the coordinator is HOST:PORT, not {quote(coordinator)}", hint)
    if not 0 <= process < processes:
        hint = f"they are 0 to {processes - 1}" if processes > 1 else "the only one is 0"
        raise ArgumentError(f"process {process} is not one of {processes}", hint)
    if process:
        reach(host.strip("[]"), int(port), patience)
    else:
        listen(int(port))
    jax.distributed.initialize(coordinator, processes, process, initialization_timeout=round(patience))


def listen(port: int) -> None:
    """Raises ArgumentError where nobody can listen at a port of this host; JAX would crash."""
    try:
        socket.create_server(("", port)).close()
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise ArgumentError(f"nobody can listen at the port {port}: {reason}", "choose another one") from error


def reach(host: str, port: int, patience: float) -> None:
    """Wait until somebody listens at a port. Raises ArgumentError when patience is at its end; JAX would abort."""
    end = monotonic() + patience
    while True:
        try:
            socket.create_connection((host, port), timeout=max(0.1, end - monotonic())).close()
            return
        except OSError as error:
            if monotonic() > end:
                hint = "start process 0 on that host, within a minute of the others"
                message = f"nobody listens at {quote(f'{host}:{port}')}: {error.strerror or error}"
                raise ArgumentError(message, hint) from error
        sleep(min(0.2, patience))
