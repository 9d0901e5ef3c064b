"""`paramcount measure`: how long a spec takes on this device, and how many bytes, beside what was counted."""

from __future__ import annotations

from paramcount.backend.measure.result import HEADINGS
from paramcount.cli.count import warn
from paramcount.cli.options import Parser, at_least_one, load_spec
from paramcount.errors import ArgumentError, needs
from paramcount.render.shown import rendered

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
    print(rendered(found.sheet(), options.format))
    return 0


def batches(text: str) -> tuple[int, ...]:
    return tuple(at_least_one(each.strip()) for each in text.split(","))


def columns() -> str:
    """The table's columns, a line for each."""
    return "\n".join(f"  {each.title:10}  {each.meaning.format(peak='the FLOP/s of')}" for each in HEADINGS)


def parser() -> Parser:
    parser = Parser(
        prog="paramcount measure",
        usage=USAGE,
        description="Time a network on the device at hand in JAX, and compare its bytes with the compiled program's.",
        epilog=f"columns:\n{columns()}\n\n{EXAMPLES}",
    )
    add = parser.add_argument
    parser.shared("spec", "--variant", "--set")
    add("--train", action="store_true", help="measure a step of training instead of the forward computation")
    parser.optimizer()
    add("--batch", metavar="A,B", type=batches, default=(1,), help="sizes of the batch, a row for each (default 1)")
    add("--repeats", metavar="N", type=at_least_one, help="runs of a row (default: at least 5, for about 2 s)")
    add("--seed", metavar="S", type=int, default=0, help="of weights and inputs (default 0)")
    parser.shared("--plugin", "--format")
    return parser
