"""The command line: parse, call, render, exit code."""

from __future__ import annotations

import argparse
import errno
import gc
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from paramcount.errors import ArgumentError, CheckError, ParamcountError, quote

USAGE = """\
paramcount SPEC[:VARIANT] [options]
       paramcount COMMAND --help"""
DESCRIPTION = "Count what a network costs: parameters, multiply-accumulates, FLOPs, activations, bytes."
EXAMPLES = """\
SPEC is a shipped spec by its name, a file, or - for what is piped in.

examples:
  paramcount mobilenet_v2                      a shipped spec
  paramcount mobilenet_v2:x0.5 --depth 2       a variant, its groups opened
  paramcount ./my.yaml --set width=0.75        a file, one variable set by hand
  paramcount resnet --columns layer,params,flops --sort flops
  paramcount resnet --format json              everything, as raw integers
  paramcount resnet --train --optimizer adam   what a step of training costs
  paramcount verify mobilenet_v2               build it in JAX and compare
  paramcount measure mobilenet_v2 --batch 1,8  time it on this machine
  paramcount trace --help                      count a JAX function
  paramcount train --help                      train it on a data set
  paramcount zoo                               every shipped spec and what it costs
  paramcount sweep --help                      many variants at once
  paramcount solve --help                      the largest within a budget
"""
COMMANDS = {  # the module of each, and its function
    "verify": ("verify", "run"),
    "measure": ("measure", "run"),
    "trace": ("trace", "run"),
    "train": ("train", "run"),
    "zoo": ("zoo", "run"),
    "sweep": ("sweep", "run_sweep"),
    "solve": ("sweep", "run_solve"),
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are ours; its texts stand as they are written. `rule` is what a word too many breaks."""

    def __init__(self, rule: str = "one spec at a time", **texts: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **texts)
        self.rule = rule

    @property
    def help_hint(self) -> str:
        return f"`{self.prog} --help` shows what there is"

    def error(self, message: str) -> NoReturn:
        raise ArgumentError(message, hint=self.help_hint)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        options, unknown = self.parse_known_args(arguments)
        if not unknown:
            return options
        from paramcount.errors.suggest import did_you_mean, nearest

        word = unknown[0].split("=")[0]
        if not word.startswith("-"):
            raise ArgumentError(f"{self.rule}; {quote(unknown[0])} is left over", hint=self.help_hint)
        guess = nearest(word, [option for action in self._actions for option in action.option_strings])
        raise ArgumentError(f"unknown option {quote(word)}", hint=did_you_mean(guess, self.help_hint))


def at_least_one(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{quote(text)} is not a whole number of at least 1")
    return int(text)


def levels(text: str) -> int:
    return sys.maxsize if text == "all" else at_least_one(text)


def parser() -> Parser:
    parser = Parser(
        prog="paramcount",
        usage=USAGE,
        description=DESCRIPTION,
        epilog=EXAMPLES,
    )
    add = parser.add_argument
    add("spec", metavar="SPEC[:VARIANT]", help="a shipped spec or a file, and one of its variants")
    add("--variant", metavar="V", help="the variant")
    add("--set", metavar="NAME=VALUE", action="append", default=[], help="set a variable by hand; may come again")
    add("--train", action="store_true", help="the cost of a step of training: forward, backward, loss, optimizer")
    add("--freeze", metavar="PATTERN", action="append", default=[], help="train no rows of this path; may come again")
    add("--plugin", metavar="FILE.py", action="append", default=[], help="load layers of your own from a file")
    add("--remat", action="store_true", help="compute each pass of a loop again for its gradient")
    add("--optimizer", choices=("sgd", "momentum", "adam"), help="of the training (default sgd)")
    add("--batch", metavar="N", type=at_least_one, default=1, help="multiply work and activations (default 1)")
    add("--dtype", metavar="TYPE", default="float32", help="of the parameters' bytes (default float32)")
    add("--kv-cache", metavar="TOKENS", type=at_least_one, help="add the bytes of these tokens' keys and values")
    add("--attention", choices=("dense", "exact"), default="dense", help="exact counts only what masks leave")
    add("--depth", metavar="N", type=levels, help="open N levels of groups, or `all` (default 1)")
    add("--columns", metavar="A,B", help="the table's columns, instead of the usual ones")
    add("--sort", metavar="COLUMN", help="order the rows, numbers from the largest")
    add("--format", choices=("table", "json"), default="table", help="table or json (default table)")
    from paramcount import __version__

    add("--version", action="version", version=f"paramcount {__version__}")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 fine, 1 a check failed, 2 the input is wrong."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except SystemExit as done:  # argparse, after --help or --version
        return done.code if isinstance(done.code, int) else 0
    except OSError as error:
        # Nobody reads on, or the disk is full; what is still buffered must not fail again when Python exits.
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 0
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
        complain(f"the output cannot be written: {error.strerror}")
    except ParamcountError as error:
        complain(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        complain("stopped")
        return 130
    except RecursionError:
        complain("this is nested too deeply\nhint: write it with fewer levels")
    except MemoryError:
        complain("this does not fit in memory\nhint: make it smaller")
    return 2


def run(arguments: list[str]) -> int:
    first = arguments[0] if arguments else ""
    if first in COMMANDS:
        from importlib import import_module

        module, function = COMMANDS[first]
        return getattr(import_module(f"paramcount.cli.{module}"), function)(arguments[1:])
    check_command(first)
    options = parser().parse(arguments)
    collecting = gc.isenabled()
    gc.disable()  # the process ends soon; looking for garbage takes a twentieth of its time
    try:
        return run_count(load_spec(options), options)
    finally:
        if collecting:
            gc.enable()


def check_command(word: str) -> None:
    """Raises ArgumentError for a first word that is no spec, and nearer to a command than to any of the specs."""
    from paramcount.errors.suggest import did_you_mean, nearest

    if word.startswith("-") or "/" in word or "." in word or not nearest(word, COMMANDS):
        return
    from paramcount.language.load import locate, shipped_specs

    try:
        locate(word)
    except ArgumentError:
        guess = nearest(word, [*COMMANDS, *shipped_specs()])
        if guess in COMMANDS:
            raise ArgumentError(f"there is no command or spec {quote(word)}", hint=did_you_mean(guess, "")) from None


def load_plugins(options: argparse.Namespace) -> None:
    """Load the user's own kinds of layers."""
    for path in options.plugin:
        from paramcount.language.plugin import load_plugin

        load_plugin(path)


def load_spec(options: argparse.Namespace) -> Any:
    """The spec's network with its variant and the variables that were set; plugins are loaded first."""
    load_plugins(options)
    from paramcount.language.load import load, loads

    settings = {}
    for setting in options.set:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise ArgumentError(f"`--set` takes a name and a value, not {quote(setting)}", hint="--set width=0.5")
        if name.strip() in ("path", "variant"):
            raise ArgumentError(
                f"`--set` cannot set {quote(name.strip())}", hint="a variant is chosen with `--variant`"
            )
        settings[name.strip()] = value.strip()
    if options.spec == "-":
        return loads(sys.stdin.read(), options.variant, "<stdin>", **settings)
    return load(options.spec, options.variant, **settings)


def run_count(network: Any, options: argparse.Namespace) -> int:
    from paramcount.cost.count import count

    unused = [name for name in ("depth", "columns", "sort") if getattr(options, name) is not None]
    if options.format == "json" and unused:
        hint = "json holds all rows and figures, in the order of the network"
        raise ArgumentError(f"`--{unused[0]}` is for the table, not for json", hint=hint)
    report = inference = count(network, batch=options.batch, dtype=options.dtype)
    asked = (options.train, options.freeze, options.remat, options.optimizer, options.kv_cache)
    if any(asked) or options.attention != "dense":
        names = ("batch", "dtype", "train", "freeze", "remat", "optimizer", "attention", "kv_cache")
        report = count(network, **{name: getattr(options, name) for name in names})
    warn(network)
    status, failure = expected(network, inference)  # what a spec expects is said of inference
    if options.format == "json":
        from paramcount.render.json import render

        print(render(report))
    else:
        from paramcount.render import table, terminal

        columns = options.columns.split(",") if options.columns else None
        colour = terminal.colour()
        print(
            table.render(
                report, depth=options.depth or 1, columns=columns, sort=options.sort, colour=colour, status=status
            )
        )
    if failure is not None:
        sys.stdout.flush()
        raise failure
    return 0


def expected(network: Any, report: Any) -> tuple[str, CheckError | None]:
    """What `expect` says of a report, and the error where a figure differs."""
    from paramcount.cost.expect import compare

    try:
        return compare(network, report), None
    except CheckError as error:
        return "expect: different", error


def warn(network: Any) -> None:
    for warning in getattr(network, "warnings", ()):
        complain(warning)


def complain(text: str) -> None:
    """Print to stderr, which may take less than Unicode or be closed."""
    from paramcount.render import terminal

    if sys.stderr is not None:
        print(terminal.written(text, terminal.encoding(sys.stderr)), file=sys.stderr)
