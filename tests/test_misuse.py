"""Networks written wrongly in Python are refused where they are written, and never counted as something else."""

from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path

import numpy
import pytest

import paramcount as pc
from paramcount.errors import ArgumentError, ParamcountError
from paramcount.layers import MODULES, find

IMAGE = (8, 8, 3)
CONV = pc.Conv(4, 3)


@pytest.mark.parametrize(
    "given",
    [(8, 8.5, 3), (8, -1, 3), (8, 0, 3), (8, "8", 3), (8, True, 3), {"image": [8, 8]}, {"image": None}],
    ids=str,
)
def test_an_input_has_whole_sizes_that_fit_its_layout(given):
    with pytest.raises(ArgumentError):
        pc.count(CONV, given)


def test_an_input_is_one_example_with_its_channels_last():
    with pytest.raises(ArgumentError, match=r"did you mean \(224, 192, 3\)\?\nhint: if you mean it, give {.image"):
        pc.count(CONV, (3, 224, 192))
    with pytest.raises(
        ArgumentError, match=r"has no batch, .*did you mean \(224, 224, 3\)\?\nhint: count with `batch="
    ):
        pc.count(CONV, (8, 3, 224, 224))
    with pytest.raises(ArgumentError, match=r"is None\nhint: give the sizes of one example, without a batch"):
        pc.count(CONV, (None, 224, 224, 3))
    with pytest.raises(ArgumentError, match="is None"):
        pc.Network([CONV], inputs={"picture": {"image": [None, 8, 3]}})
    assert pc.count(CONV, {"image": (3, 224, 224)}).params == 9 * 224 * 4
    assert pc.count(CONV, pc.Shape.of(3, 224, 224)).params == 9 * 224 * 4
    assert pc.count(CONV, (16, 16, 16, 1)).params == 27 * 4  # a volume


@pytest.mark.parametrize("shape", [pc.Shape((8, 8), "image"), pc.Shape((8, 8, 3), "picture"), pc.Shape((8, 8.5, 3))])
def test_so_does_a_shape(shape):
    with pytest.raises(ArgumentError):
        pc.count(CONV, shape)


def test_sizes_are_whole_whatever_their_type():
    assert pc.count(CONV, (8, 8.0, 3)).macs == 8 * 8 * 9 * 3 * 4
    assert pc.count(pc.Conv(numpy.int64(4), numpy.int32(3)), (8, 8, numpy.uint8(3))).params == 9 * 3 * 4
    assert pc.count(pc.Repeat(numpy.int64(3), [pc.Dense(3)]), 3).params == 3 * 12
    with pytest.raises(ArgumentError, match=r"2\.5 is not a whole number"):
        pc.Conv(numpy.float32(2.5), 3)


def test_numbers_of_numpy_and_jax_are_pythons_own():
    jnp = pytest.importorskip("jax.numpy")
    for number in (numpy.int32, jnp.int32, numpy.array):
        assert pc.count(pc.Dense(1000), 1000, batch=number(3000)).macs == 3_000_000_000
        assert pc.count(pc.load("resnet:50"), batch=number(512)).macs == 2_093_662_339_072
        cache = pc.count(pc.Attention(2, causal=True), (10, 8), kv_cache=number(2_000_000_000)).kv_cache_bytes
        assert cache == 2 * 8 * 2_000_000_000 * 4
        squared = pc.loads("{input: {features: 4}, vars: {n: 1}, layers: [dense: n * n]}", n=number(2**17))
        assert pc.count(squared).macs == 2**36
        assert pc.sweep("vit", depth=[number(3), number(4)]).columns["depth"].dtype == numpy.int64
    for size in (numpy.int8, numpy.uint8, jnp.int8):  # whose products would overflow
        report = pc.count(pc.Conv(size(100), size(3)), (size(100), size(100), size(100)))
        assert report.params == 9 * 100 * 100 and report.macs == 100 * 100 * 9 * 100 * 100
        assert type(report.macs) is int
    assert pc.Dropout(numpy.float32(0.5)).rate == pc.Dropout(jnp.float32(0.5)).rate == 0.5
    assert pc.Dense(3, bias=numpy.bool_(False)).bias is False
    for wrong in (numpy.bool_(True), jnp.array([3]), numpy.array([3]), numpy.float32(2)):
        with pytest.raises(ArgumentError):
            pc.count(pc.Dense(3), 3, batch=wrong)
    with pytest.raises(ArgumentError, match=r"out must be a whole number, not `\[3\]`"):
        pc.Dense(numpy.array([3]))


