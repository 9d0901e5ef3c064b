"""What is wrong with a text that YAML cannot read, or that the language leaves out, in words a user can act on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paramcount.errors import Position, SpecError, quote
from paramcount.language.yaml.source import tab_error

if TYPE_CHECKING:
    from paramcount.language.yaml.reader import Reader

# Patterns stay text until a mistake needs them: compiling them would slow down every start.
TEMPLATE = r"\{\{([^{}]*)\}\}"
INTERPOLATION = r"\$\{([^{}]*)\}"
MISSING_SPACE = r"(?s)([A-Za-z_][\w.]*):([^\s/].*)"
DEEPEST = 64
CLOSING = {"[": "]", "{": "}"}


def in_quotes(value: str) -> str:
    """A value in double quotes, as a user would type it, in backticks."""
    return quote(f'"{value}"')


def alias_error(source: str, position: Position) -> SpecError:
    """The error for a value that begins with `*`; `source` is its line from there on."""
    value = re.split(r"\s#|[,}\]]", source)[0].rstrip()
    hint = f"quote an expression: {in_quotes(value)}; for what is repeated use `vars:` or `blocks:`"
    return SpecError(f"{quote(value)} begins an alias, which is not part of the language", hint=hint, position=position)


def anchor_error(name: str, position: Position) -> SpecError:
    hint = "use `vars:` for values and `blocks:` for repeated layers"
    return SpecError(f"the anchor {quote(f'&{name}')} is not part of the language", hint=hint, position=position)


def tag_error(position: Position) -> SpecError:
    return SpecError("tags (`!...`) are not allowed, and nothing is run", hint="remove the tag", position=position)


def space_error(before: str, after: str, position: Position) -> SpecError:
    hint = f"put a space after `:`, as in {quote(f'{before}: {after}')}"
    return SpecError(f"a `:` without a space after it in {quote(f'{before}:{after}')}", hint=hint, position=position)


def template_error(source: str, name: str, position: Position) -> SpecError:
    hint = f"to use a variable just write its name: {quote(name.strip())}"
    return SpecError(f"{quote(source)} is a template, which is not part of the language", hint=hint, position=position)


def deep_error(position: Position) -> SpecError:
    hint = "move what is inside into `blocks:`"
    return SpecError(f"more than {DEEPEST} levels of nesting", hint=hint, position=position)


def escape_error(position: Position) -> SpecError:
    hint = "write `\\\\` for a backslash, or use '...' where a backslash stands for itself"
    return SpecError("an escape after `\\` that stands for no character", hint=hint, position=position)


def explain(problem: Exception, reader: Reader) -> SpecError:
    """The parser's refusal as an error of ours: by where it stopped, what stands there, and what is open."""
    stop = Stop(problem, reader)
    # The parser in Python lets chr() refuse an escape beyond Unicode.
    return escape_error(stop.position) if isinstance(problem, ValueError) else stop.explain()


