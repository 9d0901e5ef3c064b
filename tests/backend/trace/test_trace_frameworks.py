"""Models of Flax (linen and nnx) and Equinox, traced as they are, against closed forms worked out here."""

from typing import Any

import pytest

jax = pytest.importorskip("jax")

from jax import ShapeDtypeStruct, lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from paramcount.backend.trace.trace import trace  # noqa: E402

BATCH = 4

# 784-512-512-10.
MLP = BATCH * (784 * 512 + 512 * 512 + 512 * 10)
MLP_FIRST = BATCH * 784 * 512
MLP_PARAMS = 784 * 512 + 512 + 512 * 512 + 512 + 512 * 10 + 10

# 8×8×3, a convolution to 8 channels, one to 16 with stride 2, both with batch norm, the mean, a dense layer.
CONV0, CONV1, LAST = BATCH * 64 * 27 * 8, BATCH * 16 * 72 * 16, BATCH * 16 * 10
CNN = CONV0 + CONV1 + LAST
CNN_WEIGHTS = 27 * 8 + 72 * 16 + 16 * 10
CNN_PARAMS = CNN_WEIGHTS + 8 + 16 + 10 + 2 * 8 + 2 * 16

# 5 steps of 6 to 7: four gates of the input and of the state.
LSTM = BATCH * 5 * 4 * 7 * (6 + 7)

# 3 layers of attention with 2 heads and a perceptron four times as wide, 8 wide, on 6 tokens.
TOKENS, WIDTH, LAYERS = 6, 8, 3
PROJECTIONS, SCORES, UP = 4 * TOKENS * WIDTH**2, 2 * TOKENS**2 * WIDTH, TOKENS * WIDTH * 4 * WIDTH
TRANSFORMER = BATCH * LAYERS * (PROJECTIONS + SCORES + 2 * UP)
AGAIN = TRANSFORMER - BATCH * LAYERS * UP  # the last product's result is not needed again


def shape(*sizes):
    return ShapeDtypeStruct(sizes, jnp.float32)


def square(x):
    return (x**2).sum()


def leaf_macs(report):
    return {row.path: row.macs for row in report.rows if row.leaf and row.macs}


