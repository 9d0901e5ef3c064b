"""Every size of every kind of layer and form passes the same check, from Python, from a spec and through a variable."""

from dataclasses import replace

import pytest

import paramcount as pc
from paramcount.backend.prove.contract import examples
from paramcount.errors import ParamcountError
from paramcount.graph.tree import Node
from paramcount.layers import MODULES, find
from paramcount.layers.fields import AxisSizes, Whole, Wholes
from paramcount.layers.layer import Shape

WRONG = [-7, 7.5, True, [True], [7.5], "word", 1e30, 10**30, 10**400, float("nan"), float("inf"), [[1]], {}]
KINDS = [found for kind in MODULES if (found := find(kind))]


def sizes(layer):
    """The arguments of a layer that are sizes or lists of them."""
    return [name for name, check in layer.checks() if isinstance(check, (Whole, Wholes))]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_a_layer_refuses_what_is_not_a_size(kind):
    for layer, _ in examples(kind):
        for name in sizes(kind):
            value = getattr(layer, name)
            each = [value]
            if isinstance(dict(kind.checks())[name], AxisSizes):
                each = [{axis: None for axis, _ in value}] if value else []
            for old in each:
                for wrong in WRONG[1:]:  # -7 is an index or a size that follows, for some
                    given = dict.fromkeys(old, wrong) if isinstance(old, dict) else wrong
                    with pytest.raises(ParamcountError):
                        replace(layer, **{name: given})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_a_list_for_each_axis_has_whole_sizes(kind):
    """A list of one wrong size among right ones; None only where an axis may be kept."""
    for layer, shapes in examples(kind):
        for name in sizes(kind):
            value = getattr(layer, name)
            if not isinstance(value, tuple) or not all(isinstance(each, int) for each in value):
                continue
            for wrong in (7.5, True, "word", [1, 2, 3], None):
                for given in ((wrong, *value[1:]), (*value[:-1], wrong)):
                    if not value:
                        continue
                    try:
                        shape = replace(layer, **{name: given}).output_shape(*shapes)
                    except ParamcountError:
                        continue
                    results = shape if isinstance(shape, tuple) else (shape,)
                    assert wrong is None and all(type(size) is int for each in results for size in each.sizes)


FEATURES, SEQUENCE, IMAGE = "{features: 28}", "{sequence: [28, 28]}", "{image: [28, 28, 28]}"
FORMS = [  # an input, and an item with the place of a size
    (IMAGE, "each: {pattern: (a m) (b n) c -> a b | (m n) c, m: %s, n: 7, do: [dense: 8]}"),
    (SEQUENCE, "each: {pattern: (a m) d -> a | m d, m: %s, do: [dense: 8]}"),
    (SEQUENCE, "rearrange: {pattern: (a m) d -> a m d, m: %s}"),
    (SEQUENCE, "rearrange: {pattern: t d -> t h d, h: %s}"),
    (SEQUENCE, "scan: {carry: {h: [%s]}, do: [add: [[dense: 8], [{from: h}, {dense: 8}]]], next: {h: h}}"),
    (SEQUENCE, "moe: {experts: %s, top_k: 1, body: [dense: 8]}"),
    (SEQUENCE, "moe: {experts: 14, top_k: %s, body: [dense: 8]}"),
    (SEQUENCE, "moe: {experts: 14, top_k: 2, groups: %s, top_groups: 1, body: [dense: 8]}"),
    (SEQUENCE, "repeat: %s, dense: 28"),
    (SEQUENCE, "for: k, in: [%s, 7], dense: k"),
    (SEQUENCE, "attention: {heads: 7, kv_heads: %s}"),
    (SEQUENCE, "ffn: %s"),
    (IMAGE, "bottleneck: {out: 8, stride: %s}"),
    ("{sequence: [%s, 8]}", "dense: 8"),
    ("{image: {height: 28, width: %s, channels: 3}}", "pointwise: 8"),
]


OPTIONAL = ("moe: {experts: 14, top_k: 2, groups", "attention", "bottleneck")  # `none` stands for the default


@pytest.mark.parametrize("input, item", FORMS)
def test_a_form_refuses_what_is_not_a_size(input, item):
    """7.0 is 7; everything else is refused, at once or when the value that arrives is known."""

    def spec(value, rest=""):
        filled = [text % value if "%s" in text else text for text in (input, item)]
        return f"{rest}input: {filled[0]}\nlayers: [{{{filled[1]}}}]"

    def counted(text):
        """All figures; the setting of a block shows its arguments as they are written."""
        found = pc.count(pc.loads(text)).to_dict()
        return found["totals"], [{**row, "setting": ""} for row in found["rows"]]

    whole = counted(spec("7"))
    for same in ("7.0", "14 / 2"):
        for text in (spec(same), spec("v", f"vars: {{v: {same}}}\n")):
            assert counted(text) == whole
            assert not [figure for row in counted(text)[1] for figure in row.values() if isinstance(figure, float)]
    for wrong in ("-7", "7.5", "true", "[]", "word", "1e30", "none", "10 ** 18 * 10", "3 > 2", "[7, true]"):
        for text in (spec(wrong), spec("v", f"vars: {{v: {wrong}}}\n")):
            if wrong == "none" and item.startswith(OPTIONAL):
                continue
            with pytest.raises(ParamcountError):
                pc.loads(text)
    for wrong in (-7, 7.5, True, [], "word", 1e30, 10**30):
        with pytest.raises(ParamcountError):
            pc.loads(spec("v", "vars: {v: 7}\n"), v=wrong)
    if "repeat" not in item:
        with pytest.raises(ParamcountError):
            pc.loads(spec("0"))


@pytest.mark.parametrize("wrong", [-7, 0, 7.5, True, [], "word", 1e30, None])
def test_sizes_of_pieces_and_states_in_python(wrong):
    with pytest.raises(ParamcountError):
        pc.count([pc.Each("(a m) d -> a | m d", [pc.Dense(8)], {"m": wrong})], (28, 8))
    with pytest.raises(ParamcountError):
        pc.count([pc.Scan(carry={"h": [wrong]}, body=[pc.Dense(8)], next={"h": "h"})], (28, 8))
    with pytest.raises(ParamcountError):
        pc.count([pc.Dense(8)], (28, wrong))


def test_whole_floats_become_whole_numbers():
    network = pc.Network([pc.Each("(a m) d -> a | m d", [pc.Dense(8.0)], {"m": 7.0})], input=(28.0, 8))
    for node in network.graph().below():
        if isinstance(node, Node):
            assert all(type(size) is int for value in node.outputs for size in value.shape.sizes)
    assert pc.count(network).macs == 28 * 8 * 8 and type(pc.count(network).macs) is int


def test_shapes_keep_whole_numbers():
    assert pc.Network([pc.Relu()], input=Shape((7.0,), "features")).graph().outputs["output"].shape.sizes == (7,)
