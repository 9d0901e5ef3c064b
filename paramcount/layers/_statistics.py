"""What all norms share: mean 0 and variance 1, then a learned scale and bias for each channel."""

from typing import Any

from paramcount.layers.layer import Param


def affine(channels: Any, scale: bool, bias: bool) -> dict[str, Param]:
    """The learned scale and bias of each channel, where wanted."""
    tensors = {}
    if scale:
        tensors["scale"] = Param({"channels": channels}, "norm", "ones")
    if bias:
        tensors["bias"] = Param({"channels": channels}, "norm", "zeros")
    return tensors


def normalized(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    """Mean 0 and variance 1 over the axes, in JAX; the variance in a second pass over the values."""
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
