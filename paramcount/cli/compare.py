"""`paramcount compare`: two networks beside each other, row by row, or several by their totals."""

from __future__ import annotations

import argparse
import io
import os
from typing import Any

from paramcount.cli.options import SETTINGS, WRITING, Parser, check_format, show
from paramcount.cli.specs import load_plugins, standard_input, variables_set
from paramcount.errors import ArgumentError, quote
from paramcount.render.terminal import warn

EXAMPLES = """\
SPEC is a shipped spec, a file, or - for standard input; SPEC@NAME=VALUE sets a
variable of one spec. FILE.json is a count saved by `paramcount SPEC -o
FILE.json`. Rows are equal, changed (~), added (+) or removed (-). With three
networks or more, each is a row. The exit code is 0, or with --fail-on-change 1
if anything differs.

examples:
  paramcount compare resnet:18 resnet:50
  paramcount compare llama:2-7b llama:3-8b --depth 3 --changed
  paramcount compare mobilenet_v2 mobilenet_v2@width=0.75 --set resolution=192
  paramcount compare base.json ./my.yaml --format markdown --fail-on-change
  paramcount compare resnet:18 resnet:34 resnet:50 --columns params,macs
"""
CHOOSING = ("--depth", "--columns", "--changed")


def run(arguments: list[str]) -> int:
    """Compare the networks that the arguments name, and print what changes."""
    reading = parser()
    options = reading.parse(arguments)
    check_format(options, CHOOSING)
    if len(options.specs) < 2:
        hint = "`paramcount compare resnet:18 resnet:50`"
        raise ArgumentError("`compare` takes two specs or more", hint=hint)
    if options.specs.count("-") > 1:
        raise ArgumentError("standard input, `-`, can be read once", hint="name a file")
    load_plugins(options)
    from paramcount.cost.compare.comparison import Comparison

    asked = [name for name in SETTINGS if getattr(options, name) != reading.get_default(name)]
    sides = sided(options, asked)
    names = [side.title if word == "-" else word for word, side in zip(options.specs, sides, strict=True)]
    comparison = Comparison(tuple(names), tuple(sides))
    settings = f"set in all: {', '.join(options.set)}" if options.set else ""
    sheet = comparison.sheet(options.depth, options.columns, bool(options.changed)).saying(settings)
    show(sheet, options, warnings=comparison.warnings)
    return int(options.fail_on_change and not comparison.equal)


def sided(options: argparse.Namespace, asked: list[str]) -> list[Any]:
    """What stands on each side: counts that were saved as they are, specs counted with the options."""
    from paramcount.cost.count import count
    from paramcount.cost.counted import Counted

    given = variables_set(options.set, options.specs[0])
    found = [meant(word, given) for word in options.specs]
    saved = [word for word, each in zip(options.specs, found, strict=True) if isinstance(each, Counted)]
    if saved and given:
        message = f"{quote(saved[0])} was counted already, so `--set` cannot set its variables"
        raise ArgumentError(message, hint=f"write {quote('SPEC@' + options.set[0])} for those that it is for")
    if len(saved) == len(found) and asked:
        option = "--" + asked[0].replace("_", "-")
        hint = "leave it out, or compare with a spec"
        raise ArgumentError(f"{quote(option)} is for counting, and all of these were counted already", hint=hint)
    settings = {name: getattr(options, name) for name in SETTINGS}
    return [each if isinstance(each, Counted) else count(each, **settings) for each in found]


def meant(word: str, given: dict[str, str]) -> Any:
    """The saved count or the network that a word names; warnings of a network are printed."""
    from paramcount.cost.saved import ENDING, LARGEST, saved, saved_in
    from paramcount.language.address import own_settings
    from paramcount.language.load import load, loads
    from paramcount.language.yaml.source import is_saved, read_stream

    if "=" in word and "@" not in word and not os.path.exists(word):
        hint = f"write {quote(f'--set {word}')} to set it in all, {quote(f'SPEC@{word}')} in one"
        raise ArgumentError(f"{quote(word)} is not a spec", hint=hint)
    if word == "-":
        data = standard_input().read(LARGEST + 1)
        if is_saved(data):
            return saved(data, "<stdin>")
        text = read_stream(io.BytesIO(data), "<stdin>")
        network = loads(text, file="<stdin>")
        if given:
            network = loads(text, file="<stdin>", vars=having(network, word, given))
    else:
        name, own = own_settings(word)
        found = saved_in(name) if name.lower().endswith(ENDING) else None
        if found is not None:
            if own:
                raise ArgumentError(f"{quote(name)} was counted already", hint="its variables cannot be set any more")
            return found
        network = load(word)
        if given:
            network = load(word, vars=having(network, word, given))
    for warning in network.warnings:
        warn(f"{word}: {warning}")
    return network


def having(network: Any, word: str, given: dict[str, str]) -> dict[str, str]:
    """The variables that are set in all, if the network has them; raises ArgumentError, with its name, otherwise."""
    for name in given:
        if name not in network.vars:
            from paramcount.errors.suggest import one_of

            known = f"its variables are {', '.join(network.vars)}" if network.vars else "it has no variables"
            hint = one_of(name, network.vars, known)
            raise ArgumentError(f"{quote(word)} has no variable {quote(name)}", hint=hint)
    return given


def parser() -> Parser:
    parser = Parser(
        prog="paramcount compare",
        usage="paramcount compare SPEC|FILE.json SPEC|FILE.json ... [options]",
        description="Compare networks: two of them row by row, more by their totals.",
        epilog=EXAMPLES,
    )
    add = parser.add_argument
    add("specs", metavar="SPEC|FILE.json", nargs="*", help="two networks or more")
    parser.shared("--set", help="set a variable in all specs; repeatable")
    parser.counting()
    parser.shared("--depth", help="open N levels of groups that change, or `all` (default 1)")
    parser.shared("--columns")
    add("--changed", action="store_true", default=None, help="leave out rows that are equal")
    add("--fail-on-change", action="store_true", help="exit with 1 if anything differs")
    parser.shared(*WRITING)
    return parser