def test_an_array_of_sizes_is_one_shape():
    jnp = pytest.importorskip("jax.numpy")
    for sizes in (numpy.array([8, 8, 3]), jnp.array([8, 8, 3]), numpy.array([8.0, 8.0, 3.0])):
        assert pc.count(CONV, sizes).macs == pc.count(CONV, IMAGE).macs
        assert pc.count(CONV, {"image": sizes}).macs == pc.count(CONV, IMAGE).macs
    assert pc.Conv(4, numpy.array([3, 1])).kernel == (3, 1)
    assert pc.Reshape(jnp.array([4, 2])).sizes == (4, 2)


def test_what_can_be_read_once_is_read_once():
    stack = [pc.Dense(3), pc.Dense(3)]
    assert pc.count(stack, 3, train=True, freeze=(name for name in ["dense0"])).trainable == 12
    network = pc.Network((layer for layer in stack), input=3)
    assert pc.count(network).params == pc.count(network, train=True).params == 24
    assert pc.count(pc.Repeat(2, (layer for layer in stack)), 3).params == 48


@pytest.mark.parametrize("count", [-1, 2.5, "3", True, None])
def test_a_repeat_has_a_whole_count(count):
    with pytest.raises(ArgumentError):
        pc.Repeat(count, [pc.Dense(3)])


@pytest.mark.parametrize(
    "item",
    [
        pc.Residual(pc.Relu()),
        pc.Do("relu"),
        pc.Repeat(2, pc.Relu()),
        pc.Moe(3, 1, pc.Dense(3)),
        pc.Each("a -> a | 1", pc.Relu()),
    ],
    ids=lambda item: type(item).__name__,
)
def test_a_body_is_a_list(item):
    with pytest.raises(ParamcountError, match="is not a list of items"):
        pc.count(item, 3)


def test_only_is_training_or_stored():
    with pytest.raises(ParamcountError, match="`only` must be `training` or `stored`, not `inference`"):
        pc.With(pc.Relu(), only="inference")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (pc.Relu, r"the activation of `dense0` is the class `Relu`\nhint: write `Relu\(\)`"),
        (3, "unknown kind `3` as the activation of `dense0`"),
        ("swish", r"unknown kind `swish` as the activation of `dense0`\nhint: did you mean `silu`\?"),
        ("dense", "`dense` needs `out` as the activation of `dense0`"),
    ],
)
def test_sugar_is_a_kind_without_arguments(kind, words):
    with pytest.raises(ParamcountError, match=words):
        pc.count(pc.Dense(3, activation=kind), 3)


def test_a_shipped_block_takes_each_argument_once():
    with pytest.raises(ArgumentError, match="`bottleneck` is given `out` twice"):
        pc.Bottleneck(24, out=32)
    assert pc.count(pc.Bottleneck(24, activation=pc.Relu()), IMAGE).params == pc.count(pc.Bottleneck(24), IMAGE).params


@pytest.mark.parametrize(
    "more",
    [{"outputs": []}, {"outputs": "prev"}, {"inputs": {}}, {"inputs": ["a"]}, {}, {"input": 3, "inputs": {"a": 3}}],
    ids=str,
)
def test_a_network_names_its_inputs_and_outputs(more):
    more = more if "inputs" in more or not more else {"input": 3, **more}
    with pytest.raises(ArgumentError):
        pc.Network([pc.Relu()], **more)


@pytest.mark.parametrize("how", [{"batch": None}, {"batch": [1, 2]}, {"batch": 2.0}, {"dtype": None}, {"dtype": int}])
def test_batch_and_dtype(how):
    with pytest.raises(ArgumentError):
        pc.count(CONV, IMAGE, **how)


