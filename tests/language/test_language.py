"""What the language means, on small specs whose figures are worked out by hand beside them.

A dense layer from n to m channels has n·m weights and m biases; on a sequence of T it works T·n·m MACs.
"""

import pytest

from paramcount.cost.count import count
from paramcount.cost.report import Report
from paramcount.errors import ParamcountError
from paramcount.graph.tree import Element, Group, Loop
from paramcount.language.load import Loaded, load, loads


def read(head: str, *items: str, variant: str | None = None, **variables) -> Loaded:
    """A spec of the lines of `head` and a list of items."""
    return loads(head + "layers:\n" + "".join(f"  - {item}\n" for item in items), variant=variant, **variables)


def report(head: str, *items: str, **settings) -> Report:
    return count(read(head, *items, **settings))


def output(head: str, *items: str, **settings) -> tuple[int, ...]:
    (value,) = read(head, *items, **settings).graph().outputs.values()
    return value.shape.sizes


def loops(children: list[Element]) -> list[list[list[int]]]:
    """For each loop, from the outside in, the indices of the passes that each of its bodies stands for."""
    found = []
    for element in children:
        if isinstance(element, Loop):
            found.append([each.indices for each in element.iterations])
            for each in element.iterations:
                found += loops([each.child] if each.child else [])
        elif isinstance(element, Group):
            found += loops(element.children)
    return found


def dense(n: int, m: int, bias: bool = True) -> int:
    return n * m + (m if bias else 0)


F = "input: {features: 10}\n"
S = "input: {sequence: [6, 8]}\n"
I = "input: {image: [8, 8, 4]}\n"  # noqa: E741
T = "input: {tokens: [5]}\n"


# Variables and variants

VARS = F + "vars: {w: 4, half: w / 2, sizes: [w, 2 * half], kind: relu}\nvariants: {big: {w: 16}, same: {}}\n"
ITEMS = ("dense: half", "dense: '2 * half'", 'dense: "sizes[1]"', "activate: kind")


def test_variables_are_expressions_of_others():
    assert report(VARS, *ITEMS).params == dense(10, 2) + dense(2, 4) + dense(4, 4)


def test_a_variant_sets_variables_and_the_others_follow():
    assert report(VARS, *ITEMS, variant="big").params == dense(10, 8) + dense(8, 16) + dense(16, 16)
    assert report(VARS, *ITEMS, variant="same").params == report(VARS, *ITEMS).params


def test_settings_override_variables_and_variants():
    network = read(VARS, *ITEMS, variant="big", w=6)
    assert network.vars == {"w": 6, "half": 3, "sizes": [6, 6], "kind": "relu"}
    assert network.overridden and not read(VARS, *ITEMS).overridden
    assert count(network).params == dense(10, 3) + dense(3, 6) + dense(6, 6)
    assert read(VARS, *ITEMS, half="w + 1").vars["sizes"] == [4, 10]
    assert read(VARS, *ITEMS, kind="gelu").vars["kind"] == "gelu"
    assert read(VARS, *ITEMS, sizes=(1, 7)).vars["sizes"] == [1, 7]


@pytest.mark.parametrize("value", [2**60, -2e18, float("inf"), [10**19]])
def test_numbers_of_python_beyond_those_of_specs(value):
    with pytest.raises(ParamcountError, match=r"`w` is beyond 1e18\nhint: numbers go up to 1e18"):
        loads("{input: {features: 3}, vars: {w: 2}, layers: [dense: w]}", w=value)


# Numbers


@pytest.mark.parametrize(
    ("written", "out"),
    [
        ("32.0", 32),
        ("'8'", 8),
        ("1e3", 1000),
        ("64 * 0.5", 32),
        ("7 // 2", 3),
        ("-7 // 2 + 8", 4),
        ("2 ** 3 ** 2 // 100", 5),
        ("7 % 4", 3),
        ("round(2.5) + round(3.5)", 6),
        ("round8(11) + round8(12) + round8(18) + round8(3)", 16 + 16 + 24 + 8),  # 18 → 16 is below 0.9 · 18
        ("divisible(10, 4)", 12),
        ("'3 if 1 < 2 <= 2 and not 3 in [4, 5] else 1'", 3),
        ("ceil(2.1) + floor(2.9) + int(2.9) + abs(-3) + sqrt(49) + log2(8)", 3 + 2 + 2 + 3 + 7 + 3),
        ("'min(4, 2, 3) + max([1, 5]) + len([1, 2]) + sum([1, 2])'", 2 + 5 + 2 + 3),
        ("cin - length // 2", 5),
    ],
)
def test_numbers(written, out):
    assert output(F, f"dense: {written}") == (out,)


