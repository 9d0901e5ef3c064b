"""A spec file as read: its inputs, variables, blocks, layers, outputs and expected figures."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

from paramcount.errors import Position, SpecError, quote
from paramcount.errors.suggest import did_you_mean, nearest
from paramcount.graph.sharing import used_once
from paramcount.language.context import (
    AXES,
    Context,
    Enough,
    File,
    Keys,
    describe,
    empty,
    identifier,
    mapping_of,
    refuse_many,
    text_of,
    unknown,
    wrong,
)
from paramcount.language.definitions import read_blocks, read_defaults, read_includes
from paramcount.language.expect import Expectation, read_expect
from paramcount.language.inputs import InputSyntax, read_inputs
from paramcount.language.items import ItemSyntax
from paramcount.language.paths import read_items
from paramcount.language.reading import read_item
from paramcount.language.variables import undeclared
from paramcount.language.written import Template, read_template
from paramcount.language.yaml.nodes import Mapping, Node, Sequence
from paramcount.language.yaml.reader import read_text
from paramcount.language.yaml.source import read_source, shown_path

KEYS = [
    "name",
    "about",
    "source",
    "input",
    "inputs",
    "vars",
    "variants",
    "defaults",
    "include",
    "blocks",
    "layers",
    "outputs",
    "expect",
]
OF_BLOCKS = "each use of a block has weights of its own; `share` beside every use shares them"
APART = "a block shares within itself alone: share the whole block by a key beside its uses, or choose another key"


@dataclass(eq=False, repr=False)
class SpecSyntax:
    """A whole spec as read. Nothing in it depends on the values of variables."""

    file: File
    name: str
    about: str = ""
    source: str = ""
    inputs: dict[str, InputSyntax] = field(default_factory=dict)
    single: bool = True
    variables: dict[str, Node] = field(default_factory=dict)
    places: dict[str, Position] = field(default_factory=dict)
    variants: dict[str, dict[str, Node]] = field(default_factory=dict)
    items: list[ItemSyntax] = field(default_factory=list)
    outputs: dict[str, Template] | None = None
    expect: dict[str | None, Expectation] = field(default_factory=dict)  # None: the base
    declared: dict[str, Position] = field(default_factory=dict)
    keys: Keys = field(default_factory=Keys)

    def unused(self, used: set[str]) -> list[str]:
        """A warning for each variable and block that nothing uses."""
        found = []
        for word, position in self.places.items():
            if word not in used:
                found.append(f"{position}: the variable {quote(word)} is never used")
        for word, block in self.file.blocks.items():
            if word not in used and block.file is self.file:
                found.append(f"{block.position}: the block {quote(word)} is never used")
        return found + self.key_warnings()

    def key_warnings(self) -> list[str]:
        """A warning for each key of shared weights that shares nothing."""
        found = []
        for block in (None, *(block for block in self.file.blocks.values() if block.file is self.file)):
            keys = block.keys if block else self.keys
            where = f" in the block {quote(block.name)}" if block else ""
            alone = used_once(keys.uses)
            for key, position in keys.places.items():
                if key in alone:
                    remark = did_you_mean(alone[key], OF_BLOCKS if block else "it shares nothing")
                    found.append(f"{position}: the key {quote(key)} of `share`{where} is used once: {remark}")
        return found


def fresh_syntax(text: str, file: str) -> SpecSyntax:
    """A spec's text as read now."""
    return read_spec(read_text(text, file), file)


known_syntax = lru_cache(maxsize=128)(fresh_syntax)  # which holds all shipped specs, so that they are read once


def file_syntax(path: str) -> SpecSyntax:
    """A spec's file as read; the same text is read once, unless it includes files, which may have changed."""
    text, shown = read_source(path), shown_path(path)
    return (fresh_syntax if "include" in text else known_syntax)(text, shown)


