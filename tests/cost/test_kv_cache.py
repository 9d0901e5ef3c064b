"""The bytes of the keys and values that generation keeps, by hand."""

import json
from dataclasses import dataclass

import pytest

import paramcount as pc
from paramcount.cli.main import main
from paramcount.errors import ArgumentError
from paramcount.layers.layer import Layer, Work


def kept(name, tokens, variant=None, dtype="bfloat16", batch=1, **variables):
    network = pc.load(name, variant=variant, **variables)
    return pc.count(network, kv_cache=tokens, dtype=dtype, batch=batch).kv_cache_bytes


def test_query_heads_that_share_keys_share_their_cache():
    """Case 24: 32 layers, a key and a value of 8 heads of 128, two bytes; by the 32 query heads it would be 4 GiB."""
    assert kept("llama", 8192, "3-8b") == 2 * 32 * 8 * 128 * 8192 * 2 == 1_073_741_824
    assert kept("mixtral", 4096) == 2 * 32 * 8 * 128 * 4096 * 2


def test_the_network_s_own_length_does_not_matter():
    assert kept("gpt2", 10, T=7) == kept("gpt2", 10) == 2 * 12 * 768 * 10 * 2


def test_dtype_and_batch():
    assert kept("gpt2", 10, dtype="float32", batch=3) == 3 * 2 * 12 * 768 * 10 * 4
    assert kept("gpt2", 10, dtype="int4") == 12 * 768 * 10


def test_values_may_be_wider_than_keys():
    """Two heads, keys of 3 and values of 5: 16 numbers for each token."""
    items = [
        pc.Let({"q": [pc.Dense(6), pc.Reshape([4, 2, 3])], "v": [pc.Dense(10), pc.Reshape([4, 2, 5])]}),
        pc.Attend("q", "q", "v", causal=True),
    ]
    assert pc.count(items, (4, 6), kv_cache=7, dtype="int8").kv_cache_bytes == 2 * (3 + 5) * 7


@pytest.mark.parametrize("tokens", [100, 512, 8192])
def test_a_window_bounds_the_tokens(tokens):
    """Gemma 3 of 18 layers: every sixth sees all; one head of 256."""
    assert kept("gemma3", tokens) == 2 * 256 * (3 * tokens + 15 * min(tokens, 512)) * 2


@pytest.mark.parametrize("name, depth", [("deepseek_v2", 60), ("deepseek_v3", 61)])
def test_what_is_kept_in_place_of_keys_and_values(name, depth):
    """The published figure: 512 + 64 numbers for each token and layer, and not 128 · (192 + 128)."""
    assert kept(name, 1000) == 576 * depth * 1000 * 2


def test_cross_attention_keeps_the_memory():
    """Four decoder layers on themselves and on 1500 frames; the encoder keeps nothing."""
    assert kept("whisper", 100) == 2 * 4 * 384 * (100 + 1500) * 2
    assert kept("t5", 50) == 2 * 6 * 512 * (50 + 128) * 2
    assert kept("t5", 50, S=30) == 2 * 6 * 512 * (50 + 30) * 2


def test_layers_that_share_weights_have_caches_of_their_own():
    layers = [pc.Repeat(5, [pc.Residual([pc.Attention(2, causal=True)])], share=True)]
    report = pc.count(layers, (7, 16), kv_cache=100)
    assert report.params == 4 * (16 * 16 + 16)
    assert report.kv_cache_bytes == 5 * 2 * 16 * 100 * 4


@pytest.mark.parametrize("name", ["bert", "resnet", "mamba"])
def test_without_causal_attention_there_is_none(name):
    with pytest.raises(ArgumentError, match="nothing here has a KV cache"):
        kept(name, 10)


def test_pieces_are_refused():
    layers = [pc.Each("(n m) d -> n | m d", [pc.Attention(2, causal=True)], {"m": 4})]
    with pytest.raises(ArgumentError, match=r"the cache of `each0.attention0.attend0` is not known"):
        pc.count(layers, (8, 16), kv_cache=10)


@pytest.mark.parametrize("tokens", [0, -1, 1.5, True, "8"])
def test_tokens_are_a_whole_number(tokens):
    with pytest.raises(ArgumentError, match=r"kv_cache must be a whole number of at least 1, not "):
        kept("gpt2", tokens)


def test_training_has_no_cache():
    with pytest.raises(ArgumentError, match="a KV cache is for inference"):
        pc.count(pc.load("gpt2"), kv_cache=10, train=True)


def test_shown_only_when_asked_for():
    report = pc.count(pc.load("gpt2"))
    assert report.kv_cache_bytes is None
    assert "KV cache" not in str(report) and "kv_cache_bytes" not in report.to_dict()["totals"]
    report = pc.count(pc.load("gpt2"), kv_cache=1024)
    assert "bytes of the KV cache, 1,024 tokens" in str(report) and "72.0 MiB" in str(report)
    assert json.loads(json.dumps(report.to_dict()))["totals"]["kv_cache_bytes"] == 75_497_472


