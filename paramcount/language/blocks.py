"""Blocks of the spec language: how one is written, and how it is expanded."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from paramcount.errors import Position, quote
from paramcount.graph.block import Block
from paramcount.language.bindings import EMPTY, Bindings, Default
from paramcount.language.context import Context, File, Keys, empty, identifier, mapping_of, refuse_many, unknown, wrong
from paramcount.language.items import ItemSyntax, SpecItem, bind
from paramcount.language.paths import read_items, read_path
from paramcount.language.signature import Signature
from paramcount.language.written import ANY_KIND, Formula, Template, Written, read_template, read_value
from paramcount.language.yaml.nodes import Mapping, Node, Scalar, Sequence
from paramcount.layers.fields import Check, ValuePath
from paramcount.layers.layer import Item, Shape

GIVEN = "given"  # what an expression sees of an input that is given: something other than `none`
KEYS = ("args", "inputs", "layers", "outputs")


class Anything(Check):
    """An argument of a block: a number, a flag, a list, or a word that some layer takes."""

    words = ANY_KIND
    allows = "a number, true or false, a word, or a list"


@dataclass(eq=False, repr=False)
class BlockDefinition:
    """A block as written: arguments and inputs with their defaults (None where required), items and outputs."""

    name: str
    file: File
    position: Position
    arguments: dict[str, Written | None] = field(default_factory=dict)
    inputs: dict[str, Written | None] = field(default_factory=dict)
    items: list[ItemSyntax] = field(default_factory=list)
    outputs: list[Template] = field(default_factory=list)
    declared: dict[str, Position] = field(default_factory=dict)
    calls: dict[str, Position] = field(default_factory=dict)
    keys: Keys = field(default_factory=Keys)

    @cached_property
    def signature(self) -> Signature:
        """What the block takes: its arguments, then its inputs."""
        given = {**self.arguments, **self.inputs}
        checks: dict[str, Check] = {name: ValuePath() if name in self.inputs else Anything() for name in given}
        required = tuple(name for name, value in given.items() if value is None)
        words = {name: name for name in given}
        return Signature(self.name, checks, required, tuple(self.arguments), words, meanings=dict.fromkeys(given, ""))


class SpecBlock(Block):
    """A block with its arguments, ready to be expanded."""

    def __init__(
        self,
        definition: BlockDefinition,
        arguments: dict[str, Any],
        given: dict[str, Any],
        position: Position | None = None,
        base: Bindings = EMPTY,
    ) -> None:
        self.definition = definition
        self.arguments = arguments
        self.given = given
        self.position = position
        self.base = base
        self.kind = definition.name
        self.declared = definition.declared
        self.outputs = [output.evaluate(base, None) for output in definition.outputs]

    @property
    def setting(self) -> str:  # type: ignore[override]
        shown = (item for item in self.arguments.items() if item[0] != "out" and item[1] is not None)
        return " ".join(f"{name}={brief(value)}" for name, value in shown)

    def inputs(self) -> dict[str, Any]:
        found = {}
        for name, default in self.definition.inputs.items():
            if name in self.given:
                found[name] = self.given[name]
            elif default is not None:
                found[name] = default.evaluate(self.base, None)
        return found

    def expand(self, *inputs: Shape | None) -> list[SpecItem]:
        shape, *given = inputs
        values = dict(self.base.values)
        for name, found in zip(self.inputs(), given, strict=True):
            if self.definition.inputs[name] is not None:  # conditions ask whether it is given: `more != none`
                values[name] = None if found is None else GIVEN
        bindings = Bindings(values, base=self.base)
        for name, default in self.definition.arguments.items():
            if name in self.arguments:
                values[name] = self.arguments[name]
            elif default is not None:
                values[name] = default.evaluate(bindings, shape)
                if isinstance(default, Formula):
                    bindings.defaults[name] = Default(default.expression, bindings, shape)
        return bind(self.definition.items, bindings)


def brief(value: Any) -> str:
    if isinstance(value, Item):
        return getattr(value, "kind", "item")
    return "×".join(map(str, value)) if isinstance(value, list) else str(value).lower() if value is True else str(value)


def read_signature(key: Scalar, node: Node, context: Context) -> BlockDefinition:
    """A block's arguments and inputs, before any body is read."""
    name = identifier(key, "the name of a block")
    block = BlockDefinition(name, context.file, key.position)
    seen = {*context.names, "cin", "length"}
    place = replace(context, names=seen)  # an argument's default sees those before it
    if not isinstance(node, Mapping) or node.get("layers") is None:
        raise wrong(key, f"the block {quote(name)} needs `layers`", f"write `{name}: {{layers: [...]}}`")
    for part, _ in node.entries:
        if part.text not in KEYS:
            raise unknown(f"key of the block {quote(name)}:", part, KEYS)
    given = node.get("args")
    arguments = Mapping([], key.position) if given is None or empty(given) else mapping_of(given, "`args`")
    refuse_many(arguments, "arguments")
    for argument, value in arguments.entries:
        word = identifier(argument, "an argument")
        if empty(value):
            hint = f"write `{word}: required`, or its default"
            raise wrong(argument, f"the argument {quote(word)} has no default", hint)
        required = isinstance(value, Scalar) and value.text == "required"
        block.arguments[word] = None if required else read_value(value, place, ANY_KIND, word)
        seen.add(word)
    inputs = node.get("inputs")
    if isinstance(inputs, Sequence):
        for each in inputs.items:
            name = identifier(each, "an input")
            if name in block.inputs:
                raise wrong(each, f"the input {quote(name)} is given twice", "keep one of the two")
            block.inputs[name] = None
    elif inputs is not None and not empty(inputs):
        for each, value in mapping_of(inputs, "`inputs`").entries:
            required = isinstance(value, Scalar) and value.text == "required"
            block.inputs[identifier(each, "an input")] = None if required else read_path(value, context)
    both = [name for name in block.inputs if name in block.arguments]
    if both:
        raise wrong(inputs or node, f"{quote(both[0])} is an argument and an input", "give one of them another name")
    return block


def read_body(block: BlockDefinition, node: Mapping, context: Context) -> None:
    """A block's items and outputs; they see the file's variables and the block's arguments."""
    optional = [name for name, default in block.inputs.items() if default is not None]
    names = context.names | {*block.arguments, *optional, "cin", "length"}
    inside = Context(context.file, context.read_item, names, block.declared, block.calls, block.keys)
    layers = node.get("layers")
    assert layers is not None
    block.items = read_items(layers, inside, "layers")
    outputs = node.get("outputs")
    if outputs is not None:
        items = outputs.items if isinstance(outputs, Sequence) else [outputs]
        block.outputs = [read_template(each, inside, "an output") for each in items]
