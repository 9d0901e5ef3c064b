"""Synchronous data parallelism: a batch is divided over several devices, and all tensors are replicated on each.

The program is that for one device. XLA partitions it, and sums gradients, losses and batch statistics over the devices.
"""

from __future__ import annotations

from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from paramcount.backend.train.step import length
from paramcount.errors import ArgumentError, quote
from paramcount.layers.arguments import whole_argument

MOST_DEVICES = 2**20  # more than any cluster has


class Devices:
    """A row of devices over which batches are split; each of several processes has the same number of them.

    Raises ArgumentError if the number is not valid, is more than there are, or is not divisible by the processes.

    >>> len(Devices(1).replicated(jax.numpy.ones(4)).addressable_shards)
    1
    """

    def __init__(self, number: int) -> None:
        number = whole_argument("devices", number)
        there, processes = jax.devices(), jax.process_count()
        if number > MOST_DEVICES:
            raise ArgumentError(f"{quote(number)} devices are requested, but JAX finds {len(there)}")
        if number % processes:
            hint = f"give a multiple of {processes}: each has the same number"
            raise ArgumentError(f"devices={number} cannot be divided by {processes} processes", hint)
        each = number // processes
        chosen = [device for process in range(processes) for device in of_process(there, process)[:each]]
        if len(chosen) < number:
            flag = f"XLA_FLAGS=--xla_force_host_platform_device_count={each}"
            hint = f"{flag} in the environment splits a CPU into that many" if there[0].platform == "cpu" else ""
            found = f"JAX finds {len(there)} ({there[0].platform})"
            where = f" in {processes} processes, and each needs {each}" if processes > 1 else ""
            raise ArgumentError(f"{number} devices are requested, but {found}{where}", hint)
        self.number = number
        self.threads = number > 1 and chosen[0].platform == "cpu"
        mesh = Mesh(chosen, ("batch",))
        self.split = NamedSharding(mesh, PartitionSpec("batch"))
        self.everywhere = NamedSharding(mesh, PartitionSpec())

    def batch(self, x: Any, y: Any) -> tuple[Any, Any]:
        """A batch with each part on its device. Raises ArgumentError if it cannot be divided by the devices."""
        if length(x) % self.number:
            hint = "choose a batch size that is divisible, and drop a shorter last batch"
            raise ArgumentError(f"a batch of {length(x)} cannot be divided by {self.number} devices", hint)
        return self.shared((x, y), self.split)

    def scored(self, batch: tuple[Any, Any]) -> tuple[Any, Any]:
        """A batch to score: divided if possible, else replicated on every device."""
        sharding = self.everywhere if length(batch[0]) % self.number else self.split
        return self.shared(batch, sharding)

    def shared(self, batch: Any, sharding: NamedSharding) -> Any:
        """A batch placed on its devices; a single device receives it with the call of a step, which is faster."""
        return batch if self.number == 1 else jax.tree.map(lambda array: self.placed(array, sharding), batch)

    def replicated(self, tree: Any) -> Any:
        """Arrays replicated on every device."""
        return jax.tree.map(lambda array: self.placed(array, self.everywhere), tree)

    def settled(self, results: Any) -> Any:
        """Results, waited for if the devices are threads of a CPU.

        These share a small thread pool. If a second program is already queued, the threads that wait in an all-reduce
        of the first can occupy the whole pool, and XLA gives up.
        """
        return jax.block_until_ready(results) if self.threads else results

    def placed(self, array: Any, sharding: NamedSharding) -> Any:
        if jax.process_count() == 1:
            return jax.device_put(array, sharding)
        return jax.make_array_from_callback(array.shape, sharding, lambda part: array[part])


def of_process(there: list[Any], process: int) -> list[Any]:
    return [device for device in there if device.process_index == process]
