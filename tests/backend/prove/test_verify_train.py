"""The cost of training in closed form is that of the traced gradient, leaf by leaf; a wrong one is found."""

from dataclasses import dataclass
from typing import Any

import pytest

from paramcount.backend.prove.verify import verify
from paramcount.backend.prove.verify_training import compare_training
from paramcount.cli.main import main
from paramcount.graph.bodies import Each, Moe, Scan
from paramcount.graph.items import Do, From, Let, Residual
from paramcount.graph.loops import Repeat
from paramcount.graph.modifiers import With
from paramcount.graph.network import Network
from paramcount.layers.activation import Relu
from paramcount.layers.concat import Concat
from paramcount.layers.conv import Conv
from paramcount.layers.conv_transpose import ConvTranspose
from paramcount.layers.dense import Dense
from paramcount.layers.depthwise import Depthwise
from paramcount.layers.einsum import Einsum
from paramcount.layers.embedding import Embedding
from paramcount.layers.layer import Contraction, Layer, Param, Shape, Work
from paramcount.layers.merge import Add
from paramcount.layers.parameter import Parameter
from paramcount.layers.pointwise import Pointwise
from paramcount.layers.pool import AvgPool
from paramcount.layers.reshape import Flatten, Reshape
from paramcount.layers.route import Router
from paramcount.layers.slicing import Slice


def proved(items, input=None, freeze=(), **names):
    checks, differences = compare_training(Network(items, input=input, **names), freeze)
    assert not differences, "\n".join(map(str, differences))
    assert all(check.ok for check in checks)
    return {check.name: check.found for check in checks}


@pytest.mark.parametrize("layer", [
    Conv(4, 3, padding="valid"), Conv(4, 3, stride=2), Conv(4, 3, stride=3, padding=2), Conv(4, 1, stride=3),
    Conv(4, 3, dilation=2, groups=2), Conv(6, (5, 2), stride=(2, 3), weight_norm=True), Conv(4, 3, padding=6),
    Conv(4, 9), Conv(4, 15, padding="half"), Conv(4, 9, padding=((4, 4), (5, 3))), Depthwise(3, stride=2, multiplier=3),
    ConvTranspose(4, 2, stride=2), ConvTranspose(4, 4, stride=3, padding=1), ConvTranspose(6, 3, 2, groups=2),
    ConvTranspose(4, 3, padding=2), Pointwise(6, stride=2, groups=2, bias=True), AvgPool(3, 2, padding=1),
], ids=str)  # fmt: skip
def test_windows_on_odd_sizes(layer):
    """First on data, then on what depends on training, then frozen between two that are trained."""
    proved([layer], (7, 9, 4))
    proved([Pointwise(4), layer], (7, 9, 4))
    proved([Pointwise(4), With(layer, frozen=True), Relu(), Pointwise(3)], (7, 9, 4))


