"""The words that can stand as a kind: kinds of layers, structural forms, and the blocks that come with the package."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module

from paramcount.graph.form import Form
from paramcount.layers import MODULES

FOLDER = os.path.join(os.path.dirname(__file__), "blocks")
FORMS = {  # where each form is defined
    "do": "items",
    "residual": "items",
    "gate": "items",
    "let": "items",
    "each": "bodies",
    "scan": "bodies",
    "moe": "bodies",
    "pop": "items",
    "activate": "items",
}


def form(word: str) -> type[Form]:
    """The class of a form; its module is imported when the form is first used.

    >>> form("residual").kind
    'residual'
    """
    return getattr(import_module(f"paramcount.graph.{FORMS[word]}"), word.capitalize())


@lru_cache(maxsize=1)
def shipped() -> frozenset[str]:
    """The names of the blocks that come with the package."""
    return frozenset(name[:-5] for name in os.listdir(FOLDER) if name.endswith(".yaml"))


def taken(word: str) -> bool:
    """Whether a word already means something in specs."""
    return word in MODULES or word in FORMS or word in shipped()