@pytest.mark.parametrize("written", ["11.2", "3 / 2", "true", "'[8]'", "none", "0.5", "cin / 4"])
def test_what_is_no_whole_number(written):
    with pytest.raises(ParamcountError):
        output(F, f"dense: {{out: {written}}}")


# Defaults


def test_defaults_merge_per_argument_and_the_item_wins():
    head = F + "vars: {b: false}\ndefaults: {dense: {bias: b, norm: layer_norm}, layer_norm: {bias: false}}\n"
    assert report(head, "dense: 4").params == 40 + 4  # no bias; the norm, by its own defaults, is a scale only
    assert report(head, "dense: {out: 4, bias: true}").params == 40 + 4 + 4
    assert report(head, "dense: {out: 4, norm: rms_norm}").params == 40 + 4
    assert report(head, "dense: {out: 4, norm: none}").params == 40
    assert report(head, "dense: {out: 4, norm: none}", b=True).params == 40 + 4


@pytest.mark.parametrize("defaults", ["", "dense: {norm: layer_norm}, "])
def test_a_word_s_kind_has_defaults_that_see_variables(defaults):
    head = F + f"vars: {{flag: false}}\ndefaults: {{{defaults}layer_norm: {{affine: flag}}}}\n"
    item = "dense: 4" if defaults else "dense: {out: 4, norm: layer_norm}"
    assert report(head, item).norms == 0
    assert report(head.replace("flag: false", "flag: true"), item).norms == 2 * 4


def test_defaults_see_what_arrives():
    head = F + "defaults: {dense: {out: cin + length}}\n"
    assert output(head, "dense", "dense") == (40,)  # features: cin and length are the same axis


def test_defaults_mean_the_file_s_variable_where_a_loop_or_block_hides_it():
    head = F + "vars: {w: 3}\ndefaults: {dense: {out: w}}\nblocks: {b: {args: {w: 7}, layers: [dense]}}\n"
    assert report(head, "{for: w, in: [4, 5], dense: }").weights == 10 * 3 + 3 * 3
    assert report(head, "b").weights == 10 * 3


@pytest.mark.parametrize("word", ["i", "t", "n"])
def test_defaults_see_no_variable_of_a_loop_or_block(word):
    head = F + f"defaults: {{dense: {{out: {word}}}}}\nblocks: {{b: {{args: {{n: 3}}, layers: [dense]}}}}\n"
    with pytest.raises(ParamcountError, match=f"unknown variable `{word}`"):
        read(head, "{for: t, in: [4, 5], dense: }", "b")


def test_defaults_hold_in_blocks_of_the_file_and_not_in_shipped_ones():
    head = I + "defaults: {pointwise: {bias: true}, bottleneck: {expand: 2}}\n"
    own = "blocks: {b: {layers: [pointwise: 5]}}\n"
    assert report(head + own, "b").params == 4 * 5 + 5
    # Expansion to 8 by `bottleneck`'s default; in it no pointwise has a bias: weights, and norms of 2 each.
    assert report(head, "bottleneck: 6").params == (4 * 8 + 2 * 8) + (9 * 8 + 2 * 8) + (8 * 6 + 2 * 6)


