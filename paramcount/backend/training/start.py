"""Where a training begins: first values of the tensors, or all that an earlier run left in its checkpoint."""

from __future__ import annotations

import json
from typing import Any

from jax import numpy as jnp

from paramcount.backend.initialize import Tensors, initialize, split
from paramcount.backend.training.checkpoint import load, restore, save
from paramcount.backend.training.result import Epoch
from paramcount.backend.training.step import State
from paramcount.errors import ArgumentError, quote
from paramcount.graph.tree import Graph


def first_values(graph: Graph, init: Any, seed: int) -> tuple[Tensors, Tensors]:
    """Parameters and buffers before training: the usual values, or those of `init` in their place.

    Raises ArgumentError for a tensor that the network has not, and for one of other sizes.
    """
    params, buffers = initialize(graph, seed)
    if callable(init):
        init = {path: {name: init(path, name, each[name].shape) for name in each} for path, each in params.items()}
    for path, each in (init or {}).items():
        for name, value in each.items():
            place = f"{path}/{name}"
            home = next((tree[path] for tree in (params, buffers) if name in tree.get(path, {})), None)
            if home is None:
                hint = "the paths are those of the rows, as in `network.init()`"
                raise ArgumentError(f"the network has no tensor {quote(place)}", hint, argument="init")
            if value is None:
                continue
            array = jnp.asarray(value, None if jnp.issubdtype(jnp.result_type(value), jnp.floating) else jnp.float32)
            if array.shape != home[name].shape:
                message = f"the first value of {quote(place)} has the sizes {array.shape}, not {home[name].shape}"
                raise ArgumentError(message, argument="init")
            home[name] = array
    return params, buffers


def keep(checkpoint: str, state: State, seed: int, epochs: tuple[Epoch, ...]) -> None:
    """Write all that a later run needs to go on as this one would."""
    save(checkpoint, trees(state), {"seed": str(seed), "epochs": json.dumps(epochs)})


def resumed(checkpoint: str, graph: Graph, state: State, seed: int) -> tuple[State, tuple[Epoch, ...]]:
    """The state and the epochs of a checkpoint, of the form of a state at the start.

    Raises ArgumentError where the checkpoint is of another network, optimizer or seed.
    """
    arrays, meta = load(checkpoint)
    try:
        found, epochs = int(meta["seed"]), tuple(Epoch(*each) for each in json.loads(meta["epochs"]))
    except (KeyError, ValueError, TypeError) as error:
        raise ArgumentError(f"{quote(checkpoint)} is no checkpoint of a training") from error
    if found != seed:
        hint = f"the order of the data would be another one; give the seed {found}"
        raise ArgumentError(f"{quote(checkpoint)} is of a training with the seed {found}, not {seed}", hint)
    whole = restore(arrays, trees(state))
    params, kept = split(graph, whole.pop("params"))
    return State(params, kept, **whole), epochs


def trees(state: State) -> dict[str, Any]:
    """What a checkpoint holds."""
    return {
        "params": state.all_params,
        "buffers": state.buffers,
        "optimizer": state.optimizer,
        "step": state.step,
        "earlier": state.earlier,
    }
