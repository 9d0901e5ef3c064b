"""Every example of every kind keeps the contract; and the contract notices a layer that does not."""

from dataclasses import dataclass
from typing import Any

import pytest

from paramcount.backend.prove.contract import check_description, check_example, check_layer, examples
from paramcount.errors import Undecided
from paramcount.layers import MODULES, find
from paramcount.layers.fields import Whole, field
from paramcount.layers.layer import FAMILIES, Contraction, Layer, Param, Shape, Work
from paramcount.numbers.arithmetic import Column, decide

KINDS = {kind: found for kind in MODULES if (found := find(kind))}
CASES = [
    pytest.param(layer, shapes, id=f"{kind}-{number}")
    for kind, layer_class in KINDS.items()
    for number, (layer, shapes) in enumerate(examples(layer_class))
]


@pytest.mark.parametrize("layer, shapes", CASES)
def test_example(layer, shapes):
    check_example(layer, *shapes)


@pytest.mark.parametrize("layer_class", KINDS.values(), ids=KINDS)
def test_description(layer_class):
    check_description(layer_class)


def test_every_family_has_a_kind():
    assert {layer_class.family for layer_class in KINDS.values()} == set(FAMILIES)


@dataclass(frozen=True)
class Affine(Layer):
    """A correct layer; each class below breaks one thing."""

    out: int = field(Whole(), 2, doc="the channels of the result")

    family = "dense"
    examples = (({}, (5, 4)),)

    def output_shape(self, x: Shape) -> Shape:
        return x.with_channels(self.out)

    def params(self, x: Shape) -> dict[str, Param]:
        return {"weight": Param({"input": x.channels, "output": self.out}, "weight")}

    def work(self, x: Shape) -> Work:
        return Work(x.elements * self.out)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        return x @ params["weight"]


class NoExamples(Affine):
    examples = ()


class NoFamily(Affine):
    family = ""


class UnknownFamily(Affine):
    family = "quantum"


@dataclass(frozen=True)
class UnexplainedArgument(Affine):
    rank: int = field(Whole(), 2)


@dataclass(frozen=True)
class BlankExplanation(Affine):
    rank: int = field(Whole(), 2, doc=" ")


class WrongShape(Affine):
    def output_shape(self, x):
        return x.with_channels(self.out + 1)


class WrongMacs(Affine):
    def work(self, x):
        return Work(x.elements * self.out + 1)


class FloatMacs(Affine):
    def work(self, x):
        return Work(1.0 * x.elements * self.out)


class WrongRole(Affine):
    def params(self, x):
        return {"weight": Param({"input": x.channels, "output": self.out}, "kernel")}


class UnknownStart(Affine):
    def params(self, x):
        return {"weight": Param({"input": x.channels, "output": self.out}, "weight", "glorot")}


class UnusedParameter(Affine):
    def params(self, x):
        return super().params(x) | {"bias": Param({"output": self.out}, "bias", "zeros")}


class WrongWhenTraining(Affine):
    def forward(self, params, x, *, context):
        return x @ params["weight"] if not context.train else x[..., :1]


class UpdatesNoBuffer(Affine):
    def forward(self, params, x, *, context):
        context.update(mean=x)
        return x @ params["weight"]


class MixesTheBatch(Affine):
    def forward(self, params, x, *, context):
        return x @ params["weight"] if context.axis_name is None else (x @ params["weight"])[:1]


class WrongInASweep(Affine):
    def work(self, x):
        sweep = 1 if isinstance(x.channels, Column) else 0
        return Work(x.elements * self.out + sweep)


class WrongForOneSetting(Affine):
    def work(self, x):
        return Work(x.elements * (2 if isinstance(self.out, Column) else self.out))


class LosesMacs(Affine):
    def contractions(self, x):
        return ()


class OneOperand(Affine):
    def contractions(self, x):
        return (Contraction(self.work(x).macs, ((0,),)),)


BREACHES = {
    NoExamples: "has no examples",
    NoFamily: "is of the family ''",
    UnknownFamily: "is of the family 'quantum'",
    UnexplainedArgument: "does not say what rank means",
    BlankExplanation: "does not say what rank means",
    LosesMacs: "contractions say 0",
    OneOperand: "with the gradient by",
    WrongShape: "output_shape says",
    WrongMacs: "work says 41 MACs, forward does 40",
    FloatMacs: "not int",
    WrongRole: "role",
    UnknownStart: "glorot",
    UnusedParameter: "bias does not reach the output",
    WrongWhenTraining: "training: output_shape says",
    UpdatesNoBuffer: "not a buffer",
    MixesTheBatch: "a batch of 2",
    WrongInASweep: "in a sweep",
    WrongForOneSetting: "in a sweep",
}


@pytest.mark.parametrize("layer_class", BREACHES, ids=lambda each: each.__name__)
def test_a_breach_is_noticed(layer_class):
    with pytest.raises(AssertionError, match=BREACHES[layer_class]):
        check_layer(layer_class)


def test_a_correct_layer_passes():
    check_layer(Affine)


class Branching(Affine):
    """Counts by a condition over sizes: a sweep walks each side by itself."""

    def work(self, x):
        if decide(x.channels > 7):
            return Work(x.elements * self.out)
        return Work(self.out * x.elements)


def test_a_layer_may_branch_over_sizes():
    with pytest.raises(Undecided):
        Branching().work(Shape.of(5, Column.whole("channels", [4, 8])))
    check_layer(Branching)
