"""A spec to begin with, for each of three layouts of inputs; `paramcount new` writes it."""

import os

FOLDER = os.path.join(os.path.dirname(__file__), "starters")
LAYOUTS = ("image", "tokens", "sequence")


def starter(layout: str) -> str:
    """The text of a spec on inputs of a layout, with comments that say what is what.

    >>> starter("image").startswith("# A network on images")
    True
    """
    with open(os.path.join(FOLDER, f"{layout}.yaml"), encoding="utf-8") as file:
        return file.read()
