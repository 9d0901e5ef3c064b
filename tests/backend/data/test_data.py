"""Reading idx files and .npz, and batches; the files are written here, byte by byte."""

import gzip
import io
import struct
import zipfile

import numpy
import pytest

from paramcount.backend.data.data import Batches, Data, read_data
from paramcount.backend.data.idx import read_idx
from paramcount.errors import ArgumentError

TYPES = {  # code -> letter of struct, NumPy's name, some values
    0x08: ("B", "uint8", (0, 1, 255)),
    0x09: ("b", "int8", (-128, 0, 127)),
    0x0B: ("h", "int16", (-32768, 258, 32767)),
    0x0C: ("i", "int32", (-(2**31), 16909060, 2**31 - 1)),
    0x0D: ("f", "float32", (-1.5, 0.25, 2.0**100)),
    0x0E: ("d", "float64", (-0.1, 1e-300, 1e300)),
}


def idx(sizes, values, code=0x08):
    return struct.pack(f">HBB{len(sizes)}I{len(values)}{TYPES[code][0]}", 0, code, len(sizes), *sizes, *values)


IMAGES = idx((3, 2, 2), range(12))
LABELS = idx((3,), (7, 2, 1))
MORE_IMAGES = idx((1, 2, 2), (9, 8, 7, 6))
MORE_LABELS = idx((1,), (4,))


def write(folder, **files):
    for name, content in files.items():
        split, what, ending = name.split("_")
        stem = {"train": "train", "test": "t10k"}[split]
        rank = {"images": 3, "labels": 1}[what]
        dash, packed = ("-", False) if ending == "dash" else (".", False) if ending == "dot" else ("-", True)
        path = folder / f"{stem}-{what}{dash}idx{rank}-ubyte{'.gz' if packed else ''}"
        path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    return folder


def complaint(call, *args):
    with pytest.raises(ArgumentError) as caught:
        call(*args)
    return str(caught.value)


@pytest.mark.parametrize("code", TYPES)
@pytest.mark.parametrize("sizes", [(3,), (1, 3), (3, 1, 1), (1, 1, 3, 1)])
def test_every_element_type_and_rank(tmp_path, code, sizes):
    _, name, values = TYPES[code]
    path = tmp_path / "some"
    path.write_bytes(idx(sizes, values, code))
    array = read_idx(path)
    assert array.dtype == name and array.dtype.isnative and array.shape == sizes
    assert tuple(array.ravel().tolist()) == values
    array[...] = 0  # it is the caller's own


@pytest.mark.parametrize("ending", ["dash", "dot", "gz"])
def test_a_folder_of_idx_files(tmp_path, ending):
    write(tmp_path, **{f"train_images_{ending}": IMAGES, f"train_labels_{ending}": LABELS})
    train, test = read_data(tmp_path)
    assert test is None
    assert train.x.tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]]
    assert train.y.tolist() == [7, 2, 1] and train.x.dtype == train.y.dtype == "uint8"
    write(tmp_path, **{f"test_images_{ending}": MORE_IMAGES, f"test_labels_{ending}": MORE_LABELS})
    data = read_data(str(tmp_path))
    assert isinstance(data, Data) and data.test.x.tolist() == [[[9, 8], [7, 6]]] and data.test.y.tolist() == [4]


def test_files_of_a_folder_may_differ_in_their_endings(tmp_path):
    write(tmp_path, train_images_gz=IMAGES, train_labels_dot=LABELS, test_images_dot=MORE_IMAGES)
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(MORE_LABELS)  # as browsers leave it
    (tmp_path / "notes.npz").write_bytes(b"not looked at")
    assert read_data(tmp_path).test.y.tolist() == [4]


