"""How the rows of two networks meet: the law of their sums, cut loops, and parts under two names."""

import random

import pytest

from paramcount.cost.compare.rows import ADDED, CHANGED, EQUAL, REMOVED, opened, pairs_of
from paramcount.cost.count import count
from paramcount.cost.figures import Figures
from paramcount.graph.items import Do
from paramcount.graph.loops import Repeat
from paramcount.graph.network import Network
from paramcount.language.load import load, shipped_networks, shipped_specs
from paramcount.layers.activation import Relu
from paramcount.layers.dense import Dense
from paramcount.layers.reshape import Flatten

ALL = 10**9


def described(a, b, depth=1):
    return [(pair.change, pair.label) for pair in opened(pairs_of(a.rows, b.rows), depth)]


def changes(a, b):
    return [(pair.change, pair.a and pair.a.params, pair.b and pair.b.params) for pair in pairs_of(a.rows, b.rows)]


def keeps_the_law(a, b):
    """The rows of each side sum to its totals at level 1, and to their parent where a changed row opens."""
    pairs = pairs_of(a.rows, b.rows)
    for side, report in (("a", a), ("b", b)):
        assert Figures.total([getattr(pair, side).figures for pair in pairs if getattr(pair, side)]) == report.totals
        for pair in opened(pairs, ALL):
            if pair.change == CHANGED and pair.below:
                inside = [getattr(each, side).figures for each in pair.below if getattr(each, side)]
                assert not inside or Figures.total(inside) == getattr(pair, side).figures
    for pair in opened(pairs, ALL):
        assert (pair.a is None) == (pair.change == ADDED) and (pair.b is None) == (pair.change == REMOVED)


def equals_itself(report):
    pairs = pairs_of(report.rows, report.rows)
    assert {pair.change for pair in pairs} == {EQUAL}
    assert len(pairs) == len(report.sheet(depth=1).rows)


FEW = ("lenet", "mobilenet_v2", "resnet")
SPECS = [name if name in FEW else pytest.param(name, marks=pytest.mark.full) for name in shipped_specs()]


@pytest.mark.parametrize("name", SPECS)
def test_neighbouring_variants_keep_the_law(name):
    reports = [count(load(name, variant)) for variant in (None, *load(name).variants)]
    for a, b in zip(reports, reports[1:], strict=False):
        keeps_the_law(a, b)
    equals_itself(reports[0])


@pytest.mark.full
def test_random_pairs_keep_the_law():
    networks = list(shipped_networks())
    draw = random.Random(25)
    for _ in range(60):
        (_, a), (_, b) = draw.sample(networks, 2)
        keeps_the_law(count(a), count(b))
