"""The public names: flat, lazy, complete."""

import os
import subprocess
import sys

import pytest

import paramcount as pc
from paramcount.language.vocabulary import shipped
from paramcount.layers import MODULES, find
from paramcount.layers.layer import Layer

FUNCTIONS = ["load", "loads", "count", "check", "zoo"]
FORMS = [
    "Add",
    "Subtract",
    "Multiply",
    "Concat",
    "Gate",
    "Do",
    "Residual",
    "Let",
    "From",
    "With",
    "Pop",
    "Repeat",
    "Each",
]
FORMS += ["Scan", "Moe", "Block", "Network", "Layer", "Shape", "Param", "Work", "Column", "Report", "Row", "Figures"]
FORMS += ["ParamcountError", "SpecError", "ArgumentError", "ShapeError", "ManyErrors", "CheckError", "Undecided"]
FORMS += ["MissingPackageError"]


@pytest.mark.parametrize("name", FORMS + FUNCTIONS)
def test_forms_and_functions(name):
    assert getattr(pc, name).__name__ == name
    assert name in dir(pc) and name in pc.__all__


@pytest.mark.parametrize("kind", sorted(MODULES))
def test_every_kind_has_a_name(kind):
    name = "".join(part.capitalize() for part in kind.split("_"))
    found = getattr(pc, name)
    assert found is find(kind) and issubclass(found, Layer)
    assert name in pc.__all__


@pytest.mark.parametrize("name", sorted(shipped()))
def test_every_shipped_block_has_a_name(name):
    public = "".join(part.capitalize() for part in name.split("_"))
    assert issubclass(getattr(pc, public), pc.Block)
    assert public in dir(pc)


def test_no_names_of_the_inside():
    shown = {name for name in dir(pc) if not name.startswith("__")}
    assert shown == set(pc.__all__)


def test_blocks_in_python():
    # 16·96 + 9·96 + 96·24 = 4704 weights, and batch norms of 2·(96 + 96 + 24) = 432
    assert pc.count(pc.Bottleneck(out=24, expand=6, stride=2), (112, 112, 16)).params == 4704 + 432


def test_no_other_names():
    for name in ("Convv", "conv", "batch_norm", "bottleneck", "_private"):
        with pytest.raises(AttributeError, match=name):
            getattr(pc, name)


def imported_by(code):
    """The modules beyond a bare interpreter's that a line of Python imports."""
    program = f"import sys; before = set(sys.modules); {code}; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_imports_nothing_else():
    assert imported_by("import paramcount") == {"paramcount"}
    assert "paramcount.layers.layer" in imported_by("import paramcount; paramcount.Layer")


def test_names_survive_the_import_of_modules():
    import paramcount.cli.main
    import paramcount.cost.count
    import paramcount.cost.expect

    assert callable(paramcount.check) and callable(paramcount.count) and callable(paramcount.load)


@pytest.mark.parametrize(
    ("name", "extra"), [("verify", "jax"), ("trace", "jax"), ("measure", "jax"), ("train", "train")]
)
def test_what_needs_jax_says_so(name, extra, tmp_path):
    (tmp_path / "jax.py").write_text("raise ModuleNotFoundError('gone', name='jax')\n")
    program = f"import paramcount as pc\ntry: pc.{name}\nexcept pc.MissingPackageError as error: print(error)"
    path = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=path)
    assert done.stdout == f'`{name}` needs JAX\nhint: pip install "paramcount[{extra}]"\n'


def test_star():
    names = {}
    exec("from paramcount import *", names)
    assert {"Conv", "Bottleneck", "count", "load", "Residual"} <= names.keys()


def test_verify_is_public():
    pytest.importorskip("jax")
    assert pc.verify.__name__ == "verify" and "verify" in pc.__all__
