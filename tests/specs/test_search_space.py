"""The Once-for-All space: its shipped spec against sums that are written out here, and random points of it."""

import random

import pytest

import paramcount as pc

STAGES = [(24, 2, False), (40, 2, True), (80, 2, False), (112, 1, True), (160, 2, True)]
CHOICES = {"depths[*]": [2, 3, 4], "kernels[*]": [3, 5, 7], "expansions[*]": [3, 4, 6]}


def by_hand(depths, kernels, expansions, resolution):
    """Parameters and MACs, unit by unit: widen, filter each channel, squeeze and excite, narrow, each with its norm."""

    def halved(size):
        return (size + 1) // 2

    size = halved(resolution)
    params, macs = 9 * 3 * 16 + 2 * 16, size**2 * 9 * 3 * 16
    params, macs = params + 9 * 16 + 32 + 16 * 16 + 32, macs + size**2 * (9 * 16 + 16 * 16)
    width = 16
    for stage, (out, stride, squeezes) in enumerate(STAGES):
        for unit in range(depths[stage]):
            kernel, hidden = kernels[4 * stage + unit], width * expansions[4 * stage + unit]
            params, macs = params + width * hidden + 2 * hidden, macs + size**2 * width * hidden
            size = halved(size) if stride == 2 and unit == 0 else size
            params, macs = params + kernel**2 * hidden + 2 * hidden, macs + size**2 * kernel**2 * hidden
            if squeezes:
                quarter = max(8, (hidden // 4 + 4) // 8 * 8)
                quarter += 8 if quarter < 0.9 * (hidden // 4) else 0
                params, macs = params + 2 * hidden * quarter + quarter + hidden, macs + 2 * hidden * quarter
            params, macs = params + hidden * out + 2 * out, macs + size**2 * hidden * out
            width = out
    params, macs = params + 160 * 960 + 2 * 960, macs + size**2 * 160 * 960
    params, macs = params + 960 * 1280 + 1280 * 1000 + 1000, macs + 960 * 1280 + 1280 * 1000
    return params, macs


def test_random_points():
    found = pc.sweep("ofa_mobilenet_v3", random=30, seed=2, resolution=range(128, 225, 4), **CHOICES)
    for row in range(len(found)):
        point = found.point(row)
        lists = [[point[f"{name}[{i}]"] for i in range(length)] for name, length in LENGTHS]
        expected = by_hand(*lists, point["resolution"])
        assert (found.columns["params"][row], found.columns["macs"][row]) == expected


LENGTHS = [("depths", 5), ("kernels", 20), ("expansions", 20)]


@pytest.mark.parametrize("seed", range(3))
def test_one_point_alone(seed):
    draw = random.Random(seed)
    lists = [draw.choices(CHOICES[f"{name}[*]"], k=length) for name, length in LENGTHS]
    names = [name for name, _ in LENGTHS]
    report = pc.count(pc.load("ofa_mobilenet_v3", resolution=192, **dict(zip(names, lists, strict=True))))
    assert (report.params, report.macs) == by_hand(*lists, 192)
