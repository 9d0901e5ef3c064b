"""What commands share: a parser whose errors are ours, options that several commands have, and the spec they name."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from paramcount.cli.interrupt import Interruptible, Stoppable
from paramcount.errors import ArgumentError, printable, quote, series
from paramcount.render import terminal
from paramcount.render.terminal import complain, warn
from paramcount.render.writing import FORMATS, format_of, rendered, write

if TYPE_CHECKING:
    from paramcount.language.language import SpecSyntax
    from paramcount.render.sheet import Sheet


LIMITS = "the most parameters, as 3.5M; likewise --max-macs 300M, --max-bytes 14MiB, --min-params, and so on"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are ours, and which keeps its texts as written; `rule` is said to a word too many."""

    def __init__(self, rule: str = "one spec at a time", **texts: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **texts)
        self.rule = rule
        self.titles("arguments", "options")
        self.limited: Sequence[str] = ()  # the figures that `--max-FIGURE` and `--min-FIGURE` limit

    def titles(self, arguments: str, options: str) -> None:
        """Give the lists of arguments and of options titles of their own in the help."""
        self._positionals.title, self._optionals.title = arguments, options

    @property
    def known(self) -> list[str]:
        """The options that there are."""
        limits = [f"--{end}-{figure.replace('_', '-')}" for figure in self.limited for end in ("max", "min")]
        return [*self._option_string_actions, *limits]

    def shared(self, *names: str, **changes: Any) -> None:
        """Add options that several commands have, with the settings that differ here."""
        for name in names:
            self.add_argument(*SHORT.get(name, ()), name, **SHARED[name] | changes)

    def optimizer(self, default: str | None = None) -> None:
        """Add `--optimizer`, which is None if it is not given, unless it has a default."""
        from paramcount.cost.optimizers import OPTIMIZERS

        help = f"the optimizer of the training: {series(list(OPTIMIZERS))} (default sgd)"
        self.add_argument("--optimizer", metavar="NAME", choices=tuple(OPTIMIZERS), default=default, help=help)

    def counting(self) -> None:
        """Add the settings of `count`, SETTINGS."""
        from paramcount.cost.count import ATTENTION

        add = self.add_argument
        add("--train", action="store_true", help="count a training step: forward, backward, loss, optimizer")
        self.shared("--freeze", "--plugin")
        add("--remat", action="store_true", help="recompute each iteration of a loop for its gradient")
        self.optimizer()
        add("--batch", metavar="N", type=at_least_one, default=1, help="the batch size (default 1)")
        add("--dtype", metavar="TYPE", default="float32", help="the type of the parameters (default float32)")
        add("--kv-cache", metavar="TOKENS", type=at_least_one, help="add the bytes of a KV cache of this many tokens")
        add("--attention", choices=ATTENTION, default="dense", help="exact counts only pairs that are not masked")

    def limits(self, figures: Iterable[str], example: str = "params", help: str = LIMITS) -> None:
        """Let figures be limited by `--max-FIGURE` and `--min-FIGURE`, of which the help shows one."""
        self.limited = list(figures)
        self.add_argument(f"--max-{example}", metavar="N", help=f"{help}; if a limit is not kept, the exit code is 1")

    @property
    def help_hint(self) -> str:
        return f"`{self.prog} --help` lists the options"

    def error(self, message: str) -> NoReturn:
        message, _, hint = message.partition("\nhint: ")
        raise ArgumentError(message, hint=hint or self.help_hint)

    def refuse_twice(self, arguments: Sequence[str]) -> None:
        """Raise ArgumentError for an option with a value that is given twice and not repeatable; one would be lost."""
        seen = set()
        for word in arguments:
            action = self._option_string_actions.get(word.split("=")[0])
            if action is not None and action.nargs != 0 and not isinstance(action.default, list):
                if action in seen:
                    raise ArgumentError(f"{quote(action.option_strings[0])} is given twice", hint="give it once")
                seen.add(action)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        if self.limited and any(word.startswith(("--max-", "--min-")) for word in arguments):
            from paramcount.cli.limits import add_limits

            add_limits(self, self.limited, arguments)
        try:
            options, left = self.parse_known_intermixed_args(arguments)
        except ArgumentError:  # where an argument is missing, an option that does not exist may stand in its place
            left = [each for each in arguments if re.match("--?[A-Za-z]", each)]
            if not left or left[0].partition("=")[0] in self._option_string_actions:
                raise
            options = argparse.Namespace()
        if left:
            from paramcount.cli.hints import left_over

            raise left_over(self, left, arguments, getattr(options, "spec", ""))
        self.refuse_twice(arguments)
        if getattr(options, "output", []) or getattr(options, "plot", None):
            refuse_same_files(options)
        return options

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """A value as the option takes it; an error of ours keeps its hint, which argparse would lose."""
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError as error:
            if isinstance(error.__context__, ArgumentError):
                raise error.__context__ from None
            raise

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            from paramcount.cli import hints

            raise hints.value(action.option_strings[-1].removeprefix("--"), value, action.choices)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print the help; that it cannot be written is an error, which argparse would not report."""
        if file is not None:
            file.write(message)


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


def refuse_same_files(options: argparse.Namespace) -> None:
    """Raise ArgumentError for a file to write that is named twice, or is a spec; one content would be lost."""
    words = [*getattr(options, "specs", []), getattr(options, "spec", "")]
    names = {name for word in words for name in (word, word.rpartition(":")[0], word.partition("@")[0])}
    read = {os.path.realpath(name) for name in names}
    plot = getattr(options, "plot", None)
    seen: set[str] = set()
    for path in [*options.output, *([plot] if plot else [])]:
        if (place := os.path.realpath(path)) in seen:
            raise ArgumentError(f"{quote(path)} is given twice", hint="name a file once")
        if place in read:
            raise ArgumentError(f"{quote(path)} is read, and would be lost", hint="write to another file")
        seen.add(place)


def at_least_one(text: str) -> int:
    """A whole number of at least 1; a suffix is refused, since 8k tokens may be 8,192 or 8,000."""
    number = whole_number(text)
    if not number:
        raise argparse.ArgumentTypeError(f"{quote(text)} is not a whole number of at least 1{without_suffix(text)}")
    return number


def whole_number(text: str) -> int | None:
    """A whole number in plain digits, or None for any other text."""
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= LONGEST else None


def without_suffix(text: str) -> str:
    """What a number with a suffix may stand for, as a hint; nothing for any other text."""
    from fractions import Fraction

    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([kKMG])i?B?", text.strip())
    if found is None:
        return ""
    power = "KMG".index(found[2].upper()) + 1
    meant = [Fraction(found[1]) * base**power for base in (1024, 1000)]
    whole = [str(each) for each in meant if each and each.denominator == 1]
    return f"\nhint: write {' or '.join(whole)}" if whole else ""


def at_least_zero(text: str) -> int:
    number = whole_number(text)
    if number is None:
        raise argparse.ArgumentTypeError(f"{quote(text)} is not a whole number of at least 0")
    return number


def levels(text: str) -> int:
    if text == "all":
        return sys.maxsize
    number = whole_number(text)
    if not number:
        raise argparse.ArgumentTypeError(f"{quote(text)} is not a whole number of at least 1, nor `all`")
    return number


def names(text: str) -> list[str]:
    return text.split(",")


def output_file(text: str, *others: str) -> str:
    """A file whose ending says in which format it is written; `others` are endings that the command has besides."""
    if text == "-":
        raise ArgumentError("`-` is not a file", hint="`--format` says what is printed")
    format_of(text, *others)
    if os.path.isdir(text):
        raise ArgumentError(f"{quote(text)} cannot be written: it is a folder")
    folder = os.path.dirname(text)
    if folder and not os.path.isdir(folder):  # said now, since a result may take hours
        raise ArgumentError(f"{quote(text)} cannot be written: there is no folder {quote(folder)}")
    return text


LONGEST = 30  # digits of a number that can be of use
REPEATABLE: dict[str, Any] = {"action": "append", "default": []}
SHARED: dict[str, dict[str, Any]] = {
    "spec": {"metavar": "SPEC[:VARIANT]", "help": "a shipped spec, a file, or - for standard input"},
    "--variant": {"metavar": "V", "help": "a variant of the spec"},
    "--set": {"metavar": "NAME=VALUE", "help": "set a variable of the spec; repeatable", **REPEATABLE},
    "--plugin": {"metavar": "FILE.py", "help": "load your own layers from a file; repeatable", **REPEATABLE},
    "--freeze": {"metavar": "PATTERN", "help": "freeze the rows whose path matches; repeatable", **REPEATABLE},
    "--depth": {"metavar": "N", "type": levels, "help": "open N levels of groups, or `all` (default 1)"},
    "--columns": {"metavar": "A,B", "type": names, "help": "show these columns instead of the usual ones"},
    "--sort": {"metavar": "COLUMN", "help": "sort the rows by a column, numbers from the largest"},
    "--flat": {
        "action": "store_true",
        "default": None,
        "help": "show only layers, of all levels, with their paths",
    },
    "--top": {"metavar": "N", "type": at_least_one, "help": "show only the first N rows"},
    "--format": {
        "metavar": "FORMAT",
        "choices": tuple(FORMATS),
        "default": "table",
        "help": f"what is printed: {series(list(FORMATS))} (default table)",
    },
    "--output": {
        "metavar": "FILE",
        "type": output_file,
        "help": f"also write a file, in the format of its ending: {series(list(FORMATS.values()))}; repeatable",
        **REPEATABLE,
    },
    "--exact": {"action": "store_true", "help": "write all digits of counts and bytes"},
}
SHORT = {"--output": ("-o",)}
TREE = ("--depth", "--flat", "--columns", "--sort", "--top")  # of rows that are a tree
WRITING = ("--format", "--output", "--exact")  # of every command that has a result
SETTINGS = ("batch", "dtype", "train", "freeze", "remat", "optimizer", "attention", "kv_cache")  # of `count`


def show(
    sheet: Sheet, options: argparse.Namespace, paths: Sequence[str] | None = None, warnings: Sequence[str] = ()
) -> None:
    """Print a sheet in the format that was chosen, and write it to the files that were named, or to some of them.

    Warnings, which are printed by themselves, stand in the files too.
    """
    from paramcount.render.table import render as table  # for this terminal

    if options.exact:
        sheet = sheet.with_all_digits()
    text = table(sheet) if options.format == "table" else terminal.safe(rendered(sheet, options.format))
    give(text, sheet.warning(warnings), options.output if paths is None else paths)


def give(text: str | None, sheet: Sheet, paths: Sequence[str]) -> None:
    """Print a text, if there is one, and write a sheet to files, each in the format of its ending, and say so."""
    try:
        with Interruptible(), Stoppable():
            for path in paths:
                write(path, sheet)
    finally:  # a reader of the output that is gone loses no file, and a full disk no result
        if text is not None:
            print(text, flush=True)
    for path in paths:
        complain(f"wrote {printable(path)}")


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


def check_format(options: argparse.Namespace, choosing: Sequence[str] = TREE) -> None:
    """Raises ArgumentError for an option that chooses rows or columns if JSON is printed, which holds all of them."""
    unused = [name for name in choosing if getattr(options, name.removeprefix("--")) is not None]
    if options.format == "json" and unused:
        hint = "json holds all rows and figures, in the order of the network"
        raise ArgumentError(f"`{unused[0]}` is for the other formats, not for json", hint=hint)
    if "--flat" in unused and options.depth is not None:
        raise ArgumentError(
            "`--flat` shows the layers of all levels, so it does not take `--depth`", hint="leave one out"
        )


def shown(found: Any, options: argparse.Namespace) -> Sheet:
    """The sheet of what was counted, with the rows and columns that were chosen."""
    return found.sheet(options.depth, options.columns, options.sort, bool(options.flat), options.top)
