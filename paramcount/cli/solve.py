"""`paramcount solve`: the largest value of a variable that a budget allows."""

from __future__ import annotations

import argparse

from paramcount.cli.options import Parser, spec_of
from paramcount.cli.values import amount, number, scalar, setting
from paramcount.cost.figures import Figures
from paramcount.render.shown import rendered

EXAMPLES = """\
examples:
  paramcount solve mobilenet_v2 width --max-macs 300M
  paramcount solve llama depth --max-params 3G --set d=1024
"""
BUDGETS = tuple(Figures._fields)


def run(arguments: list[str]) -> int:
    """Print the table of the largest network within the budget, and what comes next."""
    options = parser().parse(arguments)
    from paramcount.sweeps.solve import solve

    budget = {name: amount(getattr(options, f"max_{name}")) for name in BUDGETS if getattr(options, f"max_{name}")}
    bounds = {name: number(getattr(options, name)) for name in ("low", "high", "step") if getattr(options, name)}
    fixed = {name: scalar(values) for name, values in map(setting, options.set)}
    found = solve(spec_of(options), options.name, budget, options.variant, **bounds, **fixed)
    print(rendered(found.sheet(), options.format))
    return 0


def parser() -> Parser:
    parser = Parser(
        rule="one spec and one variable at a time",
        prog="paramcount solve",
        usage="paramcount solve SPEC[:VARIANT] NAME --max-macs 300M [options]",
        description="Find the largest value of a variable within a budget, and count the network there.",
        epilog=EXAMPLES,
    )
    add = parser.add_argument
    parser.shared("spec")
    add("name", metavar="NAME", help="the variable")
    parser.shared("--variant")
    parser.shared("--set", help="set another variable; repeatable")
    add("--low", metavar="X", help="the smallest value to try (default: one step)")
    add("--high", metavar="X", help="the largest value to try (default: beyond the budget)")
    add("--step", metavar="X", help="between the values (default 1, or 0.01 of a fraction)")
    parser.shared("--plugin", "--format")
    for name in BUDGETS:
        add(
            f"--max-{name.replace('_', '-')}",
            metavar="N",
            help=argparse.SUPPRESS
            if name != "macs"
            else "the most MACs: 300M, 5e9; so too --max-params, --max-param-bytes 14MiB, and every other figure",
        )
    return parser
