"""`paramcount new`: a spec to begin with."""

import re

import pytest

from paramcount.cli.main import main
from paramcount.cost.count import count
from paramcount.language.load import load, loads
from paramcount.language.starter import LAYOUTS, starter


@pytest.mark.parametrize("layout", [None, *LAYOUTS])
def test_a_starter_is_written_and_counts(layout, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "my.yaml", *([f"--{layout}"] if layout else [])]) == 0
    assert capsys.readouterr() == ("wrote my.yaml: `paramcount my.yaml` counts it\n", "")
    assert (tmp_path / "my.yaml").read_text(encoding="utf-8") == starter(layout or "image")
    assert main(["my.yaml"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("my\n") and err == ""
    assert next(iter(load("my.yaml").inputs.values())).layout == (layout or "image")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_starter_says_the_truth_and_has_no_warnings(layout, tmp_path):
    text = starter(layout)
    assert 20 <= len(text.splitlines()) <= 32
    held = re.sub("^# expect:", "expect:", text, flags=re.MULTILINE)
    path = tmp_path / "held.yaml"
    path.write_text(held, encoding="utf-8")
    assert held != text and main([str(path)]) == 0
    for variant in (None, *load(str(path)).variants):
        network = loads(text, variant)
        assert not network.warnings and count(network).macs > 0
    for setting in re.findall(r"`--set (\w+)=(\w+)`", text):
        assert main([str(path), "--set", "=".join(setting), "--depth", "1"]) in (0, 1)  # 1: `expect` is of the base


@pytest.mark.full
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_starter_verifies(layout, tmp_path, capsys):
    pytest.importorskip("jax")
    path = tmp_path / "my.yaml"
    path.write_text(starter(layout), encoding="utf-8")
    small = {"image": ["--set", "depth=1"], "tokens": ["--set", "vocab=100"], "sequence": []}[layout]
    assert main(["verify", str(path), *small]) == 0
    assert "all figures agree" in capsys.readouterr().out


def test_on_the_standard_output(capsys):
    assert main(["new", "-", "--tokens"]) == 0
    assert capsys.readouterr() == (starter("tokens"), "")


def test_what_is_there_stays(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_text("mine")
    (tmp_path / "gone.yaml").symlink_to("nowhere")
    for name in ("my.yaml", "gone.yaml"):
        assert main(["new", name]) == 2
        hint = "choose another name, or remove it"
        assert capsys.readouterr().err == f"error: `{name}` already exists\nhint: {hint}\n"
    assert (tmp_path / "my.yaml").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gone.yaml", "my.yaml"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["my"], "`my` is not the name of a .yaml file\nhint: write `paramcount new my.yaml`\n"),
        (["my.json"], "`my.json` is not the name of a .yaml file\nhint: write `paramcount new my.yaml`\n"),
        (["net-v1.5"], "`net-v1.5` is not the name of a .yaml file\nhint: write `paramcount new net-v1.5.yaml`\n"),
        (["a b"], "`a b` is not the name of a .yaml file\nhint: write `paramcount new 'a b.yaml'`\n"),
        ([".yaml"], "`.yaml` is not the name of a .yaml file\nhint: write `paramcount new my.yaml`\n"),
        ([""], "`` is not the name of a .yaml file\nhint: write `paramcount new my.yaml`\n"),
        (["no/my.yaml"], "there is no folder `no`\nhint: `mkdir -p no` makes it\n"),
        (["nul\0.yaml"], "`nul\\x00.yaml` cannot be written"),
        (["a.yaml", "b.yaml"], "one file at a time; `b.yaml` is left over"),
        (["a.yaml", "--image", "--tokens"], "argument --tokens: not allowed with argument --image"),
        (["a.yaml", "--features"], "unknown option `--features`"),
        ([], "the following arguments are required: NAME.yaml"),
    ],
)
def test_wrong_input(words, error, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"error: {error}")
    assert not list(tmp_path.iterdir())
