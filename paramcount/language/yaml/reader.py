"""YAML text read as nodes of our own, and what of YAML the spec language leaves out refused."""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from paramcount.errors import ManyErrors, ParamcountError, Position, SpecError, quote
from paramcount.language.yaml.mistakes import (
    DEEPEST,
    MISSING_SPACE,
    TEMPLATE,
    alias_error,
    anchor_error,
    deep_error,
    escape_error,
    explain,
    in_quotes,
    space_error,
    tag_error,
    template_error,
)
from paramcount.language.yaml.nodes import Mapping, Node, Scalar, Sequence
from paramcount.language.yaml.source import refuse_characters, split_lines

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MOST_ERRORS = 100
SHOWN = 1000  # characters of a line
THOUSANDS = r"[1-9]\d{0,2}(,\d{3})+(?![\w.])"  # text, as the patterns of `mistakes`


def read_text(text: str, file: str = "<text>") -> Node:
    """The root node of a YAML text; `file` names it in positions.

    Raises SpecError for what YAML or the spec language cannot read, ManyErrors for several at once.

    >>> read_text("- conv: {out: 8, kernel: 3}")
    Sequence([Mapping([(Scalar('conv'), Mapping([(Scalar('out'), Scalar('8')), (Scalar('kernel'), Scalar('3'))]))])])
    """
    text = text.removeprefix("\ufeff")
    refuse_characters(text, file)
    return Reader(text, file).read()


def is_word(text: str) -> bool:
    """Whether a text can be a key without a value: the name of a kind or a block."""
    return text.replace(".", "").replace("-", "").isidentifier()


class Enough(Exception):
    """Ends the reading; what is wrong is collected already."""


