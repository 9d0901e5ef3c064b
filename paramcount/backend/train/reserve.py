"""A checkpoint belongs to one training run at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paramcount.backend.train.checkpoint import replaceable
from paramcount.errors import ArgumentError, quote
from paramcount.render.replacement import beside


@contextmanager
def reserved(checkpoint: Any) -> Iterator[None]:
    """Keep a checkpoint for this run, and remove what a run that was killed left beside it.

    Raises ArgumentError if another run keeps it. What is locked is a file beside the checkpoint; the system releases
    it when the process ends, however it ends. Where the system has no such locks, nothing is kept.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, reserved(f"{folder}/a.safetensors"):
    ...     with reserved(f"{folder}/a.safetensors"):
    ...         pass
    Traceback (most recent call last):
    paramcount.errors.ArgumentError: another training run writes `...a.safetensors`
    hint: give another name, or wait until it ends
    """
    try:
        import fcntl
    except ImportError:  # on Windows
        yield
        return
    target = replaceable(checkpoint)
    hidden = beside(str(target))
    path = Path(f"{hidden}.lock")
    with open(path, "ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            taken = not (path.exists() and os.path.samestat(os.fstat(lock.fileno()), path.stat()))  # removed meanwhile
        except BlockingIOError:
            taken = True
        except OSError:  # a file system without locks
            taken = False
        if taken:
            hint = "give another name, or wait until it ends"
            raise ArgumentError(f"another training run writes {quote(checkpoint)}", hint, argument="checkpoint")
        try:
            for left in target.parent.glob(f"{os.path.basename(hidden)}.*.partial"):
                left.unlink(missing_ok=True)
            yield
        finally:
            path.unlink(missing_ok=True)
