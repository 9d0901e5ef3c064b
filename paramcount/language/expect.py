"""What a spec must count to, under `expect`: figures that are exact, or at most or at least an amount."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

from paramcount.errors import ArgumentError, Position, SpecError, quote
from paramcount.language.bindings import EMPTY
from paramcount.language.context import Context, describe, mapping_of, text_of, unknown, wrong
from paramcount.language.written import Constant, read_value
from paramcount.language.yaml.nodes import Mapping, Node, Scalar
from paramcount.layers.fields import Whole

FIGURES = ("params", "trainable", "weights", "tables", "biases", "norms", "buffers", "active_params")
FIGURES += ("macs", "flops", "elementwise", "activations", "param_bytes")  # those of a count of inference
BOUNDS = {"at_most": ("most", "max", "maximum", "below", "<="), "at_least": ("least", "min", "minimum", "above", ">=")}
SUFFIXED = r"[0-9][0-9.,]*(?:[eE]\+?[0-9]+)? ?[A-Za-z]+"


class Limit(NamedTuple):
    """What one figure must be: `bound` is "equal", "at_most" or "at_least" an amount, which is as it was `written`."""

    figure: str
    bound: str
    amount: int
    written: str
    position: Position | None = None

    def holds(self, counted: int) -> bool:
        if self.bound == "equal":
            return counted == self.amount
        return counted <= self.amount if self.bound == "at_most" else counted >= self.amount


class Expectation:
    """What a network of a spec must count to, and the model that it stands for."""

    def __init__(self) -> None:
        self.limits: list[Limit] = []
        self.reference: str | None = None


def read_expect(node: Node, variants: Collection[str], context: Context) -> dict[str | None, Expectation]:
    """The expectations of the base, under None, and of the variants that have some; `variants` are those declared."""
    found = mapping_of(node, "`expect`")
    expected: dict[str | None, Expectation] = {None: read_figures(found, context, ("variants",))}
    own = found.get("variants")
    for key, value in mapping_of(own, "`variants`").entries if own is not None else []:
        if key.text not in variants:
            raise unknown("variant", key, variants, "declare it under `variants:`")
        expected[key.text] = read_figures(mapping_of(value, "expected figures"), context, ())
    return expected


def read_figures(node: Mapping, context: Context, others: tuple[str, ...]) -> Expectation:
    expected = Expectation()
    for key, value in node.entries:
        if key.text == "reference":
            expected.reference = text_of(value, "`reference`")
        elif key.text in FIGURES:
            expected.limits += context.attempt(read_limits, key.text, value, context) or []
        elif key.text not in others:
            context.file.note(unknown("figure", key, [*FIGURES, "reference", "variants"]))
    return expected


def read_limits(figure: str, node: Node, context: Context) -> list[Limit]:
    """What a figure must be: one exact number, or a mapping of its limits."""
    if not isinstance(node, Mapping):
        return [read_limit(figure, "equal", node, context)]
    for key, _ in node.entries:
        if key.text not in BOUNDS:
            raise no_limit(figure, key)
    if not node.entries:
        raise wrong(node, f"{figure} has no limit", f"e.g. `{figure}: {{at_most: 3M}}`")
    limits = [read_limit(figure, key.text, value, context) for key, value in node.entries]
    try:
        refuse_crossed(limits)
    except ArgumentError as error:
        error.position = node.position
        raise
    return limits


def refuse_crossed(limits: Iterable[Limit]) -> None:
    """Raise ArgumentError where a figure must be at least more than it may be at most."""
    found = {limit.bound: limit for limit in limits}
    if len(found) == 2 and found["at_least"].amount > found["at_most"].amount:
        (figure, _, _, least, _), most = found["at_least"], found["at_most"].written
        raise ArgumentError(f"{figure} cannot be at least {least} and at most {most}", hint="the least is the smaller")


def no_limit(figure: str, key: Scalar) -> SpecError:
    meant = next((bound for bound, words in BOUNDS.items() if key.text.lower() in words), None)
    found = unknown("limit", key, BOUNDS, f"did you mean `{meant}`?" if meant else "")
    found.message = f"`{figure}` has no limit {quote(key.text)}"
    return found


def read_limit(figure: str, bound: str, node: Node, context: Context) -> Limit:
    if not isinstance(node, Scalar):
        hint = f"e.g. `{figure}: {{at_most: 3M}}`"
        raise wrong(node, f"{figure} must be a whole number, or limits, not {describe(node)}", hint)
    if re.fullmatch(SUFFIXED, node.text):
        from paramcount.numbers.amounts import amount

        try:
            return Limit(figure, bound, amount(node.text, figure), node.text, node.position)
        except ArgumentError as error:
            error.position = node.position
            raise
    written = read_value(node, replace(context, names=frozenset()), what=figure)
    if not isinstance(written, Constant):
        raise wrong(node, f"{figure} must be a whole number, not {describe(node)}")
    value = written.checked(Whole(at_least=0), figure, EMPTY, None)
    return Limit(figure, bound, value, f"{value:,}", node.position)
