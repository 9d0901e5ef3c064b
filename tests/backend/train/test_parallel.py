"""Data parallelism on eight devices of one host compared with one device; and the bytes that are summed."""

import json
import os
import re
import subprocess
import sys

import numpy
import pytest

from paramcount.backend.train.checkpoint import load
from paramcount.backend.train.parallel import Devices
from paramcount.backend.train.reduction import all_reduce_bytes, batch_statistics
from paramcount.backend.train.result import Reduction
from paramcount.cli.main import main
from paramcount.errors import ArgumentError
from paramcount.graph.freeze import training_graph
from paramcount.graph.network import Network
from paramcount.layers.batch_norm import BatchNorm
from paramcount.layers.dense import Dense

SCRIPT = """
import json
import numpy
import paramcount as pc

generator = numpy.random.default_rng(0)
images = generator.normal(size=(40, 8, 8, 3)).astype("float32")
flat = images.reshape(40, -1)[:, :12].copy()
steps = flat.reshape(40, 3, 4).copy()
classes = generator.integers(0, 4, 40)
conv = pc.Conv(8, 3, norm="batch_norm", activation="relu")
networks = {
    "mlp": ([pc.Dense(16, activation="relu"), pc.Dense(4)], flat, {"optimizer": "adam", "staleness": 1}),
    "convnet": ([conv, pc.MaxPool(2), pc.Dropout(0.4), pc.GlobalPool(), pc.Dense(4)], images, {"learning_rate": 0.3}),
    "frozen": ([pc.Dense(5), pc.BatchNorm(), pc.Dense(6), pc.BatchNorm(), pc.Dense(4)], flat, {"freeze": ["dense0"]}),
    "shared": ([pc.Repeat(3, [pc.Dense(12, activation="tanh")], share=True), pc.Dense(4)], flat, {}),
    "lstm": ([pc.Lstm(6), pc.GlobalPool(), pc.Dense(4)], steps, {}),
}
found = {}
for name, (items, x, settings) in networks.items():
    network = pc.Network(items, input=x.shape[1:])
    batches = [(x[:24], classes[:24]), (x[16:], classes[16:])]
    test = [(x[:13], classes[:13])]  # scored, though it is not divisible by eight
    for devices in (8,) if name in ("shared", "lstm") else (1, 8):
        result = pc.train(network, batches, epochs=2, test=test, devices=devices, **settings)
        found[f"{name} {devices}"] = {
            "epochs": [[epoch.loss, epoch.train, epoch.test] for epoch in result.epochs],
            "tensors": {
                f"{path}/{key}": numpy.asarray(array).tolist()
                for tree in (result.params, result.buffers)
                for path, each in tree.items()
                for key, array in each.items()
            },
            "reduction": result.reduction and [result.reduction.compiled, result.reduction.predicted],
        }
wide = generator.normal(size=(128, 784)).astype("float32")
batches = [(wide, generator.integers(0, 10, 128))] * 100
network = pc.Network([pc.Dense(512, activation="relu"), pc.Dense(10)], input=784)
result = pc.train(network, batches, devices=8)
found["long"] = [result.epochs[0].loss, result.epochs[0].train]
network = pc.Network([pc.Dense(4)], input=12)
for size, devices in ((20, 8), (24, 16)):
    try:
        pc.train(network, [(flat[:24], classes[:24]), (flat[:size], classes[:size])], devices=devices)
    except pc.ArgumentError as error:
        found[f"error {size}"] = str(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found():
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.full
@pytest.mark.parametrize("name", ["mlp", "convnet", "frozen"])
def test_eight_devices_train_as_one(found, name):
    one, eight = found[f"{name} 1"], found[f"{name} 8"]
    numpy.testing.assert_allclose(eight["epochs"], one["epochs"], rtol=2e-5)
    assert one["tensors"].keys() == eight["tensors"].keys()
    for tensor, values in one["tensors"].items():
        numpy.testing.assert_allclose(eight["tensors"][tensor], values, rtol=1e-3, atol=2e-5, err_msg=tensor)
    (before, _, _), (after, _, _) = one["epochs"]
    assert after != before and one["reduction"] is None


@pytest.mark.parametrize(
    ("name", "trained", "besides"),
    [
        ("mlp", 12 * 16 + 16 + 16 * 4 + 4, 0),
        ("convnet", 27 * 8 + 2 * 8 + 8 * 4 + 4, 5 * 8),
        ("frozen", 2 * 5 + 5 * 6 + 6 + 2 * 6 + 6 * 4 + 4, 2 * 5 + 5 * 6),  # nothing trained is before the first norm
    ],
)
def test_bytes_are_those_predicted(found, name, trained, besides):
    assert found[f"{name} 8"]["reduction"] == [4 * (trained + 1 + besides)] * 2


def test_bytes_of_weights_that_are_used_again(found):
    trained = 12 * 12 + 12 + 12 * 4 + 4
    compiled, predicted = found["shared 8"]["reduction"]
    assert predicted == 4 * (trained + 1)
    assert compiled in (predicted, predicted + 4 * 2 * (12 * 12 + 12))  # as XLA sums before, or after
    compiled, predicted = found["lstm 8"]["reduction"]
    assert predicted < compiled <= 3 * predicted  # the hidden state's weights in each of three steps


def test_many_steps_in_a_row(found):
    """Products of this size run in a pool of threads, where steps that overtake each other would block it."""
    loss, score = found["long"]
    assert 0 < loss < 1.5 and score > 0.9


def test_batches_that_cannot_be_divided(found):
    assert found["error 20"].startswith("a batch of 20 cannot be divided by 8 devices\nhint: choose a batch")
    assert found["error 24"] == (
        "16 devices are requested, but JAX finds 8 (cpu)\n"
        "hint: XLA_FLAGS=--xla_force_host_platform_device_count=16 in the environment splits a CPU into that many"
    )


@pytest.mark.parametrize("number", [0, -1, 2.0, True, "8", None])
def test_wrong_numbers_of_devices(number):
    with pytest.raises(ArgumentError, match=re.escape(f"devices must be a whole number of at least 1, not `{number}`")):
        Devices(number)


class Device:
    platform = "gpu"

    def __init__(self, process_index):
        self.process_index = process_index


@pytest.mark.parametrize(
    ("there", "number", "said"),
    [
        (
            [0, 1],
            3,
            "devices=3 cannot be divided by 2 processes\nhint: give a multiple of 2: each has the same number",
        ),
        (
            [0, 1],
            1,
            "devices=1 cannot be divided by 2 processes\nhint: give a multiple of 2: each has the same number",
        ),
        ([0, 0, 0, 1], 4, "4 devices are requested, but JAX finds 4 (gpu) in 2 processes, and each needs 2"),
    ],
)
def test_devices_of_processes(monkeypatch, there, number, said):
    monkeypatch.setattr("jax.devices", lambda: list(map(Device, there)))
    monkeypatch.setattr("jax.process_count", lambda: 2)
    with pytest.raises(ArgumentError) as caught:
        Devices(number)
    assert str(caught.value) == said


HEAD = """HloModule jit_run, num_partitions=8

