"""Sweeps against the same variants counted one by one, with Python's own integers."""

import itertools
import random

import numpy
import pytest

import paramcount as pc
from paramcount.language.load import fresh_syntax, shipped_specs
from paramcount.sweeps.region import Region
from paramcount.sweeps.result import with_amounts
from paramcount.sweeps.space import Space
from paramcount.sweeps.sweep import space_of, sweep_parts


def alone(found, row):
    """A row's figures when it is loaded and counted by itself, or None if it is not a valid network."""
    try:
        return pc.count(found.space.network(found.space.indices(found.point(row)))).totals
    except pc.ParamcountError:
        return None


def check(found, rows=None):
    for row in range(len(found)) if rows is None else rows:
        totals = alone(found, row)
        assert found.valid[row] == (totals is not None), (found.point(row), found.error(row))
        for name, value in (totals._asdict() if totals else dict.fromkeys(pc.Figures._fields, 0)).items():
            column = found.columns[name]
            assert column.dtype == numpy.int64
            assert column[row] == value, (found.point(row), name)


def settings(value):
    """A few values around a variable's own."""
    if isinstance(value, bool):
        return [True, False]
    if isinstance(value, int):
        return sorted({value, max(1, value // 2), value + 1, value + 8})
    if isinstance(value, float):
        return [value, 0.75 * value, value + 0.03]
    return None


@pytest.mark.parametrize("name", shipped_specs())
def test_a_shipped_spec_at_random_points(name):
    variables = {}
    for variable, value in pc.load(name).vars.items():
        if isinstance(value, list) and all(type(each) is int for each in value):
            variables[f"{variable}[*]"] = [max(1, min(value) // 2), max(value)]
        elif settings(value) is not None:
            variables[variable] = settings(value)
    if variables:
        check(pc.sweep(name, random=8, seed=3, **variables))


def test_mobilenet_by_width_and_resolution_is_exact_everywhere():
    """A full grid; MACs and params against the scalar count of each point that shares neither axis."""
    found = pc.sweep("mobilenet_v2", width=numpy.linspace(0.05, 1.4, 100), resolution=range(96, 196))
    assert len(found) == 10_000 and found.valid.all()
    check(found, range(0, 10_000, 101))
    check(found, random.Random(1).sample(range(10_000), 100))


GRIDS = {
    "depth and a condition on it": ("vit", {"depth": range(1, 5), "width": [192, 384], "heads": [3, 5, 6]}),
    "words and lists": ("vgg", {"norm": ["none", "batch_norm"], "depths": [[1, 1, 2, 2, 2], [2, 2, 3, 3, 3]]}),
    "one entry of a list": ("resnet", {"depths[2]": [4, 6, 23], "basic": [True, False], "width": [64, 128]}),
    "an expression": ("vit", {"width": [192, 384, 400], "heads": "width // 64"}),
    "formulas of fractions": ("regnet_x", {"slope": [24.48, 35.73], "step": [2.0, 2.25, 2.54], "depth": [16, 22]}),
    "sizes that do not fit": ("unet", {"resolution": range(180, 200), "padded": [True, False]}),
}


@pytest.mark.parametrize(("spec", "variables"), GRIDS.values(), ids=GRIDS)
@pytest.mark.parametrize("chunk", [None, 5])
def test_grids(spec, variables, chunk):
    found = pc.sweep(spec, chunk=chunk, workers=2, **variables)
    lengths = [len(each) for each in variables.values() if not isinstance(each, str)]
    assert len(found) == numpy.prod(lengths)
    check(found)


def test_the_order_is_that_of_nested_loops():
    found = pc.sweep("mobilenet_v2", width=[0.5, 1.0], resolution=[96, 128, 160])
    points = [(found.point(row)["width"], found.point(row)["resolution"]) for row in range(6)]
    assert points == [(width, size) for width in (0.5, 1.0) for size in (96, 128, 160)]


def test_pairs():
    found = pc.sweep("mobilenet_v2", paired=True, width=[0.5, 1.0, 1.4], resolution=[96, 224, 224])
    assert found.columns["macs"].tolist()[1:] == [300774272, 582195824]
    with pytest.raises(pc.ArgumentError, match="the same number of values, but `width` has 1, `resolution` has 2"):
        pc.sweep("mobilenet_v2", paired=True, width=[1.0], resolution=[96, 128])


def test_random_points_follow_their_seed():
    variables = {"width": numpy.linspace(0.3, 1.4, 50), "resolution": range(96, 224)}
    one, same, other = (pc.sweep("mobilenet_v2", random=50, seed=seed, **variables) for seed in (1, 1, 2))
    assert one.columns["macs"].tolist() == same.columns["macs"].tolist() != other.columns["macs"].tolist()


def test_windows_are_the_whole():
    variables = {"width": [0.5, 0.75, 1.0], "resolution": range(96, 107)}
    for windows in (1, 2, 7, 11, 12, 33):
        parts = list(sweep_parts(space_of("mobilenet_v2", None, variables), chunk=windows, workers=1))
        assert all(len(part) <= windows for part in parts)
        macs = [value for part in parts for value in part.columns["macs"].tolist()]
        assert macs == pc.sweep("mobilenet_v2", **variables).columns["macs"].tolist()


def test_an_invalid_network_is_marked_with_its_reason():
    found = pc.sweep("vit", heads=[5, 12, 7], depth=[1, 2])
    assert found.valid.tolist() == [False, False, True, True, False, False]
    assert found.columns["params"].tolist()[:2] == [0, 0]
    assert "153.6 is not a whole number" in found.reasons[found.reason[0]]
    assert "109.7142857 is not a whole number" in (found.error(4) or "")
    assert found.error(2) is None


def test_numbers_beyond_64_bits_are_marked_one_by_one():
    found = pc.sweep("mlp_mixer", width=[768, 2**40], depth=[1, 2], resolution=[224, 448])
    assert found.valid.tolist() == [True] * 4 + [False] * 4
    assert "overflows the 64 bits" in found.reasons[0]


def test_conditions():
    found = pc.sweep("mobilenet_v2", width=[0.5, 1.0], resolution=[96, 224], where="params < 3e6 or macs > 3e8")
    assert [(found.point(row)["width"], found.point(row)["resolution"]) for row in range(len(found))] == [
        (0.5, 96),
        (0.5, 224),
        (1.0, 224),
    ]
    wrongs = {"parms < 3": "no numeric column `parms`", "params": "must be a condition", "params <": "missing"}
    for wrong, message in wrongs.items():
        with pytest.raises(pc.ParamcountError, match=message):
            found.where(wrong)


@pytest.mark.parametrize(
    ("condition", "plain"),
    [
        ("params < 3.5M and macs > 0.5G", "params < 3500000 and macs > 500000000"),
        ("3M < params<4M", "3000000 < params<4000000"),
        ("param_bytes <= 14MiB or param_bytes > 14MB", "param_bytes <= 14680064 or param_bytes > 14000000"),
        ("not params >= 8B", "not params >= 8000000000"),
        ("macs / params > 80", "macs / params > 80"),
        ("macs < 5e6 and width == 1e-3", "macs < 5e6 and width == 1e-3"),
    ],
)
def test_amounts_in_conditions(condition, plain):
    assert with_amounts(condition) == plain


def test_amounts_choose_the_same_rows():
    found = pc.sweep("mobilenet_v2", width=[0.5, 0.75, 1.0])
    assert found.where("params < 3M and param_bytes >= 10MiB").columns["width"].tolist() == [0.75]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("params < 3.5MB", "`3.5MB` is not an amount of params\nhint: write 3.5M"),
        ("param_bytes < 14M", "`14M` is not an amount of param_bytes\nhint: write 14MiB or 14MB"),
        ("params < 3M and width < 2k", "where:1:30: `2k` is not a number"),
        ("params < 1_000", "`1_000` is not a number"),
        ("params < 0x10", "`0x10` is not decimal"),
    ],
)
def test_wrong_amounts_in_conditions(condition, message):
    """Of a variable, 2k may be 2,000 or 2,048."""
    with pytest.raises(pc.ParamcountError, match=message):
        pc.sweep("mobilenet_v2", where=condition, width=[0.5])


def test_the_best_rows():
    found = pc.sweep("mobilenet_v2", width=[1.0, 0.5, 0.75, 0.5], resolution=[224, 96])
    assert found.top(3, "params").columns["width"].tolist() == [0.5, 0.5, 0.5]
    assert found.top(2, "-macs").columns["macs"].tolist() == [300774272, found.columns["macs"][4]]
    with pytest.raises(pc.ArgumentError, match="no numeric column `foo`"):
        found.top(1, "foo")


def test_the_pareto_front_is_that_of_comparing_all_with_all():
    found = pc.sweep("resnet", random=60, seed=5, **{"depths[*]": range(1, 9), "width": [32, 64, 96]})
    rows = list(zip(found.columns["params"].tolist(), found.columns["macs"].tolist(), strict=True))
    best = {
        (params, macs)
        for params, macs in rows
        if not any(p <= params and m >= macs and (p, m) != (params, macs) for p, m in rows)
    }
    front = found.pareto("params", "-macs")
    assert list(zip(front.columns["params"].tolist(), front.columns["macs"].tolist(), strict=True)) == sorted(best)
    assert 2 < len(best) < 60


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "needs a variable"),
        ({"widht": [1]}, "did you mean `width`"),
        ({"width": []}, "has no values"),
        ({"width": [float("nan")]}, "finite"),
        ({"width[0]": [1]}, "is not a list"),
    ],
)
def test_errors(variables, message):
    with pytest.raises(pc.ParamcountError) as caught:
        pc.sweep("mobilenet_v2", **variables)
    assert message in str(caught.value)


