"""The lazy index of kinds names exactly what the layers' files define."""

import os
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

from paramcount import layers
from paramcount.layers import fields, layer
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


def test_the_home_for_authors_has_every_check_and_every_name_of_the_contract():
    checks = {name for name, each in vars(fields).items() if isinstance(each, type) and issubclass(each, fields.Check)}
    contract = {"Layer", "Shape", "Param", "Work", "Contraction", "field", "along", "ArgumentError", "ShapeError"}
    numbers = {"product", "ceil_div", "exact_div", "minimum", "maximum", "where", "require", "decide"}
    assert checks | contract | numbers <= set(layers.__all__)
    assert layers.Whole is fields.Whole and layers.Layer is layer.Layer


def test_the_contract_is_found_at_home():
    pytest.importorskip("jax", reason="needs jax")
    from paramcount.backend.prove import contract

    assert layers.check_layer is contract.check_layer
    names: dict = {}
    exec("from paramcount.layers import *", names)
    assert set(layers.__all__) <= names.keys()


def test_there_are_no_other_names_at_home():
    with pytest.raises(AttributeError, match="no_such_name"):
        layers.no_such_name  # noqa: B018
    with pytest.raises(ImportError, match="Whol"):
        exec("from paramcount.layers import Whol")


def test_the_contract_says_that_it_needs_jax(tmp_path):
    (tmp_path / "jax.py").write_text("raise ModuleNotFoundError('gone', name='jax')\n")
    program = "from paramcount import MissingPackageError, layers\n"
    program += "try: layers.check_layer\nexcept MissingPackageError as error: print(error)"
    path = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=path)
    assert done.stdout == "`check_layer` needs JAX\nhint: pip install jax\n", done.stderr


def test_the_home_for_authors_imports_neither_jax_nor_numpy():
    program = "import sys; from paramcount.layers import Layer, field; print({'jax', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
