"""`paramcount info`: what a spec says of itself."""

import csv
import io
import json
import sys

import pytest
import yaml

from paramcount.cli.main import main
from paramcount.language.information import info
from paramcount.language.load import Loaded, syntax_of
from paramcount.language.yaml.source import FOLDERS, shipped_specs
from paramcount.render.writing import FORMATS

LLAMA = """\
llama:3-8b  Llama

Llama 1 to 3.2, pre-norm decoders with rotary positions and gated feed-forward parts; tiny is not published
https://github.com/meta-llama/llama-models
stands for transformers/llama-3-8b

input     128 tokens (T)
variants  1-30b  2-7b  2-70b  3-8b  3-70b  3.1-405b  3.2-1b  tiny

variable  base    3-8b
d         2048    4096
depth     16      32
heads     32
kv_heads  8
hidden    8192    14336
vocab     128256
rope      500000
factor    32      1
eps       1e-5
tied      true    false
T         128
"""
DEIT = """\
variable    base        tiny  value
heads       12          3
width       64 * heads        192
depth       12
"""
PLAIN = """\
plain  plain

input     3 features

the spec has no variables
"""
SEVERAL = """\
inputs    words: 7 tokens (n + 2)
          picture: image 5×9×3 (n)
variants  wide  same
"""
TWO = """\
about: Two inputs
inputs: {words: {tokens: [n + 2]}, picture: {image: [n, 9, 3]}}
vars: {n: 5, sizes: [1, [2, n]], act: relu}
variants: {wide: {n: 2 * 4, act: gelu}, same: {}}
layers:
  - {from: words, embedding: [10, n]}
  - dense: {out: n, activation: act}
  - global_pool
"""


def test_a_variant_of_a_shipped_spec(capsys):
    assert main(["info", "llama:3-8b"]) == 0
    assert capsys.readouterr() == (LLAMA, "")


def test_what_depends_on_others_is_shown_as_written_with_its_value(capsys):
    assert main(["info", "deit:tiny"]) == 0
    assert DEIT in capsys.readouterr().out


def test_a_variant_by_its_option(capsys):
    assert main(["info", "llama", "--variant", "3-8b"]) == 0
    assert capsys.readouterr().out == LLAMA


@pytest.mark.parametrize("words", [["deit:tiny", "--set", "heads=6"], ["deit:tiny@heads=6"]])
def test_what_is_set_by_hand(words, capsys):
    assert main(["info", *words]) == 0
    head, heads, width, *_ = [line.split() for line in capsys.readouterr().out.splitlines()[8:]]
    assert head == ["variable", "base", "tiny", "set", "value"]
    assert heads == ["heads", "12", "3", "6"] and width == ["width", "64", "*", "heads", "384"]
    assert info("deit:tiny", vars={"heads": 6}).variables["width"].value == 6 * 64


def test_a_spec_without_variables(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").write_text("{input: {features: 3}, layers: [dense: 1]}")
    assert main(["info", "plain"]) == 0
    assert capsys.readouterr().out == PLAIN


def test_several_inputs_and_a_variant_that_sets_nothing(tmp_path, capsys):
    path = tmp_path / "two.yaml"
    path.write_text(TWO)
    assert main(["info", f"{path}:same"]) == 0
    out = capsys.readouterr().out
    assert SEVERAL in out and out.endswith("\n`same` is the base\n")
    found = info(str(path), "wide")
    assert found.inputs["words"].shape.sizes == (10,) and found.inputs["picture"].shape.sizes == (8, 9, 3)
    assert [(each.base, each.variant, each.value) for each in found.variables.values()] == [
        ("5", "2 * 4", 8),
        ("[1, [2, n]]", None, [1, [2, 8]]),
        ("relu", "gelu", "gelu"),
    ]
    assert [each.computed for each in found.variables.values()] == [False, True, False]
    assert found.variants == {"wide": {"n": "2 * 4", "act": "gelu"}, "same": {}}


def test_from_standard_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TWO.encode())))
    assert main(["info", "-", "--variant", "wide"]) == 0
    assert capsys.readouterr().out.startswith("<stdin>:wide  <stdin>\n\nTwo inputs\n\ninputs    words: 10 tokens")


