"""What a structural form is, and the checks of fields that only forms have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from paramcount.errors import ArgumentError, quote
from paramcount.layers.checked import Checked
from paramcount.layers.fields import Check, Text
from paramcount.layers.layer import Item


class Form(Checked, Item):
    """A structural form: it places other items, and its fields are its arguments in a spec.

    `example` is a spec that uses it, for those who look it up.
    """

    example: ClassVar[str] = ""


class Items(Check):
    """A list of items: layers, blocks and forms."""

    takes = "items"
    listed = True
    allows = "a list of items"

    def __call__(self, name: str, value: Any) -> Any:
        return list(value) if isinstance(value, Iterator) else value  # it is expanded more than once


class Start(Check):
    """The value that a loop starts with: a path, or a list of sizes, which stands for zeros."""

    takes = "start"
    allows = "a path, or a list of sizes"


class Named(Check):
    """Something for each of several names, checked by `check`; with `declares` the names are new ones."""

    takes = "named"
    listed = True
    key = Text()

    def __init__(self, check: Check, declares: bool = False) -> None:
        super().__init__()
        self.check, self.declares = check, declares

    @property
    def allows(self) -> str:
        return f"a mapping of names, each to {self.check.allows}"

    def __call__(self, name: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ArgumentError(f"{name} must be a mapping of names, not {quote(value)}", argument=name)
        return {self.key(name, key): self.check(str(key), each) for key, each in value.items()}
