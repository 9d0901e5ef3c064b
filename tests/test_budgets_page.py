"""The hook, and the commands that docs/budgets.md gives to GitHub, work as they are written."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from paramcount.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "budgets.md").read_text(encoding="utf-8")
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
CONFIGURED = [yaml.load(block, yaml.BaseLoader) for block in re.findall(r"^```yml\n(.*?)^```$", PAGE, re.M | re.S)]
WORKFLOWS = [each for each in CONFIGURED if "jobs" in each]
STEPS = [
    step["run"]
    for workflow in WORKFLOWS
    for job in workflow["jobs"].values()
    for step in job["steps"]
    if step.get("run", "").startswith("paramcount ")
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The spec of the page, with another to compare it with."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (spec,) = re.findall(r"^```yaml\n# file: net.yaml\n(.*?)^```$", PAGE, re.M | re.S)
    for name in ("net.yaml", "base.yaml"):
        (tmp_path / name).write_text(spec, encoding="utf-8")
    return tmp_path


def test_the_page_has_what_it_is_about():
    assert len(WORKFLOWS) == 2 and {step.split()[1] for step in STEPS} == {"check", "compare"}
    assert len(next(iter(WORKFLOWS[0]["jobs"].values()))["steps"]) == 4


@pytest.mark.parametrize("step", STEPS)
def test_steps_of_github(step, files, capsys):
    words = shlex.split(step.partition(" > ")[0])[1:]  # without the file that the shell writes
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert out and not err


def test_the_hook_checks_specs_alone(files, capsys):
    assert set(HOOK) == {"id", "name", "description", "entry", "language", "files", "types_or"}
    assert (HOOK["id"], HOOK["language"], HOOK["types_or"]) == ("paramcount-check", "python", ["yaml"])
    assert re.search(HOOK["files"], "specs/net.yaml") and re.search(HOOK["files"], "a.yml")
    assert not re.search(HOOK["files"], "net.yaml.txt")
    program, *words = shlex.split(HOOK["entry"])
    assert program == "paramcount"
    (files / "other.yaml").write_text("on: push\n", encoding="utf-8")
    assert main([*words, "net.yaml", "other.yaml"]) == 0
    assert capsys.readouterr().out == "1 spec, 1 file passed over, no problems\n"
    (files / "net.yaml").write_text("layers: [rlu]\n", encoding="utf-8")
    assert main([*words, "net.yaml", "other.yaml"]) == 2


def test_the_page_uses_the_hook(files):
    (configured,) = [hook for each in CONFIGURED if "repos" in each for repo in each["repos"] for hook in repo["hooks"]]
    assert configured["id"] == HOOK["id"]
    assert main([*shlex.split(HOOK["entry"])[1:], *configured["args"], "net.yaml"]) == 0
