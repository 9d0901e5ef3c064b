"""The smallest of each convolutional and recurrent family counts as it is traced, with nothing allocated."""

from pathlib import Path

import pytest

from paramcount.backend.prove.verify import verify
from paramcount.language.load import load

CONFIGS = Path(__file__).resolve().parents[3] / "configs"

SMALLEST = (
    "convnext:tiny",
    "crnn:",
    "deeplab_v3:mobilenet_v3_large",
    "deepspeech:",
    "densenet:121",
    "efficientnet:b0",
    "efficientnet_v2:s",
    "fcn:resnet50",
    "googlenet:aux",
    "inception_v3:aux",
    "lraspp:",
    "lstm_lm:",
    "mnasnet:x0.5",
    "mobilenet_v3:small",
    "regnet_x:400mf",
    "regnet_y:400mf",
    "seq2seq:",
    "shufflenet_v2:x0.5",
    "xception:",
)


@pytest.mark.parametrize("spec", SMALLEST)
def test_counts_as_it_is_traced(spec):
    name, _, variant = spec.partition(":")
    found = verify(load(str(CONFIGS / f"{name}.yaml"), variant=variant or None), abstract=True)
    assert found.ok, str(found)
