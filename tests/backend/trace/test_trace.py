"""Traces of functions: rows by scope and pass, loops, parameters, and what transformations cost."""

from functools import partial

import numpy
import pytest

jax = pytest.importorskip("jax")

from jax import ShapeDtypeStruct, lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

import paramcount as pc  # noqa: E402
from paramcount.backend.trace.trace import trace  # noqa: E402
from paramcount.backend.trace.walker import UncountedError  # noqa: E402
from paramcount.errors import ArgumentError  # noqa: E402
from paramcount.render.table import render  # noqa: E402

scope = jax.named_scope


def shape(*sizes, dtype=jnp.float32):
    return ShapeDtypeStruct(sizes, dtype)


def by_path(report):
    return {row.path: row for row in report.rows}


def passes(report):
    return report.forward_macs, report.backward_macs, report.recomputed_macs


def model(params, x):
    with scope("encoder"):
        with scope("dense"):
            x = jax.nn.relu(x @ params["w"])
        with scope("attend"):
            scores = jnp.einsum("td,sd->ts", x, x)
            x = jnp.einsum("ts,sd->td", scores, x)
    with scope("head"):
        return x @ params["v"]


PARAMS = {"w": shape(4, 4), "v": shape(4, 2)}
X = shape(3, 4)
DENSE, ATTEND, HEAD = 3 * 4 * 4, 2 * 3 * 3 * 4, 3 * 4 * 2
MACS = DENSE + ATTEND + HEAD


def total(params, x):
    return (model(params, x) ** 2).sum()


# Cases of the list of inputs that counters get wrong


@pytest.mark.parametrize(
    "function, arguments, macs",
    [
        pytest.param(jnp.matmul, (shape(2, 25, 16), shape(2, 16, 9)), 7_200, id="32"),
        pytest.param(
            partial(jnp.einsum, "bhid,bhjd->bhij"), (shape(2, 8, 64, 32), shape(2, 8, 128, 32)), 4_194_304, id="33"
        ),
        pytest.param(jnp.matmul, (shape(2048, 2048), shape(2048, 2048)), 8_589_934_592, id="35"),
        pytest.param(
            lambda x, w: lax.scan(lambda x, _: (x @ w, None), x, None, length=10)[0],
            (shape(8, 64), shape(64, 64)),
            327_680,
            id="41",
        ),
        pytest.param(jax.vmap(jnp.matmul, (0, None)), (shape(7, 73), shape(73, 256)), 130_816, id="42"),
        pytest.param(
            partial(jax.nn.dot_product_attention, is_causal=True),
            (shape(1, 8192, 32, 128),) * 3,
            549_755_813_888,
            id="58",
        ),
    ],
)
def test_known_cases(function, arguments, macs):
    report = trace(function, *arguments)
    assert (report.macs, report.flops) == (macs, 2 * macs)


def test_selective_recomputation():
    # Case 43: a GPT of 24 layers, 1024 wide, on 2048 tokens, with the core of attention computed again.
    length, width, heads, layers, words = 2048, 1024, 16, 24, 50257

    def attend(q, k, v, out):
        q, k, v = (each.reshape(length, heads, -1) for each in (q, k, v))
        scores = jax.nn.softmax(jnp.einsum("thd,shd->hts", q, k))
        return jnp.einsum("hts,shd->thd", scores, v).reshape(length, width) @ out

    def step(wrap, x, layer):
        qkv, out, up, down = layer
        x = x + wrap(attend)(*jnp.split(x @ qkv, 3, axis=1), out)
        return x + jax.nn.gelu(x @ up) @ down, None

    def loss(wrap, params, tokens):
        table, blocks = params
        x, _ = lax.scan(partial(step, wrap), table[tokens], blocks)
        return jax.nn.logsumexp(x @ table.T, axis=1).sum()

    sizes = (width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)
    params = shape(words, width), tuple(shape(layers, *each) for each in sizes)
    tokens = shape(length, dtype=jnp.int32)
    plain = trace(jax.value_and_grad(partial(loss, lambda f: f)), params, tokens)
    assert (plain.flops, plain.recomputed_macs) == (5_580_181_733_376, 0)
    again = trace(jax.value_and_grad(partial(loss, jax.checkpoint)), params, tokens)
    assert (2 * again.model_macs, again.flops) == (5_580_181_733_376, 5_992_498_593_792)


