"""The space of NAS-Bench-201: its cells against sums written out here, figures its authors print, and PyTorch."""

import itertools
import random

import numpy
import pytest

import paramcount as pc
from paramcount.sweeps.sweep import space_of

NONE, SKIP, ONE, THREE, POOL = range(5)
EDGES = {"edges[*]": range(5)}


def by_hand(edges, resolution=32, classes=10):
    """Parameters and MACs: a 3×3 of the picture, three stages of five cells, a residual block between them, a head."""
    params, macs = 27 * 16 + 32, resolution**2 * 27 * 16
    for width, size in ((16, resolution), (32, resolution // 2), (64, resolution // 4)):
        if width > 16:  # two 3×3 with their norms, beside a 1×1 without
            half = width // 2
            weights = 9 * half * width + 9 * width * width + half * width
            params, macs = params + weights + 4 * width, macs + size**2 * weights
        for kernel in (1, 3):
            times = 5 * edges.count(ONE if kernel == 1 else THREE)
            weights = kernel**2 * width**2
            params, macs = params + times * (weights + 2 * width), macs + times * size**2 * weights
    return params + 128 + 64 * classes + classes, macs + 64 * classes


def test_the_space_has_all_architectures():
    space = space_of("nas_bench_201", None, EDGES)
    assert (space.shape, space.size) == ((5,) * 6, 15_625)


def test_random_cells():
    found = pc.sweep("nas_bench_201", random=60, seed=1, **EDGES)
    for row in range(len(found)):
        edges = [int(found.columns[f"edges[{edge}]"][row]) for edge in range(6)]
        assert (found.columns["params"][row], found.columns["macs"][row]) == by_hand(edges)


def test_cells_that_differ_in_two_edges_are_a_grid():
    found = pc.sweep("nas_bench_201", **{"edges[1]": range(5), "edges[4]": [THREE, ONE]})
    for row, (first, second) in enumerate(itertools.product(range(5), [THREE, ONE])):
        edges = [THREE, first, POOL, SKIP, second, SKIP]
        assert (found.columns["params"][row], found.columns["macs"][row]) == by_hand(edges)


PRINTED = [  # https://github.com/D-X-Y/NATS-Bench/issues/18, 24 and 36; in millions, the last layer's bias among FLOPs
    ([POOL, ONE, SKIP, ONE, SKIP, SKIP], "cifar10", None, 15.64737),
    ([POOL, ONE, SKIP, ONE, SKIP, SKIP], "imagenet16_120", None, 3.91948),
    ([SKIP, NONE, THREE, POOL, THREE, THREE], "cifar10", 0.802426, 113.95137),
]


@pytest.mark.parametrize(("edges", "variant", "params", "flops"), PRINTED)
def test_figures_that_the_authors_print(edges, variant, params, flops):
    report = pc.count(pc.load("nas_bench_201", variant, edges=edges))
    classes = {"cifar10": 10, "imagenet16_120": 120}[variant]
    assert report.macs + classes == round(flops * 10**6)
    assert params is None or report.params == round(params * 10**6)


@pytest.mark.parametrize("seed", range(2))
def test_outputs_are_those_of_pytorch(seed):
    """Which edge is which does not show in counts."""
    torch = pytest.importorskip("torch", reason="needs torch")
    jax = pytest.importorskip("jax", reason="needs jax")
    from paramcount.backend.run.evaluate import evaluate
    from paramcount.backend.run.initialize import initialize

    edges = random.Random(seed).sample([NONE, SKIP, ONE, THREE, POOL, THREE], 6)
    graph = pc.load("nas_bench_201", width=4, cells=1, resolution=8, edges=edges).graph()
    trees, generator = initialize(graph, seed=seed), numpy.random.default_rng(seed)
    trees = jax.tree.map(lambda each: each + generator.uniform(0, 0.2, each.shape).astype("float32"), trees)
    image = generator.standard_normal((8, 8, 3)).astype("float32")
    (ours,) = jax.jit(lambda *given: evaluate(graph, *given)[0])(*trees, {"input": image}).values()

    params, buffers = (
        {
            path: {name: torch.tensor(numpy.asarray(each)) for name, each in tensors.items()}
            for path, tensors in tree.items()
        }
        for tree in trees
    )
    functional = torch.nn.functional

    def norm(x, path):
        statistics, learned = buffers[path], params[path]
        return functional.batch_norm(x, statistics["mean"], statistics["var"], learned["scale"], learned["bias"])

    def conv(x, path, stride=1):
        weight = params[path]["weight"]
        weight = weight.reshape(*(1,) * (4 - weight.dim()), *weight.shape).permute(3, 2, 0, 1)
        return functional.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)

    def unit(x, path, stride=1):
        return norm(conv(x.relu(), f"{path}.conv0.conv0", stride), f"{path}.conv0.batch_norm0")

    def edge(x, which, path):
        if edges[which] in (ONE, THREE):
            return unit(x, f"{path}.unit0")
        if edges[which] == POOL:
            return functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)
        return x * edges[which]  # 0 or 1

    x = torch.tensor(image).permute(2, 0, 1)[None]
    x = norm(conv(x, "conv0.conv0"), "conv0.batch_norm0")
    for stage in range(3):
        if stage:
            path = f"stage[{stage}].reduction0.add0"
            wide = unit(unit(x, f"{path}.0.unit0", 2), f"{path}.0.unit1")
            x = wide + conv(functional.avg_pool2d(x, 2), f"{path}.1.pointwise0")
        cell = f"stage[{stage}].cell0[0]"
        first = edge(x, 0, f"{cell}.first")
        second = edge(x, 1, f"{cell}.second.0.edge0") + edge(first, 2, f"{cell}.second.1.edge0")
        last = [edge(each, 3 + index, f"{cell}.add0.{index}.edge0") for index, each in enumerate((x, first, second))]
        x = sum(last)
    x = norm(x, "batch_norm0").relu().mean((2, 3))
    theirs = (x @ params["dense0"]["weight"] + params["dense0"]["bias"])[0].numpy()
    assert abs(numpy.asarray(ours) - theirs).max() < 1e-4 * theirs.std()
