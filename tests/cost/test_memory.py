"""Predicted bytes, each worked out by hand: what is alive in inference, and what training keeps."""

import pytest

import paramcount as pc
from paramcount.cost.memory import memory_of

MLP = pc.Network([pc.Dense(512, activation="relu"), pc.Dense(10)], input=784)
PARAMS = 784 * 512 + 512 + 512 * 10 + 10

REUSED = """\
input: {features: 1024}
layers:
  - repeat: 100
    share: true
    dense: 1024
"""


def test_inference_of_two_layers():
    found = memory_of(MLP, batch=32)
    assert (found.params, found.gradients, found.optimizer, found.buffers) == (4 * PARAMS, 0, 0, 0)
    assert (found.inputs, found.outputs, found.loss) == (4 * 32 * 784, 4 * 32 * 10, 0)
    assert found.values == 4 * 32 * (512 + 512)  # the activation's input and output
    assert found.total == 4 * PARAMS + 4 * 32 * (784 + 10 + 1024)


@pytest.mark.parametrize(("optimizer", "states"), [("sgd", 0), ("momentum", 1), ("adam", 2)])
def test_training_of_two_layers(optimizer, states):
    found = memory_of(MLP, batch=32, train=True, optimizer=optimizer)
    assert (found.params, found.gradients, found.optimizer) == (4 * PARAMS, 4 * PARAMS, 4 * PARAMS * states)
    assert found.kept == 4 * 32 * (784 + 512 + 512 + 10)
    assert found.loss == 4 * 32 * 2 * 10
    assert found.total == (2 + states) * 4 * PARAMS + 4 * 32 * (784 + 512 + 512 + 10 + 20)


def test_a_layer_that_is_used_100_times_keeps_101_tensors():
    found = memory_of(pc.loads(REUSED), batch=10240, train=True)
    assert found.kept == 101 * 10240 * 1024 * 4 == 4_236_247_040
    assert found.params == (1024 * 1024 + 1024) * 4 == 4_198_400


def test_the_same_of_a_sequence_of_one_example():
    network = pc.Network([pc.Repeat(100, [pc.Dense(1024)], share=True)], input=(10240, 1024))
    assert memory_of(network, train=True).kept == 4_236_247_040
    assert memory_of(network).values == 2 * 10240 * 1024 * 4  # one pass reads a tensor and makes the next


def values(items, input, **options):
    return memory_of(pc.Network(items, input=input), **options).values // 4


def test_what_ends_makes_room():
    items = [pc.Dense(10), pc.Dense(30), pc.Dense(5), pc.Dense(20), pc.Dense(1)]
    assert values(items, 7) == 10 + 30
    assert values(items, 7, train=True) == 10 + 30 + 5 + 20


def test_a_skip_lives_until_it_is_added():
    body = [pc.Dense(50), pc.Dense(8)]
    assert values([pc.Dense(8), pc.Residual(body), pc.Dense(1)], 4) == 8 + 50 + 8
    assert values([pc.Dense(8), pc.Do(body), pc.Dense(1)], 4) == 8 + 50


def test_views_are_free():
    items = [pc.Conv(8, 3), pc.Flatten(), pc.Reshape([16, 8]), pc.Identity(), pc.Dense(1)]
    assert values(items, (4, 4, 2), train=True) == 4 * 4 * 8
    # a part of a tensor hands it on, and is an output of its own
    found = memory_of(pc.Network([pc.Dense(8), pc.Pick(0)], input=(5, 8)))
    assert (found.values, found.outputs) == (4 * 5 * 8, 4 * 8)


def test_what_a_norm_scales_is_kept_in_training():
    items = [pc.Dense(8), pc.LayerNorm(), pc.Dense(1)]
    assert values(items, 4) == 8 + 8
    assert values(items, 4, train=True) == 8 + 8 + 8


def test_scores_and_their_softmax_are_made_within_attention():
    let = pc.Let({name: [pc.Dense(12), pc.Rearrange("t (h d) -> t h d", {"h": 3})] for name in "qkv"})
    items = [let, pc.Attend(query="q", key="k", value="v"), pc.Flatten(), pc.Dense(1)]
    projections, scores = 3 * 7 * 12, 3 * 7 * 7
    assert values(items, (7, 5)) == projections + 7 * 12 + 2 * scores
    assert values(items, (7, 5), train=True) == projections + 7 * 12 + 2 * scores


def test_gates_are_made_within_a_recurrence():
    # outputs, state and cell; gates of all steps, and what the next steps' gates are made of
    assert values([pc.Lstm(6), pc.Dense(1)], (7, 4), train=True) == 7 * 6 + 6 + 6 + 2 * 7 * 24


def test_parameters_are_there_once_for_all_examples():
    items = [pc.Add(["prev", [pc.Parameter([8]), pc.Dense(8)]]), pc.Dense(1)]
    assert values(items, 8, train=True, batch=10) == 8 + 10 * 8  # the dense layer's, and the sum


def test_pieces_are_all_there_at_once():
    items = [pc.Each("t d -> t | d", [pc.Dense(16), pc.Dense(3)]), pc.Dense(1)]
    assert values(items, (5, 8), batch=2) == 2 * 5 * (16 + 3)


def test_steps_come_one_by_one_in_inference():
    body = [pc.Concat(["prev", "h"]), pc.Dense(6)]
    items = [pc.Scan(carry={"h": [6]}, body=body, next={"h": "prev"}), pc.Dense(1)]
    assert values(items, (7, 4), train=True) == 6 + 7 * (10 + 6)  # the first state, and what the steps make
    assert values(items, (7, 4)) == 6 + 7 * 6  # one step's result, beside those of all


def test_experts_weights_are_gathered_for_each_token():
    items = [pc.Moe(experts=4, top_k=2, body=[pc.Dense(16, bias=False), pc.Dense(8, bias=False)])]
    gathered = 5 * 2 * (8 * 16 + 16 * 8)
    chosen = 5 * 2  # by their weights in the sum
    assert values(items, (5, 8)) == chosen + gathered + 5 * 2 * (16 + 8)
    assert values(items, (5, 8), train=True) == 2 * chosen + gathered + 5 * 2 * (16 + 8)  # and by their numbers


def test_what_only_exists_in_training_takes_nothing_before():
    items = [pc.With(pc.Dense(100), only="training", name="side"), pc.Dense(1)]
    network = pc.Network(items, input=4, outputs={"output": "prev"})
    assert memory_of(network).values == 0


def test_frozen_parameters_have_no_gradient():
    network = pc.Network([pc.With(pc.Dense(8, bias=False), frozen=True), pc.Dense(2, bias=False)], input=4)
    found = memory_of(network, train=True, optimizer="momentum")
    assert (found.params, found.gradients, found.optimizer) == (4 * (32 + 16), 4 * 16, 4 * 16)


@pytest.mark.parametrize("batch", [0, True, 2.5, "8"])
def test_a_batch_is_a_whole_number(batch):
    with pytest.raises(pc.ArgumentError, match=r"batch must be a whole number of at least 1, not "):
        memory_of(MLP, batch=batch)


def test_an_unknown_optimizer():
    with pytest.raises(pc.ArgumentError, match="unknown optimizer `adamw`"):
        memory_of(MLP, train=True, optimizer="adamw")
