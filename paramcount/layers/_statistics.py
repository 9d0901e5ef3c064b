"""What all norms share: mean 0 and variance 1, then a learned scale and bias for each channel."""

from typing import Any, ClassVar

from paramcount.layers._accept import has_channels
from paramcount.layers.layer import Layer, Param, Shape, Work

MOMENTUM = 0.1  # the share of a new batch in the running statistics


class Norm(Layer):
    """A normalization of a value with channels, and then, where `affine`, a learned scale and bias for each channel."""

    affine: bool

    family = "normalization"
    by_name = ("eps", "affine")
    operations: ClassVar[int] = 5  # per element, to normalize

    @property
    def learned(self) -> tuple[bool, bool]:
        """Whether there is a scale, and whether there is a bias."""
        return self.affine, self.affine

    def output_shape(self, x: Shape) -> Shape:
        has_channels(x, self.kind)
        return x

    def params(self, x: Shape) -> dict[str, Param]:
        scale, bias = self.learned
        tensors = {}
        if scale:
            tensors["scale"] = Param({"channels": x.channels}, "norm", "ones")
        if bias:
            tensors["bias"] = Param({"channels": x.channels}, "norm", "zeros")
        return tensors

    def work(self, x: Shape) -> Work:
        return Work(0, (self.operations + sum(self.learned)) * x.elements)


def running(x: Shape) -> dict[str, Param]:
    """The buffers of running statistics, for each channel."""
    channels = {"channels": x.channels}
    return {"mean": Param(channels, "buffer", "zeros"), "var": Param(channels, "buffer", "ones")}


def update(params: dict[str, Any], mean: Any, var: Any, context: Any) -> None:
    """Keep the running statistics, moved towards those of a batch."""
    context.update(
        mean=(1 - MOMENTUM) * params["mean"] + MOMENTUM * mean,
        var=(1 - MOMENTUM) * params["var"] + MOMENTUM * var,
    )


def normalized(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    """Mean 0 and variance 1 over the axes, in JAX; the variance from the centred values."""
    from jax.numpy import square

    centred = x - x.mean(axes, keepdims=True)
    return scaled(centred, square(centred).mean(axes, keepdims=True), eps)


def scaled(centred: Any, var: Any, eps: float) -> Any:
    """Divided by the deviation, in JAX."""
    from jax.lax import rsqrt

    return centred * rsqrt(var + eps)


def transform(x: Any, params: dict[str, Any]) -> Any:
    """Each channel by its learned scale and bias, as far as there are any."""
    if "scale" in params:
        x = x * params["scale"]
    return x + params["bias"] if "bias" in params else x
