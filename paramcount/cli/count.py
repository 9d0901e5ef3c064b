"""`paramcount SPEC`: what a network costs."""

from __future__ import annotations

import gc
import sys
from typing import Any

from paramcount.cli.options import SETTINGS, TREE, WRITING, Parser, check_format, load_spec, show, shown
from paramcount.errors import CheckError, ManyErrors, ParamcountError

USAGE = """\
paramcount SPEC[:VARIANT] [options]
       paramcount COMMAND --help"""
NOTES = """\
SPEC is the name of a shipped spec, a file, or - for standard input. A budget
may have a suffix: 3.5M, 5e9, 8B, and of bytes 14MiB or 14MB. NO_COLOR=1 and
FORCE_COLOR=1 in the environment turn colour off and on.

examples:
  paramcount mobilenet_v2                      a shipped spec
  paramcount mobilenet_v2:x0.5 --depth 2       a variant, with its groups open
  paramcount ./my.yaml --set width=0.75        a file, with another value
  paramcount ./my.yaml@width=0.75              the same
  paramcount resnet --flat --top 10 --sort macs  the ten heaviest layers
  paramcount resnet --columns layer,params,flops --format markdown
  paramcount resnet -o resnet.csv -o resnet.html  files too
  paramcount resnet --train --optimizer adam   what a training step costs
  paramcount llama --batch 8 --kv-cache 32768  the bytes of a KV cache too
  paramcount ./my.yaml --max-params 3.5M       exit code 1 where there are more
  paramcount compare resnet:18 resnet:50       two networks side by side
  paramcount list MobileNetV2                  the spec of a model, by its name
  paramcount verify mobilenet_v2               build it in JAX and compare
  paramcount measure mobilenet_v2 --batch 1,8  time it on this machine
"""


def run(arguments: list[str]) -> int:
    """Count the network that the arguments name, and print its report."""
    options = parser().parse(arguments)
    collecting = gc.isenabled()
    gc.disable()  # the process ends soon, and collecting garbage takes a twentieth of its time
    try:
        return report(load_spec(options), options)
    finally:
        if collecting:
            gc.enable()


def report(network: Any, options: Any) -> int:
    from paramcount.cost.count import count

    check_format(options)
    found = inference = count(network, batch=options.batch, dtype=options.dtype)
    asked = (options.train, options.freeze, options.remat, options.optimizer, options.kv_cache)
    if any(asked) or options.attention != "dense":
        found = count(network, **{name: getattr(options, name) for name in SETTINGS})
    status, failure = expected(network, inference)  # the figures that a spec expects are those of inference
    within, excess = budgeted(found, options)
    show(shown(found, options).saying(status, within), options, warnings=found.warnings)
    return ended(failure, excess)


def budgeted(found: Any, options: Any) -> tuple[str, CheckError | None]:
    """The outcome of comparing what was counted with the limits among the options, and the error if one is broken."""
    if not any(name.startswith(("max_", "min_")) and text is not None for name, text in vars(options).items()):
        return "", None
    from paramcount.cli.limits import limits_in
    from paramcount.cost.budgets import error_of, violations
    from paramcount.cost.figures import FIGURES

    limits = limits_in(options, FIGURES)
    broken = violations(found, limits)
    if broken:
        return "budget: not kept", error_of(found.title, broken)
    kept = ", ".join(f"{limit.figure} {limit.bound.replace('_', ' ')} {limit.written}" for limit in limits)
    return f"budget: kept ({kept})", None


def expected(network: Any, report: Any) -> tuple[str, CheckError | None]:
    """The outcome of comparing a report with `expect`, and the error if a figure differs."""
    from paramcount.cost.expect import compare

    try:
        return compare(network, report), None
    except CheckError as error:
        return "expect: different", error


def ended(*failures: CheckError | None) -> int:
    """The exit code 0, or the failures, raised after everything printed so far is written."""
    found: list[ParamcountError] = [each for each in failures if each is not None]
    if found:
        sys.stdout.flush()
        raise found[0] if len(found) == 1 else ManyErrors(found)
    return 0


def parser() -> Parser:
    from paramcount import __version__
    from paramcount.cli import COMMANDS
    from paramcount.cost.figures import Figures, TrainingFigures

    wide = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:{wide}}  {what}" for name, what in COMMANDS.items())
    parser = Parser(prog="paramcount", usage=USAGE, description=f"Commands:\n{commands}", epilog=NOTES)
    parser.titles("What is counted", "Options of counting")
    add = parser.add_argument
    parser.shared("spec", "--variant", "--set")
    parser.counting()
    parser.limits([*Figures._fields, *TrainingFigures._fields])
    parser.shared(*TREE, *WRITING)
    add("-V", "--version", action="version", version=f"paramcount {__version__}", help="print the version and exit")
    return parser
