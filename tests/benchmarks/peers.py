"""How fast paramcount is beside other counters: `python tests/benchmarks/peers.py [cold] [NETWORK ...] [warm]`.

`cold` times a whole process that counts one network, `warm` what a process that has all imported needs for another
build and analysis, for a variant by width, and by width and resolution. All take turns; every figure is the median of
five, of seconds as they pass and of the processors' own. A peer that is not installed is skipped, so first:
`pip install -e . torchvision torchinfo fvcore thop ptflops calflops transformers flax`, of which calflops imports
transformers without saying so. Run it by itself, on an idle machine.
"""

import importlib.metadata
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

ROUNDS = 5
NETWORKS = ("mlp", "mobilenet_v2", "resnet")
PEER = Path(__file__).with_name("peer.py")
PEERS = {  # with the distributions that each needs
    "torchinfo": ("torch", "torchvision", "torchinfo"),
    "fvcore": ("torch", "torchvision", "fvcore"),
    "thop": ("torch", "torchvision", "thop"),
    "ptflops": ("torch", "torchvision", "ptflops"),
    "calflops": ("torch", "torchvision", "calflops", "transformers"),
    "FlopCounterMode": ("torch", "torchvision"),
    "FlopCounterMode, meta": ("torch", "torchvision"),
    "Flax tabulate": ("flax",),
}
VARIANTS = [[(0.35 + index / 10, 128 + 8 * index) for index in (2 * turn, 2 * turn + 1)] for turn in range(ROUNDS)]
# Compiled modules are kept. One thread each: a second saves peers a fifth on idle cores, and costs much on busy ones.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
ENVIRONMENT["OMP_NUM_THREADS"] = "1"


def version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def installed() -> list[str]:
    """The peers that can run here; says which cannot, and which versions do."""
    found = []
    for peer, needs in PEERS.items():
        if missing := [each for each in needs if version(each) is None]:
            print(f"{peer}: skipped, {' and '.join(missing)} not installed")
        else:
            found.append(peer)
    versions = {each: version(each) for peer in found for each in PEERS[peer]} | {"jax": version("jax")}
    print(", ".join(f"{name} {number}" for name, number in versions.items() if number))
    return found


class Cost(NamedTuple):
    """Seconds as they pass, and those of the processors, which a busy machine hardly changes."""

    wall: float
    cpu: float


def median(costs: Iterable[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def show(title: str, medians: dict[str, Cost], reported: dict[str, str]) -> None:
    """Every cost beside the first, which is ours."""
    ours = next(iter(medians.values()))
    print(f"\n{title}")
    for name, (wall, cpu) in medians.items():
        times = f"{wall * 1e3:12.5f} ms, {wall / ours.wall:9.1f} times as long"
        print(f"{name:24} {times}; CPU {cpu * 1e3:12.5f} ms, {cpu / ours.cpu:9.1f}   {reported.get(name, '')}")


def process(*arguments: str) -> tuple[Cost, str]:
    """What a whole process of this Python takes, and what it printed."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-W", "ignore", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=True)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime), done.stdout


def cold(peers: list[str]) -> None:
    """The table of a network in a process of its own, beside the least script of each peer."""
    for network in [each for each in NETWORKS if each in sys.argv[1:]] or NETWORKS:
        commands = {"paramcount": ("-m", "paramcount", network)}
        for peer in peers:
            if network != "resnet" or peer != "Flax tabulate":
                commands[peer] = (str(PEER), peer, network)
        reported = {name: process(*command)[1].splitlines()[-1] for name, command in commands.items()}
        rounds = [{name: process(*command)[0] for name, command in commands.items()} for _ in range(ROUNDS)]
        medians = {name: median(each[name] for each in rounds) for name in commands}
        show(f"{network}, a whole process", medians, reported | {"paramcount": ""})


def warm(peers: list[str]) -> None:
    """MobileNet-v2 once more where all is imported, and its variants: ours in a sweep, ten of a peer, two in a turn."""
    import numpy

    import paramcount as pc

    with open(pc.load("mobilenet_v2").file, encoding="utf-8") as file:
        text = file.read()
    few, many = numpy.linspace(0.35, 1.4, 1000), numpy.linspace(0.35, 1.4, 4096)
    measures: dict[str, dict[str, Callable[[int], Cost]]] = {
        "built and analysed again": {
            "paramcount": lambda turn: each(lambda: pc.count(pc.load("mobilenet_v2")), 100),
            "paramcount, from a text": lambda turn: each(lambda: pc.count(pc.loads(text)), 100),
        },
        "one of 1,000 widths": {
            "paramcount": lambda turn: each(lambda: pc.sweep("mobilenet_v2", width=few), 20, 1000),
        },
        "one of 2,097,152 widths and resolutions": {
            "paramcount": lambda turn: each(
                lambda: pc.sweep("mobilenet_v2", width=many, resolution=range(100, 612)), 1, 4096 * 512
            ),
        },
    }
    servers = {peer: Server(peer) for peer in peers}
    for peer, server in servers.items():
        same, widths, sizes = measures.values()
        same[peer] = lambda turn, server=server: server.each([(1.0, 224)])
        widths[peer] = lambda turn, server=server: server.each([(width, 224) for width, _ in VARIANTS[turn]])
        sizes[peer] = lambda turn, server=server: server.each(VARIANTS[turn])
    for measure in [measure for named in measures.values() for measure in named.values()]:
        measure(0)  # warms up
    rounds = [
        {what: {name: measure(turn) for name, measure in named.items()} for what, named in measures.items()}
        for turn in range(ROUNDS)
    ]
    for server in servers.values():
        server.process.communicate()
    for what, named in measures.items():
        show(f"MobileNet-v2, {what}", {name: median(each[what][name] for each in rounds) for name in named}, {})


def each(work: Callable[[], object], times: int, points: int = 1) -> Cost:
    """What one point costs, of all that a work counts in so many runs."""
    begin, cpu = time.perf_counter(), time.process_time()
    for _ in range(times):
        work()
    points *= times
    return Cost((time.perf_counter() - begin) / points, (time.process_time() - cpu) / points)


class Server:
    """A process that has counted MobileNet-v2 by a peer, and counts variants of it when asked."""

    def __init__(self, peer: str) -> None:
        command = [sys.executable, "-W", "ignore", str(PEER), peer, "mobilenet_v2", "serve"]
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=null, text=True, env=ENVIRONMENT)
        self.answer()

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def each(self, variants: list[tuple[float, int]]) -> Cost:
        """What one of these widths and resolutions costs, the mean of all."""
        assert self.process.stdin is not None
        costs = []
        for width, size in variants:
            self.process.stdin.write(f"{width} {size}\n")
            self.process.stdin.flush()
            costs.append(Cost(*map(float, self.answer().split())))
        return Cost(*map(statistics.mean, zip(*costs, strict=True)))


def main() -> None:
    peers = installed()
    for what, measure in {"cold": cold, "warm": warm}.items():
        if what in sys.argv[1:] or not sys.argv[1:]:
            measure(peers)


if __name__ == "__main__":
    main()
