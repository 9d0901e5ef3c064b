"""A look-up reads its table: the row of a parameter is the first scope that reads it, also by index."""

from typing import Any

import pytest

jax = pytest.importorskip("jax")

from jax import ShapeDtypeStruct, lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from paramcount.backend.trace.trace import trace  # noqa: E402

scope = jax.named_scope


def shape(*sizes, dtype=jnp.float32):
    return ShapeDtypeStruct(sizes, dtype)


def tokens(*sizes):
    return shape(*sizes, dtype=jnp.int32)


def params_of(report):
    return {row.path: row.params for row in report.rows if row.leaf and row.params}


PARAMS = {"table": shape(100, 16), "w": shape(16, 4)}


def looked_up(look):
    def model(params, tokens):
        with scope("embed"):
            x = look(params["table"], tokens)
        with scope("head"):
            return x @ params["w"]

    return model


LOOKS = {
    "index": lambda table, tokens: table[tokens],
    "take": lambda table, tokens: jnp.take(table, tokens, axis=0),
    "cast": lambda table, tokens: table.astype(jnp.bfloat16)[tokens].astype(jnp.float32),
    "one-hot": lambda table, tokens: jax.nn.one_hot(tokens, 100) @ table,
    "dynamic": lambda table, tokens: lax.dynamic_index_in_dim(table, tokens.sum(), keepdims=False),
    "jit": jax.jit(lambda table, tokens: table[tokens]),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
def test_a_table_is_at_the_scope_that_looks_it_up(look):
    model = looked_up(look)
    for function in (model, jax.jit(model), jax.grad(lambda p, t: model(p, t).sum()), jax.checkpoint(model)):
        assert params_of(trace(function, PARAMS, tokens(5), params=PARAMS)) == {"embed": 1600, "head": 64}


def test_one_token_alone_or_in_a_batch():
    model = looked_up(LOOKS["index"])
    for function, at in ((model, tokens()), (jax.vmap(model, (None, 0)), tokens(5))):
        assert params_of(trace(function, PARAMS, at, params=PARAMS)) == {"embed": 1600, "head": 64}


def test_a_tied_table_is_at_its_first_reader():
    params = {"table": shape(100, 16)}

    def model(params, tokens):
        with scope("embed"):
            x = params["table"][tokens]
        with scope("attend"):
            return x @ params["table"].T

    report = trace(model, params, tokens(5), params=params)
    assert (params_of(report), report["attend"].macs) == ({"embed": 1600}, 5 * 16 * 100)


def test_positions_of_a_range():
    params = {"positions": shape(12, 16), "w": shape(16, 4)}

    def model(params, x):
        with scope("positions"):
            places = params["positions"][jnp.arange(5)]
        with scope("head"):
            return (x + places) @ params["w"]

    assert params_of(trace(model, params, shape(5, 16), params=params)) == {"positions": 192, "head": 64}


@pytest.mark.parametrize("first", [True, False])
def test_a_parameter_that_is_joined_with_data(first):
    params = {"start": shape(1, 16), "w": shape(16, 4)}

    def model(params, x):
        with scope("start"):
            x = jnp.concatenate([params["start"], x] if first else [x, params["start"]])
        with scope("head"):
            return x @ params["w"]

    assert params_of(trace(model, params, shape(5, 16), params=params)) == {"start": 16, "head": 64}


def test_what_moves_together_stays_apart():
    params = {"first": shape(16, 16), "second": shape(16, 4)}

    def model(params, x):
        first, second = lax.optimization_barrier((params["first"], params["second"]))
        with scope("first"):
            x = x @ first
        with scope("second"):
            return x @ second

    assert params_of(trace(model, params, shape(5, 16), params=params)) == {"first": 256, "second": 64}


# Stacked layers, of which a loop takes one in each iteration


STACK = {"w": shape(6, 16, 16), "b": shape(6, 16)}


def layer(params, number, x):
    w, b = params["w"][number], params["b"][number]
    with scope("layer"):
        return jnp.tanh(x @ w + b)


LOOPS = {
    "fori": lambda params, x: lax.fori_loop(0, 6, lambda i, x: layer(params, i, x), x),
    "backwards": lambda params, x: lax.fori_loop(0, 6, lambda i, x: layer(params, 5 - i, x), x),
    "nested": lambda params, x: lax.fori_loop(
        0, 2, lambda j, x: lax.fori_loop(0, 3, lambda i, x: layer(params, 3 * j + i, x), x), x
    ),
    "scan": lambda params, x: lax.scan(lambda x, i: (layer(params, i, x), None), x, jnp.arange(6))[0],
    "counter": lambda params, x: lax.scan(
        lambda carry, _: ((carry[0] + 1, layer(params, *carry)), None), (0, x), None, length=6
    )[0][1],
    "while": lambda params, x: lax.while_loop(
        lambda carry: carry[0] < 6, lambda carry: (carry[0] + 1, layer(params, *carry)), (0, x)
    )[1],
    "checkpoint": lambda params, x: lax.fori_loop(0, 6, jax.checkpoint(lambda i, x: layer(params, i, x)), x),
    "unrolled": lambda params, x: [x := layer(params, i, x) for i in range(6)][-1],
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_a_layer_of_a_stack_is_read_by_the_layer(loop):
    report = trace(loop, STACK, shape(5, 16), params=STACK, trips=6)
    assert params_of(report) == {"layer": 6 * (16 * 16 + 16)}
    assert report["layer"].macs == 6 * 5 * 16 * 16


def test_a_vector_chosen_by_data_is_read_where_it_is_chosen():
    def model(params, choice, x):
        with scope("choose"):
            b = params["b"][choice]
        with scope("add"):
            return x + b

    params = {"b": shape(6, 16)}
    assert params_of(trace(model, params, tokens(), shape(5, 16), params=params)) == {"choose": 96}

    def next_choice(params, x):
        choose = lambda choice: params["b"][choice].sum().astype(int)  # noqa: E731
        with scope("loop"):
            return lax.fori_loop(0, 3, lambda i, choice: scope("choose")(choose)(choice), 0) + x.sum()

    assert params_of(trace(next_choice, params, shape(5), params=params)) == {"loop/choose": 96}


def test_one_program_with_an_index_of_either_kind():
    params = {"a": shape(6, 16), "b": shape(6, 16)}
    chosen = jax.jit(lambda table, index: table[index])

    def model(params, choice, x):
        with scope("choose"):
            first, then = chosen(params["a"], 2), chosen(params["b"], choice)
        with scope("add"):
            return x + first + then

    assert params_of(trace(model, params, tokens(), shape(16), params=params)) == {"choose": 96, "add": 96}


def test_the_weights_of_experts_are_read_by_the_product():
    def model(params, experts, x):
        with scope("route"):
            w = params["w"][experts]
        with scope("experts"):
            return jnp.einsum("td,tde->te", x, w)

    params = {"w": shape(6, 16, 16)}
    assert params_of(trace(model, params, tokens(5), shape(5, 16), params=params)) == {"experts": 6 * 16 * 16}


# Frameworks


def test_linen():
    nn = pytest.importorskip("flax.linen", reason="needs flax")

    class Model(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            embed = nn.Embed(100, 16, name="embed")
            x = embed(tokens) + nn.Embed(12, 16, name="positions")(jnp.arange(5))
            return nn.Dense(4, name="head")(x), embed.attend(x)

    variables = jax.eval_shape(Model().init, jax.random.key(0), tokens(5))
    report = trace(Model().apply, variables, tokens(5), params=variables["params"])
    assert params_of(report) == {"Model/embed": 1600, "Model/positions": 192, "Model/head": 68}
    assert report.macs == 5 * 16 * 4 + 5 * 16 * 100


def test_nnx():
    nnx = pytest.importorskip("flax.nnx", reason="needs flax")

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(100, 16, rngs=rngs)
            self.norm = nnx.LayerNorm(16, rngs=rngs)
            self.head = nnx.Linear(16, 4, rngs=rngs)

        def __call__(self, tokens):
            x = self.embed(tokens)
            return self.head(self.norm(x)), self.embed.attend(x)

    model = Model(nnx.Rngs(0))
    report = trace(model, tokens(5), params=nnx.state(model, nnx.Param))
    assert params_of(report) == {"embed": 1600, "norm": 32, "head": 68}
    assert {row.path: row.macs for row in report.rows if row.macs} == {"embed": 5 * 16 * 100, "head": 5 * 16 * 4}


def test_equinox():
    eqx = pytest.importorskip("equinox", reason="needs equinox")

    class Model(eqx.Module):
        embed: Any
        head: Any

        def __init__(self, key):
            self.embed, self.head = eqx.nn.Embedding(100, 16, key=key), eqx.nn.Linear(16, 4, key=key)

        def __call__(self, tokens):
            return jax.vmap(self.head)(jax.vmap(self.embed)(tokens))

    model = eqx.filter_eval_shape(Model, jax.random.key(0))
    assert params_of(trace(lambda model, t: model(t), model, tokens(5), params=model)) == {"embed": 1600, "head": 68}


@pytest.mark.parametrize("style", ["ARRAY_INDEX", "ONE_HOT"])
def test_haiku(style):
    hk = pytest.importorskip("haiku", reason="needs dm-haiku")

    def model(tokens):
        x = hk.Embed(100, 16, lookup_style=style, name="embed")(tokens)
        return hk.Linear(4, name="head")(x)

    transformed = hk.without_apply_rng(hk.transform(model))
    params = jax.eval_shape(transformed.init, jax.random.key(0), tokens(5))
    found = params_of(trace(transformed.apply, params, tokens(5), params=params))
    assert {path.split("/")[-1]: count for path, count in found.items()} == {"embed": 1600, "head": 68}
