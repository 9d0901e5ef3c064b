"""Random networks: the count in closed form, the program that JAX traces, and a count on Columns agree."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramcount.backend.prove.verify import verify
from paramcount.cost.count import count
from paramcount.errors import Undecided
from paramcount.graph.bodies import Each, Moe, Scan
from paramcount.graph.items import Do, Gate, Residual
from paramcount.graph.loops import Repeat
from paramcount.graph.modifiers import With
from paramcount.graph.network import Network
from paramcount.layers.activation import Relu, Sigmoid, Tanh
from paramcount.layers.batch_norm import BatchNorm
from paramcount.layers.concat import Concat
from paramcount.layers.conv import Conv
from paramcount.layers.conv_transpose import ConvTranspose
from paramcount.layers.dense import Dense
from paramcount.layers.depthwise import Depthwise
from paramcount.layers.embedding import Embedding
from paramcount.layers.global_pool import GlobalPool
from paramcount.layers.layer import Shape
from paramcount.layers.merge import Add
from paramcount.layers.norm import GroupNorm, InstanceNorm, LayerNorm, RmsNorm
from paramcount.layers.pointwise import Pointwise
from paramcount.layers.pool import AvgPool, MaxPool
from paramcount.layers.recurrent import Gru, Lstm, Rnn
from paramcount.layers.resize import Upsample
from paramcount.numbers.arithmetic import Column

WIDTHS = st.sampled_from([1, 2, 4, 6])
SUGAR = st.fixed_dictionaries(
    {
        "norm": st.sampled_from([None, "batch_norm", "layer_norm", "rms_norm"]),
        "activation": st.sampled_from([None, "relu", "hard_swish", "gelu", "softmax"]),
    }
)


@st.composite
def same(draw, channels):
    """A layer that keeps an image's shape."""
    sugar, kernel = draw(SUGAR), draw(st.sampled_from([1, 3, (3, 1)]))
    kind = draw(st.sampled_from([Conv, Depthwise, Pointwise]))
    if kind is Pointwise:
        return Pointwise(channels, **sugar)
    padding = draw(st.sampled_from(["same", "half"]))
    settings = {"padding": padding, "dilation": draw(st.integers(1, 2)), "bias": draw(st.booleans())}
    if kind is Depthwise:
        return Depthwise(kernel, **settings, **sugar)
    groups = draw(st.sampled_from([groups for groups in (1, 2, 3) if channels % groups == 0]))
    return Conv(channels, kernel, groups=groups, weight_norm=draw(st.booleans()), **settings, **sugar)


@st.composite
def changing(draw, channels):
    """A layer that may change an image's shape, and its output channels."""
    out, sugar = draw(WIDTHS), draw(SUGAR)
    stride, kernel = draw(st.sampled_from([1, 2, 3, (2, 1)])), draw(st.sampled_from([1, 2, 3, (1, 4)]))
    kind = draw(st.sampled_from([Conv, Conv, Conv, ConvTranspose, Depthwise, Pointwise, MaxPool, AvgPool, Upsample]))
    padding = draw(st.sampled_from(["same", 2, ((0, 3), 3)]))
    if kind is Conv:
        return Conv(out, kernel, stride, padding, **sugar), out
    if kind is ConvTranspose:
        return ConvTranspose(out, kernel, stride, **sugar), out
    if kind is Depthwise:
        multiplier = draw(st.integers(1, 2))
        return Depthwise(kernel, stride, multiplier, padding, **sugar), channels * multiplier
    if kind is Pointwise:
        return Pointwise(out, draw(st.integers(1, 2)), **sugar), out
    if kind is Upsample:
        return Upsample(2, draw(st.sampled_from(["nearest", "bilinear"]))), channels
    return kind(3, draw(st.integers(1, 2)), padding=1), channels


@st.composite
def image_item(draw, channels, index):
    """The item of this index on an image, and its output channels."""
    form = draw(st.integers(0, 13))
    body = [draw(same(channels)) for _ in range(draw(st.integers(1, 2)))]
    if form == 0:
        return Residual(body), channels
    if form == 1:
        return Concat(["prev", body, [Relu()]]), 3 * channels
    if form == 2:
        return Gate([GlobalPool(), Dense(channels, activation=Sigmoid())]), channels
    if form == 3:
        return Repeat(draw(st.integers(1, 3)), body, share=draw(st.booleans())), channels
    if form == 4:
        out = draw(WIDTHS)
        return Each("h w c -> h | w c", [Dense(out), Tanh()]), out
    if form == 5:
        return Do([With(body[0], share=f"item{index}"), Relu(), With(body[0], share=f"item{index}")]), channels
    if form == 6:
        return draw(
            st.sampled_from([BatchNorm(), GroupNorm(channels), InstanceNorm(), LayerNorm(), RmsNorm()])
        ), channels
    return draw(changing(channels))


