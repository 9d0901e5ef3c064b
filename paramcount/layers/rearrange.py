"""Axes split, merged, moved and repeated by a pattern."""

from dataclasses import dataclass
from typing import Any

from paramcount.layers._pattern import composed, move, parse, rearranged, sizes
from paramcount.layers.fields import AxisSizes, Text, field
from paramcount.layers.layer import Free, Shape


@dataclass(frozen=True)
class Rearrange(Free, kind="rearrange"):
    """A value's axes in another order and grouping, in einops' notation; a new axis on the right repeats.

    `sizes` gives the sizes that do not follow from the value. Costs nothing: no MACs, no elementwise operations.

    >>> str(Rearrange("t (h d) -> t h d", sizes={"h": 8}).output_shape(Shape.of(49, 64)))
    '49×8×8'
    """

    pattern: str = field(Text(), doc="the axes before and after, in einops' notation: `t (h d) -> t h d`")
    sizes: Any = field(AxisSizes(), (), doc="the sizes of axes that do not follow from the value, such as `h: 8`")

    family = "shape"
    by_name = ("sizes",)
    examples = (
        ({"pattern": "t (h d) -> t h d", "sizes": {"h": 2}}, (3, 8)),
        ({"pattern": "(h p) (w q) c -> h w (q p c)", "sizes": {"p": 2, "q": 3}}, (4, 6, 5)),
        ({"pattern": "h w (g c) -> h w (c g)", "sizes": {"g": 2}}, (3, 4, 6)),
        ({"pattern": "t d -> t h d", "sizes": {"h": 3}}, (4, 5)),
        ({"pattern": "d -> 1 d"}, (5,)),
        ({"pattern": "(n m) -> n m", "sizes": {"m": 2}}, Shape((6,), "tokens")),
    )

    def setting(self, *inputs: Shape) -> str:
        return self.pattern

    def output_shape(self, x: Shape) -> Shape:
        pattern = parse(self.pattern)
        return rearranged(x, *composed(pattern.right, sizes(pattern, x, dict(self.sizes))))

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        pattern = parse(self.pattern)
        return move(x, sizes(pattern, Shape(x.shape), dict(self.sizes)), pattern.left, pattern.right)
