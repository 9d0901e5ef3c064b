"""The page of shipped specs is current, and says `equal` of what is equal only."""

import json
from pathlib import Path
from runpy import run_path

import pytest

from paramcount.cost.count import count
from paramcount.cost.zoo import zoo
from paramcount.language.load import load

MADE = run_path(str(Path(__file__).resolve().parents[1] / "docs" / "make_zoo.py"))
PUBLISHED, compared, equal, page, read = (MADE[name] for name in ("PUBLISHED", "compared", "equal", "page", "read"))


def test_one_row_of_each_source_is_current():
    first = [{**group, "models": dict(list(group["models"].items())[:1])} for group in read(PUBLISHED)]
    lines = Path(PUBLISHED).with_name("zoo.md").read_text(encoding="utf-8").splitlines()
    for spec, cells in compared(first):
        report = count(load(spec))
        assert f"| `{spec}` | {report.params:,} | {report.weights:,} | {report.macs:,} | {cells} |" in lines


@pytest.mark.full
def test_the_page_is_current():
    with open(PUBLISHED.replace("published.yaml", "zoo.md"), encoding="utf-8") as file:
        assert page() == file.read(), "run: python docs/make_zoo.py > docs/zoo.md"


@pytest.mark.parametrize(
    ("counted", "printed", "is_equal"),
    [
        (25_557_032, "25557032", True),
        (25_557_032, "25557033", False),
        (4_089_184_256, "4.089 G", True),
        (4_089_184_256, "4.1 G", True),
        (4_089_184_256, "4.08 G", False),
        (8_921_133_056, "8.31 Gi", True),
        (8_921_133_056, "8.31 G", False),
        (86_567_656, "86 M", False),
        (61_706, "62 k", True),
    ],
)
def test_equal_is_ours_rounded_to_the_printed_digits(counted, printed, is_equal):
    assert equal(counted, printed) is is_equal


def rows(row, **group):
    return list(compared([{"source": "a table", "models": {"mobilenet_v1:x1.0": row}, **group}]))


def test_what_a_row_says():
    assert rows({"params": "4.2 M", "macs": "568740352"}) == [
        ("mobilenet_v1:x1.0", "4.2 M params, 568,740,352 MACs | [a table] | equal")
    ]
    assert rows({"params": "4233001"}, set={"classes": "1001"})[0][1].startswith(
        "4,233,001 params, with classes 1001 |"
    )
    assert rows({"params without head": "3206976"})[0][1].endswith("equal")
    assert rows({"params without norms": "4210088"})[0][1].endswith("equal")
    assert rows({"why": "none printed"})[0][1] == "| | none printed"


def test_a_difference_needs_a_reason_and_nothing_else_does():
    assert rows({"params": "4.3 M", "why": "a typo"})[0][1].endswith("| a typo")
    with pytest.raises(ValueError, match="params differs"):
        rows({"params": "4.3 M", "macs": "569 M"})
    with pytest.raises(ValueError, match="nothing differs"):
        rows({"params": "4.2 M", "why": "a typo"})


def test_what_torchvision_prints(shared):
    """The figures of models that torchvision lists are those that it lists."""
    records = {
        f"torchvision/{each['name']}": each for each in json.loads((shared / "truth/torchvision.json").read_text())
    }
    listed = next(group["models"] for group in read(PUBLISHED) if group["source"] == "torchvision")
    models = [entry for entry in zoo("torchvision/") if entry.reference in records]
    assert len(models) == 93
    for entry in models:
        row = listed[entry.spec]
        printed = [(each["num_params"], f"{each['ops']:.3f} G") for each in records[entry.reference]["published"]]
        assert (int(row["params"]), row["macs"]) in printed, entry.spec
