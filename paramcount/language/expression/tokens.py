"""An expression's text as tokens, each with its place, and a word of help about all that is not a token."""

import math
import re
from typing import Any, NamedTuple, NoReturn

from paramcount.errors import Position, SpecError, quote
from paramcount.numbers.arithmetic import LIMIT

LONGEST = 200
KEYWORDS = ("and", "or", "not", "in", "if", "else")
LITERALS = {"true": True, "false": False, "none": None}
ALLOWED = (
    "an expression has numbers, names, lists, `+ - * / // % **`, comparisons, `in`, `and`, `or`, `not`, "
    "`a if c else b`, `x[i]`, and a few functions such as `max(a, b)`"
)
FOREIGN = {"lambda", "for", "while", "def", "import", "return", "yield", "await", "async", "assert", "del", "raise"}

TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<quoted>'[^']*'|\"[^\"]*\")"
    r"|(?P<operator>\*\*(?!\*)|//|<=|>=|==(?!=)|!=|<(?![<>])|>(?!>)|\*(?!\*)|[-+/%()\[\],])"
)

# What other notations write, and what to write instead.
ELSEWHERE = {
    "===": "write `==`",
    "==": "write `==`",
    "=": "to compare write `==`; an expression assigns nothing",
    "^": "for a power write `**`",
    "***": "for a power write `**`",
    "&&": "write `and`",
    "||": "write `or`",
    "!": "write `not`",
    "<>": "write `!=`",
    "<<": "multiply by a power of two instead",
    ">>": "divide with `//` instead",
    "?": "write `a if condition else b`",
    "~": "write `not`, or `none` for nothing",
    "×": "write `*`",
    "·": "write `*`",
    "÷": "write `/`",
    "−": "write `-`",
    "–": "write `-`",
    "≤": "write `<=`",
    "≥": "write `>=`",
    "≠": "write `!=`",
    "²": "write `** 2`",
    "³": "write `** 3`",
    "∞": "write a finite number",
}
SUFFIXES = {
    **dict.fromkeys(("k", "K", "ki", "Ki", "KB", "kB", "KiB"), "1024"),
    **dict.fromkeys(("M", "MB"), "10 ** 6"),
    **dict.fromkeys(("Mi", "MiB"), "1024 ** 2"),
    **dict.fromkeys(("G", "B", "GB"), "10 ** 9"),
    **dict.fromkeys(("Gi", "GiB"), "1024 ** 3"),
    **dict.fromkeys(("T", "TB"), "10 ** 12"),
}
SPELLINGS = {
    **dict.fromkeys(("yes", "no", "on", "off"), "write `true` or `false`"),
    "true": "write `true`",
    "false": "write `false`",
    **dict.fromkeys(("none", "null", "nil"), "write `none`"),
    **dict.fromkeys(("inf", "infinity", "nan"), "it is not a usable number; write a finite one"),
}


def spelling_hint(name: str) -> str:
    """What to write for a word of YAML or Python that is not a variable here; empty for any other name.

    >>> spelling_hint("no"), spelling_hint("True")
    ('write `true` or `false`', 'write `true`')
    """
    return SPELLINGS.get(name.lower(), "")


class Token(NamedTuple):
    """`kind` is number, name, literal, operator or end; an operator's and a name's `value` is its text."""

    kind: str
    value: Any
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class Source(NamedTuple):
    """An expression's text and the place of its first character."""

    text: str
    position: Position

    def at(self, index: int) -> Position:
        """The place of a character of the text."""
        return self.position._replace(column=self.position.column + index)

    def error(self, index: int, message: str, hint: str = "", mask: Any = None) -> SpecError:
        """An error about the character at an index; its message ends with the expression unless that is in it."""
        whole = quote(self.text)
        if whole not in message:
            message += f": {whole}" if message.endswith("expressions") else f" in {whole}"
        located = SpecError(message, hint=hint, position=self.at(index))
        located.mask = mask
        return located


def tokenize(source: Source) -> list[Token]:
    """The tokens of an expression, the last of kind end; raises SpecError for what the language does not have."""
    text = source.text
    if len(text) > LONGEST:
        hint = "name its parts in `vars:`"
        raise source.error(0, f"an expression has at most {LONGEST} characters, and this one {len(text):,}", hint)
    tokens = []
    index = 0
    while index < len(text):
        found = TOKEN.match(text, index)
        if found is None:
            refuse(source, index)
        kind, word = found.lastgroup, found[0]
        if kind == "number":
            tokens.append(Token("number", number(source, index, word), index, word))
        elif kind == "name":
            tokens.append(name(source, index, word))
        elif kind == "quoted":
            tokens.append(Token("literal", word[1:-1], index, word))
        elif kind == "operator":
            tokens.append(Token("operator", word, index, word))
        index = found.end()
    tokens.append(Token("end", "", len(text), ""))
    return tokens


