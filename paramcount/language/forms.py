"""The structural forms as they are written: `do residual add concat multiply gate let each scan moe pop ...`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paramcount.errors import quote
from paramcount.errors.suggest import did_you_mean, nearest
from paramcount.graph.items import Add, Concat, Do, Gate, Let, Multiply, Pop, Residual, Skip, Subtract
from paramcount.language.bindings import Bindings
from paramcount.language.context import Context, describe, empty, identifier, mapping_of, wrong
from paramcount.language.items import bind, flag
from paramcount.language.reading import read_items, read_path
from paramcount.language.written import Maker, Several, Written, read_new_name, read_template, read_value
from paramcount.language.yaml.nodes import Mapping, Node, Scalar, Sequence
from paramcount.layers.layer import Shape

ARGUMENTS = {  # of the forms that take a mapping
    "residual": ("if", "body"),
    "concat": ("axis", "paths"),
    "each": ("pattern", "with", "do"),
    "scan": ("carry", "do", "next"),
    "moe": ("experts", "top_k", "body", "router", "groups", "top_groups", "correction", "normalize"),
}


def arguments(
    form: str, node: Node, required: tuple[str, ...], context: Context, others: bool = False
) -> dict[str, Node]:
    """The named arguments of a form; raises SpecError for unknown and missing ones."""
    names = ARGUMENTS[form]
    if not isinstance(node, Mapping):
        raise wrong(node, f"{quote(form)} takes {', '.join(names)} by name, not {describe(node)}")
    found: dict[str, Node] = {}
    for key, value in node.entries:
        if key.text in names or others:
            found[key.text] = value
            continue
        hint = did_you_mean(nearest(key.text, names), f"it takes {', '.join(names)}")
        context.file.note(wrong(key, f"{quote(form)} has no argument {quote(key.text)}", hint))
    for name in required:
        if name not in found:
            raise wrong(node, f"{quote(form)} needs {quote(name)}", f"write `{form}: {{{name}: ...}}`")
    return found


def read_do(node: Node, context: Context) -> Maker:
    items = read_items(node, context, "do")
    return lambda bindings, shape: Do(bind(items, bindings))


def read_residual(node: Node, context: Context) -> Maker:
    condition: Written | None = None
    if isinstance(node, Mapping):
        given = arguments("residual", node, ("body",), context)
        if "if" in given:
            condition = read_value(given["if"], context, what="if")
        node = given["body"]
    items = read_items(node, context, "residual")

    def make(bindings: Bindings, shape: Shape | None) -> Residual:
        return Residual(bind(items, bindings), condition is None or flag(condition, bindings, shape))

    return make


def read_paths(form: str, node: Node, context: Context) -> list[Maker]:
    if not isinstance(node, Sequence) or not node.items:
        raise wrong(
            node, f"{quote(form)} takes a list of paths, not {describe(node)}", f"write `{form}: [prev, [...]]`"
        )
    found = [context.attempt(read_path, each, context) for each in node.items]
    return [each for each in found if each is not None]


def read_merge(form: str, kind: Any) -> Callable[[Node, Context], Maker]:
    def read(node: Node, context: Context) -> Maker:
        paths = read_paths(form, node, context)
        return lambda bindings, shape: kind([path(bindings, shape) for path in paths])

    return read


def read_concat(node: Node, context: Context) -> Maker:
    axis: Written | None = None
    if isinstance(node, Mapping):
        given = arguments("concat", node, ("paths",), context)
        axis = read_value(given["axis"], context, what="axis") if "axis" in given else None
        node = given["paths"]
    paths = read_paths("concat", node, context)

    def make(bindings: Bindings, shape: Shape | None) -> Concat:
        made = [path(bindings, shape) for path in paths]
        return Concat(made, axis.evaluate(bindings, shape)) if axis else Concat(made)

    return make


def read_gate(node: Node, context: Context) -> Maker:
    path = read_path(node, context)
    return lambda bindings, shape: Gate(path(bindings, shape))


def read_let(node: Node, context: Context) -> Maker:
    values = []
    for key, value in mapping_of(node, "`let`").entries:
        name = context.attempt(read_new_name, key, context, "a name under `let`")
        path = context.attempt(read_path, value, context)
        if name is not None and path is not None:
            values.append((name, path))
            if name.constant:
                context.declared.setdefault(name.text, name.position)

    def make(bindings: Bindings, shape: Shape | None) -> Let:
        given = {}
        for template, path in values:
            name = template.evaluate(bindings, shape)
            if name in given:
                raise wrong(template, f"the name {quote(name)} is given twice", "give the second value another name")
            given[name] = path(bindings, shape)
        return Let(given)

    return make


def read_each(node: Node, context: Context) -> Maker:
    from paramcount.graph.bodies import Each

    given = arguments("each", node, ("pattern", "do"), context, others=True)
    pattern = read_text(given.pop("pattern"), "pattern")
    items = read_items(given.pop("do"), context, "do")
    mapped = mapping_of(given.pop("with"), "`with`").entries if "with" in given else []
    along = [(read_new_name(key, context, "a name under `with`"), read_text(value, "pattern")) for key, value in mapped]
    sizes = {name: read_value(value, context, what=name) for name, value in given.items()}

    def make(bindings: Bindings, shape: Shape | None) -> Each:
        return Each(
            pattern,
            bind(items, bindings),
            {name: size.evaluate(bindings, shape) for name, size in sizes.items()},
            {name.evaluate(bindings, shape): text for name, text in along},
        )

    return make


def read_text(node: Node, what: str) -> str:
    if not isinstance(node, Scalar) or empty(node):
        raise wrong(node, f"{quote(what)} takes text, not {describe(node)}", "quote it")
    return node.text


def read_scan(node: Node, context: Context) -> Maker:
    from paramcount.graph.bodies import Scan

    given = arguments("scan", node, ("carry", "do", "next"), context)
    carry = {}
    for key, value in mapping_of(given["carry"], "`carry`").entries:
        carry[identifier(key, "a carried name")] = read_start(value, context)
    items = read_items(given["do"], context, "do")
    after = {}
    for key, value in mapping_of(given["next"], "`next`").entries:
        if key.text not in carry:
            guess = nearest(key.text, carry)
            raise wrong(key, f"{quote(key.text)} is not carried", did_you_mean(guess, "add it to `carry`"))
        after[key.text] = read_path(value, context)
    for name in carry:
        if name not in after:
            message = f"`scan` carries {quote(name)} and does not say what is next"
            raise wrong(given["next"], message, f"add `{name}: prev`")

    def make(bindings: Bindings, shape: Shape | None) -> Scan:
        return Scan(
            {name: start(bindings, shape) for name, start in carry.items()},
            bind(items, bindings),
            {name: path(bindings, shape) for name, path in after.items()},
        )

    return make


def read_start(node: Node, context: Context) -> Maker:
    """A carried value's start: a path, or a list of sizes for zeros."""
    if isinstance(node, Sequence) and node.items and all(is_size(each, context) for each in node.items):
        return Several(node.position, [read_value(each, context) for each in node.items]).evaluate
    return read_path(node, context)


