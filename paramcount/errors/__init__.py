"""The exception tree: what a user can get wrong, where it is, and what to do about it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple


class Position(NamedTuple):
    """A place in a spec: file, line and column, both from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{printable(self.file)}:{self.line}:{self.column}"


class ParamcountError(Exception):
    """An error that the user can fix: `message`, a `hint`, and the `position` it is about.

    `argument` names the layer argument at fault, so that a spec can point at its value; `frames` are the
    blocks that were being expanded, innermost first; `mask` marks the variants at fault in a sweep.
    """

    exit_code = 2

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        position: Position | None = None,
        argument: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.position = position
        self.argument = argument
        self.frames: list[tuple[str, Position]] = []
        self.mask: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors travel between processes whatever their `__init__` takes."""
        return unpickled, (type(self), self.message), self.__dict__

    def __str__(self) -> str:
        where = f"{self.position}: " if self.position else ""
        first, *more = self.lines()
        lines = [where + first, *more]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        lines += [f"in block {quote(name)}, used at {position}" for name, position in self.frames[:4]]
        return "\n".join(map(visible, lines))

    def lines(self) -> list[str]:
        """The message as it is shown: one line, unless an error has a table."""
        return [self.message]


def unpickled(kind: type[ParamcountError], message: str) -> ParamcountError:
    """An error as another process sent it; what each kind is made from differs, so `__init__` is left out."""
    return kind.__new__(kind, message)


class SpecError(ParamcountError):
    """A spec's text or structure is wrong."""


class ArgumentError(ParamcountError, ValueError):
    """An argument of a layer, a block or a function is wrong."""


class ShapeError(ParamcountError, ValueError):
    """A layer cannot take the value that arrives at it."""


class ManyErrors(ParamcountError):
    """Several independent errors found at once, ordered by position; at most twenty are shown."""

    shown = 20

    def __init__(self, errors: list[ParamcountError]) -> None:
        super().__init__(errors[0].message)
        self.errors = errors
        self.exit_code = max(error.exit_code for error in errors)

    def __str__(self) -> str:
        lines = [str(error) for error in self.errors[: self.shown]]
        if len(self.errors) > self.shown:
            lines.append(f"and {len(self.errors) - self.shown} more")
        return "\n".join(lines)


class Undecided(ParamcountError):
    """A condition that holds for some variants of a sweep, marked by `mask`, and not for the others.

    Where a size determines the structure, `sizes` holds it for every variant.
    """

    def __init__(self, message: str, *, mask: Any, sizes: Any = None) -> None:
        super().__init__(message)
        self.mask = mask
        self.sizes = sizes


class CheckError(ParamcountError):
    """The input is valid, but a check of it failed: `expect` or `verify`. The message may have several lines."""

    exit_code = 1

    def lines(self) -> list[str]:
        return self.message.split("\n")


class MissingPackageError(ParamcountError):
    """An optional package is needed but not installed."""


class MissingImportError(MissingPackageError, ImportError):
    """What was imported or called needs an optional package."""


class MissingNameError(MissingPackageError, AttributeError):
    """A name of the package needs an optional package: `hasattr` is false."""


TRAINING = "jax optax safetensors tqdm"
INSTALL = {  # what `pip install` takes for each optional package that may be missing
    "jax": "jax",
    "jaxlib": "jax",
    "optax": TRAINING,
    "safetensors": TRAINING,
    "tqdm": TRAINING,
    "pyarrow": "pyarrow",
    "matplotlib": "matplotlib",
    "dask": "dask distributed",
    "distributed": "dask distributed",
    "torch": "torch",
}
SPELLED = {"jax": "JAX", "jaxlib": "JAX", "torch": "PyTorch", "dask": "Dask", "distributed": "Dask"}


@contextmanager
def needs(what: str, error_type: type[MissingPackageError] = MissingImportError) -> Iterator[None]:
    """Guard an import that `what` needs: if the package is missing, MissingPackageError says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in INSTALL:
            raise
        install = TRAINING if what == "train" else INSTALL[missing]
        message = f"{quote(what)} needs {SPELLED.get(missing, missing)}"
        raise error_type(message, hint=f"pip install {install}") from error


def printable(text: str, limit: int = 120) -> str:
    """Text that is safe to print in a terminal: control characters escaped, the middle of a long text left out.

    >>> printable("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    if len(text) > limit:
        text = f"{text[: limit // 2]}…{text[-limit // 2 :]}"
    return visible(text)


def visible(text: str) -> str:
    """A line of text as a terminal may have it: control characters, line breaks too, are escaped.

    >>> visible("a\\x1b[31mb\\u202ec")
    'a\\\\x1b[31mb\\\\u202ec'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def series(words: Sequence[str], last: str = "or") -> str:
    """Words one after the other, as a sentence has them.

    >>> series(("same", "half", "valid")), series(["conv0", "relu0"], "and")
    ('same, half or valid', 'conv0 and relu0')
    """
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def quote(value: object, spell: Callable[[Any], str] = str) -> str:
    """The user's own spelling in backticks, safe to print; `spell` is `str`, or `repr` for what is not text.

    >>> quote("dense"), quote("dense", repr), quote(10**5000)
    ('`dense`', "`'dense'`", '`<int>`')
    """
    try:
        text = spell(value)
    except Exception:  # a number of more than 4,300 digits, or an object whose own `__str__` fails
        text = f"<{type(value).__name__}>"
    return f"`{printable(text)}`"