class Reader:
    """One pass over the parser's events.

    `open` holds the collections that are not yet closed (whether in brackets, and the event), `closed` the
    latest that was closed, `last` the latest scalar, and `split` a value whose parenthesis an unquoted comma
    left open.
    """

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.next = LOADER(text).get_event
        self.errors: list[ParamcountError] = []
        self.open: list[tuple[bool, Any]] = []
        self.closed: tuple[bool, Any] | None = None
        self.last: Scalar | None = None
        self.split: Scalar | None = None
        self.anchors: set[str] = set()
        self.lines: list[str] = []

    def read(self) -> Node:
        root = None
        try:
            root = self.document()
        except Enough:
            pass
        except (yaml.YAMLError, ValueError) as problem:
            error = explain(problem, self)
            # What follows a mistake on its own line is mostly its consequence.
            lines = {each.position.line for each in self.errors if each.position}
            if not error.position or error.position.line not in lines:
                self.errors.append(error)
        if self.errors:
            self.errors.sort(key=lambda each: each.position or Position(self.file, 0, 0))
            raise self.errors[0] if len(self.errors) == 1 else ManyErrors(self.errors)
        assert root is not None
        return root

    def document(self) -> Node:
        self.next()
        event = self.next()
        root = None if type(event) is StreamEndEvent else self.node(self.next())
        if root is None or (type(root) is Scalar and not root.text and not root.quoted):
            hint = "a spec starts with `input:` and `layers:`"
            raise SpecError("the file is empty", hint=hint, position=Position(self.file, 1, 1))
        if type(root) is Scalar and not root.quoted:
            self.check_space(root)
        self.next()
        event = self.next()
        if type(event) is DocumentStartEvent:
            self.refuse("a second document begins here", "one spec per file: remove the `---`", self.position(event))
        return root

    def position(self, event: Any) -> Position:
        mark = event.start_mark
        return Position(self.file, mark.line + 1, mark.column + 1)

    def line(self, number: int) -> str:
        """A line of the source, by its number from 1."""
        if not self.lines:
            self.lines = split_lines(self.text)
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def rest(self, position: Position) -> str:
        """The line from a place on, no more of it than an error can show."""
        start = position.column - 1
        return self.line(position.line)[start : start + SHOWN]

    def refuse(self, message: str, hint: str, position: Position) -> None:
        self.note(SpecError(message, hint=hint, position=position))

    def note(self, error: ParamcountError) -> None:
        """Remember an error, so that reading goes on behind it; raises Enough when there are many."""
        self.errors.append(error)
        if len(self.errors) == MOST_ERRORS:
            raise Enough

    def node(self, event: Any) -> Node:
        """The node that an event begins, with all that it holds."""
        kind = type(event)
        if kind is ScalarEvent:
            return self.scalar(event)
        position = self.position(event)
        if kind is AliasEvent:
            if event.anchor not in self.anchors:
                self.note(alias_error(self.rest(position), position))
            return Scalar("", position)
        if event.anchor is not None or event.tag is not None:
            self.refuse_properties(event, position)
        if len(self.open) == DEEPEST:
            self.note(deep_error(position))
            raise Enough
        self.open.append((event.flow_style, event))
        if kind is SequenceStartEvent:
            result = Sequence(self.items(event.flow_style), position)
        else:
            result = Mapping(self.entries(event.flow_style, position), position)
        self.closed = self.open.pop()
        return result

    def scalar(self, event: Any) -> Scalar:
        mark = event.start_mark
        position = Position(self.file, mark.line + 1, mark.column + 1)
        if event.anchor is not None or event.tag is not None:
            self.refuse_properties(event, position)
        self.last = scalar = Scalar(event.value, position, bool(event.style))
        if scalar.quoted and not scalar.text.isprintable() and re.search("[\ud800-\udfff]", scalar.text):
            self.note(escape_error(position))
        return scalar

    def refuse_properties(self, event: Any, position: Position) -> None:
        if event.anchor is not None:
            self.anchors.add(event.anchor)
            self.note(anchor_error(event.anchor, position))
        if event.tag is not None:
            self.note(tag_error(position))

    def items(self, flow: bool) -> list[Node]:
        items = []
        self.split = None
        while type(event := self.next()) is not SequenceEndEvent:
            item = self.node(event)
            if type(item) is Scalar and not item.quoted:
                if ":" in item.text:
                    self.check_space(item)
                if flow and ("(" in item.text or ")" in item.text):
                    self.check_comma(item)
                if flow and items and item.text[:1] == "0":
                    self.check_thousands(items[-1])
            items.append(item)
        self.split = None
        return items

    def entries(self, flow: bool, start: Position) -> list[tuple[Scalar, Node]]:
        entries = []
        seen: dict[str, Position] = {}
        while type(event := self.next()) is not MappingEndEvent:
            if type(event) is not ScalarEvent:
                self.odd_key(event, start)
                continue
            key = self.scalar(event)
            value = self.node(self.next())
            text = key.text
            if type(value) is Scalar and not value.text and not value.quoted:
                value.position = key.position
                bare = True
            else:
                bare = False
            if not key.quoted:
                if text == "<<":
                    hint = "use `defaults:` for repeated arguments, or a block"
                    self.refuse("the merge key `<<` is not part of the language", hint, key.position)
                    continue
                if ":" in text and (bare or ":{" in text or ":[" in text):
                    self.check_space(key)
                elif bare and flow and self.split is None and not is_word(text):
                    self.check_stray(key, entries)
                if flow and ("(" in text or ")" in text):
                    self.check_comma(key)
            if flow and type(value) is Scalar and not value.quoted and ("(" in value.text or ")" in value.text):
                self.check_comma(value)
            if text in seen:
                hint = "keep one of the two"
                self.refuse(f"{quote(text)} is given twice, first at {seen[text]}", hint, key.position)
            seen[text] = key.position
            entries.append((key, value))
        if not (flow and entries and entries[0][0].position == start):  # a pair in [ ] has no braces of its own
            self.split = None
        return entries

    def odd_key(self, event: Any, start: Position) -> None:
        """Reads past a key that is not a scalar, and past its value, and collects what is wrong with the key."""
        position = self.position(event)
        before = len(self.errors)
        self.node(event)
        self.node(self.next())
        if type(event) is AliasEvent:
            return
        del self.errors[before:]
        template = re.match(TEMPLATE, self.rest(start))
        if template:
            self.note(template_error(template[0], template[1], start))
        else:
            hint = "a key is one word; a list or mapping stands after the `:`"
            self.refuse("a key cannot be a list or a mapping", hint, position)

    def check_space(self, scalar: Scalar) -> None:
        """Collects an error where a colon has no space after it: `conv:{out`, `out:8`."""
        found = re.fullmatch(MISSING_SPACE, scalar.text)
        if found:
            whole = re.match(r"[\w.]+:([\[{].*[\]}])", self.rest(scalar.position))
            self.note(space_error(found[1], whole[1] if whole else found[2].split()[0], scalar.position))

    def check_comma(self, scalar: Scalar) -> None:
        """Collects an error where an unquoted comma cut an expression: `max(8` and `16)`."""
        opened = scalar.text.count("(") - scalar.text.count(")")
        if opened > 0 and self.split is None:
            self.split = scalar
        elif opened < 0 and self.split is not None:
            start, end = self.split.position, scalar.position
            whole = f"{self.split.text}, ... {scalar.text}"
            if start.line == end.line:
                whole = self.line(start.line)[start.column - 1 : end.column - 1 + len(scalar.text)]
            self.refuse_comma(whole, start)
            self.split = None

    def check_stray(self, key: Scalar, entries: list[tuple[Scalar, Node]]) -> None:
        """Collects an error for an entry of { } that is neither a word nor a key: what an unquoted comma leaves."""
        before = entries[-1][1] if entries else None
        if type(before) is not Scalar or before.quoted:
            self.refuse(f"{quote(key.text)} has no value", "an entry inside { } is `key: value`", key.position)
        elif re.fullmatch(r"\d{3}", key.text) and re.fullmatch(r"[\d_]+", before.text):
            hint = f"write {quote(before.text + key.text)}"
            self.refuse(f"{quote(f'{before.text},{key.text}')} has a comma in the number", hint, before.position)
        else:
            self.refuse_comma(f"{before.text}, {key.text}", before.position)

    def check_thousands(self, start: Node) -> None:
        """Collects an error where an entry of [ ] begins a number with commas, such as 1,024."""
        place = start.position
        found = re.compile(THOUSANDS).match(self.line(place.line), place.column - 1)  # a slice would copy the line
        if found:
            self.refuse(f"{quote(found[0])} has a comma in the number", f"write {found[0].replace(',', '')}", place)

    def refuse_comma(self, whole: str, position: Position) -> None:
        hint = f"quote it: {in_quotes(whole)}"
        self.refuse("a comma ends the value inside { } and [ ]", hint, position)
