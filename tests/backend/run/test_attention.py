"""The attention block and what is built around it, run with real weights and compared with plain NumPy or PyTorch."""

import numpy as np
import pytest

from paramcount.backend.run.evaluate import evaluate
from paramcount.backend.run.initialize import initialize
from paramcount.language.load import loads

RANDOM = np.random.default_rng(8)


def run(text, **inputs):
    """The output of a spec, and its random weights by path."""
    graph = loads(text).graph()
    params, buffers = initialize(graph, 3)
    for tensors in params.values():
        for name, value in tensors.items():
            tensors[name] = RANDOM.standard_normal(value.shape).astype("float32") * 0.5
    outputs, _ = evaluate(graph, params, buffers, inputs)
    (output,) = outputs.values()
    return np.asarray(output), params


def attention(x, memory, weights, heads, bias=0.0):
    """Attention by the weights of four projections; `bias` is added to the scores, (heads, queries, keys)."""
    query, key, value = (
        each @ weights[name][0] + weights[name][1] for name, each in (("q", x), ("k", memory), ("v", memory))
    )
    query, key, value = (each.reshape(len(each), -1, query.shape[1] // heads) for each in (query, key, value))
    key, value = (np.repeat(each, heads // each.shape[1], axis=1) for each in (key, value))
    scores = np.einsum("thd,shd->hts", query, key) / np.sqrt(query.shape[2]) + bias
    seen = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = np.einsum("hts,shd->thd", seen / seen.sum(-1, keepdims=True), value)
    return mixed.reshape(len(x), -1) @ weights["out"][0] + weights["out"][1]


def projections(params, block):
    names = {"q": "let0.q.dense0", "k": "let0.k.dense0", "v": "let0.v.dense0", "out": "dense0"}
    tensors = {part: params[f"{block}.{name}"] for part, name in names.items()}
    return {part: (each["weight"], each.get("bias", 0)) for part, each in tensors.items()}


def test_grouped_attention_to_another_sequence():
    text = """
inputs: {x: {sequence: [5, 12]}, memory: {sequence: [7, 9]}}
layers:
  - {from: x, attention: {heads: 6, kv_heads: 2, head_dim: 4, key_bias: false, context: memory, out: 10}}
"""
    x, memory = RANDOM.standard_normal((5, 12)), RANDOM.standard_normal((7, 9))
    found, params = run(text, x=x.astype("float32"), memory=memory.astype("float32"))
    right = attention(x, memory, projections(params, "attention0"), heads=6)
    np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-4)


def test_torch_agrees():
    torch = pytest.importorskip("torch", reason="needs torch")
    x = RANDOM.standard_normal((6, 12)).astype("float32")
    found, params = run("input: {sequence: [6, 12]}\nlayers: [attention: 3]", input=x)
    weights = projections(params, "attention0")
    theirs = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.tensor(np.concatenate([weights[name][0].T for name in "qkv"])))
        theirs.in_proj_bias.copy_(torch.tensor(np.concatenate([weights[name][1] for name in "qkv"])))
        theirs.out_proj.weight.copy_(torch.tensor(weights["out"][0].T))
        theirs.out_proj.bias.copy_(torch.tensor(weights["out"][1]))
    whole = torch.tensor(x)[None]
    np.testing.assert_allclose(found, theirs(whole, whole, whole)[0][0].detach(), rtol=1e-4, atol=1e-4)


WINDOWS = """
input: {image: [8, 8, 4]}
layers:
  - let:
      bias: [parameter: [49, 2], relative: {grid: 4}]
      regions: [regions: {window: 4, shift: SHIFT}]
  - roll: [-SHIFT, -SHIFT]
  - each:
      pattern: (a m) (b n) c -> a b | (m n) c
      m: 4
      n: 4
      with: {regions: (a m) (b n) -> a b | (m n)}
      do: [attention: {heads: 2, position: bias, regions: regions}]
  - roll: [SHIFT, SHIFT]
"""


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_shifted_windows_attend_within_themselves(shift):
    """No roll here: a pixel sees those in its own shifted window, by their distance."""
    x = RANDOM.standard_normal((8, 8, 4)).astype("float32")
    found, params = run(WINDOWS.replace("SHIFT", str(shift)), input=x)
    (table,) = (tensors["value"] for path, tensors in params.items() if "parameter" in path)
    places = [(row, column) for row in range(8) for column in range(8)]
    bias = np.full((2, 64, 64), -np.inf)
    for i, (row, column) in enumerate(places):
        for j, (other_row, other_column) in enumerate(places):
            # A window that begins at `shift` and its multiples of 4; what lies before it is one too.
            same = (row - shift) // 4 == (other_row - shift) // 4
            if same and (column - shift) // 4 == (other_column - shift) // 4:
                bias[:, i, j] = table[(row - other_row + 3) * 7 + column - other_column + 3]
    pixels = x.reshape(64, 4)
    right = attention(pixels, pixels, projections(params, "each0.attention0"), heads=2, bias=bias)
    np.testing.assert_allclose(found.reshape(64, 4), right, rtol=1e-4, atol=1e-4)
