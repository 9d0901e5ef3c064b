"""Shipped vision models that torchvision does not have, against the figures that their authors print."""

from decimal import Decimal
from pathlib import Path

import pytest

from paramcount.cost.count import count
from paramcount.language.load import load

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


def printed(number, like):
    """A number of millions, rounded as the authors do."""
    return (Decimal(number) / 10**6).quantize(Decimal(like))


def report(name, variant):
    return count(load(str(CONFIGS / f"{name}.yaml"), variant=variant))


@pytest.mark.parametrize(
    ("name", "variant", "millions"),
    [
        ("deit", "tiny", "5.7"),
        ("deit", "small", "22.1"),
        ("deit", "base", "86.6"),
        ("deit", "tiny_distilled", "5.9"),
        ("deit", "small_distilled", "22.4"),
        ("deit", "base_distilled", "87.3"),
        ("dit", "s_2", "33"),
        ("dit", "b_4", "130"),
        ("dit", "l_2", "458"),
        ("dit", "xl_2", "675"),
        ("ddpm", "cifar10", "35.7"),
        ("ddpm", "lsun", "114"),
        ("maxvit", "s", "69"),
        ("maxvit", "l", "212"),
    ],
)
def test_parameters_in_millions(name, variant, millions):
    assert printed(report(name, variant).params, millions) == Decimal(millions)


@pytest.mark.parametrize(
    ("variant", "millions"),
    [("s_32", 19), ("s_16", 18), ("b_32", 60), ("b_16", 59), ("l_32", 206), ("l_16", 207), ("h_14", 431)],
)
def test_mlp_mixer_is_printed_without_its_head(variant, millions):
    network = load(str(CONFIGS / "mlp_mixer.yaml"), variant=variant)
    width = {"s": 512, "b": 768, "l": 1024, "h": 1280}[variant[0]]
    assert printed(count(network).params - (width + 1) * 1000, "1") == millions


def test_retinanet_as_torchvision_lists_it():
    """Parameters in full, and G of MACs at 800×800."""
    first, second = report("retinanet", "v1"), report("retinanet", "v2")
    assert (first.params, round(first.macs / 10**9, 2)) == (34_014_999, 151.54)
    assert (second.params, round(second.macs / 10**9, 2)) == (38_198_935, 152.24)


def test_work_of_dit_in_g_of_macs():
    """The paper's table; it counts a little elementwise work too, up to 0.03 %."""
    listed = {"s_2": 6.06, "b_2": 23.01, "l_2": 80.71, "xl_2": 118.64, "l_4": 19.70, "xl_4": 29.05, "b_8": 1.42}
    for variant, expected in listed.items():
        assert report("dit", variant).macs / 10**9 == pytest.approx(expected, rel=3e-4, abs=0.005), variant


def total(convolutions, biases):
    """Parameters, weights and MACs of (side, kernel, channels, out), each with a norm."""
    weights = sum(kernel**2 * channels * out for _, kernel, channels, out in convolutions)
    macs = sum(side**2 * kernel**2 * channels * out for side, kernel, channels, out in convolutions)
    return weights + 2 * sum(out for *_, out in convolutions) + biases, weights, macs


def classified(convolutions, channels, biases=0):
    """The same with a dense layer of 1000 classes at the end."""
    params, weights, macs = total(convolutions, biases)
    return params + (channels + 1) * 1000, weights + channels * 1000, macs + channels * 1000


@pytest.mark.parametrize(
    ("variant", "widths", "outs", "modules"),
    [
        ("27_slim", (64, 80, 96, 112), (128, 256, 384, 512), (1, 1, 1, 1)),
        ("39", (128, 160, 192, 224), (256, 512, 768, 1024), (1, 1, 2, 2)),
        ("57", (128, 160, 192, 224), (256, 512, 768, 1024), (1, 1, 4, 3)),
    ],
)
def test_vovnet_by_hand(variant, widths, outs, modules):
    convolutions = [(112, 3, 3, 64), (112, 3, 64, 64), (56, 3, 64, 128)]
    channels = 128
    for side, width, out, passes in zip((56, 28, 14, 7), widths, outs, modules, strict=True):
        for _ in range(passes):
            convolutions += [(side, 3, channels, width)] + 4 * [(side, 3, width, width)]
            convolutions += [(side, 1, channels + 5 * width, out)]
            channels = out
    counted = report("vovnet", variant)
    assert (counted.params, counted.weights, counted.macs) == classified(convolutions, channels)


def hrnet(width):
    """Module by module, as the authors' code builds it."""
    sides = (56, 28, 14, 7)
    widths = [width * 2**k for k in range(4)]
    convolutions = [(112, 3, 3, 64), (56, 3, 64, 64)]
    for channels in (64, 256, 256, 256):
        convolutions += [(56, 1, channels, 64), (56, 3, 64, 64), (56, 1, 64, 256)]
    convolutions += [(56, 1, 64, 256)]  # the projection of the first unit
    convolutions += [(56, 3, 256, widths[0]), (28, 3, 256, widths[1])]
    convolutions += [(14, 3, widths[1], widths[2]), (7, 3, widths[2], widths[3])]
    for branches, modules in ((2, 1), (3, 4), (4, 3)):
        module = [(sides[k], 3, widths[k], widths[k]) for k in range(branches) for _ in range(8)]
        for low in range(branches):
            for high in range(low):
                module += [(sides[low], 1, widths[low], widths[high])]  # up, from low to high
                module += [(sides[step], 3, widths[high], widths[high]) for step in range(high + 1, low)]
                module += [(sides[low], 3, widths[high], widths[low])]  # down
        convolutions += modules * module
    for k, side in enumerate(sides):
        inner, outer = 32 * 2**k, 128 * 2**k
        convolutions += [(side, 1, widths[k], inner), (side, 3, inner, inner), (side, 1, inner, outer)]
        convolutions += [(side, 1, widths[k], outer)]
    convolutions += [(28, 3, 128, 256), (14, 3, 256, 512), (7, 3, 512, 1024), (7, 1, 1024, 2048)]
    return classified(convolutions, 2048, biases=256 + 512 + 1024 + 2048)


@pytest.mark.parametrize(
    ("width", "millions", "work"),
    [
        (18, "21.3", "3.99"),
        (30, "37.7", "7.55"),
        (32, "41.2", "8.31"),
        (40, "57.6", "11.8"),
        (44, "67.1", "13.9"),
        (48, "77.5", "16.1"),
    ],
)
def test_hrnet_as_its_authors_list_it(width, millions, work):
    """Their GFLOPs are 2**30 multiply-accumulates."""
    counted = report("hrnet", f"w{width}")
    assert (counted.params, counted.weights, counted.macs) == hrnet(width)
    assert printed(counted.params, millions) == Decimal(millions)
    assert (Decimal(counted.macs) / 2**30).quantize(Decimal(work)) == Decimal(work)


def test_hrnet_to_the_last_parameter():
    """As timm gives them."""
    assert [report("hrnet", variant).params for variant in ("w18", "w32")] == [21_299_004, 41_232_680]
