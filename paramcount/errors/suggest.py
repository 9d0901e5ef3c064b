"""Did you mean: what a framework's name is called here, and the nearest of some words."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

from paramcount.errors import ArgumentError, quote

LONGEST = 64  # a longer word is not a typing error
MOST = 2000  # words that are compared, so that a hundred errors do not take minutes


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The one of `words` that `word` most likely stands for, or None if none is near.

    Case, `-` and `_` do not matter. A short word may have one typing error, a longer one up to a third of its letters.

    >>> nearest("widht", ["depth", "width"])
    'width'
    """
    first = bare(word)
    if not first or len(first) > LONGEST:
        return None
    most = max(1, len(first) // 3)
    found: list[tuple[int, bool, int, str]] = []
    for order, each in enumerate(islice(words, MOST)):
        second = bare(each)
        if abs(len(first) - len(second)) <= most:
            distance = edits(first, second)
            if distance <= most and distance < max(len(first), len(second), 1):
                found.append((distance, first[:1] != second[:1], order, each))
    return min(found)[3] if found else None


def did_you_mean(guess: str | None, otherwise: str) -> str:
    """The hint for what was guessed, or another one where nothing was.

    >>> did_you_mean(nearest("widht", ["depth", "width"]), "one of depth, width")
    'did you mean `width`?'
    """
    return f"did you mean {quote(guess)}?" if guess else otherwise


def one_of(word: object, words: Iterable[str], otherwise: str = "") -> str:
    """The hint for a word that is not one of `words`: the nearest of them, or else all.

    >>> one_of("widht", ["depth", "width"]), one_of("x", ["depth", "width"])
    ('did you mean `width`?', 'one of depth, width')
    """
    words = list(words)
    guess = nearest(word, words) if isinstance(word, str) else None
    return did_you_mean(guess, otherwise or "one of " + ", ".join(words))


def unknown(what: str, word: object, words: Iterable[str], otherwise: str = "", **details: Any) -> ArgumentError:
    """The error for a word that is not one of `words`; `otherwise` is the hint where none of them is near.

    >>> str(unknown("layout", "imagee", ["image", "tokens"]))
    'unknown layout `imagee`\\nhint: did you mean `image`?'
    """
    return ArgumentError(f"unknown {what} {quote(word)}", hint=one_of(word, words, otherwise), **details)


def kind_for(word: str, kinds: Iterable[str]) -> str | None:
    """The kind that a framework's name or a misspelled one stands for, or None; only names in `kinds` are suggested.

    >>> kind_for("nn.Conv2d", ["conv", "dense"])
    'conv'
    """
    from paramcount.errors.framework_names import KINDS

    known = {bare(kind): kind for kind in kinds}
    name = plain(word)
    if name in known:
        return known[name]
    guess = KINDS.get(name)
    return guess if guess in known.values() else nearest(word, known.values())


def argument_hint(word: str, arguments: Iterable[str]) -> str | None:
    """What to do about an argument that a layer does not have, or None; only names in `arguments` are suggested.

    >>> argument_hint("kernel_size", ["out", "kernel"])
    'did you mean `kernel`?'
    """
    from paramcount.errors.framework_names import ARGUMENTS, FROM_ABOVE

    known = {bare(argument): argument for argument in arguments}
    name = bare(word)
    guess = known.get(name)
    if guess is None and name in FROM_ABOVE:
        return "input channels come from the layer above; remove it"
    if guess is None:
        guess = next((each for each in ARGUMENTS.get(name, ()) if each in known.values()), None)
    guess = guess or nearest(word, known.values())
    return f"did you mean `{guess}`?" if guess else None


def plain(word: str) -> str:
    """A framework's name without its module, its 1d, 2d or 3d, and its way of writing."""
    return re.sub(r"(?<=[a-z])[123]d(?=$|transpose)", "", bare(word.rsplit(".", 1)[-1]))


def bare(word: str) -> str:
    """A word without what does not matter: its case, `-` and `_`."""
    return word.lower().replace("_", "").replace("-", "")


def edits(first: str, second: str) -> int:
    """How many letters to insert, drop, replace, or swap with their neighbour to turn one word into the other."""
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first):
        older, before, row = before, row, [i + 1]
        for j, b in enumerate(second):
            best = min(before[j] + (a != b), before[j + 1] + 1, row[j] + 1)
            if i and j and a == second[j - 1] and b == first[i - 1]:
                best = min(best, older[j - 1] + 1)
            row.append(best)
    return row[-1]
