"""`paramcount verify`: a spec built in JAX, its figures beside what was counted."""

from __future__ import annotations

import sys

from paramcount.cli.main import Parser, expected, load_spec, warn
from paramcount.errors import ArgumentError, needs

EXAMPLES = """\
Shapes, parameters and MACs are compared with those of the program that JAX traces, layer by layer, and the count with
what the spec expects. The exit code is 1 where a figure differs.

examples:
  paramcount verify mobilenet_v2
  paramcount verify ./my.yaml --set width=0.75
  paramcount verify mlp --train --freeze dense0
"""


def run(arguments: list[str]) -> int:
    """Verify what the arguments name and print what was compared."""
    options = parser().parse(arguments)
    if options.freeze and not options.train:
        raise ArgumentError("`--freeze` is for training", hint="add `--train`")
    network = load_spec(options)
    from paramcount.cost.count import count
    from paramcount.render import terminal

    with needs("verify"):
        from paramcount.backend.prove.verify import verify

    outcome = verify(network, train=options.train, freeze=options.freeze)
    warn(network)
    status, failure = expected(network, count(network))
    print(terminal.written(f"{outcome}\n{status}", terminal.encoding()))
    if failure is not None:
        sys.stdout.flush()
        raise failure
    return 0 if outcome.ok else 1


def parser() -> Parser:
    parser = Parser(
        prog="paramcount verify",
        usage="paramcount verify SPEC[:VARIANT] [options]",
        description="Build a network in JAX, and compare it with what was counted.",
        epilog=EXAMPLES,
    )
    add = parser.add_argument
    add("spec", metavar="SPEC[:VARIANT]", help="a shipped spec, a file or -, and one of its variants")
    add("--variant", metavar="V", help="the variant")
    add("--set", metavar="NAME=VALUE", action="append", default=[], help="set a variable by hand; may come again")
    add("--train", action="store_true", help="compare the MACs of the gradient too")
    add("--freeze", metavar="PATTERN", action="append", default=[], help="train no rows of this path; may come again")
    add("--plugin", metavar="FILE.py", action="append", default=[], help="load layers of your own from a file")
    return parser