def test_sizes_of_a_spec_may_be_numbers_of_a_sweep():
    text = "{input: {image: [r, 8, 3]}, vars: {r: 8, n: 1}, layers: [{repeat: n, conv: [3, 3]}]}"
    rows = numpy.array([8, 16])
    per_row = 8 * 9 * 3 * 3
    assert list(pc.count(pc.loads(text, r=rows)).macs.array) == [8 * per_row, 16 * per_row]
    twice = pc.count(pc.loads(text, n=pc.Column.whole("n", [2, 2]), r=rows))
    assert list(twice.macs.array) == [16 * per_row, 32 * per_row]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (pc.Relu, r"the class `Relu` is not an item\nhint: write `Relu\("),
        ([pc.Relu()], r"is not an item\nhint: put several items into `Do\("),
        ("relu", r"`'relu'` is not an item\nhint: use layers, blocks"),
    ],
)
def test_an_item_is_a_layer_a_block_or_a_form(item, words):
    with pytest.raises(ParamcountError, match=words):
        pc.count([pc.Dense(3), item], 3)


def test_let_takes_a_mapping():
    with pytest.raises(ParamcountError, match=r"values must be a mapping of names, not `\[.*\nhint: values: the path"):
        pc.Let([("skip", "prev")])


@pytest.mark.parametrize("form", [pc.Add, pc.Subtract, pc.Multiply, pc.Concat])
@pytest.mark.parametrize("paths", ["prev", [], None, pc.Relu()], ids=str)
def test_a_merge_takes_a_list_of_paths(form, paths):
    with pytest.raises(ArgumentError, match="paths must be a list of paths"):
        form(paths)


def test_a_number_that_is_almost_whole_is_shown_in_full():
    with pytest.raises(ArgumentError, match=r"out: 3\.0000000000000004 is not a whole number"):
        pc.Dense(0.1 * 30 + 4e-16)
    with pytest.raises(ArgumentError, match=r"out: 3\.14159265[0-9]* is not a whole number"):
        pc.Dense(3.141592653589793)


def test_an_index_is_whole():
    with pytest.raises(ParamcountError, match=r"2:19: the index `0\.5` is not a whole number"):
        pc.loads("input: {features: 4}\nlayers: [dense: 'k[0.5]']\nvars: {k: [1, 2]}")


class Foreign(pc.Layer):
    """A custom layer, which each test breaks in one place."""

    def output_shape(self, x):
        return x

    def params(self, x):
        return {}

    def work(self, x):
        return pc.Work()

    def forward(self, params, x, *, context):
        return None


@pytest.mark.parametrize(
    ("method", "result", "words"),
    [
        ("params", {"w": pc.Param({"a": 3}, "kernel")}, "role is one of weight, table, bias, norm, buffer"),
        ("params", {"w": pc.Param([3], "weight")}, "axes are sizes by name"),
        ("params", {"w": pc.Param({"a": -3}, "weight")}, "at least 0"),
        ("work", pc.Work(macs=-2), "at least 0"),
    ],
)
def test_a_custom_layer_declares_what_can_be_counted(method, result, words):
    spoiled = dataclass(frozen=True)(type("Spoiled", (Foreign,), {method: lambda self, x: result}))
    with pytest.raises(ParamcountError, match=words):
        pc.count(spoiled(), 8)


def test_a_forward_that_returns_nothing_is_a_difference():
    pytest.importorskip("jax")
    verification = pc.verify(pc.Network([dataclass(frozen=True)(Foreign)()], input=8))
    assert not verification.ok
    assert "`forward` must return an array" in str(verification)


def test_a_block_expands():
    with pytest.raises(ParamcountError, match="the block `block` has no method `expand`"):
        pc.count(type("Empty", (pc.Block,), {})(), 8)


def test_what_is_shown_of_networks_and_blocks():
    assert repr(pc.Network([CONV], input=IMAGE, name="Small")) == "<Network Small>"
    assert repr(pc.loads("{name: Big, input: {features: 3}, layers: [relu]}")) == "<Loaded Big>"
    assert repr(pc.Bottleneck(24, stride=2)) == "<Bottleneck bottleneck: stride=2>"