def test_command(capsys):
    assert main(["gpt2", "--kv-cache", "1024", "--attention", "exact", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["totals"]["kv_cache_bytes"] == 75_497_472
    assert report["totals"]["macs"] == pc.count(pc.load("gpt2"), attention="exact").macs
    assert main(["gpt2", "--kv-cache", "0"]) == 2
    assert main(["bert", "--kv-cache", "8"]) == 2
    assert "nothing here has a KV cache" in capsys.readouterr().err


@dataclass(frozen=True)
class Recall(Layer):
    """A layer that keeps 3 numbers of each of its last 5 positions."""

    def output_shape(self, x):
        return x

    def params(self, x):
        return {}

    def work(self, x):
        return Work()

    def cached(self, x):
        return 3

    def cached_positions(self, tokens):
        return min(tokens, 5)

    def forward(self, params, x, *, context):
        return x


@pytest.mark.parametrize("tokens, positions", [(2, 2), (90, 5)])
def test_any_layer_may_have_a_cache(tokens, positions):
    report = pc.count([pc.Repeat(2, [Recall()])], (7, 4), kv_cache=tokens)
    assert report.kv_cache_bytes == 2 * 3 * positions * 4


def cache_of(items, input=(5, 2, 8), tokens=10):
    return pc.count(items, input, kv_cache=tokens, dtype="bfloat16").kv_cache_bytes


def keys_and_values():
    return pc.Let({"k": [pc.Pointwise(8)], "v": [pc.Pointwise(8)]})


def reader(key="k", value="v", **settings):
    return pc.Attend("prev", key, value, causal=True, **settings)


def test_a_key_and_a_value_are_kept_once_however_many_read_them():
    """2 heads of 8 for the key and for the value, two bytes: 2 · 2 · 8 · 10 · 2."""
    assert cache_of([keys_and_values(), *[reader()] * 3]) == 640
    wide = [pc.Let({"k": [pc.Pointwise(16)], "v": [pc.Pointwise(16)]}), reader(), reader()]
    assert cache_of(wide, (5, 2, 16), 1000) == 128_000


def test_a_key_that_is_its_own_value_is_kept_once():
    assert cache_of([keys_and_values(), reader("k", "k")]) == 320
    assert cache_of([keys_and_values(), reader("k", "v"), reader("k", "k"), reader("v", "k")]) == 640


def test_renaming_a_value_or_changing_its_axes_makes_no_other_value_of_it():
    renamed = [
        keys_and_values(),
        reader(),
        pc.Let({"k2": "k", "v2": [pc.From("v"), pc.Identity(), pc.Dropout(0.1)]}),
        reader("k2", "v2"),
        pc.Let({"narrow": [pc.From("k"), pc.Rearrange("t h d -> t (h d)")]}),
        pc.Rearrange("t (h g) d -> t h (g d)", sizes={"g": 1}),
        reader([pc.From("narrow"), pc.Reshape([5, 2, 8])], "v"),
    ]
    assert cache_of(renamed) == 640
    rotated = [keys_and_values(), reader(), reader([pc.From("k"), pc.Rope()], "v")]
    assert cache_of(rotated) == 640 + 320  # another key
    repeated = [pc.Let({"k": [pc.Pointwise(8)]}), pc.Let({"k2": [pc.From("k"), pc.Concat(["prev", "prev"], axis=2)]})]
    assert cache_of([*repeated, pc.Pointwise(16), reader("k2", "k")]) == (2 * 16 + 2 * 8) * 10 * 2


def test_the_largest_window_of_a_value_s_readers_decides():
    readers = [reader(window=3), reader(window=6), reader(window=2)]
    assert cache_of([keys_and_values(), *readers]) == 2 * 16 * 6 * 2
    assert cache_of([keys_and_values(), *readers, reader()]) == 640


def test_a_value_made_in_a_loop_is_kept_for_each_iteration_and_one_made_before_it_once():
    """As in YOCO: one cache for all layers of the upper half."""
    inside = [pc.Repeat(4, [keys_and_values(), reader(), reader()])]
    assert cache_of(inside) == 4 * 640
    assert cache_of([keys_and_values(), pc.Repeat(4, [reader(), pc.Pointwise(8)])]) == 640
    assert cache_of([keys_and_values(), pc.Repeat(4, [reader()], share=True)]) == 640


def test_the_result_of_a_loop_is_that_of_its_last_iteration():
    spec = """
    input: {sequence: [5, 16]}
    layers:
      - {repeat: 3, do: [{rearrange: {pattern: t (h d) -> t h d, h: 2}}, {attend: {query: prev, key: prev, value: prev,
          causal: true}}, rearrange: t h d -> t (h d)], name: last}
      - rearrange: {pattern: t (h d) -> t h d, h: 2}
      - attend: {query: prev, key: prev, value: prev, causal: true}
    """
    assert pc.count(pc.loads(spec), kv_cache=10, dtype="bfloat16").kv_cache_bytes == 4 * 16 * 10 * 2


def test_a_declared_cache_is_each_reader_s_own():
    assert cache_of([keys_and_values(), reader(cache=5), reader(cache=5), reader(), reader()]) == 640 + 2 * 5 * 10 * 2


def test_keys_of_a_memory_that_each_reader_computes_are_its_own():
    """Two readers of one memory of 7 positions; with keys of their own, and with common ones."""

    def cross(*items):
        network = pc.Network([pc.From("x"), *items], inputs={"x": (5, 2, 8), "memory": (7, 2, 8)})
        return pc.count(network, kv_cache=10, dtype="bfloat16").kv_cache_bytes

    own = pc.Attend("prev", [pc.From("memory"), pc.Pointwise(8)], [pc.From("memory"), pc.Pointwise(8)])
    common = pc.Attend("prev", "memory", "memory")
    itself = pc.Attend("prev", "prev", "prev", causal=True)
    assert cross(itself, own, own) == (16 * 10 + 2 * 32 * 7) * 2
    assert cross(itself, common, common) == (16 * 10 + 16 * 7) * 2