# Scopes and passes


def test_rows_follow_scopes():
    report = trace(model, PARAMS, X)
    assert [(row.path, row.depth, row.macs, row.leaf) for row in report.rows] == [
        ("encoder", 1, DENSE + ATTEND, False),
        ("encoder/dense", 2, DENSE, True),
        ("encoder/attend", 2, ATTEND, True),
        ("head", 1, HEAD, True),
    ]
    assert by_path(report)["head"].kind == "dot_general"
    assert str(by_path(report)["head"].output_shape) == "3×2"
    assert passes(report) == (MACS, 0, 0)


def test_passes_are_separate_in_the_same_rows():
    report = trace(jax.value_and_grad(total, argnums=(0, 1)), PARAMS, X)
    assert passes(report) == (MACS, 2 * MACS, 0)
    rows = by_path(report)
    for path, macs in (("encoder/dense", DENSE), ("encoder/attend", ATTEND), ("head", HEAD)):
        assert (rows[path].forward_macs, rows[path].backward_macs) == (macs, 2 * macs)
    assert rows["(rest)"].macs == 0  # the square and the sum
    # Without the gradient of x, the first layer has one product less.
    assert trace(jax.value_and_grad(total), PARAMS, X).backward_macs == 2 * MACS - DENSE


@pytest.mark.parametrize("wrap", [jax.jit, lambda f: jax.jit(jax.jit(f)), jax.named_scope("outer")(lambda f: f)])
def test_jit_changes_nothing(wrap):
    for function in (model, jax.value_and_grad(total)):
        inside = trace(function, PARAMS, X)
        outside = trace(wrap(function), PARAMS, X)
        assert [row[:2] + row[4:] for row in inside.rows] == [row[:2] + row[4:] for row in outside.rows]
    gradient = trace(jax.grad(jax.jit(total)), PARAMS, X)
    assert passes(gradient) == passes(trace(jax.grad(total), PARAMS, X))
    assert by_path(gradient)["encoder/attend"].backward_macs == 2 * ATTEND


def test_vmap_is_seen_through_on_either_side():
    batch = shape(5, 3, 4)
    one = trace(jax.grad(total), PARAMS, X)
    inside = trace(jax.grad(lambda p, x: jax.vmap(total, (None, 0))(p, x).sum()), PARAMS, batch)
    outside = trace(jax.vmap(jax.grad(total), (None, 0)), PARAMS, batch)
    for report in (inside, outside):
        assert passes(report) == tuple(5 * each for each in passes(one))
        assert by_path(report)["encoder/dense"].macs == 5 * by_path(one)["encoder/dense"].macs


def test_scopes_with_slashes_are_paths():
    with_slash = trace(scope("a/b")(jnp.matmul), shape(2, 2), shape(2, 2))
    assert [row.path for row in with_slash.rows] == ["a", "a/b"]


def test_custom_rules_keep_their_passes():
    @jax.custom_vjp
    def product(x, w):
        return x @ w

    product.defvjp(lambda x, w: (x @ w, (x, w)), lambda kept, g: (g @ kept[1].T, kept[0].T @ g))

    def loss(w, x):
        with scope("own"):
            return (product(x, w) ** 2).sum()

    w, x = shape(4, 4), shape(3, 4)
    assert passes(trace(jax.value_and_grad(loss, argnums=(0, 1)), w, x)) == (DENSE, 2 * DENSE, 0)
    batched = trace(jax.vmap(jax.value_and_grad(loss), (None, 0)), w, shape(5, 3, 4))
    assert by_path(batched)["own"].macs == 5 * 2 * DENSE  # nobody reads the gradient of x


