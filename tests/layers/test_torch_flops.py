"""Convolutions count as PyTorch's own counter of FLOPs does, padded far beyond their input too."""

import random

import pytest

from paramcount.layers.conv import Conv
from paramcount.layers.conv_transpose import ConvTranspose
from paramcount.layers.depthwise import Depthwise
from paramcount.layers.layer import Shape
from paramcount.layers.pointwise import Pointwise

torch = pytest.importorskip("torch", reason="needs torch")

from torch.utils.flop_counter import FlopCounterMode  # noqa: E402


def random_layer(draw):
    """A layer of ours, PyTorch's on no device, and the sizes of an input."""
    axes, groups = draw.choice((1, 2, 3)), draw.choice((1, 1, 2, 3))
    cin, out = groups * draw.randint(1, 3), groups * draw.randint(1, 3)
    sizes = [draw.randint(1, 12) for _ in range(axes)]
    kernel, stride, dilation = (tuple(draw.randint(1, most) for _ in range(axes)) for most in (5, 3, 2))
    padding = tuple(draw.randint(0, 9) for _ in range(axes))
    window = {"stride": stride, "padding": padding, "dilation": dilation}
    modules = {"conv": (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)}
    modules["conv_transpose"] = (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d)
    kind = draw.choice(("conv", "conv_transpose", "depthwise", "pointwise"))
    if kind == "pointwise":
        window = {"stride": stride}
        ours = Pointwise(out, stride, groups)
        return ours, modules["conv"][axes - 1](cin, out, 1, stride, groups=groups, device="meta"), (*sizes, cin)
    if kind == "depthwise":
        many = draw.randint(1, 3)
        theirs = modules["conv"][axes - 1](cin, many * cin, kernel, groups=cin, device="meta", **window)
        return Depthwise(kernel, multiplier=many, **window), theirs, (*sizes, cin)
    ours = {"conv": Conv, "conv_transpose": ConvTranspose}[kind](out, kernel, groups=groups, **window)
    return ours, modules[kind][axes - 1](cin, out, kernel, groups=groups, device="meta", **window), (*sizes, cin)


def flops(module, sizes):
    """What PyTorch counts; None where the input does not fit, or nothing comes out."""
    x = torch.empty(1, sizes[-1], *sizes[:-1], device="meta")
    try:
        with FlopCounterMode(display=False) as counter:
            y = module(x)
    except RuntimeError:
        return None
    return counter.get_total_flops() if y.numel() else None


@pytest.mark.parametrize("seed", range(4))
def test_random_convolutions(seed):
    draw, compared = random.Random(seed), 0
    while compared < 50:
        layer, module, sizes = random_layer(draw)
        found = flops(module, sizes)
        if found is None:
            continue
        assert layer.work(Shape.of(*sizes)).flops == found, (layer, sizes)
        compared += 1
