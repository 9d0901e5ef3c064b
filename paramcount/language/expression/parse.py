"""Expressions: parsed once, by precedence, into closures; nothing is ever handed to Python's own evaluation."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from paramcount.errors import ArgumentError, ParamcountError, Position, quote
from paramcount.language.expression import values
from paramcount.language.expression.tokens import ALLOWED, Source, Token, refuse_thousands, tokenize
from paramcount.numbers.arithmetic import LIMIT

Lookup = Callable[[str], Any]
Run = Callable[[Lookup], Any]

DEEPEST = 40
CHOICE, OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN, POWER, POSTFIX = range(1, 11)
BINARY: dict[str, tuple[int, Callable]] = {
    "+": (SUM, values.add),
    "-": (SUM, values.subtract),
    "*": (PRODUCT, values.multiply),
    "/": (PRODUCT, values.divide),
    "//": (PRODUCT, values.floor_divide),
    "%": (PRODUCT, values.remainder),
    "**": (POWER, values.power),
}
COMPARISONS: dict[str, Callable] = {
    "==": values.equal,
    "!=": values.unequal,
    "<": values.ordering(operator.lt),
    "<=": values.ordering(operator.le),
    ">": values.ordering(operator.gt),
    ">=": values.ordering(operator.ge),
    "in": values.contained,
    "not": values.missing,  # `not in`
}
EXACT: dict[str, Callable] = {  # what whole numbers need no care for
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
LEVELS = {
    **{text: level for text, (level, _) in BINARY.items()},
    **dict.fromkeys(COMPARISONS, COMPARISON),
    "if": CHOICE,
    "or": OR,
    "and": AND,
    "[": POSTFIX,
}


class Expression(NamedTuple):
    """A parsed expression. `evaluate(lookup)` gives its value; `lookup` gives that of a variable by its name.

    `evaluate` raises SpecError, at the exact column, where the values do not go together. `references` are the
    variables in the order of the text, each with its place.
    """

    text: str
    position: Position
    references: tuple[tuple[str, Position], ...]
    evaluate: Run
    names: frozenset[str]  # the variables that it reads

    @property
    def constant(self) -> bool:
        """Whether it reads no variable."""
        return not self.references

    def reading(self, names: frozenset[str]) -> Expression:
        """The expression with only these variables; other names stand for themselves, as words."""
        if names == self.names:
            return self
        run = self.evaluate
        return self._replace(
            references=tuple(each for each in self.references if each[0] in names),
            evaluate=lambda lookup: run(lambda name: lookup(name) if name in names else name),
            names=names,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it is compiled anew from its text."""
        return read_again, (self.text, self.position, self.names)


def read_again(text: str, position: Position, names: frozenset[str]) -> Expression:
    """An expression that was read before, with these variables."""
    return parse(text, position).reading(names)


def parse(text: str, position: Position) -> Expression:
    """The expression that a text holds; `position` is the place of its first character.

    Raises SpecError for what is not an expression, at the exact column. At most 200 characters and 40 levels.

    >>> parse("round8(c * width)", Position("net.yaml", 3, 12)).evaluate({"c": 32, "width": 0.35}.get)
    16
    """
    source = Source(text, position)
    parser = Parser(source)
    piece = parser.whole()
    references = tuple((name, source.at(index)) for name, index in parser.references)
    if not references:
        piece = folded(piece)
    return Expression(text, position, references, piece.run, frozenset(name for name, _ in references))


class Piece(NamedTuple):
    """A part of an expression, compiled."""

    run: Run
    constant: bool = False


def constant(value: Any) -> Piece:
    return Piece(lambda lookup: value, constant=True)


def nothing(name: str) -> NoReturn:
    raise KeyError(name)


def folded(piece: Piece) -> Piece:
    """A piece without variables as its value; what fails is left to fail only where it is evaluated."""
    try:
        return constant(piece.run(nothing))
    except ParamcountError:
        return piece


def two_whole(exact: Callable, apply: Callable, first: Run, second: Run) -> Run:
    """An operation on two values, most often whole numbers, for which the plain operator does."""

    def run(lookup: Lookup) -> Any:
        a, b = first(lookup), second(lookup)
        if type(a) is int and type(b) is int:
            result = exact(a, b)
            if -LIMIT <= result <= LIMIT:
                return result
        return apply(a, b)

    return run


