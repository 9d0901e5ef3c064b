"""The variants `tiny`, which no one published: their figures by hand, for 128 tokens.

All have two layers of 64 features (Falcon's of 80) and 1000 words.
"""

import pytest

from paramcount.cost.count import count
from paramcount.language.load import load

TABLE = 1000 * 64
GATED = 3 * 64 * 192
PLAIN = 8 * 64 * 64

# 128 keys · heads · (width of a key + of a value): the products of scores and values for one token in one layer.
SMALL = 128 * 4 * (16 + 16)
WIDE = 128 * 4 * (32 + 32)

# A head of its own; one layer's attention and feed-forward weights; all biases and norms; the products as above.
BY_HAND = {
    "llama": (0, 64 * (64 + 32 + 32 + 64), GATED, 5 * 64, SMALL),
    "mistral": (TABLE, 64 * (64 + 32 + 32 + 64), GATED, 5 * 64, SMALL),
    "phi3": (TABLE, 64 * (64 + 32 + 32 + 64), GATED, 5 * 64, SMALL),
    "qwen3": (0, 64 * (128 + 64 + 64 + 128), GATED, 5 * 64 + 4 * 32, WIDE),
    "gemma": (0, 64 * (128 + 32 + 32 + 128), GATED, 5 * 64, WIDE),
    "gemma2": (0, 64 * (128 + 64 + 64 + 128), GATED, 9 * 64, WIDE),
    # a norm and the biases of q, k, v, o and both dense layers, twice; the last norm; those of the head
    "phi": (TABLE, 4 * 64 * 64, PLAIN, 2 * (2 * 64 + 4 * 64 + 256 + 64) + 2 * 64 + 1000, SMALL),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name):
    head, attention, ffn, others, scores = BY_HAND[name]
    report = count(load(name, variant="tiny"))
    assert report.weights == TABLE + head + 2 * (attention + ffn)
    assert report.params == report.weights + others
    assert report.macs == 128 * (TABLE + 2 * (attention + ffn + scores))  # the head is as large as the table


def test_falcon_by_hand():
    """Five query heads of 16 and one of keys and values; a norm in each layer and at the end; no biases."""
    report = count(load("falcon", variant="tiny"))
    layer = 80 * (80 + 16 + 16 + 80) + 8 * 80 * 80
    assert (report.weights, report.params) == (80_000 + 2 * layer, 80_000 + 2 * layer + 3 * 2 * 80)
    assert report.macs == 128 * (80_000 + 2 * (layer + 128 * 5 * (16 + 16)))


def test_mixtral_by_hand():
    """Mistral's tiny attention; eight experts, of which a token takes two, and their router."""
    report = count(load("mixtral", variant="tiny"))
    attention, router = 64 * (64 + 32 + 32 + 64), 64 * 8
    assert report.weights == 2 * TABLE + 2 * (attention + router + 8 * GATED)
    assert report.params == report.weights + 5 * 64
    assert report.active_params == report.params - 2 * 6 * GATED
    assert report.macs == 128 * (TABLE + 2 * (attention + router + 2 * GATED + SMALL))


@pytest.mark.parametrize("name, experts, top_k, shared", [("deepseek_v2", 160, 6, 2), ("deepseek_v3", 256, 8, 1)])
def test_deepseek_by_hand(name, experts, top_k, shared):
    """Queries from 32, keys and values from 24 latent features, 16 + 8 a key's width, 16 a value's; one layer dense."""
    report = count(load(name, variant="tiny"))
    queries = 64 * 32 + 32 * 4 * (16 + 8)
    attention = queries + 64 * (24 + 8) + 24 * 4 * (16 + 16) + 4 * 16 * 64
    expert, router = 3 * 64 * 16, 64 * experts
    assert report.weights == 2 * TABLE + 2 * attention + GATED + router + (experts + shared) * expert
    assert report.params == report.weights + 2 * (64 + 64 + 32 + 24) + 64
    assert report.active_params == report.params - (experts - top_k) * expert
    used = 2 * (attention + 128 * 4 * (24 + 16)) + GATED + router + (top_k + shared) * expert
    assert report.macs == 128 * (TABLE + used)
