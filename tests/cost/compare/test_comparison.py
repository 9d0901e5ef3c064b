"""Comparisons as they are shown: two networks and several, unknown figures, and what was counted differently."""

import json
from dataclasses import replace

import pytest

import paramcount as pc
from paramcount.cost.compare.comparison import Comparison, compare
from paramcount.cost.count import count
from paramcount.cost.counted import Counted
from paramcount.cost.figures import Figures, Phases, Row
from paramcount.cost.tally import Tallies
from paramcount.errors import ArgumentError, SpecError
from paramcount.graph.network import Network, Subject
from paramcount.language.load import load
from paramcount.layers.dense import Dense
from paramcount.layers.layer import Shape
from paramcount.render.table import render


def shown(comparison, **settings):
    return render(comparison.sheet(**settings), width=120, encoding="utf-8", colour=False)


RESNETS = """\
resnet:18  →  resnet:50

                             resnet:18      resnet:50          change
params                      11,689,512     25,557,032     +13,867,520  +118.6%
weights                     11,678,912     25,502,912     +13,824,000  +118.4%
MACs                     1,814,073,344  4,089,184,256  +2,275,110,912  +125.4%
FLOPs                    3,628,146,688  8,178,368,512  +4,550,221,824  +125.4%
activations                  8,230,376     37,559,784     +29,329,408  +356.4%
bytes of the parameters     46,758,048    102,228,128     +55,470,080  +118.6%

variables: depths [2, 2, 2, 2] → [3, 4, 6, 3], basic true → false

   layer          output                  params       →            MACs       →
   conv0          112×112×64              9.54 k  9.54 k           118 M   118 M
   max_pool0      56×56×64                     0       0               0       0
~  unit0[0][0]    56×56×64 → 56×56×256    74.0 k  75.0 k    +1.4%  231 M   231 M
~  unit0[0][1]    56×56×64 → 56×56×256    74.0 k  70.4 k    −4.8%  231 M   218 M    −5.6%
+  unit0[0][2]    – → 56×56×256                0  70.4 k      new      0   218 M      new
~  unit0[1][0]    28×28×128 → 28×28×512    230 k   379 k   +64.8%  180 M   373 M  +107.1%
~  unit0[1][1]    28×28×128 → 28×28×512    295 k   280 k    −5.2%  231 M   218 M    −5.6%
+  unit0[1][2:4]  – → 28×28×512                0   560 k      new      0   437 M      new
"""
RESNETS_END = """\
~  dense0         1000                     513 k  2.05 M  +299.4%  512 k  2.05 M  +300.0%

4 added (+), 0 removed (-), 10 changed (~), 2 equal
one example: image 224×224×3; MACs include padding; FLOPs = 2 × MACs; float32"""
LLAMAS = """\
variables: kv_heads 32 → 8, hidden 11008 → 14336, vocab 32000 → 128256, rope 10000 → 500000

   layer           output                  params       →             MACs       →
~  embedding0      128×4096                 131 M   525 M  +300.8%       0       0
~  block[0:32]     128×4096                6.48 G  6.98 G    +7.8%   833 G   898 G    +7.7%
~    residual0     128×4096                2.15 G  1.34 G   −37.5%   279 G   176 G   −36.9%
       rms_norm0   128×4096                 131 k   131 k                0       0
~      attention0  128×4096                2.15 G  1.34 G   −37.5%   279 G   176 G   −36.9%
       add         128×4096                     0       0                0       0
~    residual1     128×4096                4.33 G  5.64 G   +30.2%   554 G   722 G   +30.2%
       rms_norm0   128×4096                 131 k   131 k                0       0
~      ffn0        128×4096                4.33 G  5.64 G   +30.2%   554 G   722 G   +30.2%
       add         128×4096                     0       0                0       0
   rms_norm0       128×4096                4.10 k  4.10 k                0       0
~  dense0          128×32000 → 128×128256   131 M   525 M  +300.8%  16.8 G  67.2 G  +300.8%
"""
SEVERAL = """\
                params             MACs           activations              bytes
resnet:18   11,689,512           1.81 G                8.23 M           44.6 MiB
resnet:34   21,797,672   +86.5%  3.66 G  +102.0%       12.6 M   +53.3%  83.2 MiB   +86.5%
resnet:50   25,557,032  +118.6%  4.09 G  +125.4%       37.6 M  +356.4%  97.5 MiB  +118.6%
resnet:101  44,549,160  +281.1%  7.80 G  +330.0%       56.3 M  +584.4%   170 MiB  +281.1%

changes are from resnet:18; one example: image 224×224×3; MACs include padding; FLOPs = 2 × MACs; float32"""


