"""What a layer's forward computation may ask of the run it stands in: the mode, keys, batch means, updates."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Context:
    """One node's context for one trace.

    `train` is a Python bool. `seed` is a JAX key that is already the node's own, and `axis_name` the vmapped
    batch's axis, where there is one. `updates` collects the new running statistics by buffer name.

    >>> context = Context(train=True)
    >>> context.update(mean=3.0)
    >>> context.batch_mean(2.0), context.updates
    (2.0, {'mean': 3.0})
    """

    train: bool = False
    seed: Any = None
    axis_name: str | None = None
    updates: dict[str, Any] = field(default_factory=dict)

    def key(self) -> Any:
        """A key for random numbers; another one for each example of a batch."""
        from jax import lax, random

        key = random.key(0) if self.seed is None else self.seed
        return key if self.axis_name is None else random.fold_in(key, lax.axis_index(self.axis_name))

    def batch_mean(self, value: Any) -> Any:
        """The mean over the batch of a value that each example has its own of."""
        from jax import lax

        return value if self.axis_name is None else lax.pmean(value, self.axis_name)

    def update(self, **buffers: Any) -> None:
        """Hand out new values of the node's buffers."""
        self.updates.update(buffers)
