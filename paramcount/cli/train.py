"""`paramcount train`: a network trained on a data set."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

from paramcount.cli.interrupt import STOPPED, Interruptible
from paramcount.cli.options import WRITING, Parser, at_least_one, give, load_spec, show
from paramcount.errors import ArgumentError, ParamcountError, needs, quote
from paramcount.numbers.units import number_of
from paramcount.render import terminal
from paramcount.render.terminal import complain, warn

USAGE = "paramcount train SPEC[:VARIANT] --data PATH [options]"
EXAMPLES = """\
PATH is a folder with MNIST's four files (gzipped or not), or an .npz file with
x_train, y_train, x_test and y_test. Pixels of 0 to 255 are divided by 255, and
images are reshaped to the network's input.

examples:
  paramcount train mlp --data mnist --epochs 8 --lr 0.1
  paramcount train lenet --data mnist --optimizer adam --lr 1e-3
  paramcount train lenet --data mnist --checkpoint lenet.safetensors
  paramcount train lenet --data mnist --checkpoint lenet.safetensors --resume
  paramcount train mlp --data mnist --devices 8
"""


def run(arguments: list[str]) -> int:
    """Train the network that the arguments name, and print each epoch and a summary."""
    options = parser().parse(arguments)
    several = options.coordinator is not None
    if {option is not None for option in (options.processes, options.process)} != {several}:
        raise ArgumentError("`--coordinator`, `--processes` and `--process` belong together", "give all three, or none")
    network = load_spec(options)
    with needs("train"):
        import jax

        from paramcount.backend.data.data import Batches, read_data
        from paramcount.backend.run.device import check_device
        from paramcount.backend.train.processes import join
        from paramcount.backend.train.train import train
    if len(network.inputs) > 1:
        raise ArgumentError("this command trains networks of one input", "`pc.train` in Python takes any")
    data = read_data(options.data)
    transform = transform_for(network, data)
    check_division(len(data.train.x), options)
    if several:  # after all checks, so that the other processes do not wait for one that fails them
        if options.process == 0 and options.processes > 1:
            complain(f"waiting for {options.processes - 1} more at {quote(options.coordinator)}")
        join(options.coordinator, options.processes, options.process)
    check_device()
    first = jax.process_index() == 0
    fresh: list[Any] = []  # the epochs of this run

    def report(epoch: Any) -> None:
        fresh.append(epoch)
        if first and options.format == "table":
            print(epoch, flush=True)

    batches: Any = Batches
    if options.loader == "torch":
        from paramcount.backend.data.loader import torch_batches as batches
    settings = {"shuffle": not options.no_shuffle, "seed": options.seed, "drop_last": options.drop_last}
    try:
        with Interruptible():
            result = train(
                network,
                batches(data.train.x, data.train.y, options.batch, **settings),
                test=None if data.test is None else batches(data.test.x, data.test.y, options.batch, shuffle=False),
                epochs=options.epochs,
                optimizer=options.optimizer,
                learning_rate=options.lr,
                transform=transform,
                freeze=options.freeze,
                seed=options.seed,
                devices=options.devices,
                staleness=options.staleness,
                checkpoint=options.checkpoint,
                resume=options.resume,
                on_epoch=report,
                progress=first,
            )
    except KeyboardInterrupt:
        held = options.checkpoint and (fresh or options.resume)
        kept = f"; {quote(options.checkpoint)} holds the last whole epoch, `--resume` continues" if held else ""
        complain(f"stopped{kept}")
        return STOPPED
    except jax.errors.JaxRuntimeError as error:
        if not several:
            raise
        reason = str(error).partition("\n")[0]
        raise ParamcountError(f"another process has stopped, or cannot be reached: {reason}") from error
    if not first:
        return 0
    if not fresh:
        done = len(result.epochs)
        hint = f"hint: `--epochs {done + 1}` trains one more"
        warn(f"{quote(options.checkpoint)} holds {number_of(done, 'epoch')} already\n{hint}")
    elif options.devices == 1:
        from paramcount.backend.measure.peak import matmul_peak

        result = replace(result, peak=matmul_peak())
    if options.format != "table":
        show(result.sheet(), options)
        return 0
    text = terminal.written(str(result), terminal.encoding()) if fresh else None  # epochs are printed as they end
    give(text, result.sheet(), options.output)
    return 0


def check_division(examples: int, options: Any) -> None:
    """Raises ArgumentError unless each batch can be divided by the devices, also a shorter last one."""
    batch, devices = min(options.batch, examples), options.devices
    fits = max(batch - batch % devices, devices)
    drop = " --drop-last" if examples % fits % devices else ""
    if batch % devices:
        hint = f"`--batch {fits}{drop}` fits" if fits <= examples else "give fewer devices"
        raise ArgumentError(f"a batch of {batch} cannot be divided by {devices} devices", hint)
    last = examples % batch
    if last % devices and not options.drop_last:
        message = f"the last of {examples} examples are a batch of {last}, which cannot be divided by {devices} devices"
        raise ArgumentError(message, f"`--drop-last` leaves {last} out, others in each epoch")


def transform_for(network: Any, data: Any) -> Any:
    """The function that makes the network's inputs from stored examples: scaled bytes, reshaped; None for tokens.

    Raises ArgumentError for examples with another number of elements, or with other axes: only flat examples and axes
    of size 1 are reshaped.
    """
    (shape,) = network.inputs.values()
    for sizes in (split.x.shape[1:] for split in data if split):
        message = f"the data's examples are {sizes}, and the network takes {shape.sizes}"
        if prod(sizes) != shape.elements:
            raise ArgumentError(message, "both must have the same number of elements")
        stored, taken = ([size for size in each if size != 1] for each in (sizes, shape.sizes))
        if stored != taken and min(len(stored), len(taken)) > 1:
            hint = (
                "channels come last: `x.transpose(0, 2, 3, 1)`" if sorted(stored) == sorted(taken) else "reshape them"
            )
            raise ArgumentError(message, hint)
    if shape.layout == "tokens":  # unchanged, so that training can check that they are in the vocabulary
        return None

    def transform(x: Any) -> Any:
        x = x.reshape(len(x), *shape.sizes)
        return x.astype("float32") / 255 if x.dtype == "uint8" else x.astype("float32")

    return transform


def parser() -> Parser:
    parser = Parser(
        prog="paramcount train",
        usage=USAGE,
        description="Train a network in JAX, and compare its speed with the machine's peak.",
        epilog=EXAMPLES,
    )
    add = parser.add_argument
    parser.shared("spec")
    add("--data", metavar="PATH", required=True, help="the data set: a folder or an .npz file")
    parser.shared("--variant", "--set", "--plugin")
    add("--epochs", metavar="N", type=at_least_one, default=1, help="the number of epochs (default 1)")
    add("--batch", metavar="N", type=at_least_one, default=128, help="the batch size (default 128)")
    add("--lr", metavar="RATE", type=float, default=0.01, help="the learning rate (default 0.01)")
    parser.optimizer("sgd")
    parser.shared("--freeze", *WRITING)
    add("--seed", metavar="N", type=int, default=0, help="the seed of initial values, order and dropout (default 0)")
    add("--no-shuffle", action="store_true", help="take the examples in the order of the data")
    add("--loader", choices=("numpy", "torch"), default="numpy", help="the loader of the batches (default numpy)")
    add("--checkpoint", metavar="FILE", help="write a checkpoint to this file (safetensors) after each epoch")
    add("--resume", action="store_true", help="continue from the checkpoint")
    add("--drop-last", action="store_true", help="leave out the last batch of an epoch if it is shorter")
    add("--devices", metavar="N", type=at_least_one, default=1, help="divide each batch over N devices (default 1)")
    add("--staleness", metavar="N", type=int, default=0, help="simulate gradients that arrive N updates late")
    add("--coordinator", metavar="HOST:PORT", help="train in several processes: the address of process 0")
    add("--processes", metavar="N", type=at_least_one, help="the number of processes")
    add("--process", metavar="I", type=int, help="the index of this process, from 0")
    return parser
