"""Weight normalization: one gain for each part of a kernel, by hand."""

from dataclasses import replace

import pytest

import paramcount as pc
from paramcount.errors import ArgumentError, ParamcountError


@pytest.mark.parametrize(
    "layer, sizes, weights, gains",
    [
        (pc.Conv(8, (3, 5), groups=2, weight_norm=True), (9, 9, 6), 15 * 3 * 8, 8),
        (pc.Conv(8, (3, 5), groups=2, weight_norm="output"), (9, 9, 6), 15 * 3 * 8, 8),
        (pc.Conv(8, (3, 5), groups=2, weight_norm="input"), (9, 9, 6), 15 * 3 * 8, 3),
        (pc.Conv(8, (3, 5), groups=2, weight_norm="tap"), (9, 9, 6), 15 * 3 * 8, 15),
        (pc.Depthwise(3, multiplier=2, weight_norm=True), (7, 6), 3 * 12, 12),
        (pc.Depthwise(3, multiplier=2, weight_norm="tap"), (7, 6), 3 * 12, 3),
        (pc.Pointwise(10, groups=2, weight_norm=True), (7, 6), 3 * 10, 10),
        (pc.Pointwise(10, groups=2, weight_norm="input"), (7, 6), 3 * 10, 3),
        (pc.Dense(10, bias=False, weight_norm="input"), (7, 6), 6 * 10, 6),
        (pc.ConvTranspose(8, 4, 2, groups=2, weight_norm=True), (7, 6), 4 * 6 * 4, 6),
        (pc.ConvTranspose(8, 4, 2, groups=2, weight_norm="output"), (7, 6), 4 * 6 * 4, 4),
        (pc.ConvTranspose(8, 4, 2, weight_norm="tap"), (7, 6), 4 * 6 * 8, 4),
    ],
    ids=str,
)
def test_by_hand(layer, sizes, weights, gains):
    """Gains count among the norms; 3 operations for each weight and 2 for each gain."""
    report = pc.count(layer, sizes)
    assert (report.weights, report.norms, report.params) == (weights, gains, weights + gains)
    assert report.elementwise == 3 * weights + 2 * gains
    without = pc.count(replace(layer, weight_norm=False), sizes)
    assert report.macs == without.macs and without.elementwise == 0


def test_the_positions_of_wav2vec2():
    """torch.nn.Conv1d(768, 768, 128, padding=64, groups=16) with weight_norm(dim=2): a gain for each of 128 taps."""
    spec = """
    input: {sequence: [49, 768]}
    layers: [conv: {out: 768, kernel: 128, padding: 64, groups: 16, bias: true, weight_norm: tap}]
    """
    report = pc.count(pc.loads(spec))
    assert report.params == 128 * 48 * 768 + 768 + 128 == 4_719_488
    assert report.norms == 128


def test_what_has_no_such_axis_is_refused():
    with pytest.raises(ArgumentError, match="unknown weight_norm `tap`"):
        pc.Dense(8, weight_norm="tap")
    with pytest.raises(ArgumentError, match="unknown weight_norm `input`"):
        pc.Depthwise(3, weight_norm="input")
    with pytest.raises(ParamcountError, match=r"unknown weight_norm `taps`\nhint: did you mean `tap`\?"):
        pc.loads("{input: {sequence: [8, 8]}, layers: [conv: {out: 8, kernel: 3, weight_norm: taps}]}")
    for wrong in (1, 0.0, None, [], ["tap"]):
        with pytest.raises(ArgumentError):
            pc.Conv(8, 3, weight_norm=wrong)
