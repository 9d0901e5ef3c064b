"""`paramcount list`: the names of the shipped specs."""

import json
import subprocess
import sys

import pytest
import yaml

from paramcount.cli.main import main
from paramcount.language.listing import listing
from paramcount.language.yaml.source import FOLDERS, shipped_specs


def test_every_spec_is_a_line_with_its_variants(capsys):
    assert main(["list"]) == 0
    head, *lines, empty, below = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["name", "title", "variants"] and empty == ""
    assert [line.split()[0] for line in lines] == shipped_specs()
    variants = 0
    for name, line in zip(shipped_specs(), lines, strict=True):
        with open(next(f"{folder}/{name}.yaml" for folder in FOLDERS[::-1]), encoding="utf-8") as file:
            known = list(yaml.load(file, Loader=yaml.BaseLoader).get("variants") or {})
        assert " ".join(known) in line
        variants += len(known)
    assert below == f"{len(lines)} specs, {variants} variants"


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("resnet:5", [("resnet", ["50"])]),
        ("LLAMA:3-", [("llama", ["3-8b", "3-70b"])]),
        ("lenet-5", [("lenet", [])]),
        ("SqueezeNet", [("squeezenet", ["1.0", "1.1"])]),
        ("transformers/qwen2.5-7b", [("qwen2", ["7b"])]),
        ("once-for-all", [("ofa_mobilenet_v3", ["largest", "smallest"])]),
        ("MobileNetV2", [("mobilenet_v2", ["x0.35", "x0.5", "x0.75", "x1.0", "x1.3", "x1.4"])]),  # as Keras says
        ("EfficientNetB0", [("efficientnet", ["b0"])]),
        ("google/vit-base-patch16-224", [("vit", ["b_16"])]),
        ("nothing of this name", []),
    ],
)
def test_a_word_chooses(word, found):
    assert [(each.name, each.variants) for each in listing(word)] == found


def test_a_narrow_terminal_has_the_names_of_all_variants(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("paramcount.render.terminal.interactive", lambda stream=None: True)
    assert main(["list", "resnet:"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 60 for line in lines)
    assert " ".join(lines[1:-2]).split()[2:] == listing("resnet:")[0].variants


def test_one_of_one(capsys):
    assert main(["list", "resnet:5"]) == 0
    assert capsys.readouterr().out.endswith("\n\n1 spec, 1 variant\n")


def test_json(capsys):
    assert main(["list", "squeezenet", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["command"], found["totals"]) == (1, "list", {"specs": 1, "variants": 2})
    (row,) = found["rows"]
    assert (row["name"], row["title"], row["variants"]) == ("squeezenet", "SqueezeNet", ["1.0", "1.1"])
    assert row["references"] == ["torchvision/squeezenet1_0", "torchvision/squeezenet1_1"]


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ([], shipped_specs()),
        (["squeez"], ["squeezenet"]),
        (["vit"], ["maxvit", "vit"]),
        (["squeezenet:"], ["1.0", "1.1"]),
        (["llama:3-"], ["3-8b", "3-70b"]),
    ],
)
def test_bare_names(words, lines, capsys):
    assert main(["list", "--names", *words]) == 0
    assert capsys.readouterr().out.splitlines() == lines


def test_variants_of_a_file(tmp_path, capsys):
    path = tmp_path / "mine.yaml"
    path.write_text("{input: {features: 3}, vars: {n: 1}, variants: {a: {n: 2}, b: {}}, layers: [dense: n]}")
    assert main(["list", "--names", f"{path}:"]) == 0
    assert capsys.readouterr().out == "a\nb\n"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["nothing"], "no shipped spec has `nothing` in its name, description or reference\nhint: `paramcount list`"),
        (["resnt"], "no shipped spec has `resnt` in its name, description or reference\nhint: did you mean `resnet`?"),
        (["resnet50v2"], "its name, description or reference\nhint: the variants of `resnet` are 18, 34, 50"),
        (["--names", "nothing"], "no shipped spec has `nothing`"),
        (["--names", "nothing:"], "there is no spec `nothing`"),
        (["--names", "--format", "json"], "`--names` prints only names"),
        (["a", "b"], "one word at a time; `b` is left over"),
    ],
)
def test_wrong_input(words, error, capsys):
    assert main(["list", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and error in err


def test_bare_names_import_nothing_of_the_language():
    code = "import sys; from paramcount.cli.main import main; main(['list', '--names']); print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = {name for name in out.splitlines()[-1].split() if name.startswith("paramcount.")}
    assert {name for name in loaded if name.startswith(("paramcount.language", "paramcount.layers"))} == {
        "paramcount.language",
        "paramcount.language.yaml",
        "paramcount.language.yaml.source",
    }