def is_size(node: Node, context: Context) -> bool:
    """Whether an entry of a list is a size, and not an item: a kind is always an item."""
    return isinstance(node, Scalar) and not context.is_kind(node.text) and node.text not in FORMS


def read_moe(node: Node, context: Context) -> Maker:
    from paramcount.graph.bodies import Moe

    given = arguments("moe", node, ("experts", "top_k", "body"), context)
    items = read_items(given.pop("body"), context, "body")
    words = ("softmax", "sigmoid")
    written = {
        name: read_value(value, context, words if name == "router" else (), name) for name, value in given.items()
    }

    def make(bindings: Bindings, shape: Shape | None) -> Moe:
        settings = {name: value.evaluate(bindings, shape) for name, value in written.items()}
        return Moe(body=bind(items, bindings), **settings)

    return make


def read_pop(node: Node, context: Context) -> Maker:
    stack = read_template(node, context, "a stack")
    return lambda bindings, shape: Pop(stack.evaluate(bindings, shape))


def read_activate(node: Node, context: Context) -> Maker:
    from paramcount.language.arguments import read_kind_word

    word = read_kind_word(node, "activation", context)

    def make(bindings: Bindings, shape: Shape | None) -> Any:
        item = word.evaluate(bindings, shape)
        return Skip() if item is None else item

    return make


FORMS: dict[str, Callable[[Node, Context], Maker]] = {
    "do": read_do,
    "residual": read_residual,
    "add": read_merge("add", Add),
    "subtract": read_merge("subtract", Subtract),
    "multiply": read_merge("multiply", Multiply),
    "concat": read_concat,
    "gate": read_gate,
    "let": read_let,
    "each": read_each,
    "scan": read_scan,
    "moe": read_moe,
    "pop": read_pop,
    "activate": read_activate,
}
