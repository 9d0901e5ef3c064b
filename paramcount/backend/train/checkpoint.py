"""Checkpoints: the tensors of a training run in one safetensors file, which is written completely or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy

from paramcount.errors import ArgumentError, needs, printable, quote
from paramcount.render.replacement import reported, write

BY_PATH = ("params", "buffers")  # the trees {path: {name: array}}
SHOWN = 3  # differences at most


def save(path: str | os.PathLike[str], trees: Mapping[str, Any], meta: Mapping[str, str]) -> None:
    """Write trees of arrays to a safetensors file, with texts as its metadata.

    The tensors of `params` and `buffers`, trees {path: {name: array}}, are named like `dense0/weight`. The leaves of
    any other tree are named after the tree and their index among `jax.tree.leaves`: `optimizer[0]`. Such a name has no
    `/`, so it cannot clash with a layer's. All types of NumPy except complex128 can be stored, and bfloat16; a random
    key is stored as its data.

    The file is replaced in one step once the new one is completely on the disk: if anything goes wrong before, the
    existing file stays. Raises ArgumentError if the file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/a.safetensors", {"params": {"dense0": {"bias": numpy.ones(2)}}}, {"epoch": "3"})
    ...     load(f"{folder}/a.safetensors")
    ({'dense0/bias': array([1., 1.])}, {'epoch': '3'})
    """
    with needs("a checkpoint"):
        from safetensors import SafetensorError
        from safetensors.numpy import save as serialized

    arrays: dict[str, numpy.ndarray] = {}
    for tree, value in trees.items():
        for name, leaf in named(tree, value):
            if name in arrays:
                raise ArgumentError(f"two tensors have the name {quote(name)}", hint="rename a layer")
            arrays[name] = array = on_host(leaf)
            if array.dtype.type.__module__ != "numpy" and array.dtype.name != "bfloat16":  # could not be loaded
                raise ArgumentError(f"{quote(name)} is {array.dtype}, which a checkpoint cannot store")
    try:
        content = serialized(arrays, dict(meta))
    except SafetensorError as error:
        raise ArgumentError(f"{quote(path)} cannot be written: {error}") from error
    try:
        with reported(os.fsdecode(path)):
            folder = replaceable(path).parent
            write(os.fsdecode(path), content)
            sync(folder)
    except ArgumentError as error:
        error.hint = "the existing file is unchanged" if os.path.isfile(path) else ""
        raise


def load(path: str | os.PathLike[str]) -> tuple[dict[str, numpy.ndarray], dict[str, str]]:
    """The arrays of a safetensors file by name, and the texts of its metadata.

    Raises ArgumentError if the file is missing, incomplete, or not a safetensors file. The example is that of `save`.
    """
    with needs("a checkpoint"):
        from safetensors import SafetensorError, safe_open

    try:
        open(path, "rb").close()  # since safe_open does not say why it cannot open a file
        with safe_open(path, framework="numpy") as file:
            return file.get_tensors(), file.metadata() or {}
    except OSError as error:
        raise ArgumentError(f"{quote(path)} cannot be read: {error.strerror}") from error
    except ValueError as error:  # a null character, or one that no file's name can have
        raise ArgumentError(f"{quote(path)} cannot be read: {error}") from error
    except (SafetensorError, AttributeError) as error:  # AttributeError: a type unknown to NumPy
        message = f"{quote(path)} is not a safetensors file, or is incomplete"
        raise ArgumentError(message, hint=f"safetensors says: {printable(str(error))}") from error


def restore(arrays: Mapping[str, numpy.ndarray], like: Mapping[str, Any]) -> dict[str, Any]:
    """Trees as they were saved, from the arrays that `load` returned; `like` has the same structure, types and shapes.

    The leaves are JAX arrays. Tensors that do not belong to any tree in `like` are left out. Raises ArgumentError if
    the checkpoint belongs to another network or another optimizer.

    >>> zeros = {"params": {"dense0": {"bias": numpy.zeros(2, "float32")}}}
    >>> restore({"dense0/bias": numpy.array([3, 4], "float32")}, zeros)
    {'params': {'dense0': {'bias': Array([3., 4.], dtype=float32)}}}
    """
    expected = {name: on_host(leaf) for tree, value in like.items() for name, leaf in named(tree, value)}
    held = {name: array for name, array in arrays.items() if "/" in name or name.partition("[")[0] in like}
    for owner in ("network", "optimizer", "training run"):
        found = differences(
            {name: array for name, array in held.items() if owner_of(name) == owner},
            {name: array for name, array in expected.items() if owner_of(name) == owner},
        )
        if found:
            more = f", and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
            message = f"the checkpoint belongs to another {owner}: {', '.join(found[:SHOWN])}{more}"
            raise ArgumentError(message, hint="resume with the same settings, or start again without it")
    return {tree: restored(tree, value, arrays) for tree, value in like.items()}


def named(tree: str, value: Any) -> list[tuple[str, Any]]:
    """The leaves of a tree with their names in a file."""
    if tree in BY_PATH:
        found = jax.tree_util.tree_leaves_with_path(value)
        return [("/".join(step.key for step in steps), leaf) for steps, leaf in found]
    return [(f"{tree}[{index}]", leaf) for index, leaf in enumerate(jax.tree.leaves(value))]


def restored(tree: str, like: Any, arrays: Mapping[str, numpy.ndarray]) -> Any:
    """A tree with the structure of `like`, from the arrays of its names."""
    leaves = []
    for name, leaf in named(tree, like):
        array = jax.numpy.asarray(arrays[name])
        leaves.append(jax.random.wrap_key_data(array, impl=jax.random.key_impl(leaf)) if is_key(leaf) else array)
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


def on_host(leaf: Any) -> numpy.ndarray:
    """A leaf as a NumPy array in row-major order, as safetensors needs it; a Python number in the type JAX gives it."""
    if is_key(leaf):
        leaf = jax.random.key_data(leaf)
    return numpy.asarray(leaf if hasattr(leaf, "dtype") else jax.numpy.asarray(leaf), order="C")


def is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def owner_of(name: str) -> str:
    """What a tensor of this name belongs to."""
    return "network" if "/" in name else "optimizer" if name.startswith("optimizer[") else "training run"


def differences(held: Mapping[str, numpy.ndarray], expected: Mapping[str, numpy.ndarray]) -> list[str]:
    """The tensors in which a checkpoint differs from what is expected, in words."""
    found = []
    for name, array in expected.items():
        other = held.get(name)
        if other is None:
            found.append(f"it lacks {quote(name)}")
        elif other.shape != array.shape:
            found.append(f"{quote(name)} is {other.shape} instead of {array.shape}")
        elif other.dtype != array.dtype:
            found.append(f"{quote(name)} is {other.dtype} instead of {array.dtype}")
    return found + [f"it also has {quote(name)}" for name in held if name not in expected]


def replaceable(path: Any) -> Path:
    """The file to replace: a link is kept, and its target is replaced.

    Raises OSError if the path is something that a file must not replace: a folder, a device or a pipe.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if target.exists() and not target.is_file():
        raise FileExistsError(errno.EEXIST, "it is a device or a pipe, not a file")
    return target


def sync(folder: Path) -> None:
    """Put a folder on the disk, and with it the names of its files."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
