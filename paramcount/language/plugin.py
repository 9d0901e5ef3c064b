"""Kinds of layers from a Python file of the user's."""

import os
import sys
from types import ModuleType
from typing import Any

from paramcount.errors import ArgumentError, Position, SpecError, quote
from paramcount.language.vocabulary import taken
from paramcount.language.yaml.source import absolute
from paramcount.layers.installed import remedy
from paramcount.layers.layer import Layer, registry


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
    name = absolute(path)  # also the module's: two files may have the same stem
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


def compiled(path: str, source: bytes) -> Any:
    try:
        return compile(source, path, "exec")
    except SyntaxError as error:
        position = Position(path, error.lineno or 1, error.offset or 1)
        hint = "the plugin is not valid Python; fix this line"
        raise SpecError(f"the plugin cannot be read: {error.msg}", hint=hint, position=position) from None
    except ValueError as error:
        raise SpecError(f"the plugin cannot be read: {error}", position=Position(path, 1, 1)) from None


def refuse_taken(path: str, name: str, before: dict[str, type[Layer]]) -> None:
    """Raise ArgumentError where a file defines no kind, or one of another layer, form or block."""
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
    """Raise ArgumentError, with its line, for a class of a file that is not a complete layer."""
    for layer in [layer for layer in registry.values() if layer.__module__ == name]:
        try:
            layer.checks()
        except ArgumentError as error:
            head = b"class " + layer.__name__.encode()
            lines = [number for number, line in enumerate(source.splitlines(), 1) if line.startswith(head)]
            error.position = Position(path, lines[0] if lines else 1, 1)
            raise


def place_of(error: BaseException, path: str) -> Position | None:
    """The line of the plugin's own file where an error arose."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            found = Position(path, trace.tb_lineno, 1)
        trace = trace.tb_next
    return found
