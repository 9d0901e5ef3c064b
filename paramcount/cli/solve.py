"""`paramcount solve`: the largest value of a variable within a budget."""

from __future__ import annotations

from argparse import SUPPRESS

from paramcount.cli.limits import spellings
from paramcount.cli.options import WRITING, Parser, show, spec_of, variables_set
from paramcount.cli.values import number
from paramcount.cost.figures import Figures
from paramcount.errors import ArgumentError, quote
from paramcount.numbers.amounts import amount
from paramcount.render.terminal import warn

EXAMPLES = """\
examples:
  paramcount solve mobilenet_v2 width --max-macs 300M
  paramcount solve llama depth --max-params 3G --set d=1024
"""


def run(arguments: list[str]) -> int:
    """Find the largest network within the budget, and print its table."""
    options = parser().parse(arguments)
    from paramcount.sweeps.solve import solve

    if "=" in options.name:
        hint = f"write {quote(options.name.partition('=')[0])}; `--low` and `--high` bound its values"
        raise ArgumentError(f"the variable to solve for takes no value, as in {quote(options.name)}", hint=hint)
    given = {name: text for name, text in vars(options).items() if text is not None}
    budget = {name: amount(given[f"max_{name}"], name) for name in Figures._fields if f"max_{name}" in given}
    bounds = {name: number(given[name]) for name in ("low", "high", "step") if name in given}
    fixed = variables_set(options.set, options.spec)
    found = solve(spec_of(options), options.name, budget, options.variant, **bounds, vars=fixed)
    for warning in found.warnings:
        warn(warning)
    show(found.sheet(), options, warnings=found.warnings)
    return 0


def parser() -> Parser:
    parser = Parser(
        rule="one spec and one variable at a time",
        prog="paramcount solve",
        usage="paramcount solve SPEC[:VARIANT] NAME --max-macs 300M [options]",
        description="Find the largest value of a variable within a budget, and count the network.",
        epilog=EXAMPLES,
    )
    add = parser.add_argument
    parser.shared("spec")
    add("name", metavar="NAME", help="the variable")
    parser.shared("--variant")
    parser.shared("--set", help="set another variable of the spec; repeatable")
    add("--low", metavar="X", help="the smallest value to try (default: one step)")
    add("--high", metavar="X", help="the largest value to try (default: up to the budget)")
    add("--step", metavar="X", help="the step between values (default 1, or 0.01 if the variable is a fraction)")
    parser.shared("--plugin", *WRITING)
    help = "the most MACs: 300M, 5e9; likewise --max-params, --max-bytes 14MiB, and any other figure"
    for name in Figures._fields:
        options = [f"--max-{each}" for each in spellings(name)]
        add(*options, metavar="N", help=help if name == "macs" else SUPPRESS)
    return parser
