"""A file that takes the place of another in one step, once it is complete."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from secrets import token_hex
from typing import Any

from paramcount.errors import ArgumentError, quote


class Replacement:
    """A binary `stream` beside the file at a path: `finish` puts it there, `discard` removes it.

    Until then the file at the path stays as it is. A pipe or a device, and the standard output by another name, are
    written directly. Raises ArgumentError where the file cannot be written.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self.target = "" if direct(path) else os.path.realpath(path)
        except ValueError:  # for a zero byte, or half of a surrogate pair
            raise ArgumentError(f"{quote(path)} cannot be written: it is not a path") from None
        if os.path.isdir(path):
            raise ArgumentError(f"{quote(path)} cannot be written: it is a folder")
        with reported(path):
            self.open()

    def open(self) -> None:
        if self.target:
            self.partial = f"{beside(self.target)}.{token_hex(8)}.partial"  # unique to a run and a host
        else:
            self.partial = self.path
        self.stream = open(self.partial, "wb")  # noqa: SIM115

    @contextmanager
    def again(self) -> Iterator[str]:
        """Begin once more: the path of what was written so far, which is gone afterwards."""
        if not self.target:
            raise ArgumentError(f"{quote(self.path)} cannot be read back to change the type of a column")
        before = self.partial
        self.stream.close()
        try:
            self.open()
            yield before
        finally:
            os.unlink(before)

    def finish(self) -> None:
        """Put the file in its place, once all of it is on the disk."""
        with reported(self.path):
            try:
                self.stream.flush()
                if self.target:
                    os.fsync(self.stream.fileno())
                    if os.path.exists(self.target):
                        os.chmod(self.partial, stat.S_IMODE(os.stat(self.target).st_mode))
                self.stream.close()
                if self.target:
                    os.replace(self.partial, self.target)
            except BaseException:  # Ctrl-C too
                self.discard()
                raise

    def discard(self) -> None:
        """Leave no trace of it."""
        with suppress(OSError):  # what is still buffered may fail again
            self.stream.close()
        if self.target:
            with suppress(FileNotFoundError):
                os.unlink(self.partial)


def beside(path: str) -> str:
    """How the paths of hidden files beside a file begin: short, however long its own name is."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{blake2b(os.fsencode(name), digest_size=8).hexdigest()}")


def direct(path: str) -> bool:
    """Whether a path is a pipe, a device or the standard output, which cannot be replaced."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            return not stat.S_ISDIR(found.st_mode)
        return os.path.samestat(found, os.fstat(1))
    except OSError:
        return False


@contextmanager
def reported(path: str) -> Iterator[None]:
    """Errors of the system as ArgumentError, about the file at a path."""
    try:
        yield
    except OSError as error:
        raise ArgumentError(f"{quote(path)} cannot be written: {error.strerror or error}") from None


def write(path: str, content: Any) -> None:
    """Replace a file by one with a content; raises ArgumentError where that cannot be written."""
    file = Replacement(path)
    try:
        with reported(path):
            file.stream.write(content)
        file.finish()
    finally:
        file.discard()