def test_included_blocks_bring_their_own_defaults_and_see_no_variables(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "more.yaml").write_text("blocks: {more: {layers: [dense: 3]}}\n")
    (tmp_path / "parts" / "b.yaml").write_text(
        "include: more.yaml\ndefaults: {dense: {bias: false}}\n"
        "blocks: {b: {args: {n: cin}, layers: [dense: n, more]}}\n"
    )
    spec = tmp_path / "spec.yaml"
    spec.write_text(F + "include: parts/b.yaml\ndefaults: {dense: {norm: rms_norm}}\nlayers: [b, dense: 2]\n")
    assert count(load(str(spec))).params == 10 * 10 + dense(10, 3) + dense(3, 2) + 2
    spec.write_text(F + "vars: {w: 3}\ninclude: parts/b.yaml\nlayers: [dense: w, more]\n")
    assert count(load(str(spec))).params == dense(10, 3) + dense(3, 3)
    (tmp_path / "parts" / "b.yaml").write_text("blocks: {b: {layers: [dense: w]}}\n")
    with pytest.raises(ParamcountError, match="unknown variable `w`"):
        load(str(spec))


# Blocks


def test_arguments_are_evaluated_where_the_block_is_entered():
    head = F + "blocks: {b: {args: {n: required, c: cin, twice: 2 * n}, layers: [dense: n, dense: twice, dense: c]}}\n"
    assert report(head, "b: 4").params == dense(10, 4) + dense(4, 8) + dense(8, 10)
    assert report(head, "b: [4, 5, 6]").params == dense(10, 4) + dense(4, 6) + dense(6, 5)
    assert report(head, "b: {n: cin - 9, c: 1}").params == dense(10, 1) + dense(1, 2) + dense(2, 1)


def test_inputs_of_blocks():
    required = "blocks: {b: {inputs: [m], layers: [add: [prev, m]]}}\n"
    assert output(S + required, "{dense: 8, name: x}", "b: {m: x}") == (6, 8)
    assert report(S + required, "b: {m: [dense: 8]}").params == dense(8, 8)
    arriving = "blocks: {b: {inputs: {m: prev}, layers: [dense: 4, {from: m, dense: 3}]}}\n"
    assert report(S + arriving, "b").params == dense(8, 4) + dense(8, 3)
    assert report(S + arriving, "b: {m: [dense: 5]}").params == dense(8, 5) + dense(8, 4) + dense(5, 3)
    handed = "blocks: {b: {inputs: {m: none}, layers: [c: {m: m}]}, c: {inputs: {m: prev}, layers: [dense: 2]}}\n"
    assert report(S + handed, "b: {m: prev}").params == dense(8, 2)


def test_outputs_of_blocks():
    head = S + "blocks: {b: {layers: [{dense: 3, name: x}, {dense: 4, name: y}], outputs: [y, x]}}\n"
    assert output(head, "{b: , into: [one, _two]}") == (6, 4)
    assert output(head, "{b: , into: [_one, two]}", "from: two") == (6, 3)
    assert report(head, "{b: , into: [one, two]}", "concat: [two, one, prev]").activations == 6 * (3 + 4 + 11)


def test_a_block_of_the_file_stands_for_a_shipped_one():
    assert report(I + "blocks: {bottleneck: {layers: [pointwise: 2]}}\n", "bottleneck").params == 4 * 2


def test_a_block_sees_no_names_around_it():
    with pytest.raises(ParamcountError, match="nothing is named `x`"):
        read(S + "blocks: {b: {layers: [add: [prev, x]]}}\n", "{dense: 8, name: x}", "b")


# Loops and conditions


def test_for_takes_rows_lists_and_counts():
    rows = dense(10, 4) + dense(4, 6)
    assert report(F, "{for: [n, b], in: [[4, true], [6, true]], dense: {out: n, bias: b}}").params == rows
    assert report(F + "vars: {sizes: [4, 6]}\n", "{for: n, in: sizes, dense: n}").params == rows
    assert report(F, "{for: n, in: 2, dense: 4 + 2 * n}").params == rows
    assert report(F, "{for: n, in: 2, dense: 4 + 2 * i}").params == rows
    assert report(F, "{for: n, in: 0, dense: 4}", "dense: 1").params == dense(10, 1)


def test_i_counts_the_innermost_loop():
    # repeat inside for: 3, 4 and then 3, 4, 5
    assert report(F, "{for: n, in: [2, 3], repeat: n, dense: 3 + i}").weights == 10 * 3 + 3 * 4 + 4 * 3 + 3 * 4 + 4 * 5
    inner = "{repeat: 2, do: [dense: 5 + i, {repeat: 2, dense: 2 + i}, dense: 7 + i]}"
    first, second = 10 * 5 + 5 * 2 + 2 * 3 + 3 * 7, 7 * 6 + 6 * 2 + 2 * 3 + 3 * 8
    assert report(F, inner).weights == first + second


