"""What a layer says of itself: its documentation, with what every argument means."""

import inspect
import subprocess
import sys
from dataclasses import dataclass, fields

import pytest

import paramcount as pc
from paramcount.layers import MODULES, find
from paramcount.layers.fields import Whole, field
from paramcount.layers.layer import Layer


@pytest.mark.parametrize("kind", MODULES)
def test_every_argument_says_what_it_means(kind):
    layer = find(kind)
    assert layer is not None
    text = inspect.getdoc(layer) or ""
    about, _, arguments = text.partition("\n\nArguments:\n")
    assert about.strip() and arguments
    lines = [line.strip().partition(": ") for line in arguments.splitlines()]
    docs = {name: doc for name, _, doc in lines}
    assert list(docs) == [name for name, _ in layer.checks()]  # in positional order
    for each in fields(layer):
        assert docs[each.name] == each.metadata["doc"] and docs[each.name].strip()
        assert not docs[each.name].endswith(".") and docs[each.name][0] in "`abcdefghijklmnopqrstuvwxyz"


def test_help_shows_the_arguments():
    program = "import paramcount as pc; help(pc.Conv)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert " |      kernel: the window's size, one number or one for each axis\n" in done.stdout
    assert " |      activation: an activation after the layer and its norm, such as `relu`\n" in done.stdout


def test_an_argument_that_is_not_documented_is_left_out_of_help():
    @dataclass(frozen=True)
    class Shift(Layer):
        """A shift.

        Indented as written.
        """

        by: int = field(Whole())
        twice: int = field(Whole(), 2, doc="the second shift")

    assert inspect.getdoc(Shift) == "\n".join(
        [
            "A shift.",
            "",
            "Indented as written.",
            "",
            "Arguments:",
            "    twice: the second shift",
            f"    norm: {Layer.__dataclass_fields__['norm'].metadata['doc']}",
            f"    activation: {Layer.__dataclass_fields__['activation'].metadata['doc']}",
        ]
    )


def test_a_class_without_a_docstring_gets_that_of_a_dataclass():
    @dataclass(frozen=True)
    class Shift(Layer):
        by: int = field(Whole())

    assert (Shift.__doc__ or "").startswith("Shift(by: int")


def test_the_argument_of_an_inherited_layer_keeps_its_own_meaning():
    assert "rate: the probability that an element becomes zero" in (pc.Dropout.__doc__ or "")
