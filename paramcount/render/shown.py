"""Showing a result: `str()`, a notebook, the formats by name, and files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from paramcount.errors import ArgumentError, quote
from paramcount.numbers.arithmetic import native
from paramcount.render.sheet import Sheet


class Shown:
    """A result that has a Sheet: `str()` is the table, and a notebook shows it as HTML, both with its warnings.

    The command line prints warnings by themselves, so the sheet does not have them. A result whose sheet has settings,
    such as `depth` of a report, takes them in `to_records`, `render` and `save` too.
    """

    __slots__ = ()
    warnings: Sequence[str] = ()

    def sheet(self) -> Sheet:
        raise NotImplementedError

    def to_records(self, **settings: Any) -> list[dict[str, Any]]:
        """The rows as dicts of raw values: `pandas.DataFrame(report.to_records())` has columns of whole numbers.

        Settings are those of the result's `sheet`, such as `depth` of a report. Raises ArgumentError for others.

        >>> from paramcount.cost.count import count
        >>> from paramcount.layers.dense import Dense
        >>> count(Dense(10), 784).to_records(columns=["layer", "params"])
        [{'layer': 'dense0', 'params': 7850}]
        """
        return self.sheet_with(settings).records()

    def render(self, format: str = "table", *, exact: bool = False, **settings: Any) -> str:
        """The result as text: a "table", "json", "csv", "markdown", "latex", or "html".

        If `exact`, counts have all their digits; other settings are those of the result's `sheet`. Raises ArgumentError
        for another format or setting.

        >>> from paramcount.cost.count import count
        >>> from paramcount.layers.dense import Dense
        >>> print(count(Dense(10), 784).render("csv", columns=["layer", "params"]))
        layer,params
        dense0,7850
        """
        from paramcount.render.writing import rendered

        return rendered(self.with_warnings(exact, **settings), format)

    def save(self, path: str | PathLike[str], *, exact: bool = False, **settings: Any) -> None:
        """Write the result to a file, in the format of its ending: .txt, .json, .csv, .md, .tex, or .html.

        Settings are those of `render`. What was there stays until all of it is written. Raises ArgumentError for
        another ending or setting, and where the file cannot be written.
        """
        from paramcount.render.writing import write

        write(path, self.with_warnings(exact, **settings))

    def with_warnings(self, exact: bool = False, **settings: Any) -> Sheet:
        """The sheet with the warnings below."""
        sheet = self.sheet_with(settings).warning(self.warnings)
        exact = native(exact)
        if not isinstance(exact, bool):
            raise ArgumentError(f"exact must be true or false, not {quote(exact)}", argument="exact")
        return sheet.with_all_digits() if exact else sheet

    @property
    def settings(self) -> Sequence[str]:
        """The names of what `sheet` takes."""
        from inspect import signature

        return tuple(signature(self.sheet).parameters)

    def sheet_with(self, settings: Mapping[str, Any]) -> Sheet:
        """The sheet with settings by their names; raises ArgumentError for others."""
        self.check_settings(settings)
        return self.sheet(**settings)

    def check_settings(self, names: Iterable[str]) -> None:
        """Raises ArgumentError for names that are not of settings."""
        for name in names:
            if name not in self.settings:
                from paramcount.errors.suggest import one_of

                hint = one_of(name, self.settings) if self.settings else "its rows cannot be chosen"
                message = f"{quote(type(self).__name__)} has no setting {quote(name)}"
                raise ArgumentError(message, hint=hint, argument=name)

    def brief(self) -> Sheet:
        """What `str()` shows."""
        return self.with_warnings()

    def folded(self) -> Sheet:
        """What a notebook shows, where rows below others are folded away."""
        return self.brief()

    def __str__(self) -> str:
        from paramcount.render.table import render

        return render(self.brief(), colour=False)

    def _repr_html_(self) -> str | None:
        from paramcount.render.html import render

        return render(self.folded())
