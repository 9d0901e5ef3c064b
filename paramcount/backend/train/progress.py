"""The progress line of an epoch, by tqdm: rate, loss, time left. Silent if stderr is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sized
from time import perf_counter
from typing import Any

import numpy

from paramcount.errors import needs

REFRESH = 0.2  # seconds; showing a loss waits until the device has computed it


class Progress:
    """A line for one epoch, around its steps: `with progress: progress.advance(loss)`."""

    def __init__(self, shown: bool, epoch: int, epochs: int, batches: Any) -> None:
        self.bar: Any = None
        self.read = perf_counter()
        if not shown or sys.stderr is None:  # which is closed, and tqdm would write to it
            return
        with needs("a progress line"):
            from tqdm import tqdm
        total = len(batches) if isinstance(batches, Sized) else None
        self.bar = tqdm(total=total, desc=f"epoch {epoch} of {epochs}", unit="batch", leave=False, disable=None)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def advance(self, steps: int, losses: Any) -> None:
        """Count `steps` more steps as done, with their losses."""
        if self.bar is None or self.bar.disable:
            return
        now = perf_counter()
        if now - self.read > REFRESH:
            self.read = now
            self.bar.set_postfix(loss=f"{numpy.ravel(losses)[-1]:.4f}", refresh=False)
        self.bar.update(steps)