def test_a_sweep_has_no_table_in_a_notebook():
    assert pc.count(pc.Dense(pc.Column.whole("out", [3, 4])), 8)._repr_html_() is None
    assert "<details open>" in (pc.count(pc.Dense(3, activation="relu"), 8)._repr_html_() or "")


@pytest.mark.parametrize("freeze", ["dense0", [3]])
def test_freeze_is_a_list_of_patterns(freeze):
    with pytest.raises(ArgumentError, match="freeze must be a list of patterns"):
        pc.count(pc.Dense(3), 8, train=True, freeze=freeze)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pc.Pop([]), "stack must be text, not `\\[\\]`"),
        (lambda: pc.Dense(3, tied=["table"]), "tied must be text"),
        (lambda: pc.Let({1: "prev"}), "values must be text, not `1`"),
        (lambda: pc.Scan({1: [2]}, [pc.Relu()], {1: "prev"}), "carry must be text, not `1`"),
        (lambda: pc.With(pc.Relu(), name=3), "name must be text, not `3`"),
        (lambda: pc.With(share="key"), "`share` needs an item"),
        (lambda: pc.With(name="x", frozen=True), "`frozen` needs an item"),
        (lambda: pc.With(pc.Relu(), share=[1]), "share must be text"),
        (lambda: pc.With(pc.Relu(), push={}), "push must be text"),
        (lambda: pc.With(pc.Split(2), into="left"), "into must be a list of names, not `left`"),
        (lambda: pc.With(pc.Split(2), into=2), "into must be a list of names, not `2`"),
        (lambda: pc.With(pc.Split(2), into=[None, "b"]), "a name of into must be text, not `None`"),
    ],
)
def test_a_name_is_text(make, words):
    with pytest.raises(ArgumentError, match=words):
        make()


def test_combine_is_a_part_of_moe():
    with pytest.raises(ParamcountError, match="`combine` ends a `moe`"):
        pc.count(pc.Combine(), (6, 8))
    with pytest.raises(ParamcountError, match="<text>:1:38: `combine` ends a `moe`"):
        pc.loads("{input: {sequence: [6, 8]}, layers: [combine]}")


@pytest.mark.parametrize("item", [pc.From("prev"), pc.With(pc.From("prev"), name="same")])
def test_a_loop_of_a_form_without_a_row(item):
    report = pc.count(pc.Network([pc.Repeat(2, [item]), pc.Dense(3)], input=4))
    assert [row.path for row in report.rows] == ["dense0"]
    with pytest.raises(ParamcountError, match="`1` is not an item"):
        pc.count(pc.Repeat(2, [pc.From(1)]), 4)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pc.Rearrange("t (h d) -> t h d", h=8), r"`Rearrange` has no argument `h`\n.*sizes=\{'h': 8\}"),
        (lambda: pc.Each("a b -> a | b", [pc.Relu()], a=3), r"`Each` has no argument `a`\n.*sizes=\{'a': 3\}"),
        (lambda: pc.Conv(8, kernel_size=3), "`Conv` has no argument `kernel_size`\nhint: did you mean `kernel`"),
        (lambda: pc.Residual([pc.Relu()], when=True), "`Residual` has no argument `when`"),
    ],
)
def test_an_argument_that_does_not_exist(make, words):
    with pytest.raises(ArgumentError, match=words):
        make()


# Odd calls: every argument of the public functions, methods, layers and forms with values of every kind.


def odd_values():
    """Made anew for each call, since some can be read only once."""
    jnp = pytest.importorskip("jax.numpy")
    return [
        *(None, float("nan"), float("inf"), -1, 0, 2.5, 3.0, True, "", "x", "prev", "a\0b", "\ud800", b"x", 1j),
        *([], {}, (), {1, 2}, [None], [[1]], [1, [2]], ["x"], {"a": 1}, {1: 2}, range(3), slice(1), (8, 8)),
        *(10**30, -(10**30), 10**5000, object(), Fraction(1, 2), Path("x"), (each for each in "ab"), Exception()),
        *(pc.Dense, float, lambda *_: None, pc.Dense(3), [pc.Dense(3)], pc.Network([pc.Dense(4)], input=3)),
        *(numpy.int32(3), numpy.array(2.5), numpy.bool_(True), numpy.array([1, 2]), numpy.array([[8, 8, 3]])),
        *(numpy.array([]), numpy.array(["a"]), numpy.array(object()), numpy.datetime64("2020")),
        *(jnp.array([8, 8, 3]), jnp.int32(3), jnp.float32(2.5)),
    ]


