"""Several processes, usually one per host, that train together and run the same program."""

from __future__ import annotations

import os
import socket
from time import monotonic, sleep

import jax

from paramcount.errors import ArgumentError, quote

PATIENCE = 60  # seconds in which all processes must have started


def join(coordinator: str, processes: int, process: int, patience: float = PATIENCE) -> None:
    """Join the processes that train together: afterwards JAX finds the devices of all of them.

    `coordinator` is HOST:PORT, where process 0 waits for the others and the others look for it, for `patience` seconds.
    Raises ArgumentError if the address is malformed, the process is not one of them, nothing listens at the address, or
    process 0 cannot listen there. If process 0 waits in vain, JAX aborts it.

    >>> join("localhost", 2, 0)
    Traceback (most recent call last):
    paramcount.errors.ArgumentError: the coordinator must be HOST:PORT, not `localhost`
    hint: e.g. 10.0.0.1:1234: the host of process 0, and a port that is free there
    """
    host, _, port = coordinator.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        hint = "e.g. 10.0.0.1:1234: the host of process 0, and a port that is free there"
        raise ArgumentError(f"the coordinator must be HOST:PORT, not {quote(coordinator)}", hint)
    if not 0 <= process < processes:
        hint = f"they are 0 to {processes - 1}" if processes > 1 else "the only one is 0"
        raise ArgumentError(f"process {process} is not one of {processes}", hint)
    if process:
        reach(host.strip("[]"), int(port), patience)
    else:
        listen(int(port))
    jax.distributed.initialize(coordinator, processes, process, initialization_timeout=round(patience))


def listen(port: int) -> None:
    """Raises ArgumentError if a port of this host cannot be opened; JAX would crash."""
    try:
        socket.create_server(("", port)).close()
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise ArgumentError(f"cannot listen on port {port}: {reason}", "choose another port") from error


def reach(host: str, port: int, patience: float) -> None:
    """Wait until a process listens on a port. Raises ArgumentError when `patience` runs out; JAX would abort."""
    end = monotonic() + patience
    while True:
        try:
            socket.create_connection((host, port), timeout=max(0.1, end - monotonic())).close()
            return
        except OSError as error:
            if monotonic() > end:
                hint = "start process 0 on that host, within a minute of the others"
                message = f"nothing listens at {quote(f'{host}:{port}')}: {error.strerror or error}"
                raise ArgumentError(message, hint) from error
        sleep(min(0.2, patience))
