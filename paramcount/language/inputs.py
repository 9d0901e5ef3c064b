"""A spec's inputs: their layouts and sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from paramcount.errors import Position, SpecError, quote
from paramcount.graph.network import channels_last
from paramcount.language.bindings import Bindings
from paramcount.language.context import RESERVED, Context, describe, mapping_of, refuse_null, text_of, unknown, wrong
from paramcount.language.written import Written, read_value
from paramcount.language.yaml.nodes import Mapping, Node, Scalar, Sequence
from paramcount.layers.fields import Whole
from paramcount.layers.layer import LAYOUTS, Shape

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
        sizes = [written.checked(Whole(), "a size of the input", bindings, None) for written in self.sizes]
        self.refuse_channels_first(sizes)
        return Shape(tuple(sizes), self.layout)

    def refuse_channels_first(self, sizes: list[Any]) -> None:
        meant = channels_last(sizes) if self.layout == "image" and not self.named else None
        if meant:
            first, second, last = sizes
            raise SpecError(
                f"image is [height, width, channels]; did you mean {list(meant)}?",
                hint=f"if you mean it, write {{image: {{height: {first}, width: {second}, channels: {last}}}}}",
                position=self.position,
            )


def read_inputs(parts: dict[str, Node], root: Node, context: Context) -> dict[str, InputSyntax]:
    """The inputs by name; a single one is called `input`."""
    if "input" in parts and "inputs" in parts:
        raise wrong(parts["inputs"], "`input` and `inputs` exclude each other", "name all of them under `inputs:`")
    if "input" in parts:
        return {"input": read_input(parts["input"], context)}
    if "inputs" not in parts:
        raise wrong(root, "missing `input:`", "say what arrives, e.g. `input: {image: [224, 224, 3]}`")
    inputs = {}
    given = mapping_of(parts["inputs"], "`inputs`")
    if not given.entries:
        raise wrong(given, "`inputs` is empty", "name at least one, as in `inputs: {picture: {image: [224, 224, 3]}}`")
    if all(key.text in LAYOUTS and not isinstance(value, Mapping) for key, value in given.entries):
        key = given.entries[0][0]
        hint = f"did you mean `input: {{{key.text}: ...}}`? `inputs` gives each a name before its layout"
        raise wrong(key, f"{quote(key.text)} is a layout, not the name of an input", hint)
    for key, value in given.entries:
        if key.text in RESERVED:
            context.file.note(wrong(key, f"{quote(key.text)} is reserved", "choose another name"))
        read = context.attempt(read_input, value, context)
        if read is not None:
            inputs[text_of(key, "an input's name")] = read
    return inputs


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
        raise unknown("layout", key, LAYOUTS, f"write {example}")
    names = AXIS_NAMES[key.text]
    if isinstance(value, Mapping):
        return read_named_input(key.text, names, value, context)
    nodes = value.items if isinstance(value, Sequence) else [value]
    if len(nodes) != len(names):
        words = {1: "one number", 2: "two numbers", 3: "three numbers", 4: "four numbers"}[len(names)]
        raise wrong(
            value,
            f"{key.text} takes {words}, [{', '.join(names)}], and got {len(nodes)}",
            size_hint(key.text, names, nodes),
        )
    for name, each in zip(names, nodes, strict=True):
        refuse_null(each, name, "give one example's sizes; a size may be a variable, which `--set` changes")
    return InputSyntax(key.text, [read_value(each, context, what="size") for each in nodes], value.position)


def size_hint(layout: str, names: tuple[str, ...], nodes: Iterable[Any]) -> str:
    """What to do about too many or too few sizes."""
    texts = [each.text if isinstance(each, Scalar) else "..." for each in nodes]
    for text in texts:
        numbers = re.split(r"\s*[\sx×*]\s*", text.strip())
        if len(numbers) > 1 and all(number.isdigit() for number in numbers):
            return f"put commas between the sizes: {quote(', '.join(numbers))}"
    if len(texts) == len(names) - 1:
        whole = ", ".join([*texts, "3"])
        return f"name the {names[-1]} too, as in {quote(f'{layout}: [{whole}]')}"
    return "give one example's sizes, without a batch; use `--batch` for a batch"


def read_named_input(layout: str, names: tuple[str, ...], node: Mapping, context: Context) -> InputSyntax:
    given = {key.text: value for key, value in node.entries}
    for key, _ in node.entries:
        if key.text not in names:
            raise unknown(f"axis of {layout}", key, names)
    for name in names:
        if name not in given:
            raise wrong(node, f"{layout} needs {quote(name)}", f"its axes are {', '.join(names)}")
    sizes = [read_value(given[name], context, what=name) for name in names]
    return InputSyntax(layout, sizes, node.position, named=True)
