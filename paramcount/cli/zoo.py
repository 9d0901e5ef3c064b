"""`paramcount zoo`: the shipped specs."""

from __future__ import annotations

from paramcount.cli.options import WRITING, Parser, show

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
        from paramcount.cli.hints import in_no_spec

        raise in_no_spec(options.word, "its name, variant or reference", "zoo")
    show(entries.sheet(), options)
    return 0


def parser() -> Parser:
    parser = Parser(
        rule="one word at a time",
        prog="paramcount zoo",
        usage="paramcount zoo [WORD] [options]",
        description="List the shipped specs, and what each costs.",
        epilog=EXAMPLES,
    )
    parser.add_argument("word", metavar="WORD", nargs="?", help="only those with WORD in name:variant or reference")
    parser.shared(*WRITING)
    return parser
