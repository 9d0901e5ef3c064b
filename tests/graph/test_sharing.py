"""Weights that are shared across `moe`, and shared parts of what is shared: counted as JAX holds them, or refused."""

import pytest

import paramcount as pc
from paramcount.errors import ParamcountError
from paramcount.graph.tree import leaves

SEQUENCE = "input: {sequence: [6, 8]}\n"
DENSE = 8 * 8 + 8


def moe(body, top_k=2):
    return f"{{moe: {{experts: 4, top_k: {top_k}, body: [{body}]}}}}"


@pytest.mark.parametrize(
    "layers",
    [
        f"[{{dense: 8, share: k}}, {moe('{dense: 8, share: k}')}]",
        f"[{moe('{dense: 8, share: k}')}, {{dense: 8, share: k}}]",
        f"[{moe('{dense: 8, share: k}, ' + moe('{dense: 8, share: k}'))}]",
    ],
)
def test_experts_share_with_none_outside(layers):
    with pytest.raises(ParamcountError, match="experts") as caught:
        pc.loads(SEQUENCE + f"layers: {layers}")
    assert caught.value.position is not None


def test_experts_are_tied_to_none_outside():
    table = "{embedding: [11, 8], name: table}"
    body = "{dense: {out: 11, tied: table}}, {dense: 8}"
    with pytest.raises(ParamcountError, match="tied to `table`, which stands outside the `moe`"):
        pc.loads(f"input: {{tokens: [5]}}\nlayers: [{table}, {moe(body)}]")


def test_experts_may_share_with_as_many_others():
    network = pc.loads(SEQUENCE + f"layers: [{moe('{dense: 8, share: k}')}, {moe('{dense: 8, share: k}, relu')}]")
    report = pc.count(network)
    assert report.params == 2 * 8 * 4 + 4 * DENSE
    assert report.active_params == 2 * 8 * 4 + 2 * DENSE
    pytest.importorskip("jax")
    verification = pc.verify(network)
    assert verification.ok, str(verification)


@pytest.mark.parametrize(
    "layers",
    [
        "[{do: [{dense: 8}], share: a}, {do: [{dense: 8, share: b}], share: a}, {dense: 8, share: b}]",
        "[{dense: 8, share: b}, {do: [{dense: 8, share: b}], share: a}, {do: [{dense: 8}], share: a}]",
    ],
)
def test_a_part_has_one_home(layers):
    with pytest.raises(ParamcountError, match="a part of what is shared as `a` has a key of its own"):
        pc.loads(SEQUENCE + f"layers: {layers}")


def test_parts_may_have_the_same_key_in_all_places():
    item = "{do: [{repeat: 2, dense: 8, share: part}, relu, {dense: 8}], share: whole}"
    network = pc.loads(SEQUENCE + f"layers: [{item}, {item}, {{dense: 8, share: part}}]")
    assert pc.count(network).params == 2 * DENSE
    pytest.importorskip("jax")
    verification = pc.verify(network)
    assert verification.ok, str(verification)


@pytest.mark.parametrize(
    "body", ["{conv: [8, 3, 2]}", "{global_pool}", "flatten", "{pick: 0}, {dense: 8}", "{slice: 3}"]
)
def test_a_body_of_moe_keeps_the_tokens(body):
    with pytest.raises(ParamcountError, match="the body of `moe` makes"):
        pc.loads(SEQUENCE + f"layers: [{moe(body)}]")


def test_pieces_inside_moe():
    network = pc.loads(SEQUENCE + f"layers: [{moe('{each: {pattern: t d -> t | 1 d, do: [{dense: 8}]}}')}]")
    assert pc.count(network).macs == 6 * 8 * 4 + 2 * 6 * 8 * 8
    pytest.importorskip("jax")
    verification = pc.verify(network)
    assert verification.ok, str(verification)


@pytest.mark.parametrize("frozen", [0, 1])
def test_shared_weights_are_frozen_everywhere_or_nowhere(frozen):
    uses = ["{dense: 8, share: k}", "{dense: 8, share: k}"]
    uses[frozen] = "{dense: 8, share: k, frozen: true}"
    with pytest.raises(ParamcountError, match="frozen in one place and not in the other"):
        pc.loads(f"{{input: {{features: 8}}, layers: [{', '.join(uses)}]}}")
    both = "{dense: 8, share: k, frozen: true}"
    report = pc.count(pc.loads(f"{{input: {{features: 8}}, layers: [{both}, {both}]}}"))
    assert (report.params, report.trainable) == (72, 0)


def test_a_table_in_a_loop_is_tied_under_the_loops_key():
    embedding = pc.With(pc.Repeat(1, [pc.Embedding(11, 8)]), share="t")
    network = pc.Network([embedding, pc.Dense(11, bias=False, tied="t")], input={"tokens": [5]})
    assert pc.count(network).params == 11 * 8
    first, last = leaves(network.graph())
    assert last.tied == first.owner == "embedding0[0]"