def test_errors_of_lists():
    with pytest.raises(pc.ArgumentError, match="`depths` is a list"):
        pc.sweep("resnet", depths=[3, 4])
    with pytest.raises(pc.ArgumentError, match="has 4 entries, so there is no index 4"):
        pc.sweep("resnet", **{"depths[4]": [3, 4]})


def test_a_walk_serves_many_variants(monkeypatch):
    """One walk for each structure: two depths take two walks, however many widths there are."""
    walks = []
    network = Space.network
    monkeypatch.setattr(Space, "network", lambda self, values: walks.append(1) or network(self, values))
    pc.sweep("mobilenet_v2", width=numpy.linspace(0.5, 1.4, 300), resolution=range(100, 300), chunk=10**6)
    assert len(walks) == 1
    walks.clear()
    pc.sweep("vit", depth=[2, 3], width=range(768, 1536, 12), chunk=10**6)
    assert len(walks) == 3  # the first finds that the depth determines the structure


def test_a_mask_of_one_variable_leaves_a_grid():
    region = Region({"a": numpy.arange(3)[:, None], "b": numpy.arange(4)[None]}, numpy.arange(12).reshape(3, 4))
    assert region.select(region.values["a"] > 0).places.tolist() == [[4, 5, 6, 7], [8, 9, 10, 11]]
    kept = region.select(region.values["a"] + region.values["b"] > 3)
    assert kept.places.tolist() == [7, 10, 11]
    assert (kept.values["a"].tolist(), kept.values["b"].tolist()) == ([1, 2, 2], [3, 2, 3])
    for most in range(1, 14):
        blocks = list(region.blocks(most))
        assert [place for block in blocks for place in block.places.reshape(-1).tolist()] == list(range(12))
        assert all(block.size <= most for block in blocks)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"at_most": {"macs": "300X"}}, "`300X` is not an amount of macs"),
        ({"at_most": {"params": "3.5MB"}}, "`3.5MB` is not an amount of params"),
        ({"at_most": {"macs": True}}, "macs must be a number"),
        ({"at_most": {"macs": 300e6}, "step": "1"}, "step must be a number, not `1`"),
    ],
)
def test_a_budget_is_an_amount(given, words):
    with pytest.raises(pc.ArgumentError, match=words):
        pc.solve("mobilenet_v2", "width", **given)


