"""What is shipped: every spec in every variant, in Python, as a table and as JSON."""

import json
from pathlib import Path

import pytest
import yaml

from paramcount.cli.main import main
from paramcount.cost.count import count
from paramcount.cost.zoo import zoo
from paramcount.language import language
from paramcount.language import load as loading
from paramcount.render.table import render

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@pytest.fixture(scope="module")
def everything():
    return zoo()


def rows_in_the_files():
    """Name and variant of every row, as a second reader finds them: a base that is a variant has no row of its own."""
    for path in sorted(CONFIGS.glob("*.yaml")):
        variants = yaml.load(path.read_text(), yaml.BaseLoader).get("variants", {})
        yield from ((path.stem, variant) for variant in ([] if {} in variants.values() else [None]) + list(variants))


def test_every_spec_in_every_variant(everything):
    assert [(each.name, each.variant) for each in everything] == list(rows_in_the_files())
    assert ("resnet", None) not in {(each.name, each.variant) for each in everything}
    assert ("alexnet", None) in {(each.name, each.variant) for each in everything}


def test_figures_are_those_of_a_count():
    (entry,) = zoo("resnet:wide_50_2")
    report = count(loading.load("resnet:wide_50_2"))
    assert entry == (
        *("resnet", "wide_50_2"),
        *(report.params, report.weights, report.buffers, report.macs),
        *("https://github.com/pytorch/vision/blob/main/torchvision/models/resnet.py", "torchvision/wide_resnet50_2"),
    )
    assert (entry.params, entry.macs) == (68883240, 11398021120)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("squeezenet", ["squeezenet:1.0", "squeezenet:1.1"]),  # a name
        ("19_bn", ["vgg:19_bn"]),  # a variant
        ("torchvision/resnext101_64", ["resnet:resnext101_64x4d"]),  # a reference
        ("mobilenet_v2:x1.", ["mobilenet_v2:x1.0", "mobilenet_v2:x1.3", "mobilenet_v2:x1.4"]),
        ("AlexN", ["alexnet"]),
        ("nothing of this name", []),
    ],
)
def test_a_word_chooses(word, found):
    assert [each.spec for each in zoo(word)] == found


def test_a_file_is_read_once_and_only_what_is_chosen_is_expanded(monkeypatch):
    read, expanded = [], []
    source, graph = language.read_source, loading.Loaded.graph
    monkeypatch.setattr(language, "read_source", lambda path: read.append(path) or source(path))
    monkeypatch.setattr(
        loading.Loaded, "graph", lambda self, **mode: expanded.append(self.variant) or graph(self, **mode)
    )
    zoo("squeezenet")
    assert len(read) == len(set(read)) == len(loading.shipped_specs())
    assert set(expanded) == {"1.0", "1.1"}


def test_a_table_drops_the_source_first(everything):
    def titles(width):
        lines = render(everything.sheet(), width=width, encoding="utf-8").splitlines()
        assert max(map(len, lines)) <= width
        assert len([line for line in lines if line.startswith("resnet ")]) == 10
        return lines[0].split()

    assert titles(300) == ["name", "variant", "params", "weights", "buffers", "MACs", "reference", "source"]
    assert titles(170)[-2:] == ["MACs", "reference"]
    assert titles(110)[-1] == "MACs"
    assert titles(50)[:3] == ["name", "variant", "params"]
    assert titles(20)


def test_from_the_shell(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "110")
    assert main(["zoo", "resnext50"]) == 0
    title, row, empty, convention = capsys.readouterr().out.splitlines()
    assert " ".join(row.split()) == (
        "resnet resnext50_32x4d 25,028,904 24,959,680 68,224 4.23 G torchvision/resnext50_32x4d"
    )
    assert (title.split()[0], empty) == ("name", "")
    assert convention.startswith("one example each; MACs include padding")


def test_json_holds_raw_integers(capsys):
    assert main(["zoo", "--format", "json", "alexnet"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["schema"] == 1 and printed["convention"].startswith("one example each")
    assert printed["specs"] == [
        {
            "name": "alexnet",
            "variant": None,
            "params": 61100840,
            "weights": 61090496,
            "buffers": 0,
            "macs": 714188480,
            "source": "https://github.com/pytorch/vision/blob/main/torchvision/models/alexnet.py",
            "reference": "torchvision/alexnet",
        }
    ]


def test_a_word_that_nothing_has(capsys):
    assert main(["zoo", "rennet"]) == 2
    assert capsys.readouterr().err == (
        "error: no shipped spec has `rennet` in its name, variant or reference\nhint: did you mean `resnet`?\n"
    )