def warned(layers, rest="", features=8):
    """What is said of keys, with its place."""
    network = pc.loads(f"{{input: {{features: {features}}}, {rest}layers: {layers}}}", file="net.yaml")
    return [each.removeprefix("net.yaml:1:").partition(": the key ")[2] for each in network.warnings]


ALONE = "it shares nothing"
BLOCK = "blocks: {b: {layers: [{dense: 8, share: k}]}}, "


def test_a_key_that_is_used_once_is_a_warning_with_the_key_that_was_meant():
    two = [f"{{dense: 8, share: {key}}}" for key in ("head", "haed")]
    assert warned(f"[{two[0]}]") == [f"`head` of `share` is used once: {ALONE}"]
    assert warned(f"[{', '.join(two)}]") == ["`haed` of `share` is used once: did you mean `head`?"]
    assert warned(f"[{', '.join(two[::-1])}]") == ["`head` of `share` is used once: did you mean `haed`?"]
    assert warned(f"[{', '.join([two[0], *two])}]") == ["`haed` of `share` is used once: did you mean `head`?"]
    assert warned(f"[{', '.join([*two, *two])}]") == []


def test_a_key_in_a_loop_or_beside_what_when_skips_or_with_a_tie_shares():
    assert warned("[{repeat: 2, dense: 8, share: k}]") == []
    assert warned("[{for: n, in: [8, 8], do: [{dense: n, share: k}]}]") == []
    assert warned("[{for: n, in: 4, dense: 8, share: 'k{n % 2}'}]") == []
    assert warned("[{dense: 8, share: k}, {dense: 8, share: k, when: cin > 8}]") == []
    tied = "{input: {tokens: [5]}, layers: [{embedding: [11, 8], share: k}, dense: {out: 11, tied: k, bias: false}]}"
    assert pc.loads(tied).warnings == []


def test_a_key_of_a_block_is_not_that_of_the_file():
    """Shared they would be 1000 · 1000 + 1000 once; a key beside the uses of the block says so."""
    rest = "blocks: {b: {layers: [{dense: 1000, share: k}]}}, "
    spec = f"{{input: {{features: 1000}}, {rest}layers: [{{dense: 1000, share: k}}, b]}}"
    with pytest.raises(ParamcountError) as caught:
        pc.loads(spec, file="net.yaml")
    assert str(caught.value) == (
        "net.yaml:1:70: the key `k` of `share` in the block `b` is not that of the file, at net.yaml:1:107\n"
        "hint: a block shares within itself alone: share the whole block by a key beside its uses, "
        "or choose another key"
    )
    assert pc.count(pc.loads(spec.replace("{dense: 1000, share: k}, b]", "{dense: 1000}, b]"))).params == 2_002_000
    shared = spec.replace("{dense: 1000, share: k}, b]", "{b, share: whole}, {b, share: whole}]")
    assert pc.count(pc.loads(shared)).params == 1_001_000
    assert [each.split(": ")[-1] for each in pc.loads(shared).warnings] == [
        "each use of a block has weights of its own; `share` beside every use shares them"
    ]


def test_a_key_of_an_included_block_is_not_that_of_the_file(tmp_path):
    (tmp_path / "parts.yaml").write_text("blocks: {b: {layers: [{dense: 8, share: k}, {dense: 8, share: k}]}}")
    spec = tmp_path / "net.yaml"
    spec.write_text("{input: {features: 8}, include: [parts.yaml], layers: [{dense: 8, share: k}, b]}")
    with pytest.raises(ParamcountError, match="in the block `b` is not that of the file"):
        pc.load(spec)
    spec.write_text("{input: {features: 8}, include: [parts.yaml], layers: [{dense: 8, share: own}, b]}")
    assert pc.count(pc.load(spec)).params == 2 * (8 * 8 + 8)


def test_a_key_within_one_block_shares_there():
    rest = "blocks: {b: {layers: [{dense: 8, share: k}, {dense: 8, share: k}]}}, "
    assert warned("[b, b]", rest) == []
    assert warned("[b]", BLOCK) == [
        "`k` of `share` in the block `b` is used once: each use of a block has weights of its own; `share` beside "
        "every use shares them"
    ]


def of_python(items, input=10):
    report = pc.count(items, input)
    return report.params, list(report.warnings)


def test_keys_in_python():
    with_key = [pc.With(pc.Dense(10), share=key) for key in ("head", "haed", "head")]
    assert of_python(with_key[::2]) == (110, [])
    assert of_python(with_key) == (220, ["the key `haed` of `share` is used once: did you mean `head`?"])
    assert of_python([pc.Repeat(3, with_key[:1])]) == (110, [])
    assert of_python([pc.With(pc.Dense(10), share="k")])[1] == [f"the key `k` of `share` is used once: {ALONE}"]
    table = pc.With(pc.Embedding(11, 8), share="table")
    assert of_python([table, pc.Dense(11, bias=False, tied="table")], {"tokens": [5]}) == (88, [])


