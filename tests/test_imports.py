"""Imports run one way, circles are known, the top is small, and counting needs neither JAX nor NumPy."""

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
    ("graph", "backend"),  # `network.init` and `network.apply`, as users of Flax expect them
    ("layers", "backend"),  # `check_layer`, beside all else that the author of a layer imports
    ("*", "__init__"),  # the version
}
MOST_AT_THE_TOP = 12

# Modules that import each other at run time, inside functions too. None may be added.
CIRCLES = ["backend.run.apply graph.network"]  # `network.init` and `network.apply`


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
        allowed = {(part, imported), ("*", imported)} & ALLOWED and not at_top
        if level(imported) > level(part) and not allowed:
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


def modules():
    """The source of every module, by its name within the package."""
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in ROOT.rglob("*.py")}
    return {name.removesuffix(".__init__"): path.read_text() for path, name in names.items()}


def at_run_time(node):
    """Every import below a node but those for annotations, as a module and a name in it."""
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            for each in node.orelse:
                yield from at_run_time(each)
        case ast.Import():
            yield from ((each.name, "") for each in node.names)
        case ast.ImportFrom():
            yield from ((node.module, each.name) for each in node.names)
        case _:
            for each in ast.iter_child_nodes(node):
                yield from at_run_time(each)


def circles(sources):
    """The largest groups of modules of which each reaches each other by imports."""
    arrows = {}
    for name, source in sources.items():
        pairs = [(module.removeprefix("paramcount."), each) for module, each in at_run_time(ast.parse(source))]
        found = {f"{module}.{each}" if f"{module}.{each}" in sources else module for module, each in pairs}
        arrows[name] = found & set(sources)
    reached = {name: reach(name, arrows) for name in sources}
    groups = {frozenset(each for each in reached[name] if name in reached[each]) for name in sources}
    return sorted(" ".join(sorted(group)) for group in groups if group)


def reach(start, arrows):
    """All that can be reached from a module, itself only if there is a way back."""
    seen, left = set(), [start]
    while left:
        new = arrows[left.pop()] - seen
        seen |= new
        left += new
    return seen


def test_circles_are_those_known():
    assert circles(modules()) == CIRCLES, "a new circle must go; where one has gone, take it out of CIRCLES"


def test_a_circle_is_seen():
    sources = {
        "a": "from paramcount.b.c import f",
        "b.c": "def f():\n    if f:\n        from paramcount import x\n        import paramcount.d",
        "d": "from paramcount import __version__\nfrom paramcount.a import g",
        "e": "from paramcount.f import h",
        "f": "if TYPE_CHECKING:\n    from paramcount.e import h\nelse:\n    from paramcount.a import g",
        "g": "from paramcount.g import itself",
    }
    assert circles(sources) == ["a b.c d", "g"]


def test_the_top_of_the_package_is_small():
    tools = ("__pycache__", "configs", "py.typed", "__init__.pyi")  # what Python, wheels and type checkers look for
    entries = [each.name for each in ROOT.iterdir() if each.name not in tools]
    assert len(entries) <= MOST_AT_THE_TOP, sorted(entries)


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