class TestLinen:
    @pytest.fixture
    def nn(self):
        return pytest.importorskip("flax.linen", reason="needs flax")

    @staticmethod
    def both(model, x, *, train=False, mutable=False):
        """The reports of the model, and of its loss's value and gradient."""
        variables = jax.eval_shape(model.init, jax.random.key(0), x)
        params, rest = variables["params"], {k: v for k, v in variables.items() if k != "params"}
        settings = {"mutable": ["batch_stats"]} if mutable else {}

        def forward(params, rest, x):
            out = model.apply({"params": params, **rest}, x, **settings)
            return out[0] if mutable else out

        loss = jax.value_and_grad(lambda params, rest, x: square(forward(params, rest, x)))
        return (
            trace(forward, params, rest, x, params=params),
            trace(loss, params, rest, x, params=params),
        )

    def test_mlp(self, nn):
        model = nn.Sequential([nn.Dense(512), nn.relu, nn.Dense(512), nn.relu, nn.Dense(10)])
        forward, step = self.both(model, shape(BATCH, 784))
        assert (forward.macs, forward.params, forward.weights) == (MLP, MLP_PARAMS, MLP_PARAMS - 1034)
        assert (step.forward_macs, step.backward_macs) == (MLP, 2 * MLP - MLP_FIRST)
        assert leaf_macs(forward)["Sequential/layers_0"] == MLP_FIRST
        rows = {row.path: row for row in step.rows}
        assert rows["Sequential/layers_2"].params == 512 * 512 + 512
        assert rows["Sequential/layers_2"].backward_macs == 2 * rows["Sequential/layers_2"].forward_macs

    def test_cnn(self, nn):
        class CNN_(nn.Module):
            @nn.compact
            def __call__(self, x):
                for out, stride in ((8, 1), (16, 2)):
                    x = nn.Conv(out, (3, 3), (stride, stride))(x)
                    x = nn.relu(nn.BatchNorm(use_running_average=False)(x))
                return nn.Dense(10)(x.mean((1, 2)))

        forward, step = self.both(CNN_(), shape(BATCH, 8, 8, 3), mutable=True)
        assert (forward.macs, forward.params, forward.weights) == (CNN, CNN_PARAMS, CNN_WEIGHTS)
        assert (step.forward_macs, step.backward_macs) == (CNN, 2 * CNN - CONV0)
        assert leaf_macs(forward) == {"CNN_/Conv_0": CONV0, "CNN_/Conv_1": CONV1, "CNN_/Dense_0": LAST}
        norms = {row.path: row.params for row in step.rows if "BatchNorm" in row.path}
        assert norms == {"CNN_/BatchNorm_0": 16, "CNN_/BatchNorm_1": 32}

    def test_lstm(self, nn):
        forward, step = self.both(nn.RNN(nn.LSTMCell(7)), shape(BATCH, 5, 6))
        assert forward.macs == LSTM
        # No gradient of the inputs; and none of the first state, which the loop makes all the same.
        assert (step.forward_macs, step.backward_macs) == (LSTM, 2 * LSTM - BATCH * 5 * 4 * 7 * 6)
        assert all(row.repeat == 5 for row in forward.rows if row.leaf and row.macs)

    @pytest.mark.parametrize("remat", [False, True])
    def test_transformer(self, nn, remat):
        class Block(nn.Module):
            @nn.compact
            def __call__(self, x, _):
                x = x + nn.MultiHeadDotProductAttention(num_heads=2)(nn.LayerNorm()(x))
                return x + nn.Dense(WIDTH)(nn.gelu(nn.Dense(4 * WIDTH)(nn.LayerNorm()(x)))), None

        class Transformer(nn.Module):
            @nn.compact
            def __call__(self, x):
                block = nn.remat(Block, prevent_cse=False) if remat else Block
                stack = nn.scan(block, variable_axes={"params": 0}, split_rngs={"params": True}, length=LAYERS)
                return stack(name="layers")(x + self.param("start", nn.initializers.zeros, (WIDTH,)), None)[0]

        forward, step = self.both(Transformer(), shape(BATCH, TOKENS, WIDTH))
        assert forward.macs == TRANSFORMER
        found = step.forward_macs, step.backward_macs, step.recomputed_macs
        assert found == (TRANSFORMER, 2 * TRANSFORMER, AGAIN if remat else 0)
        # Every row of the gradient is one of the forward pass.
        assert leaf_macs(step).keys() == leaf_macs(forward).keys()
        assert forward.params == LAYERS * (4 * WIDTH**2 + 8 * WIDTH**2 + (4 + 4 + 1 + 4) * WIDTH) + WIDTH


