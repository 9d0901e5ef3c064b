"""`paramcount new`: a spec to begin with."""

from __future__ import annotations

import os

from paramcount.cli.options import Parser
from paramcount.errors import ArgumentError, quote

EXAMPLES = """\
The file is a small network that can be counted at once, with comments that
explain each part. An existing file is never replaced; with - for NAME.yaml, the
spec is printed.

examples:
  paramcount new my.yaml && paramcount my.yaml
  paramcount new my.yaml --tokens
"""
WHAT = {"image": "a convolutional network on images (default)", "tokens": "a language model", "sequence": "an encoder"}


def run(arguments: list[str]) -> int:
    """Write a starter to the file that the arguments name."""
    options = parser().parse(arguments)
    from paramcount.language.starter import starter

    text = starter(options.layout)
    if options.file == "-":
        print(text, end="")
        return 0
    write(options.file, text)
    print(f"wrote {options.file}: `paramcount {shell(options.file)}` counts it")
    return 0


def write(path: str, text: str) -> None:
    """Write a new file; raises ArgumentError if it exists or cannot be written."""
    folder, name = os.path.split(path)
    stem, ending = os.path.splitext(name)
    if ending not in (".yaml", ".yml"):
        kept = stem if ending in (".json", ".py", ".toml", ".txt") else name
        meant = os.path.join(folder, f"{'my' if kept in ('', '.yaml', '.yml') else kept}.yaml")
        hint = f"write `paramcount new {shell(meant)}`"
        raise ArgumentError(f"{quote(path)} is not the name of a .yaml file", hint=hint)
    if os.path.lexists(path):
        raise ArgumentError(f"{quote(path)} already exists", hint="choose another name, or remove it")
    if folder and not os.path.isdir(folder):
        raise ArgumentError(f"there is no folder {quote(folder)}", hint=f"`mkdir -p {shell(folder)}` makes it")
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a path"
        raise ArgumentError(f"{quote(path)} cannot be written: {reason}") from None


def shell(path: str) -> str:
    """A path as a shell takes it."""
    from shlex import quote

    return quote(path)


def parser() -> Parser:
    from paramcount.language.starter import LAYOUTS

    parser = Parser(
        rule="one file at a time",
        prog="paramcount new",
        usage="paramcount new NAME.yaml [--image | --tokens | --sequence]",
        description="Write a small spec to start from.",
        epilog=EXAMPLES,
    )
    parser.add_argument("file", metavar="NAME.yaml", help="the file, which must not exist yet; - prints the spec")
    layouts = parser.add_mutually_exclusive_group()
    for layout in LAYOUTS:
        layouts.add_argument(
            f"--{layout}", dest="layout", action="store_const", const=layout, default="image", help=WHAT[layout]
        )
    return parser
