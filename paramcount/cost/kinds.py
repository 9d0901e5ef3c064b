"""All that specs can write as sheets: the list, and one kind with an example that is counted here."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any, NamedTuple

from paramcount.cost.count import count
from paramcount.errors import ParamcountError
from paramcount.language.description import Description, describe, families
from paramcount.language.load import loads
from paramcount.numbers.units import grouped
from paramcount.render.sheet import CODE, PEOPLE, PROGRAMS, SCHEMA, Heading, Sheet
from paramcount.render.table import aligned

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
    rows, before = [], ""
    for family, kind, sentence in listed():
        rows.append((family, "" if family == before else family, kind, sentence))
        before = family
    headings = [
        Heading("family", "family", reader=PROGRAMS),
        Heading("of", "family", reader=PEOPLE),
        Heading("kind", "kind"),
        Heading("sentence", "what it is", wrap=30),
    ]
    below = ("`paramcount kinds KIND` shows one: its arguments, what it counts, and an example",)
    return Sheet("", headings, rows, (), below, lambda: data_of_list(rows))


def data_of_list(rows: list[tuple[str, str, str, str]]) -> dict[str, Any]:
    """The list for JSON."""
    kinds = [{"family": family, "kind": kind, "sentence": sentence} for family, _, kind, sentence in rows]
    return {"schema": SCHEMA, "command": "kinds", "rows": kinds}


def kind_sheet(word: str) -> Sheet:
    """One kind, form, modifier or block: its arguments, what it counts, and an example with its figures.

    Raises ArgumentError for a word that specs do not have.
    """
    found = describe(word)
    counts = counts_of(found.example) if found.example else None
    headings = [
        Heading("argument", "argument"),
        Heading("takes", "takes", wrap=16),
        Heading("default", "default", wrap=8),
        Heading("meaning", "meaning", wrap=20),
    ]
    rows = [(each.name, each.takes, each.default, each.meaning) for each in found.arguments]
    about = [line for each in filter(None, (found.sentence, *found.formulas)) for line in ("", each)]
    above = Sheet("", (), (), (), (*usage_of(found), *about), dict)
    below = example_of(found.example, counts) if counts else ["no example: its class has none that a spec can write"]
    title = f"{found.kind} ({found.family})"
    return Sheet(title, headings, rows, (), below, lambda: data_of(found, counts), above=above)


def usage_of(found: Description) -> list[str]:
    """How it is written, in lines of code."""
    begin = " " * len(f"{found.kind}: ")
    lines = code(found.usage, begin + " ")
    if found.whole:
        lines += code(f"{begin}a {found.whole} is taken whole")
    if found.by_name:
        lines += code(f"{begin}by name: {', '.join(found.by_name)}", begin)
    return lines


def code(text: str, indent: str = "") -> list[str]:
    """A text in lines of code, all but the first further indented."""
    width = READABLE - len(CODE)
    lines = wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [CODE + line for line in lines]


def example_of(example: str, counts: Counts) -> list[str]:
    """An example and what it costs, in lines."""
    figures = [
        ("output", counts.output),
        ("params", grouped(counts.params)),
        ("weights (bias-free)", grouped(counts.weights)),
        ("MACs", grouped(counts.macs)),
        ("elementwise operations", grouped(counts.elementwise)),
    ]
    shown = [*example.splitlines(), "", *aligned(figures, ("left", "right")).split("\n")]
    return ["example:", "", *(CODE + line if line else "" for line in shown)]


def data_of(found: Description, counts: Counts | None) -> dict[str, Any]:
    """One kind for JSON."""
    return {
        "schema": SCHEMA,
        "command": "kinds",
        "kind": found.kind,
        "family": found.family,
        "signature": found.signature,
        "sentence": found.sentence,
        "arguments": [each._asdict() | {"required": each.default is None} for each in found.arguments],
        "formulas": found.formulas,
        "example": found.example or None,
        "figures": counts and counts._asdict(),
    }
