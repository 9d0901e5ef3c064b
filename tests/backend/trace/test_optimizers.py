"""Training steps in bare JAX: what is an optimizer's, and which layer a gradient belongs to."""

import pytest

jax = pytest.importorskip("jax")
optax = pytest.importorskip("optax")

from jax import ShapeDtypeStruct, lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from paramcount.backend.trace.trace import trace  # noqa: E402

BATCH, FIRST, SECOND = 5, 5 * 4 * 8, 5 * 8 * 2
PARAMS = {"block0": {"w": jnp.ones((4, 8)), "b": jnp.ones(8)}, "block1": {"w": jnp.ones((8, 2)), "b": jnp.ones(2)}}
X, Y = ShapeDtypeStruct((BATCH, 4), jnp.float32), ShapeDtypeStruct((BATCH, 2), jnp.float32)
LAYERS = {"block0": (FIRST, FIRST, 40), "block1": (SECOND, 2 * SECOND, 18)}


def network(params, x):
    x = jax.nn.relu(x @ params["block0"]["w"] + params["block0"]["b"])
    return x @ params["block1"]["w"] + params["block1"]["b"]


def loss(params, x, y):
    return ((network(params, x) - y) ** 2).mean()


def layers(report):
    """The forward and backward MACs and the parameters of each row that has any."""
    rows = [row for row in report.rows if row.leaf]
    return {
        row.path: (row.forward_macs, row.backward_macs, row.get("params"))
        for row in rows
        if row.forward_macs or row.backward_macs or row.get("params")
    }


def descent(params, x, y):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x, y))


OPTIMIZERS = {
    "sgd": lambda: optax.sgd(0.1),
    "momentum": lambda: optax.sgd(0.1, 0.9),
    "adam": lambda: optax.adam(optax.cosine_decay_schedule(0.1, 9)),
    "muon": lambda: optax.contrib.muon(0.1),
    "clipped": lambda: optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(0.1)),
    "multi": lambda: optax.MultiSteps(optax.adam(0.1), 4),
    "adafactor": lambda: optax.adafactor(0.1),
    "flat": lambda: optax.flatten(optax.adam(0.1)),
    "averaged": lambda: optax.chain(optax.adam(0.1), optax.ema(0.9)),
    "divided": lambda: optax.masked(optax.adam(0.1), {"block0": True, "block1": False}),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit])
def test_an_optimizer_is_one_row(name, wrap):
    optimizer = OPTIMIZERS[name]()

    def step(params, state, x, y):
        value, gradient = jax.value_and_grad(loss)(params, x, y)
        updates, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, value

    report = trace(wrap(step), PARAMS, optimizer.init(PARAMS), X, Y, params=PARAMS)
    assert layers(report) == LAYERS
    assert [row.path for row in report.rows] == ["block0", "block1", "optimizer", "(rest)"]
    assert report.macs == report.forward_macs + report.backward_macs + report.update_macs
    # Muon: five times X Xᵀ, its square, and their product with X, for 4 × 8 and 2 × 8.
    assert report.update_macs == (5 * (2 * 4 * 4 * 8 + 4**3 + 2 * 2 * 2 * 8 + 2**3) if name == "muon" else 0)
    unnamed = trace(wrap(step), PARAMS, optimizer.init(PARAMS), X, Y)
    assert {path: (*macs, None) for path, (*macs, _) in LAYERS.items()} == layers(unnamed)


def momentum(params, moments, x, y):
    gradient = jax.grad(loss)(params, x, y)
    moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, gradient)
    return jax.tree.map(lambda p, m: p - 0.1 * m, params, moments), moments


