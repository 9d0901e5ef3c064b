"""What a wrong command line is answered: the option, variable, spec or command that was probably meant."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from paramcount.cli.guesses import COMMANDS, FIGURES, OPTIONS, RENAMED, SPECS, VARIABLES
from paramcount.errors import ArgumentError, quote

if TYPE_CHECKING:
    from paramcount.cli.options import Parser


def left_over(parser: Parser, words: Sequence[str], arguments: Sequence[str], spec: str) -> ArgumentError:
    """The error for words of a command line that its command does not take; `spec` is the one that it names, or ""."""
    known = parser.known
    sweeps = parser.prog.endswith("sweep")
    before = "--set " if "--set" in known else ""
    word, equals, value = words[0].partition("=")
    following = next((each for last, each in pairwise(arguments) if last == words[0]), "")
    if not word.startswith("-"):
        return one_too_many(parser, words[0], arguments, spec, before)
    if word == "--set" and sweeps:
        return ArgumentError("a sweep has no `--set`", hint="write `NAME=VALUES` alone; one value stands for all")
    if not equals and not following.startswith("-"):
        value = following
        if value and value == spec:  # it was taken for the spec, which comes later
            spec = next((each for each in words[1:] if not each.startswith("-")), "")
    meant = option(word, value, known, spec or "mlp", parser.prog)
    if meant is None and (before or sweeps):
        meant = variable(word, value, spec)
        meant = meant and before + meant
    if meant is not None:
        where = " before the command" if meant.endswith("COLOR=1") else ""
        return ArgumentError(f"unknown option {quote(word)}", hint=f"write `{meant}`{where}")
    from paramcount.errors.suggest import unknown

    return unknown("option", word, known, parser.help_hint)


def one_too_many(parser: Parser, word: str, arguments: Sequence[str], spec: str, before: str) -> ArgumentError:
    """The error for a word after the last that the command takes: a variable's value, a variant, or another spec."""
    from paramcount.language.usual_names import like, variants_of

    name, equals, value = word.partition("=")
    settings = [each for last, each in pairwise(arguments) if last == "--set"]
    meant = variable(name, value, spec) if equals else variable((settings or [""])[-1], word, spec)
    hint = parser.help_hint
    if meant and before:
        hint = f"write `{before}{meant}`"
    elif not equals and ":" not in spec and (variant := like(word, variants_of(spec))):
        hint = f"write `{spec}:{variant}`"
    elif not equals and parser.prog == "paramcount" and is_spec(nearest_spec(word)):
        hint = f"to compare them, write `paramcount compare {spec} {nearest_spec(word)}`"
    return ArgumentError(f"{parser.rule}; {quote(word)} is left over", hint=hint)


def option(word: str, value: str, known: Collection[str], spec: str, prog: str) -> str | None:
    """What to write for an option that does not exist, or None; `known` are those of the command."""
    from shlex import quote as as_typed

    from paramcount.numbers.units import BITS, SHORT
    from paramcount.render.writing import FORMATS

    word = word if len(word) == 2 else word.lower().replace("_", "-")
    if word in known:
        return f"{word} {as_typed(value)}" if value else word
    for words, names in RENAMED.items():
        name = next((each for each in names if each in known), None)
        if word in words and name is not None:
            given = SHORT.get(value.lower(), value) if name == "--dtype" else value
            if given and name == "--dtype" and given not in BITS:
                return None
            return f"{name} {as_typed(given)}" if given else name
    if word in SPECS and value:
        return f"{prog} {as_typed(nearest_spec(value))}"
    budget = f"--max-{word[2:].replace('parameters', 'params')}"
    if word[2:] in FIGURES and value and budget in known:
        return f"{budget} {as_typed(value)}"
    for words, meant in OPTIONS.items():
        if word in words:
            to_file = os.path.splitext(value)[1] in FORMATS.values() and "--output" in known
            if to_file and meant[0].startswith("--format"):
                return f"--output {as_typed(value)}"
            for each in meant:
                if not each.startswith("--") or each.split()[0] in known:
                    return each.format(spec=spec)
    return None


def value(name: str, word: str, choices: Iterable[str]) -> ArgumentError:
    """The error for a value that an option does not take."""
    from paramcount.errors.suggest import unknown
    from paramcount.render.writing import NAMED

    choices = list(choices)
    if name == "format" and NAMED.get(word.lower()) in choices:
        return ArgumentError(f"unknown format {quote(word)}", hint=f"did you mean `{NAMED[word.lower()]}`?")
    return unknown(name, word, choices)


def command(word: str, others: Sequence[str]) -> str | None:
    """The command line for a command that does not exist, or None; `others` are the words behind it."""
    for words, meant in COMMANDS.items():
        if word.lower() in words:
            file = next((each for each in others if each.endswith(".yaml")), "my.yaml")
            specs = [*map(nearest_spec, others)] or ["mlp"]
            return meant.format(spec=specs[0], specs=" ".join(specs), file=file)
    from paramcount.language.vocabulary import taken

    return f"paramcount kinds {word}" if taken(word) else None


def nearest_spec(word: str) -> str:
    """The name of a spec, or what stands for a usual name of a model."""
    from paramcount.language.usual_names import usual

    return word if is_spec(word) else usual(word) or word


def is_spec(word: str) -> bool:
    """Whether a word is the name of a spec."""
    from paramcount.errors import ParamcountError
    from paramcount.language.load import locate

    try:
        locate(word)
    except ParamcountError:
        return False
    return True


def variable(word: str, value: str, spec: str) -> str | None:
    """A variable of the spec with a value, or with the one it has, as a shell takes it; None if it is not one."""
    from shlex import quote as as_typed

    from paramcount.graph.network import as_written

    name, found = word.lstrip("-").replace("-", "_"), variables(spec)
    if name not in found:
        name = next((meant for words, meant in VARIABLES.items() if name.lower() in words), name)
    if name not in found:
        return None
    return as_typed(f"{name}={value or as_written(found[name])}")


def values(spec: str) -> str:
    """A hint how a variable of the spec is varied."""
    found = variables(spec)
    for name, value in found.items():
        if type(value) in (int, float):
            return f"write `{name}={value},{2 * value}`; the variables are {', '.join(found)}"
    return "write `NAME=VALUES`, with a variable of the spec" if found else "the spec has no variables"


def variables(spec: str) -> dict[str, Any]:
    """The variables of a spec with their values; none if it cannot be loaded."""
    from paramcount.errors import ParamcountError
    from paramcount.language.load import load

    try:
        return load(spec).vars
    except ParamcountError:
        return {}
