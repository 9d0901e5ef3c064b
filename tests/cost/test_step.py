"""What a training step costs, by hand: which contractions have a gradient, and what is recomputed and updated."""

import json

import pytest

from paramcount.cli.main import main
from paramcount.cost.count import count
from paramcount.errors import ArgumentError
from paramcount.graph.bodies import Each, Moe, Scan
from paramcount.graph.items import From, Let, Residual
from paramcount.graph.loops import Repeat
from paramcount.graph.modifiers import With
from paramcount.graph.network import Network
from paramcount.language.load import load, shipped_specs
from paramcount.layers.activation import Relu
from paramcount.layers.concat import Concat
from paramcount.layers.conv import Conv
from paramcount.layers.dense import Dense
from paramcount.layers.einsum import Einsum
from paramcount.layers.embedding import Embedding
from paramcount.layers.layer import Contraction, Shape
from paramcount.layers.merge import Add
from paramcount.layers.parameter import Parameter
from paramcount.numbers.arithmetic import Column


def backward(items, input, freeze=(), **names):
    """The backward MACs of each leaf that does work, and that they sum to the total."""
    report = count(Network(items, input=input, **names), train=True, freeze=freeze)
    leaves = [row for row in report.rows if row.leaf]
    assert sum(row.backward_macs for row in leaves) == report.backward_macs
    assert report.train_macs == report.macs + report.backward_macs
    return [row.backward_macs for row in leaves if row.macs]


def frozen(item):
    return With(item, frozen=True)


def test_no_gradient_goes_into_the_data():
    assert backward([Dense(5), Relu(), Dense(3)], 7) == [35, 2 * 15]
    assert backward([Conv(4, 3), Conv(4, 3)], (8, 8, 3)) == [108 * 64, 2 * 144 * 64]


@pytest.mark.parametrize("name, variant, forward, step", [
    ("mobilenet_v2", None, 300774272, 891484800),  # three times the forward less the stem's 10,838,016
    ("resnet", "50", 4089184256, 12149538816),  # less 118,013,952
])  # fmt: skip
def test_published_networks(name, variant, forward, step):
    report = count(load(name, variant), train=True)
    stem = next(row for row in report.rows if row.macs and row.leaf)
    assert (report.macs, report.train_macs, report.train_flops) == (forward, step, 2 * step)
    assert step == 3 * forward - stem.macs


def test_what_is_frozen():
    assert backward([frozen(Dense(5)), Dense(3), frozen(Dense(2)), Relu()], 7) == [0, 15, 6]
    assert backward([frozen(Dense(5))], 7) == [0]
    assert backward([Dense(5), frozen(Dense(5)), Dense(5)], 5) == [25, 25, 50]
    assert backward([Add(["prev", [Parameter([5])]]), frozen(Dense(5))], 5) == [25]  # a learned addend of the input
    lora = Add([[frozen(Dense(8))], [Dense(2, bias=False), Dense(8, bias=False)]])
    assert backward([lora, Relu(), lora], 6) == [0, 12, 2 * 16, 64, 2 * 16, 2 * 16]


def test_shared_and_tied_tensors_follow_their_owner():
    twice = [With(Dense(6), share="a"), Relu(), With(Dense(6), share="a")]
    assert backward(twice, 6) == [36, 72]
    both = [frozen(With(Dense(6), share="a")), Relu(), frozen(With(Dense(6), share="a"))]
    assert backward(both, 6) == [0, 0]
    tied = Dense(11, tied="e")
    assert backward([With(Embedding(11, 6), name="e"), Dense(6), tied], {"tokens": [5]}) == [2 * 180, 2 * 330]
    # The frozen table gives the matrix, and only the bias of the last is trained.
    table = With(Embedding(11, 6), name="e", frozen=True)
    assert backward([table, tied], {"tokens": [5]}) == [0]
    assert backward([table, Dense(6), tied], {"tokens": [5]}) == [180, 330]
    # A gain makes the matrix depend on training.
    assert backward([table, Dense(11, tied="e", weight_norm=True)], {"tokens": [5]}) == [330]


def test_passes_of_a_loop_that_differ_in_what_arrives():
    assert backward([Repeat(4, [Dense(6)])], (5, 6)) == [180 * (1 + 2 * 3)]
    assert backward([Dense(6), Repeat(4, [Dense(6)])], (5, 6)) == [180, 180 * 8]
    assert backward([Repeat(3, [Repeat(2, [Dense(6)])])], (5, 6)) == [180 * (1 + 2 * 5)]
    assert backward([Repeat(3, [Dense(6)], share=True)], (5, 6)) == [180 * (1 + 2 * 2)]
    assert backward([Repeat(3, [Residual([Relu()])]), Dense(6)], (5, 6)) == [180]
    deep = [Dense(2)]
    for _ in range(12):
        deep = [Repeat(2, deep)]
    assert backward(deep, 2) == [4 * (1 + 2 * (2**12 - 1))]


