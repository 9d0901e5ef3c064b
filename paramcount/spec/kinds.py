"""Kinds and their arguments: from what is written beside a kind to the layer or block that it makes."""

from __future__ import annotations

from typing import Any

from paramcount.errors import ParamcountError, SpecError, printable, quote
from paramcount.fields import Check
from paramcount.layer import Layer, Shape, registry
from paramcount.layers import MODULES, find
from paramcount.spec.bindings import Bindings
from paramcount.spec.blocks import BlockDefinition, SpecBlock, load_shipped, shipped
from paramcount.spec.context import IDENTIFIER, Context, File, describe, empty, wrong
from paramcount.spec.expression import Expression
from paramcount.spec.forms import ARGUMENTS, FORMS
from paramcount.spec.items import ItemSyntax, SpecItem, read_path
from paramcount.spec.nodes import Mapping, Node, Scalar, Sequence
from paramcount.spec.written import ANY_KIND, Constant, Formula, Written, read_formula, read_template, read_value
from paramcount.suggest import argument_hint, kind_for


class FromDefaults(Written):
    """An argument under `defaults:`, which sees the file's variables and the arriving value only."""

    __slots__ = ("base", "inner")

    def __init__(self, inner: Written, base: Bindings) -> None:
        super().__init__(inner.position, inner.constant)
        self.inner, self.base = inner, base

    def evaluate(self, bindings: Bindings, shape: Shape | None) -> Any:
        return self.inner.evaluate(self.base, shape)


class PathValue(Written):
    """An argument that leads to a value, or several."""

    __slots__ = ("makers", "several")

    def __init__(self, node: Node, makers: list, several: bool) -> None:
        super().__init__(node.position, False)
        self.makers, self.several = makers, several

    def evaluate(self, bindings: Bindings, shape: Shape | None) -> Any:
        made = [make(bindings, shape) for make in self.makers]
        return made if self.several else made[0]


class KindValue(Written):
    """An argument that names a kind without arguments: gives its item, or None."""

    __slots__ = ("context", "inner", "what")

    def __init__(self, inner: Written, what: str, context: Context) -> None:
        super().__init__(inner.position, inner.constant)
        self.inner, self.what, self.context = inner, what, context
        if inner.constant:
            self.evaluate(context.file.base, None)

    def evaluate(self, bindings: Bindings, shape: Shape | None) -> Any:
        word = self.inner.evaluate(bindings, shape)
        if word is None:
            return None
        item = self.item(word)
        return item.layer or SpecItem(item, self.context.file.base)

    def item(self, word: Any) -> ItemSyntax:
        """The item of a word, read once for each file."""
        words = self.context.file.words
        if not isinstance(word, str) or word not in words:
            place = Scalar(str(word), self.position)
            kinds = self.context.kinds()
            if not isinstance(word, str) or not (word in kinds or self.context.is_kind(word)):
                guess = kind_for(str(word), kinds)
                hint = f"did you mean `{guess}`?" if guess else "any kind that needs no argument, or `none`"
                raise wrong(place, f"unknown {self.what} {quote(word)}", hint)
            item = ItemSyntax(self.position, word)
            try:
                read_kind(item, place, Scalar("", self.position), self.context)
            except ParamcountError as error:
                message = f"`{self.what}` takes a kind that needs no argument, and {error.message}"
                raise wrong(place, message, "put it below, as an item of its own") from None
            words[word] = item
        return words[word]


def read_kind(item: ItemSyntax, key: Scalar, node: Node, context: Context) -> None:
    """Note in the item how its kind is made; raises SpecError for an unknown kind."""
    word = key.text
    if word in FORMS:
        item.make = FORMS[word](node, context)
        if isinstance(node, Mapping):
            item.places.update({key.text: value.position for key, value in node.entries})
    elif word in registry or word in MODULES:
        read_layer(item, find(word), node, context)  # type: ignore[arg-type]
    elif word in context.file.blocks:
        context.file.used.add(word)
        context.calls.setdefault(word, key.position)
        read_block(item, context.file.blocks[word], node, context)
    elif word in context.file.broken:
        pass
    elif word in shipped():
        read_block(item, load_shipped(word), node, context)
    elif found := find(word):
        read_layer(item, found, node, context)
    else:
        guess = kind_for(word, context.kinds())
        hint = f"did you mean `{guess}`?" if guess else "see docs/layers.md for the kinds, or write a block"
        raise SpecError(f"unknown kind {quote(word)}", hint=hint, position=key.position)


