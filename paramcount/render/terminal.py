"""What the standard output can show: how wide it is, whether it takes Unicode, whether it takes colour."""

import os
import shutil
import sys
from typing import TextIO

from paramcount.errors import visible

USED = "×·–…█▏▎▍▌▋▊▉"  # beyond ASCII, in tables
ASCII = str.maketrans(
    {"×": "x", "·": "*", "–": "-", "…": "~", "█": "#"} | dict.fromkeys("▏▎▍", "") | dict.fromkeys("▌▋▊▉", "#")
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
    """Whether to use colour: only on a terminal, and not if the user has turned it off."""
    return interactive() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def written(text: str, encoding: str) -> str:
    """The text, with characters that the encoding lacks replaced or escaped."""
    if encoding == "ascii":
        text = text.translate(ASCII)
    return text.encode(encoding, "backslashreplace").decode(encoding)


def complain(text: str) -> None:
    """Print to the standard error, which may be closed, or lack Unicode."""
    if sys.stderr is not None:
        print(written("\n".join(map(visible, text.split("\n"))), encoding(sys.stderr)), file=sys.stderr)