class TestNnx:
    @pytest.fixture
    def nnx(self):
        return pytest.importorskip("flax.nnx", reason="needs flax")

    @staticmethod
    def both(nnx, make, x):
        """The reports of a model's call, and of its loss's value and gradient; nothing is initialized."""
        definition, params, rest = nnx.split(nnx.eval_shape(lambda: make(nnx.Rngs(0))), nnx.Param, ...)

        def forward(params, rest, x):
            return nnx.merge(definition, params, rest, copy=True)(x)

        loss = jax.value_and_grad(lambda params, rest, x: square(forward(params, rest, x)))
        return trace(forward, params, rest, x, params=params), trace(loss, params, rest, x, params=params)

    def test_mlp(self, nnx):
        class Net(nnx.Module):
            def __init__(self, rngs):
                self.hidden = nnx.List([nnx.Linear(784, 512, rngs=rngs), nnx.Linear(512, 512, rngs=rngs)])
                self.head = nnx.Linear(512, 10, rngs=rngs)

            def __call__(self, x):
                for layer in self.hidden:
                    x = nnx.relu(layer(x))
                return self.head(x)

        forward, step = self.both(nnx, Net, shape(BATCH, 784))
        assert (forward.macs, forward.params) == (MLP, MLP_PARAMS)
        assert (step.forward_macs, step.backward_macs) == (MLP, 2 * MLP - MLP_FIRST)
        # nnx does not name scopes: the parameters do.
        second, head = BATCH * 512 * 512, BATCH * 512 * 10
        assert leaf_macs(forward) == {"hidden[0]": MLP_FIRST, "hidden[1]": second, "head": head}
        assert leaf_macs(step) == {"hidden[0]": 2 * MLP_FIRST, "hidden[1]": 3 * second, "head": 3 * head}
        assert {row.path: row.params for row in step.rows if row.macs}["head"] == 5130

        model = Net(nnx.Rngs(0))
        held = trace(model, shape(BATCH, 784), params=nnx.state(model, nnx.Param))
        assert (held.macs, held.params, leaf_macs(held)) == (MLP, MLP_PARAMS, leaf_macs(forward))

    def test_cnn(self, nnx):
        class Net(nnx.Module):
            def __init__(self, rngs):
                self.conv0, self.norm0 = nnx.Conv(3, 8, (3, 3), rngs=rngs), nnx.BatchNorm(8, rngs=rngs)
                self.conv1, self.norm1 = nnx.Conv(8, 16, (3, 3), 2, rngs=rngs), nnx.BatchNorm(16, rngs=rngs)
                self.head = nnx.Linear(16, 10, rngs=rngs)

            def __call__(self, x):
                x = nnx.relu(self.norm0(self.conv0(x)))
                return self.head(nnx.relu(self.norm1(self.conv1(x))).mean((1, 2)))

        forward, step = self.both(nnx, Net, shape(BATCH, 8, 8, 3))
        assert (forward.macs, forward.params) == (CNN, CNN_PARAMS)
        assert (step.forward_macs, step.backward_macs) == (CNN, 2 * CNN - CONV0)
        assert leaf_macs(step) == {"conv0": 2 * CONV0, "conv1": 3 * CONV1, "head": 3 * LAST}

    def test_lstm(self, nnx):
        forward, step = self.both(
            nnx, lambda rngs: nnx.RNN(nnx.LSTMCell(6, 7, rngs=rngs), rngs=rngs), shape(BATCH, 5, 6)
        )
        assert forward.macs == LSTM
        assert (step.forward_macs, step.backward_macs) == (LSTM, 2 * LSTM - BATCH * 5 * 4 * 7 * 6)
        assert all(row.repeat == 5 for row in forward.rows if row.leaf and row.macs)

    @pytest.mark.parametrize("remat", [False, True])
    def test_transformer(self, nnx, remat):
        class Block(nnx.Module):
            def __init__(self, rngs):
                self.norm0, self.norm1 = nnx.LayerNorm(WIDTH, rngs=rngs), nnx.LayerNorm(WIDTH, rngs=rngs)
                self.attend = nnx.MultiHeadAttention(2, WIDTH, decode=False, rngs=rngs)
                self.up, self.down = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs), nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs)

            def __call__(self, x):
                x = x + self.attend(self.norm0(x))
                return x + self.down(nnx.gelu(self.up(self.norm1(x))))

        class Transformer(nnx.Module):
            def __init__(self, rngs):
                self.start = nnx.Param(jnp.zeros(WIDTH))

                @nnx.split_rngs(splits=LAYERS)
                @nnx.vmap(in_axes=0, out_axes=0)
                def stacked(rngs):
                    return Block(rngs)

                self.layers = stacked(rngs)

            def __call__(self, x):
                def step(x, layer):
                    return layer(x)

                step = nnx.remat(step) if remat else step
                return nnx.scan(step, in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)(x + self.start[...], self.layers)

        forward, step = self.both(nnx, Transformer, shape(BATCH, TOKENS, WIDTH))
        assert forward.macs == TRANSFORMER
        found = step.forward_macs, step.backward_macs, step.recomputed_macs
        assert found == (TRANSFORMER, 2 * TRANSFORMER, AGAIN if remat else 0)
        up = BATCH * LAYERS * UP
        rows = {row.path: row for row in step.rows}
        assert (rows["layers/up"].forward_macs, rows["layers/up"].backward_macs) == (up, 2 * up)


