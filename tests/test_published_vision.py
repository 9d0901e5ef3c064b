"""Shipped vision models that torchvision does not have, against the figures that their authors print."""

from decimal import Decimal
from pathlib import Path

import pytest

from paramcount.report import count
from paramcount.spec.load import load

CONFIGS = Path(__file__).resolve().parents[1] / "configs"


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
