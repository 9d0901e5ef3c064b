"""Attention that counts only the pairs that its masks leave."""

import pytest

import paramcount as pc
from paramcount.errors import ArgumentError
from paramcount.layers.attend import Attend

PATHS = {"query": "q", "key": "k", "value": "v"}


def attention(**masks):
    """32 heads of 128, from a value of (T, 32, 128)."""
    return [pc.Attend(query="prev", key="prev", value="prev", **masks)]


def test_causal_as_in_case_58():
    shape = (8192, 32, 128)
    assert pc.count(attention(causal=True), shape).macs == 549_755_813_888
    assert pc.count(attention(causal=True), shape, attention="exact").macs == 274_911_461_376
    assert pc.count(attention(), shape, attention="exact").macs == 549_755_813_888


@pytest.mark.parametrize("queries, keys", [(1, 1), (1, 6), (4, 6), (6, 6)])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("window", [0, 1, 2, 3, 6, 9])
def test_pairs_one_by_one(queries, keys, causal, window):
    def seen(query, key):
        distance = key - (query + keys - queries)
        return not (causal and distance > 0) and not (window and abs(distance) >= window)

    expected = sum(seen(query, key) for query in range(queries) for key in range(keys))
    assert Attend(**PATHS, causal=causal, window=window).pairs(queries, keys) == expected


def test_a_column_has_the_pairs_of_each_variant():
    sizes = pc.Column.whole("keys", [4, 5, 9])
    layer = Attend(**PATHS, causal=True, window=3)
    assert list(layer.pairs(sizes, sizes)) == [layer.pairs(size, size) for size in (4, 5, 9)]


def test_softmax_and_gradient_follow():
    """Of 10 pairs of 16: two products of 8, 6 operations a score; a gradient for either operand of both products."""
    layers = [pc.Attention(1, bias=False, causal=True)]
    dense, exact = (pc.count(layers, (4, 8), train=True, attention=each) for each in ("dense", "exact"))
    assert dense.macs - exact.macs == 6 * (8 + 8)
    assert dense.backward_macs - exact.backward_macs == 2 * 6 * (8 + 8)
    assert dense.elementwise - exact.elementwise == 6 * 6


def test_the_network_itself_stays_as_it_is():
    network = pc.load("gpt2")
    before = pc.count(network).macs
    assert pc.count(network, attention="exact").macs == before - 12 * 12 * (128 * 127 // 2) * (64 + 64)
    assert pc.count(network).macs == before


def test_it_is_said():
    report = pc.count(attention(causal=True), (8, 2, 4), attention="exact")
    assert "attention counts the pairs that causal and window leave" in report.convention
    with pytest.raises(ArgumentError, match="unknown attention `half`\nhint: one of dense, exact"):
        pc.count(attention(), (8, 2, 4), attention="half")
