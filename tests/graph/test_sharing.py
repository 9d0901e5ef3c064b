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


@pytest.mark.parametrize(
    ("items", "params", "macs"),
    [
        ("{repeat: 3, share: true, dense: 8, name: 'x{i}'}, {add: [x0, x1, x2]}", DENSE, 3 * 64),
        ("{repeat: 3, share: true, do: [{dense: 8, name: 'x{i}'}, relu]}, {add: [x0, x1, x2]}", DENSE, 3 * 64),
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
