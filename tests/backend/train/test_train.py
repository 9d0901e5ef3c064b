"""Training from Python: where batches come from, its settings, and what it refuses."""

import re

import jax
import numpy
import optax
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import paramcount as pc
from paramcount.errors import ArgumentError, CheckError, ParamcountError, ShapeError

GENERATOR = numpy.random.default_rng(5)
X = GENERATOR.standard_normal((20, 4), numpy.float32)
Y = GENERATOR.integers(0, 3, 20)
NETWORK = pc.Network([pc.Dense(3)], input=4)
PAIRS = [(X[:8], Y[:8]), (X[8:16], Y[8:16]), (X[16:], Y[16:])]


def figures(result):
    """All results of a training run except its times."""
    epochs = [epoch._replace(seconds=0) for epoch in result.epochs]
    return epochs, jax.tree.map(numpy.array, (result.params, result.buffers))


def same(left, right):
    (left_epochs, left_tensors), (right_epochs, right_tensors) = figures(left), figures(right)
    assert left_epochs == right_epochs
    assert jax.tree.structure(left_tensors) == jax.tree.structure(right_tensors)
    jax.tree.map(assert_array_equal, left_tensors, right_tensors)


def complaint(batches=PAIRS, network=NETWORK, error=ArgumentError, **settings):
    with pytest.raises(error) as caught:
        pc.train(network, batches, **settings)
    return str(caught.value)


# Where batches come from


def test_whatever_holds_the_same_batches_trains_the_same():
    expected = pc.train(NETWORK, PAIRS, epochs=2)
    same(expected, pc.train(NETWORK, pc.data.Batches(X, Y, 8, shuffle=False), epochs=2))
    same(expected, pc.train(NETWORK, [(jax.numpy.array(x), jax.numpy.array(y)) for x, y in PAIRS], epochs=2))
    same(expected, pc.train(NETWORK, tuple([x.tolist(), y.tolist()] for x, y in PAIRS), epochs=2))
    same(expected, pc.train(NETWORK, [({"input": x}, y) for x, y in PAIRS], epochs=2))
    assert expected.epochs[1].examples == 20


def test_so_do_loaders_of_pytorch():
    torch = pytest.importorskip("torch", reason="needs torch")
    expected = pc.train(NETWORK, PAIRS, epochs=2)
    tensors = torch.utils.data.TensorDataset(torch.tensor(X), torch.tensor(Y))
    same(expected, pc.train(NETWORK, torch.utils.data.DataLoader(tensors, 8), epochs=2))
    same(expected, pc.train(NETWORK, pc.data.torch_batches(X, Y, 8, shuffle=False), epochs=2))


def test_a_generator_serves_one_epoch():
    result = pc.train(NETWORK, iter(PAIRS), test=PAIRS)
    first = pc.train(NETWORK, PAIRS).epochs[0]
    assert result.epochs[0].train is None and result.epochs[0].test == first.train  # it cannot be scored again
    assert "`batches` can be iterated over only once" in complaint((pair for pair in PAIRS), epochs=2)
    assert "`test` can be iterated over only once" in complaint(test=iter(PAIRS), epochs=2)


