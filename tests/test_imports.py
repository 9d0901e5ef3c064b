"""Imports run one way, and counting needs neither JAX nor NumPy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "paramcount"
# From the bottom up; a module imports from its own folder and from those before it.
ORDER = (
    "errors",
    "numbers",
    "render",
    "layers",
    "graph",
    "language",
    "cost",
    "sweeps",
    "backend",
    "cli",
    "__main__",
    "__init__",
)
ALLOWED = {  # upward, inside a function
    ("cli", "__init__"),  # the version
    ("sweeps", "__init__"),  # the version
    ("graph", "backend"),  # `network.init` and `network.apply`, as users of Flax expect them
    ("layers", "language"),  # kinds of installed packages
}


def level(part):
    return ORDER.index(part)


def part_of(path):
    """The part of the package that a file belongs to: its folder, or its own name."""
    inside = path.relative_to(ROOT)
    return inside.parts[0].removesuffix(".py")


def imports(tree):
    """Every module of the package that is imported, with whether it is at the module's top."""
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            names = (
                [f"{node.module}.{each.name}" for each in node.names] if node.module == "paramcount" else [node.module]
            )
        elif isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "paramcount":
                part = parts[1] if len(parts) > 1 and not parts[1].startswith("__v") else "__init__"
                yield part, node in tree.body


def wrong(part, source):
    """What a source imports against the direction."""
    found = []
    for imported, at_top in imports(ast.parse(source)):
        if level(imported) > level(part) and ((part, imported) not in ALLOWED or at_top):
            found.append(imported)
    return found


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path):
    assert wrong(part_of(path), path.read_text()) == []


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("layers", "from paramcount.graph.tree import Node"),
        ("graph", "def f():\n    from paramcount.cost.count import count"),
        ("render", "import paramcount.cli"),
        ("render", "def f():\n    from paramcount.cost.report import Report"),
        ("errors", "from paramcount import numbers"),
        ("language", "if True:\n    import paramcount.cost.count as r"),
        ("graph", "from paramcount.backend.run.apply import apply"),
    ],
)
def test_the_wrong_direction_is_seen(part, source):
    assert wrong(part, source)


def test_jax_is_imported_in_the_backend_and_in_functions_only():
    for path in ROOT.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            names = (
                [each.name for each in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", "")]
            )
            heads = (
                {str(name).split(".")[0] for name in names} if isinstance(node, (ast.Import, ast.ImportFrom)) else set()
            )
            assert not heads & {"numpy", "jax"} or part_of(path) == "backend", path


MAIN_JOB = """
import sys
import paramcount as pc
{more}
layers = [pc.Conv(8, 3, norm="batch_norm", activation="relu6"), pc.GlobalPool(), pc.Dense(10)]
report = pc.count(pc.Network(layers, input=(8, 8, 3)))
str(report), report.to_dict()
pc.check(pc.load("mobilenet_v2"))
from paramcount.cli.main import main
assert main(["mobilenet_v2", "--depth", "2"]) == 0
print(*({{"jax", "numpy"}} & set(sys.modules)), file=sys.stderr)
"""


def heavy(more=""):
    done = subprocess.run(
        [sys.executable, "-c", MAIN_JOB.format(more=more)], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_counting_imports_neither_jax_nor_numpy():
    assert heavy() == set()


def test_an_import_of_numpy_would_be_seen():
    assert heavy("import numpy") == {"numpy"}
