"""`paramcount info`: what a spec says of itself, without counting it."""

from __future__ import annotations

from paramcount.cli.options import WRITING, Parser, show, spec_of, variables_set

EXAMPLES = """\
Nothing is counted. `--set NAME=VALUE` sets a variable in every command; one
that depends on others is shown as it is written, and with its value.

examples:
  paramcount info llama                what can be chosen and set
  paramcount info llama:3-8b           what this variant changes
  paramcount info deit --set heads=6   what depends on it
  paramcount info ./my.yaml            a file
"""


def run(arguments: list[str]) -> int:
    """Print what the spec says of itself."""
    options = parser().parse(arguments)
    spec = spec_of(options)
    from paramcount.language.information import info, information

    given = variables_set(options.set, options.spec)
    if isinstance(spec, str):
        found = info(spec, options.variant, vars=given)
    else:
        found = information(spec, "<stdin>", options.variant, given)
    show(found.sheet(), options)
    return 0


def parser() -> Parser:
    parser = Parser(
        prog="paramcount info",
        usage="paramcount info SPEC[:VARIANT] [options]",
        description="Show the description, the inputs, the variants and the variables of a spec.",
        epilog=EXAMPLES,
    )
    parser.shared("spec", "--variant", "--set", "--plugin", *WRITING)
    return parser
