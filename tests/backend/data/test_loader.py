"""Batches through PyTorch's data loader, its collate function, and batches of any library as NumPy arrays."""

import subprocess
import sys
from collections import namedtuple

import jax
import numpy
import pytest

from paramcount.backend.data.data import Batches
from paramcount.backend.data.loader import as_numpy, numpy_collate, torch_batches
from paramcount.errors import ArgumentError

ROWS = numpy.arange(10)


def complaint(call, *args):
    with pytest.raises(ArgumentError) as caught:
        call(*args)
    return str(caught.value)


def batches(size, **settings):
    pytest.importorskip("torch", reason="needs torch")
    return torch_batches(numpy.stack([ROWS, -ROWS], axis=1).astype("uint8"), ROWS, size, **settings)


def seen(batches, number):
    """The rows of an epoch, batch by batch, each checked against its label."""
    found = []
    for x, y in batches.epoch(number):
        assert type(x) is numpy.ndarray and x.dtype == "uint8" and y.dtype == "int64"
        assert x.tolist() == [[row, -row % 256] for row in y.tolist()]
        found.append(y.tolist())
    return found


def order(batches, number):
    return [row for rows in seen(batches, number) for row in rows]


@pytest.mark.parametrize(
    ("size", "drop_last", "sizes"), [(4, False, [4, 4, 2]), (4, True, [4, 4]), (5, True, [5, 5]), (99, False, [10])]
)
@pytest.mark.parametrize("shuffle", [True, False])
def test_sizes_of_batches(size, drop_last, sizes, shuffle):
    made = batches(size, drop_last=drop_last, shuffle=shuffle)
    assert [len(each) for each in seen(made, 3)] == sizes and len(made) == len(sizes)


def test_an_epoch_has_each_row_once_in_its_own_order():
    torch = pytest.importorskip("torch", reason="needs torch")

    torch.manual_seed(0)
    before = torch.get_rng_state()
    made = batches(3)
    orders = [order(made, number) for number in range(4)]
    assert all(sorted(each) == ROWS.tolist() for each in orders)
    assert len(set(map(tuple, orders))) == 4 and ROWS.tolist() not in orders
    assert [order(batches(5), number) for number in (2, 0)] == [orders[2], orders[0]]
    assert order(batches(3, seed=1), 0) not in orders
    assert [y.tolist() for _, y in made] == seen(made, 0)
    assert torch.equal(torch.get_rng_state(), before)  # the caller's own generator is left alone


def test_without_shuffle_rows_stay_in_order():
    assert seen(batches(4, shuffle=False), 5) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_epochs_may_be_iterated_over_in_parallel():
    made = batches(3)
    pairs = list(zip(made.epoch(0), made.epoch(1), strict=True))
    assert [[y.tolist() for _, y in each] for each in zip(*pairs, strict=True)] == [seen(made, 0), seen(made, 1)]


def test_workers_change_nothing():
    jax.devices()  # JAX's threads run
    alone, many = batches(3), batches(3, workers=2)
    next(many.epoch(7))  # an epoch that is abandoned
    assert [seen(many, number) for number in (0, 1)] == [seen(alone, number) for number in (0, 1)]


def test_wrong_numbers_of_workers():
    assert "workers must be a whole number of at least 0, not `-1`" in complaint(lambda: batches(2, workers=-1))
    assert "10 examples cannot fill a batch of 11" in complaint(lambda: batches(11, drop_last=True))