def test_batches_whose_memory_is_filled_again_are_read_before():
    network = pc.Network([pc.Dense(256), pc.Dense(3)], input=1024)
    rows, labels = GENERATOR.standard_normal((30, 64, 1024), numpy.float32), GENERATOR.integers(0, 3, (30, 64))
    room = numpy.empty(64 * 1024 + 16, numpy.float32)
    x = room[-room.ctypes.data // 4 % 16 :][: 64 * 1024].reshape(64, 1024)  # so aligned that JAX reads it where it is

    def refilled():
        for x[:], y in zip(rows, labels, strict=True):
            yield x, y

    same(pc.train(network, refilled()), pc.train(network, zip(rows, labels, strict=True)))


def test_epochs_come_from_a_method_where_there_is_one():
    asked = []

    class Numbered:
        def epoch(self, number):
            asked.append(number)
            return PAIRS

        def __iter__(self):
            raise AssertionError("not asked for its epoch")

    pc.train(NETWORK, Numbered(), epochs=2)
    assert asked == [0, 0, 1, 1]  # trained on, and scored

    class Counter(list):
        epoch = 3  # some loaders count theirs

    pc.train(NETWORK, Counter(PAIRS))


# Its settings


def test_dense_labels_train_like_class_numbers():
    dense = [(x, numpy.eye(3)[y]) for x, y in PAIRS]
    ours, theirs = pc.train(NETWORK, dense, epochs=2), pc.train(NETWORK, PAIRS, epochs=2)
    assert_allclose([e[1:3] for e in ours.epochs], [e[1:3] for e in theirs.epochs], rtol=1e-5)


def test_each_position_of_a_sequence_has_a_label():
    network = pc.Network([pc.Embedding(7, 5), pc.Dense(7)], input={"tokens": [6]})
    tokens = GENERATOR.integers(0, 7, (4, 6))
    result = pc.train(network, [(tokens, tokens)], epochs=40, optimizer="adam", learning_rate=0.1)
    assert result.epochs[-1].train == 1
    wrong = tokens.copy()
    wrong[2, 3] = 7
    assert "label `7` at [2, 3] is out of range" in complaint([(tokens, wrong)], network)
    assert "as integers, not float32" in complaint([(tokens.astype("float32"), tokens)], network, ShapeError)


def test_a_custom_loss_and_metric():
    network = pc.Network([pc.Dense(1)], input=4)
    targets = [(x, x @ numpy.array([[1.0], [-2.0], [3.0], [0.5]], numpy.float32) + 2) for x, _ in PAIRS]

    def squared(outputs, y):
        return optax.squared_error(outputs, y).sum(-1)

    def close(outputs, y):
        return abs(outputs - y) < 0.05

    result = pc.train(network, targets, epochs=60, loss=squared, metric=close, test=targets, learning_rate=0.1)
    assert result.epochs[0].train < 0.5 and result.epochs[-1].train == result.epochs[-1].test == 1
    assert_allclose(result.params["dense0"]["weight"][:, 0], [1, -2, 3, 0.5], atol=0.02)
    assert pc.train(network, targets, loss=squared).epochs[0].train is None
    assert "give a metric" in complaint(targets, network, loss=squared, test=targets)


def test_several_inputs_and_outputs_by_name():
    items = [pc.From("left"), pc.Let({"sum": [pc.Add(["prev", "right"]), pc.Dense(3)], "own": [pc.Dense(2)]})]
    network = pc.Network(items, inputs={"left": 4, "right": 4}, outputs={"class": "sum", "side": "own"})
    largest = X[:, :3].argmax(-1)
    batch = ({"left": X, "right": 2 * X}, {"class": largest, "side": largest % 2})

    def loss(outputs, y):
        return sum(pc.losses.softmax_cross_entropy(outputs[name], y[name]) for name in ("class", "side"))

    def metric(outputs, y):
        return pc.metrics.accuracy(outputs["class"], y["class"])

    result = pc.train(network, [batch], loss=loss, metric=metric, epochs=100, optimizer="adam", learning_rate=0.1)
    assert result.epochs[-1].train > 0.9
    assert "several outputs\nhint: give a `loss(outputs, y)` that takes a mapping with `class`, `side`" in complaint(
        [batch], network
    )
    assert "`left`, `right`" in complaint([(X, Y)], network, loss=loss)


def test_a_transform_makes_the_inputs_of_what_is_stored():
    stored = [((x * 40 + 128).clip(0, 255).astype("uint8").reshape(-1, 2, 2), y) for x, y in PAIRS]
    ready = [((x.reshape(-1, 4) / numpy.float32(255)), y) for x, y in stored]
    ours = pc.train(NETWORK, stored, test=stored, transform=lambda x: x.reshape(-1, 4) / 255)
    theirs = pc.train(NETWORK, ready, test=ready)
    assert_allclose(ours.epochs[0][1:4], theirs.epochs[0][1:4], rtol=1e-5)


def test_initial_values_are_arrays_or_a_function():
    ones = {"dense0": {"weight": numpy.ones((4, 3)), "bias": numpy.zeros(3, int)}}
    seen = []

    def made(path, name, sizes):
        seen.append((path, name, sizes))
        return numpy.full(sizes, name == "weight")

    expected = pc.train(NETWORK, PAIRS, init=ones)
    same(expected, pc.train(NETWORK, PAIRS, init=made))
    assert sorted(seen) == [("dense0", "bias", (3,)), ("dense0", "weight", (4, 3))]
    usual = pc.train(NETWORK, PAIRS, seed=3)
    same(usual, pc.train(NETWORK, PAIRS, init=NETWORK.init(3)[0], seed=3))
    same(usual, pc.train(NETWORK, PAIRS, init=lambda path, name, sizes: None, seed=3))
    statistics = {"batch_norm0": {"mean": [10.0, 0, 0, 0]}}
    kept = pc.train(pc.Network([pc.BatchNorm(), pc.Dense(3)], input=4), [(X * 0, Y)], init=statistics)
    assert_allclose(kept.buffers["batch_norm0"]["mean"], [9, 0, 0, 0])


def test_each_epoch_is_reported_once_it_is_saved(tmp_path):
    file, seen = tmp_path / "a.safetensors", []
    result = pc.train(NETWORK, PAIRS, epochs=3, checkpoint=file, on_epoch=lambda e: seen.append((e, file.read_bytes())))
    assert tuple(epoch for epoch, _ in seen) == result.epochs
    assert len({content for _, content in seen}) == 3


def test_the_result_as_text():
    result = pc.train(NETWORK, PAIRS, epochs=2)
    flops = pc.count(NETWORK, train=True).train_flops
    first = f"network: {flops} FLOPs per example in a training step; one example: 4 features"
    assert str(result).startswith(f"{first}\nfastest epoch: ")
    assert result.rate == max(flops * 20 / epoch.seconds for epoch in result.epochs)
    assert re.fullmatch(r"epoch 1  loss \d\.\d{4}  train \d\.\d{4}  [\d.]+ s  [\d,]+ examples/s", str(result.epochs[1]))


# What it refuses


@pytest.mark.parametrize(
    ("batches", "words"),
    [
        ([], "there is no batch to train on"),
        ([(X[:0], Y[:0])], "one common length, not 0"),
        ([(X, Y[:9])], "one common length, not 9 and 20"),
        ([({"input": X}, (Y, Y[:1]))], "one common length, not 1 and 20"),
        ([(X, Y[:, None])], "do not fit `logits`"),
        ([(X, Y, Y)], "a batch must be a pair (x, y), not 3 parts"),
        ((X, Y), "a batch must be a pair (x, y), not `ndarray`"),
        (X, "a batch must be a pair (x, y), not `ndarray`"),
        ({"x": X, "y": Y}, "`batches` must be pairs (x, y), not `dict`"),
        ("mnist", "`batches` must be pairs (x, y), not `str`"),
        (None, "`batches` must be pairs (x, y), not `NoneType`"),
        ([(X, None)], "`NoneType` does not hold numbers"),
        ([("X", Y)], "`str` does not hold numbers"),
        ([({"inputs": X}, Y)], "the network's inputs are `input`, not `inputs`"),
        ([(X, Y + 1)], "label `3` at ["),
        ([(X, Y - 1)], "label `-1` at ["),
        ([(X, Y.astype(float))], "class numbers must be integers"),
        ([(X[:, :3], Y)], "`input` has shape (3,) after the batch, but the network takes (4,)"),
        ([(X.reshape(-1, 2, 2), Y)], "`input` has shape (2, 2) after the batch"),
        ([(X.astype("uint8"), Y)], "must be floating-point, not uint8\nhint: e.g. x / 255"),
    ],
)
def test_wrong_batches(batches, words):
    assert words in complaint(batches, error=ParamcountError)
    if isinstance(batches, list):  # also if they are only scored
        assert words.replace("train on", "score") in complaint(test=batches, error=ParamcountError)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"network": [pc.Dense(3)]}, "is not a network\nhint: give what `load` returns"),
        ({"network": "mlp"}, "`'mlp'` is not a network"),
        ({"epochs": "3"}, "epochs must be a whole number of at least 1, not `3`"),
        ({"epochs": 0}, "epochs must be"),
        ({"epochs": True}, "epochs must be"),
        ({"epochs": 1.0}, "epochs must be"),
        ({"staleness": -1}, "staleness must be a whole number of at least 0"),
        ({"seed": -1}, "the seed must be a whole number from 0 to 2^63 - 1, not `-1`"),
        ({"seed": "a"}, "the seed must be a whole number from 0"),
        ({"seed": 2**63}, "the seed must be a whole number from 0"),
        ({"loss": "mse"}, "`loss` must be a function, not `'mse'`"),
        ({"loss": None}, "`loss` must be a function"),
        ({"metric": "accuracy"}, "`metric` must be a function"),
        ({"transform": 255}, "`transform` must be a function"),
        ({"on_epoch": 1}, "`on_epoch` must be a function"),
        ({"loss": lambda outputs, y: None}, "`loss` must return numbers, not NoneType"),
        ({"loss": lambda outputs, y: (outputs.mean(), 1)}, "`loss` must return numbers, not tuple"),
        ({"loss": lambda outputs, y: outputs * 1j}, "`loss` must return numbers"),
        ({"metric": lambda outputs, y: {}}, "`metric` must return numbers, not dict"),
        ({"freeze": "dense0"}, "freeze must be a list of patterns"),
        ({"freeze": ["dense1"]}, "no row to freeze is called `dense1`"),
        ({"learning_rate": 0}, "a learning rate must be a positive number"),
        ({"learning_rate": 1e39}, "a learning rate must be a positive number"),  # infinite in float32
        ({"learning_rate": 1e-46}, "a learning rate must be a positive number"),  # zero in float32
        (
            {"learning_rate": lambda step: "0.1"},
            "must return a number for each step, not str",
        ),
        (
            {"learning_rate": lambda step: None},
            "must return a number for each step, not NoneType",
        ),
        ({"learning_rate": lambda step: numpy.ones(3)}, "a number for each step, not an array of shape (3,)"),
        ({"staleness": 10**30}, "staleness can be at most 1,000"),
        ({"devices": 10**5000}, "`<int>` devices are requested, but JAX finds"),
        ({"optimizer": "sdg"}, "unknown optimizer `sdg`"),
        ({"init": [1]}, "`init` must be arrays by path and name, or a function, not `list`"),
        ({"init": NETWORK.init()}, "the first result of `network.init()`"),
        ({"init": {"dense0": X}}, "`init` must be arrays by path and name"),
        ({"init": {"dense1": {"weight": X}}}, "the network has no tensor `dense1/weight`"),
        ({"init": {"dense0": {"weight": X}}}, "`dense0/weight` has shape (20, 4), not (4, 3)"),
        ({"init": {"dense0": {"weight": "ones"}}}, "does not hold numbers"),
        ({"init": {"dense0": {"bias": [1j, 0, 0]}}}, "`dense0/bias` must be real, not complex64"),
        ({"init": {"dense0": {"weight": [[1], [1, 2]]}}}, "cannot form an array"),
        ({"test": 3}, "`test` must be pairs (x, y), not `int`"),
        ({"test": []}, "there is no batch to score"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(*value),
)
def test_wrong_settings(settings, words):
    assert words in complaint(**settings)


def test_labels_that_only_a_custom_loss_can_check_stop_training():
    def wrapped(outputs, y):
        return 2 * pc.losses.softmax_cross_entropy(outputs, y)

    assert "labels that the loss accepts" in complaint([(X, Y + 1)], error=CheckError, loss=wrapped)
