"""Layers that are named by a word in Python, as in `Conv(8, 3, norm="batch_norm")`."""

from __future__ import annotations

from typing import Any

from paramcount.errors import SpecError, quote
from paramcount.errors.suggest import did_you_mean, kind_for
from paramcount.layers import MODULES, find
from paramcount.layers.layer import Item


def argumentless(item: Any, what: str) -> Item:
    """The layer that a word names; `what` says in errors whose norm or activation it is."""
    layer = find(item) if isinstance(item, str) else None
    if layer is None:
        if isinstance(item, type) and issubclass(item, Item):
            hint = f"write `{item.__name__}()`, with its brackets"
            raise SpecError(f"the {what} is the class {quote(item.__name__)}", hint=hint)
        guess = kind_for(item, list(MODULES)) if isinstance(item, str) else None
        hint = did_you_mean(guess, "give a kind that needs no argument, a layer, or None")
        raise SpecError(f"unknown kind {quote(item)} as the {what}", hint=hint)
    if layer.required():
        message = f"{quote(item)} needs {quote(layer.required()[0])} as the {what}"
        raise SpecError(message, hint="give a layer instead of its kind")
    return layer()