def test_a_missing_torch_is_reported():
    source = """
import sys
sys.modules["torch"] = None
from paramcount.backend.data.data import Batches
from paramcount.backend.data.loader import as_numpy, torch_batches
print(as_numpy(([1.5], [0]))[0].tolist())
try:
    torch_batches([[1.5]], [0], 1)
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    said = "MissingImportError `--loader torch` needs PyTorch\nhint: pip install torch\n"
    assert done.stdout == "[1.5]\n" + said


def test_workers_do_not_import_jax():
    source = "import sys, paramcount.backend.data.loader; print('jax' in sys.modules, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


Point = namedtuple("Point", "a b")


def test_collating_nested_examples():
    examples = [
        ({"image": numpy.full((2, 2), i, "float32"), "size": i}, [i / 2, (i > 1, Point(i, -i))]) for i in range(3)
    ]
    images, (halves, (large, (first, second))) = numpy_collate(examples)
    assert images["image"].shape == (3, 2, 2) and images["image"].dtype == "float32"
    assert images["image"][2].tolist() == [[2, 2], [2, 2]] and images["size"].tolist() == [0, 1, 2]
    assert halves.tolist() == [0, 0.5, 1] and large.tolist() == [False, False, True] and large.dtype == bool
    assert first.tolist() == [0, 1, 2] and second.tolist() == [0, -1, -2]


def test_collating_tensors_is_as_pytorch_does_it():
    torch = pytest.importorskip("torch", reason="needs torch")
    from torch.utils.data import default_collate

    examples = [(torch.arange(4.0).reshape(2, 2) + i, {"label": i}) for i in range(3)]
    (x, y), (theirs, labels) = numpy_collate(examples), default_collate(examples)
    assert type(x) is numpy.ndarray and numpy.array_equal(x, theirs.numpy())
    assert numpy.array_equal(y["label"], labels["label"].numpy()) and y["label"].dtype == "int64"


@pytest.mark.parametrize(
    ("examples", "said"),
    [
        ([numpy.zeros((2, 3)), numpy.zeros((2, 4))], "examples of shapes (2, 3) and (2, 4) cannot form a batch"),
        ([(1, 2), (1, 2, 3)], "different numbers of parts"),
        ([{"a": 1}, {"b": 1}], "different keys"),
        ([("a", 1), ("b", 2)], "`str` does not hold numbers"),
        ([None, None], "`NoneType` does not hold numbers"),
    ],
)
def test_examples_that_cannot_form_a_batch(examples, said):
    assert said in complaint(numpy_collate, examples)


def test_numpy_stays_as_it_is():
    x, y = numpy.zeros((2, 3)), numpy.array([1, 2], "uint8")
    mine, labels = as_numpy((x, y))
    assert mine is x and labels is y


def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch", reason="needs torch")
    from torch.utils.data import DataLoader, TensorDataset

    x = torch.arange(12.0).reshape(4, 3)
    found = [as_numpy(batch) for batch in DataLoader(TensorDataset(x, torch.arange(4)), 3)]
    assert [each.tolist() for each, _ in found] == [x[:3].tolist(), x[3:].tolist()]
    assert [labels.tolist() for _, labels in found] == [[0, 1, 2], [3]] and type(found[0][1]) is numpy.ndarray
    small = torch.tensor([[1.5, -2.0], [3.0, 2.0**-20]])
    x, y = as_numpy((small.bfloat16().requires_grad_().T, torch.tensor([True, False])))
    assert x.dtype == jax.numpy.bfloat16 and x.astype("float32").tolist() == small.T.tolist()  # exact in bfloat16
    assert y.tolist() == [True, False]


def test_arrays_that_jax_does_not_take_are_converted():
    for x in (numpy.arange(6.0).reshape(2, 3).astype(kind) for kind in (">f4", ">f8", numpy.longdouble)):
        for found in (as_numpy((x, [0, 1]))[0], *(x for x, _ in Batches(x, [0, 1], 2, shuffle=False))):
            assert jax.numpy.asarray(found).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_any_size_of_a_batch():
    pytest.importorskip("torch", reason="needs torch")
    for size in (numpy.int8(3), 10**30):
        assert [len(x) for x, _ in torch_batches([1.0, 2.0, 3.0], [0, 1, 2], size)] == [3]


def test_arrays_of_jax_and_lists():
    x, y = as_numpy([jax.numpy.ones((2, 2), "bfloat16"), [1, 2]])
    assert type(x) is numpy.ndarray and x.dtype == jax.numpy.bfloat16 and y.tolist() == [1, 2]
    x, y = as_numpy(([[1.0, 2.0], [3.0, 4.0]], (0, numpy.int32(1))))
    assert x.tolist() == [[1, 2], [3, 4]] and y.tolist() == [0, 1]


def test_structures_of_arrays_are_kept():
    rows = numpy.zeros((2, 5))
    x, y = as_numpy(({"a": jax.numpy.ones(2), "b": rows}, [rows, (numpy.ones(2), [3, 4])]))
    assert x["a"].tolist() == [1, 1] and type(x["a"]) is numpy.ndarray and x["b"] is rows
    assert type(y) is list and y[0] is rows and type(y[1]) is tuple and y[1][1].tolist() == [3, 4]


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        (numpy.zeros((2, 2)), "a batch must be a pair (x, y), not `ndarray`"),
        (([1], [2], [3]), "a batch must be a pair (x, y), not 3 parts"),
        (([[1, 2], [3]], [0, 1]), "lists of different lengths cannot form an array"),
        ((numpy.zeros(2), ["cat", "dog"]), "`list` does not hold numbers"),
        ((numpy.zeros(2), None), "`NoneType` does not hold numbers"),
        ((numpy.zeros(2), numpy.array(["cat", "dog"])), "an array of <U3 does not hold numbers"),
    ],
)
def test_wrong_batches(batch, said):
    assert said in complaint(as_numpy, batch)
