"""Weights that several elements have: which tensors these are, and whether two uses agree on them."""

from __future__ import annotations

from collections.abc import Mapping

from paramcount.errors import SpecError, quote
from paramcount.graph.scope import Weights
from paramcount.graph.tree import Element, Node, Tie, join, leaves_of
from paramcount.layers.layer import Param
from paramcount.numbers.arithmetic import Size, decide, same_sizes


def tensors_below(element: Element) -> dict[tuple[str, str], Param]:
    """The tensors that an element owns, by the path below it and the name."""
    found: dict[tuple[str, str], Param] = {}
    for leaf in leaves_of([element]):
        below = leaf.path.removeprefix(element.name).removeprefix(".")
        found.update({(below, name): param for name, param in leaf.node.params().items()})
    return found


def homes(element: Element) -> dict[str, bool]:
    """The paths of the leaves, within the block or file, whose tensors an element has, and which are frozen."""
    return {leaf.owner: leaf.node.frozen for leaf in leaves_of([element]) if leaf.node.params()}


def same_weights(key: str, known: Weights, mine: Weights) -> None:
    """Raise SpecError unless two uses of shared weights have the same tensors, of the same experts and owners."""
    position = getattr(key, "position", None)
    first, second = known.tensors, mine.tensors
    for place in {**first, **second}:
        one, two = first.get(place), second.get(place)
        if one is None or two is None or not decide(one.shape == two.shape):
            shapes = ["nothing" if each is None else "×".join(map(str, each.shape)) for each in (one, two)]
            where = join(*place)
            found = f"{quote(where)} is {shapes[0]} and then {shapes[1]}"
            raise SpecError(
                f"the weights shared as {quote(key)} have two shapes: {found}",
                hint="shared items need the same channels and arguments; use another key",
                position=position,
                argument="share",
            )
    if not same_sizes(known.experts, mine.experts):
        raise SpecError(
            f"the weights of {described(known.experts)} and of {described(mine.experts)} are shared as {quote(key)}",
            hint="use one key inside of `moe` and another outside",
            position=position,
            argument="share",
        )
    if known.homes.keys() != mine.homes.keys():
        raise SpecError(
            f"a part of what is shared as {quote(key)} has a key of its own in one place and not in the other",
            hint="give the part the same key in both, or none",
            position=position,
            argument="share",
        )
    if known.homes != mine.homes:
        raise SpecError(
            f"the weights shared as {quote(key)} are frozen in one place and not in the other",
            hint="write `frozen: true` beside each use, or beside none",
            position=position,
            argument="share",
        )


def tied_table(key: str, known: Mapping[str, Weights], node: Node, experts: tuple[Size, ...]) -> Tie:
    """The known table under a key or name that is a dense layer's weight too; raises SpecError where it does not fit.

    `experts` are the numbers of experts around the dense layer.
    """
    weights = known.get(key)
    position = getattr(key, "position", None)
    if weights is None:
        names = ", ".join(map(quote, known)) or "none"
        raise SpecError(
            f"tied to {quote(key)}, which is not the name or share key of an embedding before it",
            hint=f"known here: {names}",
            position=position,
            argument="tied",
        )
    wanted = node.layer.params(*node.shapes)["weight"].shape
    if not same_sizes(weights.experts, experts):
        raise SpecError(
            f"tied to {quote(key)}, which stands outside of the `moe` around, or in another",
            hint="a table outside is one for all experts; put the embedding and the `dense` into the same body",
            position=position,
            argument="tied",
        )
    tables = {place: param.shape for place, param in weights.tensors.items() if len(param.shape) == 2}
    for (below, name), shape in tables.items():
        if decide(shape[0] == wanted[1]) and decide(shape[1] == wanted[0]):
            return Tie(weights.owner + below if below.startswith("[") else join(weights.owner, below), name)
    found = " and ".join("×".join(map(str, shape)) for shape in tables.values()) or "no table"
    raise SpecError(
        f"tied to {quote(key)}, whose shape does not fit: {found}, but {wanted[1]}×{wanted[0]} is needed",
        hint="`out` must be the embedding's vocabulary, and the width that arrives its width",
        position=position,
        argument="tied",
    )


def described(experts: tuple[Size, ...]) -> str:
    return " × ".join(map(str, experts)) + " experts" if experts else "one layer"