def test_from_is_read_once_for_each_row_before_repeat():
    # Each row starts at x (10 wide), its passes follow one another.
    items = ("{name: x}", "{for: n, in: [3, 4], from: x, repeat: 2, dense: n}")
    assert report(F, *items).weights == (10 * 3 + 3 * 3) + (10 * 4 + 4 * 4)


def test_a_false_condition_skips_the_kind_and_passes_the_value_on():
    assert output(F, "{dense: 3, when: cin > 10}") == (10,)
    assert output(F, "{dense: 3, when: cin > 9}") == (3,)
    assert output(F, "{dense: 3, name: x}", "dense: 4", "{from: x, dense: 5, when: false}") == (3,)
    assert report(F, "{repeat: 4, when: i > 1, dense: 4}").params == dense(10, 4) + dense(4, 4)
    stack = ("{dense: 10, push: s, when: false}", "{dense: 10, push: s}", "add: [prev, [pop: s]]")
    assert report(F, *stack).params == dense(10, 10)


# Names and values


def test_let_computes_values_beside_prev():
    items = ("let: {q: [dense: 3], k: [from: q, dense: 4]}", "{from: k, dense: 5}")
    assert report(S, *items).params == dense(8, 3) + dense(3, 4) + dense(4, 5)
    assert output(S, "let: {q: [dense: 3]}", "dense: cin") == (6, 8)


def test_names_with_braces_live_around_the_loop():
    items = ("{for: n, in: [2, 3, 4], dense: n, name: 'c{n}'}", 'concat: [c2, c3, "c{1 + 3}"]')
    assert output(F, *items) == (9,)
    nested = ("{for: a, in: 2, do: [{repeat: 2, dense: 2 + a + i, name: 'x{a}{i}'}]}", "concat: [x00, x01, x10, x11]")
    assert output(F, *nested) == (2 + 3 + 3 + 4,)
    split = ("{repeat: 2, split: 2, into: ['a{i}', 'b{i}']}", "concat: [b0, b1]")
    assert output(S, *split) == (6, 4 + 2)
    let = ("{repeat: 2, let: {'v{i}': [dense: 3 + i]}}", "concat: [v0, v1]")
    assert output(S, *let) == (6, 7)


def test_a_plain_name_ends_with_its_pass_and_names_the_loop_s_result_outside():
    inside = "{repeat: 3, do: [{dense: 8, name: x}, relu, add: [prev, x]]}"
    assert report(S, inside, inside).params == 6 * dense(8, 8)
    assert output(S, "{for: n, in: [2, 3], dense: n, name: x}", "dense: 7", "from: x") == (6, 3)
    assert output(S, "{repeat: 2, split: 2, into: [x, _y]}", "dense: 7", "from: x") == (6, 2)


def test_a_name_whose_braces_hold_outer_variables_only_names_the_loop_s_result():
    row = "{repeat: 3, dense: 2 + r + i, name: 'row{r}'}"  # 2 + r + 2 features
    assert output(F, f"{{for: r, in: 2, do: [{row}]}}", "concat: [row0, row1]") == (4 + 5,)
    part = "{for: p, in: 2, dense: 2 + p, name: 'part{r}_{p}'}"
    assert output(F, f"{{for: r, in: 2, do: [{part}]}}", "concat: [part0_0, part0_1, part1_1]") == (2 + 3 + 3,)
    assert output(F, "{for: n, in: [3, 4], repeat: 2, dense: n + i, name: 'c{n}'}", "concat: [c3, c4]") == (4 + 5,)
    assert output(F, "{for: n, in: [3, 4], repeat: 2, dense: n + i, name: 'c{n}{i}'}", "concat: [c30, c41]") == (3 + 5,)
    split = "{for: r, in: 2, do: [{repeat: 2, split: 2, into: ['a{r}', 'b{r}']}, dense: 8]}"
    assert output(F.replace("10", "8"), split, "concat: [a0, b0, b1]") == (2 + 2 + 2,)


