"""Patterns of axes, in einops' notation: `t (h d) -> t h d`, and for pieces `(a m) c -> a | m c`.

A side is a tuple of groups, one for each axis of the value; a group is the names it is composed of, none for `1`.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from paramcount.errors import ArgumentError, ShapeError, quote
from paramcount.layers.layer import Shape
from paramcount.numbers.arithmetic import Size, decide, exact_div, product, require

Side = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Pattern:
    """A pattern's two sides; `mapped` holds the axes left of `|` in a pattern of pieces."""

    text: str
    left: Side
    right: Side
    mapped: Side = ()

    @property
    def target(self) -> Side:
        return self.mapped + self.right


@lru_cache(maxsize=512)
def parse(text: str) -> Pattern:
    """The two sides of `axes -> axes`; an axis that only the right side has repeats the value.

    >>> parse("t (h d) -> t h d").left
    (('t',), ('h', 'd'))
    """
    left, right = two_sides(text, "t (h d) -> t h d")
    return checked(Pattern(text, side(left, text), side(right, text)), new_axes=True)


@lru_cache(maxsize=512)
def parse_pieces(text: str) -> Pattern:
    """The sides of `axes -> mapped | piece`.

    >>> parse_pieces("(a m) c -> a | m c").mapped
    (('a',),)
    """
    example = "(a m) (b n) c -> a b | (m n) c"
    left, right = two_sides(text, example)
    mapped, bar, piece = right.partition("|")
    if not bar or "|" in piece:
        wrong(text, "needs one `|`: what is mapped stands left of it, one piece right", example)
    return checked(Pattern(text, side(left, text), side(piece, text), side(mapped, text)), new_axes=False)


def two_sides(text: str, example: str) -> tuple[str, str]:
    left, arrow, right = text.partition("->")
    if not arrow or "->" in right:
        wrong(text, "needs one `->`", example)
    return left, right


