"""A learned tensor on its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from paramcount.layers.fields import Sizes, Word, field
from paramcount.layers.layer import ROLES, Layer, Param, Shape, Work


@dataclass(frozen=True)
class Parameter(Layer, kind="parameter"):
    """A source of one learned tensor, such as positions, class tokens or layer scales; it costs nothing.

    It ignores the value that arrives; an empty shape is a scalar. It counts in `tables` unless its `role` says
    otherwise: the bias or the scale of a norm written by hand is a `bias`, a `norm`.

    >>> Parameter(shape=[50, 768]).params()["value"].size
    38400
    """

    shape: Sequence[int] = field(Sizes(at_least=1), doc="the sizes of the tensor")
    init: str = field(
        Word("normal", "zeros", "ones"), "normal", doc="the initial values: `normal` (deviation 0.02), `zeros`, `ones`"
    )
    role: str = field(
        Word(*ROLES),
        "table",
        doc="what it counts as: `weight`, `table`, `bias`, `norm`, or `buffer`, which is not trained",
    )

    family = "parameter"
    takes_prev: ClassVar[bool] = False
    by_name = ("init", "role")
    examples = (
        ({"shape": [3, 4]},),
        ({"shape": []},),
        ({"shape": [1, 2, 3, 4, 5], "init": "ones"},),
        ({"shape": [4], "init": "zeros", "role": "bias"},),
        ({"shape": [4], "role": "norm"},),
        ({"shape": [4, 2], "role": "weight"},),
        ({"shape": [4], "role": "buffer"},),
    )

    def output_shape(self) -> Shape:
        return Shape.of(*self.shape)

    def params(self) -> dict[str, Param]:
        axes = {f"axis{position}": size for position, size in enumerate(self.shape)}
        return {"value": Param(axes, self.role, self.init)}

    def work(self) -> Work:
        return Work()

    def forward(self, params: dict[str, Any], *, context: Any) -> Any:
        return params["value"]
