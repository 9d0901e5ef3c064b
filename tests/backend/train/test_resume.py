"""Resuming from a checkpoint: the result is the same bit for bit, and a checkpoint of another run is refused."""

import json
import pathlib
import re

import jax
import numpy
import optax
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import save_file

import paramcount as pc
from paramcount.backend.train.checkpoint import load
from paramcount.errors import ArgumentError, CheckError
from paramcount.render.replacement import beside

GENERATOR = numpy.random.default_rng(5)
X = GENERATOR.standard_normal((20, 4), numpy.float32)
Y = GENERATOR.integers(0, 3, 20)
NETWORK = pc.Network([pc.Dense(3)], input=4)
PAIRS = [(X[:10], Y[:10]), (X[10:], Y[10:])]
MIXED = pc.Network(
    [
        pc.Dense(8, norm="batch_norm", activation="relu"),
        pc.Dropout(0.3),
        pc.With(pc.Dense(8), frozen=True),
        pc.Dense(3),
    ],
    input=4,
)


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


@pytest.mark.parametrize(
    ("loader", "optimizer", "staleness"), [("Batches", "adam", 0), ("torch_batches", "momentum", 2)]
)
def test_stopping_and_resuming_changes_no_bit(loader, optimizer, staleness, tmp_path):
    if loader == "torch_batches":
        pytest.importorskip("torch", reason="needs torch")
    batches = getattr(pc.data, loader)(X, Y, 10, seed=2)
    settings = {"optimizer": optimizer, "staleness": staleness, "test": PAIRS, "seed": 2}
    whole = pc.train(MIXED, batches, epochs=4, **settings)
    file = tmp_path / "half.safetensors"
    half = pc.train(MIXED, batches, epochs=2, checkpoint=file, **settings)
    assert figures(half)[0] == figures(whole)[0][:2]
    same(pc.train(MIXED, batches, epochs=4, checkpoint=file, resume=True, **settings), whole)


def test_resuming_a_finished_run_does_nothing(tmp_path):
    settings = {"epochs": 2, "checkpoint": str(tmp_path / "a.safetensors")}
    done = pc.train(NETWORK, PAIRS, **settings)
    content, reported = (tmp_path / "a.safetensors").read_bytes(), []
    same(pc.train(NETWORK, PAIRS, resume=True, on_epoch=reported.append, **settings), done)
    assert not reported and (tmp_path / "a.safetensors").read_bytes() == content


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    file = tmp_path / "a.safetensors"
    settings = {"checkpoint": file, "optimizer": "momentum"}
    pc.train(MIXED, PAIRS, **settings)

    def refused(network=MIXED, **other):
        return complaint(network=network, epochs=2, resume=True, **(settings | other))

    assert "was trained with the seed 0, not 1" in refused(seed=1)
    assert "was trained with momentum, not with adam" in refused(optimizer="adam")
    assert "not with a transformation of optax" in refused(optimizer=optax.sgd(0.01))
    assert "another network" in refused(pc.Network([pc.With(pc.Dense(8), name="other"), pc.Dense(3)], input=4))
    assert "another training run: it lacks `earlier[0]`" in refused(staleness=1)
    assert "was trained with other frozen tensors: `dense2/bias` differs" in refused(freeze=["dense2"])
    assert "cannot be read: No such file" in refused(checkpoint=tmp_path / "b.safetensors")
    file.write_bytes(file.read_bytes()[:-1])
    assert "or is incomplete" in refused()


@pytest.mark.parametrize("key", ["seed", "optimizer", "frozen", "epochs"])
def test_odd_texts_in_a_checkpoint_are_escaped(tmp_path, key):
    file, odd = tmp_path / "a.safetensors", "\x1b[31m\x07\u202e\x85\nINJECTED"
    pc.train(NETWORK, PAIRS, checkpoint=file, optimizer="sgd")
    arrays, meta = load(file)
    number = json.loads(meta["epochs"])[0]
    texts = {"frozen": json.dumps([odd]), "epochs": json.dumps([[odd, *number[1:]]])}
    save_file(arrays, file, meta | {key: texts.get(key, odd)})
    message = complaint(epochs=2, resume=True, checkpoint=file, optimizer="sgd")
    assert not re.search("[\x1b\x07\u202e\x85]|^.?INJECTED", message, re.M)
    assert ("INJECTED" in message) == (key in ("optimizer", "frozen"))


def test_another_freeze_is_noticed_without_optimizer_state(tmp_path):
    settings = {"checkpoint": tmp_path / "a.safetensors", "optimizer": "sgd"}
    pc.train(NETWORK, PAIRS, **settings)
    assert "was trained with other frozen tensors" in complaint(epochs=2, resume=True, freeze=["dense0"], **settings)


