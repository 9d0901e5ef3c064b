"""A spec file as read: its inputs, variables, blocks, layers, outputs and expected figures."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from paramcount.errors import ParamcountError, Position, SpecError, quote
from paramcount.layer import LAYOUTS, Shape
from paramcount.layers import MODULES, registry
from paramcount.spec.bindings import Bindings
from paramcount.spec.blocks import read_body, read_signature, refuse_circles
from paramcount.spec.context import (
    AXES,
    MOST_ERRORS,
    RESERVED,
    Context,
    Enough,
    File,
    describe,
    empty,
    identifier,
    mapping_of,
    text_of,
    wrong,
)
from paramcount.spec.forms import FORMS
from paramcount.spec.items import ItemSyntax, read_items
from paramcount.spec.kinds import read_defaults
from paramcount.spec.nodes import Mapping, Node, Scalar, Sequence, read_text
from paramcount.spec.source import read_source
from paramcount.spec.written import ANY_KIND, Constant, Template, Written, read_template, read_value
from paramcount.suggest import nearest

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
FIGURES = ("params", "weights", "macs", "buffers", "active_params")
DEEPEST = 32  # of variables that use each other, and of files that include each other
AXIS_NAMES = {
    "image": ("height", "width", "channels"),
    "volume": ("depth", "height", "width", "channels"),
    "sequence": ("length", "channels"),
    "features": ("features",),
    "tokens": ("length",),
}


@dataclass(eq=False, repr=False)
class InputSyntax:
    """An input: its layout and its sizes; `named` ones were written with the names of the axes."""

    layout: str
    sizes: list[Written]
    position: Position
    named: bool = False

    def shape(self, bindings: Bindings) -> Shape:
        sizes = []
        for written in self.sizes:
            size = written.evaluate(bindings, None)
            if isinstance(size, float) and size.is_integer():
                size = int(size)
            if isinstance(size, bool) or not (
                isinstance(size, int) or hasattr(size, "dtype") or hasattr(size, "array")
            ):
                message = f"a size of the input must be a whole number, not {quote(size)}"
                raise SpecError(message, position=written.position)
            if isinstance(size, int) and size < 1:
                raise SpecError(f"a size of the input must be at least 1, not {size}", position=written.position)
            sizes.append(size)
        self.refuse_channels_first(sizes)
        return Shape(tuple(sizes), self.layout)

    def refuse_channels_first(self, sizes: list[Any]) -> None:
        if self.layout != "image" or self.named or not all(isinstance(size, int) for size in sizes):
            return
        first, second, last = sizes
        if first in (1, 3, 4) and last >= 16 and second >= 16:
            raise SpecError(
                f"image is [height, width, channels]; did you mean [{second}, {last}, {first}]?",
                hint=f"if you mean it, write {{image: {{height: {first}, width: {second}, channels: {last}}}}}",
                position=self.position,
            )


@dataclass(eq=False, repr=False)
class Expectation:
    """Figures that a spec must count to, each with its place, and the model that it stands for."""

    figures: dict[str, tuple[int, Position]] = field(default_factory=dict)
    reference: str | None = None


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

    def unused(self) -> list[str]:
        """A warning for each variable and block that nothing uses."""
        found = []
        for word, position in self.places.items():
            if word not in self.file.used:
                found.append(f"{position}: warning: the variable {quote(word)} is never used")
        for word, block in self.file.blocks.items():
            if word not in self.file.used and block.file is self.file:
                found.append(f"{block.position}: warning: the block {quote(word)} is never used")
        return found


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
    context = Context(spec.file, declared=spec.declared)
    parts = {key.text: value for key, value in root.entries}
    for key, _ in root.entries:
        if key.text not in KEYS:
            guess = nearest(key.text, KEYS)
            hint = f"did you mean `{guess}`?" if guess else f"the keys are {', '.join(KEYS)}"
            spec.file.note(wrong(key, f"unknown key {quote(key.text)}", hint))
    for key in ("name", "about", "source"):
        if key in parts:
            setattr(spec, key, context.attempt(text_of, parts[key], f"`{key}`") or "")
    context.attempt(read_variables, spec, parts, context)
    context = context.seeing(*spec.variables)
    context.attempt(read_inputs, spec, parts, root, context)
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
        context.attempt(read_expect, spec, parts["expect"], context)


def read_variables(spec: SpecSyntax, parts: dict[str, Node], context: Context) -> None:
    """`vars` and `variants`: their nodes by name; the values are read when it is known which hold."""
    if "vars" in parts and not empty(parts["vars"]):
        for key, value in mapping_of(parts["vars"], "`vars`").entries:
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


def undeclared(name: str, variables: Any, position: Position | None) -> SpecError:
    """The error for setting a variable that the spec does not have."""
    guess = nearest(name, variables)
    known = f"the variables are {', '.join(variables)}" if variables else "the spec has no variables"
    hint = f"did you mean `{guess}`?" if guess else known
    return SpecError(f"there is no variable {quote(name)}", hint=hint, position=position)


def variable_values(spec: SpecSyntax, nodes: dict[str, Node], fixed: dict[str, Any]) -> dict[str, Any]:
    """The values of all variables, each read after those that it uses; raises SpecError for a circle."""
    values: dict[str, Any] = dict(fixed)
    context = Context(spec.file, frozenset(spec.variables))
    active: list[str] = []

    def find(name: str) -> Any:
        if name in values:
            return values[name]
        if name in active:
            raise circle([*active[active.index(name) :], name], nodes)
        if len(active) == DEEPEST:
            message = f"more than {DEEPEST} variables that each need the next: {' -> '.join(active[:3])} -> ..."
            raise SpecError(message, hint="give one of them a number", position=nodes[active[0]].position)
        active.append(name)
        written = read_value(nodes[name], context, ANY_KIND, name)
        values[name] = written.evaluate(Lazy(find), None)
        active.pop()
        return values[name]

    for name in nodes:
        try:
            find(name)
        except ParamcountError as error:
            values.update(dict.fromkeys(active, 1))
            active.clear()
            if error.position not in [other.position for other in spec.file.errors]:
                spec.file.errors.append(error)
        if len(spec.file.errors) >= MOST_ERRORS:
            break
    spec.file.report()
    return values


class Lazy(Bindings):
    """Bindings that find a variable when an expression asks for it."""

    __slots__ = ("find",)

    def __init__(self, find: Any) -> None:
        super().__init__({})
        self.find = find

    def evaluate(self, expression: Any, shape: Shape | None) -> Any:
        return expression.evaluate(self.find)


def circle(names: list[str], nodes: dict[str, Node]) -> SpecError:
    places = ", ".join(f"{quote(name)} at {nodes[name].position}" for name in names[:-1])
    return SpecError(
        f"variables in a circle: {' -> '.join(names)} ({places})",
        hint="give one of them a number",
        position=nodes[names[0]].position,
    )


def read_inputs(spec: SpecSyntax, parts: dict[str, Node], root: Node, context: Context) -> None:
    if "input" in parts and "inputs" in parts:
        raise wrong(parts["inputs"], "`input` and `inputs` exclude each other", "name all of them under `inputs:`")
    if "input" in parts:
        spec.inputs["input"] = read_input(parts["input"], context)
        return
    if "inputs" not in parts:
        raise wrong(root, "missing `input:`", "say what arrives, e.g. `input: {image: [224, 224, 3]}`")
    spec.single = False
    given = mapping_of(parts["inputs"], "`inputs`")
    if not given.entries:
        raise wrong(given, "`inputs` is empty", "name at least one, as in `inputs: {picture: {image: [224, 224, 3]}}`")
    for key, value in given.entries:
        if key.text in RESERVED:
            spec.file.note(wrong(key, f"{quote(key.text)} is reserved", "choose another name"))
        read = context.attempt(read_input, value, context)
        if read is not None:
            spec.inputs[text_of(key, "an input's name")] = read


def read_input(node: Node, context: Context) -> InputSyntax:
    example = "{image: [height, width, channels]}, {features: n}, {sequence: [length, width]} or {tokens: [length]}"
    if not isinstance(node, Mapping):
        shown = (
            "[" + ", ".join(getattr(each, "text", "...") for each in node.items) + "]"
            if isinstance(node, Sequence)
            else ""
        )
        guess = {3: f"{{image: {shown}}}", 2: f"{{sequence: {shown}}}", 1: "{features: ...} or {tokens: ...}"}
        count = len(node.items) if isinstance(node, Sequence) else 1
        raise wrong(
            node,
            f"an input must say what its numbers mean, and this is {describe(node)}",
            f"write {guess.get(count, example)}; the layouts are {example}",
        )
    if len(node.entries) != 1:
        raise wrong(node, f"an input has one layout, and this has {len(node.entries)}", f"write {example}")
    key, value = node.entries[0]
    if key.text not in LAYOUTS:
        guess = nearest(key.text, LAYOUTS)
        raise wrong(
            key, f"unknown layout {quote(key.text)}", f"did you mean `{guess}`?" if guess else f"write {example}"
        )
    names = AXIS_NAMES[key.text]
    if isinstance(value, Mapping):
        return read_named_input(key.text, names, value, context)
    nodes = value.items if isinstance(value, Sequence) else [value]
    if len(nodes) != len(names):
        words = {1: "one number", 2: "two numbers", 3: "three numbers", 4: "four numbers"}[len(names)]
        raise wrong(
            value,
            f"{key.text} takes {words}, [{', '.join(names)}], and got {len(nodes)}",
            "give one example's sizes, without a batch; use `--batch` for a batch",
        )
    return InputSyntax(key.text, [read_value(each, context, what="size") for each in nodes], value.position)


def read_named_input(layout: str, names: tuple[str, ...], node: Mapping, context: Context) -> InputSyntax:
    given = {key.text: value for key, value in node.entries}
    for key, _ in node.entries:
        if key.text not in names:
            raise wrong(key, f"{layout} has no axis {quote(key.text)}", f"its axes are {', '.join(names)}")
    for name in names:
        if name not in given:
            raise wrong(node, f"{layout} needs {quote(name)}", f"its axes are {', '.join(names)}")
    sizes = [read_value(given[name], context, what=name) for name in names]
    return InputSyntax(layout, sizes, node.position, named=True)


def read_blocks(node: Node, context: Context, defaults: Node | None = None) -> None:
    """Blocks: first all signatures, so that they may call each other; then the defaults; then the bodies."""
    found = []
    for key, value in mapping_of(node, "`blocks`").entries:
        if key.text in registry or key.text in MODULES or key.text in FORMS:
            hint = "choose another name; a block may stand for a shipped block, never for a kind"
            context.file.note(wrong(key, f"{quote(key.text)} is a kind", hint))
            continue
        block = context.attempt(read_signature, key, value, context)
        if block is None:
            context.file.broken.add(key.text)
        else:
            context.file.blocks[block.name] = block
            found.append((block, value))
    if defaults is not None and not empty(defaults):
        context.attempt(lambda: read_defaults(mapping_of(defaults, "`defaults`"), context))
    for block, value in found:
        context.attempt(read_body, block, value, context)
    context.attempt(refuse_circles, context.file)


def read_includes(node: Node, context: Context, path: str, chain: tuple[str, ...] = ()) -> None:
    """Blocks of other files in the same folder or below, with their own defaults."""
    for each in node.items if isinstance(node, Sequence) else [node]:
        context.attempt(read_include, each, context, path, (*chain, os.path.abspath(path)))


def read_include(node: Node, context: Context, path: str, trail: tuple[str, ...]) -> None:
    """The blocks of one file; `trail` are the files that include each other up to here."""
    folder = os.path.dirname(os.path.abspath(path))
    name = text_of(node, "a file to include")
    target = os.path.abspath(os.path.join(folder, name))
    if not os.path.realpath(target).startswith(os.path.realpath(folder) + os.sep) or os.path.isabs(name):
        raise wrong(node, f"{quote(name)} is outside the spec's folder", "include files in the same folder or below")
    if target in trail:
        names = [os.path.basename(file) for file in (*trail[trail.index(target) :], target)]
        raise wrong(node, f"files include each other in a circle: {' -> '.join(names)}", "remove one `include`")
    if not os.path.isfile(target):
        raise wrong(node, f"there is no file {quote(name)} to include", f"it is looked for in {quote(folder)}")
    if len(trail) == DEEPEST:
        raise wrong(node, f"more than {DEEPEST} files include each other", "put the blocks into fewer files")
    for block in included_blocks(target, os.path.join(os.path.dirname(path), name), trail):
        context.file.blocks[block.name] = block


def included_blocks(target: str, name: str, trail: tuple[str, ...]) -> list[Any]:
    root = mapping_of(read_text(read_source(target), name), "an included file")
    file = File(name)
    with suppress(Enough):
        read_included(root, file, name, trail)
    file.report()
    return list(file.blocks.values())


def read_included(root: Mapping, file: File, name: str, trail: tuple[str, ...]) -> None:
    context = Context(file)
    for key, _ in root.entries:
        if key.text not in ("blocks", "defaults", "include", "name", "about", "source"):
            hint = "an included file has `blocks:` and their `defaults:`; its blocks see no variables"
            file.note(wrong(key, f"{quote(key.text)} has no meaning in an included file", hint))
    include, blocks = root.get("include"), root.get("blocks")
    if include is not None:
        context.attempt(read_includes, include, context, name, trail)
    if blocks is None:
        file.note(wrong(root, f"{quote(name)} has no `blocks:`", "an included file gives blocks"))
    else:
        context.attempt(read_blocks, blocks, context, root.get("defaults"))


def read_outputs(node: Node, context: Context) -> dict[str, Template]:
    if isinstance(node, Mapping):
        return {text_of(key, "a label"): read_template(value, context, "an output") for key, value in node.entries}
    items = node.items if isinstance(node, Sequence) else [node]
    templates = [read_template(each, context, "an output") for each in items]
    if not templates:
        raise wrong(node, "`outputs` is empty", "list a name, or leave it out for the last value")
    return {template.text: template for template in templates}


def read_expect(spec: SpecSyntax, node: Node, context: Context) -> None:
    found = mapping_of(node, "`expect`")
    spec.expect[None] = read_figures(found, context, ("variants",))
    variants = found.get("variants")
    for key, value in mapping_of(variants, "`variants`").entries if variants is not None else []:
        if key.text not in spec.variants:
            guess = nearest(key.text, spec.variants)
            hint = f"did you mean `{guess}`?" if guess else "declare it under `variants:`"
            raise wrong(key, f"unknown variant {quote(key.text)}", hint)
        spec.expect[key.text] = read_figures(mapping_of(value, "expected figures"), context, ())


def read_figures(node: Mapping, context: Context, others: tuple[str, ...]) -> Expectation:
    expected = Expectation()
    for key, value in node.entries:
        if key.text == "reference":
            expected.reference = text_of(value, "`reference`")
        elif key.text in FIGURES:
            written = read_value(value, Context(context.file), what=key.text)
            figure = written.evaluate(context.file.base, None)
            if isinstance(figure, float) and figure.is_integer():
                figure = int(figure)
            if not isinstance(written, Constant) or isinstance(figure, bool) or not isinstance(figure, int):
                raise wrong(value, f"{quote(key.text)} must be a whole number, not {describe(value)}")
            expected.figures[key.text] = (figure, value.position)
        elif key.text not in others:
            guess = nearest(key.text, [*FIGURES, "reference", "variants"])
            hint = f"did you mean `{guess}`?" if guess else f"one of {', '.join(FIGURES)}, reference, variants"
            context.file.note(wrong(key, f"unknown figure {quote(key.text)}", hint))
    return expected


__all__ = ["Scalar", "SpecSyntax", "read_spec", "undeclared", "variable_values"]
