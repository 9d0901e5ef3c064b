"""All that specs can write as sheets: the list, and one kind with an example that is counted here."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill
from typing import Any, NamedTuple

from paramcount.cost.count import count
from paramcount.errors import ParamcountError
from paramcount.language.description import Description, describe, families
from paramcount.language.load import loads
from paramcount.render.sheet import SCHEMA, Heading, Sheet

READABLE = 79  # characters of a line of text


class Counts(NamedTuple):
    """What an example costs: the shapes of its outputs, and its figures."""

    output: str
    params: int
    weights: int
    macs: int
    elementwise: int

    def __str__(self) -> str:
        return f"{self.output}, {self.params:,} params, {self.macs:,} MACs"


def counts_of(example: str) -> Counts:
    """The counts of a spec given as text.

    >>> str(counts_of("{input: {features: 784}, layers: [dense: 10]}"))
    '10, 7,850 params, 7,840 MACs'
    """
    network = loads(example, file="example")
    report = count(network)
    outputs = " and ".join(str(value.shape) for value in network.graph().outputs.values())
    return Counts(outputs, report.params, report.weights, report.macs, report.elementwise)


def listed() -> Iterator[tuple[str, str, str]]:
    """Each word that specs can write, after its family, with its first sentence."""
    for family, words in families().items():
        for word in words:
            try:
                yield family, word, describe(word).sentence
            except ParamcountError as error:  # of an installed package
                yield family, word, error.message


def list_sheet() -> Sheet:
    """All kinds, forms, modifiers and blocks, a line each."""
    rows = list(listed())
    headings = [Heading("family", "family"), Heading("kind", "kind"), Heading("sentence", "sentence", cut=True)]
    data = {
        "schema": SCHEMA,
        "command": "kinds",
        "kinds": [dict(zip(("family", "kind", "sentence"), row, strict=True)) for row in rows],
    }
    below = ("`paramcount kinds KIND` shows one: its arguments, its formulas, and an example",)
    return Sheet("", headings, rows, (), below, data.copy)


def kind_sheet(word: str) -> Sheet:
    """One kind, form, modifier or block: its arguments, its formulas, and an example with its figures.

    Raises ArgumentError for a word that specs do not have.
    """
    found = describe(word)
    counts = counts_of(found.example) if found.example else None
    headings = [
        Heading("argument", "argument"),
        Heading("takes", "takes", cut=True),
        Heading("default", "default", cut=True),
        Heading("meaning", "meaning", cut=True),
    ]
    rows = [(each.name, each.takes, each.default, each.meaning) for each in found.arguments]
    return Sheet(found.signature, headings, rows, (), list(text_of(found, counts)), lambda: data_of(found, counts))


def text_of(found: Description, counts: Counts | None) -> Iterator[str]:
    """What stands below the arguments, in lines."""
    for each in (found.sentence, *found.formulas):
        yield from fill(each, READABLE, break_long_words=False, break_on_hyphens=False).split("\n")
        yield ""
    if counts is None:
        yield "no example: its class has none that a spec can write"
        return
    yield "example:"
    yield from (f"  {line}" for line in found.example.splitlines())
    yield f"output {counts.output}; {counts.params:,} params, {counts.weights:,} weights, {counts.macs:,} MACs, ..."


def data_of(found: Description, counts: Counts | None) -> dict[str, Any]:
    """One kind for JSON."""
    arguments = [each._asdict() | {"required": each.default is None} for each in found.arguments]
    return {
        "schema": SCHEMA,
        "command": "kinds",
        "kind": found.kind,
        "family": found.family,
        "signature": found.signature,
        "sentence": found.sentence,
        "arguments": arguments,
        "formulas": found.formulas,
        "example": found.example or None,
        "figures": counts and counts._asdict(),
    }
