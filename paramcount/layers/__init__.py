"""Where each kind of layer is defined, and all that the author of a layer imports.

A kind's module is imported when the kind is first used. `from paramcount.layers import Layer, Shape, field, Whole` is
the public home of what a layer is written with; `check_layer`, the contract, is found there too and needs JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.fields import (
    AxisSizes,
    Check,
    Flag,
    Key,
    Kind,
    Number,
    Padding,
    Pairs,
    Parts,
    PerAxis,
    Sizes,
    Text,
    ValuePath,
    ValuePaths,
    Whole,
    Wholes,
    Word,
    field,
)
from paramcount.layers.layer import Contraction, Free, Layer, Param, ParameterFree, Shape, Work, along, registry
from paramcount.numbers.arithmetic import (
    Size,
    ceil_div,
    decide,
    exact_div,
    maximum,
    minimum,
    product,
    require,
    settle,
    where,
)

if TYPE_CHECKING:
    from paramcount.backend.prove.contract import check_layer

__all__ = [
    "ArgumentError",
    "AxisSizes",
    "Check",
    "Contraction",
    "Flag",
    "Free",
    "Key",
    "Kind",
    "Layer",
    "Number",
    "Padding",
    "Pairs",
    "Param",
    "ParameterFree",
    "Parts",
    "PerAxis",
    "Shape",
    "ShapeError",
    "Size",
    "Sizes",
    "Text",
    "ValuePath",
    "ValuePaths",
    "Whole",
    "Wholes",
    "Word",
    "Work",
    "along",
    "ceil_div",
    "check_layer",
    "decide",
    "exact_div",
    "field",
    "maximum",
    "minimum",
    "product",
    "require",
    "settle",
    "where",
]

MODULES = {
    "conv": "conv",
    "conv_transpose": "conv_transpose",
    "depthwise": "depthwise",
    "pointwise": "pointwise",
    "dense": "dense",
    "embedding": "embedding",
    "parameter": "parameter",
    "prelu": "prelu",
    "batch_norm": "batch_norm",
    "layer_norm": "norm",
    "group_norm": "norm",
    "instance_norm": "norm",
    "rms_norm": "norm",
    "local_response_norm": "response_norm",
    "l2_norm": "response_norm",
    "relu": "activation",
    "relu6": "activation",
    "leaky_relu": "leaky",
    "elu": "leaky",
    "selu": "activation",
    "gelu": "activation",
    "gelu_tanh": "activation",
    "quick_gelu": "activation",
    "silu": "activation",
    "hard_swish": "activation",
    "hard_sigmoid": "activation",
    "sigmoid": "activation",
    "tanh": "activation",
    "mish": "activation",
    "softplus": "activation",
    "exp": "activation",
    "abs": "activation",
    "clamp": "clamp",
    "softmax": "activation",
    "log_softmax": "activation",
    "max_pool": "pool",
    "avg_pool": "pool",
    "adaptive_avg_pool": "adaptive_pool",
    "adaptive_max_pool": "adaptive_pool",
    "global_pool": "global_pool",
    "flatten": "reshape",
    "reshape": "reshape",
    "transpose": "reshape",
    "rearrange": "rearrange",
    "split": "slicing",
    "slice": "slicing",
    "pick": "slicing",
    "roll": "slicing",
    "pad": "slicing",
    "crop": "slicing",
    "upsample": "resize",
    "pixel_shuffle": "resize",
    "identity": "regularize",
    "scale": "regularize",
    "dropout": "regularize",
    "stochastic_depth": "regularize",
    "lstm": "recurrent",
    "gru": "recurrent",
    "rnn": "recurrent",
    "selective_scan": "selective_scan",
    "einsum": "einsum",
    "attend": "attend",
    "rope": "waves",
    "sinusoidal": "waves",
    "relative": "relative",
    "alibi": "relative",
    "offsets": "relative",
    "regions": "window_regions",
    "add": "merge",
    "subtract": "merge",
    "multiply": "merge",
    "concat": "concat",
    "router": "route",
    "combine": "route",
}


def __getattr__(name: str) -> Any:
    """`check_layer`, which imports JAX, when it is first asked for."""
    if name != "check_layer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from paramcount.errors import needs

    with needs("check_layer"):
        from paramcount.backend.prove.contract import check_layer
    return check_layer


def find(kind: str) -> type[Layer] | None:
    """The layer class of a kind, or None where there is none; installed packages may offer kinds too."""
    if kind in registry:
        return registry[kind]
    if kind in MODULES:
        import_module(f"{__name__}.{MODULES[kind]}")
        return registry[kind]
    if not kind.isidentifier():
        return None
    from paramcount.layers.installed import from_entry_point

    return from_entry_point(kind)