class TestEquinox:
    @pytest.fixture
    def eqx(self):
        return pytest.importorskip("equinox", reason="needs equinox")

    @staticmethod
    def both(eqx, make, x):
        """The reports of a model on a batch, and of its loss's value and gradient; nothing is initialized."""
        model = eqx.filter_eval_shape(make, jax.random.key(0))

        def forward(model, x):
            return jax.vmap(model, axis_name="batch")(x)

        loss = eqx.filter_value_and_grad(lambda model, x: square(forward(model, x)))
        return trace(forward, model, x, params=model), trace(loss, model, x, params=model)

    def test_mlp(self, eqx):
        forward, step = self.both(eqx, lambda key: eqx.nn.MLP(784, 10, 512, 2, key=key), shape(BATCH, 784))
        assert (forward.macs, forward.params) == (MLP, MLP_PARAMS)
        assert (step.forward_macs, step.backward_macs) == (MLP, 2 * MLP - MLP_FIRST)
        second, head = BATCH * 512 * 512, BATCH * 512 * 10
        assert leaf_macs(forward) == {"layers[0]": MLP_FIRST, "layers[1]": second, "layers[2]": head}
        assert leaf_macs(step) == {"layers[0]": 2 * MLP_FIRST, "layers[1]": 3 * second, "layers[2]": 3 * head}

    def test_cnn(self, eqx):
        class Net(eqx.Module):
            conv0: Any
            conv1: Any
            norm0: Any
            norm1: Any
            head: Any

            def __init__(self, key):
                self.conv0 = eqx.nn.Conv2d(3, 8, 3, padding=1, key=key)
                self.conv1 = eqx.nn.Conv2d(8, 16, 3, 2, padding=1, key=key)
                self.norm0 = eqx.nn.BatchNorm(8, "batch", mode="batch")
                self.norm1 = eqx.nn.BatchNorm(16, "batch", mode="batch")
                self.head = eqx.nn.Linear(16, 10, key=key)

            def __call__(self, x, state):
                x, state = self.norm0(self.conv0(x), state)
                x, state = self.norm1(self.conv1(jax.nn.relu(x)), state)
                return self.head(jax.nn.relu(x).mean((1, 2))), state

        model, state = eqx.nn.make_with_state(Net)(jax.random.key(0))

        def forward(model, state, x):
            return jax.vmap(model, in_axes=(0, None), out_axes=(0, None), axis_name="batch")(x, state)[0]

        x = shape(BATCH, 3, 8, 8)
        report = trace(forward, model, state, x, params=model)
        assert (report.macs, leaf_macs(report)) == (CNN, {"conv0": CONV0, "conv1": CONV1, "head": LAST})
        step = trace(eqx.filter_value_and_grad(lambda *arguments: square(forward(*arguments))), model, state, x)
        assert (step.forward_macs, step.backward_macs) == (CNN, 2 * CNN - CONV0)

    def test_lstm(self, eqx):
        class Net(eqx.Module):
            cell: Any

            def __init__(self, key):
                self.cell = eqx.nn.LSTMCell(6, 7, key=key)

            def __call__(self, xs):
                start = jnp.zeros(7), jnp.zeros(7)
                return lax.scan(lambda carry, x: (self.cell(x, carry), None), start, xs)[0][0]

        forward, step = self.both(eqx, Net, shape(BATCH, 5, 6))
        assert forward.macs == LSTM
        assert (step.forward_macs, step.backward_macs) == (LSTM, 2 * LSTM - BATCH * 5 * 4 * 7 * 6)
        assert leaf_macs(forward) == {"cell": LSTM}

    @pytest.mark.parametrize("remat", [False, True])
    def test_transformer(self, eqx, remat):
        class Block(eqx.Module):
            norm0: Any
            norm1: Any
            attend: Any
            up: Any
            down: Any

            def __init__(self, key):
                self.norm0, self.norm1 = eqx.nn.LayerNorm(WIDTH), eqx.nn.LayerNorm(WIDTH)
                self.attend = eqx.nn.MultiheadAttention(2, WIDTH, key=key)
                self.up = eqx.nn.Linear(WIDTH, 4 * WIDTH, key=key)
                self.down = eqx.nn.Linear(4 * WIDTH, WIDTH, key=key)

            def __call__(self, x):
                y = jax.vmap(self.norm0)(x)
                x = x + self.attend(y, y, y)
                return x + jax.vmap(lambda x: self.down(jax.nn.gelu(self.up(self.norm1(x)))))(x)

        class Transformer(eqx.Module):
            start: Any
            blocks: Any

            def __init__(self, key):
                self.start = jnp.zeros(WIDTH)
                self.blocks = eqx.filter_vmap(Block)(jax.random.split(key, LAYERS))

            def __call__(self, x):
                arrays, static = eqx.partition(self.blocks, eqx.is_array)
                run = lambda layer, x: eqx.combine(layer, static)(x)  # noqa: E731
                run = jax.checkpoint(run) if remat else run
                return lax.scan(lambda x, layer: (run(layer, x), None), x + self.start, arrays)[0]

        forward, step = self.both(eqx, Transformer, shape(BATCH, TOKENS, WIDTH))
        assert forward.macs == TRANSFORMER
        found = step.forward_macs, step.backward_macs, step.recomputed_macs
        assert found == (TRANSFORMER, 2 * TRANSFORMER, AGAIN if remat else 0)
        rows = {row.path: row for row in step.rows}
        up = BATCH * LAYERS * UP
        assert (rows["blocks/up"].forward_macs, rows["blocks/up"].backward_macs) == (up, 2 * up)