def twice(first, second, kind="dense"):
    """The warning of an object that stands in two places."""
    return [
        f"one object, of `{kind}`, stands at `{first}` and at `{second}`, and has weights of its own at each: "
        "wrap it as `With(item, share=KEY)` to share them, or make an object for each place"
    ]


class Unit(pc.Block):
    kind = "unit"
    inner = pc.Dense(10)

    def expand(self, x):
        return [self.inner, pc.Relu()]


def test_one_object_in_two_places_has_weights_of_its_own_and_that_is_said():
    """10 · 10 + 10 at each; PyTorch and Keras count one object once."""
    dense, other = pc.Dense(10), pc.Dense(10)
    assert dense == other  # known by identity
    assert of_python([dense, dense]) == (220, twice("dense0", "dense1"))
    assert of_python([dense] * 4) == (440, twice("dense0", "dense1"))
    assert of_python([dense, other]) == (220, [])
    branches = [pc.Add([[dense], [dense]])]
    assert of_python(branches) == (220, twice("add0.0.dense0", "add0.1.dense0"))
    residual = pc.Residual([dense])
    assert of_python([residual, pc.Relu(), residual]) == (220, twice("residual0", "residual1", "residual"))
    assert of_python([pc.Repeat(3, [dense, dense])]) == (660, twice("do0[0].dense0", "do0[0].dense1"))
    unit = Unit()
    assert of_python([unit, unit]) == (220, twice("unit0", "unit1", "unit"))


def test_one_object_that_one_list_holds_once_or_that_has_no_weights_of_its_own_is_not_said():
    dense, relu = pc.Dense(10), pc.Relu()
    assert of_python([relu, dense, relu]) == (110, [])
    assert of_python([pc.Repeat(3, [pc.Residual([dense])])]) == (330, [])
    assert of_python([pc.Repeat(3, [pc.Gate(dense)])]) == (330, [])
    assert of_python([pc.Repeat(3, [dense], share=True)]) == (110, [])
    assert of_python([pc.Repeat(2, [Unit(), pc.Repeat(2, [Unit()])])]) == (660, [])
    assert of_python([pc.With(dense, share="k"), pc.With(dense, share="k")]) == (110, [])
    shared = pc.With(dense, share="k")
    assert of_python([shared, shared]) == (110, [])
    norm = pc.BatchNorm()
    assert of_python([pc.Dense(10, norm=norm), pc.Dense(10, norm=norm)]) == (260, [])


@pytest.mark.parametrize(
    ("items", "params", "macs"),
    [
        ("{repeat: 3, share: true, dense: 8, name: 'x{i}'}, {add: [x0, x1, x2]}", DENSE, 3 * 64),
        ("{repeat: 3, share: true, do: [relu, {dense: 8, name: 'x{i}'}]}, {add: [x0, x1, x2]}", DENSE, 3 * 64),
        ("{repeat: 2, share: true, dense: 8, push: s}, {add: [[pop: s], [pop: s]]}", DENSE, 2 * 64),
        ("{repeat: 2, share: true, dense: {out: 8, activation: relu if i == 0 else gelu}}", DENSE, 2 * 64),
        ("{repeat: 2, do: [{repeat: 3, share: true, dense: 8, name: 'x{i}'}, {add: [x0, x1, x2]}]}", 2 * DENSE, 6 * 64),
        (
            "{repeat: 2, share: true, do: [{repeat: 3, share: true, dense: 8, name: 'x{i}'}, {add: [x0, x1, x2]}]}",
            DENSE,
            6 * 64,
        ),
        (
            "{for: s, in: 2, repeat: 2, share: true, dense: 8, name: 'x{s}{i}'}, {add: [x00, x01, x11]}",
            2 * DENSE,
            4 * 64,
        ),
    ],
)
def test_shared_iterations_that_are_not_one_body(items, params, macs):
    """They have one set of weights: what differs is a name that each gives, a stack, or something without weights."""
    network = pc.loads(f"{{input: {{features: 8}}, layers: [{items}]}}")
    report = pc.count(network)
    assert (report.params, report.macs) == (params, macs)
    assert pc.verify(network).ok and pc.verify(network, train=True).ok
    arrays, _ = network.init()
    assert sum(array.size for tensors in arrays.values() for array in tensors.values()) == params


def test_shared_iterations_with_other_weights_are_refused():
    with pytest.raises(ParamcountError, match="`share: true` needs equal iterations, and the weights of iteration 1"):
        pc.loads("{input: {features: 8}, layers: [{repeat: 2, share: true, dense: 8 + i, name: 'x{i}'}]}")
    with pytest.raises(ParamcountError, match="`share: true` needs equal iterations, and the weights of iteration 1"):
        pc.loads("{input: {features: 8}, layers: [{repeat: 2, share: true, dense: 8, frozen: i == 0}]}")
