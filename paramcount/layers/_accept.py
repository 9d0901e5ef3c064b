"""What a layer can take: the checks of an arriving value that several layers share, and their hints."""

from paramcount.errors import ArgumentError, ShapeError, quote
from paramcount.layers.layer import Shape
from paramcount.numbers.arithmetic import Size, exact_div


def spatial_axes(x: Shape, kind: str) -> int:
    """The number of spatial axes, 1 to 3, of a value that a window can slide over; raises ShapeError for others."""
    if x.layout == "tokens" or x.rank not in (2, 3, 4):
        raise ShapeError(
            f"{quote(kind)} needs a sequence, an image or a volume, and got {x.layout} {x}",
            hint="put `embedding` before it" if x.layout == "tokens" else "use `dense`, or an image input",
        )
    return x.rank - 1


def has_channels(x: Shape, kind: str) -> None:
    """Raises ShapeError unless the last axis holds channels: tokens and scalars have none."""
    if x.layout == "tokens" or x.rank == 0:
        raise ShapeError(
            f"{quote(kind)} works on channels, and got {x.layout} {x}",
            hint="put `embedding` before it" if x.layout == "tokens" else "give it a value with at least one axis",
        )


def has_numbers(x: Shape, kind: str) -> None:
    """Raises ShapeError for tokens: nothing is computed with integers."""
    if x.layout == "tokens":
        raise ShapeError(f"{quote(kind)} works on numbers, and got tokens {x}", hint="put `embedding` before it")


def has_groups(x: Shape, out: Size, groups: Size) -> None:
    """Raises ArgumentError unless input and output channels divide into groups."""
    if type(groups) is int and groups == 1:
        return
    details = {"argument": "groups", "hint": "`groups` divides the channels that arrive and `out`"}
    exact_div(x.channels, groups, "{} input channels do not divide into {} groups", **details)
    exact_div(out, groups, "{} output channels do not divide into {} groups", **details)


def has_axis(x: Shape, axis: int) -> int:
    """The axis counted from the front; raises ArgumentError where the value does not have it."""
    if not -x.rank <= axis < x.rank:
        raise ArgumentError(f"there is no axis {axis}: the value has {x.rank} ({x})", argument="axis")
    return axis % x.rank