class Stop:
    """The place where the parser stopped: `line` with `before` and `here` around it, and where it came from."""

    def __init__(self, problem: Exception, reader: Reader) -> None:
        mark = getattr(problem, "problem_mark", None) or getattr(problem, "context_mark", None)
        origin = getattr(problem, "context_mark", None) or mark
        self.reader = reader
        self.position = self.at(mark)
        self.origin = self.at(origin)
        self.context = getattr(problem, "context", None) or ""
        self.line = reader.line(self.position.line)
        self.before = self.line[: self.position.column - 1]
        self.here = self.line[self.position.column - 1 :]
        self.start = reader.line(self.origin.line)[self.origin.column - 1 :]
        self.last = reader.last
        rest = reader.text.splitlines()[self.position.line :]
        self.ended = not self.here and not any(line.strip() for line in rest)

    def at(self, mark: Any) -> Position:
        if mark is None:
            return self.reader.last.position if self.reader.last else Position(self.reader.file, 1, 1)
        return Position(self.reader.file, mark.line + 1, mark.column + 1)

    def error(self, message: str, hint: str, position: Position | None = None) -> SpecError:
        return SpecError(message, hint=hint, position=position or self.position)

    def explain(self) -> SpecError:
        indent = self.line[: len(self.line) - len(self.line.lstrip())]
        if "\t" in indent or self.here.startswith("\t"):
            column = self.line.index("\t") + 1 if "\t" in indent else self.position.column
            return tab_error(self.position._replace(column=column))
        opening = [match.start() for match in re.finditer(r"[\[{]", self.before)]
        if len(opening) - len(re.findall(r"[\]}]", self.before)) > DEEPEST:  # libyaml has a limit of its own
            return deep_error(self.column(opening[DEEPEST]))
        return self.borrowed() or self.quotes() or (self.flow() if self.in_flow() else self.block())

    def in_flow(self) -> bool:
        return bool(self.reader.open) and self.reader.open[-1][0]

    def borrowed(self) -> SpecError | None:
        """Notation of other tools, and the parts of YAML that the language leaves out."""
        found = re.search(TEMPLATE, self.line)
        if found:
            return template_error(found[0], found[1], self.position._replace(column=found.start() + 1))
        found = re.search(INTERPOLATION, self.line)
        if found:
            hint = f"write the bare name: {quote(found[1].strip())}"
            return self.error(f"{quote(found[0])} is not part of the language", hint, self.column(found.start()))
        for text, position in ((self.start, self.origin), (self.here, self.position)):
            word = re.match(r".\S*", text)
            if text[:1] == "*":
                return alias_error(text, position)
            if text[:1] == "&":
                return anchor_error(word[0][1:] if word else "", position)
            if text[:1] == "!":
                return tag_error(position)
            if (text[:1] == "%" and position.column == 1) or self.line.startswith("%"):
                return self.error(
                    "a line that begins with `%` is a directive", "remove it", position._replace(column=1)
                )
        first = self.reader.text.lstrip()
        if first[:1] == "%" and not self.reader.open:
            hint = "remove the line that begins with `%`"
            return self.error("directives are not part of the language", hint, Position(self.position.file, 1, 1))
        return None

    def quotes(self) -> SpecError | None:
        mark = self.start[:1]
        if mark in ("'", '"') and "scalar" in self.context:
            if "\\" in self.here[:1] + self.before[-2:] and mark == '"' and not self.ended:
                return escape_error(self.origin)
            return self.error(f"the quote {quote(mark)} is never closed", f"add {quote(mark)} at its end", self.origin)
        follows = self.here[:1] not in (":]}'\"" if self.in_flow() else ":]}")
        if self.last and self.last.quoted and self.before.rstrip().endswith(("'", '"')) and follows:
            where = "" if self.last.position.line == self.position.line else f" in line {self.position.line}"
            message = f"{quote(self.here)} follows the quote that closes{where} what begins here"
            hint = "quote the whole value; an apostrophe inside '...' is written twice, or use \"...\""
            return self.error(message, hint, self.last.position)
        return None

    def flow(self) -> SpecError:
        """Inside [ ] or { }."""
        bracket, opened = self.bracket()
        close = CLOSING[bracket]
        mark = self.here[:1]
        never = self.error(f"the {quote(bracket)} is not closed", f"add {quote(close)} where it ends", opened)
        if self.ended:
            return never
        if mark in ("[", "{") and re.search(r"[\w)\]}$]$", self.before) and self.last:
            word = re.search(r"(?<![\w.])[\w.]+$", self.before)
            whole = (word[0] if word else "") + self.balanced()
            hint = f"quote the whole value, as in {in_quotes(whole)}"
            place = self.last.position if self.last.position.line == self.position.line else self.position
            return self.error(f"{quote(mark)} must be quoted inside {bracket} {close}", hint, place)
        if mark in ("]", "}"):
            hint = f"close it with {quote(close)} first"
            where = f"line {opened.line}, column {opened.column}"
            return self.error(f"{quote(mark)} does not close the {quote(bracket)} of {where}", hint)
        if mark == ",":
            return self.error("there is nothing before this comma", "remove the comma, or write what is missing")
        if opened.line != self.position.line or (self.last and self.last.position.line != self.position.line):
            hint = f"add {quote(close)} where it ends, or a comma; it was read up to line {self.position.line}"
            return self.error(f"the {quote(bracket)} is not closed", hint, opened)
        if mark == ":":
            return self.two_keys()
        if mark == "-":
            return self.error("`-` does not list inside [ ] and { }", "separate the items with commas")
        if mark in ("@", "`", "%", "|", ">", "?"):
            return self.cannot_begin(mark)
        return self.error(
            f"a comma is missing before {quote(self.here)}", "separate what stands in [ ] and { } with commas"
        )

    def bracket(self) -> tuple[str, Position]:
        """The innermost bracket that is open; a pair in [ ] has none of its own."""
        for flow, event in reversed(self.reader.open):
            position = self.at(event.start_mark)
            mark = self.reader.line(position.line)[position.column - 1 :][:1]
            if flow and mark in CLOSING:
                return mark, position
        return "[", self.position

    def balanced(self) -> str:
        """What stands here, up to the bracket that closes the first."""
        depth = 0
        for index, mark in enumerate(self.here):
            depth += (mark in "[{") - (mark in "]}")
            if depth == 0:
                return self.here[: index + 1]
        return self.here

    def block(self) -> SpecError:
        """Outside of brackets: what is open depends on the indentation."""
        mark = self.here[:1]
        first = not self.before.strip()
        if self.context == "while scanning a simple key":
            hint = "write `key: value`, or `- item` in a list, and check the indentation"
            return self.error(f"{quote(self.start)} has no `:`", hint, self.origin)
        if mark in ("]", "}"):
            return self.error(f"{quote(mark)} closes nothing", "remove it, or open it before")
        if mark in ("@", "`", "%", "|", ">") or (self.start[:1] in ("|", ">") and "block scalar" in self.context):
            return self.cannot_begin(mark if mark in ("@", "`", "%") else self.start[:1])
        if mark == ":":
            return self.two_keys()
        if re.match(r"-(\s|$)", self.here) and not first:
            hint = "write it as `[...]`, or begin the list on the next line"
            return self.error("a list with `-` cannot begin on the line of its key", hint)
        if first:
            return self.indentation()
        if self.before.rstrip().endswith(("]", "}")):
            value = self.before.rstrip()
            begin = re.search(r"(?:^|: |- )(?=[\[{])", value)
            whole = self.line[begin.end() if begin else 0 :].strip()
            hint = f"to write an expression put it in quotes: {in_quotes(whole)}"
            return self.error(f"{quote(self.here)} cannot follow the {quote(value[-1])}", hint)
        return self.error(
            f"{quote(self.here)} cannot stand here", "check the indentation, brackets and quotes of this line"
        )

    def two_keys(self) -> SpecError:
        """A `:` where no key can be."""
        if not self.before.strip() or self.before.rstrip().endswith(tuple(",[{")):
            return self.error("there is no key before this `:`", "write `key: value`")
        last = self.last
        found = re.match(MISSING_SPACE, last.text.split(" ")[0]) if last and not last.quoted else None
        if last and found:
            return space_error(found[1], found[2], last.position)
        if last and last.position.line == self.position.line:
            key = re.search(r"(?<![\w.])([\w.]+):\s+(?=[^\s\[\]{}]*$)", self.before)
            rest = re.split(r"\s#|[,\]}]" if self.in_flow() else r"\s#", self.line[last.position.column - 1 :])[0]
            example = f"{key[1]}: {{{rest.strip()}}}" if key else "conv: {out: 8}"
            hint = f"it needs braces, as in {quote(example)}; text with `: ` in it needs quotes"
            return self.error("there are two keys on one line", hint, last.position)
        key = self.before.strip()
        start = self.column(len(self.before) - len(self.before.lstrip()))
        hint = f"line up {quote(key)} with the keys that it belongs to, or end the line above with `:`"
        return self.error(f"the key {quote(key)} cannot stand inside the value that begins above it", hint, start)

    def indentation(self) -> SpecError:
        """A line whose first character stands where nothing is open."""
        column = self.position.column
        what = quote(self.here.split(": ")[0].rstrip(":"))
        closed = [self.reader.closed] if self.reader.closed else []
        columns = sorted({self.at(event.start_mark).column for flow, event in self.reader.open + closed if not flow})
        if not self.reader.open:
            return self.error(f"{what} comes after the end of the spec", "give all top-level keys the same indentation")
        if column in columns:
            hint = (
                "begin it with `- `"
                if not self.here.startswith("-")
                else "indent the list, or give it a key of its own, such as `do:`"
            )
            return self.error(f"{what} does not fit what else stands in column {column}", hint)
        hint = "line it up with " + " or ".join(f"column {each}" for each in columns)
        return self.error(f"{what} is indented to column {column}, where nothing stands", hint)

    def cannot_begin(self, mark: str) -> SpecError:
        position = self.position if self.here.startswith(mark) else self.origin
        return self.error(f"a value cannot begin with {quote(mark)}", "put the value in quotes", position)

    def column(self, index: int) -> Position:
        return self.position._replace(column=index + 1)
