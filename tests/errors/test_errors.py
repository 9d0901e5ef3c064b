"""Errors as objects: they can be sent to another process with all that they say."""

import copy
import pickle

import pytest

from paramcount.errors import ArgumentError, ManyErrors, Position, SpecError, Undecided

PLACE = Position("spec.yaml", 2, 3)


@pytest.mark.parametrize(
    "error",
    [
        SpecError("wrong", hint="right", position=PLACE),
        ArgumentError("wrong", argument="out"),
        ManyErrors([SpecError("one", position=PLACE), ArgumentError("two", hint="three")]),
        Undecided("both", mask=[True, False], sizes=[1, 2]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_are_pickled_and_copied(error):
    for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error), copy.copy(error)):
        assert type(again) is type(error) and again is not error
        assert (str(again), again.args, again.exit_code) == (str(error), error.args, error.exit_code)
        assert (again.argument, again.position) == (error.argument, error.position)
