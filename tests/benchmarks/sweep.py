"""How many variants a second a sweep counts, beside counting one by one: `python tests/benchmarks/sweep.py`.

Both in the same run. With `--check`, all of 10,000 variants are compared with the count of each alone; with `--memory`,
ten million random ones are counted part by part, and the peak memory is told. Run it by itself, on an idle machine.
"""

import resource
import sys
import time

import numpy

import paramcount as pc
from paramcount.sweeps.sweep import space_of, sweep_parts

WIDTHS = numpy.linspace(0.35, 1.4, 4096)
SIZES = range(100, 612)
RUNS = 3


def rate(**options: object) -> float:
    """Variants a second, the best of several runs."""
    rates = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        found = pc.sweep("mobilenet_v2", **options)  # type: ignore[arg-type]
        rates.append(len(found) / (time.perf_counter() - begin))
    return max(rates)


def alone(times: int = 200) -> float:
    begin = time.perf_counter()
    for index in range(times):
        pc.count(pc.load("mobilenet_v2", width=0.5 + index / 1000, resolution=128 + index))
    return times / (time.perf_counter() - begin)


def check() -> None:
    """Every figure of 10,000 variants against the count of each alone."""
    found = pc.sweep("mobilenet_v2", width=numpy.linspace(0.1, 1.4, 100), resolution=range(128, 228))
    for row in range(len(found)):
        totals = pc.count(pc.load("mobilenet_v2", **found.point(row))).totals
        for name, value in totals._asdict().items():
            assert found.columns[name][row] == value, (found.point(row), name)
    print(f"all figures of {len(found):,} variants equal those of each alone")


def memory() -> None:
    space = space_of("mobilenet_v2", None, {"width": WIDTHS, "resolution": SIZES}, random=10_000_000)
    begin = time.perf_counter()
    points = sum(len(part) for part in sweep_parts(space))
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{points:,} random variants: {points / seconds:,.0f} a second, peak memory {peak:,} MiB")


def main() -> None:
    if "--check" in sys.argv:
        return check()
    if "--memory" in sys.argv:
        return memory()
    one = alone()
    print(f"one by one                  {one:12,.0f} variants a second")
    grid = {"width": WIDTHS, "resolution": SIZES}
    for what, options in {
        "grid, one thread": {**grid, "workers": 1},
        "grid, all cores": grid,
        "random, all cores": {**grid, "random": 2**20},
    }.items():
        many = rate(**options)
        print(f"{what:27} {many:12,.0f} variants a second, {many / one:8,.0f} times as many")


if __name__ == "__main__":
    main()