# Transformations


def test_jacobians_and_hessians():
    def function(x):
        return jnp.sin(w @ x)

    w, x = jnp.ones((6, 4)), shape(4)
    assert trace(function, x).macs == 24
    # One product for the value and one for each of 4 directions; or for each of 6 results.
    assert trace(jax.jacfwd(function), x).macs == 24 + 4 * 24
    assert passes(trace(jax.jacrev(function), x)) == (24, 6 * 24, 0)
    # The gradient is two products. Forward over it: the value's and 4 tangents' of both.
    assert trace(jax.hessian(lambda x: function(x).sum()), x).macs == 24 + 4 * 24 + 4 * 24
    assert passes(trace(lambda x: jax.jvp(function, (x,), (x,)), x)) == (48, 0, 0)


def test_recomputed_work_is_separate():
    def layer(x, w):
        with scope("layer"):
            return jnp.sin(jnp.sin(x @ w) @ w)

    def loss(wrap, w, x):
        return wrap(layer)(x, w).sum()

    arguments = shape(4, 4), shape(3, 4)
    plain = trace(jax.value_and_grad(partial(loss, lambda f: f)), *arguments)
    again = trace(jax.value_and_grad(partial(loss, jax.checkpoint)), *arguments)
    assert passes(plain) == (2 * DENSE, 3 * DENSE, 0)
    assert passes(again) == (2 * DENSE, 3 * DENSE, 2 * DENSE)
    assert again.model_macs == plain.macs
    assert [row.path for row in again.rows if row.macs] == ["layer"]


def layers(wrap, params, x):
    """A loop over layers, each with a scope inside the loop's."""

    def step(x, w):
        with scope("layer"):
            return wrap(lambda x: scope("dense")(jnp.matmul)(jnp.sin(x), w))(x), None

    with scope("stack"):
        return lax.scan(step, x, params)[0]


def twice(function):
    """A checkpoint around two products; the result of the second is not needed again."""
    return jax.checkpoint(lambda x: function(function(x)))


@pytest.mark.parametrize("wrap, products, recomputed", [(lambda f: f, 1, 0), (jax.checkpoint, 1, 0), (twice, 2, 1)])
def test_gradients_of_scans_stay_in_their_rows(wrap, products, recomputed):
    weights, x = shape(5, 4, 4), shape(3, 4)
    report = trace(jax.value_and_grad(lambda w, x: (layers(wrap, w, x) ** 2).sum(), argnums=(0, 1)), weights, x)
    assert passes(report) == (5 * DENSE * products, 10 * DENSE * products, 5 * DENSE * recomputed)
    assert [row.path for row in report.rows if row.macs] == ["stack", "stack/layer", "stack/layer/dense"]
    assert by_path(report)["stack/layer/dense"].repeat == 5


def test_scans_of_scans_and_vmaps_of_scans():
    def inner(x, w):
        return lax.scan(lambda x, _: (x @ w, None), x, None, length=3)[0]

    def outer(x, w):
        return lax.scan(lambda x, _: (inner(x, w), None), x, None, length=5)[0]

    x, w = shape(3, 4), shape(4, 4)
    assert trace(outer, x, w).macs == 15 * DENSE
    assert trace(jax.vmap(outer, (0, None)), shape(7, 3, 4), w).macs == 7 * 15 * DENSE
    assert passes(trace(jax.value_and_grad(lambda x, w: outer(x, w).sum(), argnums=(0, 1)), x, w)) == (
        15 * DENSE,
        30 * DENSE,
        0,
    )


