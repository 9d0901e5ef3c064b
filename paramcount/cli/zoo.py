"""`paramcount zoo`: what is shipped."""

from __future__ import annotations

from paramcount.cli.main import Parser
from paramcount.errors import ArgumentError, quote

EXAMPLES = """\
examples:
  paramcount zoo                       every shipped spec in every variant
  paramcount zoo resnet                those with `resnet` in them
  paramcount zoo resnet:5              name and variant
  paramcount zoo torchvision/          those that stand for a model of torchvision
  paramcount zoo --format json         everything, as raw integers
"""


def run(arguments: list[str]) -> int:
    """Print the shipped specs."""
    options = parser().parse(arguments)
    from paramcount.cost.zoo import zoo

    entries = zoo(options.word)
    if not entries:
        raise nothing(options.word)
    from paramcount.render import zoo as render

    print(render.json(entries) if options.format == "json" else render.table(entries))
    return 0


def nothing(word: str) -> ArgumentError:
    from paramcount.errors.suggest import did_you_mean, nearest
    from paramcount.language.load import shipped_specs

    hint = did_you_mean(nearest(word, shipped_specs()), "`paramcount zoo` shows everything")
    return ArgumentError(f"no shipped spec has {quote(word)} in its name, variant or reference", hint=hint)


def parser() -> Parser:
    parser = Parser(
        rule="one word at a time",
        prog="paramcount zoo",
        usage="paramcount zoo [WORD] [--format json]",
        description="List the shipped specs and what each costs.",
        epilog=EXAMPLES,
    )
    parser.add_argument("word", metavar="WORD", nargs="?", help="only those with WORD in name:variant or reference")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="table or json (default table)")
    return parser
