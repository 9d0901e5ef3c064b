"""`paramcount trace`: what a JAX function costs."""

from __future__ import annotations

from dataclasses import replace

from paramcount.cli.count import budgeted, ended
from paramcount.cli.options import REPEATABLE, TREE, WRITING, Parser, check_format, show, shown
from paramcount.cost.figures import Figures, Phases
from paramcount.errors import needs
from paramcount.graph.network import Subject

USAGE = 'paramcount trace MODULE:FUNCTION --args "TYPE[SIZES]" ... [options]'
EXAMPLES = """\
examples:
  paramcount trace jax.numpy:matmul --args "float32[25,16]" "float32[16,9]"
  paramcount trace my_model:forward --args "float32[8,224,224,3]" --depth 3
  paramcount trace my_model:forward --args "float32[1,64]" --max-macs 3M
  paramcount trace my_model:solve --args "float32[64]" --trips 10
"""


def run(arguments: list[str]) -> int:
    """Trace the function that the arguments name, and print its report."""
    options = parser().parse(arguments)
    check_format(options)
    with needs("trace"):
        from paramcount.backend.trace.described import traced
    report = traced(options.function, options.args, options.trips, not options.no_strict)
    report = replace(report, subject=Subject(f"{options.function}({', '.join(options.args)})"))
    within, excess = budgeted(report, options)
    show(shown(report, options).saying(within), options)
    return ended(excess)


def parser() -> Parser:
    parser = Parser(
        rule="the function's arguments follow `--args`",
        prog="paramcount trace",
        usage=USAGE,
        description="Count what a JAX function costs: MACs, FLOPs, elementwise operations.",
        epilog=EXAMPLES,
    )
    add = parser.add_argument
    add("function", metavar="MODULE:FUNCTION", help="the function; modules in this directory are found")
    add("--args", metavar="TYPE[SIZES]", nargs="*", default=[], help="its arguments: float32[8,224,224,3], 10, true")
    trips = "iterations of `while` loops, of all or in a scope, or `unknown`; repeatable"
    parser.add_argument("--trips", metavar="[SCOPE=]N", help=trips, **REPEATABLE)
    add("--no-strict", action="store_true", help="list operations without a rule as uncounted")
    figures = [*Figures._fields, *Phases._fields]
    parser.limits(figures, "macs", "the most MACs: 300M; likewise --max-flops, --min-macs, and so on")
    parser.shared("--depth", help="open N levels of scopes, or `all` (default: the first with several rows)")
    parser.shared(*TREE[1:], *WRITING)
    return parser
