"""A sheet as JSON: the whole result, raw integers, `null` for what is unknown."""

from __future__ import annotations

from paramcount.render.sheet import Sheet


def render(sheet: Sheet) -> str:
    """The JSON text, in ASCII, which every output accepts."""
    from json import dumps

    return dumps(sheet.data(), indent=1)
