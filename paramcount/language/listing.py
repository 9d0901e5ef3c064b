"""The shipped specs by name, each with its variants and what it says of itself; nothing is counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from paramcount.language.language import SpecSyntax
from paramcount.language.load import syntax_of
from paramcount.language.usual_names import usual
from paramcount.language.yaml.source import shipped_specs
from paramcount.numbers.units import number_of
from paramcount.render.sheet import SCHEMA, Heading, Sheet

FEW = 12  # specs of which a terminal shows what they say, over several lines


class Listed(NamedTuple):
    """A shipped spec: the name that loads it, what it is called, its variants, and the models that they stand for."""

    name: str
    title: str
    variants: list[str]
    about: str
    source: str
    references: list[str]


def listing(word: str | None = None) -> list[Listed]:
    """Every shipped spec, or those with `word` in what they say of themselves.

    Case does not matter. Of a spec with the word in `name:variant` or in the reference of some variants alone, only
    those variants are listed. A word that none has may be the name by which another library knows a model.

    >>> [(each.name, each.variants) for each in listing("resnet:5")]
    [('resnet', ['50'])]
    >>> [(each.name, each.variants) for each in listing("meta-llama/Meta-Llama-3-8B")]
    [('llama', ['3-8b'])]
    """
    every = [(name, syntax_of(name)[0]) for name in shipped_specs()]
    found = [each for name, syntax in every if (each := chosen(name, syntax, (word or "").lower())) is not None]
    meant = usual(word) if word and not found else None
    if meant is None:
        return found
    spec, _, variant = meant.partition(":")
    syntax = dict(every)[spec]
    return [listed(spec, syntax, [variant] if variant else list(syntax.variants))]


def chosen(name: str, syntax: SpecSyntax, word: str) -> Listed | None:
    """A spec with the variants that have `word` in their names; with all of them if the spec itself has it."""
    references = {variant: expected.reference or "" for variant, expected in syntax.expect.items()}
    variants = list(syntax.variants)
    if not any(word in each.lower() for each in (name, syntax.name, syntax.about, references.get(None, ""))):
        variants = [
            each for each in variants if word in f"{name}:{each}".lower() or word in references.get(each, "").lower()
        ]
        if not variants:
            return None
    return listed(name, syntax, variants)


def listed(name: str, syntax: SpecSyntax, variants: list[str]) -> Listed:
    """A spec with some of its variants."""
    stands = [syntax.expect[each].reference for each in (None, *variants) if each in syntax.expect]
    return Listed(name, syntax.name, variants, syntax.about, syntax.source, [*filter(None, stands)])


def sheet(specs: Sequence[Listed]) -> Sheet:
    """A line for each spec."""
    headings = [
        Heading("name", "name"),
        Heading("title", "title", wrap=12, drop=2),
        Heading("variants", "variants", " ".join, wide=24, wrap=24),
        Heading("about", "about", drop=1, wide=30 if len(specs) <= FEW else 0, wrap=30),
    ]
    rows = [[getattr(each, heading.name) for heading in headings] for each in specs]
    variants = sum(len(each.variants) for each in specs)

    def data() -> dict[str, Any]:
        rows = [each._asdict() for each in specs]
        return {
            "schema": SCHEMA,
            "command": "list",
            "title": "shipped specs",
            "totals": {"specs": len(specs), "variants": variants},
            "rows": rows,
        }

    below = [f"{number_of(len(specs), 'spec')}, {number_of(variants, 'variant')}"]
    return Sheet("", headings, rows, (), below, data)
