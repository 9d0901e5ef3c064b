"""Which arrays of a call are parameters, where they are found, what they are, and which layer they belong to."""

from functools import partial
from itertools import pairwise

import numpy
import pytest

jax = pytest.importorskip("jax")

from jax import ShapeDtypeStruct, lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from paramcount.backend.trace.trace import trace  # noqa: E402
from paramcount.backend.trace.walker import UncountedError  # noqa: E402
from paramcount.errors import ArgumentError  # noqa: E402


def shape(*sizes, dtype="float32"):
    return ShapeDtypeStruct(sizes, dtype)


def rows(report):
    return {row.path: row.params for row in report.rows if row.leaf and row.params}


# Where they are


def test_one_object_in_two_places_is_one_parameter():
    square = shape(64, 64)
    params = {"w": square}
    assert trace(lambda p, x: x @ p["w"], params, square, params=params).params == 4096
    assert trace(lambda x, p: x @ p["w"], square, params, params=params).params == 4096
    assert trace(lambda x, p: x @ p["w"], square, params, params={"w": square}).params == 4096
    assert trace(lambda p, q, x: x @ p["w"] + x @ q["w"], params, params, square, params=params).params == 4096
    two = {"a": square, "b": square}
    assert trace(lambda p, x: x @ p["a"] @ p["b"], two, square, params=two).params == 2 * 4096
    assert trace(lambda p, x: x @ p["a"] @ p["b"], two, square, params=dict(two)).params == 2 * 4096
    assert trace(jax.grad(lambda p, x: (x @ p).sum()), square, square, params=square).params == 4096


def test_a_target_network_is_no_second_set_of_parameters():
    params = {"hidden": {"w": shape(8, 120), "b": shape(120)}, "head": {"w": shape(120, 4), "b": shape(4)}}

    def value(params, x):
        x = jax.nn.relu(x @ params["hidden"]["w"] + params["hidden"]["b"])
        return (x @ params["head"]["w"] + params["head"]["b"]).max(1)

    def step(params, target, x, following):
        def loss(params):
            return ((value(params, x) - lax.stop_gradient(1 + 0.9 * value(target, following))) ** 2).mean()

        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params))
        return params, jax.tree.map(lambda t, p: 0.99 * t + 0.01 * p, target, params)

    report = trace(step, params, params, shape(32, 8), shape(32, 8), params=params)
    assert (report.params, rows(report)) == (1564, {"hidden": 1080, "head": 484})
    hidden, head = 32 * 8 * 120, 32 * 120 * 4
    assert (report["hidden"].forward_macs, report["hidden"].backward_macs) == (2 * hidden, hidden)
    assert (report["head"].forward_macs, report["head"].backward_macs) == (2 * head, 2 * head)
    assert report["optimizer"].elementwise == (2 + 3) * 1564  # the descent, and the average of both

    def product(params, vector, x):
        return jax.jvp(jax.grad(lambda p: (value(p, x) ** 2).sum()), (params,), (vector,))[1]

    assert trace(product, params, params, shape(32, 8), params=params).params == 1564


X, WEIGHTS = shape(2, 4), {"w": jnp.ones((4, 4)), "b": jnp.ones(4)}
ARRAYS = {"w": numpy.ones((4, 4)), "b": numpy.zeros(4), "c": numpy.zeros(4)}


def layer(params, x):
    return sum((params[name] for name in params if name != "w"), start=x @ params["w"])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: layer(WEIGHTS, x),
        jax.jit(lambda x: layer(WEIGHTS, x)),
        jax.jit(jax.jit(lambda x: layer(WEIGHTS, x))),
        jax.jit(partial(layer, WEIGHTS)),
        jax.checkpoint(lambda x: layer(WEIGHTS, x)),
        jax.vmap(jax.jit(lambda x: layer(WEIGHTS, x))),
        jax.jit(lambda x: lax.cond(x.sum() > 0, jax.jit(lambda x: layer(WEIGHTS, x)), lambda x: x, x)),
    ],
)
def test_parameters_that_a_compiled_function_holds(function):
    report = trace(function, X, params=WEIGHTS)
    assert (report.params, report.weights, report.biases, report.macs) == (20, 16, 4, 32)


