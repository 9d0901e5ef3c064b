"""Checkpoints: what is in the file, that it is written completely or not at all, and which network it fits."""

import errno
import json
import os
import subprocess
import sys

import jax
import numpy
import pytest
from jax import numpy as jnp

import paramcount as pc
from paramcount.backend.run.initialize import initialize
from paramcount.backend.train.checkpoint import load, restore, save
from paramcount.errors import ArgumentError

pytest.importorskip("safetensors")

SMALL = {"params": {"dense0": {"weight": numpy.arange(6, dtype="float32").reshape(2, 3)}}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.safetensors"


def complaint(call, *args, **named):
    with pytest.raises(ArgumentError) as caught:
        call(*args, **named)
    assert caught.value.exit_code == 2
    return str(caught.value)


def same(left, right):
    """Whether two trees have the same structure, types and bits."""
    assert jax.tree.structure(left) == jax.tree.structure(right)
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        if jnp.issubdtype(a.dtype, jax.dtypes.prng_key):
            a, b = jax.random.key_data(a), jax.random.key_data(b)
        assert numpy.asarray(a).tobytes() == numpy.asarray(b).tobytes()
    return True


def test_the_file_is_as_the_format_says(path):
    state = (jnp.int32(7), {"b": jnp.ones(2, "bfloat16"), "a": numpy.array([True, False])})
    save(path, SMALL | {"buffers": {"norm0": {"mean": jnp.zeros(1)}}, "optimizer": state}, {"epoch": "2"})
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    assert header.pop("__metadata__") == {"epoch": "2"}
    found = {name: (each["dtype"], each["shape"], data[slice(*each["data_offsets"])]) for name, each in header.items()}
    assert found == {
        "dense0/weight": ("F32", [2, 3], numpy.array([[0, 1, 2], [3, 4, 5]], "<f4").tobytes()),
        "norm0/mean": ("F32", [1], bytes(4)),
        "optimizer[0]": ("I32", [], b"\7\0\0\0"),
        "optimizer[1]": ("BOOL", [2], b"\1\0"),
        "optimizer[2]": ("BF16", [2], b"\x80\x3f\x80\x3f"),
    }


TYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "bfloat16", "float32", "complex64")


@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 2)])
def test_all_types_come_back_bit_for_bit(path, shape):
    generator = numpy.random.default_rng(0)
    tree = {}
    for name in TYPES:
        dtype = jnp.dtype(name)
        bits = generator.integers(0, 2 if name == "bool" else 256, (*shape, dtype.itemsize), numpy.uint8)
        tree[name] = bits.view(dtype).reshape(shape)  # NaN, infinity and the like among them
    save(path, {"params": {"all": tree}}, {})
    arrays, meta = load(path)
    assert meta == {} and arrays.keys() == {f"all/{name}" for name in TYPES}
    assert same({name: arrays[f"all/{name}"] for name in TYPES}, tree)
    assert same(restore(arrays, {"params": {"all": jax.tree.map(numpy.zeros_like, tree)}})["params"]["all"], tree)


def test_arrays_that_are_not_in_row_major_order(path):
    grid = numpy.arange(12.0).reshape(3, 4)
    save(path, {"params": {"a": {"turned": grid.T, "some": grid[::2, 1:3], "large": grid.astype(">f8")}}}, {})
    arrays, _ = load(path)
    assert arrays["a/turned"].tolist() == grid.T.tolist() and arrays["a/some"].tolist() == [[1, 2], [9, 10]]
    assert arrays["a/large"].tolist() == grid.tolist()


def network(*names, out=4):
    return pc.Network(
        [pc.With(pc.Repeat(2, [pc.Dense(out, norm="batch_norm")]), name=name) for name in names], input=out
    )


def test_names_of_all_sorts(path):
    params, buffers = initialize(network("optimizer", "a/b", "a:b ", "ü-層\n", "", "__metadata__", "step").graph())
    assert any("[" in name for name in params)
    trees = {"params": params, "buffers": buffers, "optimizer": (jnp.arange(3), jnp.float32(2)), "step": jnp.int32(5)}
    save(path, trees, {"ü\n": "層"})
    arrays, meta = load(path)
    assert meta == {"ü\n": "層"} and len(arrays) == len(jax.tree.leaves(trees))
    assert same(restore(arrays, jax.tree.map(jnp.zeros_like, trees)), trees)


def test_two_tensors_of_the_same_name(path):
    tree = {"a": {"b/c": numpy.ones(1)}, "a/b": {"c": numpy.ones(1)}}
    assert "two tensors have the name `a/b/c`" in complaint(save, path, {"params": tree}, {})


