"""The values of a spec's variables, each read after those that it uses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from paramcount.errors import ArgumentError, ParamcountError, Position, SpecError, quote
from paramcount.errors.suggest import one_of
from paramcount.language.bindings import Bindings
from paramcount.language.context import MOST_ERRORS, Context, File
from paramcount.language.expression.values import both
from paramcount.language.reading import read_item
from paramcount.language.written import ANY_KIND, read_value
from paramcount.language.yaml.nodes import Node
from paramcount.layers.layer import Shape
from paramcount.numbers.arithmetic import LIMIT, Column, Mask, native, require, varies

BEYOND, LARGEST = "{} is beyond 1e18", "numbers go up to 1e18"
DEEPEST = 32  # variables that use each other


def undeclared(name: str, variables: Any, position: Position | None) -> SpecError:
    """The error for setting a variable that the spec does not have."""
    known = f"the variables are {', '.join(variables)}" if variables else "the spec has no variables"
    hint = one_of(name, variables, known)
    return SpecError(f"there is no variable {quote(name)}", hint=hint, position=position)


def all_variables(named: Mapping[str, Any], vars: Mapping[str, Any] | None) -> dict[str, Any]:
    """The variables given by name and in a mapping; raises ArgumentError for one that is in both.

    >>> all_variables({"width": 0.5}, {"variant": 3})
    {'width': 0.5, 'variant': 3}
    """
    if vars is None:
        return dict(named)
    if not isinstance(vars, Mapping):
        hint = 'a variable of this name is set by `vars={"vars": ...}`'
        raise ArgumentError(f"`vars` is a mapping of variables to values, not {quote(vars)}", hint=hint)
    for name in named:
        if name in vars:
            raise ArgumentError(f"{quote(name)} is given twice", hint="by name or in `vars`")
    return {**named, **vars}


def variable_values(file: File, nodes: dict[str, Node], fixed: dict[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """The values of all variables, and which of them others use; raises SpecError for a circle."""
    values: dict[str, Any] = dict(fixed)
    own = File(file.path, blocks=file.blocks)  # with errors of its own: the same file may be read for other values
    context = Context(own, read_item, frozenset(nodes))
    active: list[str] = []

    def find(name: str) -> Any:
        if name in values:
            return values[name]
        if name in active:
            raise circle([*active[active.index(name) :], name], nodes)
        if len(active) == DEEPEST:
            message = f"more than {DEEPEST} variables that each need the next: {' -> '.join(active[:3])} -> ..."
            raise SpecError(message, hint="give one of them a number", position=nodes[active[0]].position)
        active.append(name)
        written = read_value(nodes[name], context, ANY_KIND, name)
        values[name] = written.evaluate(Lazy(find), None)
        active.pop()
        return values[name]

    for name in nodes:
        try:
            find(name)
        except ParamcountError as error:
            values.update(dict.fromkeys(active, 1))
            active.clear()
            if error.position not in [other.position for other in own.errors]:
                own.errors.append(error)
        if len(own.errors) >= MOST_ERRORS:
            break
    own.report()
    return values, own.used


def given_value(name: str, value: Any) -> Any:
    """The value that Python gives a variable or a block's argument, in Python's own types.

    An array of numbers with an axis holds those of the variants of a sweep, and stays one, or becomes a Column.
    Raises ArgumentError for what no expression could give.
    """
    if isinstance(getattr(value, "size", None), int) and value.size == 0:  # an array of no variant
        return []
    if getattr(value, "shape", None) and value.dtype.kind in "iu":
        value = Column.whole(name, value)
    if varies(value):
        require(both(value >= -LIMIT, value <= LIMIT), BEYOND.format(quote(name)), argument=name, hint=LARGEST)
        return value
    value = native(value)
    if isinstance(value, (list, tuple, range)):
        return [given_value(name, each) for each in value]
    number = isinstance(value, (int, float)) and not (isinstance(value, float) and math.isnan(value))
    if number and not -LIMIT <= value <= LIMIT:
        raise ArgumentError(BEYOND.format(quote(name)), argument=name, hint=LARGEST)
    if not (value is None or number or isinstance(value, (str, Mask))):
        message = f"{quote(name)} must be a number, true or false, a word, or a list of these, not {quote(value, repr)}"
        raise ArgumentError(message, argument=name)
    return value


class Lazy(Bindings):
    """Bindings that find a variable when an expression asks for it."""

    __slots__ = ("find",)

    def __init__(self, find: Any) -> None:
        super().__init__({})
        self.find = find

    def evaluate(self, expression: Any, shape: Shape | None) -> Any:
        return expression.evaluate(self.find)


def circle(names: list[str], nodes: dict[str, Node]) -> SpecError:
    places = ", ".join(f"{quote(name)} at {nodes[name].position}" for name in names[:-1])
    return SpecError(
        f"variables in a circle: {' -> '.join(names)} ({places})",
        hint="give one of them a number",
        position=nodes[names[0]].position,
    )
