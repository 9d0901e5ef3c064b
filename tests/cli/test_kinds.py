"""`paramcount kinds`: the list, one page, own layers, and what is said to a wrong word."""

import json
import sys

import pytest

from paramcount.cli.main import main
from paramcount.language.description import families
from paramcount.layers import installed
from paramcount.layers.layer import registry

OWN = '''
from dataclasses import dataclass

from paramcount.layers import Free, ParameterFree, Shape, Whole, Work, field


@dataclass(frozen=True)
class Doubled(ParameterFree, kind="DOUBLED"):
    """Twice the value, `times` times. Elementwise: times per element."""

    times: int = field(Whole(), 1, doc="how many times it is doubled")

    family = "elementwise"
    examples = (({"times": 3}, (4, 5)),)

    def output_shape(self, x):
        return x

    def work(self, x):
        return Work(0, self.times * x.elements)

    def forward(self, params, x, *, context):
        return x * 2**self.times


@dataclass(frozen=True)
class Plain(Free, kind="PLAIN"):
    size: int = field(Whole())

    def output_shape(self, x):
        return x

    def forward(self, params, x, *, context):
        return x
'''


@pytest.fixture
def own(tmp_path):
    """A file with two layers, one of them without a word about itself; both are gone after the test."""
    before = dict(registry)
    path = tmp_path / "own.py"
    path.write_text(OWN.replace("DOUBLED", "doubled").replace("PLAIN", "plain"), encoding="utf-8")
    yield str(path)
    for kind in set(registry) - set(before):
        module = registry.pop(kind).__module__
        if not module.startswith("paramcount."):
            sys.modules.pop(module, None)
    installed.entry_points.cache_clear()


def test_the_list(capsys):
    assert main(["kinds"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["family", "kind", "what", "it", "is"]
    assert lines[1].startswith("convolution     conv  ")
    words = [word for found in families().values() for word in found]
    assert [line[16:].split()[0] for line in lines[1 : len(words) + 1]] == words
    assert [line.split()[0] for line in lines[1 : len(words) + 1] if line[0] != " "] == [
        family.split()[0] for family in families()
    ]


def test_one_kind(capsys):
    assert main(["kinds", "dense"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "dense (dense)\n\n"
        "    dense: [out]\n"
        "           by name: bias=true, tied=none, weight_norm=false\n\n"
        "A matrix, and by default a bias, on the last axis of features or of each step of a sequence.\n\n"
        "Weights: channels × out. MACs: that × steps. "
    )
    assert out.endswith(
        "example:\n\n"
        "    input: {features: 7}\n"
        "    layers:\n"
        "      - dense: 5\n\n"
        "    output                   5\n"
        "    params                  40\n"
        "    weights (bias-free)     35\n"
        "    MACs                    35\n"
        "    elementwise operations   5\n"
    )


def test_json(capsys):
    assert main(["kinds", "residual", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {key: data[key] for key in ("schema", "command", "kind", "family")} == {
        "schema": 1,
        "command": "kinds",
        "kind": "residual",
        "family": "structure",
    }
    assert [each["name"] for each in data["arguments"]] == ["body", "if"]
    assert data["figures"]["params"] == 20480
    assert main(["kinds", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {"family": "structure", "kind": "do", "sentence": "Items one after the other, as one group."} in rows


def test_files(tmp_path, capsys):
    text, data = tmp_path / "conv.txt", tmp_path / "conv.json"
    assert main(["kinds", "conv", "-o", str(text), "-o", str(data)]) == 0
    shown = capsys.readouterr()
    assert text.read_text(encoding="utf-8") == shown.out
    assert json.loads(data.read_text())["figures"]["macs"] == 9 * 9 * 9 * 6 * 8
    assert shown.err == f"wrote {text}\nwrote {data}\n"


def test_own_layers(own, capsys):
    assert main(["kinds", "--plugin", own]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "                doubled              Twice the value, `times` times." in lines
    assert "own             plain" in lines  # a family for those that name none
    assert main(["kinds", "doubled", "--plugin", own]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "doubled (elementwise)\n\n    doubled: [times=1]\n\nTwice the value, `times` times.\n\nElementwise:"
    )
    assert "\n      - doubled: 3\n" in out and out.endswith("elementwise operations   60\n")
    assert main(["kinds", "plain", "--plugin", own]) == 0
    out = capsys.readouterr().out
    assert out.startswith("plain (own)\n\n    plain: [size]\n\nargument ")
    assert out.endswith("\n\nno example: its class has none that a spec can write\n")


def test_layers_of_installed_packages(own, tmp_path, capsys, monkeypatch):
    info = tmp_path / "own-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n", encoding="utf-8")
    points = "[paramcount.layers]\ndoubled = own:Doubled\nbroken = own:Missing\nconv = own:Plain\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    installed.entry_points.cache_clear()
    assert main(["kinds"]) == 0
    out = capsys.readouterr().out
    assert "\n                doubled              Twice the value, `times` times.\n" in out
    assert "\nown             broken               the kind `broken` of `own:Missing` cannot be loaded: " in out
    assert out.count(" conv  ") == 1  # no package replaces a kind
    assert main(["kinds", "broken"]) == 2
    assert "`own:Missing` cannot be loaded: AttributeError" in capsys.readouterr().err
    registry.pop("plain", None)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("convolution", "there is no kind `convolution`\nhint: did you mean `conv`?"),
        ("Linear", "there is no kind `Linear`\nhint: did you mean `dense`?"),
        (
            "kernel",
            "there is no kind `kernel`\nhint: an argument of conv, conv_transpose, depthwise, max_pool, avg_pool",
        ),
        ("conv dense", "one kind at a time; `dense` is left over\nhint: `paramcount kinds --help` lists the options"),
        ("conv --depth 2", "unknown option `--depth`\nhint: `paramcount kinds --help` lists the options"),
        ("--plugin no.py", "there is no file `no.py`\nhint: --plugin takes a Python file that defines layers"),
    ],
)
def test_wrong_words(words, error, capsys):
    assert main(["kinds", *words.split()]) == 2
    assert capsys.readouterr().err == f"error: {error}\n"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("layers", "did you mean `paramcount kinds`?"),
        ("operators", "did you mean `paramcount kinds`?"),
        ("conv", "did you mean `paramcount kinds conv`?"),
        ("residual", "did you mean `paramcount kinds residual`?"),
        ("squeeze_excite", "did you mean `paramcount kinds squeeze_excite`?"),
        ("mlp --kinds", "write `paramcount kinds`"),
        ("mlp --operators", "write `paramcount kinds`"),
    ],
)
def test_those_who_look_for_it_are_told(words, hint, capsys):
    assert main(words.split()) == 2
    assert capsys.readouterr().err.endswith(f"\nhint: {hint}\n")


def test_what_takes_a_whole_list_says_so(capsys):
    for kind, whole in (("add", "list"), ("let", "mapping")):
        assert main(["kinds", kind]) == 0
        assert f"a {whole} is taken whole" in capsys.readouterr().out
    assert main(["kinds", "conv"]) == 0
    assert "taken whole" not in capsys.readouterr().out