def test_types_that_cannot_be_stored(path):
    for dtype, said in (("complex128", "cannot be written: "), ("float8_e5m2", "`a/b` is float8_e5m2")):
        tree = {"params": {"a": {"b": numpy.ones(1, jnp.dtype(dtype))}}}
        assert said in complaint(save, path, tree, {}) and not path.exists()


def test_an_optimizer_continues_bit_for_bit(path):
    optax = pytest.importorskip("optax")
    optimizer = optax.chain(optax.add_noise(0.1, 0.5, 3), optax.adamw(optax.cosine_decay_schedule(0.1, 50)))

    @jax.jit
    def step(params, state):
        gradient = jax.grad(lambda p: sum((x**2).sum() for x in jax.tree.leaves(p)))(params)
        updates, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), state

    params, buffers = initialize(network("a").graph())
    start = {"params": params, "buffers": buffers, "optimizer": optimizer.init(params)}
    state = start["optimizer"]
    for number in range(6):
        if number == 3:
            save(path, {"params": params, "buffers": buffers, "optimizer": state}, {})
        params, state = step(params, state)
    again = restore(load(path)[0], start)
    mine, theirs = again["params"], again["optimizer"]
    for _ in range(3):
        mine, theirs = step(mine, theirs)
    assert same((mine, theirs), (params, state))


def test_python_numbers_are_what_jax_makes_of_them(path):
    state = (3, 0.5, True, None)
    save(path, {"optimizer": state}, {})
    assert same(restore(load(path)[0], {"optimizer": state})["optimizer"], jax.tree.map(jnp.asarray, state))


def test_restoring_only_some_trees(path):
    save(path, SMALL | {"optimizer": jnp.ones(3), "step": jnp.int32(1)}, {})
    assert same(restore(load(path)[0], SMALL), jax.tree.map(jnp.asarray, SMALL))


def test_another_network(path):
    weight, bias = numpy.zeros((2, 3), "float32"), numpy.zeros(3, "float32")
    save(path, {"params": {f"dense{i}": {"weight": weight, "bias": bias} for i in range(2)}}, {})
    arrays, _ = load(path)

    def said(**layers):
        return complaint(restore, arrays, {"params": layers}).partition("\n")[0]

    first = {"weight": weight, "bias": bias}
    start = "the checkpoint belongs to another network: "
    assert said(dense0=first, dense1={"weight": weight}) == start + "it also has `dense1/bias`"
    assert said(dense0=first, dense1=first, dense2={"bias": bias}) == start + "it lacks `dense2/bias`"
    wide = {"weight": numpy.zeros((2, 4), "float32"), "bias": bias}
    assert said(dense0=first, dense1=wide) == start + "`dense1/weight` is (2, 3) instead of (2, 4)"
    half = {"weight": weight, "bias": bias.astype("float16")}
    assert said(dense0=half, dense1=first) == start + "`dense0/bias` is float32 instead of float16"
    many = {f"conv{i}": {"weight": weight} for i in range(9)}
    assert (
        said(**many) == start + "it lacks `conv0/weight`, it lacks `conv1/weight`, it lacks `conv2/weight`, and 10 more"
    )


def test_another_optimizer_or_training(path):
    save(path, SMALL | {"optimizer": (jnp.zeros((2, 3)), jnp.int32(0)), "earlier": (jnp.ones(2),)}, {})
    arrays, _ = load(path)

    def said(optimizer, earlier=1):
        trees = SMALL | {"optimizer": optimizer, "earlier": [jnp.ones(2)] * earlier}
        return complaint(restore, arrays, trees).partition("\n")[0]

    start = "the checkpoint belongs to another optimizer: "
    assert said(()) == start + "it also has `optimizer[0]`, it also has `optimizer[1]`"
    assert said((jnp.zeros((2, 3)), jnp.int32(0), jnp.ones(2))) == start + "it lacks `optimizer[2]`"
    assert said((jnp.zeros((2, 3)), jnp.float32(0))) == start + "`optimizer[1]` is int32 instead of float32"
    fits = (jnp.zeros((2, 3)), jnp.int32(0))
    assert said(fits, 0) == "the checkpoint belongs to another training run: it also has `earlier[0]`"


