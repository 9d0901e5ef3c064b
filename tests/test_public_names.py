"""The public names: lazy, complete, in the field's own spelling."""

import os
import subprocess
import sys
from pathlib import Path

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
    ("spelled", "kind"),
    [
        *(
            (name, name.lower())
            for name in ["LSTM", "GRU", "RNN", "ReLU", "ReLU6", "PReLU", "ELU", "SELU", "GELU", "SiLU", "RoPE"]
        ),
        ("LeakyReLU", "leaky_relu"),
        ("RMSNorm", "rms_norm"),
        ("QuickGELU", "quick_gelu"),
    ],
)
def test_spellings_of_the_field(spelled, kind):
    assert getattr(pc, spelled) is find(kind)
    assert spelled in pc.__all__


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("Linear", "Dense"),
        ("Conv2d", "Conv"),
        ("BatchNorm2d", "BatchNorm"),
        ("LSTMCell", "LSTM"),
        ("Swish", "SiLU"),
        ("Sequential", "Do"),
        ("MLP", "FFN"),
        ("cuont", "count"),
        ("metric", "metrics"),
    ],
)
def test_names_of_frameworks_get_a_hint(name, ours):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'\nhint: did you mean `{ours}`\\?$"):
        getattr(pc, name)
    assert hasattr(pc, ours)


def test_what_is_like_nothing_gets_no_hint():
    with pytest.raises(AttributeError, match=r"has no attribute 'frobnicate'$"):
        vars(pc)["__getattr__"]("frobnicate")


NAMESPACES = {
    "data": ["Batches", "numpy_collate", "read_data", "torch_batches"],
    "losses": ["ctc_loss", "softmax_cross_entropy"],
    "metrics": ["accuracy", "auc", "top_k_accuracy"],
}
MOVED = [(module, name) for module, names in NAMESPACES.items() for name in names if name != "numpy_collate"]


@pytest.mark.parametrize("module", NAMESPACES)
def test_modules(module):
    pytest.importorskip("jax")
    assert getattr(pc, module).__all__ == NAMESPACES[module]
    for name in NAMESPACES[module]:
        assert getattr(getattr(pc, module), name).__name__ == name
    assert module in dir(pc) and module in pc.__all__


@pytest.mark.parametrize(("module", "name"), MOVED)
def test_names_that_have_moved_are_found_with_a_warning(module, name):
    pytest.importorskip("jax")
    with pytest.warns(DeprecationWarning, match=f"^`pc.{name}` is now `pc.{module}.{name}`$") as caught:
        found = getattr(pc, name)
    assert caught[0].filename == __file__
    assert found is getattr(getattr(pc, module), name)
    assert name not in pc.__all__ and name not in dir(pc)


def without_jax(code, tmp_path):
    """What a program prints where JAX is not installed."""
    (tmp_path / "jax.py").write_text("raise ModuleNotFoundError('gone', name='jax')\n")
    path = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=path, check=True).stdout


@pytest.mark.parametrize(
    ("name", "packages"),
    [
        ("train", "jax optax safetensors tqdm"),
        *((name, "jax") for name in ("verify", "trace", "measure", "losses", "metrics", "accuracy")),
    ],
)
@pytest.mark.parametrize("ask", ["pc.{}", "from paramcount import {}"])
def test_what_needs_jax_says_so(name, packages, ask, tmp_path):
    program = f"import paramcount as pc\ntry: {ask.format(name)}\nexcept pc.MissingPackageError as error: print(error)"
    assert without_jax(program, tmp_path) == f"`{name}` needs JAX\nhint: pip install {packages}\n"


def test_names_are_absent_without_jax(tmp_path):
    program = """
import inspect
import paramcount as pc
names = "verify trace measure train losses metrics accuracy ctc_loss"
print([name for name in names.split() if hasattr(pc, name)], hasattr(pc, "count"), hasattr(pc, "data"))
print("Conv" in dict(inspect.getmembers(pc)))
try:
    from paramcount import verify
except ImportError:
    print("an ImportError")
"""
    assert without_jax(program, tmp_path) == "[] True True\nTrue\nan ImportError\n"


def test_the_changelog_begins_with_this_version():
    text = (Path(__file__).parents[1] / "docs" / "changelog.md").read_text(encoding="utf-8")
    assert text.partition("\n## ")[2].startswith(f"{pc.__version__} (")


def test_star():
    names = {}
    exec("from paramcount import *", names)
    assert {"Conv", "Bottleneck", "count", "load", "Residual"} <= names.keys()


def test_verify_is_public():
    pytest.importorskip("jax")
    assert pc.verify.__name__ == "verify" and "verify" in pc.__all__