def test_passes_of_a_long_loop_are_not_unrolled():
    report = count(Network([Repeat(20_000, [Dense(6)])], input=6), train=True)
    assert (len(report.entries), report.backward_macs) == (1, 36 * (1 + 2 * 19_999))


def test_pieces_steps_and_experts():
    assert backward([Each("t c -> t | c", [Dense(7), Dense(6)])], (5, 6)) == [5 * 42, 2 * 5 * 42]
    # Pieces of data beside a value that is trained: only that one has a gradient.
    pairs = Each("t c -> t | c", [Einsum("c, c ->", paths=["prev", "w"])])
    assert backward([Let({"w": [Parameter([6])]}), pairs], (5, 6)) == [30]
    # What is carried depends on the weights from the second step on; all steps are one program.
    cell = [Add([[Dense(8)], [From("h"), Dense(8)]])]
    assert backward([Scan({"h": [8]}, cell, {"h": "prev"})], (5, 6)) == [5 * 48, 2 * 5 * 64]
    # What a step computes matters through the steps after it.
    late = Scan({"h": [6]}, [Let({"n": [Dense(6)]}), From("h")], {"h": "n"})
    assert backward([late, Dense(2)], (5, 6)) == [5 * 36, 2 * 60]
    assert backward([frozen(Scan({"h": [8]}, cell, {"h": "prev"})), Dense(2)], (5, 6)) == [0, 0, 80]
    # Two of four experts for each of five tokens; the router first.
    experts = [Moe(4, 2, [Dense(16), Dense(6)])]
    assert backward(experts, (5, 6)) == [120, 5 * 2 * 96, 2 * 5 * 2 * 96]
    assert backward([Dense(6), frozen(experts[0])], (5, 6)) == [180, 120, 960, 960]


def test_operands_of_contractions():
    items = [With(Dense(6), name="x"), Let({"q": [Dense(4)], "k": [frozen(Dense(4))]})]
    einsum = Einsum("t d, s d, s e -> t e", paths=["q", "k", "input"])
    network = Network([From("input"), *items, einsum], inputs={"input": (5, 6)})
    leaves = [row for row in count(network, train=True).rows if row.kind == "einsum"]
    assert [row.backward_macs for row in leaves] == [2 * 100 + 150]  # q · k, then that × data
    shapes = Shape.of(5, 4), Shape.of(5, 4), Shape.of(5, 6)
    assert einsum.contractions(*shapes) == (Contraction(100, ((0,), (1,))), Contraction(150, ((0, 1), (2,))))
    assert Dense(3, weight_norm=True).contractions(Shape.of(4)) == (Contraction(12, (("weight", "gain"), (0,))),)
    assert Relu().contractions(Shape.of(4)) == ()


def test_whatever_reaches_no_output_has_no_gradient():
    lost = Let({"_lost": [Dense(3)]})
    assert backward([Dense(6), lost, Dense(2)], 6) == [36, 0, 24]
    # Of three passes that begin at the data again, the last one's result is used.
    again = Repeat(3, [From("data"), Dense(6)])
    assert backward([With(Relu(), name="data"), Dense(6), again], 6) == [0, 36]


def test_several_inputs_and_outputs_of_training():
    auxiliary = With(Let({"auxiliary": [Dense(3)]}), only="training")
    outputs = {"main": "prev", "auxiliary": "auxiliary"}
    assert backward([frozen(Dense(6)), auxiliary, Dense(2)], 6, outputs=outputs) == [0, 18, 12]
    items = [From("a"), Dense(4), Concat(["prev", "b"]), Dense(2)]
    report = count(Network(items, inputs={"a": 3, "b": 5}), train=True)
    assert report.backward_macs == 12 + 2 * 18


def test_freezing_by_paths():
    items = [Dense(5, activation="relu"), Repeat(4, [Dense(5)]), With(Dense(3), name="head")]
    assert backward(items, 5) == [25, 4 * 50, 30]
    assert backward(items, 5, ["dense0"]) == [0, 25 + 3 * 50, 30]
    assert backward(items, 5, ["dense*"]) == [0, 0, 15]
    assert backward(items, 5, ["dense1", "dense0.dense?"]) == [0, 0, 15]
    assert backward(items, 5, ["head"]) == [25, 4 * 50, 15]
    # Passes one by one.
    assert backward(items, 5, ["dense0", "dense1[0]", "dense1[1]"]) == [0, 0, 0, 25, 50, 30]
    assert backward(items, 5, ["dense1[0:4]"]) == [25, 4 * 25, 30]
    network = Network(items, input=5)
    report = count(network, train=True, freeze=["dense1[2]"])
    assert report.trainable == report.params - 30
    assert count(network, train=True).trainable == report.params  # the network stays as it was
    with pytest.raises(ArgumentError, match="no row to freeze is called `dense9`"):
        count(network, train=True, freeze=["dense0", "dense9"])