def test_a_state_of_parameters_and_moments():
    def step(state, x, y):
        params, moments = momentum(state["params"], state["mu"], x, y)
        return {"params": params, "mu": moments}

    state = {"params": PARAMS, "mu": jax.tree.map(jnp.zeros_like, PARAMS)}
    report = trace(step, state, X, Y, params=PARAMS)
    assert layers(report) == LAYERS
    # 0.9 m + g, and p - 0.1 m: four operations for each element.
    assert report["optimizer"].elementwise == 4 * 58
    whole = trace(step, state, X, Y, params=state)
    assert layers(whole) == {**LAYERS, "mu/block0": (0, 0, 40), "mu/block1": (0, 0, 18)}
    assert whole.params == 2 * report.params
    one = {name: {"a": ShapeDtypeStruct((64, 64), jnp.float32)} for name in ("params", "mu")}

    def linear(state, x):
        gradient = jax.grad(lambda p: (x @ p["a"]).sum())(state["params"])
        moments = {"a": 0.9 * state["mu"]["a"] + gradient["a"]}
        return {"params": {"a": state["params"]["a"] - moments["a"]}, "mu": moments}

    report = trace(linear, one, ShapeDtypeStruct((1, 64), jnp.float32), params=one["params"])
    assert layers(report) == {"a": (0, 4096, 4096)}


def masked(params, x, y, mask):
    return (mask * (network(params, x / 255) - y) ** 2).mean()


@pytest.mark.parametrize(
    ("batch", "function"),
    [
        ({"x": X, "y": Y}, lambda params, batch: loss(params, batch["x"], batch["y"])),
        ([X, Y], lambda params, batch: loss(params, *batch)),
        ({"x": X, "y": Y, "mask": Y}, lambda params, batch: masked(params, **batch)),
    ],
)
@pytest.mark.parametrize("each", [False, True])
def test_a_batch_that_is_a_dict_or_a_list_is_not_a_layer(batch, function, each):
    def of_examples(params, batch):
        gradients = jax.vmap(jax.grad(function), (None, 0))(params, batch)
        return jax.tree.map(lambda gradient: gradient.sum(0), gradients)

    def step(params, batch):
        gradient = (of_examples if each else jax.grad(function))(params, batch)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient)

    assert layers(trace(step, PARAMS, batch, params=PARAMS)) == LAYERS


def test_a_gradient_that_is_a_multiple_of_the_data():
    """The data, whose size divides that of the weight, is not what the gradient belongs to."""
    params, batch = {"head": {"w": jnp.ones((6, 6))}}, {"x": ShapeDtypeStruct((3, 6), jnp.float32)}
    optimizer = optax.contrib.muon(0.1)

    def step(params, state, batch):
        gradient = jax.grad(lambda p: (jnp.sin(batch["x"] @ p["head"]["w"])).sum())(params)
        updates, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), state

    report = trace(step, params, optimizer.init(params), batch, params=params)
    assert layers(report) == {"head": (108, 108, 36)}


# A weight that is computed from the parameters of one layer


def centred(layer):
    w = layer["w"] - layer["w"].mean(0)
    return w / jnp.sqrt((w**2).mean(0) + 1e-5)


MADE = {
    "scaled": ({"w": jnp.int8, "scale": 1}, lambda layer: layer["w"].astype(float) * layer["scale"]),
    "normed": ({"w": 2, "g": 1}, lambda layer: layer["g"] * layer["w"] / jnp.sqrt((layer["w"] ** 2).sum(0))),
    "centred": ({"w": 2}, centred),
    "drawn": (
        {"w": 2, "rho": 2},
        lambda layer: layer["w"] + jnp.exp(layer["rho"]) * jax.random.normal(jax.random.key(0), layer["w"].shape),
    ),
    "rounded": ({"w": 2}, lambda layer: layer["w"] + jnp.round(layer["w"] / abs(layer["w"]).max(0))),
    "causal": ({"w": 2}, lambda layer: jnp.tril(layer["w"])),
}


