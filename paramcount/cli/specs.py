"""The spec that a command line names: its plugins, its variables, its text."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from paramcount.errors import ArgumentError, quote
from paramcount.render.terminal import warn

if TYPE_CHECKING:
    from paramcount.language.language import SpecSyntax


def load_plugins(options: argparse.Namespace) -> None:
    """Load the user's own kinds of layers."""
    for path in options.plugin:
        from paramcount.language.plugin import load_plugin

        load_plugin(path)


def load_spec(options: argparse.Namespace) -> Any:
    """The network of the spec with its variant and variables, after its plugins; its warnings are printed."""
    load_plugins(options)
    from paramcount.language.load import load, loads

    given = variables_set(options.set, options.spec)
    if options.spec == "-":
        network = loads(piped(), options.variant, "<stdin>", vars=given)
    else:
        network = load(options.spec, options.variant, vars=given)
    for warning in network.warnings:
        warn(warning)
    return network


def spec_of(options: argparse.Namespace) -> str | SpecSyntax:
    """The spec by its name, or read from standard input, for many variants; plugins are loaded first."""
    load_plugins(options)
    if options.spec != "-":
        return options.spec
    from paramcount.language.load import fresh_syntax

    return fresh_syntax(piped(), "<stdin>")


def piped() -> str:
    """The text on standard input."""
    from paramcount.language.yaml.source import read_stream

    return read_stream(standard_input(), "<stdin>")


def standard_input() -> BinaryIO:
    """The bytes of standard input; Python has no stream there where it is closed."""
    if sys.stdin is None:
        raise ArgumentError(
            "a spec `-` is read from standard input, which is closed", hint="pipe one in, or name a file"
        )
    return sys.stdin.buffer


def named(texts: Sequence[str], wrong: Callable[[str], ArgumentError]) -> dict[str, str]:
    """What `NAME=VALUE` gives each name, as text; `wrong` makes the error for a text that is not of this form."""
    given: dict[str, str] = {}
    for text in texts:
        name, equals, value = map(str.strip, text.partition("="))
        if not equals or not name:
            raise wrong(text)
        if name in given:
            raise ArgumentError(f"{quote(name)} is given twice", hint="give a variable once")
        given[name] = value
    return given


def variables_set(settings: Sequence[str], spec: str) -> dict[str, str]:
    """The variables that `--set` gives, with their values as text; `spec` is asked for its variables in hints."""

    def wrong(text: str) -> ArgumentError:
        from paramcount.cli import hints

        names = (text.partition("=")[0].strip(), *hints.variables(spec))
        meant = next(filter(None, (hints.variable(each, "", spec) for each in names)), None)
        hint = f"write `--set {meant}`" if meant else "the spec has no variables"
        return ArgumentError(f"`--set` takes a name and a value, not {quote(text)}", hint=hint)

    given = named(settings, wrong)
    for name, value in given.items():
        if "," in value or ":" in value:
            from paramcount.cli.values import several

            if several(value):
                hint = f"`paramcount sweep {spec} {name}={value}` counts each of them"
                raise ArgumentError(f"`--set` takes one value, not {quote(value)}", hint=hint)
    return given
