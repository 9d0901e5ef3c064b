"""Loading a spec: from a file's or a shipped spec's name, with a variant and variables, to a network."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from paramcount.errors import SpecError, quote
from paramcount.errors.suggest import did_you_mean
from paramcount.graph.network import Network, Subject
from paramcount.graph.tree import Graph
from paramcount.language.address import own_settings, with_own
from paramcount.language.bindings import Bindings
from paramcount.language.expect import Expectation, Limit
from paramcount.language.items import bind
from paramcount.language.language import SpecSyntax, file_syntax, fresh_syntax
from paramcount.language.variables import all_variables, given_value, undeclared, variable_values
from paramcount.language.yaml.nodes import Node
from paramcount.language.yaml.reader import read_text
from paramcount.language.yaml.source import FOLDERS, shipped_specs
from paramcount.layers.arguments import argument, file_path
from paramcount.layers.fields import Text


class Loaded(Network):
    """A network from a spec, with what the spec says of itself.

    `vars` holds the value of every variable, `given` those set by hand, `overridden` tells whether there are any,
    `expect` lists what figures must be, with places, `reference` the model that it stands for, `variants` the
    names there are.
    """

    def __init__(self, syntax: SpecSyntax, variant: str | None, given: dict[str, Any]) -> None:
        nodes = chosen_variables(syntax, variant)
        fixed = set_by_hand(syntax, nodes, given)
        self.vars, used = variable_values(syntax.file, nodes, fixed)
        self.unused = syntax.unused(used | syntax.file.used)
        self.variant = variant
        self.given = {name: self.vars[name] for name in given}
        self.overridden = bool(given)
        self.source = syntax.source
        self.about = syntax.about
        self.file = syntax.file.path
        self.variants = list(syntax.variants)
        expected = expectation(syntax, variant)
        self.expect: list[Limit] = expected.limits
        self.reference = expected.reference
        base = Bindings(self.vars)
        shapes = {name: each.shape(base) for name, each in syntax.inputs.items()}
        outputs = syntax.outputs
        super().__init__(
            bind(syntax.items, base),
            input=shapes["input"] if syntax.single else None,
            inputs=None if syntax.single else shapes,
            outputs=None if outputs is None else {label: each.evaluate(base, None) for label, each in outputs.items()},
            name=syntax.name,
            declared=syntax.declared,
        )

    @property
    def subject(self) -> Subject:
        return Subject(self.name, self.variant, self.vars, self.given, self.inputs)

    def warnings_of(self, graph: Graph) -> list[str]:
        """What is odd but not wrong in the spec too: variables and blocks that nothing uses."""
        return graph.warnings + self.unused


def load(
    path: str, /, variant: str | None = None, *, vars: Mapping[str, Any] | None = None, **variables: Any
) -> Loaded:
    """The network of a spec: a file, or the name of a shipped spec, `name:variant@width=0.5` included.

    `variables` override the spec's vars: numbers, lists, words, or text that is read as an expression. Those whose
    names have another meaning here, such as `variant`, are given in the mapping `vars`. Raises a ParamcountError that
    says what is wrong and where.

    >>> load("mlp").graph().outputs["output"].shape.sizes
    (10,)
    """
    path, own = own_settings(file_path("a spec", path))
    syntax, given = syntax_of(path)
    chosen = variant if variant is not None else given
    return expanded(Loaded(syntax, chosen, with_own(own, all_variables(variables, vars))))


def loads(
    text: str,
    /,
    variant: str | None = None,
    file: str = "<text>",
    *,
    vars: Mapping[str, Any] | None = None,
    **variables: Any,
) -> Loaded:
    """The network of a spec that is given as text; `file` is what errors call it.

    >>> loads("{input: {features: 784}, layers: [dense: 10]}").graph().outputs["output"].shape.sizes
    (10,)
    """
    chosen = all_variables(variables, vars)
    return expanded(Loaded(fresh_syntax(argument("text", text, Text()), file_path("file", file)), variant, chosen))


def expanded(network: Loaded) -> Loaded:
    """The network, after a first expansion, which raises the errors of its shapes."""
    network.graph()
    return network


def syntax_of(path: str) -> tuple[SpecSyntax, str | None]:
    """A spec by its name, as read, and the variant behind its colon."""
    file, variant = locate(file_path("a spec", path))
    return file_syntax(file), variant


def chosen_variables(syntax: SpecSyntax, variant: str | None) -> dict[str, Node]:
    """The variables as written, with those of a variant."""
    if variant is None:
        return dict(syntax.variables)
    if argument("variant", variant, Text()) not in syntax.variants:
        from paramcount.language.usual_names import like

        known = f"the variants are {', '.join(syntax.variants)}" if syntax.variants else "the spec has no variants"
        hint = did_you_mean(like(variant, syntax.variants), known)
        raise SpecError(f"{quote(syntax.name)} has no variant {quote(variant)}", hint=hint)
    return syntax.variables | syntax.variants[variant]


def set_by_hand(syntax: SpecSyntax, nodes: dict[str, Node], given: dict[str, Any]) -> dict[str, Any]:
    """The values that are set in Python; those that are text take the place of what is written."""
    fixed: dict[str, Any] = {}
    for name, value in given.items():
        if name not in syntax.variables:
            raise undeclared(name, list(syntax.variables), None)
        if isinstance(value, str) and not value.strip():
            raise SpecError(f"{quote(name)} is set to nothing", hint=f"write a value, as in `{name}=1`")
        if isinstance(value, str):
            nodes[name] = read_text(value, name)
        else:
            fixed[name] = given_value(name, value)
    return fixed


def expectation(syntax: SpecSyntax, variant: str | None) -> Expectation:
    """The expected figures of a variant; those of the base for a variant that sets nothing."""
    if variant is not None and variant not in syntax.expect and not syntax.variants[variant]:
        variant = None
    return syntax.expect.get(variant, Expectation())


def locate(path: str) -> tuple[str, str | None]:
    """The file of a spec's name, and the variant behind a colon; raises ArgumentError where there is none."""
    name, _, variant = path.rpartition(":")
    for candidate, chosen in ((path, None), (name, variant)):
        if candidate and os.path.exists(candidate) and (os.sep in candidate or "." in candidate):
            return candidate, chosen
        for folder in FOLDERS if candidate and os.sep not in candidate else ():
            file = os.path.join(folder, candidate if candidate.endswith(".yaml") else f"{candidate}.yaml")
            if os.path.isfile(file):
                return file, chosen
    word = name or path
    if os.path.exists(word):
        return word, (variant or None) if name else None
    from paramcount.language.usual_names import no_spec

    raise no_spec(path, word)


def shipped_networks() -> Iterator[tuple[str, Loaded]]:
    """Every shipped spec's name with its network in each variant, and in the base if that is none of them."""
    for name in shipped_specs():
        syntax, _ = syntax_of(name)
        for variant in every_variant(syntax):
            yield name, Loaded(syntax, variant, {})


def every_variant(syntax: SpecSyntax) -> list[str | None]:
    """The names of a spec's variants, after None for the base if that is none of them."""
    same = any(not settings and name not in syntax.expect for name, settings in syntax.variants.items())
    return [*([] if same else [None]), *syntax.variants]