def test_unpacked_files_take_precedence(tmp_path):
    write(tmp_path, train_images_gz=MORE_IMAGES, train_images_dash=IMAGES, train_labels_dot=LABELS)
    assert len(read_data(tmp_path).train.x) == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not an idx file: it begins with `nothing`"),
        (b"\x89PNG\r\n", "is not an idx file: it begins with `89 50 4e 47`"),
        (b"\0\0\x0a\x01\0\0\0\0", "is not an idx file: it begins with `00 00 0a 01`"),
        (IMAGES[:10], "is cut off: it ends within its 3 sizes"),
        (IMAGES[:-1], "is cut off: 3 × 2 × 2 uint8 elements take 28 bytes, but it has 27"),
        (IMAGES + b"\0", "is too long: 3 × 2 × 2 uint8 elements take 28 bytes, but it has 29"),
        (idx((2**32 - 1,) * 200, ()), "is cut off"),
        (idx((1,) * 65, (7,)), "is not a valid array: maximum supported dimension"),
        (idx((0, 2**32 - 1, 2**32 - 1), ()), "is not a valid array: array is too big"),
        (gzip.compress(IMAGES, mtime=0)[:-9], "is a damaged gzip file"),
        (gzip.compress(IMAGES, mtime=0)[:-8] + b"\0" * 8, "is a damaged gzip file"),
        (gzip.compress(IMAGES, mtime=0)[:10] + b"\xff" * 30, "is a damaged gzip file"),
        (gzip.compress(IMAGES[:-1], mtime=0), "is cut off"),
    ],
)
def test_damaged_idx_files(tmp_path, content, said):
    write(tmp_path, train_images_dash=content, train_labels_dash=LABELS)
    text = complaint(read_data, tmp_path)
    assert said in text and "train-images-idx3-ubyte" in text and "hint: " in text


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"train_images_dash": IMAGES}, "there are no labels in its folder\nhint: their name must be `train-labels-"),
        ({"train_labels_gz": LABELS}, "there are no images in its folder"),
        ({"train_images_gz": IMAGES, "train_labels_gz": LABELS, "test_labels_gz": MORE_LABELS}, "`t10k-images-idx3"),
        ({"test_images_gz": MORE_IMAGES, "test_labels_gz": MORE_LABELS}, "holds a test set but no training set"),
        ({"train_images_gz": IMAGES, "train_labels_gz": MORE_LABELS}, "-ubyte.gz` holds 3 examples, but "),
        ({"train_images_gz": idx((0, 2, 2), ()), "train_labels_gz": idx((0,), ())}, "is empty: (0, 2, 2)"),
        ({"train_images_gz": idx((), (5,)), "train_labels_gz": LABELS}, "holds one number, not one for each example"),
        ({}, "holds no data\nhint: give an .npz file, or a folder with one or with idx files"),
    ],
)
def test_folders_that_lack_something(tmp_path, files, said):
    assert said in complaint(read_data, write(tmp_path, **files))


def test_nothing_there(tmp_path):
    said = complaint(read_data, tmp_path / "none")
    assert "there is no folder or file" in said and "`train-images-idx3-ubyte`" in said


@pytest.mark.parametrize("what", [None, 3, b"data"])
def test_wrong_paths(what):
    assert f"data must be the path of a folder or a file, not `{what!r}`" in complaint(read_data, what)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "train-images-idx3-ubyte").symlink_to(tmp_path)  # a folder: no file of that name
    assert "holds no data" in complaint(read_data, tmp_path)
    assert "cannot be read: File name too long" in complaint(read_data, "x" * 5000)


X, Y = numpy.arange(12.0).reshape(3, 4), numpy.array([0, 1, 2])


def test_npz_as_keras_has_it(tmp_path):
    numpy.savez(tmp_path / "mnist.npz", x_train=X, y_train=Y, x_test=X[:1], y_test=Y[:1])
    for place in (tmp_path, tmp_path / "mnist.npz"):
        train, test = read_data(place)
        assert train.x.tolist() == X.tolist() and train.y.tolist() == [0, 1, 2]
        assert test.x.tolist() == [[0, 1, 2, 3]] and test.y.tolist() == [0]


def test_npz_of_x_and_y(tmp_path):
    numpy.savez_compressed(tmp_path / "a.npz", x=X.astype(">f4"), y=Y, x_test=X, y_test=Y)
    train, test = read_data(tmp_path)
    assert train.x.dtype == "float32" and train.x.dtype.isnative and train.x.tolist() == X.tolist() and test.x.any()


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"x_train": X, "z": Y}, "lacks `y_train`: it holds `x_train`, `z`"),
        ({"a": X}, "lacks `x_train` and `y_train`: it holds `a`"),
        ({}, "it holds nothing"),
        ({"x": X, "y": Y, "x_test": X}, "lacks `y_test`"),
        ({"x": X, "y": Y[:2]}, "x` holds 3 examples, but `"),
        ({"x": X, "y": numpy.array(["a", "b", "c"])}, "y` holds <U1, which is not numeric"),
        ({"x": X, "y": numpy.array([{}, None, 3], object)}, "`y` in `"),
        ({"x": X[:0], "y": Y[:0]}, "is empty: (0, 4)"),
    ],
)
def test_npz_with_missing_arrays(tmp_path, arrays, said):
    numpy.savez(tmp_path / "a.npz", **arrays)
    assert said in complaint(read_data, tmp_path / "a.npz")


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("code of a file was run",))


def test_python_objects_are_never_loaded(tmp_path):
    numpy.savez(tmp_path / "a.npz", x=X, y=numpy.array([Trap(), Trap(), Trap()], object))
    assert "holds Python objects" in complaint(read_data, tmp_path)
    numpy.save(tmp_path / "b.npz.npy", numpy.array([Trap()], object))
    assert "is not an .npz file" in complaint(read_data, tmp_path / "b.npz.npy")


