"""Arguments of layers and blocks: which are given, and how each is read."""

from __future__ import annotations

from typing import Any

from paramcount.errors import ParamcountError, SpecError, quote
from paramcount.errors.suggest import argument_hint, did_you_mean, kind_for
from paramcount.language.bindings import EMPTY, Bindings
from paramcount.language.context import IDENTIFIER, Context, describe, empty, wrong
from paramcount.language.items import ItemSyntax, SpecItem
from paramcount.language.reading import MODIFIERS, read_path
from paramcount.language.written import ANY_KIND, Constant, Written, read_formula, read_template, read_value
from paramcount.language.yaml.nodes import Mapping, Node, Scalar, Sequence
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
        if not isinstance(word, str) or word not in words:
            place = Scalar(str(word), self.position)
            kinds = self.context.kinds()
            if not isinstance(word, str) or not (word in kinds or self.context.is_kind(word)):
                hint = did_you_mean(kind_for(str(word), kinds), "any kind that needs no argument, or `none`")
                raise wrong(place, f"unknown {self.what} {quote(word)}", hint)
            from paramcount.language.kinds import read_kind

            item = ItemSyntax(self.position, word)
            try:
                read_kind(item, place, Scalar("", self.position), self.context)
            except ParamcountError as error:
                message = f"`{self.what}` takes a kind that needs no argument, and {error.message}"
                raise wrong(place, message, "put it below, as an item of its own") from None
            words[word] = item
        return words[word]


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
        found = value.evaluate(EMPTY, None)
        try:
            if found is not None:
                check(name, found)
        except ParamcountError as error:
            error.position = node.position
            raise
    return value


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
                context.file.note(unknown_argument(kind, key, value, names))
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


def unknown_argument(kind: str, key: Scalar, value: Node, names: list[str]) -> SpecError:
    shown = value.text if isinstance(value, Scalar) else "..."
    if key.text in MODIFIERS:
        hint = f"it stands beside {quote(kind)}: `{{{kind}: ..., {key.text}: {shown}}}`"
        return wrong(key, f"{quote(key.text)} is a modifier, not an argument of {quote(kind)}", hint)
    if key.text in ("norm", "activation"):  # every layer has them
        hint = f"a block takes its own arguments only; put {quote(shown)} below it, as an item of its own"
        return wrong(key, f"{quote(kind)} has no argument {quote(key.text)}", hint)
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
