"""Kinds of layers that come from elsewhere: a Python file of the user's, or an installed package's entry point."""

import os
import sys
from functools import cache
from types import ModuleType
from typing import Any

from paramcount.errors import ArgumentError, Position, SpecError, quote
from paramcount.layers import MODULES
from paramcount.layers.layer import Layer, registry

GROUP = "paramcount.layers"
FORMS = ("do", "residual", "gate", "let", "each", "scan", "moe", "pop", "activate")  # words of the spec language
BLOCKS = os.path.join(os.path.dirname(__file__), "blocks")


def load_plugin(path: str) -> list[str]:
    """Run a Python file that defines layers, and return their kinds, which specs can use from then on.

    A file is run once, however often it is loaded. Raises ArgumentError where there is no such file, it defines
    no kind, or one that exists already, and SpecError with the place in the file for an error of its own.

    >>> load_plugin("no_such_file.py")
    Traceback (most recent call last):
    paramcount.errors.ArgumentError: there is no file `no_such_file.py`
    hint: --plugin takes a Python file that defines layers
    """
    path = os.fspath(path)
    name = os.path.abspath(path)  # also the module's: two files may have the same stem
    if name not in sys.modules:
        run(path, name, source_of(path))
    return [kind for kind, layer in registry.items() if layer.__module__ == name]


def source_of(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        hint = "--plugin takes a Python file that defines layers"
        raise ArgumentError(f"there is no file {quote(path)}", hint=hint) from None
    except OSError as error:
        raise ArgumentError(f"cannot read {quote(path)}: {error.strerror}", hint="give a Python file") from None


def run(path: str, name: str, source: bytes) -> None:
    """Run a plugin's source as a module; where that fails, none of its kinds stays behind."""
    module = ModuleType(name)
    module.__file__ = name
    before = dict(registry)
    sys.modules[name] = module  # dataclasses look their module up while the file runs
    try:
        exec(compiled(path, source), module.__dict__)
        refuse_taken(path, name, before)
        check_classes(path, name, source)
    except Exception as error:
        del sys.modules[name]
        for kind in [kind for kind, layer in registry.items() if layer.__module__ == name]:
            del registry[kind]
            if kind in before:
                registry[kind] = before[kind]
        if isinstance(error, (ArgumentError, SpecError)) and error.position is None:
            error.position = place_of(error, path)
        if isinstance(error, (ArgumentError, SpecError)):
            raise
        message = f"the plugin failed: {type(error).__name__}: {error}"
        raise SpecError(message, hint=remedy(error), position=place_of(error, path)) from None


def remedy(error: Exception, otherwise: str = "the file must run by itself") -> str:
    """What to do about an error: an inner module may have moved, but `paramcount.layers` has all its names."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("paramcount."):
        return "import from `paramcount.layers` alone: `from paramcount.layers import Layer, Shape, field`"
    return otherwise


def compiled(path: str, source: bytes) -> Any:
    try:
        return compile(source, path, "exec")
    except SyntaxError as error:
        position = Position(path, error.lineno or 1, error.offset or 1)
        hint = "the plugin is not Python; mend this line"
        raise SpecError(f"the plugin cannot be read: {error.msg}", hint=hint, position=position) from None
    except ValueError as error:
        raise SpecError(f"the plugin cannot be read: {error}", position=Position(path, 1, 1)) from None


def refuse_taken(path: str, name: str, before: dict[str, type[Layer]]) -> None:
    """Raise ArgumentError where a file's kinds are none, or are those of other layers, forms or blocks."""
    own = [kind for kind, layer in registry.items() if layer.__module__ == name]
    if not own:
        hint = 'register a layer by `class Name(Layer, kind="name")`'
        raise ArgumentError(f"{quote(path)} defines no kind of layer", hint=hint)
    for kind in own:
        if kind in before or taken(kind):
            raise ArgumentError(
                f"{quote(path)} defines the kind {quote(kind)}, which exists", hint="give it another name"
            )


def check_classes(path: str, name: str, source: bytes) -> None:
    """Raise ArgumentError, with its line, for a file's class that is no complete layer."""
    for layer in [layer for layer in registry.values() if layer.__module__ == name]:
        try:
            layer.checks()
        except ArgumentError as error:
            head = b"class " + layer.__name__.encode()
            lines = [number for number, line in enumerate(source.splitlines(), 1) if line.startswith(head)]
            error.position = Position(path, lines[0] if lines else 1, 1)
            raise


def taken(kind: str) -> bool:
    """Whether a word already means something in specs."""
    return kind in MODULES or kind in FORMS or os.path.exists(os.path.join(BLOCKS, f"{kind}.yaml"))


def place_of(error: BaseException, path: str) -> Position | None:
    """The line of the plugin's own file where an error arose."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            found = Position(path, trace.tb_lineno, 1)
        trace = trace.tb_next
    return found


def from_entry_point(kind: str) -> type[Layer] | None:
    """The layer class that an installed package offers under a kind, or None."""
    offered = entry_points().get(kind)
    if offered is None or taken(kind):
        return None
    try:
        layer = offered.load()
    except Exception as error:
        message = f"the kind {quote(kind)} of {quote(offered.value)} cannot be loaded: {type(error).__name__}: {error}"
        raise ArgumentError(message, hint=remedy(error, "mend or uninstall the package that offers it")) from None
    if not (isinstance(layer, type) and issubclass(layer, Layer) and layer.kind == kind):
        message = f"{quote(offered.value)} is offered as the kind {quote(kind)}, and is no layer of that kind"
        raise ArgumentError(message, hint=f'write `class Name(Layer, kind="{kind}")`')
    return layer


@cache
def entry_points() -> dict[str, Any]:
    """The entry points for kinds of layers, by kind; looked up once."""
    from importlib import metadata

    return {each.name: each for each in metadata.entry_points(group=GROUP)}
