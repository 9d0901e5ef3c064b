"""Where a training begins: first values of the tensors, or all that an earlier run left in its checkpoint."""

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
from paramcount.errors import ArgumentError, needs, quote
from paramcount.graph.network import Network
from paramcount.graph.tree import Graph


def first_values(graph: Graph, init: Any, seed: int) -> tuple[Tensors, Tensors]:
    """Parameters and buffers before training: the usual values, or those of `init` in their place.

    Raises ArgumentError for a tensor that the network has not, for one of other sizes, and for what is none.
    """
    params, buffers = initialize(graph, seed)
    if callable(init):
        init = {path: {name: init(path, name, each[name].shape) for name in each} for path, each in params.items()}
    for path, each in by_path(init or {}):
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
                message = f"the first value of {quote(place)} is of real numbers, not {array.dtype}"
                raise ArgumentError(message, argument="init")
            if not jnp.issubdtype(array.dtype, jnp.floating):
                array = array.astype(jnp.float32)
            if array.shape != home[name].shape:
                message = f"the first value of {quote(place)} has the sizes {array.shape}, not {home[name].shape}"
                raise ArgumentError(message, argument="init")
            home[name] = array
    return params, buffers


def by_path(init: Any) -> Any:
    """The items of a mapping; raises ArgumentError for anything else."""
    if not isinstance(init, Mapping):
        hint = 'e.g. {"dense0": {"weight": array}}, or the first of the two that `network.init()` gives'
        message = f"`init` is arrays by path and name, or a function, and not {quote(type(init).__name__)}"
        raise ArgumentError(message, hint, argument="init")
    return init.items()


def check_writable(checkpoint: Any) -> None:
    """Raises ArgumentError where no checkpoint could be written, while there is nothing to lose yet."""
    with needs("a checkpoint"):
        import safetensors  # noqa: F401
    if not isinstance(checkpoint, (str, os.PathLike)):
        raise ArgumentError(f"`checkpoint` is the path of a file, not {quote(repr(checkpoint))}", argument="checkpoint")
    try:
        TemporaryFile(dir=replaceable(checkpoint).parent).close()  # beside it, as it will be
    except (OSError, ValueError) as error:  # ValueError: a null character
        reason = error.strerror if isinstance(error, OSError) else error
        raise ArgumentError(f"{quote(checkpoint)} cannot be written: {reason}", argument="checkpoint") from error


def check_unused(checkpoint: Any) -> None:
    """Raises ArgumentError where a file is there already, which the first epoch would replace."""
    if os.path.isfile(checkpoint):
        hint = "`resume` goes on with it; to start anew, remove it or give another name"
        raise ArgumentError(f"there is a checkpoint {quote(checkpoint)} already", hint, argument="checkpoint")


def load_checkpoint(path: str | os.PathLike[str], network: Network) -> tuple[Tensors, Tensors]:
    """The parameters and buffers in a checkpoint, as `network.init()` gives them and `apply` takes them.

    Raises ArgumentError where there is no such file, or it is of another network.

    >>> from tempfile import TemporaryDirectory
    >>> from paramcount.layers.dense import Dense
    >>> network = Network([Dense(10)], input=784)
    >>> with TemporaryDirectory() as folder:
    ...     save(f"{folder}/trained.safetensors", {"params": network.init(seed=5)[0]}, {})
    ...     params, buffers = load_checkpoint(f"{folder}/trained.safetensors", network)
    >>> bool((params["dense0"]["weight"] == network.init(seed=5)[0]["dense0"]["weight"]).all())
    True
    """
    arrays, _ = load(path)
    params, buffers = initialize(network.graph())
    found = restore(arrays, {"params": params, "buffers": buffers})
    return found["params"], found["buffers"]


def keep(checkpoint: Any, state: State, seed: int, optimizer: str, epochs: tuple[Epoch, ...]) -> None:
    """Write all that a later run needs to go on as this one would."""
    held = {"frozen": json.dumps(frozen(state)), "epochs": json.dumps(epochs)}
    save(checkpoint, trees(state), {"seed": str(seed), "optimizer": optimizer, **held})


def resumed(checkpoint: Any, graph: Graph, state: State, seed: int, optimizer: str) -> tuple[State, tuple[Epoch, ...]]:
    """The state and the epochs of a checkpoint, of the form of a state at the start.

    Raises ArgumentError where the checkpoint is of another network, optimizer or seed, or froze other tensors.
    """
    arrays, meta = load(checkpoint)
    try:
        found, epochs = int(meta["seed"]), tuple(Epoch(*each) for each in json.loads(meta["epochs"]))
        before = meta["optimizer"]
        others = set(json.loads(meta["frozen"])) ^ set(frozen(state))
    except (KeyError, ValueError, TypeError) as error:
        raise ArgumentError(f"{quote(checkpoint)} is no checkpoint of a training") from error
    if found != seed:
        hint = f"the order of the data would be another one; give the seed {found}"
        raise ArgumentError(f"{quote(checkpoint)} is of a training with the seed {found}, not {seed}", hint)
    if before != optimizer:
        message = f"{quote(checkpoint)} is of a training by {before}, not by {optimizer}"
        raise ArgumentError(message, "give the optimizer as it was", argument="optimizer")
    restore(arrays, {"params": state.all_params, "buffers": state.buffers})  # of another network, all would differ
    if others:
        message = f"{quote(checkpoint)} is of a training that did not freeze the same: {quote(min(others))} differs"
        raise ArgumentError(message, "give `freeze` as it was", argument="freeze")
    whole = restore(arrays, trees(state))
    params, kept = split(graph, whole.pop("params"))
    return State(params, kept, **whole), epochs


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
