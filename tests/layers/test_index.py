"""The lazy index of kinds names exactly what the layers' files define."""

import pkgutil
from importlib import import_module

from paramcount import layers
from paramcount.layers.conv import Conv
from paramcount.layers.layer import registry


def test_index_is_the_registry():
    for module in pkgutil.iter_modules(layers.__path__):
        import_module(f"{layers.__name__}.{module.name}")
    here = {
        kind: layer_class.__module__.removeprefix(f"{layers.__name__}.")
        for kind, layer_class in registry.items()
        if layer_class.__module__.startswith(layers.__name__)
    }
    assert here == layers.MODULES


def test_find():
    assert layers.find("conv") is Conv
    assert layers.find("no_such_kind") is None