def test_a_path_leaves_prev_alone():
    assert report(S, "add: [[dense: 4, dense: 8], prev, [dense: 8]]", "dense: 2").params == (
        dense(8, 4) + dense(4, 8) + dense(8, 8) + dense(8, 2)
    )
    assert output(S, "{dense: 3, name: x}", "dense: 4", "concat: [prev, x, [from: x, dense: 5]]") == (6, 12)


def test_stacks():
    items = ("{repeat: 3, dense: 8 - i, push: s}", "{repeat: 3, concat: [prev, [pop: s]]}")
    assert output(F, *items) == (6 + 6 + 7 + 8,)
    block = "blocks: {b: {layers: [{dense: 3, push: s}, dense: 4, concat: [prev, [pop: s]]]}}\n"
    assert output(F + block, "{dense: 2, push: s}", "b", "concat: [prev, [pop: s]]") == (4 + 3 + 2,)


# Structure


def test_merges():
    assert output(S, "add: [prev, [global_pool], [slice: 1]]") == (6, 8)
    assert output(S, "subtract: [prev, [dense: 8]]") == (6, 8)
    assert output(S, "multiply: [prev, prev]") == (6, 8)
    assert output(S, "gate: [global_pool, dense: 8, sigmoid]") == (6, 8)
    assert output(S, "concat: [prev, prev]") == (6, 16)
    assert output(S, "concat: {axis: 0, paths: [prev, prev, [slice: 2]]}") == (14, 8)
    assert report(S, "gate: [dense: 8]").elementwise == 6 * 8 + 6 * 8  # the bias, the product


def test_residual_and_do():
    assert report(S, "residual: [dense: 8]").elementwise == 2 * 6 * 8
    items = "residual: {if: cin == 4, body: [dense: 4]}"
    assert report(S, items, items).elementwise == (6 * 4) + (6 * 4 + 6 * 4)  # only the second adds
    assert report(S, "{repeat: 2, do: [dense: 4, dense: 8]}").params == 2 * (dense(8, 4) + dense(4, 8))


def test_share_and_tied():
    assert report(S, "{dense: 8, share: k}", "{dense: 8, share: k}").params == dense(8, 8)
    assert report(S, "{dense: 8, share: k}", "{dense: 8, share: k}").macs == 2 * 6 * 64
    assert report(S, "{repeat: 5, share: true, dense: 8}").params == dense(8, 8)
    assert report(S, "{repeat: 5, share: true, dense: 8}").macs == 5 * 6 * 64
    assert report(S, "{repeat: 2, do: [{dense: 8, share: k}, dense: 8]}").params == dense(8, 8) + 2 * dense(8, 8)
    two = report(S, "{repeat: 3, dense: 8, share: 'k{i % 2}'}")
    assert (two.params, two.macs) == (2 * dense(8, 8), 3 * 6 * 64)
    tied = ("{embedding: [100, 16], share: e}", "dense: {out: 100, tied: e}")
    assert report(T, *tied).params == 1600 + 100
    assert report(T, *tied).macs == 5 * 16 * 100
    named = ("{embedding: [100, 16], name: e}", "dense: {out: 100, tied: e, bias: false}")
    assert report(T, *named).params == 1600
    untied = "defaults: {dense: {tied: e, bias: false}}\n"
    assert report(T + untied, named[0], "dense: {out: 16, tied: none}", "dense: 100").params == 1600 + 16 * 16


def test_keys_of_shared_weights_belong_to_a_block():
    head = S + "blocks: {b: {layers: [{dense: 8, share: k}]}}\n"
    assert report(head, "{dense: 8, share: other}", "b", "b").params == 3 * dense(8, 8)
    with pytest.raises(ParamcountError, match="`k` of `share` in the block `b` is not that of the file"):
        report(head, "{dense: 8, share: k}", "b", "b")
    assert report(head, "{b: , share: both}", "{b: , share: both}").params == dense(8, 8)


