"""The fully connected layer."""

from dataclasses import dataclass
from typing import Any

from paramcount.errors import ShapeError
from paramcount.layers._weight_norm import Gains, WeightNormed
from paramcount.layers.fields import Flag, Key, Whole, field
from paramcount.layers.layer import Param, Shape, Work
from paramcount.numbers.arithmetic import product

REFUSED = {
    "tokens": "put `embedding` before it",
    "image": "add `global_pool` or `flatten` before it, or use `pointwise`",
    "volume": "add `global_pool` or `flatten` before it, or use `pointwise`",
}


@dataclass(frozen=True)
class Dense(WeightNormed, kind="dense"):
    """A matrix, and by default a bias, on the last axis of features or of each step of a sequence.

    Weights: channels × out. MACs: that × steps. Elementwise: 1 per output element for the bias; `weight_norm`
    adds one gain for each output, 3 operations per weight and 2 per gain. `tied` names the embedding whose
    table is used as the matrix.

    >>> Dense(out=512).work(Shape.of(784)).macs  # 784 · 512
    401408
    """

    out: int = field(Whole(), doc="the features of the result")
    bias: bool = field(Flag(), True, doc="whether a learned bias is added to each output feature")
    tied: str | None = field(Key(none=True), None, doc="the name of the embedding whose table is the matrix")
    weight_norm: bool | str = field(
        Gains("output", "input"),
        False,
        doc="what has a learned length: `true` for each output feature, or `output`, `input`",
    )

    family = "dense"
    by_name = ("bias", "tied", "weight_norm")
    examples = (
        ({"out": 5}, (7,)),
        ({"out": 5, "bias": False}, (4, 3)),
        ({"out": 3, "weight_norm": True}, (4, 6)),
        ({"out": 3, "weight_norm": "input", "bias": False}, (4, 6)),
        ({"out": 2}, (2, 3, 2, 2, 3)),
    )

    def output_shape(self, x: Shape) -> Shape:
        if x.layout in REFUSED or x.rank == 0:
            raise ShapeError(
                f"`dense` needs features or a sequence, and got {x.layout} {x}",
                hint=REFUSED.get(x.layout, "give it a value with at least one axis"),
            )
        return x.with_channels(self.out)

    def params(self, x: Shape) -> dict[str, Param]:
        tensors = {"weight": Param({"input": x.channels, "output": self.out}, "weight")}
        if self.bias:
            tensors["bias"] = Param({"output": self.out}, "bias", "zeros")
        return tensors | self.gains(tensors["weight"])

    def work(self, x: Shape) -> Work:
        y = self.output_shape(x)
        weights = x.channels * self.out
        work = Work(product(x.spatial) * weights, y.elements if self.bias else 0)
        return work + self.normalization(x) if self.weight_norm else work

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        y = x @ self.normalized(params)
        return y + params["bias"] if self.bias else y