def side(text: str, whole: str) -> Side:
    """The groups of one side."""
    groups: list[tuple[str, ...]] = []
    composed: list[str] | None = None
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(" and composed is None:
            composed = []
        elif word == ")" and composed is not None:
            groups.append(tuple(composed))
            composed = None
        elif word in "()":
            wrong(whole, "has a parenthesis that does not match")
        elif word != "1" and not word.isidentifier():
            wrong(whole, f"has {quote(word)} where the name of an axis is expected")
        elif composed is not None:
            composed += [word] if word != "1" else []
        else:
            groups.append((word,) if word != "1" else ())
    if composed is not None:
        wrong(whole, "has a parenthesis that is not closed")
    return tuple(groups)


def checked(pattern: Pattern, new_axes: bool) -> Pattern:
    """The pattern, if each axis stands once on each side, and no axis of the left is lost."""
    left, right = names(pattern.left), names(pattern.target)
    for each in (left, right):
        twice = next((name for name, times in Counter(each).items() if times > 1), None)
        if twice:
            wrong(pattern.text, f"has the axis {quote(twice)} twice on one side")
    known, kept = set(left), set(right)
    lost = next((name for name in left if name not in kept), None)
    if lost:
        wrong(
            pattern.text,
            f"has the axis {quote(lost)} on the left only",
            hint="name it on the right too: nothing is summed",
        )
    new = next((name for name in right if name not in known), None)
    if new and not new_axes:
        wrong(pattern.text, f"has the axis {quote(new)} on the right only", hint="name it on the left too")
    return pattern


def wrong(text: str, fault: str, example: str = "", hint: str = "") -> None:
    hint = f"as in `{example}`" if example else hint
    raise ArgumentError(f"the pattern {quote(text)} {fault}", hint=hint, argument="pattern")


def names(groups: Side) -> list[str]:
    """The axes of a side, in order."""
    return [name for group in groups for name in group]


def sizes(pattern: Pattern, x: Shape, given: Mapping[str, Size]) -> dict[str, Size]:
    """The size of every axis of a pattern, from a value's shape and the sizes that are given.

    >>> sizes(parse("t (h d) -> t h d"), Shape.of(49, 64), {"h": 8})
    {'h': 8, 't': 49, 'd': 8}
    """
    text = quote(pattern.text)
    if len(pattern.left) != x.rank:
        raise ShapeError(
            f"the pattern {text} has {len(pattern.left)} axes on the left, the value has {x.rank}: {x}",
            hint="name every axis of the value, the channels last",
        )
    named = {*names(pattern.left), *names(pattern.right)}
    for name in given:
        if name not in named:
            raise ArgumentError(f"the pattern {text} has no axis {quote(name)}", argument=name)
    found = dict(given)
    for group, whole in zip(pattern.left, x.sizes, strict=True):
        known = product(found[name] for name in group if name in found)
        unknown = [name for name in group if name not in found]
        if len(unknown) > 1:
            no_size(text, unknown[0])
        if unknown:
            message = f"in the pattern {text}, an axis of {{}} does not divide by {{}}"
            sizes = " and ".join(f"{quote(name)} is {found[name]}" for name in group if name in found)
            hint = f"{quote(written(group))} is the axis, {sizes}; pad or crop it before, or give another size"
            found[unknown[0]] = exact_div(whole, known, message, error=ShapeError, hint=hint)
        else:
            message = f"in the pattern {text}, {quote(written(group))} is {{}}, the value's axis has {{}}"
            require(known == whole, message, known, whole, error=ShapeError)
    for name in names(pattern.right):
        if name not in found:
            no_size(text, name)
    return found


def no_size(text: str, name: str) -> None:
    raise ArgumentError(
        f"the pattern {text} needs the size of {quote(name)}", hint=f"add `{name}: SIZE`", argument="pattern"
    )


def written(group: tuple[str, ...]) -> str:
    return group[0] if len(group) == 1 else f"({' '.join(group)})" if group else "1"


def composed(groups: Side, found: Mapping[str, Size]) -> tuple[Size, ...]:
    """The sizes of a side's axes."""
    return tuple(product(found[name] for name in group) for group in groups)


def rearranged(x: Shape, *axes: Size) -> Shape:
    """A value's elements in other axes: tokens stay tokens, all else is laid out by its rank."""
    return Shape(axes, "tokens") if x.layout == "tokens" else Shape.of(*axes)


def move(x: Any, found: Mapping[str, int], source: Side, target: Side) -> Any:
    """An array's axes moved from one side of a pattern to the other, in JAX; an axis that is new repeats."""
    from jax import numpy as jnp

    old, new = names(source), names(target)
    x = x.reshape([found[name] for name in old]).transpose([old.index(name) for name in new if name in old])
    x = x.reshape([found[name] if name in old else 1 for name in new])
    return jnp.broadcast_to(x, [found[name] for name in new]).reshape(composed(target, found))


def each_shapes(text: str, x: Shape, given: Mapping[str, Size]) -> tuple[tuple[Size, ...], tuple[Size, ...]]:
    """The sizes of the mapped axes, and those of one piece.

    >>> each_shapes("(a m) (b n) c -> a b | (m n) c", Shape.of(56, 56, 96), {"m": 7, "n": 7})
    ((8, 8), (49, 96))
    """
    pattern = parse_pieces(text)
    found = sizes(pattern, x, given)
    return composed(pattern.mapped, found), composed(pattern.right, found)


def result_shape(text: str, x: Shape, given: Mapping[str, Size], body: Shape) -> Shape:
    """The shape of a value whose pieces went through a body with results of the shape `body`.

    >>> str(result_shape("(a m) (b n) c -> a b | (m n) c", Shape.of(56, 56, 96), {"m": 7, "n": 7}, Shape.of(49, 32)))
    '56×56×32'
    """
    pattern = parse_pieces(text)
    found = sizes(pattern, x, given)
    back = returned(pattern, found, body.sizes)
    if back is None:
        return rearranged(body, *composed(pattern.mapped, found), *body.sizes)
    return rearranged(body, *composed(pattern.left, back))


def split_pieces(x: Any, text: str, given: Mapping[str, int]) -> Any:
    """An array's pieces along one leading axis, in JAX."""
    pattern = parse_pieces(text)
    found = sizes(pattern, Shape(x.shape), given)
    piece = composed(pattern.right, found)
    return move(x, found, pattern.left, pattern.target).reshape(-1, *piece)


def join_pieces(y: Any, text: str, given: Mapping[str, int], x: Shape) -> Any:
    """What a body made of the pieces of a value of shape `x`, `(pieces, ...)`, as one array, in JAX."""
    pattern = parse_pieces(text)
    found = sizes(pattern, x, given)
    back = returned(pattern, found, y.shape[1:])
    y = y.reshape(*composed(pattern.mapped, found), *y.shape[1:])
    return y if back is None else move(y, back, pattern.target, pattern.left)


def returned(pattern: Pattern, found: dict[str, Size], body: tuple[Size, ...]) -> dict[str, Size] | None:
    """Every axis's size after the body where its results go back to their pieces' places, else None.

    They do where the rank is kept; a simple axis may have another size, a composed one may not.
    """
    if len(body) != len(pattern.right):
        return None
    back = dict(found)
    for group, before, after in zip(pattern.right, composed(pattern.right, found), body, strict=True):
        if len(group) == 1:
            back[group[0]] = after
        elif not decide(before == after):
            return None
    return back
