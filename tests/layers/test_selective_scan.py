import numpy
import pytest

from paramcount.backend.run.context import Context
from paramcount.backend.run.initialize import initialize
from paramcount.errors import ShapeError
from paramcount.graph.items import From
from paramcount.graph.network import Network
from paramcount.layers.layer import Shape, Work
from paramcount.layers.selective_scan import SelectiveScan

LAYER = SelectiveScan(step="dt", write="b", read="c")
SHAPES = Shape.of(5, 4), Shape.of(5, 4), Shape.of(5, 3), Shape.of(5, 3)


def test_by_hand():
    assert {name: param.shape for name, param in LAYER.params(*SHAPES).items()} == {"decay": (4, 3), "skip": (4,)}
    assert {param.role for param in LAYER.params(*SHAPES).values()} == {"table"}
    assert LAYER.work(*SHAPES) == Work(60, 420)  # 5 · 4 · 3, and 7 times that
    assert LAYER.output_shape(*SHAPES) == Shape.of(5, 4)


def test_values_equal_a_loop():
    random = numpy.random.default_rng(2)
    x, step, write, read = (random.normal(size=shape.sizes).astype("float32") for shape in SHAPES)
    step = abs(step)
    decay, skip = random.normal(size=(4, 3)).astype("float32"), random.normal(size=4).astype("float32")
    expected = numpy.zeros((5, 4))
    for channel in range(4):
        state = numpy.zeros(3)
        for t in range(5):
            for n in range(3):
                kept = numpy.exp(-numpy.exp(decay[channel, n]) * step[t, channel])
                state[n] = kept * state[n] + step[t, channel] * write[t, n] * x[t, channel]
            expected[t, channel] = state @ read[t] + skip[channel] * x[t, channel]
    y = LAYER.forward({"decay": decay, "skip": skip}, x, step, write, read, context=Context())
    numpy.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


def test_decay_starts_at_the_logarithms_of_whole_numbers():
    inputs = {"x": (5, 4), "dt": (5, 4), "b": (5, 3), "c": (5, 3)}
    params, _ = initialize(Network([From("x"), LAYER], inputs=inputs).graph())
    found = params["selective_scan0"]
    numpy.testing.assert_allclose(numpy.exp(found["decay"]), [[1, 2, 3]] * 4, rtol=1e-6)
    numpy.testing.assert_array_equal(found["skip"], [1] * 4)


@pytest.mark.parametrize(
    "shapes, message",
    [
        ([Shape.of(5), *SHAPES[1:]], "`selective_scan` needs a sequence, and got features 5"),
        ([SHAPES[0], Shape.of(5, 3), *SHAPES[2:]], "needs `step` of 5×4, and got 5×3"),
        ([*SHAPES[:2], Shape.of(6, 3), Shape.of(6, 3)], "needs `write` of 5×state, and got 6×3"),
        ([*SHAPES[:3], Shape.of(5, 2)], "needs `read` of 5×3, and got 5×2"),
    ],
)
def test_values_that_do_not_fit(shapes, message):
    with pytest.raises(ShapeError, match=message):
        LAYER.output_shape(*shapes)
