"""`paramcount check`: specs that load, count to what they expect, and stay within their budgets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from paramcount.cli.options import WRITING, Parser, give, show
from paramcount.cli.specs import load_plugins, piped
from paramcount.cost.figures import Figures
from paramcount.errors import ArgumentError, ParamcountError, SpecError, series
from paramcount.render.terminal import encoding, warn, written
from paramcount.render.writing import FORMATS

if TYPE_CHECKING:
    from argparse import Namespace

    from paramcount.cost.problems import Problem, Problems
    from paramcount.language.expect import Limit

EXAMPLES = """\
Each spec is read and counted, and compared with its `expect` and with the
budgets. The exit code is 1 if a figure is not within its limits, and 2 if a
spec cannot be counted.

examples:
  paramcount check specs/*.yaml --variants
  paramcount check mobilenet_v2 --max-params 3.6M --max-macs 310M
  paramcount check my.yaml --max-bytes 4MiB --dtype int8
"""
LINES = ("text", "github")  # formats of this command alone


def run(arguments: list[str]) -> int:
    """Check all specs that the arguments name, and print their problems."""
    options = parser().parse(arguments)
    from paramcount.cli.limits import limits_in
    from paramcount.numbers.units import bytes_of

    limits = limits_in(options, Figures._fields)
    bytes_of(1, options.dtype)  # an unknown type is one error, rather than one of each spec
    load_plugins(options)
    found = check(options, limits)
    form = options.format or ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text")
    if form in LINES:
        lines = github(found) if form == "github" else text(found)
        give(written("\n".join(lines), encoding()), found.sheet(), options.output)
    else:
        options.format = form
        show(found.sheet(), options)
    return found.exit_code


def check(options: Namespace, limits: Sequence[Limit]) -> Problems:
    """The problems of all specs that the options name; warnings are printed."""
    from paramcount.cost.problems import Problems, errors_of, problems_of, problems_of_saved
    from paramcount.cost.saved import ENDING
    from paramcount.language.load import fresh_syntax, locate
    from paramcount.language.yaml.source import is_saved, read_bytes, read_source, shown_path

    found: list[Problem] = []
    told: set[str] = set()  # warnings, which variants may have in common
    networks = passed_over = 0
    for spec in options.specs:
        file = spec
        try:
            path, variant = ("<stdin>", None) if spec == "-" else locate(spec)
            file = path if spec == "-" else shown_path(path)
            if options.specs_only and spec != "-" and not is_spec(path):
                passed_over += 1
                continue
            if path.lower().endswith(ENDING) and is_saved(read_bytes(path)):
                if options.dtype != "float32":
                    raise ArgumentError("a saved count has the type that was counted", hint="leave `--dtype` out")
                found += problems_of_saved(spec, file, limits)
                networks += 1
                continue
            syntax = fresh_syntax(piped() if spec == "-" else read_source(path), file)
            for problems, warnings in problems_of(spec, syntax, variant, options.variants, limits, options.dtype):
                networks += 1
                found += problems
                for warning in warnings:
                    if warning not in told:
                        warn(warning)
                        told.add(warning)
        except ParamcountError as error:
            found += errors_of(spec, file, error)
        except RecursionError:
            error = SpecError("the spec is nested too deeply", hint="write it with fewer levels")
            found += errors_of(spec, file, error)
    return Problems(found, len(options.specs) - passed_over, networks, passed_over)


def is_spec(path: str) -> bool:
    """Whether a file is meant as a spec, by its outermost keys, whatever is wrong with it.

    They are `layers` or `input` or `inputs`, one of them as it is written or both misspelled. An action of GitHub has
    `inputs` too, beside `runs`.
    """
    from paramcount.errors.suggest import nearest
    from paramcount.language.yaml.source import UTF16, read_bytes

    data = read_bytes(path)
    keys = outermost_keys(data.decode("utf-16" if data.startswith(UTF16) else "utf-8-sig", "replace"))
    if "layers" in keys or ({"input", "inputs"} & keys and "runs" not in keys):
        return True
    return bool(nearest("layers", keys) and (nearest("input", keys) or nearest("inputs", keys)))


def outermost_keys(text: str) -> set[str]:
    """The outermost keys of YAML that may be broken: those as far left as the first, or farther; in braces all keys."""
    first = re.search(r"(?m)^([ \t]*)(?![ \t#%\r]|---|$)(.)", text)
    if first is None:
        return set()
    before = r"[{,\s]" if first[2] == "{" else f"^(?:{first[1]})?"
    return set(re.findall(rf"""(?m){before}["']?(\w+)["']?[ \t]*:""", text))


def text(found: Problems) -> Iterator[str]:
    """The problems as people read them, a paragraph each."""
    for problem in found.found:
        yield f"{problem}\n"
    yield found.verdict


def github(found: Problems) -> Iterator[str]:
    """The problems as commands of GitHub Actions, which shows them beside the lines of a pull request."""
    for problem in found.found:
        properties = {"file": problem.file, "line": problem.line, "col": problem.column}
        properties["title"] = f"paramcount {problem.kind}"
        named = ",".join(f"{name}={escaped(value, True)}" for name, value in properties.items() if value is not None)
        elsewhere = problem.place is not None and problem.place.file != problem.file
        before = f"{problem.place}: " if elsewhere else f"{problem.spec}: " if problem.spec != problem.file else ""
        message = before + problem.message
        yield f"::error {named}::{escaped(message)}"
    yield found.verdict


def escaped(value: object, of_property: bool = False) -> str:
    """A text within a command of GitHub Actions.

    >>> escaped("100%\\nof a:b"), escaped("a:b,c", of_property=True)
    ('100%25%0Aof a:b', 'a%3Ab%2Cc')
    """
    text = str(value).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if of_property else text


def parser() -> Parser:
    parser = Parser(
        prog="paramcount check",
        usage="paramcount check SPEC[:VARIANT] ... [options]",
        description="Count specs, and compare them with what they expect and with budgets.",
        epilog=EXAMPLES,
    )
    add = parser.add_argument
    add("specs", metavar="SPEC[:VARIANT]", nargs="+", help="shipped specs, files, saved JSON, or - for standard input")
    add("--variants", action="store_true", help="check every variant of each spec")
    parser.limits(Figures._fields)
    add("--dtype", metavar="TYPE", default="float32", help="the type of the parameters for budgets (default float32)")
    add("--specs-only", action="store_true", help="skip YAML files that have neither `layers` nor `input`")
    parser.shared("--plugin", *(each for each in WRITING if each != "--format"))
    choices = (*LINES, *FORMATS)
    help = f"what is printed: {series(choices)} (default text, in GitHub Actions github)"
    parser.shared("--format", choices=choices, default=None, help=help)
    return parser
