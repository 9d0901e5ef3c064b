"""The command line: find the command, run it, and return its exit code."""

from __future__ import annotations

import sys

from paramcount.cli import COMMANDS
from paramcount.cli.interrupt import STOPPED, leave_on_interrupt


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 if all is well, 1 if a check failed, 2 for wrong input.

    Without arguments it takes those of the process, which Ctrl-C then ends.
    """
    if arguments is None:
        leave_on_interrupt()  # before anything else, so that nearly all imports come after it
    import errno
    import os

    from paramcount.errors import ManyErrors, ParamcountError
    from paramcount.render.terminal import complain, fail

    try:
        return written(sys.argv[1:] if arguments is None else list(arguments))
    except OSError as error:
        # The reader is gone, or the disk is full; what is still buffered must not fail again when Python exits.
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 0
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
        fail(f"the output cannot be written: {error.strerror}")
    except ParamcountError as error:
        several = error.errors if isinstance(error, ManyErrors) else [error]
        for each in several[: ManyErrors.shown]:
            fail(str(each))
        if len(several) > ManyErrors.shown:
            complain(f"and {len(several) - ManyErrors.shown} more")
        return error.exit_code
    except KeyboardInterrupt:
        complain("stopped")
        return STOPPED
    except RecursionError:
        fail("the input is nested too deeply\nhint: write it with fewer levels")
    except MemoryError:
        fail("out of memory\nhint: choose a smaller network or batch")
    return 2


def written(arguments: list[str]) -> int:
    """The exit code, once everything that was printed is written."""
    try:
        code = run(arguments)
    except SystemExit as done:  # argparse, after --help or --version
        code = done.code if isinstance(done.code, int) else 0
    if sys.stdout is not None:
        sys.stdout.flush()
    return code


def run(arguments: list[str]) -> int:
    first = arguments[0] if arguments else ""
    if first in COMMANDS:
        from importlib import import_module

        return import_module(f"paramcount.cli.{first}").run(arguments[1:])
    if first and not (first.startswith("-") or {"/", ".", ":", "@"} & set(first)):
        check_command(first, [word for word in arguments[1:] if not word.startswith("-")])
    from paramcount.cli import count

    return count.run(arguments)


def check_command(word: str, others: list[str]) -> None:
    """Raises ArgumentError for a first word that is not a spec, and rather meant as a command."""
    from paramcount.errors import ArgumentError, quote
    from paramcount.language.load import locate, shipped_specs

    try:
        locate(word)
    except ArgumentError:
        from paramcount.cli import guesses
        from paramcount.errors.suggest import did_you_mean, nearest

        near = nearest(word, [*COMMANDS, *shipped_specs()])
        meant = near if near in COMMANDS else guesses.command(word, next(iter(others), "mlp"))
        if meant or (others and not near):
            commands = f"the commands are {', '.join(COMMANDS)}; `paramcount zoo` shows the shipped specs"
            hint = did_you_mean(meant, commands)
            raise ArgumentError(f"there is no command or spec {quote(word)}", hint=hint) from None