def test_recomputed_are_the_passes_that_a_gradient_goes_through():
    items = [Dense(6), Repeat(3, [Repeat(2, [Dense(6)]), Relu()]), Dense(2)]
    report = count(items, 6, train=True, remat=True)
    assert report.recomputed_macs == 6 * 36  # once, though loops are inside each other
    assert report.train_macs == report.macs + report.backward_macs + 6 * 36
    assert [row.recomputed_macs for row in report.rows if row.leaf and row.macs] == [0, 216, 0]
    assert count(items, 6, train=True).recomputed_macs == 0
    first = count([frozen(Repeat(3, [Dense(6)])), Repeat(2, [Dense(6)])], 6, train=True, remat=True)
    assert first.recomputed_macs == 2 * 36
    # A pass is computed again with all that is in it, frozen loops too.
    side = Add(["prev", [From("data"), frozen(Repeat(3, [Dense(6)]))]])
    whole = count([With(Relu(), name="data"), Repeat(2, [side, Dense(6)])], 6, train=True, remat=True)
    assert whole.recomputed_macs == 2 * (3 * 36 + 36)


@pytest.mark.parametrize("optimizer, operations", [("sgd", 2), ("momentum", 4), ("adam", 14)])
def test_the_optimizer_works_once_for_each_trainable_parameter(optimizer, operations):
    report = count([frozen(Dense(5)), Dense(3)], 7, train=True, optimizer=optimizer, batch=32)
    assert report.optimizer_elementwise == operations * 18
    assert report.backward_macs == 32 * 15


def test_the_loss_of_every_position():
    step = count([Dense(10)], (25, 64), train=True, batch=2).step
    assert step.loss_elementwise == 2 * 25 * (7 * 10 + 1)
    assert count([Einsum("d, d ->", paths=["prev", "prev"])], 4, train=True).step.loss_elementwise == 8


def test_a_sweep_counts_training_too():
    together = count([Repeat(3, [Dense(6)])], (Column.whole("size", [4, 9]), 6), train=True, remat=True)
    for index, size in enumerate([4, 9]):
        alone = count([Repeat(3, [Dense(6)])], (size, 6), train=True, remat=True)
        for name in ("backward_macs", "recomputed_macs", "train_macs"):
            assert getattr(together, name)[index] == getattr(alone, name)


def test_figures_of_training_are_asked_for():
    report = count([Dense(5)], 7)
    with pytest.raises(ArgumentError, match="backward_macs is a figure of training"):
        report.backward_macs  # noqa: B018
    for wrong in ({"freeze": ["dense0"]}, {"remat": True}, {"optimizer": "sgd"}):
        with pytest.raises(ArgumentError, match="are for training"):
            count([Dense(5)], 7, **wrong)
    with pytest.raises(ArgumentError, match="unknown optimizer `lion`"):
        count([Dense(5)], 7, train=True, optimizer="lion")
    with pytest.raises(ArgumentError, match="list of patterns"):
        count([Dense(5)], 7, train=True, freeze="dense0")


@pytest.mark.parametrize("name", shipped_specs())
def test_the_leaves_sum_to_the_totals(name):
    report = count(load(name), train=True, remat=True, optimizer="adam")
    leaves = [row.training for row in report.rows if row.leaf]
    assert tuple(map(sum, zip(*leaves, strict=True))) == report.training
    outermost = [row.training for row in report.rows if row.depth == 1]
    assert tuple(map(sum, zip(*outermost, strict=True))) == report.training


def test_json_has_the_figures_of_training_only_when_asked(capsys):
    assert main(["mlp", "--format", "json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert main(["mlp", "--format", "json", "--train", "--optimizer", "momentum"]) == 0
    trained = json.loads(capsys.readouterr().out)
    new = {"backward_macs", "recomputed_macs", "train_macs", "train_flops", "optimizer_elementwise"}
    assert trained["totals"].keys() - plain["totals"].keys() == new | {"loss_elementwise"}
    assert trained["rows"][0].keys() - plain["rows"][0].keys() == new
    assert {name: trained["totals"][name] for name in plain["totals"]} == plain["totals"]
    assert trained["totals"]["optimizer_elementwise"] == 4 * trained["totals"]["trainable"]


def test_the_table_shows_forward_backward_and_step(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["mlp", "--train", "--freeze", "dense0"]) == 0
    shown = capsys.readouterr().out
    assert "MACs  backward    step" in shown and "recomputed" not in shown and "frozen" in shown
    assert "training: backward = MACs × operands that depend on a trainable parameter" in shown
    assert "expect: equal" in shown
    assert main(["resnet", "--train", "--remat"]) == 0
    assert "recomputed" in capsys.readouterr().out
    assert main(["mlp", "--columns", "layer,backward"]) == 2
    assert "is a figure of training" in capsys.readouterr().err
    assert main(["mlp", "--freeze", "dense0"]) == 2
    assert main(["verify", "mlp", "--freeze", "dense0"]) == 2