def test_two_networks():
    comparison = compare("resnet:18", "resnet:50")
    table = shown(comparison)
    assert table.startswith(RESNETS) and table.endswith(RESNETS_END)
    assert not comparison.equal
    assert comparison.variables == {"depths": ([2, 2, 2, 2], [3, 4, 6, 3]), "basic": (True, False)}
    changed = shown(comparison, changed=True)
    assert "conv0" not in changed and "2 equal (left out)" in changed and "dense0" in changed
    assert comparison.sheet().summary == "14 changed rows"


def test_changed_rows_open():
    assert LLAMAS in shown(compare("llama:2-7b", "llama:3-8b"), depth=3)


def test_several_networks():
    comparison = compare("resnet:18", "resnet:34", "resnet:50", "resnet:101")
    assert shown(comparison) == SEVERAL
    assert (comparison.rows, comparison.equal) == ((), False)
    assert compare("mlp", "mlp", "mlp").equal
    assert comparison.variables["basic"] == (True, True, False, False)
    for settings in ({"depth": 2}, {"changed": True}):
        with pytest.raises(ArgumentError, match="three networks or more are a row each"):
            comparison.sheet(**settings)


def test_a_variant():
    comparison = compare("mobilenet_v2", "mobilenet_v2:x0.5")
    lines = shown(comparison).splitlines()
    assert lines[3].split() == ["params", "3,504,872", "1,968,680", "−1,536,192", "−43.8%"]
    assert lines[5].split() == ["MACs", "300,774,272", "97,131,840", "−203,642,432", "−67.7%"]
    assert "variables: width 1.0 → 0.5" in lines
    assert "0 added (+), 0 removed (-), 14 changed (~), 2 equal" in lines


def test_a_network_beside_itself():
    network = load("mobilenet_v2")
    comparison = compare(network, count(network))
    assert comparison.equal and comparison.variables == {}
    assert {row.change for row in comparison.rows} == {"equal"}
    assert comparison.names == ("MobileNet-v2", "MobileNet-v2")
    assert "variables" not in shown(comparison)
    assert comparison.sheet(changed=True).rows == [] and comparison.sheet().summary == "0 changed rows"


def test_data_has_a_value_for_each_side():
    data = json.loads(compare("resnet:18", "resnet:50").render("json"))
    assert (data["schema"], data["command"], data["names"]) == (1, "compare", ["resnet:18", "resnet:50"])
    assert data["totals"]["params"] == [11_689_512, 25_557_032]
    assert data["variables"] == {"depths": [[2, 2, 2, 2], [3, 4, 6, 3]], "basic": [True, False]}
    outermost = [row for row in data["rows"] if row["depth"] == 1]
    for side in (0, 1):
        for figure in ("params", "macs", "activations", "param_bytes"):
            assert sum(row[figure][side] for row in outermost) == data["totals"][figure][side]
    added = next(row for row in outermost if row["change"] == "added")
    assert (added["path"], added["output_shape"]) == ([None, "unit0[0][2]"], [None, [56, 56, 256]])
    assert (added["params"], added["kind"]) == ([0, 70_400], [None, "unit"])
    several = compare("resnet:18", "resnet:34", "resnet:50").to_dict()
    assert [(row["name"], row["params"]) for row in several["rows"]][1] == ("resnet:34", 21_797_672)
    assert several["totals"]["params"] == [11_689_512, 21_797_672, 25_557_032]


