"""The learned rectifier."""

import numpy as np
import pytest

from paramcount.backend.run.context import Context
from paramcount.errors import ShapeError
from paramcount.layers.layer import Shape
from paramcount.layers.prelu import Prelu


def test_by_hand():
    x = Shape.of(8, 8, 16)
    assert Prelu().params(x)["slope"].size == 16
    assert Prelu().params(x)["slope"].role == "table"
    assert Prelu(shared=True).params(x)["slope"].size == 1
    assert Prelu().output_shape(x) == x
    assert (Prelu().work(x).macs, Prelu().work(x).elementwise) == (0, 1024)


def test_forward():
    x = np.array([[-2.0, -2.0], [0.0, 3.0]])
    y = Prelu().forward({"slope": np.array([0.5, -1.0])}, x, context=Context())
    assert np.asarray(y).tolist() == [[-1, 2], [0, 3]]


def test_tokens_are_refused():
    with pytest.raises(ShapeError, match="tokens 8"):
        Prelu().output_shape(Shape((8,), "tokens"))
