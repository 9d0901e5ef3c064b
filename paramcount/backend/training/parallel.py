"""Synchronous data parallelism: a batch's examples lie on several devices, all tensors on each of them.

The program is that of one device. XLA splits it, and sums gradients, losses and batch statistics over the devices.
"""

from __future__ import annotations

import re
from math import prod
from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from paramcount.backend.training.step import length
from paramcount.errors import ArgumentError

BYTES = {"pred": 1, "bf16": 2, "f16": 2, "f32": 4, "f64": 8, "s8": 1, "u8": 1, "s32": 4, "u32": 4, "s64": 8, "u64": 8}


class Devices:
    """Some devices in a row, over which batches are split; of several processes, each holds its own."""

    def __init__(self, number: int) -> None:
        there = jax.devices()
        if type(number) is not int or number < 1:
            raise ArgumentError(f"devices must be a whole number of at least 1, not {number!r}", argument="devices")
        if number > len(there):
            hint = f"XLA_FLAGS=--xla_force_host_platform_device_count={number} makes so many of one processor"
            kind = there[0].platform
            raise ArgumentError(f"{number} devices are asked for, and JAX finds {len(there)} ({kind})", hint)
        if number % jax.process_count():
            raise ArgumentError(f"{jax.process_count()} processes cannot hold {number} devices in equal parts")
        each = number // jax.process_count()
        chosen = [device for process in range(jax.process_count()) for device in of_process(there, process)[:each]]
        self.number = number
        mesh = Mesh(chosen, ("batch",))
        self.split = NamedSharding(mesh, PartitionSpec("batch"))
        self.everywhere = NamedSharding(mesh, PartitionSpec())

    def batch(self, x: Any, y: Any) -> tuple[Any, Any]:
        """A batch with each device's part on it. Raises ArgumentError where the devices don't divide it."""
        if length(x) % self.number:
            hint = "choose a batch that they divide, and drop a last one that is shorter"
            raise ArgumentError(f"a batch of {length(x)} cannot be divided by {self.number} devices", hint)
        return jax.tree.map(lambda array: self.placed(array, self.split), (x, y))

    def scored(self, batch: tuple[Any, Any]) -> tuple[Any, Any]:
        """A batch to score: divided where that is possible, else whole on every device."""
        sharding = self.everywhere if length(batch[0]) % self.number else self.split
        return jax.tree.map(lambda array: self.placed(array, sharding), batch)

    def replicated(self, tree: Any) -> Any:
        """Arrays as they are, on every device."""
        return jax.tree.map(lambda array: self.placed(array, self.everywhere), tree)

    def placed(self, array: Any, sharding: NamedSharding) -> Any:
        if jax.process_count() == 1:
            return jax.device_put(array, sharding)
        return jax.make_array_from_callback(array.shape, sharding, lambda part: array[part])


def of_process(devices: list[Any], process: int) -> list[Any]:
    return [device for device in devices if device.process_index == process]


def all_reduce_bytes(program: str) -> int:
    """The bytes that one device's compiled program sums over all devices, read from its text.

    >>> all_reduce_bytes("%r = (f32[784,10]{1,0}, f32[]) all-reduce(%a, %b), replica_groups={{0,1}}")
    31364
    """
    found = 0
    for results in re.findall(r"= (.*?) all-reduce(?:-start)?\(", program):
        for kind, sizes in re.findall(r"(\w+)\[([\d,]*)\]", results):
            found += BYTES[kind] * prod(int(size) for size in sizes.split(",") if size)
    return found
