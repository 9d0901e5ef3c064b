"""How what is written beside a kind is read: each argument by its check."""

from __future__ import annotations

from typing import Any

from paramcount.errors import ArgumentError, ParamcountError, SpecError, quote
from paramcount.errors.suggest import argument_hint, did_you_mean, kind_for
from paramcount.graph.form import Named
from paramcount.language.bindings import EMPTY, Bindings
from paramcount.language.context import IDENTIFIER, Context, describe, empty, mapping_of, refuse_null, wrong
from paramcount.language.items import MODIFIERS, ItemSyntax, SpecItem
from paramcount.language.paths import ItemList, read_items, read_path
from paramcount.language.signature import Signature
from paramcount.language.written import (
    ANY_KIND,
    Constant,
    Several,
    Template,
    Written,
    read_formula,
    read_new_name,
    read_template,
    read_value,
)
from paramcount.language.yaml.nodes import Mapping, Node, Scalar, Sequence
from paramcount.layers.checked import SUGAR
from paramcount.layers.fields import Check
from paramcount.layers.layer import Item, Shape


class FromDefaults(Written):
    """An argument under `defaults:`, which sees the file's variables and the arriving value only."""

    __slots__ = ("inner",)

    def __init__(self, inner: Written) -> None:
        super().__init__(inner.position, inner.constant)
        self.inner = inner

    def evaluate(self, bindings: Bindings, shape: Shape | None) -> Any:
        return self.inner.evaluate(bindings.base, shape)


class KindValue(Written):
    """An argument that names a kind without arguments: gives its item, or None."""

    __slots__ = ("context", "inner", "what")

    def __init__(self, inner: Written, what: str, context: Context) -> None:
        super().__init__(inner.position, inner.constant)
        self.inner, self.what, self.context = inner, what, context
        if inner.constant:
            self.evaluate(EMPTY, None)

    def evaluate(self, bindings: Bindings, shape: Shape | None) -> Any:
        word = self.inner.evaluate(bindings, shape)
        if word is None or isinstance(word, Item):  # a block in Python is given items too
            return word
        item = self.item(word)
        return item.layer or SpecItem(item, bindings.base)

    def item(self, word: Any) -> ItemSyntax:
        """The item of a word, read once for each file."""
        words = self.context.file.words
        if isinstance(word, str) and word in words and words[word] is None:
            message = f"by its defaults {quote(word)} is followed by itself"
            raise SpecError(message, hint="take its norm or activation out of `defaults`", position=self.position)
        if not isinstance(word, str) or word not in words:
            place = Scalar(str(word), self.position)
            kinds = self.context.kinds()
            if not isinstance(word, str) or not (word in kinds or self.context.is_kind(word)):
                hint = did_you_mean(kind_for(str(word), kinds), "any kind that needs no argument, or `none`")
                raise wrong(place, f"unknown {self.what} {quote(word)}", hint)
            words[word] = None  # while it is read
            try:
                words[word] = self.context.read_item(place, self.context)
            except ParamcountError as error:
                del words[word]
                message = f"`{self.what}` takes a kind that needs no argument, and {error.message}"
                raise wrong(place, message, "put it below, as an item of its own") from None
        return words[word]


class ByName(Written):
    """Something for each of several names, which may have expressions in braces."""

    __slots__ = ("pairs",)

    def __init__(self, node: Node, pairs: list[tuple[Template, Written]]) -> None:
        super().__init__(node.position, all(name.constant and value.constant for name, value in pairs))
        self.pairs = pairs

    def evaluate(self, bindings: Bindings, shape: Shape | None) -> Any:
        found = {}
        for template, value in self.pairs:
            name = template.evaluate(bindings, shape)
            if name in found:
                hint = "give the second value another name"
                raise SpecError(f"the name {quote(name)} is given twice", hint=hint, position=template.position)
            found[name] = value.evaluate(bindings, shape)
        return found