def test_records_are_raw_values():
    records = compare("resnet:18", "resnet:50").to_records()
    assert records[4] == {
        "change": "added",
        "path_a": None,
        "path_b": "unit0[0][2]",
        "output_a": None,
        "output_b": "56×56×256",
        "params_a": 0,
        "params_b": 70_400,
        "macs_a": 0,
        "macs_b": 218_365_952,
        "depth": 1,
    }
    several = compare("resnet:18", "resnet:34", "resnet:50").to_records(columns=["params"])
    assert several[1] == {"name": "resnet:34", "params": 21_797_672}


def test_columns_that_were_chosen():
    comparison = compare("mobilenet_v2", "mobilenet_v2:x0.5")
    head, first, *_ = shown(comparison, columns=["layer", "setting", "norms", "flops"]).split("\n\n")[3].splitlines()
    assert head.split() == ["layer", "setting", "norms", "→", "FLOPs", "→"]
    # The first convolution has 32, then 16 channels: 2 · 32 and 2 · 16 in its norm.
    assert first.split() == ["~", "conv0", "3×3/2", "64", "32", "−50.0%", "21.7", "M", "10.8", "M", "−50.0%"]
    with pytest.raises(ArgumentError, match=r"unknown column `parms`\nhint: did you mean `params`\?"):
        comparison.sheet(columns=["parms"])
    with pytest.raises(ArgumentError, match="a figure of training"):
        comparison.sheet(columns=["train_macs"])


def test_new_and_gone_are_whole_rows():
    a = Network([Dense(8, bias=False), Dense(8), Dense(8)], input=8)
    b = Network([Dense(8), Dense(8, bias=False)], input=8)
    lines = shown(compare(a, b), columns=["layer", "biases"]).split("\n\n")[2].splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["~", "dense0", "0", "8", "from", "0"],
        ["~", "dense1", "8", "0", "−100.0%"],
        ["-", "dense2", "8", "0", "gone"],
    ]


def test_training_and_the_cache_have_totals():
    comparison = compare("mobilenet_v2", "mobilenet_v2:x0.5", train=True, optimizer="adam", batch=2)
    labels = [row[0] for row in comparison.sheet().above.rows]
    assert labels[2:5] == ["MACs", "backward MACs", "MACs of a step"]
    assert labels[-2:] == ["elementwise: optimizer", "elementwise: softmax cross entropy"]
    names = [each.name for each in comparison.sheet().headings]
    assert names[-4:] == ["train_macs_a", "train_macs_b", "train_macs_change", "depth"]
    cached = compare("llama:2-7b", "llama:3-8b", kv_cache=1000)
    # 32 blocks · 2 · 1000 tokens · 4096 or 1024 channels · 4 bytes
    assert cached.totals["kv_cache_bytes"] == (1_048_576_000, 262_144_000)
    assert "bytes of the KV cache" in shown(cached)


def test_active_parameters_of_experts():
    labels = [row[0] for row in compare("mixtral", "mixtral").sheet().above.rows]
    assert labels[:3] == ["params", "  active for one token", "weights"]


def test_what_was_counted_differently_is_not_compared():
    one = count(load("mlp"))
    for settings, first, second in [
        ({"batch": 8}, "one example", "8 examples"),
        ({"dtype": "bfloat16"}, "float32", "bfloat16"),
        ({"train": True}, "inference", "training"),
    ]:
        with pytest.raises(ArgumentError) as caught:
            compare(one, count(load("mlp"), **settings))
        assert caught.value.message == "`MLP 784-512-512-10` and `MLP 784-512-512-10` were counted differently: " + (
            f'"{first}" and "{second}"'
        )
        assert compare(count(load("mlp"), **settings), "mlp", **settings).equal
    with pytest.raises(ArgumentError, match="pairs that causal and window leave"):
        compare(count(load("gpt2")), count(load("gpt2"), attention="exact"))


def test_examples_may_differ():
    comparison = compare("mobilenet_v2", "mobilenet_v2@resolution=192")
    assert comparison.convention.startswith("one example: image 224×224×3 → image 192×192×3; MACs include padding; ")
    # With padding, the first of the totals is the same, and the work is (192 / 224)² of it.
    assert comparison.totals["params"] == (3_504_872, 3_504_872)
    assert comparison.totals["macs"][1] * 49 < comparison.totals["macs"][0] * 37