FileNames
1 "a = b all-reduce("
"""


def program(*lines, more=""):
    text = "\n".join(f"  {line}" for line in lines)
    return f"{HEAD}\n{more}\nENTRY %main (a: f32[]) -> f32[] {{\n{text}\n}}\n"


TAIL = "channel_id=1, replica_groups={{0,1}}, to_apply=%add"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"%r = f32[784,10]{{1,0}} all-reduce(%a), {TAIL}", 4 * 784 * 10),
        (f"ROOT %r.1 = f32[] all-reduce(f32[] %a), {TAIL}", 4),
        (f"r = bf16[3,5]{{1,0:T(8,128)(2,1)S(1)}} all-reduce(a), {TAIL}", 2 * 15),
        (f"%r = (f32[7]{{0}}, /*index=1*/pred[3]{{0}}, f8e4m3fn[5]{{0}}) all-reduce(%a, %b, %c), {TAIL}", 28 + 3 + 5),
        (f"%r = (s4[3]{{0:E(4)}}, c64[2]{{0}}, u64[1,1]{{1,0}}) all-reduce(%a, %b, %c), {TAIL}", 2 + 16 + 8),
        (f"%r = (bf16[7]{{0}}, f32[2]{{0}}) all-reduce-start(%a, %b), {TAIL}", 14 + 8),
        (f"%r = f32[0,4]{{1,0}} all-reduce(%a), {TAIL}", 0),
        (f"%r = f32[<=6,2]{{1,0}} all-reduce(%a), {TAIL}", 48),
        ("%r = (bf16[7]{0}, f32[2]{0}) all-reduce-done(%r.2)", 0),
        ("%r = f32[8]{0} all-gather(%all-reduce.3), dimensions={0}", 0),
        ("%r = f32[2]{0} reduce-scatter(%a), dimensions={0}, to_apply=%add", 0),
        ("%all-reduce.1 = f32[8]{0} get-tuple-element(%all-reduce.3), index=0", 0),
        ('%r = f32[8]{0} add(%a, %b), metadata={op_name="f32[9] all-reduce(a)"}', 0),
        (f"%r = opaque[] all-reduce(%a), {TAIL}", None),
        (f"%r = new_type[4]{{0}} all-reduce(%a), {TAIL}", None),
    ],
)
def test_lines_of_programs(line, expected):
    assert all_reduce_bytes(program(line)) == expected


BODY = f"%body (p: (s32[], f32[3])) -> (s32[], f32[3]) {{\n  %s = f32[3]{{0}} all-reduce(%g), {TAIL}\n}}\n"
LOOP = "%w = (s32[], f32[3]{0}) while(%t), condition=%less, body=%body"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([LOOP + ', backend_config={"known_trip_count":{"n":"5"},"other":{"n":"7"}}'], 5 * 12),
        ([LOOP], None),  # until a condition holds
        ([LOOP.replace("body=%body", "body=%other")], 0),
        (["%c = f32[3] call(%a), to_apply=%body", "%d = f32[3] call(%c), to_apply=%body"], 24),
        (["%c = f32[3] conditional(%p, %a, %b), branch_computations={%other, %body}"], None),
        (["%c = f32[3] conditional(%p, %a, %b), true_computation=%other, false_computation=%other"], 0),
        (["%s = ((f32[3]), f32[3]) async-start(%a), calls=%body", "%d = f32[3] async-done(%s), calls=%body"], 12),
    ],
)
def test_what_programs_call(lines, expected):
    assert all_reduce_bytes(program(*lines, more=BODY)) == expected


def test_a_text_that_is_not_a_program():
    assert all_reduce_bytes("") is None


def test_statistics_of_batch_norms():
    items = [BatchNorm(), Dense(10), BatchNorm(), Dense(4), BatchNorm(affine=False)]
    network = Network(items, input=3)
    assert batch_statistics(training_graph(network)) == 2 * 3 + 5 * 10 + 5 * 4
    assert batch_statistics(training_graph(network, ["dense0", "batch_norm?"])) == 2 * 3 + 2 * 10 + 5 * 4


def test_reduction():
    reduction = Reduction(8, 1236, trained=268, statistics=40)
    assert (reduction.predicted, reduction.ring) == (1236, 2163)  # 2 · 7/8 · 1236
    assert str(reduction) == (
        "all-reduce over 8 devices: 1,236 bytes a step in the compiled program, predicted 4 · (268 + 1 + 40 of batch "
        "norms) = 1,236; in a ring each sends 2,163"
    )
    unknown = Reduction(2, None, 9)
    assert unknown.ring is None
    assert (
        str(unknown) == "all-reduce over 2 devices: predicted 4 · (9 + 1) = 40 bytes a step; the program does not say"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--batch 99 --devices 8", "a batch of 50 cannot be divided by 8 devices\nhint: `--batch 48 --drop-last` fits"),
        ("--batch 6 --devices 3", "examples are a batch of 2, which cannot be divided by 3 devices"),
        ("--batch 5 --devices 2", "a batch of 5 cannot be divided by 2 devices\nhint: `--batch 4` fits"),
        ("--batch 2 --devices 4", "a batch of 2 cannot be divided by 4 devices\nhint: `--batch 4 --drop-last` fits"),
        ("--batch 500 --devices 64", "a batch of 50 cannot be divided by 64 devices\nhint: give fewer devices"),
        ("--batch 16 --devices 8", "the last of 50 examples are a batch of 2, which cannot be divided by 8 devices"),
        ("--batch 16 --devices 8", "hint: `--drop-last` leaves 2 out, others in each epoch"),
        ("--batch 16 --devices 4096 --drop-last", "a batch of 16 cannot be divided by 4096 devices\nhint: give fewer"),
    ],
)
def test_the_command_says_at_once_what_cannot_be_divided(tmp_path, capsys, options, said):
    numpy.savez(tmp_path / "data.npz", x_train=numpy.zeros((50, 784), "uint8"), y_train=numpy.zeros(50, int))
    assert main(["train", "mlp", "--data", str(tmp_path / "data.npz"), *options.split()]) == 2
    out, err = capsys.readouterr()
    assert said in err and out == ""


@pytest.mark.full
def test_the_command_leaves_out_a_shorter_last_batch(tmp_path):
    numpy.savez(tmp_path / "data.npz", x_train=numpy.zeros((7, 784), "uint8"), y_train=numpy.array([3] * 7))
    path = str(tmp_path / "data.npz")
    assert main(["train", "mlp", "--data", path, "--batch", "4", "--drop-last", "--checkpoint", f"{path}.kept"]) == 0
    ((*_, examples),) = json.loads(load(f"{path}.kept")[1]["epochs"])
    assert examples == 4
