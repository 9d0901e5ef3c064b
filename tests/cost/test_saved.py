"""Counts that were saved as JSON: they are read as they were, and what is wrong in a file is an error with its name."""

import json
import os
import random
from contextlib import suppress

import pytest

from paramcount.cost.compare.comparison import compare
from paramcount.cost.count import count
from paramcount.cost.saved import saved, saved_in
from paramcount.cost.tally import Tallies
from paramcount.errors import ArgumentError, SpecError
from paramcount.language.load import load, loads, shipped_networks
from paramcount.layers.layer import Shape

SHARED = "{input: {features: 8}, layers: [{repeat: N, dense: 8, share: key}]}"


@pytest.fixture
def save(tmp_path):
    def write(data, name="base.json"):
        path = tmp_path / name
        text = data if isinstance(data, (str, bytes)) else json.dumps(data)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def small():
    return count(load("mlp")).to_dict()


@pytest.mark.parametrize(
    ("spec", "settings"),
    [
        ("resnet:50", {}),
        ("mobilenet_v2@width=0.75", {"train": True, "optimizer": "adam", "batch": 4, "dtype": "bfloat16"}),
        ("mixtral", {"kv_cache": 1000}),
        ("gpt2", {"attention": "exact"}),
    ],
)
def test_what_was_saved_is_read(save, spec, settings):
    report = count(load(spec), **settings)
    found = saved_in(save(report.to_dict()))
    assert found.to_dict() == json.loads(json.dumps(report.to_dict()))
    assert (found.title, found.basis, found.convention) == (report.title, report.basis, report.convention)
    assert [(row.stem, row.indices) for row in found.rows] == [(row.stem, row.indices) for row in report.rows]
    assert compare(report, found).equal and compare(found, report).equal
    assert str(found).splitlines()[2:5] == str(report).splitlines()[2:5]


def test_tensors_that_iterations_share_stay_with_the_first(save):
    """A loop of another length cuts a row as it cuts one that was not saved: 72 parameters in the first iteration."""
    many, few = (count(loads(SHARED.replace("N", times))) for times in ("4", "2"))
    comparison = compare(saved_in(save(many.to_dict())), few)
    assert [(row.change, row.figure("params")) for row in comparison.rows] == [("equal", (72, 72)), ("removed", (0, 0))]


def test_iterations_are_bounded_in_all(save):
    data = count(loads(SHARED.replace("N", "4"))).to_dict()
    (row,) = data["rows"]
    many = row | {"path": "dense0[0:300000]", "repeat": 300_000}
    with pytest.raises(ArgumentError, match="path of row 3 names iterations that it cannot stand for"):
        saved_in(save(data | {"rows": [many] * 9}))


@pytest.mark.full
def test_all_shipped_networks_are_read(save):
    for _, network in shipped_networks():
        report = count(network)
        assert compare(saved_in(save(report.to_dict())), report).equal


def test_traces_are_read(save):
    tallies = Tallies(named=False)
    for name in ("block[0]", "block[1]"):
        tallies.at(("net", name)).work("forward", "dot_general", 640, 8, 1, Shape((8,)), "")
    trace = tallies.trace("step", ("custom_call",))
    found = saved_in(save(trace.to_dict()))
    assert found.to_dict() == trace.to_dict()
    assert (found.levels, found.training, found.notes) == (trace.levels, trace.phases, trace.notes)
    assert compare(trace, found).equal


def test_what_an_older_version_did_not_save_is_unknown(save):
    data = small()
    for figures in (data["totals"], *data["rows"]):
        del figures["elementwise"]
    found = saved_in(save(data))
    assert (found.params, found.get("elementwise")) == (669_706, None)
    with pytest.raises(ArgumentError, match="it was not saved"):
        _ = found.elementwise


def changed(**changes):
    return small() | changes


def with_row(number=0, **changes):
    data = small()
    data["rows"][number] |= changes
    return data


