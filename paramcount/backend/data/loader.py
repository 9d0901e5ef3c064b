"""Batches through PyTorch's data loader, for networks in JAX: it yields only NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy

from paramcount.backend.data.data import checked
from paramcount.backend.run.arrays import array_of
from paramcount.errors import ArgumentError, needs, quote
from paramcount.layers.arguments import whole_argument


def torch_batches(
    x: Any, y: Any, size: int, *, shuffle: bool = True, seed: int = 0, drop_last: bool = False, workers: int = 0
) -> TorchBatches:
    """Like Batches, through `torch.utils.data.DataLoader`: batches (x, y) of NumPy arrays with `size` rows.

    An epoch's order depends only on `seed` and its number, not on the number of workers; it differs from that of
    Batches. Workers are processes that live as long as the returned object. They are spawned, since JAX does not
    survive a fork, so a script that uses them must have its work under `if __name__ == "__main__":`, and must iterate
    over one epoch at a time.

    Raises ArgumentError as Batches does, and MissingPackageError if PyTorch is not installed.

    >>> list(torch_batches([[1.5], [2.5]], [0, 1], 2, shuffle=False))  # doctest: +SKIP
    [(array([[1.5], [2.5]]), array([0, 1]))]
    """
    x, y, size, shuffle, seed, drop_last = checked(x, y, size, shuffle, seed, drop_last)
    workers = whole_argument("workers", workers, at_least=0)
    with needs("--loader torch"):
        from torch import Generator
        from torch.utils.data import DataLoader
    order = Order(len(x), seed, shuffle)
    loader = DataLoader(
        Pairs(x, y),  # type: ignore[arg-type]  # it has what a map-style Dataset needs
        min(size, len(x)),
        sampler=order,
        drop_last=drop_last,
        collate_fn=numpy_collate,
        generator=Generator(),  # the global one is left alone
        num_workers=workers,
        persistent_workers=workers > 0,
        multiprocessing_context="spawn" if workers else None,
    )
    return TorchBatches(loader, order)


class TorchBatches:
    """The batches of a DataLoader, epoch by epoch."""

    def __init__(self, loader: Any, order: Order) -> None:
        self.loader = loader
        self.order = order

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[tuple[numpy.ndarray, numpy.ndarray]]:
        return self.epoch(0)

    def epoch(self, number: int) -> Iterator[tuple[numpy.ndarray, numpy.ndarray]]:
        """The batches of an epoch, from 0."""
        self.order.epoch = whole_argument("number", number, at_least=0)
        yield from self.loader


class Order:
    """A sampler: the rows in the order of the epoch that is set."""

    def __init__(self, count: int, seed: int, shuffle: bool) -> None:
        self.count, self.seed, self.shuffle, self.epoch = count, seed, shuffle, 0

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[int]:
        if not self.shuffle:
            return iter(range(self.count))
        from torch import Generator, randperm

        mixed = numpy.random.SeedSequence((self.seed, self.epoch)).generate_state(1, numpy.uint64)
        return iter(randperm(self.count, generator=Generator().manual_seed(int(mixed[0]))).tolist())


class Pairs:
    """A data set in the form that DataLoader takes: one example and its label at a time."""

    def __init__(self, x: numpy.ndarray, y: numpy.ndarray) -> None:
        self.x, self.y = x, y

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, row: int) -> tuple[Any, Any]:
        return self.x[row], self.y[row]


def numpy_collate(batch: Sequence[Any]) -> Any:
    """The batch of a data set's examples, stacked along a new first axis, in NumPy arrays: DataLoader's `collate_fn`.

    Arrays, tensors, PIL images and numbers are stacked; tuples, lists and dicts are traversed and keep their structure.
    Raises ArgumentError if examples differ in shape or structure, or are not numeric.

    >>> numpy_collate([(numpy.zeros((28, 28)), 7), (numpy.ones((28, 28)), 2)])[1]
    array([7, 2])
    """
    first = batch[0]
    if isinstance(first, Mapping):
        if any(not isinstance(each, Mapping) or each.keys() != first.keys() for each in batch):
            raise ArgumentError("the examples of a batch have different keys")
        return {key: numpy_collate([each[key] for each in batch]) for key in first}
    if isinstance(first, (tuple, list)):
        if any(not isinstance(each, (tuple, list)) or len(each) != len(first) for each in batch):
            raise ArgumentError("the examples of a batch have different numbers of parts")
        parts = [numpy_collate(part) for part in zip(*batch, strict=True)]
        return parts if isinstance(first, list) else tuple(parts)
    arrays = [array_of(each) for each in batch]
    for array in arrays:
        if array.shape != arrays[0].shape:
            message = f"examples of shapes {arrays[0].shape} and {array.shape} cannot form a batch"
            raise ArgumentError(message, hint="bring them to the same shape first")
    return numpy.stack(arrays)


def as_numpy(batch: Any) -> tuple[Any, Any]:
    """A batch (x, y) of any data loader, in NumPy arrays; those that already are stay the same objects.

    PyTorch tensors (on any device, bfloat16 too), JAX arrays, and lists or tuples of numbers become arrays. Dicts, and
    tuples and lists of arrays, keep their structure. Raises ArgumentError if it is not a pair, or not numeric.

    >>> as_numpy([[[0.5, 1.5]], (3,)])
    (array([[0.5, 1.5]]), array([3]))
    """
    if not isinstance(batch, (tuple, list)) or len(batch) != 2:
        what = f"{len(batch)} parts" if isinstance(batch, (tuple, list)) else quote(type(batch).__name__)
        raise ArgumentError(f"a batch must be a pair (x, y), not {what}")
    return arrays_of(batch[0]), arrays_of(batch[1])


def arrays_of(value: Any) -> Any:
    """NumPy arrays, in the structure of dicts, tuples and lists around them."""
    if isinstance(value, Mapping):
        return {key: arrays_of(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)) and any(map(holds_array, value)):
        parts = map(arrays_of, value)
        return list(parts) if isinstance(value, list) else tuple(parts)
    return array_of(value)


def holds_array(value: Any) -> bool:
    """Whether a value is or contains an array with axes, rather than a number or a list of numbers."""
    if isinstance(value, (tuple, list)):
        return any(map(holds_array, value))
    return isinstance(value, Mapping) or len(getattr(value, "shape", ())) > 0