def test_another_transformation(tmp_path):
    file = tmp_path / "a.safetensors"
    pc.train(NETWORK, PAIRS, checkpoint=file, optimizer=optax.adam(0.01))
    assert "another optimizer" in complaint(epochs=2, resume=True, checkpoint=file, optimizer=optax.sgd(0.01))


def test_a_checkpoint_is_not_replaced_by_another_training(tmp_path):
    file = tmp_path / "a.safetensors"
    pc.train(NETWORK, PAIRS, checkpoint=file)
    before = file.read_bytes()
    assert "there is already a checkpoint" in complaint(checkpoint=file)
    assert file.read_bytes() == before


def test_weights_come_back(tmp_path):
    file = tmp_path / "a.safetensors"
    result = pc.train(MIXED, PAIRS, checkpoint=file, optimizer="adam")
    result.save(tmp_path / "saved.safetensors")
    for path in (file, tmp_path / "saved.safetensors"):
        params, buffers = pc.load_checkpoint(path, MIXED)
        jax.tree.map(numpy.testing.assert_array_equal, (params, buffers), (result.params, result.buffers))
    with pytest.raises(pc.ArgumentError, match="another network"):
        pc.load_checkpoint(file, NETWORK)


def test_the_rate_is_that_of_this_run(tmp_path):
    settings = {"checkpoint": tmp_path / "a.safetensors"}
    first = pc.train(NETWORK, PAIRS, epochs=2, **settings)
    assert pc.train(NETWORK, PAIRS, epochs=2, resume=True, **settings).rate is None
    after = pc.train(NETWORK, PAIRS, epochs=3, resume=True, **settings)
    assert after.epochs[:2] == first.epochs
    assert after.rate == after.flops * after.epochs[2].examples / after.epochs[2].seconds


def test_nothing_to_resume():
    assert "name the checkpoint" in complaint(resume=True)


def test_a_checkpoint_that_cannot_be_written_is_known_before_the_first_step(tmp_path):
    def never():
        raise AssertionError("trained")
        yield

    assert "No such file" in complaint(never(), checkpoint=tmp_path / "missing" / "a.safetensors")
    assert "Is a directory" in complaint(never(), checkpoint=tmp_path)
    assert "`checkpoint` must be a path, not `5`" in complaint(never(), checkpoint=5)
    assert not list(tmp_path.iterdir())


def test_a_loss_that_is_not_finite_leaves_the_checkpoint(tmp_path):
    file = tmp_path / "a.safetensors"
    pc.train(NETWORK, PAIRS, checkpoint=file)
    before = file.read_bytes()
    wrong = [*PAIRS, (X * numpy.nan, Y)]
    message = complaint(wrong, error=CheckError, checkpoint=file, resume=True, epochs=2)
    assert message.startswith("the loss of epoch 1 is nan; nothing was written\nhint: ")
    assert file.read_bytes() == before and [each.name for each in tmp_path.iterdir()] == [file.name]


def test_paths_may_be_text_or_objects(tmp_path):
    settings = {"checkpoint": str(tmp_path / "a.safetensors")}
    pc.train(NETWORK, PAIRS, **settings)
    same(
        pc.train(NETWORK, PAIRS, resume=True, checkpoint=pathlib.Path(settings["checkpoint"])), pc.train(NETWORK, PAIRS)
    )


def test_two_trainings_do_not_write_one_checkpoint(tmp_path):
    file = tmp_path / "a.safetensors"
    said = []

    def again(epoch):
        for name, settings in ((file, {"resume": True, "epochs": 3}), (tmp_path / "b.safetensors", {})):
            try:
                pc.train(NETWORK, PAIRS, checkpoint=name, **settings)
            except pc.ArgumentError as error:
                said.append(str(error).splitlines()[0])

    pc.train(NETWORK, PAIRS, checkpoint=file, on_epoch=again)
    assert said == [f"another training run writes `{file}`"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.safetensors", "b.safetensors"]
    assert len(pc.train(NETWORK, PAIRS, checkpoint=file, resume=True, epochs=2).epochs) == 2  # it is free again


def test_what_a_killed_run_left_is_removed(tmp_path):
    """Of the same checkpoint, at the next start; other files stay."""
    file, other = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    left = [pathlib.Path(f"{beside(str(path))}.{'0' * 16}.partial") for path in (file, other)]
    for path in (*left, pathlib.Path(f"{beside(str(file))}.lock")):
        path.write_bytes(b"half")
    pc.train(NETWORK, PAIRS, checkpoint=file)
    assert {each.name for each in tmp_path.iterdir()} == {file.name, left[1].name}
