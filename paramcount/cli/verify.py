"""`paramcount verify`: a network built in JAX, its figures beside its count."""

from __future__ import annotations

from paramcount.cli.count import ended, expected
from paramcount.cli.options import WRITING, Parser, load_spec, show
from paramcount.errors import ArgumentError, needs

EXAMPLES = """\
Shapes, parameters and MACs are compared with those of the program that JAX
traces, layer by layer, and the count with what the spec expects. The exit code
is 1 if a figure differs.

examples:
  paramcount verify mobilenet_v2
  paramcount verify ./my.yaml --set width=0.75
  paramcount verify mlp --train --freeze dense0
"""


def run(arguments: list[str]) -> int:
    """Verify the network that the arguments name, and print what was compared."""
    options = parser().parse(arguments)
    if options.freeze and not options.train:
        raise ArgumentError("`--freeze` is for training", hint="add `--train`")
    network = load_spec(options)
    from paramcount.cost.count import count

    with needs("verify"):
        from paramcount.backend.prove.verify import verify

    outcome = verify(network, train=options.train, freeze=options.freeze)
    status, failure = expected(network, count(network))
    show(outcome.sheet().saying(status), options, warnings=outcome.warnings)
    return ended(failure) or int(not outcome.ok)


def parser() -> Parser:
    parser = Parser(
        prog="paramcount verify",
        usage="paramcount verify SPEC[:VARIANT] [options]",
        description="Build a network in JAX and compare it with its count.",
        epilog=EXAMPLES,
    )
    parser.shared("spec", "--variant", "--set")
    parser.add_argument("--train", action="store_true", help="compare the MACs of the gradient too")
    parser.shared("--freeze", "--plugin", *WRITING)
    return parser
