"""What the standard output can show: how wide it is, whether it takes Unicode, whether it takes colour."""

import os
import shutil
import sys
from contextlib import suppress
from typing import TextIO

from paramcount.errors import visible

USED = "×·–−→…█▏▎▍▌▋▊▉"  # beyond ASCII, in tables
ASCII = str.maketrans(
    {"×": "x", "·": "*", "–": "-", "−": "-", "→": "->", "…": "~", "█": "#"}
    | dict.fromkeys("▏▎▍", "")
    | dict.fromkeys("▌▋▊▉", "#")
)


def width() -> int:
    """Columns of the terminal; 80 if there is none."""
    return max(20, shutil.get_terminal_size((80, 24)).columns)


def encoding(stream: TextIO | None = None) -> str:
    """The encoding of the standard output or another stream, or ASCII if that cannot show a table."""
    name = getattr(stream or sys.stdout, "encoding", None) or "ascii"
    try:
        USED.encode(name)
    except (UnicodeError, LookupError):
        return "ascii"
    return name


def interactive() -> bool:
    """Whether the standard output is a terminal, rather than a file or a pipe."""
    return sys.stdout is not None and sys.stdout.isatty()


def colour() -> bool:
    """Whether to use colour: NO_COLOR turns it off and FORCE_COLOR on, otherwise only a terminal has it."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return interactive() and os.environ.get("TERM") != "dumb"


def written(text: str, encoding: str) -> str:
    """The text, with characters that the encoding lacks replaced or escaped."""
    if encoding == "ascii":
        text = text.translate(ASCII)
    return text.encode(encoding, "backslashreplace").decode(encoding)


def safe(text: str) -> str:
    """A text in a format, as the standard output can have it; a terminal gets no control characters."""
    lines = map(visible, text.split("\n")) if interactive() else [text]
    return written("\n".join(lines), encoding())


def progress(text: str = "") -> None:
    """Show a line that the next one replaces, on the standard error if that is a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        with suppress(OSError):
            print(f"\r\x1b[K{written(text, encoding(sys.stderr))}", end="", file=sys.stderr, flush=True)


def complain(text: str) -> None:
    """Print to the standard error, which may be closed or full, or lack Unicode."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(written("\n".join(map(visible, text.split("\n"))), encoding(sys.stderr)), file=sys.stderr)


def fail(text: str) -> None:
    """Print an error."""
    complain(f"error: {text}")


def warn(text: str) -> None:
    """Print a warning."""
    complain(f"warning: {text}")
