"""`paramcount train` on small idx files: what it prints, keeps, refuses, and what is left where it is stopped."""

import gzip
import json
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from paramcount.cli.main import main

jax = pytest.importorskip("jax")
pytest.importorskip("optax")
pytest.importorskip("safetensors")
pytest.importorskip("tqdm")

SPEC = """\
name: Tiny
input: {image: [4, 4, 1]}
layers:
  - flatten
  - dense: {out: 8, norm: batch_norm, activation: relu}
  - dropout: 0.1
  - dense: 3
"""


MEASURED = "import sys; from paramcount.cli.main import main; sys.exit(main())"
GIVEN = f"import paramcount.backend.measure.peak as peak; peak.matmul_peak = lambda: 1e12; {MEASURED}"  # at once


def idx(array):
    """The content of an idx file of bytes."""
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.astype("uint8").tobytes()


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A folder with a spec, and in `data` images of 4 × 4 whose brightest row is their label."""
    folder = tmp_path_factory.mktemp("train")
    generator = numpy.random.default_rng(0)
    (folder / "tiny.yaml").write_text(SPEC)
    (folder / "data").mkdir()
    for split, count in (("train", 600), ("t10k", 100)):
        labels = generator.integers(0, 3, count)
        images = generator.integers(0, 120, (count, 4, 4))
        images[numpy.arange(count), labels] += 100
        (folder / "data" / f"{split}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
        (folder / "data" / f"{split}-labels-idx1-ubyte").write_bytes(idx(labels))
    return folder


@pytest.fixture(scope="module")
def trained(work):
    """The bytes of a checkpoint of one epoch."""
    file = work / "trained.safetensors"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paramcount.backend.measure.peak.matmul_peak", lambda: 1e12)
        assert main(["train", f"{work}/tiny.yaml", "--data", f"{work}/data", "--checkpoint", f"{file}"]) == 0
    return file.read_bytes()


@pytest.fixture
def checkpoint(trained, tmp_path):
    """A checkpoint of one epoch, alone in its folder."""
    file = tmp_path / "a.safetensors"
    file.write_bytes(trained)
    return file


@pytest.fixture
def train(work, capsys, monkeypatch):
    """A run in this process: its exit code, standard output and standard error."""

    def run(*options, spec="tiny.yaml", data="data"):
        monkeypatch.chdir(work)
        monkeypatch.setattr(
            "paramcount.backend.measure.peak.matmul_peak", lambda: 1e12
        )  # which takes its time to measure
        code = main(["train", spec, "--data", str(data), *map(str, options)])
        return code, *capsys.readouterr()

    return run


def tensors(path):
    from safetensors.numpy import load_file

    return load_file(path)


def same(left, right):
    left, right = tensors(left), tensors(right)
    return left.keys() == right.keys() and all((left[name] == right[name]).all() for name in left)


def test_axes_are_never_taken_for_others(train, work):
    spec = work / "rgb.yaml"
    spec.write_text("{input: {image: [2, 2, 3]}, layers: [flatten, dense: 2]}")
    for sizes, hint in (((3, 2, 2), "channels come last: `x.transpose(0, 2, 3, 1)`"), ((4, 3), "reshape them")):
        numpy.savez(work / "rgb.npz", x=numpy.zeros((4, *sizes)), y=[0, 1, 0, 1])
        code, _, said = train(spec=str(spec), data=work / "rgb.npz")
        error = f"error: the data's examples are {sizes}, and the network takes (2, 2, 3)\nhint: {hint}\n"
        assert (code, said) == (2, error)
    for sizes in ((12,), (2, 2, 1, 3)):
        numpy.savez(work / "rgb.npz", x=numpy.zeros((4, *sizes)), y=[0, 1, 0, 1])
        assert train(spec=str(spec), data=work / "rgb.npz")[0] == 0


def test_tokens_that_the_table_has_not(train, work):
    spec = work / "words.yaml"
    spec.write_text("{input: {tokens: [3]}, layers: [embedding: [5, 4], dense: 5]}")
    for token in (-1, 5, 2**32):
        numpy.savez(work / "words.npz", x=[[0, 1, 2], [4, token, 3]], y=[[0, 1, 2], [3, 4, 0]])
        code, _, said = train(spec=str(spec), data=work / "words.npz")
        assert code == 2 and said.startswith(
            f"error: `input` holds the token `{token}`, and `embedding0` has rows for 0 to 4\n"
        )


def test_it_trains_and_says_how_well_and_how_fast(train):
    code, out, err = train("--epochs", 5, "--batch", 50, "--lr", 0.2)
    assert code == 0 and err == ""  # no progress line where stderr is no terminal
    lines = out.splitlines()
    form = r"epoch (\d)  loss \d\.\d{4}  train (\d\.\d{4})  test (\d\.\d{4})  \d+\.\d\d s  [\d,]+ examples/s"
    epochs = [re.fullmatch(form, line) for line in lines[:5]]
    assert [match[1] for match in epochs] == list("01234")
    assert float(epochs[-1][2]) > 0.95 and float(epochs[-1][3]) > 0.95
    # 2 · (16·8 + 8·3) MACs forward, as many for the weights' gradients, and 8·3 for what arrives at the last layer
    flops = 2 * (2 * (16 * 8 + 8 * 3) + 8 * 3)
    assert lines[5] == f"Tiny: {flops} FLOPs per example in a training step; one example: image 4×4×1"
    speed = r"fastest epoch: [\d.]+ [kMG]FLOP/s, 0\.\d+% of a large matrix product's 1\.00 TFLOP/s"
    assert re.fullmatch(speed, lines[6])
    assert len(lines) == 7


def test_json_has_nothing_else_on_the_standard_output(train):
    code, out, err = train("--epochs", 2, "--batch", 50, "--format", "json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["schema"], found["name"], found["peak"], found["reduction"]) == (1, "Tiny", 1e12, None)
    assert [(each["number"], each["examples"]) for each in found["epochs"]] == [(0, 600), (1, 600)]
    assert all(0 <= each[name] <= 1 for each in found["epochs"] for name in ("train", "test"))


@pytest.mark.full
@pytest.mark.parametrize("peak", ["given", "measured"])
def test_a_terminal_sees_progress(work, peak):
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    command = [sys.executable, "-c", MEASURED if peak == "measured" else GIVEN]
    command += ["train", "tiny.yaml", "--data", "data", "--batch", "2", "--epochs", "2"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}  # as where a terminal's encoding is not known
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, cwd=work, env=environment)
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 65536):
            seen += part
    except OSError:  # on Linux the end, where nobody writes any more
        pass
    os.close(ours)
    out, _ = process.communicate()
    assert process.returncode == 0 and b"\r" not in out
    assert b"epoch 0 of 2:" in seen and b"/300 [" in seen and b"batch/s" in seen
    found = re.search(rb"\d% of a large matrix product's ([\d.]+ [GT]FLOP/s)\n$", out)
    assert found is not None and (found[1] == b"1.00 TFLOP/s") == (peak == "given")


def test_pytorchs_loader(train):
    pytest.importorskip("torch", reason="needs torch")
    plain = train("--no-shuffle", "--epochs", 2)
    theirs = train("--no-shuffle", "--epochs", 2, "--loader", "torch")
    assert [re.findall(r"\d\.\d{4}", line) for line in theirs[1].splitlines()[:2]] == [
        re.findall(r"\d\.\d{4}", line) for line in plain[1].splitlines()[:2]
    ]
    assert theirs[0] == 0 and theirs[2] == ""


def test_an_archive_of_arrays(train, tmp_path):
    generator = numpy.random.default_rng(1)
    labels = generator.integers(0, 3, 300)
    x = generator.random((300, 16)) + 2 * (numpy.arange(16) // 4 == labels[:, None])  # of any shape that fits
    numpy.savez(tmp_path / "rows.npz", x=x, y=labels)
    code, out, _ = train("--epochs", 3, "--batch", 30, "--lr", 0.2, data=tmp_path / "rows.npz")
    assert code == 0 and " test " not in out and float(re.findall(r"train (\d\.\d+)", out)[-1]) > 0.95


@pytest.mark.full
def test_resuming_is_going_on(train, tmp_path):
    whole, parts = tmp_path / "whole.safetensors", tmp_path / "parts.safetensors"
    options = ("--optimizer", "adam", "--lr", 0.01, "--batch", 64, "--seed", 3)
    _, out, _ = train("--epochs", 3, "--checkpoint", whole, *options)
    train("--epochs", 1, "--checkpoint", parts, *options)
    code, rest, _ = train("--epochs", 3, "--checkpoint", parts, "--resume", *options)
    assert code == 0 and same(whole, parts)
    numbers = [re.findall(r"\d\.\d{4}", line) for line in out.splitlines()[1:3]]
    assert [re.findall(r"\d\.\d{4}", line) for line in rest.splitlines()[:2]] == numbers

    before = parts.read_bytes()
    code, out, err = train("--epochs", 2, "--checkpoint", parts, "--resume", *options)
    assert (code, out) == (0, "") and parts.read_bytes() == before
    assert err == f"warning: `{parts}` holds 3 epochs already\nhint: `--epochs 4` trains one more\n"
    code, out, _ = train("--epochs", 2, "--checkpoint", parts, "--resume", "--format", "json", *options)
    assert code == 0 and json.loads(out)["resumed"] == len(json.loads(out)["epochs"]) == 3

    for other, words in (
        (("--seed", 4), "was trained with the seed 3, not 4"),
        (("--optimizer", "sgd"), "was trained with adam, not with sgd"),
        (("--freeze", "dense1"), "was trained with other frozen tensors: `dense1/bias` differs"),
    ):
        at = options.index(other[0]) if other[0] in options else len(options)
        changed = [*options[:at], *other, *options[at + 2 :]]
        code, out, err = train("--epochs", 4, "--checkpoint", parts, "--resume", *changed)
        assert (code, out) == (2, "") and words in err


@pytest.mark.full
def test_ctrl_c_leaves_the_last_whole_epoch(work, train, tmp_path):
    stopped, whole = tmp_path / "stopped.safetensors", tmp_path / "whole.safetensors"
    options = ["--batch", "2", "--optimizer", "adam", "--lr", "0.001"]
    command = [sys.executable, "-m", "paramcount", "train", "tiny.yaml", "--data", "data", *options]
    process = subprocess.Popen(
        [*command, "--epochs", "100000", "--checkpoint", stopped],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=work,
    )
    assert process.stdout.readline().startswith("epoch 0 ")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err == f"stopped; `{stopped}` holds the last whole epoch, `--resume` continues\n"
    assert [each.name for each in tmp_path.iterdir()] == [stopped.name]

    done = epochs_in(stopped)
    train("--epochs", done + 1, "--checkpoint", stopped, "--resume", *options)
    train("--epochs", done + 1, "--checkpoint", whole, *options)
    assert epochs_in(stopped) == done + 1 and same(stopped, whole)


def epochs_in(path):
    from safetensors import safe_open

    with safe_open(path, "numpy") as file:
        return len(json.loads(file.metadata()["epochs"]))


def test_ctrl_c_before_there_is_anything_to_keep(train, monkeypatch, tmp_path):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("paramcount.backend.train.step.Step.__call__", stop)
    assert train("--checkpoint", tmp_path / "a.safetensors") == (130, "", "stopped\n")


def test_a_checkpoint_that_cannot_be_written(train, tmp_path):
    code, out, err = train("--checkpoint", tmp_path / "missing" / "a.safetensors")
    assert (code, out) == (2, "") and err.endswith("cannot be written: No such file or directory\n")
    code, out, err = train("--checkpoint", tmp_path)
    assert (code, out) == (2, "") and err.endswith("cannot be written: Is a directory\n")
    code, out, err = train("--checkpoint", "/proc/a.safetensors")  # where nobody may write, not even root
    assert (code, out) == (2, "") and "cannot be written: " in err


@pytest.fixture
def no_cache():
    """JAX keeps no program that it compiles: on a full disk, it would keep a part of one."""
    least = jax.config.jax_persistent_cache_min_compile_time_secs
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 1e9)
    yield
    jax.config.update("jax_persistent_cache_min_compile_time_secs", least)


def test_a_full_disk_leaves_the_checkpoint_before(train, checkpoint, trained, no_cache):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(trained) // 2, limits[1]))
    try:
        code, _, err = train("--checkpoint", checkpoint, "--resume", "--epochs", 3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert code == 2 and "cannot be written: File too large\nhint: the existing file is unchanged" in err
    assert checkpoint.read_bytes() == trained and list(checkpoint.parent.iterdir()) == [checkpoint]


def test_a_loss_that_is_no_number(train, checkpoint, trained):
    code, _, err = train("--checkpoint", checkpoint, "--resume", "--lr", 1e38, "--epochs", 30)
    assert code == 1 and re.match(r"error: the loss of epoch 1 is (nan|inf); nothing was written\nhint: try a", err)
    assert checkpoint.read_bytes() == trained


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--lr", "0"), "a learning rate must be a positive number or an optax schedule, not `0.0`"),
        (("--lr", "-1"), "a learning rate must be a positive number"),
        (("--lr", "nan"), "a learning rate must be a positive number"),
        (("--lr", "fast"), "invalid float value: 'fast'"),
        (("--epochs", "0"), "`0` is not a whole number of at least 1"),
        (("--batch", "0"), "`0` is not a whole number of at least 1"),
        (("--batch", "1.5"), "`1.5` is not a whole number of at least 1"),
        (("--optimizer", "lion"), "unknown optimizer `lion`"),
        (("--loader", "tf"), "unknown loader `tf`"),
        (("--seed", "-1"), "seed must be a whole number of at least 0"),
        (("--staleness", "-1"), "staleness must be a whole number of at least 0"),
        (("--freeze", "conv*"), "no row to freeze is called `conv*`"),
        (("--resume",), "there is nothing to resume\nhint: name the checkpoint"),
        (("--epoch", "3"), "unknown option `--epoch`\nhint: did you mean `--epochs`?"),
    ],
    ids=" ".join,
)
def test_options_that_are_wrong(train, options, words):
    code, out, err = train(*options)
    assert (code, out) == (2, "") and words in err and "Traceback" not in err


def test_data_that_is_missing_or_does_not_fit(train, tmp_path):
    code, _, err = train(data=tmp_path / "none")
    assert code == 2 and "there is no folder or file" in err
    x = numpy.zeros((9, 5, 5), "uint8")
    y = numpy.arange(9) % 3
    numpy.savez(tmp_path / "large.npz", x=x, y=y)
    code, _, err = train(data=tmp_path / "large.npz")
    assert code == 2 and "the data's examples are (5, 5), and the network takes (4, 4, 1)" in err
    numpy.savez(tmp_path / "unlike.npz", x_train=x[:, :4, :4], y_train=y, x_test=x, y_test=y)
    code, _, err = train(data=tmp_path / "unlike.npz")
    assert code == 2 and "the data's examples are (5, 5), and the network takes (4, 4, 1)" in err
    numpy.savez(tmp_path / "labels.npz", x=x[:, :4, :4], y=y + 1)
    code, _, err = train("--no-shuffle", data=tmp_path / "labels.npz")
    assert code == 2 and "label `3` at [2] is out of range: 3 classes are numbered 0 to 2\nhint: subtract 1" in err
    with pytest.raises(SystemExit):
        sys.exit(main(["train", "tiny.yaml"]))


def test_specs_that_a_table_of_examples_does_not_feed(train, tmp_path):
    spec = tmp_path / "two.yaml"
    spec.write_text("inputs: {a: {features: 4}, b: {features: 4}}\nlayers:\n  - add: [a, b]\n  - dense: 3\n")
    code, _, err = train(spec=str(spec))
    assert code == 2 and "trains networks of one input\nhint: `pc.train` in Python takes any" in err
    spec.write_text("input: {tokens: [6]}\nlayers:\n  - embedding: {vocab: 5, out: 4}\n  - dense: 5\n")
    tokens = numpy.random.default_rng(0).integers(0, 5, (60, 6))
    numpy.savez(tmp_path / "text.npz", x=tokens.astype("uint8"), y=tokens)
    code, out, err = train(
        "--epochs", 20, "--optimizer", "adam", "--lr", 0.1, spec=str(spec), data=tmp_path / "text.npz"
    )
    assert (code, err) == (0, "") and "train 1.0000" in out  # it says what it reads
    numpy.savez(tmp_path / "halves.npz", x=tokens / 2, y=tokens)
    code, _, err = train(spec=str(spec), data=tmp_path / "halves.npz")
    assert code == 2 and "`input` must be tokens, as integers, not float" in err


@pytest.mark.parametrize(
    ("package", "options", "words"),
    [
        ("jax", (), "`train` needs JAX\nhint: pip install jax optax safetensors tqdm"),
        ("optax", (), "`training` needs optax\nhint: pip install jax optax safetensors tqdm"),
        ("tqdm", (), "`a progress line` needs tqdm\nhint: pip install jax optax safetensors tqdm"),
        (
            "safetensors",
            ("--checkpoint", "never.safetensors"),
            "`a checkpoint` needs safetensors\nhint: pip install jax optax safetensors tqdm",
        ),
        ("torch", ("--loader", "torch"), "`--loader torch` needs PyTorch\nhint: pip install torch"),
    ],
)
def test_a_missing_package_is_named_before_anything_is_trained(work, train, monkeypatch, package, options, words):
    monkeypatch.setitem(sys.modules, package, None)
    if package == "jax":  # what was loaded before is not asked again
        monkeypatch.delitem(sys.modules, "paramcount.backend.measure.peak", raising=False)
        monkeypatch.chdir(work)
    code, out, err = train(*options)
    assert (code, out, err) == (2, "", "error: " + words + "\n")
    assert not (work / "never.safetensors").exists()


def test_help(capsys):
    assert main(["train", "--help"]) == 0
    out = capsys.readouterr().out
    for option in ("--data", "--epochs", "--batch", "--lr", "--optimizer", "--loader", "--checkpoint", "--resume"):
        assert option in out
    assert max(map(len, out.splitlines())) <= 120


def test_mnist(train, tmp_path):
    """The real digits: the first 10,000, scored on all that are held out."""
    from paramcount.backend.data.data import read_data

    folder = os.environ.get("PARAMCOUNT_MNIST")
    if not folder or not Path(folder).is_dir():
        pytest.skip("PARAMCOUNT_MNIST names no folder with MNIST's four files")
    data = read_data(folder)
    rows = {"x_train": data.train.x[:10000], "y_train": data.train.y[:10000]}
    numpy.savez(tmp_path / "part.npz", x_test=data.test.x, y_test=data.test.y, **rows)
    code, out, err = train(
        "--epochs", 8, "--batch", 100, "--optimizer", "adam", "--lr", 0.001, spec="mlp", data=tmp_path / "part.npz"
    )
    assert (code, err) == (0, "")
    train_score, test_score = re.findall(r"epoch 7 .* train (\d\.\d+)  test (\d\.\d+)", out)[0]
    # 0.9978 to 0.999, by the processor's sums, and 0.958; with the first layer frozen they are 0.982 and 0.941, with
    # the second 0.996 and 0.953.
    assert float(train_score) > 0.997 and float(test_score) > 0.95
