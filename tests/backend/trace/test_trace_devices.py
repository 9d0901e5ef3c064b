"""Programs of several devices and of kernels: counted for the whole mesh, and for the whole grid."""

import os
import subprocess
import sys

import pytest

jax = pytest.importorskip("jax")

from jax import ShapeDtypeStruct  # noqa: E402
from jax import numpy as jnp  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

from paramcount.backend.trace.trace import trace  # noqa: E402

EIGHT = """
import jax
from jax import ShapeDtypeStruct, lax, numpy as jnp
from jax.sharding import PartitionSpec as P
from paramcount.backend.trace.trace import trace

def shape(*sizes):
    return ShapeDtypeStruct(sizes, jnp.float32)

assert len(jax.devices()) == 8
auto = (jax.sharding.AxisType.Auto,) * 2
mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=auto)

# 8×16 by 16×6, split into 4 rows of blocks and 2 halves of the contraction: no work is done twice.
split = jax.shard_map(
    lambda x, w: lax.psum(x @ w, "model"), mesh=mesh, in_specs=(P("data", "model"), P("model")), out_specs=P("data")
)
print(trace(split, shape(8, 16), shape(16, 6)).macs)
both = jax.value_and_grad(lambda x, w: (split(x, w) ** 2).sum(), argnums=(0, 1))
print(trace(jax.jit(both), shape(8, 16), shape(16, 6)).macs)
# Each device of the axis `model` does the same rows again.
again = jax.shard_map(lambda x, w: x @ w, mesh=mesh, in_specs=(P("data"), P()), out_specs=P("data"), check_vma=False)
print(trace(again, shape(8, 16), shape(16, 6)).macs)
# Only `data` is mapped over; along `model` the compiler may split as it likes.
partly = jax.shard_map(jnp.matmul, mesh=mesh, in_specs=(P("data"), P()), out_specs=P("data"), axis_names={"data"})
print(trace(jax.jit(partly), shape(8, 16), shape(16, 6)).macs)
print(trace(jax.pmap(jnp.matmul, in_axes=(0, None)), shape(8, 2, 16), shape(16, 3)).macs)
"""


def test_meshes_of_eight_devices():
    more = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    flags = {"XLA_FLAGS": more, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", EIGHT], capture_output=True, text=True, env={**os.environ, **flags})
    assert done.returncode == 0, done.stderr
    whole = 8 * 16 * 6
    assert list(map(int, done.stdout.split())) == [whole, 3 * whole, 2 * whole, whole, 8 * 2 * 16 * 3]


def shape(*sizes):
    return ShapeDtypeStruct(sizes, jnp.float32)


def test_a_mesh_of_one_device():
    mesh = jax.make_mesh((1,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    mapped = jax.shard_map(jnp.matmul, mesh=mesh, in_specs=(P("data"), P()), out_specs=P("data"))
    assert trace(mapped, shape(3, 4), shape(4, 5)).macs == 60
    assert trace(jax.pmap(jnp.matmul, in_axes=(0, None)), shape(1, 3, 4), shape(4, 5)).macs == 60


def test_kernels_run_at_each_point_of_their_grid():
    pallas = pytest.importorskip("jax.experimental.pallas")

    def kernel(x, w, out):
        @pallas.when(pallas.program_id(1) >= 0)
        def _():
            out[...] = x[...] @ w[...]

    product = pallas.pallas_call(
        kernel,
        grid=(2, 3),
        in_specs=[
            pallas.BlockSpec((8, 16), lambda row, column: (row, 0)),
            pallas.BlockSpec((16, 8), lambda row, column: (0, column)),
        ],
        out_specs=pallas.BlockSpec((8, 8), lambda row, column: (row, column)),
        out_shape=shape(16, 24),
    )
    assert trace(product, shape(16, 16), shape(16, 24)).macs == 16 * 16 * 24
    assert trace(jax.vmap(product), shape(5, 16, 16), shape(5, 16, 24)).macs == 5 * 16 * 16 * 24
