"""`paramcount measure`: how long a spec takes on this device, and how many bytes, beside what was counted."""

from __future__ import annotations

from paramcount.backend.measure.result import MEANINGS
from paramcount.cli.main import Parser, at_least_one, load_spec, warn
from paramcount.errors import ArgumentError, needs

USAGE = "paramcount measure SPEC[:VARIANT] [options]"
EXAMPLES = """\
examples:
  paramcount measure mobilenet_v2 --batch 1,8,32
  paramcount measure mlp --train --optimizer adam --batch 128
  paramcount measure lenet --batch 64 --format json
"""


def run(arguments: list[str]) -> int:
    """Measure what the arguments name and print its table."""
    options = parser().parse(arguments)
    if options.optimizer and not options.train:
        raise ArgumentError("`--optimizer` is for training", hint="add `--train`")
    network = load_spec(options)
    warn(network)
    with needs("measure"):
        from paramcount.backend.measure.measure import measure

    found = measure(
        network,
        train=options.train,
        batch=options.batch,
        repeats=options.repeats,
        optimizer=options.optimizer or "sgd",
        seed=options.seed,
    )
    if options.format == "json":
        from json import dumps

        print(dumps(found.to_dict(), indent=1))
    else:
        print(found)
    return 0


def batches(text: str) -> tuple[int, ...]:
    return tuple(at_least_one(each.strip()) for each in text.split(","))


def columns() -> str:
    """The table's columns, a line for each."""
    return "\n".join(f"  {name:10}  {meaning.format(peak='the FLOP/s of')}" for name, meaning in MEANINGS.items())


def parser() -> Parser:
    parser = Parser(
        prog="paramcount measure",
        usage=USAGE,
        description="Time a network on the device at hand in JAX, and compare its bytes with the compiled program's.",
        epilog=f"columns:\n{columns()}\n\n{EXAMPLES}",
    )
    add = parser.add_argument
    add("spec", metavar="SPEC[:VARIANT]", help="a shipped spec or a file, and one of its variants")
    add("--variant", metavar="V", help="the variant")
    add("--set", metavar="NAME=VALUE", action="append", default=[], help="set a variable by hand; may come again")
    add("--train", action="store_true", help="measure a step of training instead of the forward computation")
    add("--optimizer", choices=("sgd", "momentum", "adam"), help="of the training (default sgd)")
    add("--batch", metavar="A,B", type=batches, default=(1,), help="sizes of the batch, a row for each (default 1)")
    add("--repeats", metavar="N", type=at_least_one, help="runs of a row (default: at least 5, for about 2 s)")
    add("--seed", metavar="S", type=int, default=0, help="of weights and inputs (default 0)")
    add("--plugin", metavar="FILE.py", action="append", default=[], help="load layers of your own from a file")
    add("--format", choices=("table", "json"), default="table", help="table or json (default table)")
    return parser