def with_total(**changes):
    data = small()
    data["totals"] |= changes
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{", "is not JSON: "),
        ("", "is not JSON: "),
        (b"\xff\xfe{", "is not JSON: "),
        (b"\x80\x04\x95", "is not JSON: "),
        ("1" * 5000, "is not JSON: "),
        ("[" * 100_000, "it is nested too deeply"),
        ("[]", "the file is not an object"),
        ("null", "the file is not an object"),
        ({"name": "left-pad", "version": "1.0"}, "it does not have `schema: 1`"),
        (changed(schema="1"), "it does not have `schema: 1`"),
        (changed(schema=True), "it does not have `schema: 1`"),
        (changed(schema=2), "has schema 2, and this version of paramcount reads schema 1"),
        ({"schema": 1, "convention": "", "specs": []}, "totals is not an object"),  # a zoo
        (changed(rows=None), "`rows` is not a list"),
        (changed(rows=[5]), "row 0 is not an object"),
        (changed(totals={}), "totals has neither `params` nor `macs`"),
        (changed(name=5), "name is not a text"),
        (changed(variant=["x"]), "variant is not a text"),
        (changed(vars=[]), "vars is not an object"),
        (changed(convention=None), "convention is not a text"),
        (changed(warnings="x"), "warnings is not a list"),
        (with_row(params=-5), "params of row 0 is `-5`, not a whole number"),
        (with_row(params=1.5), "params of row 0 is `1.5`, not a whole number"),
        (with_row(params="1"), 'params of row 0 is `"1"`, not a whole number'),
        (with_row(macs=10**4000), "macs of row 0 is `1000"),
        (with_row(macs=True), "macs of row 0 is `true`, not a whole number"),
        (with_row(macs=float("nan")), "macs of row 0 is `NaN`, not a whole number"),
        (with_row(params=5), "`params` of its rows does not sum to its total"),
        (with_row(params=None), "`params` of its rows does not sum to its total"),
        (with_total(macs=5), "`macs` of its rows does not sum to its total"),
        (changed(rows=small()["rows"] * 2), "its row `dense0` is misplaced, or stands there twice"),
        (with_row(2, path="elsewhere"), "its row `elsewhere` below `dense0` is misplaced, or stands there twice"),
        (with_row(1, macs=5), "`macs` of the rows of `dense0` does not sum to its total"),
        (with_row(depth=2), "row 0 has depth 2, after depth 0"),
        (with_row(depth=0), "row 0 has depth 0, after depth 0"),
        (with_row(1, depth=4), "row 1 has depth 4, after depth 1"),
        (with_row(path=None), "path of row 0 is not a text"),
        (with_row(path="a[0:3]"), "path of row 0 names iterations that it cannot stand for"),
        (with_row(path="a[]"), "path of row 0 names iterations that it cannot stand for"),
        (with_row(path="a[0:999999999]", repeat=999_999_999), "path of row 0 names iterations that it cannot"),
        (with_row(output_shape=5), "output_shape of row 0 is not a list"),
        (with_row(output_shape=["8"]), 'output_shape of row 0 is `"8"`, not a whole number'),
        (with_total(train_macs=5), "its rows and its totals have different figures"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "data",
)
def test_what_is_wrong_is_said(save, data, message):
    path = save(data)
    with pytest.raises(ArgumentError) as caught:
        saved_in(path)
    assert message in caught.value.message and f"`{path}`" in caught.value.message
    assert caught.value.hint


def test_files_that_cannot_be_read(save, tmp_path):
    path = save(small(), "before.json")
    with pytest.raises(ArgumentError, match=r"cannot be read: .*\nhint: did you mean `.*before\.json`\?"):
        saved_in(str(tmp_path / "befor.json"))
    with pytest.raises(ArgumentError, match=r"cannot be read: .*\nhint: save a count with"):
        saved_in(str(tmp_path / "nothing-like-it.json"))
    with pytest.raises(ArgumentError, match="it is not a path"):
        saved_in("\0.json")
    with pytest.raises(ArgumentError, match="cannot be read"):
        saved_in(str(tmp_path))
    with open(path, "ab") as file:
        os.truncate(file.fileno(), (1 << 26) + 1)  # zeros that take no room on the disk
    with pytest.raises(ArgumentError, match="is larger than 64 MiB"):
        saved_in(path)


def test_a_spec_in_json_is_not_a_saved_count(save):
    path = save({"input": {"features": 8}, "layers": [{"dense": 8}]})
    assert saved_in(path) is None
    assert compare(path, path).totals["params"] == (72, 72)


def test_nothing_of_a_file_is_evaluated(save):
    data = small()
    data["vars"] = {"width": "__import__('os').abort()"}
    data["rows"][0]["setting"] = "\x1b[31m"
    found = saved_in(save(data))
    assert compare(found, "mlp").variables == {"width": ("__import__('os').abort()", None)}
    assert "\x1b" not in str(compare(found, "mlp"))


JUNK = (None, True, -1, 0, 2**70, 0.5, "", "a[0:2]", "x" * 50, [], [1, "a"], {}, {"params": 1}, "\x00", "[", "1")


def places(value, path=()):
    """Every place in a JSON value."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield from places(each, (*path, key))


def test_no_damage_is_a_traceback():
    text = json.dumps(count(load("llama:tiny"), kv_cache=8).to_dict())
    where = [path for path in places(json.loads(text)) if path]
    draw = random.Random(7)
    read = 0
    for _ in range(200):
        data = json.loads(text)
        *outer, last = draw.choice(where)
        holder = data
        for key in outer:
            holder = holder[key]
        if draw.random() < 0.2:
            del holder[last]
        else:
            holder[last] = draw.choice(JUNK)
        try:
            found = saved(json.dumps(data).encode(), "x.json")
        except ArgumentError as error:
            assert "`x.json`" in str(error)
        else:
            read += 1
            shown = compare(found, found)
            assert shown.equal and str(shown)
    assert 0 < read < 200
    for _ in range(50):
        start, stop = sorted(draw.randrange(len(text)) for _ in range(2))
        with suppress(ArgumentError):
            saved((text[:start] + text[stop:]).encode(), "x.json")


def test_a_saved_count_is_not_a_spec(tmp_path):
    path = tmp_path / "base.json"
    count(load("lenet")).save(path)
    with pytest.raises(SpecError, match="is a count that was saved, not a spec\nhint: `paramcount compare`"):
        load(path)
