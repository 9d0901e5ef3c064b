"""The command line: find the command, run it, and return its exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

from paramcount.errors import ArgumentError, ParamcountError, quote
from paramcount.render.terminal import complain

COMMANDS = (  # each a module of this folder with a function `run`; without a command, a spec is counted
    "verify",
    "measure",
    "trace",
    "train",
    "zoo",
    "sweep",
    "solve",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 if all is well, 1 if a check failed, 2 for wrong input."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except SystemExit as done:  # argparse, after --help or --version
        return done.code if isinstance(done.code, int) else 0
    except OSError as error:
        # The reader is gone, or the disk is full; what is still buffered must not fail again when Python exits.
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 0
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
        complain(f"the output cannot be written: {error.strerror}")
    except ParamcountError as error:
        complain(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        complain("stopped")
        return 130
    except RecursionError:
        complain("the input is nested too deeply\nhint: write it with fewer levels")
    except MemoryError:
        complain("out of memory\nhint: choose a smaller network or batch")
    return 2


def run(arguments: list[str]) -> int:
    first = arguments[0] if arguments else ""
    if first in COMMANDS:
        from importlib import import_module

        return import_module(f"paramcount.cli.{first}").run(arguments[1:])
    check_command(first)
    from paramcount.cli import count

    return count.run(arguments)


def check_command(word: str) -> None:
    """Raises ArgumentError for a first word that is not a spec, and closer to a command than to any spec."""
    from paramcount.errors.suggest import did_you_mean, nearest

    if word.startswith("-") or "/" in word or "." in word or not nearest(word, COMMANDS):
        return
    from paramcount.language.load import locate, shipped_specs

    try:
        locate(word)
    except ArgumentError:
        guess = nearest(word, [*COMMANDS, *shipped_specs()])
        if guess in COMMANDS:
            raise ArgumentError(f"there is no command or spec {quote(word)}", hint=did_you_mean(guess, "")) from None
