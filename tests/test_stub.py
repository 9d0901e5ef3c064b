"""What editors and type checkers see of the package: every public name, each with its arguments."""

import ast
import json
import subprocess
from inspect import signature
from pathlib import Path
from runpy import run_path
from shutil import which

import pytest

import paramcount as pc

ROOT = Path(__file__).resolve().parents[1]
STUB = (ROOT / "paramcount" / "__init__.pyi").read_text(encoding="utf-8")


def test_the_stub_is_current():
    pytest.importorskip("jax")
    page = run_path(str(ROOT / "docs" / "make_stub.py"))["page"]
    assert page() == STUB, "run: python docs/make_stub.py > paramcount/__init__.pyi"


def test_it_has_every_public_name():
    names = {"__version__"}
    for node in ast.parse(STUB).body:
        if isinstance(node, ast.ImportFrom):
            names |= {each.asname for each in node.names if each.asname}  # others are not exported by a stub
        elif isinstance(node, ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets}
    assert names - {"__version__"} == set(pc.__all__)


@pytest.mark.parametrize("name", sorted(pc.blocks()))
def test_blocks_show_their_arguments(name):
    block = getattr(pc, name)
    (shown,) = [node for node in ast.parse(STUB).body if isinstance(node, ast.ClassDef) and node.name == block.__name__]
    (init,) = [node for node in shown.body if isinstance(node, ast.FunctionDef)]
    arguments = [each.arg for each in init.args.args[1:] + init.args.kwonlyargs]
    assert arguments == list(signature(block).parameters)
    assert all(argument in block.__doc__ for argument in arguments)
    required = len(init.args.args) - 1 - len(init.args.defaults)
    with pytest.raises(pc.ArgumentError, match=f"needs `{arguments[0]}`"):
        block()
    block(*[8] * required)  # and with these it is complete


def test_signatures_are_those_of_the_spec():
    text = "(out, expand=6, stride=1, kernel=3, norm='batch_norm', activation='relu6', squeeze=0)"
    assert str(signature(pc.Bottleneck)) == text
    assert str(signature(pc.Attention)).startswith("(heads, kv_heads=heads, head_dim=cin / heads, bias=True, ")
    assert str(signature(pc.Attention)).endswith("out=cin, *, context=..., position=..., regions=...)")


PROGRAM = """\
import paramcount as pc

pc.Conv(out=8, kernel=3, norm="batch_norm", activation=pc.ReLU6())
pc.LSTM(8), pc.Bottleneck(24, expand=6), pc.Repeat(2, [pc.Relu()])
pc.count(pc.load("mlp", width=8), batch=2).params
pc.losses.softmax_cross_entropy, pc.metrics.auc, pc.data.Batches
pc.layers.find("conv")
pc.Conv(out=8, kernle=3)
pc.Bottleneck(out=24, expnd=6)
pc.Linear(8)
pc.count(pc.load("mlp"), bacth=2)
"""


@pytest.mark.skipif(which("pyright") is None, reason="needs pyright")
def test_a_type_checker_knows_names_and_arguments(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    settings = {"extraPaths": [str(ROOT)], "typeCheckingMode": "basic", "reportUnusedExpression": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = ["pyright", "--outputjson", "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    found = [
        (each["range"]["start"]["line"] + 1, each["message"]) for each in json.loads(done.stdout)["generalDiagnostics"]
    ]
    assert found == [
        (8, 'No parameter named "kernle"'),
        (9, 'No parameter named "expnd"'),
        (10, '"Linear" is not a known attribute of module "paramcount"'),
        (11, 'No parameter named "bacth"'),
    ]