def read_spec(root: Node, path: str) -> SpecSyntax:
    """Read a spec's nodes; every independent error in it is raised at once."""
    if not isinstance(root, Mapping):
        raise wrong(root, f"a spec is a mapping, and this is {describe(root)}", "start with `input:` and `layers:`")
    stem = os.path.basename(path).rsplit(".", 1)[0]
    spec = SpecSyntax(File(path), stem)
    with suppress(Enough):
        read_parts(spec, root, path)
    spec.file.report()
    return spec


def read_parts(spec: SpecSyntax, root: Mapping, path: str) -> None:
    context = Context(spec.file, read_item, declared=spec.declared, keys=spec.keys)
    parts = {key.text: value for key, value in root.entries}
    for key, _ in root.entries:
        if key.text not in KEYS:
            spec.file.note(unknown("key", key, KEYS))
    for key in ("name", "about", "source"):
        if key in parts:
            setattr(spec, key, context.attempt(text_of, parts[key], f"`{key}`") or "")
    context.attempt(read_variables, spec, parts, context)
    context = context.seeing(*spec.variables)
    spec.single = "inputs" not in parts
    spec.inputs = context.attempt(read_inputs, parts, root, context) or {}
    context = context.seeing(*AXES)
    if "include" in parts:
        context.attempt(read_includes, parts["include"], context, path)
    blocks = parts.get("blocks")
    if blocks is not None and not empty(blocks):
        context.attempt(read_blocks, blocks, context, parts.get("defaults"))
    elif "defaults" in parts:
        context.attempt(lambda: read_defaults(mapping_of(parts["defaults"], "`defaults`"), context))
    if "layers" in parts:
        spec.items = context.attempt(read_items, parts["layers"], context) or []
        if isinstance(parts["layers"], Sequence) and not parts["layers"].items:
            spec.file.note(wrong(parts["layers"], "`layers` is empty", "list at least one layer"))
    elif not any(nearest(key.text, ["layers"]) for key, _ in root.entries):
        spec.file.note(wrong(root, "missing `layers:`", "e.g. `layers: [dense: 10]`"))
    if "outputs" in parts:
        spec.outputs = context.attempt(read_outputs, parts["outputs"], context)
    if "expect" in parts:
        spec.expect = context.attempt(read_expect, parts["expect"], spec.variants, context) or {}
    refuse_keys_across(spec)


def refuse_keys_across(spec: SpecSyntax) -> None:
    """Note each key of shared weights that stands in the file and in one of its blocks, where it would not share."""
    for block in spec.file.blocks.values():
        for key, position in block.keys.places.items():
            if key in spec.keys.places:
                message = f"the key {quote(key)} of `share` in the block {quote(block.name)} is not that of the file"
                message += f", at {spec.keys.places[key]}"
                spec.file.note(SpecError(message, hint=APART, position=position))


def read_variables(spec: SpecSyntax, parts: dict[str, Node], context: Context) -> None:
    """`vars` and `variants`: their nodes by name; the values are read when it is known which hold."""
    if "vars" in parts and not empty(parts["vars"]):
        given = mapping_of(parts["vars"], "`vars`")
        refuse_many(given, "variables")
        for key, value in given.entries:
            name = context.attempt(identifier, key, "a variable")
            if name:
                spec.variables[name], spec.places[name] = value, key.position
    if "variants" not in parts or empty(parts["variants"]):
        return
    for key, value in mapping_of(parts["variants"], "`variants`").entries:
        settings = spec.variants[key.text] = {}
        given = None if empty(value) else context.attempt(mapping_of, value, "a variant")
        for name, setting in given.entries if given else []:
            if name.text in spec.variables:
                settings[name.text] = setting
            else:
                spec.file.note(undeclared(name.text, spec.variables, name.position))


def read_outputs(node: Node, context: Context) -> dict[str, Template]:
    if isinstance(node, Mapping):
        return {text_of(key, "a label"): read_template(value, context, "an output") for key, value in node.entries}
    items = node.items if isinstance(node, Sequence) else [node]
    templates = [read_template(each, context, "an output") for each in items]
    if not templates:
        raise wrong(node, "`outputs` is empty", "list a name, or leave it out for the last value")
    return {template.text: template for template in templates}
