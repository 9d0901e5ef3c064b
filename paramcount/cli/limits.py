"""Limits on figures as options: `--max-params 3.5M`, `--min-macs 1G`, `--max-bytes 14MiB`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from paramcount.language.expect import Limit, refuse_crossed
from paramcount.numbers.amounts import amount

BOUNDS = {"--max-": "at_most", "--min-": "at_least"}


def spellings(figure: str) -> list[str]:
    """A figure as options name it; `bytes` alone are those of the parameters."""
    return [figure.replace("_", "-"), *(["bytes"] if figure == "param_bytes" else [])]


def add_limits(parser: argparse.ArgumentParser, figures: Iterable[str], words: Iterable[str]) -> None:
    """Add the options for limits on figures that are among the words of a command line; all would be slow to add."""
    given = {word.partition("=")[0] for word in words}
    for figure in figures:
        for start in BOUNDS:
            options = [start + each for each in spellings(figure)]
            if given & set(options) - set(parser._option_string_actions):
                parser.add_argument(*options, metavar="N", help=argparse.SUPPRESS)


def limits_in(options: argparse.Namespace, figures: Iterable[str]) -> list[Limit]:
    """The limits that options set; raises ArgumentError for what is not an amount."""
    found = []
    for figure in figures:
        own = []
        for start, bound in BOUNDS.items():
            text = getattr(options, f"{start.strip('-')}_{figure}", None)
            if text is not None:
                own.append(Limit(figure, bound, amount(text, figure), text.strip()))
        refuse_crossed(own)
        found += own
    return found
