import numpy
import pytest

from paramcount.errors import ArgumentError
from paramcount.layers._pattern import each_shapes, join_pieces, result_shape, split_pieces
from paramcount.layers.layer import Shape

WINDOWS, GRID = "(a m) (b n) c -> a b | (m n) c", "(m a) (n b) c -> a b | (m n) c"
FRAMES, WHOLE = "t h w c -> t | h w c", "h w c -> | (h w) c"


def test_sizes_of_the_mapped_axes_and_of_a_piece():
    assert each_shapes(WINDOWS, Shape.of(56, 56, 96), {"m": 7, "n": 7}) == ((8, 8), (49, 96))
    assert each_shapes("(a m) (b n) -> a b | (m n)", Shape.of(56, 56), {"m": 7, "n": 7}) == ((8, 8), (49,))
    assert each_shapes(FRAMES, Shape.of(16, 28, 28, 3), {}) == ((16,), (28, 28, 3))
    assert each_shapes(WHOLE, Shape.of(4, 5, 6), {}) == ((), (20, 6))


def test_pieces_by_hand():
    x = numpy.arange(8).reshape(4, 2, 1)
    windows = split_pieces(x, WINDOWS, {"m": 2, "n": 1})  # pieces in the order of a, then b
    assert windows[..., 0].tolist() == [[0, 2], [1, 3], [4, 6], [5, 7]]
    grid = split_pieces(x, GRID, {"m": 2, "n": 1})
    assert grid[..., 0].tolist() == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert split_pieces(x, WHOLE, {})[..., 0].tolist() == [[0, 1, 2, 3, 4, 5, 6, 7]]


@pytest.mark.parametrize(
    "pattern, shape, given",
    [
        (WINDOWS, (6, 8, 3), {"m": 3, "n": 2}),
        (GRID, (6, 8, 3), {"m": 3, "n": 2}),
        (FRAMES, (3, 4, 5, 2), {}),
        (WHOLE, (3, 4, 2), {}),
        ("h w c -> w | h c", (3, 4, 2), {}),
    ],
)
def test_pieces_go_back_to_their_places(pattern, shape, given):
    x = numpy.arange(numpy.prod(shape)).reshape(shape)
    whole = Shape.of(*shape)
    pieces = split_pieces(x, pattern, given)
    mapped, piece = each_shapes(pattern, whole, given)
    assert pieces.shape == (numpy.prod(mapped, dtype=int), *piece)
    numpy.testing.assert_array_equal(join_pieces(pieces, pattern, given, whole), x)
    assert result_shape(pattern, whole, given, Shape.of(*piece)) == whole


def test_other_channels_in_their_places():
    whole = Shape.of(4, 6, 2)
    x = numpy.arange(48).reshape(4, 6, 2)
    pieces = split_pieces(x, WINDOWS, {"m": 2, "n": 3})
    joined = join_pieces(pieces[..., :1], WINDOWS, {"m": 2, "n": 3}, whole)
    numpy.testing.assert_array_equal(joined, x[..., :1])
    assert result_shape(WINDOWS, whole, {"m": 2, "n": 3}, Shape.of(6, 1)) == Shape.of(4, 6, 1)


def test_a_simple_axis_may_change_its_size():
    whole = Shape.of(3, 8, 8, 2)
    y = numpy.arange(3 * 4 * 4 * 5).reshape(3, 4, 4, 5)
    assert result_shape(FRAMES, whole, {}, Shape.of(4, 4, 5)) == Shape.of(3, 4, 4, 5)
    numpy.testing.assert_array_equal(join_pieces(y, FRAMES, {}, whole), y)


def test_another_rank_follows_the_mapped_axes():
    assert result_shape(FRAMES, Shape.of(16, 28, 28, 3), {}, Shape.of(8)) == Shape((16, 8), "sequence")
    whole = Shape.of(4, 6, 2)
    assert result_shape(WINDOWS, whole, {"m": 2, "n": 3}, Shape.of(7)) == Shape((2, 2, 7), "image")
    y = numpy.arange(28).reshape(4, 7)
    numpy.testing.assert_array_equal(join_pieces(y, WINDOWS, {"m": 2, "n": 3}, whole), y.reshape(2, 2, 7))


def test_a_composed_axis_of_another_size_cannot_go_back():
    whole = Shape.of(4, 6, 2)
    assert result_shape(WINDOWS, whole, {"m": 2, "n": 3}, Shape.of(5, 2)) == Shape.of(2, 2, 5, 2)
    y = numpy.arange(40).reshape(4, 5, 2)
    numpy.testing.assert_array_equal(join_pieces(y, WINDOWS, {"m": 2, "n": 3}, whole), y.reshape(2, 2, 5, 2))


@pytest.mark.parametrize(
    "pattern, message",
    [
        ("h w c -> h w c", r"needs one `\|`"),
        ("h w c -> h | w | c", r"needs one `\|`"),
        ("h w c -> h | w", "the axis `c` on the left only"),
        ("h w c -> h | w c d", "the axis `d` on the right only"),
        ("h w c -> h | h w c", "the axis `h` twice"),
    ],
)
def test_errors(pattern, message):
    with pytest.raises(ArgumentError, match=message):
        each_shapes(pattern, Shape.of(4, 5, 6), {})