def test_a_budget_in_any_spelling():
    for most in (numpy.int64(300_000_000), "300M", 300e6, 300_000_000.5):
        found = pc.solve("mobilenet_v2", "width", {"macs": most})
        assert (found.value, found.at_most) == (0.98, {"macs": 300_000_000})


@pytest.mark.parametrize("random", [0, 1.5, True, "3"])
def test_how_many_points_are_drawn_is_whole(random):
    with pytest.raises(pc.ArgumentError, match=r"random must be (a whole number of )?at least 1, not"):
        pc.sweep("vit", depth=[1, 2], random=random)


def test_none_is_one_value():
    spec = "{input: {features: 4}, vars: {n: 1, act: relu}, layers: [{dense: n}, {activate: act}]}"
    found = pc.sweep(fresh_syntax(spec, "<text>"), n=[1, 2], act=None)
    assert found.columns["elementwise"].tolist() == [1, 2]  # of the biases


def test_roots_and_powers_are_pythons():
    """By hand: 101 parameters for each feature; the cube root of 27 is 3, and 11 / 1.1 is 10."""
    spec = "{input: {features: 100}, vars: {n: 2}, layers: [dense: SIZE]}"
    roots = pc.sweep(fresh_syntax(spec.replace("SIZE", "floor(n ** (1 / 3))"), "<text>"), n=[8, 27, 64])
    assert roots.columns["params"].tolist() == [202, 303, 303]  # 64 ** (1 / 3) is 3.9999999999999996
    powers = pc.sweep(fresh_syntax(spec.replace("SIZE", "floor(11 * 1.1 ** n)"), "<text>"), n=range(-2, 3))
    assert powers.columns["params"].tolist() == [909, 1010, 1111, 1212, 1313]


