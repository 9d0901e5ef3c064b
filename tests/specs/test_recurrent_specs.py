"""The specs of recurrent networks, by hand: language, translation, text in pictures, speech."""

import pytest

from paramcount.cost.count import count
from paramcount.language.load import load


def lstm(width, hidden):
    """Weights and the two bias vectors of one layer in one direction."""
    return 4 * hidden * (width + hidden), 8 * hidden


def gru(width, hidden):
    return 3 * hidden * (width + hidden), 6 * hidden


def figures(name, variant):
    report = count(load(name, variant=variant))
    return report.weights, report.params, report.macs


@pytest.mark.parametrize("variant, d, steps", [("small", 200, 20), ("medium", 650, 35), ("large", 1500, 35)])
def test_language_model(variant, d, steps):
    weights, biases = lstm(d, d)
    kept = 2 * 10000 * d + 2 * weights  # the table of words and the head, two layers
    macs = steps * (2 * weights + 10000 * d)
    assert figures("lstm_lm", variant) == (kept, kept + 2 * biases + 10000, macs)


def test_the_large_language_model_has_the_published_66_million():
    assert 65_500_000 <= count(load("lstm_lm", variant="large")).params < 66_500_000


@pytest.mark.parametrize(
    "variant, d, depth, vocab, source, target", [("base", 512, 1, 10000, 30, 25), ("luong", 1000, 4, 50000, 50, 50)]
)
def test_translation(variant, d, depth, vocab, source, target):
    weights, biases = lstm(d, d)
    kept = 2 * depth * weights + 3 * vocab * d + d * d + 2 * d * d  # of the score, and of what is mixed
    macs = (source + target) * depth * weights + target * (3 * d * d + vocab * d)
    macs += 2 * target * source * d  # scores, and the mean by them
    assert figures("seq2seq", variant) == (kept, kept + 2 * depth * biases + vocab, macs)


CRNN = (  # weights, positions, biases
    (9 * 64, 32 * 100, 64),
    (9 * 64 * 128, 16 * 50, 128),
    (9 * 128 * 256, 8 * 25, 256),
    (9 * 256 * 256, 8 * 25, 256),
    (9 * 256 * 512, 4 * 25, 512),
    (9 * 512 * 512, 4 * 25, 512),
    (4 * 512 * 512, 24, 512),
)


@pytest.mark.parametrize("variant, classes", [("base", 993), ("alphanumeric", 37)])
def test_text_recognition(variant, classes):
    """Two layers of 2 · 256 units, the first on 512 features, the second on 256, on 24 columns."""
    (first, biases), (second, _) = lstm(512, 256), lstm(256, 256)
    head = 2 * first + 512 * 256 + 2 * second + 512 * classes
    kept = sum(weights for weights, _, _ in CRNN) + head
    macs = sum(weights * positions for weights, positions, _ in CRNN) + 24 * head
    others = sum(each for _, _, each in CRNN) + 2 * 2 * 512 + 4 * biases + 256 + classes
    assert figures("crnn", variant) == (kept, kept + others, macs)


def test_text_recognition_has_the_published_8_3_million():
    assert 8_300_000 <= count(load("crnn", variant="alphanumeric")).params < 8_350_000


@pytest.mark.parametrize("variant, d, depth", [("base", 800, 5), ("large", 1760, 7)])
def test_speech_recognition(variant, d, depth):
    """161 frequencies become 81, then 41; 200 steps become 100, each of 41 · 32 features."""
    first, second = 11 * 41 * 32, 11 * 21 * 32 * 32
    (below, biases), (above, _) = gru(41 * 32, d), gru(d, d)
    recurrent = 2 * (below + (depth - 1) * above)
    kept = first + second + recurrent + 29 * d
    others = (
        2 * (32 + 2 * 32) + 2 * depth * biases + depth * 2 * d
    )  # a norm before each layer but the first, and one last
    macs = 100 * (81 * first + 41 * second + recurrent + 29 * d)
    assert figures("deepspeech", variant) == (kept, kept + others, macs)
