"""Training steps as their frameworks' users write them: every product at its layer, the optimizer in one row."""

from typing import Any

import pytest

jax = pytest.importorskip("jax")
optax = pytest.importorskip("optax")

from jax import ShapeDtypeStruct  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from paramcount.backend.trace.trace import trace  # noqa: E402
from paramcount.errors import ArgumentError  # noqa: E402

# 5 examples through 4 to 8 to 2: a product each forward; backward one of the data's layer, two of the other.
BATCH, FIRST, SECOND = 5, 5 * 4 * 8, 5 * 8 * 2
WEIGHTS, BIASES, NORMS = 4 * 8 + 8 * 2, 8 + 2, 8 + 8
X, Y = ShapeDtypeStruct((BATCH, 4), jnp.float32), ShapeDtypeStruct((BATCH, 2), jnp.float32)


def layer_rows(report):
    """The forward, backward and update MACs of each row, where it has any, and its parameters."""
    rows = [row for row in report.rows if row.leaf and (row.macs or row.params)]
    return {row.path: (row.forward_macs, row.backward_macs, row.update_macs, row.params) for row in rows}


def names(report):
    return [row.path for row in report.rows if row.leaf]


class TestNnx:
    @pytest.fixture
    def nnx(self):
        return pytest.importorskip("flax.nnx", reason="needs flax")

    @staticmethod
    def made(nnx):
        class Net(nnx.Module):
            def __init__(self, rngs):
                self.hidden, self.norm = nnx.Linear(4, 8, rngs=rngs), nnx.BatchNorm(8, rngs=rngs)
                self.drop, self.head = nnx.Dropout(0.5, rngs=rngs), nnx.Linear(8, 2, rngs=rngs)

            def __call__(self, x):
                return self.head(self.drop(nnx.relu(self.norm(self.hidden(x)))))

        model = Net(nnx.Rngs(0))
        return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    @staticmethod
    def step(nnx):
        def step(model, optimizer, x, y):
            loss, gradient = nnx.value_and_grad(lambda model: ((model(x) - y) ** 2).mean())(model)
            optimizer.update(model, gradient)
            return loss

        return step

    ROWS = {  # noqa: RUF012
        "hidden": (FIRST, FIRST, 0, 4 * 8 + 8),
        "norm": (0, 0, 0, NORMS),
        "head": (SECOND, 2 * SECOND, 0, 8 * 2 + 2),
    }

    @pytest.mark.parametrize("compiled", [False, True])
    def test_a_step_whose_result_is_the_loss_alone(self, nnx, compiled):
        model, optimizer = self.made(nnx)
        step = nnx.jit(self.step(nnx)) if compiled else self.step(nnx)
        report = trace(step, model, optimizer, X, Y, params=nnx.state(model, nnx.Param))
        assert layer_rows(report) == self.ROWS
        assert names(report) == ["hidden", "norm", "drop", "head", "optimizer", "(rest)"]
        assert (report.weights, report.biases, report.norms) == (WEIGHTS, BIASES + 8, 8)  # the norm has a bias too
        assert report["optimizer"].elementwise > 10 * report.params  # both moments of each

    def test_metrics_and_statistics_are_results(self, nnx):
        model, optimizer = self.made(nnx)
        metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))

        def step(model, optimizer, metrics, x, y):
            loss, gradient = nnx.value_and_grad(lambda model: ((model(x) - y) ** 2).mean())(model)
            metrics.update(loss=loss)
            optimizer.update(model, gradient)

        report = trace(nnx.jit(step), model, optimizer, metrics, X, Y, params=nnx.state(model, nnx.Param))
        assert layer_rows(report) == self.ROWS
        without = trace(self.step(nnx), model, optimizer, X, Y)
        assert report.elementwise == without.elementwise + 3  # the sum, the number, and the division by one

        def only_statistics(model, x):
            model(x)

        assert trace(only_statistics, model, X).macs == FIRST  # nothing reads what the head makes

    def test_a_module_that_changes_itself(self, nnx):
        model, _ = self.made(nnx)
        params = nnx.state(model, nnx.Param)
        for function in (model, model.__call__, nnx.jit(model), jax.tree_util.Partial(model.__call__)):
            report = trace(function, X, params=params)
            assert (report.forward_macs, report.params) == (FIRST + SECOND, WEIGHTS + BIASES + NORMS)
        with pytest.raises(ArgumentError, match="closes over\nhint: hand the module in as an argument"):
            trace(lambda x: model(x), X)

    def test_a_whole_state_has_keys_and_statistics_that_are_no_parameters(self, nnx):
        model, optimizer = self.made(nnx)
        for params in (nnx.state(model), model):
            report = trace(self.step(nnx), model, optimizer, X, Y, params=params)
            assert (report.params, report.weights) == (WEIGHTS + BIASES + NORMS, WEIGHTS)
            assert report.buffers == 2 * 8 + 2  # the mean and the variance, a key and a counter
            assert layer_rows(report) == self.ROWS

    def test_a_shared_module_counts_once(self, nnx):
        class Twice(nnx.Module):
            def __init__(self, rngs):
                self.one = nnx.Linear(4, 4, rngs=rngs)
                self.two = self.one

            def __call__(self, x):
                return self.two(nnx.relu(self.one(x)))

        model = Twice(nnx.Rngs(0))
        report = trace(model, X, params=nnx.state(model, nnx.Param))
        assert (report.params, report.macs, names(report)) == (20, 2 * BATCH * 16, ["one", "(rest)"])


