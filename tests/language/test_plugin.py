"""Kinds from a user's file and from an installed package's entry point."""

import sys
from pathlib import Path

import pytest

from paramcount.cost.count import count
from paramcount.errors import ArgumentError, ParamcountError, SpecError
from paramcount.language import plugin
from paramcount.language.load import loads
from paramcount.language.vocabulary import FORMS, form, shipped, taken
from paramcount.layers import MODULES, find, installed
from paramcount.layers.layer import registry

SQUARE = '''
from __future__ import annotations

from dataclasses import dataclass

from paramcount.layers import Contraction, Layer, Param, Shape, Whole, Work, field


@dataclass(frozen=True)
class Bilinear(Layer, kind="KIND"):
    """x W xᵀ for each of `out` matrices W."""

    out: int = field(Whole(), doc="the number of matrices")

    family = "contraction"
    examples = (({"out": 3}, (4,)),)

    def output_shape(self, x: Shape) -> Shape:
        return Shape.of(self.out)

    def params(self, x: Shape) -> dict[str, Param]:
        return {"weight": Param({"out": self.out, "left": x.channels, "right": x.channels}, "weight")}

    def work(self, x: Shape) -> Work:
        return Work(self.out * x.channels * (x.channels + 1))

    def contractions(self, x: Shape) -> tuple[Contraction, ...]:
        halves = self.out * x.channels
        return (
            Contraction(halves * x.channels, (("weight",), (0,))),
            Contraction(halves, (("weight", 0), (0,))),
        )

    def forward(self, params, x, *, context):
        return (params["weight"] @ x) @ x
'''


DATACLASS = "@dataclass(frozen=True)"


@pytest.fixture
def written(tmp_path):
    """A function that writes a plugin; whatever it registers is gone after the test."""
    before = dict(registry)

    def write(text: str, name: str = "own.py") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    yield write
    for kind in set(registry) - set(before):
        if not registry[kind].__module__.startswith("paramcount."):
            sys.modules.pop(registry.pop(kind).__module__, None)


def spec(kind: str) -> str:
    return f"{{input: {{features: 4}}, layers: [{kind}: 3]}}"


def test_a_file_gives_a_kind(written):
    path = written(SQUARE.replace("KIND", "quadratic"))
    with pytest.raises(ParamcountError, match="unknown kind `quadratic`"):
        loads(spec("quadratic"))
    assert plugin.load_plugin(path) == ["quadratic"]
    report = count(loads(spec("quadratic")))
    assert (report.params, report.macs) == (3 * 4 * 4, 3 * (4 * 4 + 4))


def test_a_file_runs_once(written):
    path = written(SQUARE.replace("KIND", "quadratic"))
    plugin.load_plugin(path)
    first = registry["quadratic"]
    assert plugin.load_plugin(path) == ["quadratic"]
    assert registry["quadratic"] is first


def test_a_layer_of_a_file_keeps_the_contract(written):
    pytest.importorskip("jax", reason="needs jax")
    from paramcount.backend.prove.contract import check_layer

    plugin.load_plugin(written(SQUARE.replace("KIND", "quadratic")))
    check_layer(registry["quadratic"])


@pytest.mark.parametrize("kind", ["conv", "residual", "bottleneck"])
def test_a_kind_that_exists_is_refused(written, kind):
    before = find(kind)
    path = written(SQUARE.replace("KIND", kind))
    with pytest.raises(ArgumentError, match=f"defines the kind `{kind}`, which exists"):
        plugin.load_plugin(path)
    assert registry.get(kind) is before


def test_two_files_with_one_kind_are_refused(written):
    plugin.load_plugin(written(SQUARE.replace("KIND", "quadratic")))
    first = registry["quadratic"]
    with pytest.raises(ArgumentError, match="which exists"):
        plugin.load_plugin(written(SQUARE.replace("KIND", "quadratic"), "other.py"))
    assert registry["quadratic"] is first