def test_parameters_held_in_a_loop_and_by_a_gradient():
    looped = lambda x: lax.scan(lambda x, _: (jax.jit(partial(layer, WEIGHTS))(x), None), x, length=3)[0]  # noqa: E731
    assert (trace(looped, X, params=WEIGHTS).params, trace(looped, X, params=WEIGHTS).macs) == (20, 3 * 32)
    gradient = trace(jax.jit(jax.value_and_grad(lambda x: layer(WEIGHTS, x).sum())), X, params=WEIGHTS)
    assert (gradient.params, gradient.forward_macs, gradient.backward_macs) == (20, 32, 32)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, lambda f: jax.jit(jax.value_and_grad(lambda x: f(x).sum()))])
def test_arrays_of_numpy_that_a_function_holds(wrap):
    report = trace(wrap(partial(layer, ARRAYS)), X, params=ARRAYS)
    assert (report.params, report.weights, report.forward_macs) == (24, 16, 32)


def test_parameters_that_are_not_there():
    for function in (lambda x: layer(WEIGHTS, x), jax.jit(lambda x: layer(WEIGHTS, x))):
        with pytest.raises(ArgumentError, match="`params` is not an argument or a part of one, and the function uses"):
            trace(function, X, params={"w": jnp.ones((4, 4))})


# What they are


def test_what_is_given_as_parameters_are_parameters():
    whole = {"k": shape(8, 8, dtype="int8")}
    report = trace(lambda p, x: x @ p["k"], whole, shape(2, 8, dtype="int8"), params=whole)
    assert (report.params, report.weights, report.param_bytes, report.buffers) == (64, 64, 64, 0)
    bayesian = {"mean": shape(3, 4), "log_var": shape(3, 4)}

    def sampled(params, key, x):
        return x @ (params["mean"] + jnp.exp(params["log_var"] / 2) * jax.random.normal(key, (3, 4)))

    assert trace(sampled, bayesian, jax.random.key(0), shape(2, 3), params=bayesian).params == 24
    named = {"count": shape(3, 4), "ema": shape(3), "var": shape(3)}
    assert trace(lambda p, x: x @ p["count"].T + p["ema"] * p["var"], named, X, params=named).params == 18


@pytest.mark.parametrize(("first", "second"), [("lora_a", "lora_b"), ("A", "B"), ("a", "b")])
def test_both_matrices_of_lora_are_weights(first, second):
    layer = {"w": shape(4, 8), "bias": shape(8), first: shape(4, 3), second: shape(3, 8)}
    report = trace(lambda p, x: x @ p["w"] + x @ p[first] @ p[second] + p["bias"], layer, X, params=layer)
    assert (report.weights, report.biases) == (4 * 8 + 4 * 3 + 3 * 8, 8)
    stacked = {"w": shape(5, 4, 8), "b": shape(5, 8)}  # of five layers
    report = trace(lambda p, x: x @ p["w"][0] + p["b"][0], stacked, X, params=stacked)
    assert (report.weights, report.biases) == (5 * 4 * 8, 5 * 8)


def test_keys_and_counters_are_not_parameters():
    state = {"w": shape(4, 4), "key": jax.random.key(0), "raw": jax.random.PRNGKey(0), "step": jnp.int32(0)}
    report = trace(lambda p, x: x @ p["w"] + jax.random.normal(p["key"], (4,)), state, X, params=state)
    assert (report.params, report.weights, report.buffers) == (16, 16, 1 + 2 + 1)
    flax = {"params": {"w": shape(4, 4)}, "batch_stats": {"mean": shape(4)}}
    report = trace(lambda p, x: x @ p["params"]["w"] - p["batch_stats"]["mean"], flax, X, params=flax)
    assert (report.params, report.buffers) == (16, 4)


# Which layer they belong to


def test_a_list_of_pairs():
    """The model of JAX's own tutorial."""
    sizes = (784, 512, 512, 10)
    params = [(shape(n, m), shape(m)) for n, m in pairwise(sizes)]

    def predict(params, x):
        for w, b in params[:-1]:
            x = jax.nn.relu(x @ w + b)
        return x @ params[-1][0] + params[-1][1]

    def loss(params, x, y):
        return -(jax.nn.log_softmax(predict(params, x)) * y).mean()

    @jax.jit
    def update(params, x, y):
        gradients = jax.grad(loss)(params, x, y)
        return [(w - 0.1 * dw, b - 0.1 * db) for (w, b), (dw, db) in zip(params, gradients, strict=True)]

    report = trace(update, params, shape(128, 784), shape(128, 10), params=params)
    assert rows(report) == {"0": 784 * 512 + 512, "1": 512 * 512 + 512, "2": 512 * 10 + 10}
    assert (report.weights, report.biases, report.norms) == (668_672, 1034, 0)
    macs = [128 * n * m for n, m in pairwise(sizes)]
    assert [report[str(number)].forward_macs for number in range(3)] == macs
    assert [report[str(number)].backward_macs for number in range(3)] == [macs[0], 2 * macs[1], 2 * macs[2]]
    assert [row.path for row in report.rows] == ["0", "1", "2", "optimizer", "(rest)"]