def read_layer(item: ItemSyntax, layer: type[Layer], node: Node, context: Context) -> None:
    checks, found = dict(layer.checks()), len(context.file.errors)
    positional = [name for name in checks if name not in layer.by_name and name not in ("norm", "activation")]
    listed = bool(positional) and checks[positional[0]].listed
    nodes, extra = given_arguments(item.kind, node, positional, list(checks), listed, context, open_sizes(checks))
    written = dict(context.file.defaults.get(item.kind, {}))
    for name, value in nodes.items():
        read = context.attempt(read_argument, name, checks[name], value, context)
        if read is not None:
            written[name] = read
    if extra:
        written[open_sizes(checks)] = Sizes(
            node, {name: read_value(value, context, what=name) for name, value in extra.items()}
        )
    if len(context.file.errors) > found or item.kind in context.file.broken:
        return
    required = layer.required()
    require_arguments(item, required, written)
    item.places.update({name: value.position for name, value in [*written.items(), *extra.items()]})
    kept = [(name, value, checks[name].none, name in required) for name, value in written.items()]
    if all(value.constant for value in written.values()):
        try:
            made = item.layer = build(layer, kept, context.file.base, None)
        except ParamcountError as error:
            error.position = error.position or item.places.get(error.argument or "", item.position)
            raise
        item.make = lambda bindings, shape: made
    else:
        item.make = lambda bindings, shape: build(layer, kept, bindings, shape)


def build(layer: type[Layer], written: list, bindings: Bindings, shape: Shape | None) -> Layer:
    """The layer with its arguments' values; `none` takes an argument of the defaults away."""
    arguments = {}
    for name, value, none, required in written:
        found = value.evaluate(bindings, shape)
        if found is not None or none:
            arguments[name] = found
        elif required:
            raise SpecError(f"{quote(layer.kind)} needs {quote(name)}", argument=name)
    try:
        return layer(**arguments)
    except ParamcountError as error:
        show_formula(error, written, bindings, shape)
        raise


def show_formula(error: ParamcountError, written: list, bindings: Bindings, shape: Shape | None) -> None:
    """Say which expression gave a number that cannot be used, and point at it."""
    for name, value, _, _ in written:
        if isinstance(value, Sizes) and error.argument in value.sizes:
            name, value = error.argument, value.sizes[error.argument]
        if isinstance(value, FromDefaults):
            bindings, value = value.base, value.inner
        if name == error.argument and isinstance(value, Formula) and error.position is None:
            text, known = value.expression.text, with_values(value.expression, bindings, shape)
            error.message += f" (from {quote(text)})" if IDENTIFIER.match(text) else f" ({quote(text)} is {known})"
            error.position = value.position


def with_values(expression: Expression, bindings: Bindings, shape: Shape | None) -> str:
    """An expression's text with the values of its variables in their places."""
    text, end, pieces = expression.text, 0, []
    for name, position in expression.references:
        start = position.column - expression.position.column
        value = bindings.value(name, shape, expression)
        pieces += [text[end:start], f"{value:.10g}" if isinstance(value, float) else str(value)]
        end = start + len(name)
    return printable("".join(pieces) + text[end:])


class Sizes(Written):
    """The named axis sizes of a pattern."""

    __slots__ = ("sizes",)

    def __init__(self, node: Node, sizes: dict[str, Written]) -> None:
        super().__init__(node.position, all(size.constant for size in sizes.values()))
        self.sizes = sizes

    def evaluate(self, bindings: Bindings, shape: Shape | None) -> Any:
        return {name: size.evaluate(bindings, shape) for name, size in self.sizes.items()}


def open_sizes(checks: dict[str, Check]) -> str:
    """The field that collects named axis sizes, or nothing."""
    return next((name for name, check in checks.items() if check.takes == "sizes"), "")


def read_argument(name: str, check: Check, node: Node, context: Context) -> Written:
    """One argument as its field reads it; a constant one is checked at once."""
    if check.takes == "value":
        return PathValue(node, [read_path(node, context)], several=False)
    if check.takes == "values":
        if not isinstance(node, Sequence):
            raise wrong(node, f"{quote(name)} takes a list of paths, not {describe(node)}")
        return PathValue(node, [read_path(each, context) for each in node.items], several=True)
    if check.takes == "text":
        if not isinstance(node, Scalar):
            raise wrong(node, f"{quote(name)} takes text, not {describe(node)}", "quote it")
        return Constant(node.position, node.text)
    if check.takes == "key":
        return read_template(node, context, f"`{name}`")
    if check.takes == "kind":
        return read_kind_word(node, name, context)
    value = read_value(node, context, check.words, name)
    if value.constant:
        found = value.evaluate(context.file.base, None)
        try:
            if found is not None:
                check(name, found)
        except ParamcountError as error:
            error.position = node.position
            raise
    return value


def read_kind_word(node: Node, what: str, context: Context) -> Written:
    if not isinstance(node, Scalar) or empty(node):
        raise wrong(node, f"{quote(what)} takes a kind that needs no argument, not {describe(node)}")
    text = node.text.strip()
    plain = IDENTIFIER.match(text) and text not in context.names and text != "none"
    inner = Constant(node.position, text) if plain else read_formula(node, context)
    return KindValue(inner, what, context)


