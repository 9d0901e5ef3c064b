import numpy
import pytest

from paramcount.cost.count import count
from paramcount.errors import ArgumentError, ParamcountError, ShapeError
from paramcount.language.load import loads
from paramcount.layers.layer import Shape, Work
from paramcount.layers.relative import Alibi, Offsets, Relative
from paramcount.layers.window_regions import Regions


def test_grid_looks_up_the_distance_of_each_pair():
    """The table holds distances from (1 - h, 1 - w) to (h - 1, w - 1), row by row."""
    height, width = 2, 3
    distances = [(y, x) for y in range(1 - height, height) for x in range(1 - width, width)]
    table = numpy.arange(2.0 * len(distances)).reshape(len(distances), 2)
    layer = Relative(grid=[height, width])
    found = layer.forward({}, table, context=None)
    places = [(y, x) for y in range(height) for x in range(width)]
    for i, (y, x) in enumerate(places):
        for j, (other_y, other_x) in enumerate(places):
            row = distances.index((y - other_y, x - other_x))
            assert list(found[:, i, j]) == list(table[row])
    assert layer.output_shape(Shape.of(15, 2)).sizes == found.shape == (2, 6, 6)
    assert layer.work(Shape.of(15, 2)) == Work()


def test_grid_of_a_volume():
    """As in Swin3D, whose windows are 8×7×7: distances from front to back, then from the top, then by column."""
    sizes = (2, 3, 2)
    spans = [range(1 - size, size) for size in sizes]
    distances = [(z, y, x) for z in spans[0] for y in spans[1] for x in spans[2]]
    table = numpy.arange(2.0 * len(distances)).reshape(len(distances), 2)
    layer = Relative(grid=list(sizes))
    found = layer.forward({}, table, context=None)
    places = list(numpy.ndindex(sizes))
    for i, place in enumerate(places):
        for j, other in enumerate(places):
            row = distances.index(tuple(a - b for a, b in zip(place, other, strict=True)))
            assert list(found[:, i, j]) == list(table[row])
    assert layer.output_shape(Shape.of(45, 2)).sizes == found.shape == (2, 12, 12)
    assert Relative(grid=[8, 7, 7]).output_shape(Shape.of(15 * 13 * 13, 3)).sizes == (3, 392, 392)
    offsets = Offsets([2, 1, 3])
    assert offsets.output_shape().sizes == offsets.forward({}, context=None).shape == (3 * 1 * 5, 3)


def test_windows_of_a_volume_in_a_spec():
    """A window attention of Swin3D-T's first stage: 96 channels, 3 heads, 8×7×7 positions in each of 4 windows."""
    report = count(
        loads("""
input: {volume: [16, 14, 7, 96]}
layers:
  - let:
      bias: [parameter: [15 * 13 * 13, 3], relative: {grid: [8, 7, 7]}]
      parts: [regions: {window: [8, 7, 7], shift: [4, 3, 3]}]
  - each:
      pattern: (a d) (b h) w c -> a b | (d h w) c
      d: 8
      h: 7
      with: {parts: (a d) (b h) w -> a b | (d h w)}
      do: [attention: {heads: 3, position: bias, regions: parts}]
""")
    )
    assert report.params == 15 * 13 * 13 * 3 + 4 * (96 * 96 + 96)
    assert report.macs == 4 * (4 * 392 * 96 * 96 + 2 * 392 * 392 * 96)


def bucket(behind, exact):
    """T5's bucket of a distance for `2 · exact` buckets and 128 as the farthest, by whole numbers alone."""
    if behind < exact:
        return behind
    # exact + floor(log(behind / exact) / log(128 / exact) * exact): the largest k with (b/e)^e >= (128/e)^k
    k = 0
    while k + 1 < exact and behind**exact * exact ** (k + 1) >= exact**exact * 128 ** (k + 1):
        k += 1
    return exact + k


@pytest.mark.parametrize("query, key, causal", [(200, 200, False), (150, 150, True), (3, 180, True), (4, 2, False)])
def test_buckets_of_t5(query, key, causal):
    table = numpy.arange(32.0)[:, None]
    found = Relative(query=query, key=key, causal=causal).forward({}, table, context=None)
    assert found.shape == (1, query, key)
    for i in range(query):
        for j in range(0, key, 1 if key < 10 else 7):
            behind = i + key - query - j
            if causal:
                right = bucket(max(behind, 0), 16)
            else:
                right = bucket(abs(behind), 8) + 16 * (behind < 0)
            assert found[0, i, j] == right, (i, j)


def test_some_buckets_of_t5():
    row = Relative(query=1, key=129, causal=True).forward({}, numpy.arange(32.0)[:, None], context=None)[0, 0]
    by_distance = [int(each) for each in row[::-1]]
    assert by_distance[:17] == list(range(17))
    assert [by_distance[distance] for distance in (20, 32, 64, 127, 128)] == [17, 21, 26, 31, 31]


