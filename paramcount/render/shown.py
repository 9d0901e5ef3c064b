"""Showing a result: `str()`, a notebook, and the formats by name, which are loaded when they are used."""

from __future__ import annotations

from collections.abc import Sequence

from paramcount.render.sheet import Sheet


class Shown:
    """A result that has a Sheet: `str()` is the table, and a notebook shows it as HTML, both with its warnings.

    The command line prints warnings by themselves, so the sheet does not have them.
    """

    __slots__ = ()
    warnings: Sequence[str] = ()

    def sheet(self) -> Sheet:
        raise NotImplementedError

    def with_warnings(self) -> Sheet:
        """The sheet with the warnings below."""
        return self.sheet().saying(*(f"warning: {each}" for each in self.warnings))

    def __str__(self) -> str:
        from paramcount.render.table import render

        return render(self.with_warnings(), colour=False)

    def _repr_html_(self) -> str | None:
        from paramcount.render.html import render

        return render(self.with_warnings())


def rendered(sheet: Sheet, form: str) -> str:
    """A sheet as text for the standard output; `form` is one of FORMATS."""
    from importlib import import_module

    return import_module(f"paramcount.render.{form}").render(sheet)
