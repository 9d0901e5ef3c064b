"""Kinds of layers that installed packages offer, by the entry points `paramcount.layers`."""

from functools import cache
from typing import Any

from paramcount.errors import ArgumentError, quote
from paramcount.layers.layer import Layer

GROUP = "paramcount.layers"


def from_entry_point(kind: str) -> type[Layer] | None:
    """The layer class that an installed package offers under a kind, or None."""
    offered = entry_points().get(kind)
    if offered is None:
        return None
    try:
        layer = offered.load()
    except Exception as error:
        message = f"the kind {quote(kind)} of {quote(offered.value)} cannot be loaded: {type(error).__name__}: {error}"
        raise ArgumentError(message, hint=remedy(error, "fix or uninstall the package that offers it")) from None
    if not (isinstance(layer, type) and issubclass(layer, Layer) and layer.kind == kind):
        message = f"{quote(offered.value)} is offered as the kind {quote(kind)}, and is not a layer of that kind"
        raise ArgumentError(message, hint=f'write `class Name(Layer, kind="{kind}")`')
    return layer


def remedy(error: Exception, otherwise: str = "the file must run by itself") -> str:
    """What to do about an error: an inner module may have moved, but `paramcount.layers` has all its names."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("paramcount."):
        return "import from `paramcount.layers` alone: `from paramcount.layers import Layer, Shape, field`"
    return otherwise


@cache
def entry_points() -> dict[str, Any]:
    """The entry points for kinds of layers, by kind; looked up once."""
    from importlib import metadata

    return {each.name: each for each in metadata.entry_points(group=GROUP)}