@pytest.mark.parametrize(
    "settings, words",
    [
        ({}, ["either `grid` or `query` and `key`"]),
        ({"grid": 7, "query": 3}, ["either"]),
        ({"query": 7}, ["needs `key`"]),
        ({"key": 7}, ["needs `query`"]),
    ],
)
def test_settings_refused(settings, words):
    with pytest.raises(ArgumentError) as caught:
        Relative(**settings)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    "settings, shape, words",
    [
        ({"grid": 7}, Shape.of(168, 3), ["168", "7 by 7", "169"]),
        ({"grid": 7}, Shape.of(169), ["features 169", "two axes"]),
        ({"grid": [8, 7, 7]}, Shape.of(169, 3), ["169", "8 by 7 by 7", "2535"]),
        ({"grid": [7, 7, 7, 7]}, Shape.of(169, 3), ["4 entries", "[d, h, w]"]),
        ({"grid": [7]}, Shape.of(13, 3), ["1 entries", "[d, h, w]"]),
        ({"query": 5, "key": 5}, Shape.of(3, 2), ["3 rows"]),
        ({"query": 5, "key": 5, "max_distance": 8}, Shape.of(32, 2), ["max_distance 8"]),
    ],
)
def test_tables_refused(settings, shape, words):
    with pytest.raises(ParamcountError) as caught:
        Relative(**settings).output_shape(shape)
    assert all(word in str(caught.value) for word in words)


def test_offsets():
    """Steps of 1 in windows of 3: ±log2(8 · 1/2 + 1) / 3 and ±log2(9) / 3."""
    near, far = numpy.log2(5) / 3, numpy.log2(9) / 3
    axis = [-far, -near, 0, near, far]
    found = Offsets(3).forward({}, context=None)
    numpy.testing.assert_allclose(found, [[y, x] for y in axis for x in axis], rtol=1e-5)
    assert Offsets(3).output_shape() == Shape.of(25, 2)
    assert Offsets([2, 4]).forward({}, context=None).shape == Offsets([2, 4]).output_shape().sizes == (21, 2)


def test_regions():
    """4 × 6 in windows of 2 shifted by 1: the last window's last row came from the top."""
    labels = numpy.asarray(Regions(window=2, shift=1).forward({}, numpy.zeros((4, 6, 3)), context=None))
    assert labels.tolist() == [
        [0, 0, 0, 0, 1, 2],
        [0, 0, 0, 0, 1, 2],
        [3, 3, 3, 3, 4, 5],
        [6, 6, 6, 6, 7, 8],
    ]
    assert Regions(window=2, shift=1).output_shape(Shape.of(4, 6, 3)) == Shape((4, 6), "tokens")


def test_regions_are_what_was_next_to_each_other():
    """Within a window of the rolled image, two positions share a label just if no edge of the image parts them."""
    size, window, shift = 8, 4, 1
    labels = numpy.asarray(Regions(window=window, shift=shift).forward({}, numpy.zeros((size, 2)), context=None))
    came_from = numpy.roll(numpy.arange(size), -shift)
    for start in range(0, size, window):
        for i in range(start, start + window):
            for j in range(start, start + window):
                neighbours = abs(came_from[i] - came_from[j]) < window
                assert (labels[i] == labels[j]) == neighbours


def test_no_shift_parts_nothing():
    labels = numpy.asarray(Regions(window=2, shift=0).forward({}, numpy.zeros((4, 3)), context=None))
    assert labels[0] == labels[1] and labels[2] == labels[3]


def test_regions_refused():
    with pytest.raises(ArgumentError, match="a shift of 7 in windows of 7"):
        Regions(window=7, shift=7).output_shape(Shape.of(14, 14, 3))
    with pytest.raises(ShapeError, match="features 4"):
        Regions(window=7, shift=3).output_shape(Shape.of(4))


@pytest.mark.parametrize(
    "heads, exponents",
    [(1, [8]), (2, [4, 8]), (8, [1, 2, 3, 4, 5, 6, 7, 8]), (12, [1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5])],
)
def test_alibi_falls_with_the_distance(heads, exponents):
    """The slopes of the paper: halved from head to head for 8 of them, by roots of two for 16."""
    biases = numpy.asarray(Alibi(heads).forward({}, numpy.zeros((5, 3)), context=None))
    for head, exponent in enumerate(exponents):
        for query in range(5):
            for key in range(5):
                assert biases[head, query, key] == pytest.approx(-(2**-exponent) * abs(query - key))
    assert len(biases) == len(exponents)


def test_alibi_makes_bloom():
    """BLOOM 560M, which has 559,214,592 parameters as published; its positions cost nothing."""
    network = loads("""
        input: {tokens: [T]}
        vars: {d: 1024, heads: 16, T: 128}
        layers:
          - {embedding: [250880, d], name: table}
          - layer_norm
          - repeat: 24
            do:
              - residual: [layer_norm, attention: {heads: heads, causal: true, position: [alibi: heads]}]
              - residual: [layer_norm, ffn: {hidden: 4 * d, activation: gelu_tanh}]
          - layer_norm
          - dense: {out: 250880, bias: false, tied: table}
    """)
    report = count(network)
    assert report.params == 559_214_592
    assert report.macs == 128 * (250_880 * 1024 + 24 * (12 * 1024 * 1024 + 2 * 128 * 1024))


def test_alibi_needs_a_length():
    with pytest.raises(ShapeError, match="`alibi` needs a sequence"):
        Alibi(8).output_shape(Shape.of(4, 4, 8))
