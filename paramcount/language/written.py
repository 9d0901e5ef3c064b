"""Argument values as they stand in a spec: expressions, words, lists, names with braces."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from paramcount.errors import ArgumentError, ParamcountError, Position, SpecError, quote
from paramcount.graph.network import as_written
from paramcount.graph.scope import Name
from paramcount.language.bindings import Bindings
from paramcount.language.context import IDENTIFIER, RESERVED, Context, describe, empty, unknown, wrong
from paramcount.language.expression.parse import Expression, parse
from paramcount.language.expression.tokens import LONGEST
from paramcount.language.expression.values import listed
from paramcount.language.yaml.nodes import Mapping, Node, Scalar, Sequence
from paramcount.layers.fields import Check
from paramcount.layers.layer import Shape

Maker = Callable[[Bindings, Shape | None], Any]  # makes something in bindings, for the value that arrives

DECIMAL = re.compile(r"[1-9][0-9]{0,17}\Z")  # most values are: they need no parser

PYTHONS = r"(?<=[`\[ ])(None|True|False)(?=[`\],])"  # values in a message

# The words that a block's argument may be: these, and all kinds.
ANY_KIND = ("same", "half", "valid", "nearest", "bilinear", "softmax", "sigmoid")


class Written:
    """A value as written; `constant` ones need no variables."""

    __slots__ = ("constant", "position")

    def __init__(self, position: Position, constant: bool) -> None:
        self.position = position
        self.constant = constant

    def evaluate(self, bindings: Bindings, shape: Shape | None) -> Any:
        """The value in these bindings, for the value that arrives."""
        raise NotImplementedError

    def checked(self, check: Check, name: str, bindings: Bindings, shape: Shape | None) -> Any:
        """The value as a field takes it; what a field refuses is an error where it is written."""
        value = self.evaluate(bindings, shape)
        try:
            return check(name, value)
        except ArgumentError as error:
            error.position = error.position or self.position
            spell(error)
            raise


def spell(error: ParamcountError) -> None:
    """Write the values in an error's message as a spec does, in which `True` is `true`."""
    error.message = re.sub(PYTHONS, lambda word: word[0].lower(), error.message)


class Constant(Written):
    __slots__ = ("value",)

    def __init__(self, position: Position, value: Any) -> None:
        super().__init__(position, True)
        self.value = value

    def evaluate(self, bindings: Bindings, shape: Shape | None) -> Any:
        return self.value


class Formula(Written):
    __slots__ = ("expression",)

    def __init__(self, position: Position, expression: Expression) -> None:
        super().__init__(position, False)
        self.expression = expression

    def evaluate(self, bindings: Bindings, shape: Shape | None) -> Any:
        return bindings.evaluate(self.expression, shape)


class Several(Written):
    __slots__ = ("parts",)

    def __init__(self, position: Position, parts: list[Written]) -> None:
        super().__init__(position, all(part.constant for part in parts))
        self.parts = parts

    def evaluate(self, bindings: Bindings, shape: Shape | None) -> Any:
        parts = [part.evaluate(bindings, shape) for part in self.parts]
        try:
            return listed(*parts)
        except ArgumentError as error:
            error.position = self.position
            raise


class Template(Written):
    """A name of a value, in which braces hold expressions: `c{i + 2}`.

    It is given `up` loops outside; the innermost `same` loops around it leave it as it is in all their iterations.
    """

    __slots__ = ("parts", "same", "text", "up")

    def __init__(self, position: Position, text: str, parts: list[str | Expression], up: int, same: int) -> None:
        super().__init__(position, all(isinstance(part, str) for part in parts))
        self.text, self.parts = text, parts
        self.up, self.same = up, same

    def evaluate(self, bindings: Bindings, shape: Shape | None, outside: int = 0) -> Name:
        """The name, in the bindings that hold `outside` loops."""
        if self.constant:
            return Name(self.text, self.position)
        parts = [part if isinstance(part, str) else shown(bindings.evaluate(part, shape), part) for part in self.parts]
        return Name("".join(parts), self.position, self.up - outside)


