"""Dataclasses whose fields are checked when one is made: what layers and forms have in common."""

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Self

from paramcount.errors import ArgumentError, quote
from paramcount.layers.fields import REQUIRED, Check, ValuePath, ValuePaths

SUGAR = ("norm", "activation")  # arguments that every layer has, for items after it


class Checked:
    """A dataclass whose fields are checked when it is made: a layer or a form. A spec's reader asks for its arguments.

    `by_name` are the fields that have no place in a positional list, `in_specs` those that have another name in specs.
    """

    kind: ClassVar[str] = ""
    by_name: ClassVar[tuple[str, ...]] = ()
    in_specs: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if cls.__doc__:
            cls.__doc__ = with_arguments(cls.__doc__, cls)

    def __new__(cls, *values: Any, **named: Any) -> Self:
        known = cls.__dataclass_fields__  # type: ignore[attr-defined]
        if not named.keys() <= known.keys():
            name = next(each for each in named if each not in known)
            raise cls.unknown(name, named[name])
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, check, default in self.validations():
            value = getattr(self, name)
            if value is default or (value is None and check.none):
                continue
            try:
                checked = check(name, value)
            except ArgumentError as error:
                error.hint = error.hint or self.meaning(name)
                raise
            if checked is not value:
                object.__setattr__(self, name, checked)

    @classmethod
    @cache
    def checks(cls) -> tuple[tuple[str, Check], ...]:
        """Each argument's name and check, in positional order."""
        return tuple(field_checks(cls))

    @classmethod
    @cache
    def validations(cls) -> tuple[tuple[str, Check, Any], ...]:
        """Each argument that has something to check, with its check and its default, which is not checked."""
        checks = {name: check for name, check in cls.checks() if type(check).__call__ is not Check.__call__}
        return tuple((name, check, getattr(cls, name, REQUIRED)) for name, check in checks.items())

    @classmethod
    @cache
    def value_fields(cls) -> tuple[tuple[str, Check], ...]:
        """Each argument that takes values from elsewhere in the network, with its check."""
        return tuple((name, check) for name, check in cls.checks() if isinstance(check, (ValuePath, ValuePaths)))

    @classmethod
    def positional(cls) -> tuple[str, ...]:
        """The arguments that may stand in a list, in their order."""
        return tuple(name for name, check in cls.checks() if name not in cls.by_name and check.takes != "sizes")

    @classmethod
    def required(cls) -> tuple[str, ...]:
        """The arguments that have no default."""
        found = dataclasses.fields(cls)  # type: ignore[arg-type]
        return tuple(each.name for each in found if each.default is REQUIRED and each.default_factory is REQUIRED)

    @classmethod
    def unknown(cls, name: str, value: Any) -> ArgumentError:
        """The error for an argument that it does not have."""
        from paramcount.errors.suggest import argument_hint

        names = [each for each, _ in cls.checks()]
        sizes = next((each for each, check in cls.checks() if check.takes == "sizes"), "")
        hint = argument_hint(name, names) or (f"it takes {', '.join(names)}" if names else "it takes none")
        if sizes:
            hint = f"sizes of axes are a mapping: `{cls.__name__}(..., {sizes}={{{name!r}: {value}}})`"
        return ArgumentError(f"{quote(cls.__name__)} has no argument {quote(name)}", hint, argument=name)

    @classmethod
    def meaning(cls, name: str) -> str:
        """What an argument means, as a hint: its name in specs with its field's `doc`; nothing where there is none."""
        doc = cls.__dataclass_fields__[name].metadata.get("doc")  # type: ignore[attr-defined]
        return f"{cls.in_specs.get(name, name)}: {doc}" if doc else ""


def with_arguments(doc: str, checked: type) -> str:
    """A class's docstring, and below it what each argument means; the class may not be a dataclass yet."""
    found = dict(getattr(checked, "__dataclass_fields__", {}))
    found.update((name, each) for name, each in vars(checked).items() if isinstance(each, dataclasses.Field))
    for name in SUGAR:  # last, as in a positional list
        if name in found:
            found[name] = found.pop(name)
    last = doc.rpartition("\n")[2]
    indent = last[: len(last) - len(last.lstrip())]  # as the docstring is indented in its source
    docs = [(name, each.metadata.get("doc")) for name, each in found.items()]
    lines = [f"{indent}    {name}: {text}" for name, text in docs if text]
    return "\n".join([doc.rstrip(), "", f"{indent}Arguments:", *lines]) if lines else doc


def field_checks(layer: type) -> list[tuple[str, Check]]:
    """Each field of a class with its check; raises ArgumentError for a class that is not a complete layer."""
    name, fields = quote(layer.__name__), dataclasses.fields(layer)
    known = [each.name for each in fields]
    annotations = getattr(layer, "__annotations__", {})
    if any(each not in known and "ClassVar" not in str(annotation) for each, annotation in annotations.items()):
        hint = f"write `@dataclass(frozen=True)` above `class {layer.__name__}`"
        raise ArgumentError(f"the layer {name} has arguments and is not a dataclass", hint=hint)
    missing = sorted(getattr(layer, "__abstractmethods__", ()))
    if missing:
        hint = "a layer has the methods output_shape, params, work and forward"
        raise ArgumentError(f"the layer {name} has no method {', '.join(map(quote, missing))}", hint=hint)
    found: list[tuple[str, Any]] = [(each.name, each.metadata.get("check")) for each in fields]
    for argument, check in found:
        if not isinstance(check, Check):
            message = f"the argument {quote(argument)} of the layer {name} does not say what it takes"
            hint = f"write `{argument}: int = field(Whole())`, or another check of `paramcount.layers`"
            raise ArgumentError(message, hint=hint)
    return found