@st.composite
def images(draw):
    """The input channels, and items on an image that has them."""
    start = channels = draw(WIDTHS)
    items = []
    for index in range(draw(st.integers(1, 5))):
        item, channels = draw(image_item(channels, index))
        items.append(item)
    return start, items


@st.composite
def sequence_item(draw, width):
    """An item on a sequence, and its output width."""
    form, out = draw(st.integers(0, 9)), draw(WIDTHS)
    if form == 8:
        both, kind = draw(st.booleans()), draw(st.sampled_from([Gru, Lstm, Rnn]))
        return kind(out, draw(st.integers(1, 2)), both, draw(st.integers(0, 2))), out * (1 + both)
    if form == 9:
        cell = With(Gru(out, state="h"), into=["_output", "after"])
        return Scan({"h": [out]}, [cell], {"h": "after"}), out
    if form == 0:
        return Residual([LayerNorm(), Dense(2 * width, activation="gelu"), Dense(width)]), width
    if form == 1:
        return Scan({"h": [out]}, [Concat(["prev", "h"]), Dense(out, activation="tanh")], {"h": "prev"}), out
    if form == 2:
        experts = draw(st.integers(2, 4))
        return Moe(experts, draw(st.integers(1, experts)), [Dense(4, activation="relu"), Dense(out)]), out
    if form == 3:
        return Each("t c -> c | t 1", [Dense(1, activation="tanh")]), width
    if form == 4:
        return Dense(out, bias=False, weight_norm=True), out
    if form == 5:
        return Repeat(draw(st.integers(1, 3)), [Add(["prev", [Dense(width)]])], share=draw(st.booleans())), width
    if form == 6:
        return Conv(out, 3, draw(st.integers(1, 2)), norm="batch_norm"), out
    return With(Dense(out), frozen=True), out


@st.composite
def sequences(draw):
    """Items on tokens."""
    width = draw(WIDTHS)
    items = [Embedding(vocab=7, out=width)]
    for _ in range(draw(st.integers(1, 5))):
        item, width = draw(sequence_item(width))
        items.append(item)
    return items


def check(make, sizes, frozen):
    """`make` a network for each size; alone and as a Column they count the same, and JAX does what is counted.

    It is trained with the row of the number `frozen` frozen, if there is one.
    """
    alone = [count(make(size)).totals for size in sizes]
    check_columns(make, sizes, alone)
    paths = [row.path for row in count(make(sizes[0])).rows]
    verification = verify(make(sizes[0]), abstract=True, train=True, freeze=paths[frozen : frozen + 1])
    assert verification.ok, str(verification)


def check_columns(make, sizes, alone):
    try:
        together = count(make(Column.whole("size", sizes))).totals
    except Undecided as undecided:  # as a sweep does: each part by itself
        for side in (True, False):
            part = [index for index, truth in enumerate(undecided.mask) if truth == side]
            check_columns(make, [sizes[index] for index in part], [alone[index] for index in part])
        return
    for index, expected in enumerate(alone):
        entries = [entry[index] if isinstance(entry, Column) else entry for entry in together]
        assert entries == list(expected), sizes[index]


SIZES = st.lists(st.integers(4, 20), min_size=2, max_size=4)
FROZEN = st.integers(0, 20)


def check_images(network, sizes, frozen):
    channels, items = network
    check(lambda size: Network(items, input=Shape((size, 7, channels), "image")), sizes, frozen)


def check_sequences(items, sizes, frozen):
    check(lambda size: Network(items, input=Shape((size,), "tokens")), sizes, frozen)


few, many = settings(max_examples=8), settings(max_examples=100)
test_images = few(given(images(), SIZES, FROZEN)(check_images))
test_sequences = few(given(sequences(), SIZES, FROZEN)(check_sequences))
test_many_images = pytest.mark.full(many(given(images(), SIZES, FROZEN)(check_images)))
test_many_sequences = pytest.mark.full(many(given(sequences(), SIZES, FROZEN)(check_sequences)))