class TestLinen:
    def test_a_train_state(self):
        nn = pytest.importorskip("flax.linen", reason="needs flax")
        train_state = pytest.importorskip("flax.training.train_state")

        class Net(nn.Module):
            @nn.compact
            def __call__(self, x):
                x = nn.relu(nn.BatchNorm(use_running_average=False)(nn.Dense(8)(x)))
                return nn.Dense(2)(nn.Dropout(0.5, deterministic=False)(x))

        class State(train_state.TrainState):
            batch_stats: Any
            key: Any

        net = Net()
        keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
        variables = net.init(keys, jnp.ones(X.shape))
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(0.1, 9)))
        state = State.create(
            apply_fn=net.apply,
            params=variables["params"],
            tx=optimizer,
            batch_stats=variables["batch_stats"],
            key=jax.random.key(2),
        )

        @jax.jit
        def step(state, x, y):
            def loss(params):
                everything = {"params": params, "batch_stats": state.batch_stats}
                keys = {"dropout": jax.random.fold_in(state.key, state.step)}
                output, changed = state.apply_fn(everything, x, rngs=keys, mutable=["batch_stats"])
                return ((output - y) ** 2).mean(), changed

            (value, changed), gradient = jax.value_and_grad(loss, has_aux=True)(state.params)
            return state.apply_gradients(grads=gradient).replace(batch_stats=changed["batch_stats"]), value

        report = trace(step, state, X, Y, params=state.params)
        assert layer_rows(report) == {
            "Net/Dense_0": (FIRST, FIRST, 0, 4 * 8 + 8),
            "Net/BatchNorm_0": (0, 0, 0, NORMS),
            "Net/Dense_1": (SECOND, 2 * SECOND, 0, 8 * 2 + 2),
        }
        assert {name.split("/")[0] for name in names(report)} == {"Net", "optimizer", "(rest)"}


