"""`paramcount kinds`: what specs can write, described."""

from __future__ import annotations

from paramcount.cli.options import WRITING, Parser, show
from paramcount.cli.specs import load_plugins

EXAMPLES = """\
examples:
  paramcount kinds                             every kind, form, modifier, block
  paramcount kinds conv                        one: arguments, figures, example
  paramcount kinds --plugin my_layers.py       your own layers too
  paramcount kinds conv --format json          for programs
"""


def run(arguments: list[str]) -> int:
    """Print the list, or one description."""
    options = parser().parse(arguments)
    load_plugins(options)
    from paramcount.cost.kinds import kind_sheet, list_sheet

    show(list_sheet() if options.kind is None else kind_sheet(options.kind), options)
    return 0


def parser() -> Parser:
    parser = Parser(
        rule="one kind at a time",
        prog="paramcount kinds",
        usage="paramcount kinds [KIND] [options]",
        description="List kinds of layers, forms, modifiers and shipped blocks, or describe one.",
        epilog=EXAMPLES,
    )
    parser.add_argument("kind", metavar="KIND", nargs="?", help="a kind, a form, a modifier or a shipped block")
    parser.shared("--plugin", *WRITING)
    return parser
