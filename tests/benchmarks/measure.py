"""How fast paramcount is, beside a floor that is measured in the same run: `python tests/benchmarks/measure.py`.

Runs and floors alternate; every figure is the median of five. Run it by itself, on an idle machine.
"""

import importlib.util
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

RUNS = 5
FLOOR = "import yaml, tabulate"
WIDE = "{input: {features: 200000}, layers: [dense: 200000]}"
NARROW = "{input: {features: 2}, layers: [dense: 2]}"


def median_pair(run: Callable[[], float], floor: Callable[[], float]) -> tuple[float, float]:
    """The medians of a run and of its floor, taken in turn after one warm-up of each."""
    run(), floor()
    pairs = [(run(), floor()) for _ in range(RUNS)]
    return statistics.median(first for first, _ in pairs), statistics.median(second for _, second in pairs)


def process(*arguments: str) -> Callable[[], float]:
    """The seconds of a whole process of this Python; compiled modules are kept, as after any first start."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run() -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, env=environment, check=True)
        return time.perf_counter() - begin

    return run


def inside(work: Callable[[], object], times: int) -> Callable[[], float]:
    """The seconds of one call, the median of several."""

    def run() -> float:
        seconds = []
        for _ in range(times):
            begin = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - begin)
        return statistics.median(seconds)

    return run


def peak(text: str) -> int:
    """The peak memory of a process that counts a spec, in MiB, as Linux tells it."""
    code = f"import paramcount as pc; pc.count(pc.loads({text!r})); print(open('/proc/self/status').read())"
    said = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout
    return next(int(line.split()[1]) for line in said.splitlines() if line.startswith("VmHWM")) // 1024


def show(what: str, run: float, floor: float, beside: str) -> None:
    print(f"{what:42} {run * 1e3:9.2f} ms   {floor * 1e3:9.2f} ms   {run / floor:6.2f}   {beside}")


def chain(items: int) -> str:
    """A spec of different dense layers, each written out, so that none folds."""
    layers = ", ".join(f"dense: {8 + index % 5}" for index in range(items))
    return f"{{input: {{features: 8}}, layers: [{layers}]}}"


def repeated(items: int) -> str:
    """A spec whose loop has as many different passes."""
    return f"{{input: {{features: 8}}, layers: [{{repeat: {items}, dense: 8 + i % 11}}]}}"


def main() -> None:
    import yaml

    import paramcount as pc

    print(f"{'':42} {'median':>12}   {'floor':>12}   {'ratio':>6}")
    floor = process("-c", FLOOR)
    for spec in ("mobilenet_v2", "resnet", "mlp"):
        show(f"the table of {spec}, a process", *median_pair(process("-m", "paramcount", spec), floor), FLOOR)

    path = pc.load("mobilenet_v2").file
    with open(path, encoding="utf-8") as file:
        text = file.read()
    read = inside(lambda: yaml.load(text, yaml.CSafeLoader), 20)
    beside = "reading its YAML by PyYAML's C loader"
    show(
        "load and count MobileNet-v2 by name",
        *median_pair(inside(lambda: pc.count(pc.load("mobilenet_v2")), 20), read),
        beside,
    )
    show("load and count it from a text", *median_pair(inside(lambda: pc.count(pc.loads(text)), 20), read), beside)

    for name, spec in (("written out", chain), ("passes of a loop", repeated)):
        for items in (10, 1000, 20_000):
            per_item = inside(lambda spec=spec, items=items: pc.count(pc.loads(spec(items))), max(1, 1000 // items))
            base = inside(lambda spec=spec: pc.count(pc.loads(spec(1000))), 1)
            run, one = median_pair(per_item, base)
            show(f"one of {items:,} layers, {name}", run / items, one / 1000, "one of 1,000")

    print(f"peak memory of counting dense 200,000 × 200,000: {peak(WIDE)} MiB; of 2 × 2: {peak(NARROW)} MiB")
    if importlib.util.find_spec("jax"):
        floor = process("-c", "import jax")
        for spec in ("mobilenet_v2", "resnet"):
            show(
                f"verify {spec}, a process",
                *median_pair(process("-m", "paramcount", "verify", spec), floor),
                "import jax",
            )


if __name__ == "__main__":
    main()
