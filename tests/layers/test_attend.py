import numpy
import pytest

from paramcount.cost.count import count
from paramcount.errors import ParamcountError, ShapeError
from paramcount.graph.network import Network
from paramcount.layers.attend import Attend
from paramcount.layers.layer import Contraction, Shape, Work

RANDOM = numpy.random.default_rng(5)


def attend(**more):
    return Attend(query="q", key="k", value="v", **more)


def random(*sizes):
    return RANDOM.standard_normal(sizes).astype("float32")


def by_hand(query, key, value, allowed=lambda i, j: True, bias=None, scale=None, softcap=None):
    """Attention one head and one query at a time, in float64."""
    (queries, heads, width), (keys, groups, _) = query.shape, key.shape
    scale = width**-0.5 if scale is None else scale
    result = numpy.zeros((queries, heads, value.shape[2]))
    for h in range(heads):
        group = h * groups // heads
        for i in range(queries):
            seen = [j for j in range(keys) if allowed(i, j)]
            scores = [scale * sum(query[i, h].astype(float) * key[j, group]) for j in seen]
            scores = [score if softcap is None else softcap * numpy.tanh(score / softcap) for score in scores]
            scores = [score + (0 if bias is None else bias[h, i, j]) for score, j in zip(scores, seen, strict=True)]
            weights = numpy.exp(scores) / numpy.exp(scores).sum()
            result[i, h] = sum(weight * value[j, group] for weight, j in zip(weights, seen, strict=True))
    return result


def test_cost():
    shapes = Shape.of(64, 12, 64), Shape.of(64, 12, 64), Shape.of(64, 12, 64)
    assert attend().work(*shapes) == Work(6_291_456, 6 * 12 * 64 * 64)  # 2 · 12 · 64 · 64 · 64
    assert attend(causal=True, window=5).work(*shapes) == attend().work(*shapes)
    assert attend(softcap=50).work(*shapes) == Work(6_291_456, 9 * 12 * 64 * 64)
    assert attend().output_shape(*shapes) == Shape.of(64, 12, 64)
    cross = Shape.of(5, 6, 8), Shape.of(7, 2, 8), Shape.of(7, 2, 3), Shape.of(6, 5, 7)
    assert attend(position="p").work(*cross) == Work(6 * 5 * 7 * 8 + 6 * 5 * 7 * 3, 7 * 6 * 5 * 7)
    assert attend(position="p").output_shape(*cross) == Shape.of(5, 6, 3)


def test_contractions():
    shapes = Shape.of(5, 6, 8), Shape.of(7, 2, 8), Shape.of(7, 2, 3), Shape.of(6, 5, 7)
    scores, mix = Contraction(1680, ((0,), (1,))), Contraction(630, ((0, 1, 3), (2,)))
    assert attend(position="p").contractions(*shapes) == (scores, mix)
    assert attend().contractions(*shapes[:3]) == (scores, Contraction(630, ((0, 1), (2,))))


@pytest.mark.parametrize(
    "settings, sizes, allowed",
    [
        ({}, (5, 7, 4, 4), lambda i, j: True),
        ({"scale": 0.3}, (5, 7, 4, 2), lambda i, j: True),
        ({"softcap": 2, "causal": True}, (5, 5, 4, 2), lambda i, j: j <= i),
        ({"causal": True}, (6, 6, 6, 2), lambda i, j: j <= i),
        ({"causal": True}, (3, 5, 2, 1), lambda i, j: j <= i + 2),
        ({"window": 2}, (6, 6, 2, 2), lambda i, j: abs(i - j) < 2),
        ({"causal": True, "window": 3}, (6, 6, 2, 2), lambda i, j: i - 3 < j <= i),
    ],
)
def test_values(settings, sizes, allowed):
    queries, keys, heads, groups = sizes
    query, key, value = random(queries, heads, 4), random(keys, groups, 4), random(keys, groups, 3)
    found = attend(**settings).forward({}, query, key, value, context=None)
    right = by_hand(query, key, value, allowed, scale=settings.get("scale"), softcap=settings.get("softcap"))
    numpy.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5)


def test_position_and_regions():
    query, key, value, bias = random(4, 2, 3), random(4, 2, 3), random(4, 2, 3), random(2, 4, 4)
    regions = numpy.array([0, 1, 0, 1])
    right = by_hand(query, key, value, lambda i, j: regions[i] == regions[j], bias)
    layer = attend(position="p", regions="r")
    numpy.testing.assert_allclose(
        layer.forward({}, query, key, value, bias, regions, context=None), right, rtol=1e-4, atol=1e-5
    )
    right = by_hand(query, key, value, lambda i, j: regions[i] == regions[j])
    layer = attend(regions="r")
    numpy.testing.assert_allclose(
        layer.forward({}, query, key, value, regions, context=None), right, rtol=1e-4, atol=1e-5
    )
    one_head = numpy.broadcast_to(bias[:1, :1], (2, 4, 4))
    found = attend(position="p").forward({}, query, key, value, bias[:1, :1], context=None)
    numpy.testing.assert_allclose(found, by_hand(query, key, value, bias=one_head), rtol=1e-4, atol=1e-5)


