"""Kinds and their arguments: from what is written beside a kind to the layer or block that it makes."""

from __future__ import annotations

from paramcount.errors import ParamcountError, SpecError, printable, quote
from paramcount.errors.suggest import did_you_mean, kind_for
from paramcount.language.arguments import (
    FromDefaults,
    PathValue,
    Sizes,
    given_arguments,
    open_sizes,
    read_argument,
    require_arguments,
)
from paramcount.language.bindings import EMPTY, Bindings
from paramcount.language.blocks import BlockDefinition, SpecBlock, load_shipped, shipped
from paramcount.language.context import IDENTIFIER, Context, wrong
from paramcount.language.expression.parse import Expression
from paramcount.language.forms import ARGUMENTS, FORMS
from paramcount.language.items import ItemSyntax, SpecItem
from paramcount.language.reading import read_path
from paramcount.language.written import ANY_KIND, Formula, Written, read_value
from paramcount.language.yaml.nodes import Mapping, Node, Scalar
from paramcount.layers import MODULES, find
from paramcount.layers.layer import Layer, Shape, registry


def read_kind(item: ItemSyntax, key: Scalar, node: Node, context: Context) -> None:
    """Note in the item how its kind is made; raises SpecError for an unknown kind."""
    word = key.text
    if word in FORMS:
        item.make = FORMS[word](node, context)
        if isinstance(node, Mapping):
            item.places.update({key.text: value.position for key, value in node.entries})
    elif (word in registry or word in MODULES) and (layer := find(word)):
        read_layer(item, layer, node, context)
    elif word in context.file.blocks:
        context.file.used.add(word)
        context.calls.setdefault(word, key.position)
        read_block(item, context.file.blocks[word], node, context)
    elif word in context.file.broken:
        pass
    elif word in shipped():
        read_block(item, load_shipped(word), node, context)
    elif layer := find(word):  # of an installed package
        read_layer(item, layer, node, context)
    else:
        guess = "do" if word in ("layers", "body") else kind_for(word, context.kinds())
        hint = did_you_mean(guess, "see docs/layers.md for the kinds, or write a block")
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
            made = build(layer, kept, EMPTY, None)
        except ParamcountError as error:
            error.position = error.position or item.places.get(error.argument or "", item.position)
            raise
        # A word may name a kind whose defaults, or a block whose items, need variables.
        if not any(isinstance(getattr(made, name), SpecItem) for name in written):
            item.layer = made
            item.make = lambda bindings, shape: made
            return
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
            bindings, value = bindings.base, value.inner
        if name == error.argument and isinstance(value, Formula) and error.position is None:
            expression = value.expression
            text, known = expression.text, with_values(expression, bindings, shape)
            parts = [f"from {quote(text)}" if IDENTIFIER.match(text) else f"{quote(text)} is {known}"]
            for argument, default, entered in fractions(expression, bindings):
                parts.append(f"{quote(argument)} is {quote(default.text)}: {with_values(default, bindings, entered)}")
                error.hint = f"give {quote(argument)}"
            error.message += f" ({'; '.join(parts)})"
            error.position = value.position


def fractions(expression: Expression, bindings: Bindings) -> list[tuple[str, Expression, Shape | None]]:
    """The block's arguments in an expression that were not given and whose defaults are no whole numbers."""
    found = [(name, bindings.values[name]) for name in expression.names if name in bindings.defaults]
    return [
        (name, *bindings.defaults[name]) for name, value in found if isinstance(value, float) and not value.is_integer()
    ]


def with_values(expression: Expression, bindings: Bindings, shape: Shape | None) -> str:
    """An expression's text with the values of its variables in their places."""
    text, end, pieces = expression.text, 0, []
    for name, position in expression.references:
        start = position.column - expression.position.column
        value = bindings.value(name, shape, expression)
        pieces += [text[end:start], f"{value:.10g}" if isinstance(value, float) else str(value)]
        end = start + len(name)
    return printable("".join(pieces) + text[end:])


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
        return SpecBlock(block, values, given, position, bindings.base if block.file is context.file else EMPTY)

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
        hint = did_you_mean(guess if guess != word else None, "defaults are for layers and blocks")
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
            found[name] = FromDefaults(read)


def arguments_of(kind: str, context: Context) -> list[str]:
    """The names of a kind's arguments."""
    if kind in ARGUMENTS:
        return list(ARGUMENTS[kind])
    if kind in context.file.blocks or kind in shipped():
        block = context.file.blocks.get(kind) or load_shipped(kind)
        return [*block.arguments, *block.inputs]
    layer = find(kind)
    return [name for name, _ in layer.checks()] if layer else []