@pytest.mark.parametrize("n", [1, 4])
def test_rolled_equals_unrolled_and_twice_the_batch_is_twice_the_work(n):
    weights = shape(n, 4, 4)

    def unrolled(w, x):
        for each in range(n):
            x = jnp.sin(x) @ w[each]
        return x

    def rolled(w, x):
        return layers(lambda f: f, w, x)

    def both(function):
        return jax.value_and_grad(lambda w, x: function(w, x).sum(), argnums=(0, 1))

    for gradient in (lambda function: function, both):
        results = [trace(gradient(f), weights, shape(3, 4)).macs for f in (unrolled, rolled)]
        doubled = trace(gradient(rolled), weights, shape(6, 4)).macs
        assert results[0] == results[1] and doubled == 2 * results[0]
    assert trace(rolled, weights, shape(3, 4)).elementwise == trace(unrolled, weights, shape(3, 4)).elementwise


# Branches and loops


def test_the_largest_branch_counts_and_each_is_shown():
    def choose(i, x, w):
        with scope("route"):
            return lax.switch(i, [lambda: x, lambda: x @ w @ w, lambda: x @ w])

    report = trace(choose, shape(dtype=jnp.int32), shape(3, 4), shape(4, 4))
    assert report.macs == 2 * DENSE
    assert by_path(report)["route"].note == f"largest of 3 branches: 0, {2 * DENSE}, {DENSE} MACs"
    same = trace(lambda p, x: lax.cond(p, jnp.sin, lambda x: jnp.sin(jnp.cos(x)), x), shape(dtype=bool), shape(3))
    assert (same.macs, same.elementwise, [row.note for row in same.rows]) == (0, 6, [""])


def until(x, n):
    with scope("solver"), scope("loop"):
        return lax.while_loop(lambda c: (c[1] @ c[1]).sum() < n, lambda c: (c[0] + 1, c[1] @ c[1]), (0, x))[1]


PRODUCT = 4**3
LOOP = shape(4, 4), shape()


def test_a_loop_of_unknown_length_is_refused():
    with pytest.raises(
        UncountedError, match=r"nothing says how many times `while` runs its dot_general in `solver/loop`"
    ):
        trace(until, *LOOP)
    with pytest.raises(UncountedError):
        trace(until, *LOOP, trips=None)


@pytest.mark.parametrize("trips", [7, {"solver/loop": 7}, {"loop": 7}, {"solver": 3, "solver/loop": 7}])
def test_trips_by_argument(trips):
    report = trace(until, *LOOP, trips=trips)
    assert report.macs == (7 + 8) * PRODUCT  # the condition runs once more


def test_trips_by_scope():
    def named(x, n):
        with scope("trips=7"):
            return until(x, n)

    report = trace(named, *LOOP, trips=3)
    assert report.macs == 15 * PRODUCT
    assert [row.path for row in report.rows] == ["solver", "solver/loop"]
    assert trace(until, *LOOP, trips=0).macs == PRODUCT


@pytest.mark.parametrize("trips", ["unknown", {"solver/loop": "unknown"}])
def test_unknown_trips_are_shown_when_asked(trips):
    report = trace(lambda x, n: until(x, n) @ x, *LOOP, trips=trips)
    assert report.macs == PRODUCT
    assert report.uncounted == (f"solver/loop/while: unknown trips of {2 * PRODUCT} MACs each",)
    assert "NOT counted: 1 operation" in str(report)


@pytest.mark.parametrize("trips", [-1, 1.5, True, "often", {"loop": "many"}])
def test_trips_are_whole_numbers(trips):
    with pytest.raises(ArgumentError, match="is not a number of trips"):
        trace(until, *LOOP, trips=trips)


def test_trips_of_no_loop():
    with pytest.raises(ArgumentError, match="`trips` names `lop`, where no `while` runs"):
        trace(lambda x: x @ x, shape(4, 4), trips={"lop": 7})


def test_a_loop_without_contractions_has_no_macs_and_notes_what_is_left_out():
    report = trace(lambda x: lax.while_loop(lambda x: x.sum() < 9, lambda x: x * 2, x) @ x, shape(3, 3))
    assert report.macs == 27
    assert [row.note for row in report.rows] == ["elementwise operations of a `while` are not counted"]
    counted = trace(lambda x: lax.while_loop(lambda x: x.sum() < 9, lambda x: x * 2, x), shape(3, 3), trips=5)
    assert counted.elementwise == 5 * 9 + 6 * (9 + 1)  # times two; a sum and a comparison