TEXT = "{input: {features: 4}, vars: {n: 2, k: [1, 2], b: true}, layers: [dense: {out: n, bias: b}, {dense: 'k[0]'}]}"
CAUSAL = pc.Attention(2, causal=True)
DENSE = pc.Network([pc.Dense(4)], input=3)
FORMS = [
    (pc.Do, {"body": [pc.Dense(3)]}, 3),
    (pc.From, {"path": "prev"}, 3),
    (pc.Residual, {"body": [pc.Dense(3)], "condition": True}, 3),
    (pc.Gate, {"path": [pc.Dense(3)]}, 3),
    (pc.Let, {"values": {"a": "prev"}}, 3),
    (pc.Pop, {"stack": "s"}, 3),
    (pc.Repeat, {"count": 2, "body": [pc.Dense(3)], "share": False}, 3),
    (pc.Each, {"pattern": "t d -> t | d", "body": [pc.Dense(3)], "sizes": {}, "along": {}}, (5, 3)),
    (pc.Scan, {"carry": {"s": [3]}, "body": [pc.Add(["prev", "s"])], "next": {"s": "prev"}}, (5, 3)),
    (pc.Moe, {"experts": 4, "top_k": 2, "body": [pc.Dense(3)]}, (5, 3)),
    (pc.With, {"item": pc.Dense(3), "name": "a", "into": (), "share": None, "push": None}, 3),
    (pc.With, {"item": pc.Dense(3), "only": None, "frozen": False}, 3),
    (pc.Add, {"paths": ["prev", [pc.Dense(3)]]}, 3),
    (pc.Attend, {name: [pc.Reshape([5, 1, 3])] for name in ("query", "key", "value")}, (5, 3)),
    (pc.Bottleneck, {"out": 4, "expand": 6, "stride": 1, "norm": None}, (8, 8, 3)),
    (pc.Attention, {"heads": 2, "kv_heads": 1, "causal": True, "window": 3, "scale": 1.0}, (6, 8)),
]


