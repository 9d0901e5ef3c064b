"""Each shipped spec still computes what it did: outputs of its smallest variant, against those stored in a file.

Counts do not see how layers are wired. The specs that stand for torchvision's classification and segmentation models
were compared with them by numbers before their outputs were stored (tests/parity), and so were those of the sequence
models that tests/parity names; the others have no such proof, and are only guarded against changes.

What is new, or is changed on purpose, is stored by

    python tests/backend/run/test_checksums.py [SPEC ...]
"""

import json
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from paramcount.backend.prove.verify import FAST_COMPILE, random_inputs
from paramcount.backend.run.evaluate import evaluate
from paramcount.backend.run.initialize import initialize, tensors
from paramcount.cost.count import count
from paramcount.graph.network import Network
from paramcount.graph.tree import leaves
from paramcount.language.load import load, loads, shipped_specs

FILE = Path(__file__).resolve().parents[2] / "checksums.json"
STORED = json.loads(FILE.read_text()) if FILE.exists() else {}
TOLERANCE = 2e-4  # of the outputs' deviation; rounding alone, on another processor, gave up to 4e-5
FIRST = 6  # values of each output

# What makes a spec small: variables that are brought down to these where they are larger, some for a single spec;
# and where the picture has no variable, the picture itself.
LARGEST = {"resolution": 96, "vocab": 1000}
SHALLOW = (
    "albert bert clip deit distilbert dit flan_t5 gpt2 gpt_neox mamba mlp_mixer mt5 opt qwen2 roberta t5 vit whisper"
)
VARIABLES: dict[str, dict[str, Any]] = {
    **{name: {"depth": 2} for name in SHALLOW.split()},
    "convnext": {"middle": 2},
    "ddpm": {"levels": [1, 2], "units": 1},
    "deeplab_v3": {"middle": 2},
    "densenet": {"depths": [2, 3, 2, 2]},
    "detector": {"resolution": 128},
    "fcn": {"middle": 2},
    "swin": {"middle": 2},
    "swin_v2": {"middle": 2},
    "unet": {"resolution": 188, "width": 16},
}
PICTURE = 96
PICTURES = {"maxvit": 224, "retinanet": 128, "swin": 224, "swin_v2": 256}
VARIANTS = {  # instead of the one with the fewest parameters
    "deeplab_v3": "mobilenet_v3_large",  # with its auxiliary head
    "fcn": "resnet50",
    "unet": "unpadded",
    "vit": "b_16",  # with its classes
}


def small(name: str, variant: str | None, variables: dict[str, Any], size: int | None) -> Network:
    return resized(load(name, variant=variant, **variables), size)


def resized(network: Network, size: int | None) -> Network:
    """A network on another picture."""
    if size is None:
        return network
    return Network(network.items, input=(size, size, 3), outputs=network.outputs, declared=network.declared)


def outputs(network: Network) -> dict[str, np.ndarray]:
    """A network's outputs for random input; tensors that start at zeros or ones are disturbed, so that they matter."""
    graph = network.graph()
    trees = initialize(graph)
    random = np.random.default_rng(0)
    for path, declared in tensors(graph).items():
        for name, tensor in declared.items():
            if tensor.param.init in ("zeros", "ones"):
                trees[tensor.is_buffer][path][name] += random.uniform(0, 0.2, tensor.shape).astype(np.float32)
    inputs = random_inputs(graph, list(leaves(graph)), 0)
    run = jax.jit(lambda *given: evaluate(graph, *given)[0]).lower(*trees, inputs).compile(FAST_COMPILE)
    return {label: np.asarray(output, np.float64) for label, output in run(*trees, inputs).items()}


def statistics(values: np.ndarray) -> list[float]:
    """The mean, the deviation, and a few values at even distances."""
    return [values.mean(), values.std(), *values.ravel()[:: max(1, values.size // FIRST)][:FIRST]]


def scale(values: np.ndarray) -> float:
    """What an error is compared with: the deviation, or the only value."""
    return values.std() if values.size > 1 else abs(values.item())


def test_outputs_are_as_stored(shipped_spec):
    stored = STORED[shipped_spec]
    found = outputs(small(shipped_spec, stored["variant"], stored["variables"], stored["size"]))
    assert found.keys() == stored["outputs"].keys()
    for label, values in found.items():
        expected = stored["outputs"][label]
        assert list(values.shape) == expected["shape"]
        assert np.abs(np.subtract(statistics(values), expected["statistics"])).max() < TOLERANCE * scale(values)


@pytest.mark.parametrize(
    "name, right, wrong",
    [
        pytest.param(  # the windows do not go back to their places
            *("swin", "roll: [shift, shift]", "roll: [-shift, -shift]"), marks=pytest.mark.full
        ),
        ("shufflenet_v2", "-> h w (c half)", "-> h w (half c)"),  # nothing is shuffled
    ],
)
def test_wrong_wiring_is_seen_where_counts_are_equal(name, right, wrong):
    stored = STORED[name]
    text = Path(load(name).file).read_text()
    assert text.count(right) == 1
    other = loads(text.replace(right, wrong), stored["variant"], **stored["variables"])
    assert count(other).totals == count(load(name, stored["variant"], **stored["variables"])).totals
    (values,) = outputs(resized(other, stored["size"])).values()
    (expected,) = stored["outputs"].values()
    assert np.abs(np.subtract(statistics(values), expected["statistics"])).max() > 100 * TOLERANCE * scale(values)


def test_every_shipped_spec_is_stored():
    assert sorted(STORED) == shipped_specs(), "run: python tests/backend/run/test_checksums.py"


def settings(name: str) -> dict[str, Any]:
    """The variant with the fewest parameters, and what makes it small."""
    variants = [VARIANTS[name]] if name in VARIANTS else load(name).variants or [None]
    variant = min(variants, key=lambda each: count(load(name, variant=each)).params)
    network = load(name, variant=variant)
    large = {each: limit for each, limit in LARGEST.items() if network.vars.get(each, 0) > limit}
    variables = large | VARIABLES.get(name, {})
    fixed = network.single and network.inputs["input"].layout == "image" and "resolution" not in network.vars
    size = PICTURES.get(name, PICTURE) if fixed and network.inputs["input"].sizes[0] > PICTURE else None
    return {"variant": variant, "variables": variables, "size": size}


def store(names: list[str]) -> None:
    """Compute and store; names that are no longer shipped go."""
    kept = {name: each for name, each in STORED.items() if name in shipped_specs()}
    for name in names or [each for each in shipped_specs() if each not in kept]:
        chosen = settings(name)
        results = outputs(small(name, *chosen.values()))
        written = {
            label: {"shape": list(values.shape), "statistics": [float(f"{n:.7g}") for n in statistics(values)]}
            for label, values in results.items()
        }
        kept[name] = chosen | {"outputs": written}
        FILE.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")


if __name__ == "__main__":
    store(sys.argv[1:])
