"""Inputs that counters are known to get wrong, with the values that are right, each worked out by hand.

The numbers are those of the list that the cases come from. Layouts are channels last, figures are for the batch.
"""

from pathlib import Path

import pytest

from paramcount.cost.count import count
from paramcount.errors import ParamcountError
from paramcount.language.load import load
from paramcount.layers._window import axis_padding
from paramcount.layers.layer import Shape
from paramcount.layers.norm import LayerNorm
from paramcount.numbers.units import binary

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@pytest.fixture
def spec(tmp_path):
    def read(text, **more):
        path = tmp_path / "spec.yaml"
        path.write_text(text, encoding="utf-8")
        return load(str(path), **more)

    return read


def figures(network, names, **how):
    """The named figures of a network; `output` is its first output's shape."""
    report = count(network, **how)
    output = next(iter(network.graph().outputs.values())).shape
    return {name: str(output) if name == "output" else getattr(report, name) for name in names}


# What went wrong, the input, the layers, how it is counted, and what is right.
CASES = {
    "1 grouped convolution": (
        "input: {image: [56, 56, 64]}",
        "[conv: {out: 128, kernel: 3, padding: 1, groups: 4, bias: true}]",
        {},
        {"params": 128 * 16 * 9 + 128, "macs": 57_802_752, "output": "56×56×128"},
    ),
    "2 depthwise as groups": (
        "input: {image: [16, 16, 7]}",
        "[conv: {out: 7, kernel: 3, padding: 1, groups: 7}]",
        {},
        {"params": 63, "macs": 16_128},
    ),
    "2 depthwise": ("input: {image: [16, 16, 7]}", "[depthwise: 3]", {}, {"params": 63, "macs": 16_128}),
    "3 depthwise work": (
        "input: {image: [13, 13, 512]}",
        "[depthwise: 3]",
        {},
        {"macs": 512 * 9 * 169, "flops": 1_557_504},
    ),
    "4 channel multiplier": (
        "input: {image: [224, 224, 3]}",
        "[depthwise: {kernel: 7, stride: 2, multiplier: 8, padding: 3}]",
        {},
        {"params": 24 * 49, "macs": 14_751_744, "output": "112×112×24"},
    ),
    "5 transposed, one position": (
        "input: {image: [1, 1, 32]}",
        "[conv_transpose: {out: 1, kernel: 3, padding: valid, bias: true}]",
        {},
        {"params": 289, "macs": 288, "output": "3×3×1"},
    ),
    "6 transposed, batch of 2": (
        "input: {image: [8, 8, 4]}",
        "[conv_transpose: {out: 6, kernel: 4, stride: 2, padding: 1, bias: true}]",
        {"batch": 2},
        {"params": 390, "macs": 49_152, "flops": 98_304, "elementwise": 101_376 - 98_304, "output": "16×16×6"},
    ),
    "7 transposed, over input positions": (
        "input: {image: [16, 16, 64]}",
        "[conv_transpose: {out: 32, kernel: 2, stride: 2, bias: true}]",
        {},
        {"params": 8_224, "macs": 64 * 32 * 4 * 256, "output": "32×32×32"},
    ),
    "8 dilation with same": (
        "input: {image: [28, 31, 3]}",
        "[conv: {out: 8, kernel: [3, 5], dilation: [2, 3], bias: true}]",
        {},
        {"params": 368, "macs": 8 * 3 * 15 * 28 * 31, "output": "28×31×8"},
    ),
    "9 dilation without padding": (
        "input: {image: [32, 32, 8]}",
        "[conv: {out: 16, kernel: 3, dilation: 3, padding: valid, bias: true}]",
        {},
        {"params": 1_168, "macs": 16 * 8 * 9 * 26 * 26, "output": "26×26×16"},
    ),
    "10 even kernel": (
        "input: {image: [4, 4, 1]}",
        "[conv: [2, 2]]",
        {},
        {"macs": 128, "flops": 256, "output": "4×4×2"},
    ),
    "11 same with a stride of 3": ("input: {image: [28, 28, 1]}", "[conv: [1, 1, 3]]", {}, {"output": "10×10×1"}),
    "11 same with a stride of 2": ("input: {image: [28, 28, 1]}", "[conv: [1, 3, 2]]", {}, {"output": "14×14×1"}),
    "12 one axis": (
        "input: {sequence: [512, 1000]}",
        "[conv: {out: 1000, kernel: 3, padding: 1, bias: true}]",
        {},
        {"params": 3_001_000, "macs": 1_536_000_000, "flops": 3_072_000_000, "elementwise": 512_000},
    ),
    "13 stride": (
        "input: {image: [224, 224, 3]}",
        "[conv: {out: 64, kernel: 7, stride: 2, padding: 3}]",
        {},
        {"params": 9_408, "macs": 64 * 147 * 112 * 112, "output": "112×112×64"},
    ),
    "14 ceil mode, windows of 3 and 2": (
        "input: {sequence: [4, 1]}",
        "[avg_pool: {kernel: 3, stride: 2, ceil: true, count_pad: false}]",
        {},
        {"macs": 0, "elementwise": (3 + 1) + (2 + 1), "output": "2×1"},
    ),
    "15 adaptive pool that keeps an axis": (
        "input: {image: [224, 224, 3]}",
        "[conv: {out: 64, kernel: 3, padding: 1, bias: true}, relu, adaptive_avg_pool: [[none, 1]]]",
        {},
        {"params": 1_792, "macs": 64 * 27 * 50_176, "output": "224×1×64"},
    ),
    "19 attention's projections": (
        "input: {sequence: [580, 512]}",
        "[attention: 4]",
        {},
        {"params": 1_050_624, "macs": 4 * 580 * 512**2 + 2 * 580**2 * 512},
    ),
    **{
        f"20 {heads} heads": (
            "input: {sequence: [300, 448]}",
            f"[attention: {heads}]",
            {},
            {"params": 804_608, "macs": 4 * 300 * 448**2 + 2 * 300**2 * 448},
        )
        for heads in (4, 8)
    },
    "21 attention alone": (
        "inputs: {x: {image: {height: 64, width: 12, channels: 64}}}",
        "[attend: {query: x, key: x, value: x}]",
        {},
        {"params": 0, "macs": 6_291_456, "flops": 12_582_912},
    ),
    "22 attention by einsum": (
        "input: {sequence: [10, 16]}",
        "[attention: {heads: 1, head_dim: 2}]",
        {},
        {"params": 150, "macs": 3 * 10 * 16 * 2 + 2 * 100 * 2 + 10 * 2 * 16, "flops": 3_360},
    ),
    "23 heads of a width of their own": (
        "input: {sequence: [1, 2560]}",
        "[attention: {heads: 32, kv_heads: 8, head_dim: 128, bias: false, rope: true, qk_norm: true}]",
        {},
        {"weights": 26_214_400, "norms": 2 * 128},
    ),
    "23 Qwen3-4B": (
        "input: {tokens: [1]}",
        """
  - {embedding: [151936, 2560], share: tokens}
  - repeat: 36
    do:
      - residual: [rms_norm, attention: {heads: 32, kv_heads: 8, head_dim: 128, bias: false, qk_norm: true}]
      - residual: [rms_norm, ffn: {hidden: 9728, activation: silu, gated: true, bias: false}]
  - rms_norm
  - dense: {out: 151936, bias: false, tied: tokens}
""",
        {},
        {"params": 4_022_468_096},
    ),
    "25 tied embedding": (
        "input: {tokens: [5]}",
        "[{embedding: [1000, 64], name: table}, dense: {out: 1000, bias: false, tied: table}]",
        {},
        {"params": 64_000, "macs": 5 * 64 * 1000},
    ),
    "26 one layer, three uses": (
        "input: {features: 300}",
        """
  - {split: 3, into: [a, b, c]}
  - concat:
      - [{dense: {out: 100, bias: false}, share: one}]
      - [from: b, {dense: {out: 100, bias: false}, share: one}]
      - [from: c, {dense: {out: 100, bias: false}, share: one}]
""",
        {},
        {"params": 10_000, "macs": 30_000, "flops": 60_000, "output": "300"},
    ),
    "27 one activation, six uses": (
        "input: {features: 4}",
        "[{repeat: 3, do: [dense: 4, relu, dense: 4, relu]}]",
        {},
        {"params": 6 * 20, "macs": 6 * 16},
    ),
    "28 an embedding's table": ("input: {tokens: [1]}", "[embedding: [100, 8]]", {}, {"params": 800, "macs": 0}),
    "28 parameters that nothing uses": (
        "input: {features: 3}",
        "[let: {_a: [parameter: [100, 100]], _b: [parameter: [100, 200]]}]",
        {},
        {"params": 30_000, "macs": 0, "output": "3"},
    ),
    "29 a container beside its children": (
        "input: {features: 9}",
        "[do: [dense: 4, dense: 2]]",
        {"batch": 16},
        {"params": 40 + 10, "macs": 16 * 36 + 16 * 8},
    ),
    "30 siamese": (
        "blocks: {branch: {layers: [conv: {out: 64, kernel: 10, padding: valid, bias: true}, max_pool: 2, flatten,"
        " dense: 1]}}\ninputs: {left: {image: [29, 29, 3]}, right: {image: [29, 29, 3]}}",
        "[concat: [[from: left, {branch, share: branch}], [from: right, {branch, share: branch}]]]",
        {},
        {"params": 19_264 + 6_401, "macs": 2 * (64 * 300 * 400 + 6_400), "output": "2"},
    ),
    "31 leading axes": ("input: {sequence: [10, 3]}", "[dense: 8]", {"batch": 5}, {"params": 32, "macs": 1_200}),
    "31 leading axes of an image": (
        "input: {image: [100, 100, 3]}",
        "[pointwise: {out: 8, bias: true}]",
        {"batch": 5},
        {"params": 32, "macs": 1_200_000},
    ),
    "32 a product in batches": (
        "inputs: {a: {sequence: [25, 16]}, b: {sequence: [16, 9]}}",
        '[einsum: {pattern: "m p, p n -> m n", paths: [a, b]}]',
        {"batch": 2},
        {"params": 0, "macs": 2 * 25 * 16 * 9, "flops": 14_400},
    ),
    "33 einsum": (
        "inputs: {q: {image: {height: 8, width: 64, channels: 32}}, k: {image: {height: 8, width: 128, channels: 32}}}",
        '[einsum: {pattern: "h i d, h j d -> h i j", paths: [q, k]}]',
        {"batch": 2},
        {"params": 0, "macs": 2 * 8 * 64 * 128 * 32, "output": "8×64×128"},
    ),
    "34 interpolation": (
        "input: {image: [224, 224, 3]}",
        "[upsample: {factor: 2, method: bilinear}]",
        {},
        {"macs": 0, "activations": 602_112, "output": "448×448×3"},
    ),
    "35 a large product": (
        "input: {sequence: [2048, 2048]}",
        "[dense: {out: 2048, bias: false}]",
        {},
        {"macs": 2048**3, "flops": 17_179_869_184},
    ),
    "36 batch norm": (
        "input: {image: [112, 112, 64]}",
        "[batch_norm]",
        {},
        {"trainable": 128, "buffers": 128, "macs": 0, "elementwise": 2 * 802_816},
    ),
    "37 bias is no MAC": (
        "input: {image: [224, 224, 3]}",
        "[conv: {out: 32, kernel: 3, padding: 1, bias: true}]",
        {},
        {"params": 896, "macs": 43_352_064, "elementwise": 44_957_696 - 43_352_064, "flops": 86_704_128},
    ),
    "38 factor of 2": (
        "input: {features: 784}",
        "[dense: 512, dense: 512, dense: 10]",
        {},
        {"params": 669_706, "macs": 668_672, "flops": 1_337_344},
    ),
    "39 a product counts p adds": (
        "inputs: {a: {sequence: [25, 16]}, b: {sequence: [16, 9]}}",
        '[einsum: {pattern: "m p, p n -> m n", paths: [a, b]}]',
        {},
        {"params": 0, "macs": 3_600, "flops": 7_200, "output": "25×9"},
    ),
    "41 ten passes with the same weights": (
        "input: {sequence: [8, 64]}",
        "[{repeat: 10, share: true, dense: {out: 64, bias: false}}]",
        {},
        {"params": 64 * 64, "macs": 10 * 8 * 64 * 64, "flops": 655_360},
    ),
    "41 ten steps of a scan": (
        "input: {sequence: [10, 1]}",
        "[scan: {carry: {x: [8, 64]}, do: [from: x, dense: {out: 64, bias: false}], next: {x: prev}}]",
        {},
        {"params": 64 * 64, "macs": 10 * 8 * 64 * 64, "flops": 655_360},
    ),
    "42 seven examples": (
        "input: {features: 73}",
        "[dense: {out: 256, bias: false}]",
        {"batch": 7},
        {"params": 73 * 256, "macs": 7 * 73 * 256, "flops": 261_632},
    ),
    "43 a step of training": (
        "input: {tokens: [2048]}",
        """
  - {embedding: [50257, 1024], share: tokens}
  - repeat: 24
    do:
      - residual: [layer_norm, attention: {heads: 16, causal: true}]
      - residual: [layer_norm, ffn: 4096]
  - layer_norm
  - dense: {out: 50257, bias: false, tied: tokens}
""",
        {"train": True},
        {"train_flops": 5_580_181_733_376},
    ),
    "44 beyond 32 bits": (
        "input: {image: [1024, 1024, 16]}",
        "[conv: [4, 4]]",
        {},
        {"params": 1_024, "macs": 1_073_741_824, "flops": 2_147_483_648},
    ),
    "45 larger than memory": (
        "input: {features: 200000}",
        "[dense: 200000]",
        {},
        {"params": 40_000_200_000, "macs": 40_000_000_000, "param_bytes": 160_000_800_000},
    ),
    "46 a name beyond ASCII": (
        "name: 卷积-1\ninput: {features: 4}",
        "[dense: 8, dense: 2]",
        {},
        {"params": 40 + 18, "macs": 32 + 16},
    ),
    "54 active experts of Mixtral-8x7B": (
        "input: {tokens: [1]}",
        """
  - embedding: [32000, 4096]
  - repeat: 32
    do:
      - residual: [rms_norm, attention: {heads: 32, kv_heads: 8, bias: false}]
      - residual:
          - rms_norm
          - moe:
              experts: 8
              top_k: 2
              body: [ffn: {hidden: 14336, activation: silu, gated: true, bias: false}]
  - rms_norm
  - dense: {out: 32000, bias: false}
""",
        {},
        {"params": 46_702_792_704, "active_params": 12_879_925_248},
    ),
    "56 three matrices in Qwen1.5-72B": (
        "input: {tokens: [1]}",
        """
  - embedding: [152064, 8192]
  - repeat: 80
    do:
      - residual: [rms_norm, attention: {heads: 64, out_bias: false}]
      - residual: [rms_norm, ffn: {hidden: 24576, activation: silu, gated: true, bias: false}]
  - rms_norm
  - dense: {out: 152064, bias: false}
""",
        {},
        {"params": 72_287_920_128},
    ),
    "57 a hundred uses of one layer": (
        "input: {sequence: [10240, 1024]}",
        "[{repeat: 100, share: true, dense: 1024}]",
        {},
        {"activations": 4_236_247_040 // 4 - 10_240 * 1024, "param_bytes": 4_198_400},  # without the input
    ),
    "58 a mask changes no count": (
        "inputs: {x: {image: {height: 8192, width: 32, channels: 128}}}",
        "[attend: {query: x, key: x, value: x, causal: true}]",
        {},
        {"macs": 549_755_813_888},
    ),
    **{
        f"48 {dtype}": (
            "input: {features: 1000}",
            "[dense: 1000]",
            {"dtype": dtype},
            {"params": 1_001_000, "param_bytes": size},
        )
        for dtype, size in (("float32", 4_004_000), ("bfloat16", 2_002_000), ("int8", 1_001_000))
    },
    "49 four bits": (
        "input: {features: 100}",
        "[dense: {out: 100, bias: false}]",
        {"dtype": "int4"},
        {"params": 10_000, "param_bytes": 5_000},
    ),
    "16 every step of a sequence": (
        "input: {sequence: [100, 300]}",
        "[lstm: [512, 2]]",
        {},
        {"params": 3_768_320, "macs": 376_012_800, "output": "100×512"},
    ),
    "17 gated recurrent unit": (
        "input: {sequence: [32, 128]}",
        "[gru: 128]",
        {"batch": 10},
        {"params": 99_072, "macs": 31_457_280, "flops": 62_914_560},
    ),
    "18 a packed batch is its 7 + 3 + 1 steps": (
        "input: {sequence: [11, 10]}",
        "[lstm: 20]",
        {},
        {"params": 2_560, "macs": 26_400, "output": "11×20"},
    ),
    "52 no parameters": (
        "input: {image: [5, 5, 10]}",
        "[adaptive_avg_pool: 1]",
        {},
        {"params": 0, "macs": 0, "output": "1×1×10"},
    ),
    "53 a look-up": (
        "input: {tokens: [100]}",
        "[embedding: [20, 300]]",
        {},
        {"params": 6_000, "macs": 0, "output": "100×300"},
    ),
    "61 selective scan": (
        "inputs: {x: {sequence: [256, 768]}, dt: {sequence: [256, 768]}, s: {sequence: [256, 16]}}",
        "[{from: x, selective_scan: {step: dt, write: s, read: s}}]",
        {},
        {"params": 768 * 16 + 768, "macs": 3_145_728, "flops": 6_291_456, "elementwise": 28_311_552 - 6_291_456},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_counts_right(spec, case):
    head, layers, how, right = CASES[case]
    assert figures(spec(f"{head}\nlayers: {layers}"), right, **how) == right


def test_11_same_pads_behind():
    assert axis_padding(28, 3, 2, 1, "same") == (0, 1)


def test_24_keys_and_values_of_the_heads_that_share():
    """Llama 3 8B: what its 32 layers keep of 8192 tokens, in two bytes per element."""
    network = load(str(CONFIGS / "llama.yaml"), variant="3-8b", T=8192)
    assert count(network, kv_cache=8192, dtype="bfloat16").kv_cache_bytes == 2**30
    kept = [row for row in count(network).rows if row.path.endswith((".let0.k", ".let0.v"))]
    assert [str(row.output_shape) for row in kept] == ["8192×8×128"] * 2
    assert sum(2 * row.output_shape.elements * row.repeat for row in kept) == 2 * 32 * 8 * 128 * 8192 * 2 == 2**30


def test_29_leaves_sum_to_the_totals(spec):
    report = count(spec("input: {features: 9}\nlayers: [do: [dense: 4, dense: 2]]"), batch=16)
    leaves = [row for row in report.rows if row.leaf]
    assert [row.params for row in leaves] == [40, 10]
    assert sum(row.macs for row in leaves) == report.macs == 704


def test_40_alexnet_in_both_units():
    right = {"params": 61_100_840, "macs": 714_188_480, "flops": 1_428_376_960}
    assert figures(load(str(CONFIGS / "alexnet.yaml")), right) == right


def test_47_a_key_given_twice_is_an_error(spec):
    with pytest.raises(ParamcountError) as caught:
        count(spec("input: {features: 4}\nvars:\n  conv1: 8\n  conv1: 16\nlayers: [dense: conv1]"))
    text = str(caught.value)
    assert "`conv1`" in text
    assert "3" in text and "4:3" in text


def test_50_megabytes_and_mebibytes():
    report = count(load(str(CONFIGS / "resnet.yaml"), variant="50"))
    assert report.param_bytes == 4 * 25_557_032 == 102_228_128
    assert binary(report.param_bytes) == "97.5 MiB"


@pytest.mark.parametrize(("resolution", "macs"), [(160, 154_083_200), (224, 300_774_272)])
def test_51_resolution(resolution, macs):
    network = load(str(CONFIGS / "mobilenet_v2.yaml"), resolution=resolution)
    assert figures(network, ["params", "macs"]) == {"params": 3_504_872, "macs": macs}


def test_51_a_layout_that_does_not_fit_is_an_error(spec):
    with pytest.raises(ParamcountError):
        count(spec("input: {image: [3, 224, 224]}\nlayers: [conv: {out: 8, kernel: 7, padding: valid}]"))


def test_55_counting_leaves_no_trace():
    layer = LayerNorm()
    reports = [count(layer, Shape.of(256)) for _ in range(3)]
    assert [(report.params, report.macs) for report in reports] == [(512, 0)] * 3
