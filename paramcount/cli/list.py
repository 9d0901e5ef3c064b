"""`paramcount list`: the names of the shipped specs and of their variants."""

from __future__ import annotations

from paramcount.cli.options import WRITING, Parser, show
from paramcount.errors import ArgumentError, quote

EXAMPLES = """\
Nothing is counted; `paramcount zoo` lists what each costs, and
`paramcount info SPEC` what can be set.

examples:
  paramcount list                      every shipped spec with its variants
  paramcount list resnet               those with `resnet` in their description
  paramcount list llama:3              by name and variant
  paramcount list meta-llama/Llama-3.2-1B  the name in another library
  paramcount list --names              only names, for scripts
  paramcount list --names resnet:      the variants of one spec
"""


def run(arguments: list[str]) -> int:
    """Print the names of the shipped specs."""
    options = parser().parse(arguments)
    if options.names:
        if options.format != "table" or options.output:
            raise ArgumentError("`--names` prints only names", hint="leave it out for a format or a file")
        print(*names(options.word or ""), sep="\n")
        return 0
    from paramcount.language.listing import listing, sheet

    specs = listing(options.word)
    if not specs:
        raise nothing(options.word)
    show(sheet(specs), options)
    return 0


def names(word: str) -> list[str]:
    """The names that contain a word, from the folder of the specs alone; behind a colon, the variants of one spec."""
    spec, colon, variant = word.rpartition(":")
    if colon:
        from paramcount.language.load import syntax_of

        known = list(syntax_of(spec)[0].variants)
    else:
        from paramcount.language.yaml.source import shipped_specs

        known = shipped_specs()
    found = [each for each in known if variant.lower() in each.lower()]
    if not found:
        raise nothing(word)
    return found


def nothing(word: str) -> ArgumentError:
    from paramcount.language.usual_names import no_spec

    hint = no_spec(word, word.partition(":")[0]).hint
    return ArgumentError(f"no shipped spec has {quote(word)} in its name, description or reference", hint=hint)


def parser() -> Parser:
    parser = Parser(
        rule="one word at a time",
        prog="paramcount list",
        usage="paramcount list [WORD] [options]",
        description="List the shipped specs with their variants.",
        epilog=EXAMPLES,
    )
    parser.add_argument(
        "word",
        metavar="WORD",
        nargs="?",
        help="what to look for: a name, a word, or a model as another library calls it",
    )
    parser.add_argument("--names", action="store_true", help="print only names, one per line")
    parser.shared(*WRITING)
    return parser
