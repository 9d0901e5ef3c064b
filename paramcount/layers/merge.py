"""Several values made one, element by element."""

from dataclasses import dataclass
from functools import reduce
from typing import Any

from paramcount.errors import ShapeError
from paramcount.layers._accept import has_numbers
from paramcount.layers.fields import ValuePaths, field
from paramcount.layers.layer import Layer, Param, Shape, Work
from paramcount.numbers.arithmetic import Size, require


@dataclass(frozen=True)
class Merge(Layer):
    """Values combined element by element: the first sets the shape, the others are equal or broadcast to it.

    Work: one elementwise operation for each element and each value beyond the first.
    """

    paths: Any = field(ValuePaths(), doc="where the values come from: `prev`, names, or lists of items")

    takes_prev = False
    family = "merge"
    examples = (
        ({"paths": ("a", "b")}, (3, 4, 5), (3, 4, 5)),
        ({"paths": ("a", "b", "c")}, (3, 4, 5), (5,), (4, 1)),
    )

    def place(self, builder: Any, name: str | None) -> None:
        """Become a leaf, or with lists of items among its paths a group of them and the leaf."""
        if all(isinstance(path, str) for path in self.paths):
            builder.layer(self, name)
            return
        builder.open(self.kind, name)
        values = tuple([builder.path(path, "path", str(index)) for index, path in enumerate(self.paths)])
        builder.merge(self, values, self.kind)
        builder.norm_and_activation(self)
        builder.close(self.kind)

    def output_shape(self, *inputs: Shape) -> Shape:
        first, *others = inputs
        for x in inputs:
            has_numbers(x, self.kind)
        for other in others:
            fits(first, other, self.kind)
        return first

    def params(self, *inputs: Shape) -> dict[str, Param]:
        return {}

    def work(self, *inputs: Shape) -> Work:
        return Work(0, (len(inputs) - 1) * inputs[0].elements)


class Add(Merge, kind="add"):
    """The sum of values.

    The first sets the shape; the others have the same or broadcast to it. Elementwise: 1 per element for each value
    beyond the first.

    >>> Add(["prev", "skip"]).work(Shape.of(7, 7, 64), Shape.of(7, 7, 64)).elementwise
    3136
    """

    def forward(self, params: dict[str, Any], *inputs: Any, context: Any) -> Any:
        return reduce(lambda a, b: a + b, inputs)


class Subtract(Merge, kind="subtract"):
    """The first value less the others.

    It also sets the shape; the others have the same or broadcast to it. Elementwise: 1 per element for each value
    beyond the first.

    >>> Subtract(["prev", "mean"]).work(Shape.of(10), Shape.of(10)).elementwise
    10
    """

    def forward(self, params: dict[str, Any], *inputs: Any, context: Any) -> Any:
        return reduce(lambda a, b: a - b, inputs)


class Multiply(Merge, kind="multiply"):
    """The product of values, element by element: a gate is one.

    The first sets the shape; the others have the same or broadcast to it. Elementwise: 1 per element for each value
    beyond the first.

    >>> str(Multiply(["prev", "gate"]).output_shape(Shape.of(7, 7, 64), Shape.of(64)))
    '7×7×64'
    """

    def forward(self, params: dict[str, Any], *inputs: Any, context: Any) -> Any:
        return reduce(lambda a, b: a * b, inputs)


def fits(first: Shape, other: Shape, kind: str) -> None:
    """Raise ShapeError unless the other shape is equal to the first or broadcasts to it by NumPy's rule."""
    message = f"`{kind}` needs one shape, and got {{}} and {{}}: the first sets the shape"
    try:
        require(other.rank <= first.rank, message, first, other, error=ShapeError)
        for one, two in zip(reversed(first.sizes), reversed(other.sizes), strict=False):
            require((two == one) | (two == 1), message, first, other, error=ShapeError)
    except ShapeError as error:
        error.hint = remedy(first.sizes, other.sizes)
        raise


def remedy(first: tuple[Size, ...], other: tuple[Size, ...]) -> str:
    """The hint for two shapes of which the other does not broadcast to the first."""
    longest = max(len(first), len(other))
    one, two = ((1,) * (longest - len(sizes)) + sizes for sizes in (first, other))
    pairs = list(zip(one, two, strict=True))
    if not all(type(size) is int for size in one + two) or any(a != b and 1 not in (a, b) for a, b in pairs):
        return "give one of them a path that changes its shape (a `pointwise`, say), or a condition `when`"
    if len(other) == longest and all(a in (1, b) for a, b in pairs):
        return "put the larger value first"
    axes = [(name, a, b) for name, (a, b) in zip("abcdefghijklmnopqrstuvwxyz", pairs, strict=False)]
    left = " ".join("1" if a < b else name for name, a, b in axes[longest - len(first) :])
    right, sizes = (" ".join(name for name, _, _ in axes), ", ".join(f"{name}: {b}" for name, a, b in axes if a < b))
    return f"repeat the first before: `rearrange: {{pattern: {left} -> {right}, {sizes}}}`"