@pytest.mark.parametrize(
    "params, layers",
    [
        ({"w1": (4, 8), "b1": (8,), "w2": (8, 4), "b2": (4,)}, ["w1", "w2"]),
        ({"W_1": (4, 8), "b_1": (8,), "W_2": (8, 4), "b_2": (4,)}, ["W_1", "W_2"]),
        ({"up_kernel": (4, 8), "up_bias": (8,), "down_kernel": (8, 4), "down_bias": (4,)}, ["up", "down"]),
        ({"fc1.weight": (4, 8), "fc1.bias": (8,), "fc2.weight": (8, 4), "fc2.bias": (4,)}, ["fc1", "fc2"]),
    ],
)
def test_a_flat_dict_has_a_row_for_each_layer(params, layers):
    params = {name: shape(*sizes) for name, sizes in params.items()}
    first, one, second, two = params

    def model(p, x):
        return jax.nn.relu(x @ p[first] + p[one]) @ p[second] + p[two]

    report = trace(model, params, X, params=params)
    assert (rows(report), report.biases) == ({layers[0]: 40, layers[1]: 36}, 12)
    assert [report[name].macs for name in layers] == [2 * 4 * 8, 2 * 8 * 4]


def test_a_flat_list_and_a_single_layer():
    params = [shape(4, 8), shape(8), shape(8, 4), shape(4)]
    report = trace(lambda p, x: jax.nn.relu(x @ p[0] + p[1]) @ p[2] + p[3], params, X, params=params)
    assert (rows(report), report.biases) == ({"0": 40, "2": 36}, 12)
    single = {"w": shape(4, 8), "b": shape(8)}

    def dense(p, x):
        return x @ p["w"] + p["b"]

    assert rows(trace(dense, single, X, params=single)) == {"dense": 40}


# What is handed in


@pytest.mark.parametrize("kind", [numpy.float32, numpy.dtype("float32"), jnp.float32, "float32"])
def test_types_are_handed_on(kind):
    assert trace(lambda x, kind: x.astype(kind) @ x.T.astype(kind), X, kind).macs == 16


def test_scalars_of_numpy_are_handed_on():
    def power(x, times, double):
        for _ in range(times):
            x = x @ x
        return x @ x if double else x

    square = shape(4, 4)
    assert trace(power, square, numpy.int64(3), numpy.bool_(False)).macs == 3 * 64
    assert trace(power, square, times=numpy.int64(3), double=numpy.bool_(True)).macs == 4 * 64
    assert trace(lambda x, scale: x @ x * scale, square, numpy.float32(0.5)).macs == 64
    assert trace(lambda x, names: x @ x if len(names) else x, square, numpy.array(["a"])).macs == 64
    scaled = {"w": shape(4, 4), "scale": numpy.float32(2)}
    assert trace(lambda p, x: x @ p["w"] * p["scale"], scaled, X, params=scaled).params == 17


def test_symbolic_sizes_are_refused():
    (batch,) = jax.export.symbolic_shape("b") if hasattr(jax, "export") else (None,)
    with pytest.raises(ArgumentError, match=r"an array has the symbolic shape `\(b, 4\)`\nhint: trace it with numbers"):
        trace(lambda x: x @ x.T, ShapeDtypeStruct((batch, 4), "float32"))


def test_an_exported_function_is_refused():
    from jax import export

    exported = export.export(jax.jit(lambda x: x @ x))(shape(4, 4))
    with pytest.raises(
        UncountedError, match=r"no rule says what `call_exported` costs\nhint: .*trace the function itself"
    ):
        trace(exported.call, shape(4, 4))


# What comes out


def test_results_that_are_not_arrays_are_dropped():
    results = lambda x: {"y": x @ x, "f": jax.nn.relu, "n": 3, "name": "a", "kind": jnp.float32}  # noqa: E731
    assert trace(results, shape(4, 4)).macs == 64


def test_what_a_function_changes_is_a_result():
    def change(state, x):
        state["total"] = state["total"] + x @ x
        state["new"] = (x @ x) @ x

    assert trace(change, {"total": shape(4, 4)}, shape(4, 4)).macs == 2 * 64 + 64
    assert trace(lambda values, x: values.append(x @ x), [shape(4)], shape(4, 4)).macs == 64