def test_words_of_the_language_are_taken():
    assert not set(FORMS) & set(MODULES)
    assert all(form(word).kind == word for word in FORMS)
    assert all(taken(word) for word in [*FORMS, *MODULES, *shipped()])
    assert not taken("quadratic")


def test_a_missing_file(tmp_path):
    with pytest.raises(ArgumentError, match=r"there is no file `.*none\.py`"):
        plugin.load_plugin(str(tmp_path / "none.py"))
    with pytest.raises(ArgumentError, match="cannot read"):
        plugin.load_plugin(str(tmp_path))


@pytest.mark.parametrize(
    "text, message, line",
    [
        ("x = 1\ndef f(:\n", "the plugin cannot be read: invalid syntax", 2),
        ("import math\n\nmath.no_such_name\n", "the plugin failed: AttributeError", 3),
        ("def f():\n    return 1 / 0\nf()\n", "the plugin failed: ZeroDivisionError: division by zero", 2),
        ("import no_such_package\n", "the plugin failed: ModuleNotFoundError", 1),
        (SQUARE.replace("KIND", "quadratic") + "\n\nboom\n", "the plugin failed: NameError", SQUARE.count("\n") + 3),
    ],
)
def test_an_error_in_the_file(written, text, message, line):
    path = written(text)
    with pytest.raises(SpecError) as caught:
        plugin.load_plugin(path)
    assert caught.value.message.startswith(message)
    assert caught.value.position is not None
    assert caught.value.position[:2] == (path, line)
    assert "quadratic" not in registry
    assert path not in sys.modules


def test_a_file_without_layers(written):
    with pytest.raises(ArgumentError, match="defines no kind of layer"):
        plugin.load_plugin(written("x = 1\n"))


