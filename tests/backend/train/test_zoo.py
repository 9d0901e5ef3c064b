"""Specs of the zoo train: three steps of Adam on one random batch, and the loss falls.

The network is a spec's variant `tiny`, else the one with the fewest multiply-accumulates, its depth, picture and
sequence brought down where there is a variable for them. The loss is defined for every network: the cross entropy of
random classes at each position of each output. The steps are those of training, with dropout and the batch's own
statistics. What is tested is one network of each kind, those that take long with the mark `full`; by hand, all of them:

    python tests/backend/train/test_zoo.py [SPEC ...]
"""

import sys
from time import perf_counter
from typing import Any

import jax
import numpy as np
import pytest
from jax import numpy as jnp

import paramcount as pc
from paramcount.backend.losses.losses import softmax_cross_entropy
from paramcount.backend.run.initialize import tensors
from paramcount.backend.run.inputs import random_inputs
from paramcount.backend.train.result import Training
from paramcount.backend.train.train import train
from paramcount.cost.count import count
from paramcount.errors import ParamcountError
from paramcount.graph.network import Network
from paramcount.graph.tree import leaves
from paramcount.language.load import load, shipped_specs

BATCH = 3
STEPS = 3

# Variables are brought down to these where they are larger; then a spec's own; then the picture that no variable sizes.
LARGEST = {"resolution": 64, "size": 16, "vocab": 100, "depth": 2, "T": 16, "S": 12}
VARIABLES: dict[str, dict[str, Any]] = {
    "convnext": {"middle": 2},
    "crnn": {"width": 40, "channels": 16, "d": 32, "characters": 10},
    "ddpm": {"levels": [1, 2], "units": 1, "width": 32},
    "deepspeech": {"T": 32, "d": 64},
    "deeplab_v3": {"middle": 1},
    "detector": {"width": 16, "neck": 32},
    "densenet": {"depths": [2, 3, 2, 2]},
    "fcn": {"middle": 1},
    "maxvit": {"stages": [[32, 1, 0], [64, 1, 1], [128, 1, 2], [256, 1, 3]]},
    "regnet_x": {"depth": 22},
    "regnet_y": {"depth": 16},  # all stages
    "swin": {"middle": 2},
    "swin_v2": {"middle": 2, "window": 2},
    "whisper": {"d": 64},
}
PICTURE = 64
PICTURES = {"inception_v3": 299, "maxvit": 224, "swin": 224}  # whose parts need as much

# A transformer on tokens with a mixture of experts, and a recurrent encoder and decoder with an input each; at length
# also a plain transformer and recurrence, depthwise convolutions with batch norm, a detector with six outputs.
KINDS = ["mixtral", "seq2seq"]
LONG = [pytest.param(name, marks=pytest.mark.full) for name in ("llama", "lstm_lm", "mobilenet_v1", "detector")]


def small(name: str) -> Network:
    """A spec at its smallest."""
    variants = load(name).variants or [None]
    variant = "tiny" if "tiny" in variants else min(variants, key=lambda each: count(load(name, variant=each)).macs)
    network = load(name, variant=variant)
    large = {each: limit for each, limit in LARGEST.items() if network.vars.get(each, 0) > limit}
    network = load(name, variant=variant, **large | VARIABLES.get(name, {}))
    size = PICTURES.get(name, PICTURE)
    shape = network.inputs["input"] if network.single else None
    if shape is None or shape.layout != "image" or "resolution" in network.vars or shape.sizes[0] <= size:
        return network
    picture = (size, size, shape.channels)
    return Network(network.items, input=picture, outputs=network.outputs, declared=network.declared)


def batch(network: Network) -> tuple[dict[str, Any], dict[str, Any]]:
    """Random inputs, and what to learn: a class for each position of each output, or a number where that is one."""
    graph = network.graph(training=True)
    examples = [random_inputs(graph, list(leaves(graph)), seed) for seed in range(BATCH)]
    x = {name: np.stack([each[name] for each in examples]) for name in graph.inputs}
    random = np.random.default_rng(0)
    y = {}
    for label, value in graph.outputs.items():
        *positions, classes = value.shape.sizes or (1,)
        places = (BATCH, *positions)
        y[label] = random.integers(classes, size=places) if classes > 1 else random.standard_normal(places)
    return x, y


def loss(outputs: Any, targets: dict[str, Any]) -> jax.Array:
    outputs = outputs if isinstance(outputs, dict) else dict.fromkeys(targets, outputs)
    total = jnp.zeros(())
    for label, target in targets.items():
        if jnp.issubdtype(target.dtype, jnp.integer):
            total += softmax_cross_entropy(outputs[label], target).mean()
        else:
            total += ((outputs[label].reshape(target.shape) - target) ** 2).mean()
    return total


def trained(network: Network) -> Training:
    """The network after the steps."""
    return train(network, [batch(network)], epochs=STEPS, loss=loss, optimizer="adam", learning_rate=1e-4)


def faults(network: Network, result: Training) -> list[str]:
    """What is wrong with a training run: a loss that does not fall, tensors that did not move or are not finite."""
    first, *_, last = (epoch.loss for epoch in result.epochs)
    found = [] if last < first else ["the loss does not fall"]
    before, _ = network.init()
    for path, declared in tensors(network.graph(training=True)).items():
        for name, tensor in declared.items():
            if not tensor.is_buffer:
                after = np.asarray(result.params[path][name])
                if not np.isfinite(after).all():
                    found.append(f"{path}/{name} is not finite")
                elif np.array_equal(after, before[path][name]) != tensor.frozen:
                    found.append(f"{path}/{name} {'moved' if tensor.frozen else 'did not move'}")
    return found


@pytest.fixture(autouse=True)
def fast_compile():
    """Compiling takes most of the time, and is twice as fast without most optimizations."""
    pytest.importorskip("optax")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.mark.parametrize("name", [*KINDS, *LONG])
def test_three_steps(name):
    network = small(name)
    assert faults(network, trained(network)) == []


def test_three_steps_of_a_pyramid():
    """Depthwise convolutions with batch norm, two scales that meet again, and two outputs."""
    settings = {"norm": "batch_norm", "activation": "relu6"}
    items = [
        pc.With(pc.Conv(8, 3, 2, **settings), name="fine"),
        *(pc.Depthwise(3, 2, **settings), pc.Pointwise(8, **settings), pc.Upsample(2)),
        pc.With(pc.Concat(["prev", "fine"]), name="joined"),
        pc.Let({"class": [pc.Conv(5, 3, bias=True)], "box": [pc.Conv(4, 3, bias=True)]}),
    ]
    network = Network(items, input=(16, 16, 3), outputs=["class", "box"])
    assert faults(network, trained(network)) == []


def test_failed_training_is_noticed():
    network = small("llama")
    result = train(network, [batch(network)], epochs=STEPS, loss=lambda outputs, y: 0 * loss(outputs, y))
    assert faults(network, result)[:2] == ["the loss does not fall", "embedding0/table did not move"]


def main(names: list[str]) -> int:
    jax.config.update("jax_disable_most_optimizations", True)  # compiling takes most of the time
    failed = 0
    for name in names or shipped_specs():
        began = perf_counter()
        try:
            network = small(name)
            result = trained(network)
            shown = " ".join(f"{epoch.loss:.4f}" for epoch in result.epochs)
            wrong = faults(network, result)
        except ParamcountError as error:
            shown, wrong = "", [str(error)]
        failed += bool(wrong)
        seconds = f"{perf_counter() - began:.1f} s"
        print(f"{name:18}", shown, seconds, *(["FAILED:", "; ".join(wrong[:4])] if wrong else []), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