def given_arguments(
    kind: str, node: Node, positional: list[str], names: list[str], listed: bool, context: Context, others: str = ""
) -> tuple[dict[str, Node], dict[str, Node]]:
    """The arguments by name, from one scalar, a list, or a mapping; and those of other names where a kind has such."""
    if empty(node):
        return {}, {}
    if isinstance(node, Mapping):
        found, extra = {}, {}
        for key, value in node.entries:
            if key.text in names and key.text != others:
                found[key.text] = value
            elif others and IDENTIFIER.match(key.text):
                extra[key.text] = value
            else:
                context.file.note(unknown_argument(kind, key, names))
        return found, extra
    if not positional:
        raise wrong(node, f"{quote(kind)} takes no positional argument", named_hint(kind, names))
    if isinstance(node, Scalar) or listed:
        return {positional[0]: node}, {}
    if len(node.items) > len(positional):
        raise wrong(
            node,
            f"{quote(kind)} takes at most {len(positional)} positional arguments, and got {len(node.items)}",
            f"in this order: {', '.join(positional)}",
        )
    return dict(zip(positional, node.items, strict=False)), {}


def named_hint(kind: str, names: list[str]) -> str:
    return f"write `{kind}: {{{names[0]}: ...}}`" if names else f"write `- {kind}` alone"


def unknown_argument(kind: str, key: Scalar, names: list[str]) -> SpecError:
    hint = argument_hint(key.text, names) or (f"it takes {', '.join(names)}" if names else "it takes none")
    return SpecError(f"{quote(kind)} has no argument {quote(key.text)}", hint=hint, position=key.position)


def require_arguments(item: ItemSyntax, required: Any, written: dict[str, Any]) -> None:
    for name in required:
        if name not in written:
            raise SpecError(
                f"{quote(item.kind)} needs {quote(name)}",
                hint=f"write `{item.kind}: {{{name}: ...}}`",
                position=item.position,
            )


def read_block(item: ItemSyntax, block: BlockDefinition, node: Node, context: Context) -> None:
    names, found = [*block.arguments, *block.inputs], len(context.file.errors)
    nodes, _ = given_arguments(item.kind, node, list(block.arguments), names, False, context)
    written = dict(context.file.defaults.get(item.kind, {}))
    for name, value in nodes.items():
        read = context.attempt(read_block_argument, name, block, value, context)
        if read is not None:
            written[name] = read
    if len(context.file.errors) > found or item.kind in context.file.broken:
        return
    require_arguments(item, block.required(), written)
    item.places.update({name: value.position for name, value in written.items()})
    arguments = [(name, value) for name, value in written.items() if name in block.arguments]
    paths = [(name, value) for name, value in written.items() if name in block.inputs]
    position = item.position

    def make(bindings: Bindings, shape: Shape | None) -> SpecBlock:
        values = {name: value.evaluate(bindings, shape) for name, value in arguments}
        given = {name: value.evaluate(bindings, shape) for name, value in paths}
        return SpecBlock(block, values, given, position)

    item.make = make


def read_block_argument(name: str, block: BlockDefinition, node: Node, context: Context) -> Written:
    if name in block.inputs:
        return PathValue(node, [read_path(node, context)], several=False)
    return read_value(node, context, ANY_KIND, name)


def read_defaults(node: Mapping, context: Context) -> None:
    """Note the default arguments of kinds and blocks in the file."""
    for key, value in node.entries:
        context.attempt(read_kind_defaults, key, value, context)
    context.file.words.clear()  # read before all defaults were known


def read_kind_defaults(key: Scalar, node: Node, context: Context) -> None:
    word, file = key.text, context.file
    block = file.blocks.get(word) or (load_shipped(word) if word in shipped() and word not in MODULES else None)
    layer = None if block else find(word)
    if block is None and layer is None:
        guess = kind_for(word, context.kinds())
        hint = f"did you mean `{guess}`?" if guess and guess != word else "defaults are for layers and blocks"
        raise SpecError(f"unknown kind {quote(word)}", hint=hint, position=key.position)
    if not isinstance(node, Mapping):
        raise wrong(node, f"the defaults of {quote(word)} must be a mapping", f"write `{word}: {{argument: value}}`")
    checks = dict(layer.checks()) if layer else {}
    names = [*block.arguments, *block.inputs] if block else list(checks)
    found = file.defaults.setdefault(word, {})
    for name, value in given_arguments(word, node, [], names, False, context)[0].items():
        read: Written | None = (
            context.attempt(read_block_argument, name, block, value, context)
            if block
            else context.attempt(read_argument, name, checks[name], value, context)
        )
        if read is None:
            file.broken.add(word)
        else:
            found[name] = FromDefaults(read, file.base)


def arguments_of(kind: str, context: Context) -> list[str]:
    """The names of a kind's arguments."""
    if kind in ARGUMENTS:
        return list(ARGUMENTS[kind])
    if kind in context.file.blocks or kind in shipped():
        block = context.file.blocks.get(kind) or load_shipped(kind)
        return [*block.arguments, *block.inputs]
    layer = find(kind)
    return [name for name, _ in layer.checks()] if layer else []


__all__ = ["File", "arguments_of", "read_defaults", "read_kind"]
