"""The name of a spec with variables of its own: `mobilenet_v2@width=0.75`, `resnet@depths=[3,4,6,3],basic=false`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from paramcount.errors import ArgumentError, quote


def own_settings(text: str) -> tuple[str, dict[str, str]]:
    """A spec's name without the variables behind its `@`, and their values as text; a file of that name is a file.

    Raises ArgumentError for what is not a variable with a value, and for a variable that is given twice.

    >>> own_settings("resnet:50@depths=[3,4,6,3],basic=false")
    ('resnet:50', {'depths': '[3,4,6,3]', 'basic': 'false'})
    """
    found = re.search(r"@\s*[^\W\d]\w*\s*(?:[=,]|$)", text) if "@" in text and not os.path.exists(text) else None
    if found is None:
        return text, {}
    given: dict[str, str] = {}
    for piece in between_commas(text[found.start() + 1 :]):
        name, equals, value = piece.partition("=")
        name = name.strip()
        if not equals or not name:
            hint = "write `SPEC@NAME=VALUE,NAME=VALUE`; a list of values stands in brackets"
            raise ArgumentError(f"{quote(piece)} is not a variable with a value, in {quote(text)}", hint=hint)
        if name in given:
            raise ArgumentError(f"{quote(name)} is given twice in {quote(text)}", hint="give a variable once")
        given[name] = value.strip()
    return text[: found.start()], given


def with_own(own: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The variables behind a spec's `@` and those given beside it; raises ArgumentError for one that is in both."""
    for name in own:
        if name in given:
            raise ArgumentError(f"{quote(name)} is given twice", hint=f"set it behind {quote('@')}, or by itself")
    return {**own, **given}


def between_commas(text: str) -> Iterator[str]:
    """The pieces of a text between its commas, except for commas within brackets."""
    depth, piece = 0, ""
    for letter in text:
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and not depth:
            yield piece
            piece = ""
        else:
            piece += letter
    yield piece
