"""One counter on one network, in a process of its own: `python tests/benchmarks/peer.py COUNTER NETWORK [serve]`.

Prints what the counter itself reports, and then, to `serve`, the seconds of building and analysing the network again,
as they pass and those of the processors, for every width and resolution that comes on a line of stdin. Each counter is
called as its own page shows. `, meta` puts the model on PyTorch's meta device, which allocates nothing.
"""

import contextlib
import re
import sys
import time
from collections.abc import Callable
from typing import Any

STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def torch_model(network: str, width: float, device: str) -> Any:
    import torch
    from torch import nn

    with torch.device(device) if device != "cpu" else contextlib.nullcontext():
        if network == "mlp":
            layers = (nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
            return nn.Sequential(*layers).eval()
        from torchvision import models  # type: ignore

        ready = {"resnet": models.resnet50, "vit": models.vit_b_16}
        return (ready[network]() if network in ready else models.mobilenet_v2(width_mult=width)).eval()


def torchinfo(model: Any, shape: tuple[int, ...], device: str) -> str:
    from torchinfo import summary  # type: ignore

    found = summary(model, input_size=(1, *shape), device=device, verbose=0)
    assert str(found)
    return f"{found.total_mult_adds:,} mult-adds, {found.total_params:,} params"


def fvcore(model: Any, shape: tuple[int, ...], device: str) -> str:
    import logging

    import torch
    from fvcore.nn import FlopCountAnalysis, parameter_count_table  # type: ignore

    logging.disable(logging.WARNING)
    parameters = parameter_count_table(model, max_depth=1).splitlines()[2].split("|")[2].strip()
    return f"{FlopCountAnalysis(model, torch.zeros(1, *shape, device=device)).total():,} flops, {parameters} params"


def thop(model: Any, shape: tuple[int, ...], device: str) -> str:
    import torch
    from thop import profile  # type: ignore

    macs, parameters = profile(model, inputs=(torch.zeros(1, *shape, device=device),), verbose=False)
    return f"{macs:,.0f} macs, {parameters:,.0f} params"


def ptflops(model: Any, shape: tuple[int, ...], device: str) -> str:
    from ptflops import get_model_complexity_info  # type: ignore

    options = {"as_strings": False, "print_per_layer_stat": False, "backend": "pytorch"}
    macs, parameters = get_model_complexity_info(model, shape, **options)
    return f"{macs:,} macs, {parameters:,} params"


def calflops(model: Any, shape: tuple[int, ...], device: str) -> str:
    from calflops import calculate_flops  # type: ignore

    options = {"output_as_string": False, "print_results": False, "print_detailed": False}
    _, macs, parameters = calculate_flops(model, input_shape=(1, *shape), **options)
    return f"{macs:,} macs, {parameters:,} params"


def flop_counter_mode(model: Any, shape: tuple[int, ...], device: str) -> str:
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(torch.zeros(1, *shape, device=device))
    parameters = sum(each.numel() for each in model.parameters())
    return f"{counter.get_total_flops():,} flops, {parameters:,} params"


def rounded(size: float) -> int:
    """To a multiple of eight, never below nine tenths: the rule of the paper's own code."""
    found = max(8, int(size + 4) // 8 * 8)
    return found + 8 if found < 0.9 * size else found


def flax_model(network: str, width: float) -> Any:
    """An equivalent model in Flax, which ships none; a ResNet-50 is left out."""
    from flax import linen as nn

    def convolve(x: Any, out: int, kernel: int = 1, stride: int = 1, groups: int = 1, activate: bool = True) -> Any:
        padding = [(kernel // 2, kernel // 2)] * 2
        x = nn.Conv(out, (kernel, kernel), stride, padding, feature_group_count=groups, use_bias=False)(x)
        x = nn.BatchNorm(use_running_average=True)(x)
        return nn.relu6(x) if activate else x

    class Mlp(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(10)(nn.relu(nn.Dense(512)(nn.relu(nn.Dense(512)(x)))))

    class MobileNet(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = convolve(x, rounded(32 * width), 3, 2)
            for expand, channels, repeat, stride in STAGES:
                for index in range(repeat):
                    before, inside = x, x.shape[-1] * expand
                    x = convolve(x, inside) if expand > 1 else x
                    x = convolve(x, inside, 3, stride if index == 0 else 1, inside)
                    x = convolve(x, rounded(channels * width), activate=False)
                    x = before + x if before.shape == x.shape else x
            return nn.Dense(1000)(convolve(x, rounded(1280 * max(1.0, width))).mean((1, 2)))

    return Mlp() if network == "mlp" else MobileNet()


def flax(model: Any, shape: tuple[int, ...]) -> str:
    import jax
    import jax.numpy as jnp

    table = model.tabulate(jax.random.key(0), jnp.zeros((1, *shape[1:], shape[0])))
    return f"{re.search(r'Total Parameters: ([0-9,]+)', table)[1]} parameters and running statistics"


def counting(counter: str) -> Callable[[str, float, int], str]:
    """How a counter builds and analyses a network of this width and resolution."""
    if counter == "Flax tabulate":
        return lambda network, width, size: flax(flax_model(network, width), shape(network, size))
    name, _, device = counter.partition(", ")
    device = device or "cpu"
    analyse = {
        "torchinfo": torchinfo,
        "fvcore": fvcore,
        "thop": thop,
        "ptflops": ptflops,
        "calflops": calflops,
        "FlopCounterMode": flop_counter_mode,
    }[name]
    return lambda network, width, size: analyse(torch_model(network, width, device), shape(network, size), device)


def shape(network: str, size: int) -> tuple[int, ...]:
    return (784,) if network == "mlp" else (3, size, size)


def main() -> None:
    counter, network, *serve = sys.argv[1:]
    count = counting(counter)
    print(count(network, 1.0, 224), flush=True)
    for line in sys.stdin if serve else ():
        width, size = line.split()
        begin, cpu = time.perf_counter(), time.process_time()
        count(network, float(width), int(size))
        print(time.perf_counter() - begin, time.process_time() - cpu, flush=True)


if __name__ == "__main__":
    main()
