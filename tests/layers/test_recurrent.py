import math

import numpy
import pytest

from paramcount.backend.run.context import Context
from paramcount.cost.count import count
from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.layer import Shape, Work
from paramcount.layers.recurrent import Gru, Lstm, Rnn

SEQUENCE = Shape.of(7, 10)


def sizes(layer, *inputs):
    return {name: param.shape for name, param in layer.params(*inputs).items()}


def outputs(layer, *inputs):
    return [str(shape) for shape in layer.output_shape(*inputs)]


def total(layer, *inputs):
    return sum(param.size for param in layer.params(*inputs).values())


def test_lstm_by_hand():
    layer = Lstm(16)
    assert sizes(layer, SEQUENCE) == {
        "input_weight_0": (10, 64),
        "hidden_weight_0": (16, 64),
        "input_bias_0": (64,),
        "hidden_bias_0": (64,),
    }
    assert total(layer, SEQUENCE) == 1792  # 640 + 1024 + 128
    assert layer.work(SEQUENCE) == Work(11648, 2352)  # 7 · 1664; 7 · 16 · 21
    assert outputs(layer, SEQUENCE) == ["7×16", "16", "16"]


def test_each_kind_has_its_gates():
    assert Gru(16).work(SEQUENCE) == Work(8736, 1904)  # 7 · 3 · 16 · 26; 7 · 16 · 17
    assert Rnn(16).work(SEQUENCE) == Work(2912, 448)  # 7 · 16 · 26; 7 · 16 · 4
    assert total(Gru(16), SEQUENCE) == 1344  # 3 · 16 · 28
    assert total(Rnn(16), SEQUENCE) == 448  # 16 · 28


def test_biases():
    assert [total(Gru(16, biases=biases), SEQUENCE) for biases in (0, 1, 2)] == [1248, 1296, 1344]
    assert [Gru(16, biases=biases).work(SEQUENCE).elementwise for biases in (0, 1, 2)] == [1232, 1568, 1904]
    assert [param.role for param in Gru(16).params(SEQUENCE).values()] == ["weight", "weight", "bias", "bias"]
    with pytest.raises(ArgumentError, match="biases must be 0, 1 or 2, not 3"):
        Gru(16, biases=3)


def test_layers_and_directions():
    """2 layers both ways: 10 to 20 each, then 40 to 20 each; 5 steps."""
    layer, x = Lstm(20, 2, bidirectional=True), Shape.of(5, 10)
    found = sizes(layer, x)
    assert len(found) == 16
    assert found["input_weight_0_reverse"] == (10, 80)
    assert found["input_weight_1"] == found["input_weight_1_reverse"] == (40, 80)
    assert total(layer, x) == 15040  # 2 · 80 · (10 + 20 + 2) + 2 · 80 · (40 + 20 + 2)
    assert layer.work(x).macs == 72000  # 5 · (2 · 80 · 30 + 2 · 80 · 60)
    assert outputs(layer, x) == ["5×40", "4×20", "4×20"]
    assert outputs(Gru(20, 3), x) == ["5×20", "3×20"]


def test_projection_narrows_output_and_state():
    layer, x = Lstm(20, 2, projection=7, biases=0), Shape.of(5, 10)
    assert sizes(layer, x) == {
        "input_weight_0": (10, 80),
        "hidden_weight_0": (7, 80),
        "projection_0": (20, 7),
        "input_weight_1": (7, 80),
        "hidden_weight_1": (7, 80),
        "projection_1": (20, 7),
    }
    assert layer.work(x).macs == 13800  # 5 · (80 · 17 + 140 + 80 · 14 + 140)
    assert outputs(layer, x) == ["5×7", "2×7", "2×20"]


def test_features_are_one_step():
    x = Shape.of(10)
    assert outputs(Lstm(20), x) == ["20", "20", "20"]
    assert Lstm(20).work(x).macs == 2400  # 80 · 30
    assert outputs(Gru(20, 2, bidirectional=True), x) == ["40", "4×20"]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def test_values_of_one_unit():
    """One hidden unit on two steps, worked out gate by gate."""
    rows = [0.3, -0.2, 0.5, 0.1], [0.4, 0.6, -0.3, 0.2], [0.1, 0.2, 0.3, 0.4], [-0.1, 0.3, 0.2, 0.1]
    names = "input_weight_0", "hidden_weight_0", "input_bias_0", "hidden_bias_0"
    h = c = 0.0
    for x in (0.7, -1.2):
        enter, forget, new, leave = (a * x + b * h + p + q for a, b, p, q in zip(*rows, strict=True))
        c = sigmoid(forget) * c + sigmoid(enter) * math.tanh(new)
        h = sigmoid(leave) * math.tanh(c)
    params = {name: numpy.array(row, "float32") for name, row in zip(names, rows, strict=True)}
    params = {name: value[None] if "weight" in name else value for name, value in params.items()}
    y, state, cell = Lstm(1).forward(params, numpy.array([[0.7], [-1.2]], "float32"), context=Context())
    assert [float(y[1, 0]), float(state[0]), float(cell[0])] == pytest.approx([h, h, c], rel=1e-5)


def test_the_reverse_direction_reads_from_the_end():
    layer = Gru(3, bidirectional=True)
    random = numpy.random.default_rng(0)
    params = {name: random.normal(size=size).astype("float32") for name, size in sizes(layer, Shape.of(4, 2)).items()}
    params |= {name + "_reverse": value for name, value in params.items() if name.endswith("_0")}
    x = random.normal(size=(4, 2)).astype("float32")
    y, last = layer.forward(params, x, context=Context())
    turned, _ = layer.forward(params, x[::-1], context=Context())
    numpy.testing.assert_allclose(y[:, 3:], turned[::-1, :3], rtol=1e-5)
    numpy.testing.assert_allclose(last, [y[-1, :3], y[0, 3:]], rtol=1e-5)


@pytest.mark.parametrize(
    "layer, shapes, message",
    [
        (Lstm(4), [Shape((5,), "tokens")], "`lstm` needs a sequence, or features as one step, and got tokens 5"),
        (Gru(4), [Shape.of(5, 6, 3)], "`gru` needs a sequence, .* got image 5×6×3"),
        (Rnn(4, state="h"), [SEQUENCE, Shape.of(5)], "starts from a state of 4, and got features 5"),
        (Gru(4, 2, state="h"), [SEQUENCE, Shape.of(4)], "starts from a state of 2×4, and got features 4"),
        (Lstm(4, projection=2, state="h", cell="c"), [SEQUENCE, Shape.of(2), Shape.of(2)], "a cell of 4, and got"),
        (Lstm(4, cell="c"), [SEQUENCE, Shape.of(4)], "`lstm` got a cell without a state"),
    ],
)
def test_what_it_refuses(layer, shapes, message):
    with pytest.raises(ShapeError, match=message):
        layer.output_shape(*shapes)


def test_absurd_numbers_of_layers_are_refused():
    with pytest.raises(ArgumentError, match="layers must be at most 1000"):
        Lstm(4, 10**9)


def test_settings():
    assert [Gru(4).setting(), Gru(4, 2).setting(), Gru(4, 2, True).setting()] == ["", "2 layers", "2×bidirectional"]
    assert count(Gru(4, bidirectional=True), (5, 3)).rows[0].setting == "bidirectional"