@pytest.mark.parametrize("name", shipped_specs())
def test_shipped_specs_say_what_stands_in_them(name):
    """By PyYAML, which reads the files in its own way; values by the network that is counted."""
    with open(next(f"{folder}/{name}.yaml" for folder in FOLDERS[::-1]), encoding="utf-8") as file:
        written = yaml.load(file, Loader=yaml.BaseLoader)
    variants = written.get("variants") or {}
    for variant in (None, *variants):
        found, network = info(name, variant), Loaded(syntax_of(name)[0], variant, {})
        assert (found.name, found.about, found.source) == (written["name"], written["about"], written["source"])
        assert list(found.variables) == list(written.get("vars") or {})
        assert {each.name: each.value for each in found.variables.values()} == network.vars
        own = (variants[variant] or {}) if variant is not None else {}
        for each in found.variables.values():
            for text, node in ((each.base, written["vars"][each.name]), (each.variant, own.get(each.name))):
                assert text == (node if isinstance(node, str) or node is None else str(node).replace("'", ""))
        assert {label: each.shape for label, each in found.inputs.items()} == network.inputs
        assert found.reference == network.reference and list(found.variants) == list(variants)


def test_json(capsys):
    assert main(["info", "mobilenet_v2:x0.5", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {name: found[name] for name in ("schema", "command", "spec", "variant", "reference")} == {
        "schema": 1,
        "command": "info",
        "spec": "mobilenet_v2:x0.5",
        "variant": "x0.5",
        "reference": None,
    }
    sizes = {"layout": "image", "shape": [224, 224, 3], "written": ["resolution", "resolution", "3"]}
    assert found["inputs"] == {"input": sizes}
    assert found["variants"]["x1.0"] == {} and found["variants"]["x0.35"] == {"width": "0.35"}
    assert found["rows"][0] == {
        "variable": "width",
        "base": "1.0",
        "variant": "0.5",
        "given": None,
        "value": 0.5,
    }


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("command", ["info deit:tiny", "info lenet", "list squeezenet"])
def test_every_format(command, form, tmp_path, capsys):
    words = command.split()
    files = {ending: tmp_path / f"out{ending}" for ending in FORMATS.values()}
    assert main([*words, "--format", form, "-o", str(files[FORMATS[form]])]) == 0
    out, err = capsys.readouterr()
    assert err == f"wrote {files[FORMATS[form]]}\n" and files[FORMATS[form]].read_text("utf-8") == out
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(out)))
        expected = {"info lenet": [], "list squeezenet": ["squeezenet"]}
        names = [row.get("variable") or row["name"] for row in rows]
        assert names == expected.get(command, list(info("deit").variables))
        assert command != "info deit:tiny" or rows[1]["value"] == "192"
    elif form != "json":
        assert {"info deit:tiny": "192", "info lenet": "LeNet-5", "list squeezenet": "1.0 1.1"}[command] in out


def test_records_hold_every_value():
    rows = info("deit:tiny").to_records()
    assert rows[1] == {"variable": "width", "base": "64 * heads", "variant": None, "given": None, "value": 192}
    assert rows[2] == {"variable": "depth", "base": "12", "variant": None, "given": None, "value": 12}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{input: {features: 3}, layers: [conf: 3]}", "error: {}:1:33: unknown kind `conf`"),
        ("{input: {features: n}, vars: {n: m}, layers: [dense: 3]}", "error: {}:1:34: unknown variable `m`"),
        ("{input: {features: n}, vars: {n: 0}, layers: [dense: 3]}", "error: {}:1:20: a size of the input must be"),
        ("{input: {features: n}, vars: {n: n + 1}, layers: [dense: 3]}", "error: {}:1:34: variables in a circle"),
        ("{input: {features: n}, vars: {n: {a: 1}}, layers: [dense: 3]}", "error: {}:1:34: `n` takes a number"),
    ],
)
def test_a_broken_spec(text, error, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.yaml").write_text(text)
    assert main(["info", "broken.yaml"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(error.format("broken.yaml"))


def test_what_is_wrong_in_another_variant_stands_as_it_is(tmp_path):
    path = tmp_path / "odd.yaml"
    path.write_text("{input: {features: n}, vars: {n: 1}, variants: {odd: {n: {a: [1, 2]}}}, layers: [dense: 3]}")
    assert info(str(path)).variants == {"odd": {"n": "{a: [1, 2]}"}}


def test_unknown_names(capsys):
    for spec, error in (("llamma", "there is no spec `llamma`"), ("llama:9b", "`Llama` has no variant `9b`")):
        assert main(["info", spec]) == 2
        assert error in capsys.readouterr().err
    assert main(["info", "lenet", "mlp"]) == 2
    assert "one spec at a time; `mlp` is left over" in capsys.readouterr().err


def test_nothing_is_counted(monkeypatch, capsys):
    from paramcount.graph.network import Network

    monkeypatch.setattr(Network, "graph", None)
    assert main(["info", "deepseek_v3"]) == 0
    assert "experts" not in capsys.readouterr().err
