"""`paramcount trace`: a JAX function and its arguments from the shell."""

from __future__ import annotations

from paramcount.cli.main import Parser, at_least_one
from paramcount.errors import needs

USAGE = 'paramcount trace MODULE:FUNCTION --args "TYPE[SIZES]" ... [options]'
EXAMPLES = """\
examples:
  paramcount trace jax.numpy:matmul --args "float32[25,16]" "float32[16,9]"
  paramcount trace my_model:forward --args "float32[8,224,224,3]" --depth 3
  paramcount trace my_model:solve --args "float32[64]" --trips 10
"""


def run(arguments: list[str]) -> int:
    """Trace what the arguments name and print its report."""
    options = parser().parse(arguments)
    from paramcount.render import terminal

    with needs("trace"):
        from paramcount.backend.trace.described import traced
    report = traced(options.function, options.args, options.trips, not options.no_strict)
    if options.format == "json":
        from json import dumps

        print(dumps(report.to_dict(), indent=1))
    else:
        from paramcount.render.trace import render

        columns = options.columns.split(",") if options.columns else None
        print(render(report, depth=options.depth, columns=columns, sort=options.sort, colour=terminal.colour()))
    return 0


def parser() -> Parser:
    parser = Parser(
        rule="arguments stand behind `--args`",
        prog="paramcount trace",
        usage=USAGE,
        description="Count what a JAX function costs: multiply-accumulates, FLOPs, elementwise operations.",
        epilog=EXAMPLES,
    )
    add = parser.add_argument
    add("function", metavar="MODULE:FUNCTION", help="what to trace; modules in this directory are found")
    add("--args", metavar="TYPE[SIZES]", nargs="*", default=[], help="its arguments: float32[8,224,224,3], 10, true")
    add("--trips", metavar="[SCOPE=]N", action="append", default=[], help="how often `while` runs, or `unknown`")
    add("--no-strict", action="store_true", help="show operations without a rule as uncounted")
    add("--depth", metavar="N", type=at_least_one, help="open N levels of scopes (default: the first with several)")
    add("--columns", metavar="A,B", help="the table's columns, instead of the usual ones")
    add("--sort", metavar="COLUMN", help="order the rows, numbers from the largest")
    add("--format", choices=("table", "json"), default="table", help="table or json (default table)")
    return parser
