"""An example of a layer, settings and shapes, written as a spec."""

from __future__ import annotations

import re
from typing import Any

from paramcount.graph.network import as_written
from paramcount.language.signature import signature_of
from paramcount.layers.layer import LAYOUTS, Layer, Shape


def in_a_spec(layer: type[Layer], example: Any) -> str:
    """One of a layer's examples, settings and shapes, as a whole spec; empty if a spec cannot write it."""
    if not (isinstance(example, (list, tuple)) and example and isinstance(example[0], dict) and plain(example[0])):
        return ""
    settings, *given = example
    shapes = [Shape.of(*each) if isinstance(each, (list, tuple)) else each for each in given]
    if not all(isinstance(shape, Shape) and shape.layout in LAYOUTS for shape in shapes):
        return ""
    paths: list[Any] = [settings[name] for name, _ in layer.value_fields() if settings.get(name) is not None]
    names = [name for path in paths for name in (path if isinstance(path, (list, tuple)) else [path])]
    item = written_item(layer, settings)
    if not names:
        arriving = shapes or [Shape.of(1)]  # of which a source makes nothing
        return f"input: {written_shape(arriving[0])}\nlayers:\n  - {item}\n"
    if layer.takes_prev:
        names.insert(0, next(name for name in ("x", "value", "arriving") if name not in names))
        item = f"{{from: {names[0]}, {item}}}"
    if len(names) != len(shapes):
        return ""
    inputs = "".join(f"  {name}: {written_shape(shape)}\n" for name, shape in zip(names, shapes, strict=True))
    return f"inputs:\n{inputs}layers:\n  - {item}\n"


def plain(value: Any) -> bool:
    """Whether a value is made of numbers, flags and words."""
    if isinstance(value, dict):
        return all(map(plain, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def written_item(layer: type[Layer], settings: dict[str, Any]) -> str:
    """A layer with its arguments as an item: `dense: 8`, `conv: {out: 8, kernel: 3}`."""
    takes, given = signature_of(layer), dict(settings)
    given |= dict(given.pop(takes.open, {}))
    if not given:
        return layer.kind
    first = takes.positional[:1]
    if tuple(given) == first and (takes.taken_whole or not isinstance(given[first[0]], (list, tuple))):
        return f"{layer.kind}: {spelled(given[first[0]])}"
    return f"{layer.kind}: {spelled({layer.in_specs.get(name, name): value for name, value in given.items()})}"


def written_shape(shape: Shape) -> str:
    return spelled({shape.layout: shape.sizes[0] if shape.rank == 1 else shape.sizes})


def spelled(value: Any, nested: bool = False) -> str:
    """A value as a spec writes it.

    >>> spelled({"out": 8, "kernel": (1, 7), "bias": True, "tied": None})
    '{out: 8, kernel: [1, 7], bias: true, tied: none}'
    """
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {spelled(each, True)}' for name, each in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(spelled(each, True) for each in value)}]"
    quoted = nested and isinstance(value, str) and re.search(r"[][{},:#|]|^\W", value)
    return f'"{value}"' if quoted else as_written(value)
