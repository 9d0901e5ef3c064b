"""Several light steps run in one program, with the same results as one by one."""

import numpy
import pytest

import paramcount as pc
from paramcount.backend.train import trainer
from paramcount.backend.train.parallel import Devices
from paramcount.backend.train.step import Step
from paramcount.backend.train.trainer import Trainer
from paramcount.graph.freeze import training_graph

GENERATOR = numpy.random.default_rng(2)
MLP = [pc.Dense(8, norm="batch_norm", activation="relu"), pc.Dropout(0.2), pc.Dense(3)]


def batches(*sizes):
    return [(GENERATOR.standard_normal((n, 4), numpy.float32), GENERATOR.integers(0, 3, n)) for n in sizes]


def sizes_of_groups(layers, shape, sizes, flops=100):
    network = pc.Network(layers, input=shape)
    step = Step(training_graph(network), pc.losses.softmax_cross_entropy, None, None, 0)
    started = Trainer(step, None, Devices(1), {}, flops)
    pairs = ((numpy.zeros((n, 4)), numpy.zeros(n)) for n in sizes)
    return [[len(x) for x, _ in group] for group in started.groups(pairs)]


def test_full_groups_of_one_size(monkeypatch):
    monkeypatch.setattr(trainer, "TOGETHER", 3)
    dense = [pc.Dense(3)]
    assert sizes_of_groups(dense, 4, [5] * 7) == [[5] * 3, [5] * 3, [5]]
    assert sizes_of_groups(dense, 4, [5, 5, 2, 5, 5, 5, 4]) == [[5], [5], [2], [5, 5, 5], [4]]
    assert sizes_of_groups(dense, 4, []) == []


def test_heavy_steps_and_convolutions_go_alone(monkeypatch):
    monkeypatch.setattr(trainer, "TOGETHER", 2)
    assert sizes_of_groups([pc.Dense(3)], 4, [10, 10], flops=trainer.LIGHT // 10) == [[10], [10]]
    assert sizes_of_groups([pc.Dense(3)], 4, [10, 10], flops=trainer.LIGHT // 10 - 1) == [[10, 10]]
    assert sizes_of_groups([pc.Conv(3, 3)], (8, 8, 3), [10, 10]) == [[10], [10]]


@pytest.mark.parametrize("settings", [{"optimizer": "adam"}, {"optimizer": "momentum", "staleness": 2}])
def test_together_is_one_by_one(monkeypatch, settings):
    network, data = pc.Network(MLP, input=4), batches(*[6] * 9, 4)
    monkeypatch.setattr(trainer, "TOGETHER", 4)
    together = pc.train(network, data, epochs=2, **settings)
    monkeypatch.setattr(trainer, "TOGETHER", 1)
    alone = pc.train(network, data, epochs=2, **settings)
    for first, second in zip(together.epochs, alone.epochs, strict=True):
        assert first.examples == second.examples == 58
        assert first.loss == pytest.approx(second.loss, rel=1e-5)
    for path, each in alone.params.items():
        for name, array in each.items():
            numpy.testing.assert_allclose(together.params[path][name], array, rtol=1e-4, atol=1e-6)
    for path, each in alone.buffers.items():
        for name, array in each.items():
            numpy.testing.assert_allclose(together.buffers[path][name], array, rtol=1e-4, atol=1e-6)
