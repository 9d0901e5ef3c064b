"""Kinds: from what is written beside a kind to the layer, form or block that it makes."""

from __future__ import annotations

from functools import partial

from paramcount.errors import ParamcountError, Position, SpecError, printable, quote
from paramcount.errors.suggest import did_you_mean, kind_for
from paramcount.graph.form import Form
from paramcount.language.arguments import FromDefaults, NamedSizes, read_arguments
from paramcount.language.bindings import EMPTY, Bindings, Default
from paramcount.language.blocks import BlockDefinition, SpecBlock
from paramcount.language.context import IDENTIFIER, Context
from paramcount.language.definitions import load_shipped
from paramcount.language.expression.parse import Expression
from paramcount.language.items import ItemSyntax, SpecItem
from paramcount.language.signature import signature_of
from paramcount.language.vocabulary import FORMS, form, shipped
from paramcount.language.written import Formula, Written
from paramcount.language.yaml.nodes import Node, Scalar
from paramcount.layers import MODULES, find
from paramcount.layers.layer import Layer, Shape, registry


def read_kind(item: ItemSyntax, key: Scalar, node: Node, context: Context) -> None:
    """Note in the item how its kind is made; raises SpecError for an unknown kind."""
    word = key.text
    if word in FORMS:
        read_call(item, form(word), node, context)
    elif (word in registry or word in MODULES) and (layer := find(word)):
        read_call(item, layer, node, context)
    elif word in context.file.blocks:
        context.file.used.add(word)
        context.calls.setdefault(word, key.position)
        read_block(item, context.file.blocks[word], node, context)
    elif word in context.file.broken:
        pass
    elif word in shipped():
        read_block(item, load_shipped(word, context.read_item), node, context)
    elif layer := find(word):  # of an installed package
        read_call(item, layer, node, context)
    else:
        guess = "do" if word in ("layers", "body") else kind_for(word, context.kinds())
        hint = did_you_mean(guess, "`paramcount kinds` lists all kinds; or write a block")
        raise SpecError(f"unknown kind {quote(word)}", hint=hint, position=key.position)


def read_call(item: ItemSyntax, kind: type[Layer] | type[Form], node: Node, context: Context) -> None:
    """A layer or a form with its arguments."""
    signature = signature_of(kind)
    found = read_arguments(item, signature, node, context)
    if found is None:
        return
    written = [(name, value, signature.checks[name].none, name in signature.required) for name, value in found.items()]
    if all(value.constant for value in found.values()):
        try:
            made = build(kind, written, EMPTY, None)
        except ParamcountError as error:
            error.position = error.position or item.places.get(error.argument or "", item.position)
            raise
        # A word may name a kind whose defaults, or a block whose items, need variables.
        if not any(isinstance(getattr(made, name), SpecItem) for name in found):
            item.layer = made
            item.make = partial(already, made)
            return
    item.make = partial(build, kind, written)


def already(made: Layer | Form, bindings: Bindings, shape: Shape | None) -> Layer | Form:
    """A layer or form that depends on nothing."""
    return made


def build(kind: type[Layer] | type[Form], written: list, bindings: Bindings, shape: Shape | None) -> Layer | Form:
    """The layer or form with its arguments' values; `none` takes an argument of the defaults away."""
    arguments = {}
    for name, value, none, required in written:
        found = value.evaluate(bindings, shape)
        if found is not None or none:
            arguments[name] = found
        elif required:
            raise SpecError(f"{quote(kind.kind)} needs {quote(name)}", hint=kind.meaning(name), argument=name)
    try:
        return kind(**arguments)
    except ParamcountError as error:
        show_formula(error, written, bindings, shape)
        raise


def show_formula(error: ParamcountError, written: list, bindings: Bindings, shape: Shape | None) -> None:
    """Say which expression gave a number that cannot be used, and point at it."""
    for name, value, _, _ in written:
        if isinstance(value, NamedSizes) and error.argument in value.sizes:
            name, value = error.argument, value.sizes[error.argument]
        seen = bindings
        if isinstance(value, FromDefaults):
            seen, value = bindings.base, value.inner
        if name == error.argument and isinstance(value, Formula) and error.position is None:
            expression = value.expression
            text, known = expression.text, with_values(expression, seen, shape)
            parts = [f"from {quote(text)}" if IDENTIFIER.match(text) else f"{quote(text)} is {known}"]
            for argument, default in fractions(expression, seen):
                parts.append(f"{quote(argument)} is {quote(default.expression.text)}: {with_values(*default)}")
                error.hint = f"give {quote(argument)}"
            error.message += f" ({'; '.join(parts)})"
            error.position = value.position


def fractions(expression: Expression, bindings: Bindings) -> list[tuple[str, Default]]:
    """The block's arguments in an expression that were not given and whose defaults are not whole numbers."""
    found = [(name, bindings.values[name]) for name in expression.names if name in bindings.defaults]
    return [
        (name, bindings.defaults[name]) for name, value in found if isinstance(value, float) and not value.is_integer()
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
    """A block with its arguments and the paths of its inputs."""
    written = read_arguments(item, block.signature, node, context)
    if written is None:
        return
    arguments = [(name, value) for name, value in written.items() if name in block.arguments]
    paths = [(name, value) for name, value in written.items() if name in block.inputs]
    own = block.file is context.file  # whose variables it sees
    item.make = partial(build_block, block, arguments, paths, item.position, own)


def build_block(
    block: BlockDefinition,
    arguments: list[tuple[str, Written]],
    paths: list[tuple[str, Written]],
    position: Position,
    own: bool,
    bindings: Bindings,
    shape: Shape | None,
) -> SpecBlock:
    """The block with its arguments' values and the paths of its inputs."""
    values = {name: value.evaluate(bindings, shape) for name, value in arguments}
    given = {name: value.evaluate(bindings, shape) for name, value in paths}
    return SpecBlock(block, values, given, position, bindings.base if own else EMPTY)