def test_solvers_count_the_solver():
    def solve(a, b):
        return jax.scipy.sparse.linalg.cg(lambda x: a @ x, b, maxiter=10)[0]

    # At the start a @ x and two scalar products; then in each step a @ p, p · Ap and r · r.
    arguments = shape(5, 5), shape(5)
    started = trace(solve, *arguments, trips=0).macs
    assert trace(solve, *arguments, trips=10).macs == started + 10 * (25 + 5 + 5)
    with pytest.raises(UncountedError):
        trace(solve, *arguments)

    def root(a):
        return lax.custom_root(lambda x: a @ x - 1, jnp.ones(5), lambda f, x: x - f(x), lambda g, y: y)

    assert trace(root, shape(5, 5)).macs == 25


# Elementwise operations


@pytest.mark.parametrize(
    "function, operations",
    [
        (jnp.exp, 24),
        (lambda x: x + x * 2, 48),
        (jax.nn.relu, 24),
        (lambda x: x.sum(1), 24),
        (lambda x: x.max(), 24),
        (lambda x: jnp.argmax(x, 1), 24),
        (lambda x: x.T.reshape(3, 8)[::2].astype(jnp.bfloat16), 0),
        (lambda x: jnp.cumsum(x, 0), 24),
        (lambda x: lax.sort(x, dimension=0), 24 * 3),  # ⌈log₂ 6⌉ comparisons for each
        (lambda x: lax.top_k(x, 4)[0], 24 * 2),
        (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID"), 4 * 6),
        (lambda x: x.at[jnp.array([0, 2])].add(1.0, mode="promise_in_bounds"), 8 + 2 * 3),  # and the wrapped indices
        (lambda x: lax.gather(x, jnp.zeros((3, 1), int), GATHER, (1, 4)), 0),
    ],
)
def test_elementwise_operations(function, operations):
    report = trace(function, shape(6, 4))
    assert (report.macs, report.elementwise) == (0, operations)
    assert type(report.elementwise) is int


GATHER = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))


# Parameters


def test_parameters_belong_to_the_scopes_that_read_them():
    params = {"dense": {"kernel": shape(4, 8), "bias": shape(8)}, "norm": {"scale": shape(8)}, "unread": shape(3)}

    def forward(params, x):
        with scope("dense"):
            x = x @ params["dense"]["kernel"].T.T + params["dense"]["bias"]
        with scope("norm"):
            return x * params["norm"]["scale"]

    report = trace(forward, params, shape(3, 4), params=params)
    rows = by_path(report)
    assert (rows["dense"].weights, rows["dense"].biases, rows["norm"].norms) == (32, 8, 8)
    assert (report.params, report.param_bytes) == (51, 204)
    unnamed = trace(forward, params, shape(3, 4))
    assert (unnamed.macs, unnamed.totals.params, by_path(unnamed)["dense"].get("weights")) == (report.macs, None, None)
    with pytest.raises(ArgumentError, match="`params` is not known here\nhint: say which arrays are parameters"):
        _ = unnamed.params
    assert trace(lambda both: forward(both[0], both[1]), [params, shape(3, 4)], params=params).params == 51
    assert trace(jax.jit(jax.grad(lambda p, x: forward(p, x).sum())), params, shape(3, 4), params=params).params == 51


def test_parameters_name_layers_without_scopes():
    params = {"layers": [{"w": shape(4, 4)}, {"w": shape(4, 4)}], "head": {"w": shape(4, 2)}}

    def loss(params, x):
        for layer in params["layers"]:
            x = jnp.sin(x @ layer["w"])
        return ((x @ params["head"]["w"]) ** 2).sum()

    report = trace(jax.value_and_grad(loss), params, shape(3, 4), params=params)
    rows = by_path(report)
    found = {path: (row.forward_macs, row.backward_macs, row.params) for path, row in rows.items() if row.macs}
    assert found == {
        "layers[0]": (DENSE, DENSE, 16),  # no gradient of the input
        "layers[1]": (DENSE, 2 * DENSE, 16),
        "head": (HEAD, 2 * HEAD, 8),
    }