def test_a_whole_number_stays_whole_among_fractions():
    """2 ** 53 + 1 is a whole number and no float64."""
    spec = fresh_syntax("{input: {features: 1}, vars: {n: 2}, layers: [dense: floor(n) % 10 + 1]}", "<text>")
    found = pc.sweep(spec, n=[2**53 + 1, 0.5, 3])
    assert found.columns["params"].tolist() == [8, 2, 8]  # 9,007,199,254,740,993 % 10 is 3
    found = pc.sweep(spec, n=[1, 2.5])
    assert found.columns["n"].tolist() == [1.0, 2.5] and found.columns["n"].dtype == float


def test_fractions_that_a_layer_takes():
    spec = fresh_syntax("{input: {image: [10, 10, 1]}, vars: {n: 2.0}, layers: [upsample: n]}", "<text>")
    check(found := pc.sweep(spec, n=[1.0, 1.5, 2.25, 0.05]))
    assert found.columns["activations"].tolist() == [100, 225, 484, 0]
    spec = fresh_syntax("{input: {image: [n, 1, 1]}, vars: {n: 2}, layers: [upsample: 1.0000000000000002]}", "<text>")
    check(found := pc.sweep(spec, n=[5, 10**6]))
    assert found.columns["activations"].tolist() == [5, 10**6]


def test_how_many_iterations_there_are_may_be_written_with_a_point():
    spec = fresh_syntax("{input: {features: 8}, vars: {n: 2}, layers: [{repeat: n, dense: 8}]}", "<text>")
    found = pc.sweep(spec, n=[1.0, 2.0, 2.5])
    assert (found.columns["params"].tolist(), found.valid.tolist()) == ([72, 144, 0], [True, True, False])


def test_one_huge_variant_leaves_the_others():
    spec = fresh_syntax("{input: {features: 1e9}, vars: {n: 2}, layers: [dense: n]}", "<text>")
    for values in ([10**10], [10**10, 10], [10**10, 10**10], [10, 10**10, 10**11]):
        found = pc.sweep(spec, n=values)
        assert found.valid.tolist() == [each == 10 for each in values]
        assert [int(each) for each in found.columns["params"][found.valid]] == [10**10 + 10] * values.count(10)
        assert all("overflows the 64 bits of a sweep" in each for each in found.reasons)
        assert all(("overflows" in (found.error(row) or "")) != found.valid[row] for row in range(len(values)))