CELL = [Add([[Dense(8)], [From("h"), Dense(8)]])]
JOINED = [Concat(["prev", "h"]), Dense(6)]
MIXTURE = Moe(3, 2, [Dense(6, weight_norm=True), Pointwise(4, groups=2), Dense(6)])
STRUCTURES = {
    "loop": [Repeat(4, [Residual([Dense(6, norm="layer_norm", activation="relu")])]), Dense(2)],
    "nested": [Repeat(3, [Repeat(2, [Dense(6)])]), Dense(3)],
    "shared loop": [Repeat(3, [Dense(6)], share=True), Dense(3)],
    "shared": [With(Dense(6), share="a"), Relu(), With(Dense(6), share="a")],
    "each": [Each("(a b) c -> a | b c", [Conv(7, 3), Dense(6)], {"b": 2}), Dense(2)],
    "scan on data": [Scan({"h": [8]}, CELL, {"h": "prev"})],
    "scan": [Dense(6), Scan({"h": [8]}, CELL, {"h": "prev"}), Dense(2)],
    "scan of two": [
        Dense(6),
        Scan({"h": [6], "c": [6]}, [Let({"n": JOINED}), Add(["n", "c"])], {"h": "n", "c": "prev"}),
    ],
    "late scan": [Dense(6), Scan({"h": [6]}, [Let({"n": JOINED}), From("h")], {"h": "n"}), Dense(2)],
    "numbers of experts": [
        Let({"weights": [Dense(6), With(Router(4, 2), into=["w", "chosen"]), Dense(3)]}),
        From("chosen"),
        With(Do([Embedding(4, 5), Flatten(), Dense(3)]), frozen=True),
        Concat(["prev", [From("weights"), Flatten()]]),
    ],
    "frozen scan": [Dense(6), With(Scan({"h": [8]}, CELL, {"h": "prev"}), frozen=True), Dense(3)],
    "experts": [Dense(6), MIXTURE, Dense(3)],
    "experts on data": [MIXTURE],
    "frozen experts": [Dense(6), With(MIXTURE, frozen=True), Dense(3)],
    "experts in a loop": [Dense(6), Repeat(3, [Residual([Moe(3, 2, [Dense(6)])])]), Dense(3)],
    "parameter": [Repeat(2, [Dense(6)]), Repeat(3, [Add(["prev", [Parameter([4, 6])]]), With(Dense(6), frozen=True)])],
    "einsum": [
        Let({"q": [Dense(4)], "k": [With(Dense(4), frozen=True)], "v": [Relu()]}),
        Einsum("t d, s d, s e -> t e", paths=["q", "k", "v"]),
    ],
    "einsum that sums nothing": [
        Let({"a": [Dense(5)], "b": [Slice(1), Reshape([6]), Dense(5)], "c": [Relu()]}),
        Einsum("t d, d, t e -> d e", paths=["a", "b", "c"]),
        Let({"scaled": [Einsum("d e, d -> e d", paths=["prev", "b"])]}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures(name):
    proved(STRUCTURES[name], (4, 6))


def test_tied_tables_and_freezing():
    items = [With(Embedding(11, 6), name="e"), Repeat(3, [Dense(6)]), Dense(11, tied="e")]
    for freeze in ([], ["e"], ["dense0"], ["dense0[1]"], ["e", "dense0[0]", "dense0[1]"], ["*"]):
        proved(items, {"tokens": [5]}, freeze)


def test_several_inputs_and_outputs():
    auxiliary = With(Let({"auxiliary": [Dense(3, norm="batch_norm")]}), only="training")
    items = [From("a"), Dense(4), auxiliary, Concat(["prev", "b"]), Dense(2)]
    outputs = {"main": "prev", "auxiliary": "auxiliary"}
    assert proved(items, inputs={"a": 3, "b": 5}, outputs=outputs)["backward MACs"] == 12 + 2 * 12 + 2 * 18


def test_what_is_the_same_in_every_step_is_done_once():
    body = [Let({"k": [From("memory"), Dense(3)]}), Dense(3), Add(["k", "prev"])]
    network = Network([Let({"memory": [Dense(4)]}), Scan({"h": [3]}, body, {"h": "h"})], input=(5, 6))
    checks, differences = compare_training(network)
    assert not differences and all(check.ok for check in checks)
    assert "scan0.let0.k.dense0" in checks[-1].note


def test_what_is_the_same_in_every_step_follows_from_the_spec():
    """Contraction by contraction: `kept` is carried on unchanged, and of the einsum's products only the last varies."""
    body = [
        Let({"product": [Einsum("a, b, b -> a", paths=["fixed", "kept", "prev"])]}),
        Let({"again": [From("kept"), Dense(3)]}),
        Add(["product", "again", "h"]),
    ]
    outer = Let({"fixed": [Parameter([3])]})
    scan = Scan({"h": [3], "kept": [3]}, body, {"h": "prev", "kept": "kept"})
    found = proved([outer, Dense(3), scan], (5, 3))
    # dense 5 · 9; of 5 steps once an outer product without MACs and 9 of `again`, and 9 in each step
    assert found["forward MACs in training"] == 45 + 9 + 5 * 9


@dataclass(frozen=True)
class Square(Layer):
    """x · wᵀ · w: two contractions with the same weights, and `contractions` that a test may get wrong."""

    kind = "square"
    right = True

    def output_shape(self, x: Shape) -> Shape:
        return x

    def params(self, x: Shape) -> dict[str, Param]:
        return {"weight": Param({"input": x.channels, "output": x.channels}, "weight")}

    def work(self, x: Shape) -> Work:
        return Work(2 * x.elements * x.channels)

    def contractions(self, x: Shape) -> tuple[Contraction, ...]:
        macs = x.elements * x.channels
        if not self.right:
            return super().contractions(x)
        return Contraction(macs, ((0,), ("weight",))), Contraction(macs, ((0, "weight"), ("weight",)))

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        return x @ params["weight"].T @ params["weight"]


class Wrong(Square):
    right = False


def test_contractions_that_are_wrong_are_found_and_named():
    assert verify(Network([Square()], input=(5, 6)), train=True, abstract=True).ok
    found = verify(Network([Repeat(2, [Residual([Wrong()])])], input=(5, 6)), train=True, abstract=True)
    wrong = [(each.layer, each.what, each.expected, each.found) for each in found.differences]
    assert wrong == [("residual0[0].wrong0", "backward MACs", 360, 540)]  # later, both have two operands each
    assert [check.name for check in found.checks if not check.ok] == ["backward MACs by layer", "backward MACs"]


@dataclass(frozen=True)
class Often(Square):
    """A count that is too large by a factor, which is the number of steps of the scan around it."""

    def work(self, x: Shape) -> Work:
        return super().work(x) * 5

    def contractions(self, x: Shape) -> tuple[Contraction, ...]:
        right = super().contractions(x)
        return tuple(Contraction(5 * each.macs, each.operands, (each.macs, each.macs)) for each in right)


def test_a_count_that_is_too_large_by_the_number_of_steps_is_found():
    scan = Scan({"h": [6]}, [Often(), Add(["prev", "h"])], {"h": "prev"})
    _, differences = compare_training(Network([Dense(6), scan], input=(5, 6)))
    [wrong] = differences
    assert (wrong.layer, wrong.what) == ("scan0.often0", "forward MACs in training")
    assert (wrong.expected, wrong.found) == (5 * 5 * 72, 5 * 72)


def test_from_the_shell(capsys):
    assert main(["verify", "mlp", "--train", "--freeze", "dense1"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("backward MACs  "))
    assert line.split() == ["backward", "MACs", *["673,792"] * 2, "agrees"]  # 784 · 512 + 512² + 2 · 5,120
    assert main(["verify", "mlp"]) == 0
    assert "backward" not in capsys.readouterr().out