class NamedSizes(Written):
    """The named axis sizes of a pattern."""

    __slots__ = ("sizes",)

    def __init__(self, node: Node, sizes: dict[str, Written]) -> None:
        super().__init__(node.position, all(size.constant for size in sizes.values()))
        self.sizes = sizes

    def evaluate(self, bindings: Bindings, shape: Shape | None) -> Any:
        return {name: size.evaluate(bindings, shape) for name, size in self.sizes.items()}


def read_arguments(item: ItemSyntax, signature: Signature, node: Node, context: Context) -> dict[str, Written] | None:
    """The arguments of an item as written, with its kind's defaults; None where one is wrong, which is noted."""
    noted = len(context.file.errors)
    nodes, axes = given_arguments(signature, node, context)
    written = dict(context.file.defaults.get(item.kind, {}))
    for name, value in nodes.items():
        read = context.attempt(read_argument, signature, name, value, context, value is node)
        if read is not None:
            written[name] = read
    if axes:
        sizes = {axis: read_value(value, context, what=axis) for axis, value in axes.items()}
        written[signature.open] = NamedSizes(node, sizes)
    if len(context.file.errors) > noted or item.kind in context.file.broken:
        return None
    for name in signature.required:
        if name not in written:
            raise missing(signature, name, item)
    item.places.update({name: value.position for name, value in [*written.items(), *axes.items()]})
    return written


def given_arguments(signature: Signature, node: Node, context: Context) -> tuple[dict[str, Node], dict[str, Node]]:
    """The arguments by name, from one scalar, a list, or a mapping; and the sizes of axes where a kind takes such."""
    whole = signature.taken_whole
    if empty(node):
        return {}, {}
    if isinstance(node, Mapping) and not (whole and signature.checks[whole].takes == "named"):
        found, axes = {}, {}
        for key, value in node.entries:
            name = signature.words.get(key.text)
            if name is not None and name != signature.open:
                found[name] = value
            elif signature.open and IDENTIFIER.match(key.text):
                axes[key.text] = value
            else:
                context.file.note(unknown_argument(signature, key, value, context))
        return found, axes
    if not signature.positional:
        first = next(iter(signature.words), "")
        hint = f"write `{signature.kind}: {{{first}: ...}}`" if first else f"write `- {signature.kind}` alone"
        raise wrong(node, f"{quote(signature.kind)} takes no positional argument", hint)
    if isinstance(node, (Scalar, Mapping)) or whole:
        return {signature.positional[0]: node}, {}
    if len(node.items) > len(signature.positional):
        raise wrong(
            node,
            f"{quote(signature.kind)} takes at most {len(signature.positional)} positional argument"
            f"{'s' * (len(signature.positional) > 1)}, and got {len(node.items)}",
            f"in this order: {', '.join(signature.positional)}",
        )
    return dict(zip(signature.positional, node.items, strict=False)), {}


def read_argument(signature: Signature, name: str, node: Node, context: Context, alone: bool = False) -> Written:
    """One argument as its field reads it; a constant one is checked at once. `alone`: it is all behind its kind."""
    check, word = signature.checks[name], signature.word(name)
    if name in signature.required and not check.none:
        refuse_null(node, word, signature.meanings[name])
    try:
        read = read_checked(check, word, node, context, signature.kind if alone else word)
        if check.takes == "expression" and read.constant and read.evaluate(EMPTY, None) is not None:
            read.checked(check, word, EMPTY, None)
    except ArgumentError as error:
        error.hint = error.hint or signature.meanings[name]
        raise
    return read


