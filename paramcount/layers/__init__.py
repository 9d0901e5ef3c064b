"""Where each kind of layer is defined; a kind's module is imported when the kind is first used."""

from importlib import import_module

from paramcount.layer import Layer, registry

MODULES = {
    "conv": "conv",
    "conv_transpose": "conv_transpose",
    "depthwise": "depthwise",
    "pointwise": "pointwise",
    "dense": "dense",
    "embedding": "embedding",
    "parameter": "parameter",
    "prelu": "prelu",
    "batch_norm": "norm",
    "layer_norm": "norm",
    "group_norm": "norm",
    "instance_norm": "norm",
    "rms_norm": "norm",
    "local_response_norm": "normalize",
    "l2_norm": "normalize",
}


def find(kind: str) -> type[Layer] | None:
    """The layer class of a kind, or None where there is no such kind."""
    if kind not in registry and kind in MODULES:
        import_module(f"{__name__}.{MODULES[kind]}")
    return registry.get(kind)
