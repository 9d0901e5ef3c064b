"""Weight normalization: a kernel's direction and its lengths, which are learned separately.

A kernel is [positions..., input, output]. Each element of some of its axes has a length of its own, its gain: `output`
and `input` those of one axis, `tap` each position. Source: https://arxiv.org/abs/1602.07868
"""

from typing import Any, ClassVar

from paramcount.errors import series
from paramcount.layers.fields import Check, Flag
from paramcount.layers.layer import Layer, Param, Shape, Work
from paramcount.numbers.column import Mask


class Gains(Check):
    """What has a gain: `false` for no weight normalization, `true` for what has one in PyTorch, or a word."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.words = words

    @property
    def allows(self) -> str:
        return series(("true", "false", *self.words))

    def __call__(self, name: str, value: Any) -> Any:
        if isinstance(value, (bool, Mask)):
            return Flag()(name, value)
        if isinstance(value, str) and value in self.words:
            return value
        from paramcount.errors.suggest import unknown

        raise unknown(name, value, ("true", "false", *self.words), argument=name)


class WeightNormed(Layer):
    """A layer whose kernel may have its direction and its lengths learned separately, by `weight_norm`.

    Elementwise: square, sum and scale each weight; a root and a division for each gain.
    """

    weight_norm: Any
    pytorch: ClassVar[str] = "output"  # what has a gain there: the first axis of its kernel

    @property
    def gained(self) -> str:
        """What has a gain, as a word."""
        return self.pytorch if self.weight_norm is True else self.weight_norm

    def gains(self, kernel: Param) -> dict[str, Param]:
        """The learned lengths, if there are any."""
        if not self.weight_norm:
            return {}
        taps = [axis for axis in kernel.axes if axis not in ("input", "output")]
        kept = taps if self.gained == "tap" else [self.gained]
        return {"gain": Param({axis: kernel.axes[axis] for axis in kept}, "norm", "ones")}

    def normalization(self, x: Shape) -> Work:
        """What it costs, if there are any."""
        tensors = self.params(x)
        return Work(0, 3 * tensors["weight"].size + 2 * tensors["gain"].size)

    def normalized(self, params: dict[str, Any]) -> Any:
        """The kernel with its learned lengths, in JAX."""
        weight = params["weight"]
        if not self.weight_norm:
            return weight
        from jax.numpy import sqrt

        axes = tuple(range(weight.ndim))
        kept = {"tap": axes[:-2], "input": axes[-2:-1], "output": axes[-1:]}[self.gained]
        length = sqrt((weight**2).sum(tuple(axis for axis in axes if axis not in kept), keepdims=True))
        return weight * (params["gain"].reshape(length.shape) / length)