def read_checked(check: Check, word: str, node: Node, context: Context, shown: str) -> Written:
    """What is written, read as a check says; `shown` is what the user calls it."""
    if check.takes == "value":
        return read_path(node, context)
    if check.takes == "values":
        if not isinstance(node, Sequence) or not node.items:
            hint = f"write `{shown}: [prev, [...]]`"
            raise wrong(node, f"{quote(shown)} takes a list of paths, not {describe(node)}", hint)
        found = [context.attempt(read_path, each, context) for each in node.items]
        return Several(node.position, [each for each in found if each is not None])
    if check.takes == "items":
        return ItemList(node.position, read_items(node, context, shown))
    if check.takes == "start":
        if isinstance(node, Sequence) and node.items and all(is_size(each, context) for each in node.items):
            return read_value(node, context, what=word)
        return read_path(node, context)
    if isinstance(check, Named):
        return read_named(check, node, context, shown)
    if check.takes == "text":
        if not isinstance(node, Scalar) or empty(node):
            raise wrong(node, f"{quote(shown)} takes text, not {describe(node)}", "quote it")
        return Constant(node.position, node.text)
    if check.takes == "key":
        if check.none and isinstance(node, Scalar) and node.text == "none":
            return Constant(node.position, None)
        template = read_template(node, context, f"`{word}`")
        context.keys.note(template.text, 1)
        return template
    if check.takes == "kind":
        return read_kind_word(node, word, context)
    return read_value(node, context, check.words, word)


def read_named(check: Named, node: Node, context: Context, shown: str) -> Written:
    pairs = []
    for key, value in mapping_of(node, f"`{shown}`").entries:
        name = context.attempt(read_new_name, key, context, f"a name under `{shown}`")
        read = context.attempt(read_checked, check.check, key.text, value, context, key.text)
        if name is not None and read is not None:
            pairs.append((name, read))
            if check.declares and name.constant:
                context.declared.setdefault(name.text, name.position)
    return ByName(node, pairs)


def is_size(node: Node, context: Context) -> bool:
    """Whether an entry of a list is a size, and not an item: a kind is always an item."""
    return isinstance(node, Scalar) and not context.is_kind(node.text)


def read_kind_word(node: Node, what: str, context: Context) -> Written:
    if not isinstance(node, Scalar) or empty(node):
        hint = ""
        if isinstance(node, Mapping) and len(node.entries) == 1:
            hint = f"put `- {node.entries[0][0].text}: ...` below, as an item of its own"
        raise wrong(node, f"{quote(what)} takes a kind that needs no argument, not {describe(node)}", hint)
    text = node.text.strip()
    plain = IDENTIFIER.match(text) and text not in context.names and text != "none"
    inner = Constant(node.position, text) if plain else read_formula(node, context, ANY_KIND)
    return KindValue(inner, what, context)


def unknown_argument(signature: Signature, key: Scalar, value: Node, context: Context) -> SpecError:
    kind, names = signature.kind, list(signature.words)
    shown = value.text if isinstance(value, Scalar) else "..."
    message = f"{quote(kind)} has no argument {quote(key.text)}"
    if key.text in MODIFIERS:
        hint = f"it stands beside {quote(kind)}: `{{{kind}: ..., {key.text}: {shown}}}`"
        return wrong(key, f"{quote(key.text)} is a modifier, not an argument of {quote(kind)}", hint)
    if key.text in SUGAR:
        hint = f"a block takes its own arguments only; put {quote(shown)} below it, as an item of its own"
        return wrong(key, message, hint)
    whole = signature.taken_whole
    if whole and signature.checks[whole].takes in ("items", "value", "values") and context.is_kind(key.text):
        return wrong(key, message, f"put it into a list: `{kind}: [{key.text}: {shown}]`")
    hint = argument_hint(key.text, names) or (f"it takes {', '.join(names)}" if names else "it takes none")
    return wrong(key, message, hint)


def missing(signature: Signature, name: str, item: ItemSyntax) -> SpecError:
    """The error for an argument that has no default and is not given."""
    word = signature.word(name)
    hint = signature.meanings[name] or f"write `{item.kind}: {{{word}: ...}}`"
    return SpecError(f"{quote(item.kind)} needs {quote(word)}", hint=hint, position=item.position)
