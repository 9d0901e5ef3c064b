"""`paramcount zoo`: the shipped specs."""

from __future__ import annotations

from paramcount.cli.options import WRITING, Parser, show
from paramcount.errors import ArgumentError, quote

EXAMPLES = """\
examples:
  paramcount zoo                       every shipped spec in every variant
  paramcount zoo resnet                those with `resnet` in name or reference
  paramcount zoo resnet:5              by name and variant
  paramcount zoo torchvision/          those of a model of torchvision
  paramcount zoo --format json         everything, as raw integers
"""


def run(arguments: list[str]) -> int:
    """Print the shipped specs."""
    options = parser().parse(arguments)
    from paramcount.cost.zoo import zoo

    entries = zoo(options.word)
    if not entries:
        raise nothing(options.word)
    show(entries.sheet(), options)
    return 0


def nothing(word: str) -> ArgumentError:
    from paramcount.errors.suggest import did_you_mean, nearest
    from paramcount.language.yaml.source import shipped_specs

    hint = did_you_mean(nearest(word, shipped_specs()), "`paramcount zoo` lists all")
    return ArgumentError(f"no shipped spec has {quote(word)} in its name, variant or reference", hint=hint)


def parser() -> Parser:
    parser = Parser(
        rule="one word at a time",
        prog="paramcount zoo",
        usage="paramcount zoo [WORD] [options]",
        description="Show what each shipped spec costs.",
        epilog=EXAMPLES,
    )
    parser.add_argument("word", metavar="WORD", nargs="?", help="only those with WORD in name:variant or reference")
    parser.shared(*WRITING)
    return parser
