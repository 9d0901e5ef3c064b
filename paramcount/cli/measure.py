"""`paramcount measure`: the time and the bytes that a network takes on this device, beside its count."""

from __future__ import annotations

from paramcount.backend.measure.result import HEADINGS
from paramcount.cli.options import WRITING, Parser, at_least_one, show
from paramcount.cli.specs import load_spec
from paramcount.errors import ArgumentError, needs

USAGE = "paramcount measure SPEC[:VARIANT] [options]"
EXAMPLES = """\
examples:
  paramcount measure mobilenet_v2 --batch 1,8,32
  paramcount measure mlp --train --optimizer adam --batch 128
  paramcount measure lenet --batch 64 --format json
"""


def run(arguments: list[str]) -> int:
    """Measure the network that the arguments name, and print its table."""
    options = parser().parse(arguments)
    if options.optimizer and not options.train:
        raise ArgumentError("`--optimizer` is for training", hint="add `--train`")
    network = load_spec(options)
    with needs("measure"):
        from paramcount.backend.measure.measure import measure

    found = measure(
        network,
        train=options.train,
        batch=options.batch,
        repeats=options.repeats,
        optimizer=options.optimizer or "sgd",
        seed=options.seed,
        progress=True,
    )
    show(found.sheet(), options)
    return 0


def batches(text: str) -> tuple[int, ...]:
    return tuple(at_least_one(each.strip()) for each in text.split(","))


def columns() -> str:
    """The table's columns, a line for each."""
    return "\n".join(
        f"  {each.title:10}  {each.meaning.format(peak='the FLOP/s of')}" for each in HEADINGS if each.meaning
    )


def parser() -> Parser:
    parser = Parser(
        prog="paramcount measure",
        usage=USAGE,
        description="Time a network in JAX on this device, and compare its bytes with the prediction.",
        epilog=f"columns:\n{columns()}\n\n{EXAMPLES}",
    )
    add = parser.add_argument
    parser.shared("spec", "--variant", "--set")
    add("--train", action="store_true", help="measure a training step instead of the forward computation")
    parser.optimizer()
    add("--batch", metavar="A,B", type=batches, default=(1,), help="the batch sizes, a row each (default 1)")
    add("--repeats", metavar="N", type=at_least_one, help="timed runs per row (default: at least 5, about 2 s)")
    add("--seed", metavar="N", type=int, default=0, help="the seed of initial values and inputs (default 0)")
    parser.shared("--plugin", *WRITING)
    return parser