@pytest.mark.parametrize("name", MADE)
def test_a_weight_made_of_parameters_is_of_their_layer(name):
    tensors, made = MADE[name]

    def layer(inside, outside):
        floats = {each: jnp.ones((inside, outside)[-axes:]) for each, axes in tensors.items() if axes in (1, 2)}
        return {each: jnp.ones((inside, outside), jnp.int8) for each in tensors} | floats

    params = {"first": layer(4, 8), "second": layer(8, 2)}

    def value(params, x):
        return (jax.nn.relu(x @ made(params["first"])) @ made(params["second"])).sum()

    sizes = {path: sum(each.size for each in params[path].values()) for path in params}
    forward = {"first": (FIRST, 0, sizes["first"]), "second": (SECOND, 0, sizes["second"])}
    assert layers(trace(value, params, X, params=params)) == forward
    if name != "scaled":  # by integers nothing is differentiated
        both = {"first": (FIRST, FIRST, sizes["first"]), "second": (SECOND, 2 * SECOND, sizes["second"])}
        assert layers(trace(jax.value_and_grad(value), params, X, params=params)) == both


def test_a_train_state_of_bare_jax():
    train_state = pytest.importorskip("flax.training.train_state", reason="needs flax")
    state = train_state.TrainState.create(apply_fn=network, params=PARAMS, tx=optax.adam(0.1))
    report = trace(
        lambda state, x, y: state.apply_gradients(grads=jax.grad(loss)(state.params, x, y)), state, X, Y, params=PARAMS
    )
    assert layers(report) == LAYERS
    assert [row.path for row in report.rows] == ["block0", "block1", "optimizer", "(rest)"]


def test_steps_in_a_loop():
    moments = jax.tree.map(jnp.zeros_like, PARAMS)
    xs, ys = (ShapeDtypeStruct((7, *each.shape), each.dtype) for each in (X, Y))
    expected = {path: (7 * forward, 7 * backward, params) for path, (forward, backward, params) in LAYERS.items()}

    def scanned(params, moments, xs, ys):
        return lax.scan(lambda state, batch: (momentum(*state, *batch), None), (params, moments), (xs, ys))[0]

    report = trace(scanned, PARAMS, moments, xs, ys, params=PARAMS)
    assert (layers(report), report["optimizer"].elementwise) == (expected, 7 * 4 * 58)

    def counted(params, moments, x, y):
        return lax.fori_loop(0, 7, lambda _, state: momentum(*state, x, y), (params, moments))

    assert layers(trace(counted, PARAMS, moments, X, Y, params=PARAMS)) == expected

    def accumulated(params, xs, ys):
        def add(total, batch):
            return jax.tree.map(jnp.add, total, jax.grad(loss)(params, *batch)), None

        total, _ = lax.scan(add, jax.tree.map(jnp.zeros_like, params), (xs, ys))
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, total)

    report = trace(accumulated, PARAMS, xs, ys, params=PARAMS)
    assert (layers(report), report["optimizer"].elementwise) == (expected, 2 * 58)


def test_gradients_of_examples_and_of_outputs():
    each = trace(jax.vmap(jax.grad(loss), (None, 0, 0)), PARAMS, X, Y, params=PARAMS)
    assert layers(each) == LAYERS
    jacobian = trace(jax.jacrev(network), PARAMS, X, params=PARAMS)
    # For each of the ten outputs a product with the weights' gradient in both layers, and one with the first's output.
    assert layers(jacobian) == {"block0": (FIRST, 10 * FIRST, 40), "block1": (0, 2 * 10 * SECOND, 18)}

    def private(params, x, y):
        gradient = jax.vmap(jax.grad(loss), (None, 0, 0))(params, x, y)
        squares = [(leaf.reshape(BATCH, -1) ** 2).sum(1) for leaf in jax.tree.leaves(gradient)]
        scale = jnp.minimum(1, 1 / jnp.sqrt(jnp.stack(squares).sum(0)))
        clipped = jax.tree.map(lambda g: jnp.einsum("b...,b->b...", g, scale).sum(0), gradient)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, clipped)

    assert layers(trace(private, PARAMS, X, Y, params=PARAMS)) == LAYERS


