"""The example of docs/crnn.md, smaller: the crnn spec learns to read strips, and reading is checked by itself."""

import re
from itertools import groupby
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import paramcount as pc

jax = pytest.importorskip("jax")
pytest.importorskip("optax")

PAGE = Path(__file__).parents[3] / "docs" / "crnn.md"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    source = re.search(r"^```python\n# file: strips.py\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    module = ModuleType("strips")
    exec(compile(source[1], str(PAGE), "exec"), module.__dict__)
    return module


def test_a_strip_holds_its_digits(example):
    images, labels = example.strips(50, 4, seed=0)
    assert images.shape == (50, 32, 60, 1) and labels.shape == (50, 4)
    dots = [19, 10, 14, 14, 14, 17, 16, 11, 17, 16]  # drawn in each glyph, each 6 pixels large
    for image, label in zip(images, labels, strict=True):
        count = np.count_nonzero(label)
        assert count >= 1 and not label[count:].any()
        assert round(image.sum() / 6) == pytest.approx(sum(dots[digit - 1] for digit in label[:count]), abs=6)  # noise


def test_reading_drops_repeats_and_blanks(example):
    frames = np.random.default_rng(0).integers(4, size=(200, 9))
    expected = [[each for each, _ in groupby(row) if each] for row in frames.tolist()]
    found = example.read(jax.nn.one_hot(frames, 4))
    assert found.tolist() == [row + [0] * (9 - len(row)) for row in expected]


def test_right_is_all_of_a_strip(example):
    logits = jax.nn.one_hot(np.array([[0, 2, 2, 0, 2, 1]] * 4), 3)
    labels = np.array([[2, 2, 1], [2, 1, 0], [2, 2, 0], [1, 2, 2]])
    assert example.right(logits, labels).tolist() == [True, False, False, False]


def test_frames_are_read_after_a_little_training(example):
    """Frames that show one of three symbols, or nothing, in labels whose places the loss has to find."""
    random = np.random.default_rng(0)
    labels = random.integers(1, 4, (256, 3)).astype(np.int32) * (np.arange(3) < random.integers(1, 4, (256, 1)))
    shown = np.repeat(labels, 4, axis=1) * (np.arange(12) % 4 > 1)
    frames = np.eye(4, dtype=np.float32)[shown] + random.normal(0, 0.1, (256, 12, 4)).astype(np.float32)
    network = pc.Network([pc.Dense(8, activation="relu"), pc.Dense(4)], input=(12, 4))
    settings = {"loss": example.loss, "metric": example.right, "optimizer": "adam", "learning_rate": 0.03}
    result = pc.train(
        network,
        pc.data.Batches(frames[:192], labels[:192], 32),
        test=[(frames[192:], labels[192:])],
        epochs=60,
        **settings,
    )
    assert result.epochs[0].test < 0.2 and result.epochs[-1].test > 0.9


@pytest.mark.full
def test_it_learns_to_read(example):
    """The loss falls to a fifth: it was an eighth; with frozen convolutions, two fifths, and a tenth was read."""
    _, result = example.train(longest=3, count=256, epochs=30, channels=8, d=48)
    first, last = result.epochs[0], result.epochs[-1]
    assert last.loss < first.loss / 5
    assert last.test > 0.25