def test_damaged_npz(tmp_path):
    path = tmp_path / "a.npz"
    buffer = io.BytesIO()
    numpy.savez(buffer, x=numpy.arange(1000), y=numpy.arange(1000))
    whole = buffer.getvalue()
    place = whole.index(numpy.arange(5).tobytes())
    for content, said in [
        (b"", "is not an .npz file"),
        (b"some text", "is not an .npz file"),
        (whole[:-30], "is not an .npz file"),
        (whole[:place] + b"\xff" + whole[place + 1 :], "`x` in `"),
    ]:
        path.write_bytes(content)
        assert said in complaint(read_data, path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x", "text")
        archive.writestr("y", "text")
    assert "which is not numeric" in complaint(read_data, path)
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': ((((3,), }\n"  # NumPy takes it for Python's text
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header)
        archive.writestr("y.npy", b"")
    assert "`x` in `" in complaint(read_data, path)
    numpy.save(tmp_path / "c.npy", X)
    assert "holds a single array" in complaint(read_data, tmp_path / "c.npy")


@pytest.mark.parametrize("packed", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_in_compressed_arrays(tmp_path, packed):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", packed) as archive:
        for name in ("x", "y"):
            with archive.open(f"{name}.npy", "w") as file:
                numpy.save(file, numpy.arange(500))
    whole = path.read_bytes()
    for place in range(60, 100, 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        assert "damaged" in complaint(read_data, path) and "None" not in complaint(read_data, path)


def test_several_npz(tmp_path):
    for name in "ab":
        numpy.savez(tmp_path / f"{name}.npz", x=X, y=Y)
    assert "holds 2 .npz files: `a.npz`, `b.npz`" in complaint(read_data, tmp_path)


ROWS = numpy.arange(10)


def seen(batches, number):
    """The rows of an epoch, batch by batch, each checked against its label."""
    found = []
    for x, y in batches.epoch(number):
        assert x.tolist() == [[row, -row] for row in y.tolist()]
        found.append(y.tolist())
    return found


def order(batches, number):
    return [row for rows in seen(batches, number) for row in rows]


def batches(size, **settings):
    return Batches(numpy.stack([ROWS, -ROWS], axis=1), ROWS, size, **settings)


@pytest.mark.parametrize(
    ("size", "drop_last", "sizes"),
    [
        (4, False, [4, 4, 2]),
        (4, True, [4, 4]),
        (5, False, [5, 5]),
        (5, True, [5, 5]),
        (99, False, [10]),
        (1, True, [1] * 10),
    ],
)
@pytest.mark.parametrize("shuffle", [True, False])
def test_sizes_of_batches(size, drop_last, sizes, shuffle):
    made = batches(size, drop_last=drop_last, shuffle=shuffle)
    assert [len(each) for each in seen(made, 3)] == sizes and len(made) == len(sizes)


def test_an_epoch_has_each_row_once_in_its_own_order():
    made = batches(3)
    orders = [order(made, number) for number in range(4)]
    assert all(sorted(each) == ROWS.tolist() for each in orders)
    assert len(set(map(tuple, orders))) == 4 and ROWS.tolist() not in orders
    assert [order(batches(5), number) for number in (2, 0)] == [orders[2], orders[0]]  # no state, no size
    assert order(batches(3, seed=1), 0) not in orders
    assert [y.tolist() for _, y in made] == seen(made, 0)


def test_epochs_may_be_iterated_over_in_parallel():
    made = batches(3)
    pairs = list(zip(made.epoch(0), made.epoch(1), strict=True))
    assert [[y.tolist() for _, y in each] for each in zip(*pairs, strict=True)] == [seen(made, 0), seen(made, 1)]


def test_without_shuffle_rows_stay_in_order():
    assert seen(batches(4, shuffle=False), 5) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"size": 0}, "size must be a whole number of at least 1, not `0`"),
        ({"size": 2.5}, "not `2.5`"),
        ({"size": True}, "not `True`"),
        ({"size": 4, "seed": -1}, "seed must be a whole number of at least 0, not `-1`"),
        ({"size": 11, "drop_last": True}, "10 examples cannot fill a batch of 11"),
    ],
)
def test_wrong_batches(settings, said):
    assert said in complaint(lambda: batches(**settings))
    assert "lists of different lengths cannot form an array" in complaint(lambda: Batches([[1], [1, 2]], [0, 1], 1))
    assert "holds 10 examples, but `y` 9 labels" in complaint(lambda: Batches(ROWS, ROWS[:9], 4))