def shown(value: Any, part: Expression) -> str:
    """A value inside a name."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        found = f"{quote(part.text)} is {quote(value, as_written)}"
        raise SpecError(f"{found}, and a name needs a whole number or a word", position=part.position)
    return str(value)


def read_value(node: Node, context: Context, words: tuple[str, ...] = (), what: str = "value") -> Written:
    """A number, flag, word or list; a bare word that is not a variable must be one of `words`."""
    if isinstance(node, Sequence):
        return Several(node.position, [read_value(item, context, words, what) for item in node.items])
    if isinstance(node, Mapping):
        raise wrong(node, f"{quote(what)} takes a number, a word or a list, not a mapping")
    if empty(node):
        raise wrong(node, f"{quote(what)} has no value")
    text = node.text.strip()
    if IDENTIFIER.match(text) and text not in RESERVED and text not in context.names:
        if text in words or (words is ANY_KIND and context.is_word(text)):
            return Constant(node.position, text)
        if words is ANY_KIND:
            raise context.unknown_word(text, node.position)
        if words:
            known = [*words, *context.names]
            raise unknown(what, node, known, "one of " + ", ".join(words))
    return read_formula(node, context, words)


def read_formula(node: Scalar, context: Context, words: tuple[str, ...] = ()) -> Written:
    """An expression, evaluated at once if it is constant; `words` may stand in it for themselves."""
    if DECIMAL.match(node.text):
        return Constant(node.position, int(node.text))
    position = node.position._replace(column=node.position.column + node.quoted)
    expression = parse_known(node.text, position, context, words)
    if expression.constant:
        return Constant(node.position, expression.evaluate(refuse))
    return Formula(node.position, expression)


def parse_known(text: str, position: Position, context: Context, words: tuple[str, ...] = ()) -> Expression:
    """An expression whose variables all exist here, or are `words`; an error is noted for each that does not."""
    if text in context.names:  # one variable needs no parser
        context.file.used.add(text)
        return Expression(text, position, ((text, position),), lambda lookup: lookup(text), frozenset((text,)))
    expression = parse(text, position)
    if words:
        expression = with_words(expression, context, words)
    missing = [
        context.unknown_variable(name, where) for name, where in expression.references if name not in context.names
    ]
    if missing:
        context.file.errors += missing[:-1]
        raise missing[-1]
    context.file.used.update(expression.names)
    return expression


def with_words(expression: Expression, context: Context, words: tuple[str, ...]) -> Expression:
    """An expression in which what is not a variable may be a word: `relu if i < 2 else gelu`."""

    def is_word(name: str) -> bool:
        return name not in context.names and (name in words or (words is ANY_KIND and context.is_word(name)))

    return expression.reading(expression.names - frozenset(filter(is_word, expression.names)))


def refuse(name: str) -> Any:
    raise KeyError(name)


def read_new_name(node: Node, context: Context, what: str) -> Template:
    """A name that is given here."""
    template = read_template(node, context, what)
    if template.text == "prev":
        raise wrong(node, "`prev` is reserved", "choose another name")
    return template


def read_template(node: Node, context: Context, what: str = "a name") -> Template:
    """A name, perhaps with expressions in braces."""
    if not isinstance(node, Scalar) or not node.text:
        raise wrong(node, f"{what} must be a word, not {describe(node)}")
    text = node.text
    if len(text) > LONGEST:
        raise wrong(node, f"{what} has at most {LONGEST} characters, and {quote(text)} {len(text):,}")
    if text in RESERVED and text != "prev":
        raise wrong(node, f"{quote(text)} is reserved", "choose another name")
    parts: list[str | Expression] = []
    mentioned: list[int] = []
    at = 0
    while at < len(text):
        start = text.find("{", at)
        if start < 0:
            parts.append(text[at:])
            break
        end = text.find("}", start)
        if end < 0:
            raise wrong(node, f"a brace is not closed in {quote(text)}", "write names like `c{i}`")
        parts.append(text[at:start])
        column = node.position.column + start + 1 + node.quoted
        expression = parse_known(text[start + 1 : end], node.position._replace(column=column), context)
        mentioned += loops_of(expression.names, context)
        parts.append(expression)
        at = end + 1
    if all(isinstance(part, str) for part in parts):
        return Template(node.position, text, parts, 0, len(context.loops))
    up = max(mentioned, default=min(len(context.loops), 1))
    return Template(node.position, text, parts, up, min(mentioned, default=1) - 1)


def loops_of(names: frozenset[str], context: Context) -> list[int]:
    """The loops that bind these variables, counted from 1, the innermost."""
    hidden: set[str] = set()
    levels = []
    for level, own in enumerate(reversed(context.loops), 1):
        if not (names - hidden).isdisjoint(own):
            levels.append(level)
        hidden |= own
    return levels
