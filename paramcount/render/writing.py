"""The formats by name and by the endings of files, and how a sheet gets into one; formats are loaded when used."""

from __future__ import annotations

import os

from paramcount.errors import ArgumentError, quote
from paramcount.render.sheet import Sheet

FORMATS = {  # each a module of this folder with a function `render(sheet)`, and the ending of its files
    "table": ".txt",
    "json": ".json",
    "csv": ".csv",
    "markdown": ".md",
    "latex": ".tex",
    "html": ".html",
}
NAMED = {  # what other formats are called, or which one serves
    **dict.fromkeys(("md", "github", "pipe", "gfm"), "markdown"),
    **dict.fromkeys(("tex", "booktabs"), "latex"),
    **dict.fromkeys(("txt", "text", "plain", "pretty", "ascii", "grid"), "table"),
    **dict.fromkeys(("htm", "web"), "html"),
    **dict.fromkeys(("excel", "xlsx", "xls", "tsv", "spreadsheet"), "csv"),
    **dict.fromkeys(("yaml", "yml", "jsonl", "dict"), "json"),
}
ALSO = {  # other endings, and the one that we write
    ".markdown": ".md",
    ".mdown": ".md",
    ".latex": ".tex",
    ".htm": ".html",
    ".text": ".txt",
    ".table": ".txt",
    ".tsv": ".csv",
    ".xls": ".csv",
    ".xlsx": ".csv",
    ".ods": ".csv",
    ".jsonl": ".json",
}


def rendered(sheet: Sheet, form: str) -> str:
    """A sheet as text in one of FORMATS, without a line's end; raises ArgumentError for another format.

    >>> rendered(Sheet("LeNet", (), (), (), ("one example",), dict), "table")
    'LeNet\\n\\none example'
    """
    if not isinstance(form, str) or form not in FORMATS:
        from paramcount.errors.suggest import did_you_mean, one_of

        meant = NAMED.get(form.lower().removeprefix(".")) if isinstance(form, str) else None
        hint = did_you_mean(meant, one_of(form, FORMATS))
        raise ArgumentError(f"unknown format {quote(form)}", hint=hint, argument="format")
    if form == "table":
        from paramcount.render.table import render

        return render(sheet, colour=False)
    from importlib import import_module

    return import_module(f"paramcount.render.{form}").render(sheet)


def format_of(path: str, *others: str) -> str | None:
    """The format of a file by its ending, None for one of the `others`; raises ArgumentError for any other ending."""
    ending = os.path.splitext(path)[1].lower()
    for form, own in FORMATS.items():
        if ending == own:
            return form
    if ending in others:
        return None
    endings = " ".join([*FORMATS.values(), *others])
    meant = ALSO.get(ending)
    hint = f"did you mean {quote(os.path.splitext(path)[0] + meant)}? the endings are {endings}" if meant else endings
    what = f"the ending {quote(ending)} of {quote(path)} is unknown" if ending else f"{quote(path)} has no ending"
    raise ArgumentError(what, hint=hint)


def write(path: str | os.PathLike[str], sheet: Sheet) -> None:
    """Write a sheet to a file in the format of its ending; what was there stays until all of it is written.

    Raises ArgumentError for an unknown ending, and where the file cannot be written.
    """
    from paramcount.render.replacement import write as replace

    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"path must be the path of a file, not {quote(path, repr)}", argument="path")
    name = os.fsdecode(path)
    form = format_of(name) or "table"
    if form == "table":
        from paramcount.render.table import whole

        text = whole(sheet)
    else:
        text = rendered(sheet, form)
    replace(name, f"{text}\n".encode())