def counting():
    report = pc.count([pc.Residual([pc.Dense(3)]), pc.Dense(3)], 3)
    options = ("batch", "dtype", "train", "freeze", "remat", "optimizer", "attention", "kv_cache")
    yield from ((f"count({name})", lambda v, name=name: str(pc.count(CONV, IMAGE, **{name: v}))) for name in options)
    yield "count(network)", lambda v: pc.count(v)
    yield "count(items)", lambda v: pc.count([pc.Dense(3), v], 3)
    yield "count(input)", lambda v: str(pc.count(pc.Relu(), v))
    yield "count(image)", lambda v: pc.count(pc.Relu(), {"image": v})
    yield "count(size)", lambda v: pc.count(CONV, (8, v, 3))
    yield "count(freeze, train)", lambda v: pc.count(CONV, IMAGE, train=True, freeze=v)
    yield "count(optimizer, train)", lambda v: pc.count(CONV, IMAGE, train=True, optimizer=v)
    yield "count(kv_cache) of attention", lambda v: str(pc.count(CAUSAL, (10, 8), kv_cache=v))
    yield "memory_of(network)", lambda v: pc.memory_of(v)
    for name in ("batch", "train", "optimizer"):
        yield f"memory_of({name})", lambda v, name=name: pc.memory_of(DENSE, **{name: v})
    yield "check", lambda v: pc.check(v)
    yield "check(params)", lambda v: pc.check(report, params=v)
    yield "check(params) of at most", lambda v: pc.check(report, params={"at_most": v})
    yield "check(params) of a mapping", lambda v: pc.check(report, params={v: 20} if isinstance(v, str | int) else v)
    yield "compare", lambda v: pc.compare(report, v)
    for name in ("batch", "dtype", "train", "freeze", "optimizer", "attention", "kv_cache"):
        yield f"compare({name})", lambda v, name=name: pc.compare(DENSE, DENSE, **{name: v})
    compared, swept = pc.compare(report, report), pc.sweep("mobilenet_v2", width=[0.5, 1.0])
    for name in ("depth", "columns", "changed"):
        yield f"compared.sheet({name})", lambda v, name=name: str(compared.render("csv", **{name: v}))
    for name in ("columns", "top"):
        yield f"swept.sheet({name})", lambda v, name=name: swept.to_records(**{name: v})
    for found in (report, compared, swept):
        yield "render", found.render
        yield "render(exact)", lambda v, found=found: found.render(exact=v)
        yield "save", found.save
        yield "save of a name", lambda v, found=found: found.save(v + ".md" if isinstance(v, str) else v)
    yield "zoo", lambda v: None if isinstance(v, str | None) else pc.zoo(v)
    for name in ("input", "inputs", "outputs", "name"):
        yield f"Network({name})", lambda v, name=name: pc.count(pc.Network([pc.Dense(3)], **{"input": 3, name: v}))
    yield "Network(items)", lambda v: pc.count(pc.Network(v, input=3))
    yield "Network(outputs) of labels", lambda v: pc.count(pc.Network([pc.Dense(3)], input=3, outputs={"a": v}))
    yield "graph", lambda v: DENSE.graph(v)
    yield "Shape", lambda v: pc.count(pc.Relu(), pc.Shape(v))
    yield "Shape(layout)", lambda v: pc.count(pc.Relu(), pc.Shape((3,), v))
    yield "Column.whole", lambda v: pc.Column.whole("n", v)
    for name in ("depth", "columns", "sort", "flat", "top"):
        yield f"sheet({name})", lambda v, name=name: report.sheet(**{name: v})
    yield "report[]", lambda v: report[v]
    yield "report.get", lambda v: report.get(v)
    yield "report.by", lambda v: report.by(v)


def specs():
    yield "load", pc.load
    yield "loads", pc.loads
    yield "info", pc.info
    yield "info(variant)", lambda v: pc.info("resnet", v)
    yield "info(vars)", lambda v: pc.info("resnet", vars=v)
    yield "info(vars) of one", lambda v: str(pc.info("mobilenet_v2", vars={"width": v}))
    yield "load(variant)", lambda v: pc.load("resnet", v)
    yield "loads(file)", lambda v: pc.loads(TEXT, None, v)
    for name in ("n", "k", "b"):
        yield f"loads({name})", lambda v, name=name: pc.count(pc.loads(TEXT, **{name: v}))


def sweeps(spec):
    yield "sweep(spec)", lambda v: pc.sweep(v, n=[1, 2])
    for name in ("n", "k", "b", "k[0]"):
        yield f"sweep({name})", lambda v, name=name: pc.sweep(spec, **{name: v})
    yield "sweep(n) of two", lambda v: pc.sweep(spec, n=[1, v])
    for name in ("variant", "where", "paired", "seed", "chunk", "workers"):
        yield f"sweep({name})", lambda v, name=name: pc.sweep(spec, n=[1, 2], **{name: v})
    yield "sweep(random)", lambda v: type(v) is int or pc.sweep(spec, n=[1, 2], random=v)
    swept = pc.sweep(spec, n=[1, 2, 3])
    for name in ("take", "where", "column", "point", "error", "joined"):
        yield f"swept.{name}", getattr(swept, name)
    yield "swept.top(rows)", lambda v: swept.top(v, "macs")
    yield "swept.top(by)", lambda v: swept.top(2, v)
    yield "swept.pareto", lambda v: swept.pareto("macs", v)
    yield "swept.plot", lambda v: swept.plot("plot.svg", v)
    yield "solve(spec)", lambda v: pc.solve(v, "n", {"params": 100})
    yield "solve(variable)", lambda v: pc.solve(spec, v, {"params": 100})
    yield "solve(at_most)", lambda v: pc.solve(spec, "n", v)
    yield "solve(at_most) of params", lambda v: pc.solve(spec, "n", {"params": v})
    for name in ("variant", "low", "high", "step", "b"):
        yield f"solve({name})", lambda v, name=name: pc.solve(spec, "n", {"params": 100}, **{name: v})