def offer(tmp_path: Path, monkeypatch, module: str, source: str, points: str) -> None:
    """A package on the path, as if it were installed."""
    (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
    info = tmp_path / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[paramcount.layers]\n{points}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    installed.entry_points.cache_clear()


@pytest.fixture(autouse=True)
def _fresh_entry_points():
    yield
    installed.entry_points.cache_clear()


def test_an_entry_point_gives_a_kind(written, tmp_path, monkeypatch):
    source = SQUARE.replace("KIND", "offered")
    offer(tmp_path, monkeypatch, "offered_layers", source, "offered = offered_layers:Bilinear")
    assert count(loads(spec("offered"))).params == 48


@pytest.mark.parametrize(
    "point, message",
    [
        ("gone_layers:Missing", "cannot be loaded: AttributeError"),
        ("no_such_module:Bilinear", "cannot be loaded: ModuleNotFoundError"),
        ("gone_layers:Shape", "is not a layer of that kind"),
        ("gone_layers:Bilinear", "is not a layer of that kind"),
    ],
)
def test_a_broken_entry_point(written, tmp_path, monkeypatch, point, message):
    offer(tmp_path, monkeypatch, "gone_layers", SQUARE.replace("KIND", "another"), f"gone = {point}")
    monkeypatch.delitem(sys.modules, "gone_layers", raising=False)
    with pytest.raises(ArgumentError, match=message):
        find("gone")


def test_an_entry_point_does_not_replace_a_kind(written, tmp_path, monkeypatch):
    offer(tmp_path, monkeypatch, "greedy_layers", SQUARE.replace("KIND", "conv"), "conv = greedy_layers:Bilinear")
    assert find("conv").__module__ == "paramcount.layers.conv"


ASSIGNED = ' = field(Whole(), doc="the number of matrices")'


@pytest.mark.parametrize(
    "before, after, message, hint",
    [
        (DATACLASS + "\n", "", "`Bilinear` has arguments and is not a dataclass", f"`{DATACLASS}`"),
        ("def work(", "def cost(", "`Bilinear` has no method `work`", "output_shape, params, work and forward"),
        (ASSIGNED, "", "`out` of the layer `Bilinear` does not say what it takes", "field(Whole())"),
    ],
)
def test_a_class_that_is_no_layer(written, before, after, message, hint):
    text = SQUARE.replace("KIND", "quadratic").replace(before, after)
    path = written(text)
    with pytest.raises(ArgumentError) as caught:
        plugin.load_plugin(path)
    assert message in caught.value.message and hint in caught.value.hint
    line = text.splitlines().index('class Bilinear(Layer, kind="quadratic"):') + 1
    assert caught.value.position[:2] == (path, line)
    assert "quadratic" not in registry


WORK = "return Work(self.out * x.channels * (x.channels + 1))"


@pytest.mark.parametrize(
    "before, after, message, line",
    [
        (WORK, "return Work(self.out * 0.5)", "`work` of `quadratic` gives `1.5`, and a count is a whole number", 0),
        (WORK, "pass", "`work` of `quadratic` gives `None`", 0),
        (WORK, "return Work(x.width)", "`work` of `quadratic` failed: AttributeError: 'Shape' object has no", 1),
        ("return Shape.of(self.out)", "return self.out", "`output_shape` of `quadratic` gives `3`", 0),
        ("return Shape.of(self.out)", "return Shape.of(self.out / 2)", "`output_shape` of `quadratic` gives `1.5`", 0),
        ('}, "weight")}', '}, "weight")}, 1', "`params` of `quadratic` gives", 0),
    ],
)
def test_an_error_of_a_method_has_its_place_in_the_file(written, before, after, message, line):
    text = SQUARE.replace("KIND", "quadratic").replace(before, after)
    path = written(text)
    plugin.load_plugin(path)
    with pytest.raises(SpecError) as caught:
        loads(spec("quadratic"))
    assert caught.value.message.startswith(message)
    method = next(number for number, each in enumerate(text.splitlines(), 1) if f"def {message.split('`')[1]}(" in each)
    assert caught.value.position[:2] == (path, method + line)


@pytest.mark.parametrize("module", ["layer", "fields", "numeric"])
def test_an_import_of_a_module_that_has_moved_is_sent_to_the_public_home(written, module):
    path = written(f"import math\nfrom paramcount.{module} import Layer\n")
    with pytest.raises(SpecError, match=f"No module named 'paramcount.{module}'") as caught:
        plugin.load_plugin(path)
    assert "`from paramcount.layers import Layer, Shape, field`" in caught.value.hint
    assert caught.value.position[:2] == (path, 2)


def test_an_import_of_another_missing_module_is_not(written):
    with pytest.raises(SpecError, match="No module named 'no_such_module'") as caught:
        plugin.load_plugin(written("import no_such_module\n"))
    assert caught.value.hint == "the file must run by itself"


def test_a_refusal_of_a_layer_stands_at_its_place_in_the_spec(written):
    raised = 'raise ShapeError("too wide", "make it narrow")'
    text = SQUARE.replace("KIND", "quadratic").replace("return Shape.of(self.out)", raised)
    plugin.load_plugin(written(text.replace("import Contraction", "import ShapeError, Contraction")))
    with pytest.raises(ParamcountError, match="<text>:1:33: too wide\nhint: make it narrow"):
        loads(spec("quadratic"))


def test_a_layer_of_no_kind_is_called_by_its_class():
    from dataclasses import dataclass

    from paramcount.layers.dense import Dense
    from paramcount.layers.layer import Layer, Work

    @dataclass(frozen=True)
    class Doubled(Layer):
        def output_shape(self, x):
            return x

        def params(self, x):
            return {}

        def work(self, x):
            return Work(macs=x.elements)

        def forward(self, params, x, *, context):
            return 2 * x

    report = count([Dense(8), Doubled(), Doubled()], 4)
    assert [row.path for row in report.rows] == ["dense0", "doubled0", "doubled1"]
    assert report.macs == 4 * 8 + 8 + 8
    assert "doubled" not in registry
