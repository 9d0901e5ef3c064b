"""What a layer says of itself: its documentation, with what every argument means."""

import inspect
import subprocess
import sys
from dataclasses import dataclass, fields

import pytest

import paramcount as pc
from paramcount.layers import MODULES, Free, ParameterFree, Shape, Work, find
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


MERGES = ("add", "subtract", "multiply", "concat", "combine")


@pytest.mark.parametrize("kind", [kind for kind in MODULES if kind not in MERGES])
def test_the_base_of_a_layer_says_what_it_costs(kind):
    pytest.importorskip("jax", reason="needs jax")
    from paramcount.backend.prove.contract import examples

    layer_class = find(kind)
    assert layer_class is not None
    costs = [(layer.params(*shapes), layer.work(*shapes)) for layer, shapes in examples(layer_class)]
    assert issubclass(layer_class, ParameterFree) == all(params == {} for params, _ in costs)
    if issubclass(layer_class, Free):
        assert all(work == Work(0, 0) for _, work in costs)
    elif issubclass(layer_class, ParameterFree):
        assert any(work != Work(0, 0) for _, work in costs)


@pytest.mark.parametrize("kind", MODULES)
def test_no_layer_inherits_from_a_layer_of_another_kind(kind):
    layer_class = find(kind)
    assert layer_class is not None
    bases = [each.kind for each in layer_class.__mro__[1:] if issubclass(each, Layer)]
    assert not set(bases) & set(MODULES)


def test_a_layer_of_two_methods_costs_nothing():
    class Reversed(Free):
        """The positions in reverse order."""

        def output_shape(self, x: Shape) -> Shape:
            return x

        def forward(self, params, x, *, context):
            return x[::-1]

    assert Reversed().params(Shape.of(5, 4)) == {} and Reversed().work(Shape.of(5, 4)) == Work()
    assert pc.count([Reversed(), pc.Dense(3)], (5, 4)).macs == 5 * 4 * 3