class TestEquinox:
    @pytest.fixture
    def eqx(self):
        return pytest.importorskip("equinox", reason="needs equinox")

    @pytest.mark.parametrize("compiled", [False, True])
    @pytest.mark.parametrize("together", [False, True])
    def test_a_step_that_returns_the_model(self, eqx, compiled, together):
        model, optimizer = eqx.nn.MLP(4, 2, 8, 1, key=jax.random.key(0)), optax.adam(1e-3)
        state = optimizer.init(eqx.filter(model, eqx.is_array))

        def step(model, state, x, y):
            loss = eqx.filter_value_and_grad(lambda model: ((jax.vmap(model)(x) - y) ** 2).mean())
            value, gradient = loss(model)
            updates, state = optimizer.update(gradient, state, eqx.filter(model, eqx.is_array))
            return eqx.apply_updates(model, updates), state, value

        def both(pair, x, y):
            *pair, value = step(*pair, x, y)
            return tuple(pair), value

        wrap = eqx.filter_jit if compiled else lambda function: function
        for params in (model, eqx.filter(model, eqx.is_array)):
            if together:
                report = trace(wrap(both), (model, state), X, Y, params=params)
            else:
                report = trace(wrap(step), model, state, X, Y, params=params)
            assert layer_rows(report) == {
                "layers[0]": (FIRST, FIRST, 0, 4 * 8 + 8),
                "layers[1]": (SECOND, 2 * SECOND, 0, 8 * 2 + 2),
            }
            assert set(names(report)) == {"layers[0]", "layers[1]", "eqx.nn.MLP", "optimizer", "(rest)"}

    def test_a_compiled_model(self, eqx):
        model = eqx.nn.MLP(4, 2, 8, 1, key=jax.random.key(0))
        report = trace(eqx.filter_jit(lambda x: jax.vmap(model)(x)), X, params=model)
        assert layer_rows(report) == {"layers[0]": (FIRST, 0, 0, 40), "layers[1]": (SECOND, 0, 0, 18)}

    def test_a_cell_is_one_layer(self, eqx):
        cell = eqx.nn.LSTMCell(4, 3, key=jax.random.key(0))
        state = ShapeDtypeStruct((BATCH, 3), jnp.float32)
        report = trace(jax.vmap(lambda cell, x, h: cell(x, (h, h)), (None, 0, 0)), cell, X, state, params=cell)
        assert layer_rows(report) == {"eqx.nn.LSTMCell": (BATCH * 4 * 3 * (4 + 3), 0, 0, 4 * 3 * (4 + 3) + 4 * 3)}


class TestHaiku:
    def test_a_step_with_state(self):
        hk = pytest.importorskip("haiku", reason="needs dm-haiku")

        def network(x):
            x = hk.BatchNorm(True, True, 0.9)(hk.Linear(8)(x), is_training=True)
            x = hk.dropout(hk.next_rng_key(), 0.5, jax.nn.relu(x))
            return hk.nets.MLP([2], name="head")(x)

        model, optimizer = hk.transform_with_state(network), optax.adam(1e-3)
        params, state = model.init(jax.random.key(0), jnp.ones(X.shape))

        @jax.jit
        def step(params, state, moments, key, x, y):
            def loss(params):
                output, changed = model.apply(params, state, key, x)
                return ((output - y) ** 2).mean(), changed

            (value, changed), gradient = jax.value_and_grad(loss, has_aux=True)(params)
            updates, moments = optimizer.update(gradient, moments)
            return optax.apply_updates(params, updates), changed, moments, value

        report = trace(step, params, state, optimizer.init(params), jax.random.key(1), X, Y, params=params)
        rows = layer_rows(report)
        assert rows["linear"] == (FIRST, FIRST, 0, 4 * 8 + 8)
        assert rows["head/linear_0"] == (SECOND, 2 * SECOND, 0, 8 * 2 + 2)
        assert report["batch_norm"].params == NORMS
        assert {name.split("/")[0] for name in names(report)} == {"linear", "batch_norm", "head", "optimizer", "(rest)"}
        forward = trace(
            lambda both, key, x: model.apply(*both, key, x)[0],
            (params, state),
            jax.random.key(1),
            X,
            params=(params, state),
        )
        assert forward.params == WEIGHTS + BIASES + NORMS
        assert forward.buffers == 2 * (8 + 8 + 1)  # two averages, with and without the bias, and how many there were