def test_parameters_of_a_scan_and_of_a_step_with_an_optimizer():
    params = {"stack": {"w": shape(5, 4, 4)}}

    def step(params, x):
        loss = lambda p: (lax.scan(lambda x, w: (x @ w, None), x, p["stack"]["w"])[0] ** 2).sum()  # noqa: E731
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params))

    rows = by_path(trace(step, params, shape(3, 4), params=params))
    assert (rows["stack"].forward_macs, rows["stack"].backward_macs) == (5 * DENSE, 10 * DENSE)
    assert rows["stack"].params == 80


def test_arrays_that_the_function_closes_over():
    weights = {"w": jnp.ones((4, 4))}
    report = trace(lambda x: x @ weights["w"], shape(3, 4), params=weights)
    assert (report.params, report.macs) == (16, DENSE)
    with pytest.raises(ArgumentError, match="`params` is not an argument"):
        trace(lambda x: x @ weights["w"], shape(3, 4), params={"w": jnp.ones((4, 4))})


# What is handed in, and what comes out


def test_nothing_runs_and_everything_is_an_integer():
    def fails_when_run(x):
        return jax.pure_callback(lambda x: 1 / 0, x, x) @ x

    huge = shape(200_000, 200_000)
    report = trace(jnp.matmul, huge, huge)
    assert report.macs == 200_000**3
    assert trace(fails_when_run, jnp.ones((2, 2)), strict=False).macs == 8
    for row in (report, *report.rows):
        known = {name: each for name, each in row.figures._asdict().items() if each is not None}
        assert {"macs", "flops", "elementwise"} <= set(known) and all(type(each) is int for each in known.values())


def test_arguments_of_every_kind():
    assert trace(jnp.matmul, numpy.ones((3, 4)), jnp.ones((4, 4))).macs == DENSE
    many = lambda x, n, *, train, name=None: x @ x if train and name is None else x  # noqa: E731
    assert trace(many, shape(4, 4), 3, train=True).macs == PRODUCT
    assert trace(many, shape(4, 4), 3, train=False).macs == 0
    assert trace(lambda key: jax.random.normal(key, (3,)), jax.random.key(0)).macs == 0
    with pytest.raises(ArgumentError, match="is not a function"):
        trace(3)


def test_the_report():
    report = pc.trace(jax.value_and_grad(total), PARAMS, X, params=PARAMS)
    assert isinstance(report, pc.Trace) and isinstance(report, pc.Counted) and not isinstance(report, pc.Report)
    assert report.by("kind")["dot_general"].macs == report.macs and report["head"].macs == 3 * HEAD
    found = report.to_dict()
    assert found["totals"]["macs"] == report.macs == sum(row.macs for row in report.rows if row.leaf)
    assert found["totals"]["elementwise"] == sum(row.elementwise for row in report.rows if row.leaf)
    assert found["totals"]["backward_macs"] == sum(row["backward_macs"] for row in found["rows"] if row["depth"] == 1)
    unknown = ("trainable", "tables", "active_params", "activations")
    assert all(each[name] is None for each in (found["totals"], *found["rows"]) for name in unknown)
    with pytest.raises(ArgumentError, match="`activations` is not known here\nhint: a traced program does not show it"):
        _ = report.activations
    table = render(report.sheet(columns=["layer", "activations"]), encoding="utf-8").splitlines()
    assert {line.split()[-1] for line in table[3 : table.index("", 3)]} == {"–"}
    page = report._repr_html_() or ""
    assert "<details><summary><span>encoder" in page
    lines = str(report).splitlines()
    assert lines[0] == "total"
    assert lines[2].split() == ["layer", "kind", "output", "params", "MACs", "forward", "backward", "share"]
    assert max(map(len, lines)) <= 80 + len("; elementwise apart")
