"""Weights that several elements have: which tensors these are, and whether two uses agree on them."""

from __future__ import annotations

from collections.abc import Mapping

from paramcount.errors import SpecError, quote
from paramcount.graph.scope import Weights
from paramcount.graph.tree import Element, Node, Tie, join, leaves_of
from paramcount.layers.layer import Param
from paramcount.numbers.arithmetic import Size, decide, same_sizes

GUESSES = 100  # keys used once for which another key is guessed, so that thousands of them do not take minutes


def tensors_below(element: Element) -> dict[tuple[str, str], Param]:
    """The tensors that an element owns, by the path below it and the name."""
    found: dict[tuple[str, str], Param] = {}
    for leaf in leaves_of([element]):
        below = leaf.path.removeprefix(element.name).removeprefix(".")
        found.update({(below, name): param for name, param in leaf.node.params().items()})
    return found


def owns_weights(element: Element) -> bool:
    """Whether an element has tensors that it does not share with an earlier one."""
    if element.share:
        return element.share.first and bool(tensors_below(element))
    return bool(element.params()) if isinstance(element, Node) else any(map(owns_weights, element.inside()))


def homes(element: Element) -> dict[str, bool]:
    """The paths of the leaves, within the block or file, whose tensors an element has, and which are frozen."""
    return {leaf.owner: leaf.node.frozen for leaf in leaves_of([element]) if leaf.node.params()}


def equal_tensors(one: Element | None, two: Element | None) -> bool:
    """Whether two iterations have tensors of the same places and shapes, and the same of them frozen."""
    if one is None or two is None or one is two:
        return one is two or (not (one and tensors_below(one)) and not (two and tensors_below(two)))
    first, second = tensors_below(one), tensors_below(two)
    if first.keys() != second.keys() or homes(one) != homes(two):
        return False
    return all(decide(first[place].shape == second[place].shape) for place in first)


def same_weights(key: str, known: Weights, mine: Weights) -> None:
    """Raise SpecError unless two uses of shared weights have the same tensors, of the same experts and owners."""
    shared = quote(key)
    first, second = known.tensors, mine.tensors
    for place in {**first, **second}:
        one, two = first.get(place), second.get(place)
        if one is None or two is None or not decide(one.shape == two.shape):
            shapes = ["nothing" if each is None else "×".join(map(str, each.shape)) for each in (one, two)]
            message = (
                f"the weights shared as {shared} have two shapes: {quote(join(*place))} is {' and then '.join(shapes)}"
            )
            raise unfit(key, "share", message, "shared items need the same channels and arguments; use another key")
    if not same_sizes(known.experts, mine.experts):
        owners = f"{described(known.experts)} and of {described(mine.experts)}"
        hint = "use one key inside `moe` and another outside"
        raise unfit(key, "share", f"the weights of {owners} are shared as {shared}", hint)
    if known.homes.keys() != mine.homes.keys():
        message = f"a part of what is shared as {shared} has a key of its own in one place and not in the other"
        raise unfit(key, "share", message, "give the part the same key in both, or none")
    if known.homes != mine.homes:
        message = f"the weights shared as {shared} are frozen in one place and not in the other"
        raise unfit(key, "share", message, "write `frozen: true` beside each use, or beside none")


def tied_table(key: str, known: Mapping[str, Weights], node: Node, experts: tuple[Size, ...]) -> Tie:
    """The known table under a key or name that is a dense layer's weight too; raises SpecError where it does not fit.

    `experts` are the numbers of experts around the dense layer.
    """
    weights = known.get(key)
    if weights is None:
        message = f"tied to {quote(key)}, which is not the name or share key of an embedding before it"
        names = ", ".join(map(quote, known))
        raise unfit(key, "tied", message, f"known here: {names}" if names else "give the embedding a `name` before")
    wanted = node.layer.params(*node.shapes)["weight"].shape
    if not same_sizes(weights.experts, experts):
        message = f"tied to {quote(key)}, which stands outside the `moe` around it, or in another"
        hint = "a table outside is one for all experts; put the embedding and the `dense` into the same body"
        raise unfit(key, "tied", message, hint)
    tables = {place: param.shape for place, param in weights.tensors.items() if len(param.shape) == 2}
    for (below, name), shape in tables.items():
        if decide(shape[0] == wanted[1]) and decide(shape[1] == wanted[0]):
            return Tie(weights.owner + below if below.startswith("[") else join(weights.owner, below), name)
    found = " and ".join("×".join(map(str, shape)) for shape in tables.values()) or "no table"
    message = f"tied to {quote(key)}, whose shape does not fit: {found}, but {wanted[1]}×{wanted[0]} is needed"
    hint = "`out` must be the embedding's vocabulary, and the width that arrives its width"
    raise unfit(key, "tied", message, hint)


def used_once(uses: Mapping[str, int]) -> dict[str, str | None]:
    """The keys that share nothing, each with the key that was probably meant; `uses` are in their order.

    Of two such keys that are alike, only the later one is named.

    >>> used_once({"head": 1, "haed": 1, "tail": 2})
    {'haed': 'head'}
    """
    alone = [key for key, count in uses.items() if count == 1]
    if not alone:
        return {}
    from paramcount.errors.suggest import nearest

    found: dict[str, str | None] = {}
    known = [key for key, count in uses.items() if count > 1]
    for key in alone:
        found[key] = nearest(key, known) if len(found) < GUESSES else None
        known.append(key)
    meant = set(found.values())
    return {key: guess for key, guess in found.items() if key not in meant}


def unfit(key: str, argument: str, message: str, hint: str) -> SpecError:
    """The error for weights that cannot be those under a key, at the place of the key."""
    return SpecError(message, hint=hint, position=getattr(key, "position", None), argument=argument)


def described(experts: tuple[Size, ...]) -> str:
    return " × ".join(map(str, experts)) + " experts" if experts else "one layer"
