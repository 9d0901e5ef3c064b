"""Synchronous data parallelism: a batch's examples lie on several devices, all tensors on each of them.

The program is that of one device. XLA splits it, and sums gradients, losses and batch statistics over the devices.
"""

from __future__ import annotations

from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from paramcount.backend.train.step import length
from paramcount.errors import ArgumentError, quote


class Devices:
    """Some devices in a row, over which batches are split; of several processes, each holds as many.

    Raises ArgumentError for a number that is none, for more than there are, and for one that processes don't divide.

    >>> len(Devices(1).replicated(jax.numpy.ones(4)).addressable_shards)
    1
    """

    def __init__(self, number: int) -> None:
        if type(number) is not int or number < 1:
            message = f"devices must be a whole number of at least 1, not {quote(number)}"
            raise ArgumentError(message, argument="devices")
        there, processes = jax.devices(), jax.process_count()
        if number % processes:
            hint = f"each holds as many: give a multiple of {processes}"
            raise ArgumentError(f"devices={number} cannot be divided by {processes} processes", hint)
        each = number // processes
        chosen = [device for process in range(processes) for device in of_process(there, process)[:each]]
        if len(chosen) < number:
            flag = f"XLA_FLAGS=--xla_force_host_platform_device_count={each}"
            hint = f"{flag} in the environment makes as many of a processor" if there[0].platform == "cpu" else ""
            found = f"JAX finds {len(there)} ({there[0].platform})"
            where = f" in {processes} processes, and each must hold {each}" if processes > 1 else ""
            raise ArgumentError(f"{number} devices are asked for, and {found}{where}", hint)
        self.number = number
        self.threads = number > 1 and chosen[0].platform == "cpu"
        mesh = Mesh(chosen, ("batch",))
        self.split = NamedSharding(mesh, PartitionSpec("batch"))
        self.everywhere = NamedSharding(mesh, PartitionSpec())

    def batch(self, x: Any, y: Any) -> tuple[Any, Any]:
        """A batch with each device's part on it. Raises ArgumentError where the devices don't divide it."""
        if length(x) % self.number:
            hint = "choose a batch that they divide, and drop a last one that is shorter"
            raise ArgumentError(f"a batch of {length(x)} cannot be divided by {self.number} devices", hint)
        return self.shared((x, y), self.split)

    def scored(self, batch: tuple[Any, Any]) -> tuple[Any, Any]:
        """A batch to score: divided where that is possible, else whole on every device."""
        sharding = self.everywhere if length(batch[0]) % self.number else self.split
        return self.shared(batch, sharding)

    def shared(self, batch: Any, sharding: NamedSharding) -> Any:
        """A batch where it belongs; a single device gets it with the call of a step, which takes less time."""
        return batch if self.number == 1 else jax.tree.map(lambda array: self.placed(array, sharding), batch)

    def replicated(self, tree: Any) -> Any:
        """Arrays as they are, on every device."""
        return jax.tree.map(lambda array: self.placed(array, self.everywhere), tree)

    def settled(self, results: Any) -> Any:
        """Results, waited for where the devices are threads of a processor.

        They have a pool of few threads in common. With a second program on its way, those that wait in an all-reduce of
        the first can take all of them, and XLA gives up.
        """
        return jax.block_until_ready(results) if self.threads else results

    def placed(self, array: Any, sharding: NamedSharding) -> Any:
        if jax.process_count() == 1:
            return jax.device_put(array, sharding)
        return jax.make_array_from_callback(array.shape, sharding, lambda part: array[part])


def of_process(there: list[Any], process: int) -> list[Any]:
    return [device for device in there if device.process_index == process]
