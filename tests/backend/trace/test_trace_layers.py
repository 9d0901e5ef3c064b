"""Every kind of layer, and whole networks, forward and backward: the trace equals the closed forms."""

import numpy
import pytest

jax = pytest.importorskip("jax")

from jax import ShapeDtypeStruct  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from paramcount.backend.prove.contract import examples  # noqa: E402
from paramcount.backend.run.context import Context  # noqa: E402
from paramcount.backend.run.evaluate import batched  # noqa: E402
from paramcount.backend.run.initialize import shapes as tensor_shapes  # noqa: E402
from paramcount.backend.trace.trace import trace  # noqa: E402
from paramcount.language.load import load  # noqa: E402
from paramcount.layers import MODULES, find  # noqa: E402

CASES = [
    pytest.param(layer, shapes, id=f"{kind}-{number}")
    for kind in MODULES
    for number, (layer, shapes) in enumerate(examples(find(kind)))
]


@pytest.mark.parametrize("layer, shapes", CASES)
def test_a_gradient_is_two_more_for_each_contraction(layer, shapes):
    """One for each operand: all are parameters or inputs, or depend on them."""
    params = {name: ShapeDtypeStruct(each.shape, numpy.float32) for name, each in layer.params(*shapes).items()}
    inputs = [ShapeDtypeStruct(each.sizes, numpy.float32) for each in shapes if each.layout != "tokens"]

    def forward(params, inputs):
        given = iter(inputs)
        every = [jnp.zeros(each.sizes, int) if each.layout == "tokens" else next(given) for each in shapes]
        results = jax.tree.leaves(layer.forward(params, *every, context=Context(train=True)))
        return [each for each in results if jnp.issubdtype(each.dtype, jnp.floating)]

    def both_ways(params, inputs):
        results, backward = jax.vjp(forward, params, inputs)
        return results, backward([jnp.sin(each) for each in results])

    report, macs = trace(both_ways, params, inputs, params=params), layer.work(*shapes).macs
    assert (report.forward_macs, report.backward_macs) == (macs, 2 * macs)
    assert report.params + report.buffers == sum(each.size for each in layer.params(*shapes).values())


@pytest.mark.parametrize(
    "spec, forward, both, params",
    [
        ("mobilenet_v2", 300_774_272, 891_484_800, 3_504_872),
        pytest.param("resnet:50", 4_089_184_256, 12_149_538_816, 25_557_032, marks=pytest.mark.full),
    ],
)
def test_whole_networks(spec, forward, both, params):
    graph = load(spec).graph()
    tensors, buffers = tensor_shapes(graph)
    [name] = graph.inputs

    def loss(tensors, buffers, x):
        outputs, buffers = batched(graph, train=True)(tensors, buffers, {name: x}, jax.random.key(0))
        return sum(each.sum() for each in outputs.values()), buffers

    x = ShapeDtypeStruct((1, 224, 224, 3), jnp.float32)
    report = trace(jax.value_and_grad(loss, has_aux=True), tensors, buffers, x, params=tensors)
    assert (report.forward_macs, report.macs, report.params) == (forward, both, params)
    assert report.recomputed_macs == 0


def test_the_scopes_of_a_network_carry_its_work():
    graph = load("mlp").graph()
    tensors, buffers = tensor_shapes(graph)
    [name] = graph.inputs
    x = ShapeDtypeStruct((2, 784), jnp.float32)
    report = trace(lambda p, b, x: batched(graph)(p, b, {name: x})[0], tensors, buffers, x, params=tensors)
    assert sorted(row.macs for row in report.rows if row.macs) == [2 * 5120, 2 * 262_144, 2 * 401_408]
    assert sum(row.macs for row in report.rows if row.path.startswith("§")) == report.macs == 2 * 668_672
