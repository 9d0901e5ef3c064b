"""The totals of shipped networks come back out of every format, by readers that are not ours."""

import csv
import io
import json
import re

import pytest

from paramcount.cost.count import count
from paramcount.cost.figures import Figures
from paramcount.language.load import load, shipped_networks

CHOSEN = ("mlp", "mobilenet_v2", "mixtral", "unet", "squeezenet:1.1")
VIEWS = [{"depth": 1}, {"depth": 10**9}, {"flat": True}]
FIGURES = Figures._fields


def pipe_rows(text):
    """The rows of a pipe table as dicts by the titles of its columns."""
    lines = [line for line in text.split("\n") if line.startswith("|")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def number(text):
    return int(text.strip("*").replace(",", ""))


def summed(rows):
    """The sum of each figure over rows."""
    rows = list(rows)
    return Figures(*(sum(int(row[name]) for row in rows) for name in FIGURES))


def goes_round(network):
    report = count(network)
    for view in VIEWS:
        text = report.render("csv", columns=["path", "depth", "leaf", *FIGURES], **view)
        rows = list(csv.DictReader(io.StringIO(text)))
        assert summed(row for row in rows if row["depth"] == "1" or "flat" in view) == report.totals
        if view != {"depth": 1}:
            assert summed(row for row in rows if row["leaf"] == "True") == report.totals

        text = report.render("markdown", exact=True, columns=["layer", *FIGURES], **view)
        *rows, last = [dict(zip(("layer", *FIGURES), row.values(), strict=True)) for row in pipe_rows(text)]
        outermost = [row for row in rows if not row["layer"].startswith("&nbsp;")]
        figures = [{name: number(row[name]) for name in FIGURES} for row in (*outermost, last)]
        assert last["layer"] == "**total**" and summed(figures[-1:]) == summed(figures[:-1]) == report.totals
        told = re.split("(?: ·|,) (?=[0-9])", text.split("\n\n")[2])
        assert {f"{report.params:,} params", f"{report.macs:,} MACs"} < set(told)

    found = json.loads(report.render("json"))
    assert found["totals"] == report.totals._asdict() == summed(r for r in found["rows"] if r["leaf"])._asdict()


@pytest.mark.parametrize("name", CHOSEN)
def test_totals_come_back(name):
    goes_round(load(name))


@pytest.mark.full
def test_totals_of_every_variant_come_back():
    networks = [network for _, network in shipped_networks()]
    assert len(networks) >= 272
    for network in networks:
        goes_round(network)