class Tensors(Counted):
    """Tensors of a file, whose work is unknown."""

    subject, basis, convention = Subject("weights"), "of a file", "elements of tensors"
    usual, extra = ("layer", "params"), ()

    def __init__(self, sizes):
        unknown = dict.fromkeys(("trainable", "active_params", "macs", "flops", "elementwise", "activations"))
        figures = [Figures(params=size, weights=size, param_bytes=4 * size, **unknown) for size in sizes]
        self.rows = [Row(f"tensor{index}", "tensor", 1, each, leaf=True) for index, each in enumerate(figures)]
        self.totals = Figures.total(figures)

    rows = ()


def test_what_is_unknown_is_not_shown():
    comparison = compare(Tensors([4, 5]), Tensors([4, 6, 7]))
    assert [each.name for each in comparison.sheet().headings if "macs" in each.name] == []
    assert [row[0] for row in comparison.sheet().above.rows] == ["params", "weights", "bytes of the parameters"]
    lines = shown(comparison, columns=["layer", "params", "macs"]).split("\n\n")[2].splitlines()
    assert [line.split() for line in lines] == [
        ["layer", "params", "→", "MACs", "→"],
        ["tensor0", "4", "4", "–", "–"],
        ["~", "tensor1", "5", "6", "+20.0%", "–", "–"],
        ["+", "tensor2", "0", "7", "new", "–", "–", "new"],
    ]
    assert comparison.to_dict()["rows"][2]["macs"] == [None, None]


def traced(*macs):
    tallies = Tallies(named=False)
    for index, each in enumerate(macs):
        tallies.at(("net", f"block{index}")).work("forward", "dot_general", each, 0, 1, Shape((8,)), "")
    return tallies.trace("step", ("custom_call",) if len(macs) > 2 else ())


def test_traces():
    comparison = compare(traced(10, 20), traced(10, 30, 5))
    lines = shown(comparison).splitlines()
    assert comparison.totals["macs"] == (30, 45) and comparison.totals["params"] == (None, None)
    assert [line.split()[:2] for line in lines if "net" in line or "block" in line] == [
        ["~", "net"],
        ["block0", "8"],
        ["~", "block1"],
        ["+", "block2"],
    ]
    assert [row[0] for row in comparison.sheet().above.rows] == ["MACs", "FLOPs"]
    step = replace(traced(10), phases=Phases(4, 6))
    rows = compare(traced(10), step).sheet().above.rows
    assert [row[0] for row in rows] == ["MACs", "  forward", "  backward", "FLOPs"]
    assert "step: not counted: custom_call" in lines
    assert comparison.convention == "as traced; MACs include padding; FLOPs = 2 × MACs; elementwise apart"
    words = '"one example; float32" and "as traced; elementwise apart"\nhint: compare two traces, or two specs'
    with pytest.raises(ArgumentError, match=words):
        compare("mlp", traced(10))


def test_what_is_compared():
    assert pc.compare is compare and pc.Comparison is Comparison
    with pytest.raises(ArgumentError, match="is not a network"):
        compare("mlp", 5)
    with pytest.raises(SpecError, match=r"has no variant `51`\nhint: the variants are 18, 34, 50"):
        compare("resnet:18", "resnet:51")


def test_long_names_are_shortened_before_the_figures_of_a_narrow_terminal():
    names = ("mobilenet_v2@width=0.5,resolution=192", "mobilenet_v2@width=0.75,resolution=192")
    found = compare(*names)
    text = render(found.sheet(), width=60, encoding="utf-8", colour=False)
    rows = {line[:24].strip(): line[24:].split() for line in text.split("\n\n")[1].splitlines()[1:]}
    assert rows["params"] == ["1,968,680", "2,636,424", "+33.9%"]
    assert rows["bytes of the parameters"][0] == "7,874,720"
    assert max(map(len, text.splitlines())) <= 60
    several = render(compare(*names, "mlp").sheet(), width=80, encoding="utf-8", colour=False)
    assert max(map(len, several.splitlines())) <= 80 and "activations" not in several
