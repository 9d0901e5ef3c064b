"""Ctrl-C: it ends the process at once, in the middle of an import too, except where files have to be put in order."""

from __future__ import annotations

# What `signal` is made of: Ctrl-C could fall into the longer import of that module.
import _signal as signal  # pyright: ignore[reportMissingImports]
import os
import sys

STOPPED = 130  # the exit code: 128 and the number of the signal, as in a shell
TO_END = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def leave_on_interrupt() -> None:
    """Let Ctrl-C end this process from now on, unless whoever started it has it ignored.

    Python's own KeyboardInterrupt can get lost: a module that is being imported may turn it into another exception.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


def leave(*_: object) -> None:
    try:
        os.write(2, b"stopped\n")  # no stream of Python's, which may be in the middle of writing
    finally:
        os._exit(STOPPED)


class Interruptible:
    """Work that Ctrl-C interrupts by a KeyboardInterrupt, so that it can put its files in order."""

    def __enter__(self) -> None:
        self.ours = signal.getsignal(signal.SIGINT) is leave
        if self.ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, *error: object) -> None:
        if self.ours:
            signal.signal(signal.SIGINT, leave)


class Stoppable:
    """Work that a process which is told to end leaves as after Ctrl-C, so that no file is left half written."""

    def __enter__(self) -> None:
        self.signals = [each for each in TO_END if signal.getsignal(each) == signal.SIG_DFL]
        for each in self.signals:
            signal.signal(each, stop)

    def __exit__(self, *error: object) -> None:
        for each in self.signals:
            signal.signal(each, signal.SIG_DFL)


def stop(number: int, _: object) -> None:
    sys.exit(128 + number)
