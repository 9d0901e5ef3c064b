"""What a spec says of itself: its description, inputs, variants and variables, as they are written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from paramcount.errors import printable, quote
from paramcount.graph.network import as_written
from paramcount.language.address import own_settings, with_own
from paramcount.language.bindings import Bindings
from paramcount.language.inputs import InputSyntax
from paramcount.language.language import SpecSyntax
from paramcount.language.load import chosen_variables, expectation, set_by_hand, syntax_of
from paramcount.language.variables import all_variables, variable_values
from paramcount.language.written import Formula
from paramcount.language.yaml.nodes import Node, Scalar, Sequence
from paramcount.layers.arguments import file_path
from paramcount.layers.layer import Shape
from paramcount.numbers.units import number_of
from paramcount.render.sheet import PEOPLE, PROGRAMS, SCHEMA, Heading, Sheet
from paramcount.render.shown import Shown


class Variable(NamedTuple):
    """A variable of a spec: what the base and the variant write, what is set by hand, and the value that this gives.

    `variant` and `given` are None if they leave it as it is; `computed` tells whether other variables are used.
    """

    name: str
    base: str
    variant: str | None
    given: str | None
    value: Any
    computed: bool


class Input(NamedTuple):
    """An input of a spec: the shape of one example, and each size as written."""

    shape: Shape
    written: tuple[str, ...]

    def __str__(self) -> str:
        names = [each for each in dict.fromkeys(self.written) if not each.isdigit()]
        return f"{self.shape.described} ({', '.join(names)})" if names else self.shape.described


@dataclass(frozen=True)
class Information(Shown):
    """What a spec says of itself, in one variant; no layer is counted.

    `spec` is the name that loads it, `reference` the model that it stands for, `inputs` and `variables` are by name,
    and `variants` holds what each of them sets, as written.
    """

    spec: str
    name: str
    variant: str | None
    about: str
    source: str
    reference: str | None
    inputs: dict[str, Input]
    variables: dict[str, Variable]
    variants: dict[str, dict[str, str]]

    def __repr__(self) -> str:
        return f"<Information {printable(self.spec)}: {number_of(len(self.variables), 'variable')}>"

    @property
    def title(self) -> str:
        return f"{self.spec}  {self.name}"

    def sheet(self) -> Sheet:
        """The variables as a table, below what the spec says."""
        headings = [
            Heading("variable", "variable", if_any=True),
            Heading("base", "base", wide=40, cut=True, if_any=True),
            Heading("variant", self.variant or "variant", wide=40, cut=True, if_any=True),
            Heading("given", "set", wide=40, cut=True, if_any=True),
            Heading("value", "value", as_written, wide=40, cut=True, if_any=True, reader=PEOPLE),
            Heading("value", "value", as_written, reader=PROGRAMS),
        ]
        rows = [
            (each.name, each.base, each.variant, each.given, each.value if each.computed else None, each.value)
            for each in self.variables.values()
        ]
        above = Sheet("", (), (), (), self.lines(), self.to_dict)
        return Sheet(self.title, headings, rows, (), self.notes(), self.to_dict, above=above)

    def lines(self) -> list[str]:
        """The description, and then the inputs and the variants."""
        reference = f"stands for {self.reference}" if self.reference else ""
        lines = [*filter(None, (self.about, self.source, reference))]
        if lines:
            lines.append("")
        if len(self.inputs) == 1:
            lines += [f"input     {each}" for each in self.inputs.values()]
        else:
            labels = ("inputs", *[""] * len(self.inputs))
            named = zip(labels, self.inputs.items(), strict=False)
            lines += [f"{label:8}  {name}: {each}" for label, (name, each) in named]
        if self.variants:
            lines.append(f"variants  {'  '.join(self.variants)}")
        return lines

    def notes(self) -> list[str]:
        if not self.variables:
            return ["the spec has no variables"]
        if self.variant is not None and not self.variants[self.variant]:
            return [f"{quote(self.variant)} is the base"]
        return []

    def to_dict(self) -> dict[str, Any]:
        """The information as plain values: what is written is text, and `value` what it gives."""
        return {
            "schema": SCHEMA,
            "command": "info",
            "title": self.title,
            "spec": self.spec,
            "name": self.name,
            "variant": self.variant,
            "about": self.about,
            "source": self.source,
            "reference": self.reference,
            "inputs": {
                name: {"layout": shape.layout, "shape": list(shape.sizes), "written": list(written)}
                for name, (shape, written) in self.inputs.items()
            },
            "variants": self.variants,
            "rows": [
                dict(zip(("variable", "base", "variant", "given", "value"), each, strict=False))
                for each in self.variables.values()
            ],
        }


def info(spec: str, /, variant: str | None = None, *, vars: Mapping[str, Any] | None = None) -> Information:
    """What a spec says of itself: a file, or the name of a shipped spec, `name:variant` included.

    `vars` override the spec's variables, as for `load`. Raises a ParamcountError that says what is wrong and where.

    >>> found = info("llama:3-8b")
    >>> found.variables["depth"].base, found.variables["depth"].value
    ('16', 32)
    """
    path, own = own_settings(file_path("a spec", spec))
    syntax, named = syntax_of(path)
    stem = path if named is None else path.removesuffix(f":{named}")
    given = with_own(own, all_variables({}, vars))
    return information(syntax, stem, variant if variant is not None else named, given)


def information(syntax: SpecSyntax, spec: str, variant: str | None, given: Mapping[str, Any]) -> Information:
    """What a spec that was read says of itself; `spec` is its name without a variant."""
    nodes = chosen_variables(syntax, variant)
    fixed = set_by_hand(syntax, nodes, dict(given))
    values, _ = variable_values(syntax.file, nodes, fixed)
    bindings = Bindings(values)
    own = syntax.variants[variant] if variant is not None else {}
    variables = {}
    for name, node in syntax.variables.items():
        base, changed = text(node), text(own[name]) if name in own else None
        by_hand = as_written(given[name]) if name in given else None
        used = re.findall(r"[A-Za-z_]\w*", next(filter(None, (by_hand, changed, base))))
        variables[name] = Variable(name, base, changed, by_hand, values[name], not values.keys().isdisjoint(used))
    return Information(
        f"{spec}:{variant}" if variant is not None else spec,
        syntax.name,
        variant,
        syntax.about,
        syntax.source,
        expectation(syntax, variant).reference,
        {name: read_input(each, bindings) for name, each in syntax.inputs.items()},
        variables,
        {name: {each: text(node) for each, node in settings.items()} for name, settings in syntax.variants.items()},
    )


def read_input(syntax: InputSyntax, bindings: Bindings) -> Input:
    shape = syntax.shape(bindings)
    written = [
        each.expression.text if isinstance(each, Formula) else str(size)
        for each, size in zip(syntax.sizes, shape.sizes, strict=True)
    ]
    return Input(shape, tuple(written))


def text(node: Node) -> str:
    """A value as it is written, a list on one line."""
    if isinstance(node, Scalar):
        return node.text.strip()
    if isinstance(node, Sequence):
        return f"[{', '.join(map(text, node.items))}]"
    return f"{{{', '.join(f'{key.text}: {text(value)}' for key, value in node.entries)}}}"  # wrong, in another variant
