"""Examples and labels: read from idx files or an .npz file, and served in batches, in another order each epoch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy

from paramcount.backend.data.idx import read_idx
from paramcount.backend.run.arrays import array_of
from paramcount.errors import ArgumentError, quote
from paramcount.layers.arguments import argument, file_path, whole_argument
from paramcount.layers.fields import Flag
from paramcount.numbers.units import number_of

FILES = "`train-images-idx3-ubyte` and `train-labels-idx1-ubyte`"
HINT = f"give an .npz file, or a folder with one or with idx files named like MNIST's: {FILES}, gzipped or not"


class Split(NamedTuple):
    """Examples and their labels: `x` and `y` have the same number of rows."""

    x: numpy.ndarray
    y: numpy.ndarray


class Data(NamedTuple):
    """The training set of a network, and its test set if there is one."""

    train: Split
    test: Split | None


def read_data(folder_or_file: str | Path) -> Data:
    """The training and the test set in a folder of idx files named like MNIST's, or in an .npz file, as NumPy arrays.

    Arrays are as stored: for MNIST, images (count, height, width) of uint8 and labels (count,). An idx file may be
    gzipped, and have a dot instead of the dash before `idx`. An .npz file, given itself or as the only one in a folder
    without idx files, has `x_train` and `y_train`, or `x` and `y`, and with a test set also `x_test` and `y_test`.

    Raises ArgumentError if there is nothing to read, images or labels are missing, a file is damaged, their numbers
    differ, a set is empty, or an array is not numeric.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     numpy.savez(f"{folder}/digits.npz", x=numpy.zeros((5, 28, 28)), y=numpy.arange(5))
    ...     data = read_data(folder)
    >>> data.train.x.shape, data.train.y.shape, data.test
    ((5, 28, 28), (5,), None)
    """
    path = Path(file_path("data", folder_or_file, "a folder or a file"))
    try:
        if path.is_dir():
            return read_folder(path)
        if path.exists():
            return read_npz(path)
    except OSError as error:
        raise ArgumentError(f"{quote(error.filename or path)} cannot be read: {error.strerror}") from error
    raise ArgumentError(f"there is no folder or file {quote(path)}", hint=HINT)


def read_folder(folder: Path) -> Data:
    """The idx files of a folder, otherwise its only .npz file."""
    files = sorted(each for each in folder.iterdir() if each.is_file())
    train, test = read_pair(files, "train"), read_pair(files, "t10k")
    if train:
        return Data(train, test)
    if test:
        raise ArgumentError(f"{quote(folder)} holds a test set but no training set", hint=f"add {FILES}")
    archives = [each for each in files if each.suffix == ".npz"]
    if len(archives) == 1:
        return read_npz(archives[0])
    if archives:
        names = ", ".join(quote(each.name) for each in archives[:4])
        raise ArgumentError(f"{quote(folder)} holds {len(archives)} .npz files: {names}", hint="give one of them")
    raise ArgumentError(f"{quote(folder)} holds no data", hint=HINT)


def read_pair(files: list[Path], split: str) -> Split | None:
    """The images and labels of one split, or None if it has neither; a file that is not gzipped takes precedence."""
    found: dict[str, Path] = {}
    for file in sorted(files, key=lambda each: each.suffix == ".gz"):
        match = re.fullmatch(rf"{split}-(images|labels)[-.]idx\d+-\w+(\.gz)?", file.name)
        if match:
            found.setdefault(match[1], file)
    if not found:
        return None
    for has, lacks in (("images", "labels"), ("labels", "images")):
        if lacks not in found:
            name = f"{split}-{lacks}-idx{'1' if lacks == 'labels' else '3'}-ubyte"
            message = f"{quote(found[has])} has no partner: there are no {lacks} in its folder"
            raise ArgumentError(message, hint=f"their name must be {quote(name)}, gzipped or not")
    images, labels = found["images"], found["labels"]
    return matched(read_idx(images), read_idx(labels), str(images), str(labels))


def read_npz(path: Path) -> Data:
    """The arrays of an .npz file, by the names that Keras uses, or `x` and `y`."""
    with open(path, "rb") as stream:  # which NumPy would leave open if it is damaged
        archive = npz_archive(path, stream)
        train = ("x", "y") if {"x", "y"} <= set(archive.files) else ("x_train", "y_train")
        test = ("x_test", "y_test")
        has_test = not {*test}.isdisjoint(archive.files)
        missing = [name for name in train + test * has_test if name not in archive.files]
        if missing:
            keys = ", ".join(quote(name) for name in archive.files[:8]) or "nothing"
            message = f"{quote(path)} lacks {' and '.join(quote(name) for name in missing)}: it holds {keys}"
            hint = "name the arrays `x_train`, `y_train`, `x_test` and `y_test`, or `x` and `y`"
            raise ArgumentError(message, hint=hint)

        def split(x: str, y: str) -> Split:
            return matched(member(path, archive, x), member(path, archive, y), f"{path}: {x}", f"{path}: {y}")

        return Data(split(*train), split(*test) if has_test else None)


def npz_archive(path: Path, stream: BinaryIO) -> numpy.lib.npyio.NpzFile:
    """The archive in an open .npz file."""
    try:
        archive = numpy.load(stream, allow_pickle=False)
    except Exception as error:  # NumPy, zipfile and each compression have their own errors
        if of_the_disk(error):
            raise
        raise ArgumentError(f"{quote(path)} is not an .npz file, or is damaged", hint=HINT) from error
    if not isinstance(archive, numpy.lib.npyio.NpzFile):
        raise ArgumentError(f"{quote(path)} holds a single array", hint="save x and y together: `numpy.savez`")
    return archive


def member(path: Path, archive: Any, name: str) -> numpy.ndarray:
    """One array of an .npz file."""
    try:
        array = numpy.asarray(archive[name])
    except Exception as error:
        if of_the_disk(error):
            raise
        if "pickle" in str(error):
            message = f"{quote(name)} in {quote(path)} holds Python objects, which can run code when they are read"
            raise ArgumentError(message, hint="save arrays of numbers") from error
        raise ArgumentError(f"{quote(name)} in {quote(path)} is damaged: {error}", hint="download it again") from error
    return array.astype(array.dtype.newbyteorder("="), copy=False)  # JAX takes the machine's byte order only


def of_the_disk(error: Exception) -> bool:
    """Whether reading the file failed, not decoding it, for which bz2 raises an OSError without a number."""
    return isinstance(error, OSError) and error.errno is not None


def matched(x: numpy.ndarray, y: numpy.ndarray, x_name: str, y_name: str) -> Split:
    """Both as a Split, if they are numeric, of the same length, and not empty."""
    for array, name in ((x, x_name), (y, y_name)):
        if array.dtype.kind not in "biuf" and array.dtype.type.__module__ == "numpy":  # unlike bfloat16 and the like
            raise ArgumentError(f"{quote(name)} holds {array.dtype}, which is not numeric")
        if not array.ndim:
            raise ArgumentError(f"{quote(name)} holds one number, not one for each example")
        if not array.size:
            raise ArgumentError(f"{quote(name)} is empty: {array.shape}")
    if len(x) != len(y):
        raise ArgumentError(
            f"{quote(x_name)} holds {number_of(len(x), 'example')}, but {quote(y_name)} {number_of(len(y), 'label')}"
        )
    return Split(x, y)


class Batches:
    """Batches (x, y) of NumPy arrays with `size` rows, the last one with the rest; `epoch(number)` yields an epoch's.

    An epoch's order depends only on `seed` and its number, so a resumed run sees what an uninterrupted one would.
    Iterating yields epoch 0, and `len` is the number of batches in an epoch. Without `shuffle` the order is that of the
    rows; with `drop_last` a last batch that is not full is left out.

    Raises ArgumentError if x and y differ in length, or `size` or `seed` is not valid.

    >>> batches = Batches(numpy.arange(5) * 10, numpy.arange(5), 2, shuffle=False)
    >>> [(x.tolist(), y.tolist()) for x, y in batches]
    [([0, 10], [0, 1]), ([20, 30], [2, 3]), ([40], [4])]
    >>> len(Batches(numpy.arange(5), numpy.arange(5), 2, drop_last=True))
    2
    """

    def __init__(
        self, x: Any, y: Any, size: int, *, shuffle: bool = True, seed: int = 0, drop_last: bool = False
    ) -> None:
        x, y, self.size, self.shuffle, self.seed, self.drop_last = checked(x, y, size, shuffle, seed, drop_last)
        self.x, self.y = numpy.ascontiguousarray(x), numpy.ascontiguousarray(y)

    def __len__(self) -> int:
        return len(self.x) // self.size if self.drop_last else -(-len(self.x) // self.size)

    def __iter__(self) -> Iterator[tuple[numpy.ndarray, numpy.ndarray]]:
        return self.epoch(0)

    def epoch(self, number: int) -> Iterator[tuple[numpy.ndarray, numpy.ndarray]]:
        """The batches of an epoch, from 0."""
        number = whole_argument("number", number, at_least=0)
        order = numpy.random.default_rng((self.seed, number)).permutation(len(self.x)) if self.shuffle else None
        for start in range(0, len(self) * self.size, self.size):
            rows = slice(start, start + self.size)
            if order is None:
                yield self.x[rows], self.y[rows]
            else:
                yield self.x.take(order[rows], axis=0), self.y.take(order[rows], axis=0)


def checked(
    x: Any, y: Any, size: Any, shuffle: Any, seed: Any, drop_last: Any
) -> tuple[numpy.ndarray, numpy.ndarray, int, bool, int, bool]:
    """x and y as arrays, and how batches are made from them, in Python's own types."""
    size, seed = whole_argument("size", size), whole_argument("seed", seed, at_least=0)
    shuffle, drop_last = argument("shuffle", shuffle, Flag()), argument("drop_last", drop_last, Flag())
    split = matched(array_of(x), array_of(y), "x", "y")
    if drop_last and size > len(split.x):
        raise ArgumentError(
            f"{number_of(len(split.x), 'example')} cannot fill a batch of {size}", hint="give a smaller batch size"
        )
    return split.x, split.y, size, shuffle, seed, drop_last
