"""Where training starts: initial values of the tensors, or everything an earlier run left in its checkpoint."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from tempfile import TemporaryFile
from typing import Any

from jax import numpy as jnp

from paramcount.backend.run.arrays import array_of
from paramcount.backend.run.initialize import Tensors, initialize, split
from paramcount.backend.train.checkpoint import load, replaceable, restore, save
from paramcount.backend.train.result import Epoch
from paramcount.backend.train.step import State
from paramcount.errors import ArgumentError, needs, printable, quote
from paramcount.graph.network import Network, require_network
from paramcount.graph.tree import Graph
from paramcount.layers.arguments import file_path


def first_values(graph: Graph, init: Any, seed: int) -> tuple[Tensors, Tensors]:
    """Parameters and buffers before training: the default initial values, or those of `init` in their place.

    Raises ArgumentError for a tensor that the network does not have, or a value of another shape or type.
    """
    params, buffers = initialize(graph, seed)
    if callable(init):
        init = {path: {name: init(path, name, each[name].shape) for name in each} for path, each in params.items()}
    for path, each in by_path({} if init is None else init):
        for name, value in by_path(each):
            place = f"{path}/{name}"
            home = next((tree[path] for tree in (params, buffers) if name in tree.get(path, {})), None)
            if home is None:
                hint = "the paths are those of the rows, as in `network.init()`"
                raise ArgumentError(f"the network has no tensor {quote(place)}", hint, argument="init")
            if value is None:
                continue
            array = jnp.asarray(array_of(value))
            if jnp.iscomplexobj(array):
                message = f"the initial value of {quote(place)} must be real, not {array.dtype}"
                raise ArgumentError(message, argument="init")
            if not jnp.issubdtype(array.dtype, jnp.floating):
                array = array.astype(jnp.float32)
            if array.shape != home[name].shape:
                message = f"the initial value of {quote(place)} has shape {array.shape}, not {home[name].shape}"
                raise ArgumentError(message, argument="init")
            home[name] = array
    return params, buffers


def by_path(init: Any) -> Any:
    """The items of a mapping; raises ArgumentError for anything else."""
    if not isinstance(init, Mapping):
        hint = 'e.g. {"dense0": {"weight": array}}, or the first result of `network.init()`'
        message = f"`init` must be arrays by path and name, or a function, not {quote(type(init).__name__)}"
        raise ArgumentError(message, hint, argument="init")
    return init.items()


def check_writable(checkpoint: Any) -> None:
    """Raises ArgumentError if a checkpoint could not be written, before any work that would be lost."""
    with needs("a checkpoint"):
        import safetensors  # noqa: F401
    if not isinstance(checkpoint, (str, os.PathLike)):
        raise ArgumentError(f"`checkpoint` must be a path, not {quote(checkpoint, repr)}", argument="checkpoint")
    try:
        TemporaryFile(dir=replaceable(checkpoint).parent).close()  # in the folder where it will be written
    except (OSError, ValueError) as error:  # ValueError: a null character
        reason = error.strerror if isinstance(error, OSError) else error
        raise ArgumentError(f"{quote(checkpoint)} cannot be written: {reason}", argument="checkpoint") from error


def check_unused(checkpoint: Any) -> None:
    """Raises ArgumentError if the file already exists, since the first epoch would replace it."""
    if os.path.isfile(checkpoint):
        hint = "`resume` continues from it; to start again, remove it or give another name"
        raise ArgumentError(f"there is already a checkpoint {quote(checkpoint)}", hint, argument="checkpoint")


def load_checkpoint(path: str | os.PathLike[str], network: Network) -> tuple[Tensors, Tensors]:
    """The parameters and buffers in a checkpoint, as `network.init()` returns them and `apply` takes them.

    Raises ArgumentError if there is no such file, or it belongs to another network.

    >>> from tempfile import TemporaryDirectory
    >>> from paramcount.layers.dense import Dense
    >>> network = Network([Dense(10)], input=784)
    >>> with TemporaryDirectory() as folder:
    ...     save(f"{folder}/trained.safetensors", {"params": network.init(seed=5)[0]}, {})
    ...     params, buffers = load_checkpoint(f"{folder}/trained.safetensors", network)
    >>> bool((params["dense0"]["weight"] == network.init(seed=5)[0]["dense0"]["weight"]).all())
    True
    """
    require_network(network)
    arrays, _ = load(file_path("path", path))
    params, buffers = initialize(network.graph())
    found = restore(arrays, {"params": params, "buffers": buffers})
    return found["params"], found["buffers"]


def keep(checkpoint: Any, state: State, seed: int, optimizer: str, epochs: tuple[Epoch, ...]) -> None:
    """Write everything that a later run needs to continue as this one would."""
    held = {"frozen": json.dumps(frozen(state)), "epochs": json.dumps(epochs)}
    save(checkpoint, trees(state), {"seed": str(seed), "optimizer": optimizer, **held})


def resumed(checkpoint: Any, graph: Graph, state: State, seed: int, optimizer: str) -> tuple[State, tuple[Epoch, ...]]:
    """The state and the epochs in a checkpoint, with the structure of the given initial state.

    Raises ArgumentError if the checkpoint belongs to another network, optimizer or seed, or has other frozen tensors.
    """
    arrays, meta = load(checkpoint)
    try:
        found, epochs = int(meta["seed"]), tuple(epoch_of(*each) for each in json.loads(meta["epochs"]))
        before = meta["optimizer"]
        others = set(map(str, json.loads(meta["frozen"]))) ^ set(frozen(state))
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise ArgumentError(f"{quote(checkpoint)} is not a checkpoint of a training run") from error
    if found != seed:
        hint = f"the order of the data would differ; use the seed {found}"
        raise ArgumentError(f"{quote(checkpoint)} was trained with the seed {found}, not {seed}", hint)
    if before != optimizer:
        message = f"{quote(checkpoint)} was trained with {printable(before)}, not with {optimizer}"
        raise ArgumentError(message, "use the same optimizer", argument="optimizer")
    restore(arrays, {"params": state.all_params, "buffers": state.buffers})  # for another network, all would differ
    if others:
        message = f"{quote(checkpoint)} was trained with other frozen tensors: {quote(min(others))} differs"
        raise ArgumentError(message, "use the same `freeze`", argument="freeze")
    whole = restore(arrays, trees(state))
    params, kept = split(graph, whole.pop("params"))
    return State(params, kept, **whole), epochs


def epoch_of(number: Any, loss: Any, train: Any, test: Any, seconds: Any, examples: Any) -> Epoch:
    """An epoch from what JSON holds of one; raises ValueError or TypeError for anything but numbers."""
    train, test = (None if score is None else float(score) for score in (train, test))
    return Epoch(int(number), float(loss), train, test, float(seconds), int(examples))


def frozen(state: State) -> list[str]:
    """The names of the tensors that are not trained."""
    return sorted(f"{path}/{name}" for path, each in state.kept.items() for name in each)


def trees(state: State) -> dict[str, Any]:
    """What a checkpoint holds."""
    return {
        "params": state.all_params,
        "buffers": state.buffers,
        "optimizer": state.optimizer,
        "step": state.step,
        "earlier": state.earlier,
    }