def test_each_runs_on_pieces():
    frames = "{pattern: t h w c -> t | h w c, do: [conv: [8, 3], global_pool]}"
    each = report("input: {volume: [5, 8, 8, 4]}\n", f"each: {frames}")
    assert (each.params, each.macs) == (9 * 4 * 8, 5 * 64 * 9 * 4 * 8)
    assert output("input: {volume: [5, 8, 8, 4]}\n", f"each: {frames}") == (5, 8)
    windows = "each: {pattern: (a m) (b n) c -> a b | (m n) c, m: 4, n: 2, do: [dense: cin * length // 4]}"
    assert output(I, windows) == (8, 8, 8)  # cin and length are the piece's: 4 and 8
    along = ("let: {y: [dense: 2]}", "each: {pattern: t d -> t | d, with: {y: t e -> t | e}, do: [concat: [prev, y]]}")
    assert output(S, *along) == (6, 10)


def test_scan_walks_the_first_axis():
    carry = "carry: {h: [4], c: [from: first, dense: 3]}"
    scan = f"scan: {{{carry}, do: [concat: [prev, h, c], dense: 4], next: {{h: prev, c: c}}}}"
    steps = report(S, "let: {first: [global_pool]}", scan)
    assert steps.params == dense(8, 3) + dense(8 + 4 + 3, 4)
    assert steps.macs == 8 * 3 + 6 * 15 * 4
    assert output(S, "scan: {carry: {h: [2]}, do: [dense: cin * length], next: {h: h}}") == (6, 64)  # one step: 8


def test_moe_has_experts():
    mixture = report(S, "moe: {experts: 4, top_k: 2, body: [dense: cin * 2, dense: length + 2]}")
    expert = dense(8, 16) + dense(16, 8)  # cin and length are those of all tokens: 8 and 6
    assert mixture.params == 8 * 4 + 4 * expert
    assert mixture.active_params == 8 * 4 + 2 * expert
    assert mixture.macs == 6 * (8 * 4 + 2 * (8 * 16 + 16 * 8))


def test_training_only_and_frozen():
    items = ("{let: {aux: [dense: 3]}, only: training}", "{dense: 5, frozen: true}", "dense: 2")
    aux = read(S + "outputs: {result: prev, aux: aux}\n", *items)
    assert list(aux.graph().outputs) == ["result"]
    assert list(aux.graph(training=True).outputs) == ["result", "aux"]
    figures = count(aux)
    assert figures.params == dense(8, 3) + dense(8, 5) + dense(5, 2)
    assert figures.trainable == dense(8, 3) + dense(5, 2)
    assert figures.macs == 6 * (8 * 5 + 5 * 2)
    assert [row.path for row in figures.rows if row.training_only]
    assert output(S, "{dense: 3, only: training}") == (6, 8)


def test_an_output_that_when_skipped_is_left_out():
    head = S + "vars: {second: false}\noutputs: {first: prev, second: head, third: late}\n"
    items = ("{let: {head: [dense: 3]}, when: second}", "{dense: 2, name: late, when: second}", "dense: 4")
    assert list(read(head, *items).graph().outputs) == ["first"]
    assert list(read(head, *items, second=True).graph().outputs) == ["first", "second", "third"]


def test_several_inputs_and_outputs():
    head = "inputs: {a: {features: 3}, b: {tokens: [5]}}\noutputs: [y, prev]\n"
    network = read(head, "{from: a, dense: 4, name: y}", "{from: b, embedding: [10, 2]}", "{dense: 7}")
    outputs = network.graph().outputs
    assert {label: value.shape.sizes for label, value in outputs.items()} == {"y": (4,), "prev": (5, 7)}
    assert count(network).params == dense(3, 4) + 20 + dense(2, 7)


def test_cin_and_length_follow_what_arrives():
    assert output(S, "dense: cin + length") == (6, 14)
    assert output(S, "concat: [[dense: cin // 2, dense: 2 * cin], [dense: length]]") == (6, 8 + 6)
    assert output(S, "dense: 3", "residual: [dense: 2 * cin, dense: cin // 2]") == (6, 3)
    assert output(T, "embedding: [2 * length, 4]", "dense: cin") == (5, 4)


# Folding


def folds(head: str, *items: str) -> list[list[list[int]]]:
    return loops(read(head, *items).graph().children)