def test_learning_to_learn():
    def adapted(params, x, y):
        return loss(descent(params, x, y), x, y)

    # Each layer runs before and after the inner step, whose gradient is that of the plain one.
    inside = {path: (2 * forward, backward, params) for path, (forward, backward, params) in LAYERS.items()}
    assert layers(trace(adapted, PARAMS, X, Y, params=PARAMS)) == inside

    def outer(params, x, y):
        value, gradient = jax.value_and_grad(adapted)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient), value

    report = trace(outer, PARAMS, X, Y, params=PARAMS)
    assert report.forward_macs == 2 * (FIRST + SECOND)
    assert layers(report).keys() == LAYERS.keys()  # nothing beside the layers
    assert layers(trace(jax.grad(adapted), PARAMS, X, Y, params=PARAMS)).keys() == LAYERS.keys()


def test_gradients_alone_are_not_an_optimizer():
    report = trace(lambda p, x, y: jax.tree.map(lambda g: g / 8, jax.grad(loss)(p, x, y)), PARAMS, X, Y, params=PARAMS)
    assert [row.path for row in report.rows] == ["block0", "block1", "(rest)"]
    assert layers(report) == LAYERS


def test_an_optimizer_in_a_scope():
    @jax.named_scope("descent")
    def update(params, gradient):
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient)

    report = trace(lambda p, x, y: update(p, jax.grad(loss)(p, x, y)), PARAMS, X, Y, params=PARAMS)
    assert [row.path for row in report.rows] == ["block0", "block1", "descent", "(rest)"]
    assert (report["descent"].elementwise, layers(report)) == (2 * 58, LAYERS)

    def named(params, x):
        with jax.named_scope("all"):
            gradient = jax.grad(lambda p: (jax.named_scope("dense")(jnp.matmul)(x, p["w"]) ** 2).sum())(params)
            return {"w": params["w"] - gradient["w"]}

    params = {"w": jnp.ones((4, 4))}
    report = trace(named, params, X, params=params)
    assert [row.path for row in report.rows] == ["all", "all/dense", "all/optimizer", "all/(rest)"]


@pytest.mark.parametrize("given", [True, False])
def test_several_steps_without_a_loop(given):
    optimizer = optax.adam(0.1)

    def steps(params, state, x, y):
        for _ in range(3):
            updates, state = optimizer.update(jax.grad(loss)(params, x, y), state, params)
            params = optax.apply_updates(params, updates)
        return params, state

    report = trace(steps, PARAMS, optimizer.init(PARAMS), X, Y, params=PARAMS if given else None)
    rows = {path: (forward, backward) for path, (forward, backward, _) in layers(report).items()}
    assert rows == {"block0": (3 * FIRST, 3 * FIRST), "block1": (3 * SECOND, 3 * 2 * SECOND)}
    assert [row.path for row in report.rows] == ["block0", "block1", "optimizer", "(rest)"]


def test_two_networks_that_are_returned_apart():
    both = {"made": {"gen": {"w": jnp.ones((3, 4))}}, "judge": PARAMS}
    noise = ShapeDtypeStruct((BATCH, 3), jnp.float32)

    def step(both, noise):
        make, judge = both["made"], both["judge"]

        def value(make, judge):
            return network(judge, noise @ make["gen"]["w"]).mean()

        slopes = jax.grad(value, (0, 1))(make, judge)
        make = jax.tree.map(lambda p, g: p + 0.1 * g, make, slopes[0])
        return make, jax.tree.map(lambda p, g: p - 0.1 * g, judge, slopes[1])

    report = trace(step, both, noise, params=both)
    gen = BATCH * 3 * 4
    assert layers(report) == {
        "made/gen": (gen, gen, 12),
        "judge/block0": (FIRST, 2 * FIRST, 40),
        "judge/block1": (0, 2 * SECOND, 18),  # its value is not needed
    }
    assert report["optimizer"].elementwise == 2 * (12 + 58)