def condition(run: Run, check: Callable) -> Run:
    """A condition's value, which is most often a plain one already."""

    def checked(lookup: Lookup) -> Any:
        value = run(lookup)
        return value if value is True or value is False else check(value)

    return checked


class Parser:
    """One pass over the tokens, by precedence climbing: `expression(level)` reads all that binds tighter."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = tokenize(source)
        self.place = 0
        self.depth = 0
        self.references: list[tuple[str, int]] = []

    @property
    def token(self) -> Token:
        return self.tokens[self.place]

    def advance(self) -> Token:
        token = self.tokens[self.place]
        self.place += 1
        return token

    def sees(self, text: str) -> bool:
        return self.token.kind == "operator" and self.token.value == text

    def whole(self) -> Piece:
        if self.token.kind == "end":
            raise self.source.error(0, "the expression is empty", ALLOWED)
        piece = self.expression(0)
        if self.token.kind != "end":
            self.leftover(self.token)
        return piece

    def expression(self, level: int) -> Piece:
        left = self.operand(level)
        while self.token.kind == "operator" and LEVELS.get(self.token.value, 0) > level:
            left = self.combined(left, self.advance())
        return left

    def nested(self, opening: Token, level: int) -> Piece:
        """An expression inside of another; their depth is bounded."""
        self.depth += 1
        if self.depth > DEEPEST:
            hint = "name its parts in `vars:`"
            raise self.source.error(opening.start, f"more than {DEEPEST} expressions inside each other", hint)
        piece = self.expression(level)
        self.depth -= 1
        return piece

    def operand(self, level: int) -> Piece:
        token = self.advance()
        if token.kind in ("number", "literal"):
            return constant(token.value)
        if token.kind == "name":
            return self.call(token) if self.sees("(") else self.reference(token)
        if token.value == "(":
            piece = self.nested(token, 0)
            self.close(token, ")")
            return piece
        if token.value == "[":
            return self.compiled(token, values.listed, *self.items(token, "]"))
        if token.value in ("-", "+"):
            operation = values.negative if token.value == "-" else values.number
            return self.compiled(token, operation, self.nested(token, SIGN))
        if token.value == "not" and level <= NOT:
            return self.compiled(token, values.invert, self.nested(token, NOT))
        self.unexpected(token)

    def combined(self, left: Piece, token: Token) -> Piece:
        """What an operator makes of the piece before it and what follows."""
        text = token.value
        if text == "[":
            index = self.nested(token, 0)
            self.close(token, "]")
            return self.compiled(token, values.item, left, index)
        if text == "if":
            return self.choice(token, left)
        if text in ("and", "or"):
            return self.junction(token, left, self.expression(LEVELS[text]))
        if text in COMPARISONS:
            return self.comparison(left, token)
        level, operation = BINARY[text]
        right = self.nested(token, SIGN) if level == POWER else self.expression(level)
        return self.compiled(token, operation, left, right)

    def guarded(self, token: Token, operation: Callable) -> Callable:
        """An operation whose errors point at the token."""
        source, start = self.source, token.start

        def apply(*arguments: Any) -> Any:
            try:
                return operation(*arguments)
            except ArgumentError as error:
                raise source.error(start, error.message, error.hint, error.mask) from None

        return apply

    def compiled(self, token: Token, operation: Callable, *operands: Piece) -> Piece:
        """An operation on the values of its operands."""
        apply = self.guarded(token, operation)
        runs = [each.run for each in operands]
        exact = EXACT.get(token.value) if len(runs) == 2 else None
        piece = Piece(two_whole(exact, apply, *runs) if exact else lambda lookup: apply(*[run(lookup) for run in runs]))
        return folded(piece) if all(each.constant for each in operands) else piece

    def reference(self, token: Token) -> Piece:
        name = token.value
        self.references.append((name, token.start))
        return Piece(lambda lookup: lookup(name))

    def call(self, token: Token) -> Piece:
        from paramcount.language.expression.functions import FUNCTIONS

        opening = self.advance()
        if token.value not in FUNCTIONS:
            from paramcount.errors.suggest import one_of

            hint = one_of(token.value, FUNCTIONS, "the functions are " + ", ".join(FUNCTIONS))
            raise self.source.error(token.start, f"unknown function {quote(token.value)}", hint)
        function, fewest, most = FUNCTIONS[token.value]
        arguments = self.items(opening, ")")
        if not fewest <= len(arguments) <= most:
            wanted = {1: "one value", 2: "two values"}.get(int(most), "") if most < math.inf else "one value or more"
            raise self.source.error(token.start, f"`{token.value}` takes {wanted}, not {len(arguments)}")
        return self.compiled(token, function, *arguments)

    def items(self, opening: Token, closing: str) -> list[Piece]:
        """Expressions between commas, up to a closing bracket."""
        items = []
        while not self.sees(closing):
            items.append(self.nested(opening, 0))
            if not self.sees(","):
                break
            self.advance()
        self.close(opening, closing)
        return items

    def comparison(self, left: Piece, token: Token) -> Piece:
        """One comparison, or a chain of them such as `1 < x < 3`."""
        result, previous = None, left
        while True:
            if token.value == "not" and not self.sees("in"):
                self.unexpected(token)
            if token.value == "not":
                self.advance()
            right = self.expression(COMPARISON)
            link = self.compiled(token, COMPARISONS[token.value], previous, right)
            result = self.junction(token._replace(value="and"), result, link) if result else link
            if self.token.kind != "operator" or self.token.value not in COMPARISONS:
                return result
            token, previous = self.advance(), right

    def junction(self, token: Token, left: Piece, right: Piece) -> Piece:
        """`and` and `or`, which read their right side only where the left does not decide."""
        first = condition(left.run, self.guarded(token, values.condition))
        second = condition(right.run, self.guarded(token, values.condition))
        decided = token.value == "or"
        join = values.either if decided else values.both

        def run(lookup: Lookup) -> Any:
            result = first(lookup)
            if type(result) is not bool:
                try:
                    return join(result, second(lookup))
                except ParamcountError:  # perhaps of variants that the left side rules out: let the sweep split
                    result = bool(result)
            return result if result is decided else second(lookup)

        return Piece(run)

    def choice(self, token: Token, left: Piece) -> Piece:
        """`a if c else b`, which reads only the side that it takes."""
        test = condition(self.expression(CHOICE).run, self.guarded(token, values.condition))
        if not self.sees("else"):
            if self.token.kind != "end":
                self.leftover(self.token)
            raise self.source.error(token.start, "`if` without `else`", "write `a if condition else b`")
        first, second = left.run, self.nested(self.advance(), 0).run

        def run(lookup: Lookup) -> Any:
            chosen = test(lookup)
            if type(chosen) is not bool:
                try:
                    return values.chosen(chosen, first(lookup), second(lookup))
                except ParamcountError:  # words, or a side that does not hold for all: let the sweep split
                    chosen = bool(chosen)
            return first(lookup) if chosen else second(lookup)

        return Piece(run)

    def close(self, opening: Token, closing: str) -> None:
        if self.sees(closing):
            self.advance()
        elif self.token.kind == "end":
            hint = f"add `{closing}`; inside {{ }} a comma or bracket ends a value that is not quoted"
            raise self.source.error(opening.start, f"`{opening.value}` is never closed", hint)
        else:
            self.leftover(self.token)

    def unexpected(self, token: Token) -> NoReturn:
        """Raise SpecError about a token where a value should begin."""
        if token.kind == "end":
            last = self.tokens[-2]
            raise self.source.error(last.start, f"a value is missing after `{last.text}`")
        hint = "put `not ...` in brackets" if token.value == "not" else ""
        raise self.source.error(token.start, f"a value is missing before `{token.text}`", hint)

    def leftover(self, token: Token) -> NoReturn:
        """Raise SpecError about a token where an operator, a comma or the end should be."""
        if token.value == ",":
            refuse_thousands(self.source, token.start)
        if token.kind == "operator" and token.value not in ("(", "not"):
            hint = "a list is written `[a, b]`" if token.value == "," else ""
            raise self.source.error(token.start, f"`{token.text}` does not belong here", hint)
        before = self.tokens[self.place - 1]
        plain = token.kind in ("name", "number") and before.kind in ("name", "number")
        if token.kind == before.kind == "number":
            hint = f"did you mean `{before.text}, {token.text}`? A list has commas: `[{before.text}, {token.text}]`"
            raise self.source.error(token.start, f"a comma or an operator is missing before {quote(token.text)}", hint)
        hint = f"did you mean `{before.text} * {token.text}`?" if plain else "to multiply write `*`"
        raise self.source.error(token.start, f"an operator is missing before {quote(token.text)}", hint)
