import numpy
import pytest

from paramcount.errors import ArgumentError
from paramcount.layers.clamp import Clamp
from paramcount.layers.layer import Shape, Work


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [({"low": -1, "high": 4}, [-1, 0, 4]), ({"low": 0.5}, [0.5, 0.5, 8]), ({"high": 0}, [-4, 0, 0])],
)
def test_values_by_hand(bounds, expected):
    assert Clamp(**bounds).forward({}, numpy.array([-4, 0, 8], "float32"), context=None).tolist() == expected


def test_one_operation_per_element():
    assert Clamp(low=0).work(Shape.of(7, 64)) == Work(macs=0, elementwise=448)


def test_shows_its_bounds():
    assert [each.setting() for each in (Clamp(low=-1, high=1), Clamp(high=100), Clamp(low=0))] == [
        "-1..1",
        "..100",
        "0..",
    ]


def test_bounds_must_make_sense():
    with pytest.raises(ArgumentError, match="`low`, `high`, or both"):
        Clamp()
    with pytest.raises(ArgumentError, match="low 2 is above high 1"):
        Clamp(low=2, high=1)