@pytest.mark.parametrize(
    "values",
    [
        [10, 10**18 + 1, -(10**18) - 1],
        [10, 2**63 - 1, -(2**63)],
        [10, 2**63, 2**64 - 1],
        [10, 10**19, -1],
        [10, 2**70],
        [10, 1e19, 0.5],
        [10.0, 1e300],
        numpy.array([10, 2**63, 2**64 - 1], numpy.uint64),
    ],
    ids=str,
)
def test_values_beyond_what_one_network_takes_are_refused_one_by_one(values):
    """So large a value is refused alone: no row may have figures that come of a rounded one."""
    spec = fresh_syntax(
        "{input: {features: 3}, vars: {n: 2}, layers: [dense: 'max(1, floor(n / 2)) % 1000']}", "<text>"
    )
    found = pc.sweep(spec, n=values)
    for row, value in enumerate(values):
        alone = None if abs(float(value)) > 1e18 or value in (10**18 + 1, -(10**18) - 1) else 4 * max(1, value // 2)
        assert (alone is not None) == found.valid[row]
        assert found.columns["params"][row] == alone if alone else "`n` is beyond 1e18" in (found.error(row) or "")
    with pytest.raises(pc.ArgumentError, match="`n` is beyond 1e18\nhint: numbers go up to 1e18"):
        pc.loads("{input: {features: 3}, vars: {n: 2}, layers: [dense: n]}", n=values[1])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("{input: {features: 8}, vars: {n: 2}, layers: [dense: 0 // n]}", "`0 // n` is 0 // 3"),
        ("{input: {features: 8}, vars: {n: 2}, layers: [{repeat: n > 3, relu: {}}]}", "repeat must be a whole number"),
        ("{input: {sequence: [n, n + 1]}, vars: {n: 2}, layers: [embedding: [3, 4]]}", "got sequence 3×4"),
        (
            "{inputs: {a: {features: n}, b: {features: 7}}, vars: {n: 2}, layers: [multiply: [a, b]]}",
            "needs one shape, and got 3 and 7",
        ),
        (
            "{inputs: {a: {features: n}, b: {features: 7}}, vars: {n: 2}, layers: "
            "[{from: a, dense: 3, share: k}, {from: b, dense: 3, share: k}]}",
            "`weight` is 3×3 and then 7×3",
        ),
    ],
)
def test_a_reason_is_that_of_the_first_row_alone(spec, message):
    """Of a thousand rows that fail alike; and never how a sweep holds their numbers."""
    rows = [3, *range(20, 1020)]
    found = pc.sweep(fresh_syntax(spec, "<text>"), n=rows)
    assert not found.valid[0] and message in found.reasons[found.reason[0]] == found.error(0)
    assert not any(word in each for each in found.reasons for word in ("Column", "Mask", "array"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": range(1, 10**12)}, "`width` has more than 10,000,000 values"),
        pytest.param({"width": itertools.count(1)}, "`width` has more than 10,000,000 values", marks=pytest.mark.full),
        ({"width": [1, 2], "random": 10**12}, "1,000,000,000,000 points are too many to count"),
        ({"width": range(1, 10**4), "resolution": range(1, 10**5)}, "999,890,001 rows are too many to hold"),
        ({"width": range(1, 10**6), "resolution": range(1, 10**6)}, "999,998,000,001 points are too many to count"),
        ({"width": [1, 2], "random": 1, "seed": -1}, "seed must be a whole number of at least 0, not `-1`"),
        ({"width": [1, 2], "random": 1, "seed": 1.5}, "seed must be a whole number of at least 0, not `1.5`"),
        ({"width": [1, 2], "vars": {"width": [1]}}, "`width` is given twice"),
        ({"vars": [1, 2]}, "`vars` is a mapping of variables to values"),
    ],
)
def test_what_cannot_be_counted_is_refused_at_once(options, message):
    with pytest.raises(pc.ArgumentError, match=message):
        pc.sweep("mobilenet_v2", **options)


def test_entries_of_a_list_vary_once():
    with pytest.raises(pc.ArgumentError, match=r"`depths\[0\]` is given twice"):
        pc.sweep("resnet", vars={"depths[*]": [2, 3], "depths[0]": [4, 5]})
    with pytest.raises(pc.ArgumentError, match="`depths` has several values, and so have its entries"):
        pc.sweep("resnet", vars={"depths": [[1, 2, 3, 4], [2, 2, 2, 2]], "depths[0]": [4, 5]})


def test_variables_of_any_name():
    names = ("variant", "where", "paired", "random", "seed", "chunk", "workers", "dask", "vars", "spec", "path", "file")
    text = f"{{input: {{features: 1}}, vars: {{{', '.join(f'{each}: 1' for each in names)}}}, layers: [dense: SUM]}}"
    spec = fresh_syntax(text.replace("SUM", " + ".join(names)), "<text>")
    for name in names:
        assert pc.sweep(spec, vars={name: [1, 5]}).columns["params"].tolist() == [24, 32]
        assert pc.count(pc.loads(text.replace("SUM", " + ".join(names)), vars={name: 5})).params == 32


def test_a_condition_looks_only_where_it_must():
    spec = fresh_syntax("{input: {features: 6}, vars: {n: 1}, layers: [{when: n > 1, dense: n}]}", "<text>")
    found = pc.sweep(spec, n=[1, 2, 3])  # without parameters, and 12 macs of 14, 18 of 21
    assert found.where("params > 0 and macs / params < 0.9").columns["n"].tolist() == [2, 3]
    assert found.where("macs / 4 == 3").columns["n"].tolist() == [2]  # whole for some rows, not for others
