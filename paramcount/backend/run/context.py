"""What a layer's forward computation gets from the run that it is part of: the mode, keys, batch means, updates."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32


@dataclass(frozen=True)
class Context:
    """One node's context for one trace.

    `train` is a Python bool. `seed` is the run's JAX key, `path` the node's path, with the `[i]` of its iteration.
    `axis_name` names the axis of the vmapped batch, if there is one, and those of pieces around the node.
    `updates` collects the new running statistics by buffer name.

    >>> context = Context(train=True)
    >>> context.update(mean=3.0)
    >>> context.batch_mean(2.0), context.updates
    (2.0, {'mean': 3.0})
    """

    train: bool = False
    seed: Any = None
    axis_name: str | tuple[str, ...] | None = None
    path: str = ""
    updates: dict[str, Any] = field(default_factory=dict)

    def key(self) -> Any:
        """A key for random numbers: a different one for each node, iteration, example, piece and step.

        It depends only on the seed, the path and the position in the batch, not on how the network is run.
        """
        from jax import lax, random

        key = random.fold_in(random.key(0) if self.seed is None else self.seed, crc32(self.path.encode()))
        return random.fold_in(key, lax.axis_index(self.axis_name)) if self.axes else key

    def batch_mean(self, value: Any) -> Any:
        """The mean over the batch of a value that differs between examples."""
        from jax import lax

        return lax.pmean(value, self.axis_name) if self.axes else value

    def update(self, **buffers: Any) -> None:
        """Return new values of the node's buffers to the run."""
        self.updates.update(buffers)

    @property
    def axes(self) -> tuple[str, ...]:
        """All axes that are vmapped, outermost first."""
        if self.axis_name is None:
            return ()
        return (self.axis_name,) if isinstance(self.axis_name, str) else self.axis_name

    def at(self, path: str) -> Context:
        """The same context for the node at a path, without updates yet."""
        return replace(self, path=path, updates={})

    def inside(self, name: str) -> tuple[str, Context]:
        """A name for one more vmapped axis, such as that of pieces, and the context below it."""
        name = f"{name}{len(self.axes)}"
        return name, replace(self, axis_name=(*self.axes, name))

    def step(self, index: Any) -> Context:
        """The context of one step of a scan, which has its own keys."""
        from jax import random

        if not self.train:
            return self
        return replace(self, seed=random.fold_in(random.key(0) if self.seed is None else self.seed, index))