def test_softmax_of_half_precision_is_in_single():
    from jax import numpy as jnp

    query, key, value = (jnp.asarray(random(4, 1, 8), jnp.bfloat16) for _ in range(3))
    found = attend().forward({}, query, key, value, context=None)
    assert found.dtype == jnp.bfloat16
    right = by_hand(*(numpy.asarray(x.astype("float32")) for x in (query, key, value)))
    numpy.testing.assert_allclose(found.astype("float32"), right, atol=0.02)


def test_torch_agrees():
    torch = pytest.importorskip("torch", reason="needs torch")
    query, key, value, bias = random(6, 4, 8), random(6, 2, 8), random(6, 2, 8), random(4, 6, 6)
    batch = [torch.tensor(x.transpose(1, 0, 2)[None]) for x in (query, key, value)]
    attention = torch.nn.functional.scaled_dot_product_attention
    right = attention(*batch, is_causal=True, enable_gqa=True)[0].numpy().transpose(1, 0, 2)
    found = attend(causal=True).forward({}, query, key, value, context=None)
    numpy.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5)
    right = attention(*batch, attn_mask=torch.tensor(bias)[None], enable_gqa=True)[0].numpy().transpose(1, 0, 2)
    found = attend(position="p").forward({}, query, key, value, bias, context=None)
    numpy.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5)


TOKENS = Shape((5,), "tokens")


@pytest.mark.parametrize(
    "settings, shapes, words",
    [
        ({}, [(5, 16), (5, 2, 8), (5, 2, 8)], ["query", "5×16", "rearrange"]),
        ({}, [(5, 2, 8), (5, 2, 4), (5, 2, 8)], ["8 wide", "key 4"]),
        ({}, [(5, 12, 8), (5, 5, 8), (5, 5, 8)], ["12 heads", "5 of the key"]),
        ({}, [(5, 2, 8), (5, 2, 8), (6, 2, 8)], ["5×2×8", "6×2×8"]),
        ({}, [(5, 2, 8), (5, 2, 8), (5, 1, 8)], ["5×2×8", "5×1×8"]),
        ({"causal": True}, [(7, 2, 8), (5, 2, 8), (5, 2, 8)], ["7 queries", "5 positions"]),
        ({"window": 3}, [(7, 2, 8), (5, 2, 8), (5, 2, 8)], ["7 queries", "5 positions"]),
        ({"position": "p"}, [(5, 2, 8), (5, 2, 8), (5, 2, 8), (3, 5, 5)], ["3×5×5", "2×5×5"]),
        ({"position": "p"}, [(5, 2, 8), (5, 2, 8), (5, 2, 8), (1, 2, 5, 5)], ["1×2×5×5", "2×5×5"]),
        ({"regions": "r"}, [(6, 2, 8), (6, 2, 8), (6, 2, 8), TOKENS], ["5 labels", "6 queries"]),
        ({"regions": "r"}, [(5, 2, 8), (6, 2, 8), (6, 2, 8), TOKENS], ["5 labels", "6 keys"]),
        ({"regions": "r"}, [(5, 2, 8), (5, 2, 8), (5, 2, 8), (5,)], ["features 5", "label"]),
    ],
)  # fmt: skip
def test_refused(settings, shapes, words):
    with pytest.raises(ShapeError) as caught:
        attend(**settings).output_shape(*(x if isinstance(x, Shape) else Shape.of(*x) for x in shapes))
    for word in words:
        assert word in str(caught.value)


def test_setting():
    shapes = Shape.of(5, 8, 4), Shape.of(5, 2, 4), Shape.of(5, 2, 4)
    assert attend(causal=True, window=3).setting(*shapes) == "8 heads on 2, causal, window 3"
    assert attend().setting(shapes[1], *shapes[1:]) == "2 heads"
    assert attend(causal=True).setting() == "causal"


def test_in_a_network():
    inputs = {"q": (5, 2, 8), "m": (7, 2, 8)}
    network = Network([Attend(query="q", key="m", value="m")], inputs=inputs)
    assert count(network).macs == 2 * 5 * 7 * 16
    with pytest.raises(ParamcountError):
        count(Network([Attend(query="q", key="none", value="m")], inputs=inputs))