def test_equal_passes_fold():
    assert folds(F, "{repeat: 5, dense: 10}") == [[[0, 1, 2, 3, 4]]]
    assert folds(F, "{repeat: 5, dense: 4}") == [[[0], [1, 2, 3, 4]]]  # the first has 10 channels
    assert folds(F, "{repeat: 4, dense: '10 if i < 4 else 3'}") == [[[0, 1, 2, 3]]]


def test_stages_fold_after_their_first_unit():
    for spec, most in (("mobilenet_v2", [[0], [1, 2, 3]]), ("resnet", [[0], [1, 2, 3, 4, 5]])):
        found = loops(load(spec, variant="50" if spec == "resnet" else None).graph().children)
        assert most in found


def test_a_body_that_uses_i_folds_to_its_different_passes():
    """26 layers as in Gemma: each sixth attends to all, the others to a window; here a wider layer marks it."""
    item = "{repeat: 26, do: [residual: [dense: '32 if i % 6 == 5 else 16', dense: 8]]}"
    (passes,) = folds(S, item)
    assert sorted(map(len, passes)) == [4, 22]
    one = 22 * (dense(8, 16) + dense(16, 8)) + 4 * (dense(8, 32) + dense(32, 8))
    assert report(S, item).params == one


@pytest.mark.parametrize(
    "items",
    [
        ("{repeat: 3, dense: 8, name: 'x{i}'}", "add: [x0, x1, x2]"),
        ("{repeat: 3, dense: 8, push: s}", "{repeat: 3, add: [prev, [pop: s]]}"),
        ("{repeat: 3, let: {'x{i}': [dense: 8]}}", "add: [x0, x1, x2]"),
    ],
)
def test_what_outlives_a_pass_keeps_it_from_folding(items):
    assert folds(S, *items)[0] == [[0], [1], [2]]
    assert report(S, *items).params == 3 * dense(8, 8)


def test_names_from_outside_and_shared_weights_do_not_hinder_folding():
    assert folds(S, "{name: x}", "{repeat: 3, add: [prev, [from: x, {dense: 8, share: k}]]}") == [[[0, 1, 2]]]


def test_a_folded_repeat_in_a_repeat_is_what_its_passes_are():
    """Widths that depend on both indices, against the same passes written out."""
    looped = (
        "{for: a, in: 5, do: [{for: b, in: 4, do: [dense: '4 + (a + b) % 3 + a // 3', dense: 8 + b // 2]}, dense: 8]}"
    )
    width, weights = 8, 0
    for a in range(5):
        for b in range(4):
            for out in (4 + (a + b) % 3 + a // 3, 8 + b // 2):
                weights, width = weights + width * out, out
        weights, width = weights + width * 8, 8
    assert report(S, looped).weights == weights
    equal = "{for: a, in: 6, do: [{for: b, in: 4, dense: '8 + (a - a) + b % 2'}, dense: 8]}"
    assert folds(S, equal)[0] == [[0, 1, 2, 3, 4, 5]]
    assert report(S, equal).weights == 6 * (8 * 8 + 8 * 9 + 9 * 8 + 8 * 9 + 9 * 8)
    outer = "{repeat: 4, do: [{for: n, in: [i, 2 * i], dense: 4 + n}, dense: 8]}"
    assert report(S, outer).weights == sum(8 * (4 + i) + (4 + i) * (4 + 2 * i) + (4 + 2 * i) * 8 for i in range(4))


def test_paths_of_rows():
    items = ("{dense: 8, name: stem}", "{repeat: 3, residual: [dense: 8]}", "dense: 3", "add: [[relu], prev]")
    paths = [row.path for row in report(S, *items).rows if row.leaf]
    assert paths == ["stem", "residual0[0:3].dense0", "residual0[0:3].add", "dense0", "add0.0.relu0", "add0.add"]


def test_rows_differ_where_only_an_inner_first_pass_does():
    """The inner `i` hides that of the rows: 1×1 convolutions of 8 channels on 8×8 positions twice, on 4×4 twice."""
    text = """
    input: {image: [8, 8, 8]}
    layers:
      - {for: [c, s], in: [[8, 1], [8, 2]], repeat: 2, conv: {out: c, kernel: 1, stride: s if i == 0 else 1}}
    """
    assert count(loads(text)).macs == 2 * 64 * 64 + 2 * 16 * 64
