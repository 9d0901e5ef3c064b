"""Tables of tokens, and tensors learned by themselves."""

import numpy as np
import pytest

from paramcount.backend.run.context import Context
from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.embedding import Embedding
from paramcount.layers.layer import Param, Shape, Work
from paramcount.layers.parameter import Parameter


def test_embedding_by_hand():
    layer, x = Embedding(1000, 64), Shape((10,), "tokens")
    assert layer.output_shape(x) == Shape((10, 64), "sequence")
    assert layer.params(x)["table"].size == 64_000
    assert layer.params(x)["table"].role == "table"
    assert layer.work(x) == Work(0, 0)


def test_embedding_looks_up():
    table = np.arange(6.0).reshape(3, 2)
    y = Embedding(3, 2).forward({"table": table}, np.array([2, 0, 2]), context=Context())
    assert np.asarray(y).tolist() == [[4, 5], [0, 1], [4, 5]]


def test_a_token_without_a_row_is_no_other_one():
    y = Embedding(3, 1).forward({"table": np.ones((3, 1))}, np.array([0, 3, -1, -3]), context=Context())
    assert np.isnan(np.asarray(y)).tolist() == [[False], [True], [True], [True]]


def test_embedding_takes_tokens_only():
    with pytest.raises(ShapeError, match="`embedding` looks up tokens, and got features 10") as caught:
        Embedding(3, 2).output_shape(Shape.of(10))
    assert "`tokens`" in caught.value.hint


def test_parameter_by_hand():
    layer = Parameter([50, 768])
    assert layer.output_shape() == Shape((50, 768), "sequence")
    assert layer.params() == {"value": Param({"axis0": 50, "axis1": 768}, "table", "normal")}
    assert layer.params()["value"].size == 38_400
    assert layer.work() == Work()
    assert not layer.takes_prev


def test_an_empty_shape_is_a_scalar():
    assert Parameter([]).output_shape().sizes == ()
    assert Parameter([]).params()["value"].size == 1


def test_parameter_is_its_value():
    value = np.arange(3.0)
    assert Parameter([3]).forward({"value": value}, context=Context()) is value


def test_parameter_refuses():
    with pytest.raises(ArgumentError, match="at least 1"):
        Parameter([3, 0])
    with pytest.raises(ArgumentError, match="init"):
        Parameter([3], init="random")