def items():
    for kind in MODULES:
        layer = find(kind)
        settings, *shapes = layer.examples[0]
        shapes = shapes or [3]
        for name in () if layer.value_fields() else (each.name for each in fields(layer)):
            yield f"{kind}({name})", lambda v, a=(layer, settings, shapes, name): made(*a, v)
    for form, settings, shape in FORMS:
        for name in settings:
            yield f"{form.__name__}({name})", lambda v, a=(form, settings, [shape], name): made(*a, v)


def made(kind, settings, shapes, name, value):
    return pc.count([kind(**{**settings, name: value})], shapes[0])


def arrays():
    network, params = DENSE, DENSE.init()[0]
    x, y = numpy.zeros((6, 3), numpy.float32), numpy.zeros(6, numpy.int32)
    one = x[0]
    yield "init", network.init
    yield "apply(params)", lambda v: network.apply(v, one)
    yield "apply(tensor)", lambda v: network.apply({"dense0": {"weight": v, "bias": v}}, one)
    yield "apply(x)", lambda v: network.apply(params, v)
    yield "apply(buffers)", lambda v: network.apply(params, one, v)
    yield "apply(train)", lambda v: network.apply(params, one, train=v)
    yield "trace(trips)", lambda v: pc.trace(lambda w: w @ w.T, x, trips=v)
    yield "trace(trips) by scope", lambda v: pc.trace(lambda w: w @ w.T, x, trips={"a": v})
    yield "trace(strict)", lambda v: pc.trace(lambda w: w @ w.T, x, strict=v)
    yield "register_rule", lambda v: pc.register_rule(v, None)
    yield "load_checkpoint", lambda v: pc.load_checkpoint(v, network)
    yield "read_data", pc.data.read_data
    for name in ("x", "y", "size", "shuffle", "seed", "drop_last"):
        yield f"Batches({name})", lambda v, name=name: pc.data.Batches(**{"x": x, "y": y, "size": 2, name: v})
    yield "Batches.epoch", lambda v: list(pc.data.Batches(x, y, 2).epoch(v))
    yield "top_k_accuracy", lambda v: pc.metrics.top_k_accuracy(x, y, v) if not isinstance(v, int) else None
    yield "softmax_cross_entropy", lambda v: pc.losses.softmax_cross_entropy(x, v)
    for name in ("train", "freeze", "abstract"):
        yield (
            f"verify({name})",
            lambda v, name=name: (
                v in (None, True, False)
                if isinstance(v, bool | None)
                else (pc.verify(network, **{"abstract": True, name: v}))
            ),
        )
    for name in ("epochs", "seed", "devices", "resume", "loss", "init", "optimizer", "learning_rate", "freeze"):
        yield f"train({name})", lambda v, name=name: pc.train(network, None, **{name: v})


@pytest.mark.parametrize("every", [16, pytest.param(1, marks=pytest.mark.full)])
@pytest.mark.parametrize("family", [counting, specs, sweeps, items, arrays], ids=lambda family: family.__name__)
def test_odd_calls_are_refused_with_our_own_errors(family, every, tmp_path, monkeypatch):
    """A result, or an error of the package that can be shown: never a Python error from inside of it.

    Each call has one of `every` values, and the next call another one of them.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(TEXT)
    values = len(odd_values())
    calls = 0
    for position, (name, call) in enumerate(family("spec.yaml") if family is sweeps else family()):
        for number in range(position % every, values, every):
            value = odd_values()[number]
            calls += 1
            try:
                call(value)
            except ParamcountError as error:
                assert str(error), name
            except Exception as error:
                pytest.fail(f"{name} of {type(value)}, number {number}: {type(error).__name__}: {error}")
    assert calls >= 250 // every