def test_files_that_are_not_checkpoints(tmp_path, path):
    assert f"`{path}` cannot be read: No such file or directory" in complaint(load, path)
    assert "cannot be read: Is a directory" in complaint(load, tmp_path)
    save(path, SMALL, {"a": "b"})
    whole = path.read_bytes()
    odd = json.dumps({"a": {"dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1]}}).encode()
    unknown = len(odd).to_bytes(8, "little") + odd + b"\0"
    for content in (b"", b"text", b"some longer text " * 9, whole[:9], whole[:60], whole[:-1], whole + b"\0", unknown):
        path.write_bytes(content)
        assert "is not a safetensors file, or is incomplete" in complaint(load, path)


def test_a_failed_write_leaves_the_last_file(path, monkeypatch):
    save(path, SMALL, {"epoch": "1"})

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        said = complaint(save, path, SMALL, {"epoch": "2"})
    assert said == f"`{path}` cannot be written: No space left on device\nhint: the existing file is unchanged"
    assert os.listdir(path.parent) == [path.name] and load(path)[1] == {"epoch": "1"}


def test_an_interrupted_write_leaves_the_last_file(path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt  # as Python does for a signal, unless it is ignored, as in the background of a shell

    save(path, SMALL, {"epoch": "1"})
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(os, name, interrupted)
            save(path, SMALL, {"epoch": "2"})
        assert os.listdir(path.parent) == [path.name] and load(path)[1] == {"epoch": "1"}


def test_a_file_is_on_the_disk_before_it_has_its_name(path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor):
        calls.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else os.fstat(descriptor).st_size)
        fsync(descriptor)

    def replaced(*names):
        calls.append("replace")
        replace(*names)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    save(path, SMALL, {})
    if os.path.isdir("/proc/self/fd"):
        assert calls == [path.stat().st_size, "replace", "folder"]


def test_places_that_cannot_be_written(tmp_path, path):
    said = complaint(save, tmp_path / "none" / "a", SMALL, {})
    assert said == f"`{tmp_path}/none/a` cannot be written: No such file or directory"
    assert "cannot be written: Is a directory" in complaint(save, tmp_path, SMALL, {})
    save(path, SMALL, {})
    assert "cannot be written: Not a directory" in complaint(save, path / "a", SMALL, {})
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_only_files_are_replaced(tmp_path):
    network, batches = pc.Network([pc.Dense(2)], input=2), [(numpy.ones((2, 2), numpy.float32), [0, 1])]
    os.mkfifo(tmp_path / "pipe")  # as /dev/null is
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "link"):
        path = tmp_path / name
        said = f"`{path}` cannot be written: it is a device or a pipe, not a file"
        assert complaint(save, path, SMALL, {}) == complaint(pc.train, network, batches, checkpoint=path) == said
    assert (tmp_path / "pipe").is_fifo()


def test_the_longest_file_name_and_a_wrong_one(tmp_path):
    path = tmp_path / ("é" * 127)  # 254 bytes, and 255 are the most
    save(path, SMALL, {})
    assert os.listdir(tmp_path) == [path.name]
    network, batches = pc.Network([pc.Dense(2)], input=2), [(numpy.ones((2, 2), numpy.float32), [0, 1])]
    assert complaint(pc.train, network, batches, checkpoint="a\0b") == "`a\\x00b` cannot be written: embedded null byte"


def test_a_link_is_kept_and_its_target_replaced(tmp_path, path):
    (tmp_path / "link").symlink_to(path)
    save(tmp_path / "link", SMALL, {})
    assert (tmp_path / "link").is_symlink() and load(path)[0].keys() == {"dense0/weight"}


START = """
import os, random, resource, signal, sys, time
import numpy
from paramcount.backend.train.checkpoint import load, save
path = sys.argv[1]
def write(number, size):
    save(path, {"params": {"a": {"b": numpy.full(size, number, "int32")}}}, {"number": str(number)})
def whole():
    arrays, meta = load(path)
    assert (arrays["a/b"] == int(meta["number"])).all()
    return int(meta["number"])
"""
FULL = """
write(1, 100)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write(2, 100_000)
except Exception as error:
    print(error)
print(whole(), os.listdir(os.path.dirname(path)))
"""
KILLED = """
write(0, 500_000)
for start in range(100, 900, 100):
    child = os.fork()
    if not child:
        for number in range(start, start + 90):
            write(number, 500_000)
        os._exit(0)
    while whole() < start:
        pass
    time.sleep(random.uniform(0, 0.05))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(whole())
"""


def run(source, path):
    done = subprocess.run([sys.executable, "-c", START + source, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_full_disk(path):
    pytest.importorskip("resource")
    said = f"`{path}` cannot be written: File too large\nhint: the existing file is unchanged\n"
    assert run(FULL, path) == f"{said}1 ['{path.name}']\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_run_leaves_a_complete_file(path):
    numbers = [int(line) for line in run(KILLED, path).split()]
    assert [number // 100 for number in numbers] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_missing_safetensors_is_reported(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    for call in (lambda: save(path, SMALL, {}), lambda: load(path)):
        with pytest.raises(pc.ParamcountError, match="`a checkpoint` needs safetensors\nhint: pip install"):
            call()