def name(source: Source, index: int, word: str) -> Token:
    if word in KEYWORDS:
        return Token("operator", word, index, word)
    if word in LITERALS:
        return Token("literal", LITERALS[word], index, word)
    if word in FOREIGN or "__" in word:
        raise source.error(index, f"{quote(word)} is not allowed in expressions", ALLOWED)
    if word == "is":
        raise source.error(index, "`is` is not allowed in expressions", "write `==`")
    if not word.isidentifier():  # such as `x²`
        refuse(source, index + next(end for end in range(len(word)) if not word[: end + 1].isidentifier()))
    return Token("name", word, index, word)


def number(source: Source, index: int, word: str) -> int | float:
    """A literal's value: an int where it is written without a point and is whole, so that 1e3 is 1000."""
    tail = re.compile(r"\w*").match(source.text, index + len(word))
    if tail and tail[0]:
        run_on(source, index, word, tail[0])
    if re.match(r"[0-9]+(:[0-9]+)+(\s|$)", source.text[index:]):
        raise source.error(index, f"{quote(source.text[index:].split()[0])} is not a number", "write one plain number")
    if re.fullmatch("0[0-9]+", word):
        refuse_thousands(source, index)
        raise source.error(index, f"{quote(word)} begins with a zero", f"write {word.lstrip('0') or '0'}")
    value = int(word) if word.isdigit() else float(word)
    if not value <= LIMIT:
        raise source.error(index, f"{quote(word)} is too large", "numbers go up to 1e18")
    return int(value) if "." not in word and math.floor(value) == value else value


def refuse_thousands(source: Source, index: int) -> None:
    """Raise SpecError where the character at an index stands in a number with commas, such as 1,024."""
    for found in re.finditer(r"(?<![\w.])[0-9]{1,3}(,[0-9]{3})+(?![\w.])", source.text):
        if found.start() < index < found.end():
            hint = f"write {found[0].replace(',', '')}"
            raise source.error(found.start(), f"{quote(found[0])} has a comma in the number", hint)


def run_on(source: Source, index: int, word: str, tail: str) -> NoReturn:
    """Raise SpecError for a number with letters right behind it."""
    whole = quote(word + tail)
    if re.fullmatch("(_[0-9]+)+", tail):
        raise source.error(index, f"{whole} is not a number", f"write {word}{tail.replace('_', '')}")
    if tail in SUFFIXES:
        hint = f"suffixes are not supported; write it out, e.g. {word} * {SUFFIXES[tail]}"
        raise source.error(index, f"{whole} is not a number", hint)
    if word == "0" and re.fullmatch("[xX][0-9a-fA-F]{1,15}|[oO][0-7]{1,20}|[bB][01]{1,60}", tail):
        raise source.error(index, f"{whole} is not decimal", f"write {int(word + tail, 0)}")
    if re.fullmatch("(x[0-9]+)+", tail):
        parts = (word + tail).split("x")
        alike = f"{parts[0]}, or " if len(set(parts)) == 1 else ""
        raise source.error(index, f"{whole} is not a number", f"write {alike}[{', '.join(parts)}]")
    if "__" in tail or not tail.isidentifier():
        raise source.error(index, f"{whole} is not allowed in expressions", ELSEWHERE.get(tail, ALLOWED))
    raise source.error(index, f"{whole} is not a number", f"did you mean `{word} * {tail}`?")


def refuse(source: Source, index: int) -> NoReturn:
    """Raise SpecError about a character that begins no token."""
    rest = source.text[index:]
    if found := re.match(r"\{\{\s*([^{}]*?)\s*\}\}", rest):
        hint = f"to use a variable just write its name: {quote(found[1])}"
        raise source.error(index, f"{quote(found[0])} is a template, which is not part of the language", hint)
    if found := re.match(r"\$\{\s*([^{}]*?)\s*\}|\$(\w*)", rest):
        hint = f"write the bare name {quote(found[1] or found[2] or 'w')}"
        raise source.error(index, f"{quote(found[0])} is not part of the language", hint)
    if found := re.match(r"\.(inf|nan)\b", rest, re.IGNORECASE):
        raise source.error(index, f"{quote(found[0])} is not a usable number", "write a finite number")
    if rest[0] in "'\"":
        raise source.error(index, f"the quote {rest[0]} is never closed", f"add {rest[0]} at the end of the word")
    for length in (3, 2, 1):
        if rest[:length] in ELSEWHERE:
            raise source.error(index, f"{quote(rest[:length])} is not an operator here", ELSEWHERE[rest[:length]])
    raise source.error(index, f"{quote(rest[0])} is not allowed in expressions", ALLOWED)
