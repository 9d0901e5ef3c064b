"""Words in expressions and rows, and names that cannot stand in the paths of rows."""

import pytest

import paramcount as pc
from paramcount.errors import ParamcountError

FEATURES = "input: {features: 4}\n"
IMAGE = "input: {image: [8, 8, 4]}\n"


def kinds(text):
    return [row.kind for row in pc.count(pc.loads(text)).rows if row.leaf]


@pytest.mark.parametrize(
    "layers",
    [
        "[{repeat: 3, activate: relu if i < 2 else gelu}]",
        "[{for: a, in: [relu, relu, gelu], activate: a}]",
        "[{for: [a, n], in: [[relu, 2], [none, 1], [gelu, 1]], repeat: n, activate: a}]",
        "[{repeat: 2, activate: choice}, {activate: last}]",
        "[{b: relu if cin == 4 else tanh}, {b: relu}, b]",
    ],
)
def test_a_word_stands_for_itself_where_a_word_is_taken(layers):
    variables = "vars: {w: 2, choice: relu if w > 1 else tanh, last: tanh if w > 1 and w < 2 else gelu}\n"
    block = "blocks: {b: {args: {act: gelu if cin > 3 else tanh}, layers: [activate: act]}}\n"
    leaves = kinds(FEATURES + variables + block + f"layers: {layers}")
    assert list(dict.fromkeys(leaves)) == ["relu", "gelu"]


def test_a_variable_goes_before_the_word():
    assert kinds(FEATURES + "vars: {relu: gelu}\nlayers: [{activate: relu if cin == 4 else tanh}]") == ["gelu"]


def test_a_field_has_its_own_words():
    layers = "layers: [{repeat: 2, conv: {out: 4, kernel: 3, padding: same if i == 0 else valid}}]"
    assert str(pc.loads(IMAGE + layers).graph().outputs["output"].shape) == "6×6×4"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (FEATURES + "layers: [{activate: relu if cin > 3 else gleu}]", "2:42: unknown variable `gleu`"),
        (IMAGE + "layers: [{conv: {out: 4, kernel: 3, padding: sam if cin > 3 else valid}}]", "unknown variable `sam`"),
        (FEATURES + "layers: [{activate: relu if do == 3 else gelu}]", "2:29: unknown variable `do`"),
        (FEATURES + "vars: {depth: do}\nlayers: [{repeat: depth, dense: 4}]", "2:15: unknown variable `do`"),
        (FEATURES + "vars: {depth: moe}\nlayers: [{repeat: depth, dense: 4}]", "2:15: unknown variable `moe`"),
        (FEATURES + "layers: [{dense: scale * 2}]", "2:18: unknown variable `scale`"),
        (FEATURES + "layers: [{dense: 3, name: a.b}]", "2:27: `a.b` cannot be a name"),
        (FEATURES + "layers: [{dense: 3, name: 'a[0]'}]", r"2:27: `a\[0\]` cannot be a name"),
        (FEATURES + "layers: [{let: {'a{0}': [dense: 3], a0: [dense: 4]}}]", "2:37: the name `a0` is given twice"),
        (FEATURES + "layers: [{add: [prev, none]}]", "`none` is not a value"),
        (FEATURES + "layers: [{let: {a: none}}]", "`none` is not a value"),
    ],
)
def test_what_is_no_word_or_name(text, words):
    with pytest.raises(ParamcountError, match=words):
        pc.loads(text)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("{input: {features: 3}, layers: [dense: true]}", "out must be a whole number, not `true`"),
        ("{input: {features: 3}, vars: {n: [none]}, layers: [dense: n]}", "not `[none]` (from `n`)"),
        ("{input: {features: 3}, vars: {n: false}, layers: [dense: n]}", "not `false` (from `n`)"),
        ("{input: {features: 3}, vars: {n: none}, layers: [{dense: 2, name: 'a{n}'}]}", "`n` is `none`, and a name"),
        ("{input: {features: 3}, layers: [dense: True]}", "unknown variable `True`"),  # as it was typed
    ],
)
def test_values_in_errors_are_written_as_in_specs(spec, message):
    with pytest.raises(pc.ParamcountError) as caught:
        pc.loads(spec)
    assert message in str(caught.value)


def test_values_in_errors_of_python_are_written_as_in_python():
    with pytest.raises(pc.ArgumentError, match="out must be a whole number, not `True`"):
        pc.Dense(True)
