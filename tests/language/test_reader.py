"""Every mistake that YAML, or the part of it that the language leaves out, can hold; on both of PyYAML's parsers."""

import random
from typing import Any

import pytest
import yaml

from paramcount.errors import ManyErrors, ParamcountError, SpecError
from paramcount.language.yaml import reader
from paramcount.language.yaml.nodes import Mapping, Scalar, Sequence
from paramcount.language.yaml.reader import read_text
from paramcount.language.yaml.source import read_source

PARSERS = [yaml.SafeLoader] + ([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])

SPEC = """\
name: Sample  # a comment
input: {image: [32, 32, 3]}
vars: {width: 1.0, depth: 2}
layers:
  - conv: {out: round8(32 * width), kernel: 3, stride: 2}
  - {relu, when: "width > 1"}
  - repeat: depth
    do:
      - residual: [conv: {out: cin, kernel: [3, 3]}, batch_norm]
  - global_pool
  - dense: 'classes'
expect:
  params: 1234
"""


@pytest.fixture(params=PARSERS, ids=lambda loader: loader.__name__, autouse=True)
def parser(request, monkeypatch):
    monkeypatch.setattr(reader, "LOADER", request.param)


def read_file(path: str) -> Any:
    return read_text(read_source(path), path)


def read_mapping(text: str) -> Any:
    root = read_text(text, "net.yaml")
    assert isinstance(root, Mapping)
    return root


def refusals(text: str) -> list[ParamcountError]:
    """The errors of a text, in order; each says where it is and what to do."""
    with pytest.raises((SpecError, ManyErrors)) as caught:
        read_text(text, "net.yaml")
    error = caught.value
    errors: list[ParamcountError] = error.errors if isinstance(error, ManyErrors) else [error]
    assert all(each.hint and each.position and each.position.file == "net.yaml" for each in errors)
    return errors


def place(thing) -> tuple[int, int]:
    """Line and column of a node or an error."""
    return thing.position[1:]


def plain(node) -> Any:
    """A node as lists, pairs and texts."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key.text: plain(value) for key, value in node.entries}


def places(node) -> list[tuple[str, int, int]]:
    """Text, line and column of every scalar, in order."""
    if isinstance(node, Scalar):
        return [(node.text, *place(node))]
    if isinstance(node, Sequence):
        return [place for item in node.items for place in places(item)]
    return [place for key, value in node.entries for place in places(key) + places(value)]


def test_a_spec():
    root = read_mapping(SPEC)
    assert plain(root) == {
        "name": "Sample",
        "input": {"image": ["32", "32", "3"]},
        "vars": {"width": "1.0", "depth": "2"},
        "layers": [
            {"conv": {"out": "round8(32 * width)", "kernel": "3", "stride": "2"}},
            {"relu": "", "when": "width > 1"},
            {"repeat": "depth", "do": [{"residual": [{"conv": {"out": "cin", "kernel": ["3", "3"]}}, "batch_norm"]}]},
            "global_pool",
            {"dense": "classes"},
        ],
        "expect": {"params": "1234"},
    }
    assert str(root.get("name").position) == "net.yaml:1:7"
    assert root.get("Name") is None
    assert place(root) == (1, 1)
    assert place(root.get("layers")) == (5, 3)


def test_every_scalar_knows_its_place():
    text = "a: é\nb:\n  - {c: [1, 'd'], e}\n  -\n  - f: |\n      g\n"
    assert places(read_text(text)) == [
        ("a", 1, 1),
        ("é", 1, 4),
        ("b", 2, 1),
        ("c", 3, 6),
        ("1", 3, 10),
        ("d", 3, 13),
        ("e", 3, 19),
        ("", 3, 19),  # an empty value stands at its key
        ("", 4, 4),
        ("f", 5, 5),
        ("g\n", 5, 8),
    ]


def test_scalars_stay_text():
    for text in ["no", "010", "1e-3", "1:30", ".inf", "~", "null", "0x1F", "1_000", "1,024", "2001-01-01", "=", "-8"]:
        assert plain(read_text(f"out: {text}\n")) == {"out": text}


@pytest.mark.parametrize(("text", "quoted"), [("8", False), ("'8'", True), ('"8"', True), ("''", True), ("", False)])
def test_quotes_are_remembered(text, quoted):
    assert read_mapping(f"out: {text}\n").get("out").quoted is quoted


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: b\n  c\n", {"a": "b c"}),
        ("{a: b\n  c}", {"a": "b c"}),
        ("a: >-\n  b\n  c\n", {"a": "b c"}),
        ("- a\n- - b\n  - c\n", ["a", ["b", "c"]]),
        ("? a\n: b\n", {"a": "b"}),
        ("'a b': c\n", {"a b": "c"}),
        ("source: https://arxiv.org/abs/1801.04381\n", {"source": "https://arxiv.org/abs/1801.04381"}),
        ("- rearrange: t (h d) -> t h d\n", [{"rearrange": "t (h d) -> t h d"}]),
        ("- each: {pattern: (a m) b -> a | m b, m: 7}\n", [{"each": {"pattern": "(a m) b -> a | m b", "m": "7"}}]),
        ("- add: [max(8), (a) - (b), dense: (2)]\n", [{"add": ["max(8)", "(a) - (b)", {"dense": "(2)"}]}]),
        ("---\na: b\n...\n", {"a": "b"}),
        ("a: {}\nb: []\n", {"a": {}, "b": []}),
    ],
)
def test_what_yaml_writes_in_many_ways(text, value):
    assert plain(read_text(text)) == value


def test_line_ends_and_byte_order_mark(tmp_path):
    path = tmp_path / "net.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + SPEC.replace("\n", "\r\n").encode())
    assert plain(read_file(str(path))) == plain(read_text(SPEC))
    assert places(read_file(str(path))) == places(read_text(SPEC))
    assert plain(read_text("\ufeff" + SPEC)) == plain(read_text(SPEC))


MISTAKES = {
    "TAB": ("a:\n  b: 1\n\tc: 2\n", 3, 1, ["TAB", "spaces"]),
    "TAB after spaces": ("a:\n  \tb: 1\n", 2, 3, ["TAB", "spaces"]),
    "TAB on a line of its own": ("a: 1\n\t\nb: 2\n", 2, 1, ["TAB", "spaces"]),
    "template": ("layers:\n  - conv: {kernel: 3, out: {{ w }}}\n", 2, 28, ["`{{ w }}`", "just write its name", "`w`"]),
    "template in a block": ("out: {{ w }}\n", 1, 6, ["`{{ w }}`", "just write its name", "`w`"]),
    "template with more": ("out: {{ w }} * 2\n", 1, 6, ["just write its name", "`w`"]),
    "interpolation": ("- conv: {out: ${w}}\n", 1, 15, ["`${w}`", "bare name", "`w`"]),
    "thousands comma": ("- conv: {out: 1,024, kernel: 3}\n", 1, 15, ["`1,024`", "write `1024`"]),
    "anchor": ("- &a [relu]\n- relu\n", 1, 3, ["`&a`", "`vars:`", "`blocks:`"]),
    "anchor, no name": ("a: & b\n", 1, 4, ["`&`", "not part of the language"]),
    "alias": ("- dense: {out: *d}\n", 1, 16, ["`*d` begins an alias", 'quote an expression: `"*d"`']),
    "alias with more": ("out: *d + 1\n", 1, 6, ["`*d + 1` begins an alias", "quote"]),
    "alias, no name": ("out: * d\n", 1, 6, ["begins an alias", "quote"]),
    "alias as a key": ("*d : 1\n", 1, 1, ["begins an alias"]),
    "tag": ("a: !!python/object/apply:os.system ['id']\n", 1, 4, ["tags", "not allowed", "nothing is run"]),
    "tag on a scalar": ("a: !!int 3\n", 1, 4, ["tags", "not allowed"]),
    "tag of no kind": ("a: !e!x y\n", 1, 4, ["tags", "not allowed"]),
    "merge key": ("- conv: {<<: {kernel: 3}, out: 8}\n", 1, 10, ["`<<`", "`defaults:`", "block"]),
    "comma in a call": (
        "- conv: {out: max(8, 16), kernel: 3}\n",
        1,
        15,
        ["a comma ends the value inside { }", 'quote it: `"max(8, 16)"`'],
    ),
    "three commas": ("- {out: max(8, 9, n, 16) + 1, k: 3}\n", 1, 9, ["a comma ends", '`"max(8, 9, n, 16) + 1"`']),
    "comma in a list": ("- conv: [max(8, min(1, 2)), 3]\n", 1, 10, ["a comma ends", "quote it"]),
    "comma in a pair": ("layers: [dense: max(8, 16)]\n", 1, 17, ["a comma ends", '`"max(8, 16)"`']),
    "comma in a pattern": ("- e: {pattern: t d -> d, s d, k: 1}\n", 1, 16, ["a comma ends", "quote it"]),
    "index": ("- conv: {out: n[2]}\n", 1, 15, ["`[` must be quoted inside { }", '`"n[2]"`']),
    "index in a list": ("- conv: [n[2], 3]\n", 1, 10, ["`[` must be quoted inside [ ]", '`"n[2]"`']),
    "braces of a name": ("- concat: [prev, c{i}]\n", 1, 18, ["`{` must be quoted", '`"c{i}"`']),
    "no space before {": ("- conv:{out: 8}\n", 1, 3, ["put a space after `:`", "`conv: {out: 8}`"]),
    "no space, more keys": ("- conv:{out: 8, kernel: 3}\n", 1, 3, ["put a space after `:`"]),
    "no space inside": ("- conv: {out:8}\n", 1, 10, ["put a space after `:`", "`out: 8`"]),
    "no space in a list": ("- conv:8\n- relu\n", 1, 3, ["put a space after `:`", "`conv: 8`"]),
    "no space in a block": ("out:8\nkernel: 3\n", 1, 1, ["put a space after `:`", "`out: 8`"]),
    "no space at all": ("out:8\n", 1, 1, ["put a space after `:`"]),
    "two keys": ("layers:\n  - conv: out: 8\n", 2, 11, ["two keys on one line", "needs braces", "`conv: {out: 8}`"]),
    "two keys in braces": ("- {conv: out: 8, when: x}\n", 1, 10, ["two keys", "braces", "`conv: {out: 8}`"]),
    "two documents": ("a: 1\n---\nb: 2\n", 2, 1, ["one spec per file"]),
    "empty": ("", 1, 1, ["the file is empty", "`input:` and `layers:`"]),
    "only a comment": ("# nothing\n\n", 1, 1, ["the file is empty"]),
    "only a start": ("---\n", 1, 1, ["the file is empty"]),
    "NUL": ("a: 1\nb: \0\n", 2, 4, ["0x00", "NUL"]),
    "control character": ("name: a\x1b[31mb\n", 1, 8, ["0x1B", "control character"]),
    "lone surrogate": ("a: \ud800\n", 1, 4, ["U+D800"]),
    "escape beyond Unicode": ('"\\U00110000": 1\n', 1, 1, ["escape"]),
    "unknown escape": ('a: "\\q"\n', 1, 4, ["escape", "'...'"]),
    "list not closed": ("layers: [relu, relu\nexpect: {params: 1}\n", 1, 9, ["`[` is not closed", "add `]`"]),
    "braces not closed": ("- conv: {out: 8\n- relu\n", 1, 9, ["`{` is not closed", "add `}`"]),
    "not closed at the end": ("a: [x", 1, 4, ["`[` is not closed"]),
    "wrong bracket": ("a: {b: [1, 2}\n", 1, 13, ["`}` does not close the `[`", "line 1, column 8"]),
    "one bracket too many": ("a: {b: 1}}\n", 1, 10, ["`}` closes nothing"]),
    "nothing before the comma": ("a: [x, , y]\n", 1, 8, ["nothing before this comma"]),
    "no comma": ("a: [x, 'y' 'z']\n", 1, 12, ["comma is missing"]),
    "quote not closed": ("a: 'x\nb: 1\n", 1, 4, ["quote", "never closed"]),
    "apostrophe": ("name: 'it's'\n", 1, 7, ["follows the quote", "apostrophe"]),
    "after a list": ("out: [1, 2][0]\n", 1, 12, ["cannot follow", '`"[1, 2][0]"`']),
    "indentation": ("a:\n  b: 1\n c: 2\n", 3, 2, ["`c` is indented to column 2", "column 1 or column 3"]),
    "indentation below a mapping": ("- conv: {out: 8}\n    kernel: 3\n", 2, 5, ["`kernel` is indented to column 5"]),
    "key inside a value": ("conv: 8\n kernel: 3\n", 2, 2, ["the key `kernel`", "line up"]),
    "key beside items": ("- relu\nexpect: 1\n", 2, 1, ["`expect`", "column 1"]),
    "item beside keys": ("a: 1\n- b\n", 2, 1, ["`- b`", "column 1"]),
    "less than the first line": (" a: 1\nb: 2\n", 2, 1, ["`b` comes after the end", "same indentation"]),
    "list on the line of its key": ("layers: - relu\n", 1, 9, ["list", "next line"]),
    "line without a colon": ("a: 1\nb\nc: 2\n", 2, 1, ["`b` has no `:`"]),
    "no key": ("a: {: 1}\n", 1, 5, ["no key"]),
    "a list as a key": ("? [a]\n: b\n", 1, 3, ["key", "list or a mapping"]),
    "sign that begins no value": ("a: @x\n", 1, 4, ["cannot begin with `@`", "quotes"]),
    "directive": ("%FOO\na: 1\n", 1, 1, ["directive"]),
}


@pytest.mark.parametrize(("text", "line", "column", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_named_where_it_stands(text, line, column, words):
    (error,) = refusals(text)
    assert place(error) == (line, column)
    for word in words:
        assert word in str(error)


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("- conv: {out: 8, kernel: 3, out: 16}\n", (1, 10), (1, 29)),
        ("layers: []\nvars: {}\nlayers: []\n", (1, 1), (3, 1)),
        ("vars:\n  a: 1\n  'a': 2\n", (2, 3), (3, 3)),
        ("a: [[{b: [{c: 1, d: 2, c: 3}]}]]\n", (1, 12), (1, 24)),
    ],
)
def test_a_key_given_twice_names_both_places(text, first, second):
    (error,) = refusals(text)
    assert place(error) == second
    assert "twice" in error.message
    assert f"net.yaml:{first[0]}:{first[1]}" in error.message


def test_independent_mistakes_are_all_told():
    errors = refusals("a: {b: 1, b: 2}\nc: *d\ne: {f:8}\na: [x\n")
    assert [place(each) for each in errors] == [(1, 11), (2, 4), (3, 5), (4, 4)]


def test_an_anchor_is_told_once_however_often_it_is_used():
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 10)]
    errors = refusals("\n".join(lines))
    assert [place(each)[0] for each in errors] == list(range(1, 11))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000,
        "{a: " * 10_000,
        "- " * 10_000,
        "? " * 10_000,
        "[" * 10_000 + "]" * 10_000,
        "\n".join(" " * depth + "a:" for depth in range(1_000)),
    ],
    ids=["lists", "mappings", "items", "keys", "closed", "indented"],
)
def test_deep_nesting_is_refused_at_once(text):
    (error,) = refusals(text)
    assert "more than 64 levels" in error.message


def test_some_nesting_is_fine():
    assert places(read_text("[" * 60 + "x" + "]" * 60)) == [("x", 1, 61)]


@pytest.mark.parametrize(
    ("data", "line", "column", "words"),
    [
        (b"a: 1\nname: caf\xe9\n", 2, 10, ["0xE9", "number 15", "UTF-8"]),
        (b"\xef\xbb\xbfa: \xe9\n", 1, 4, ["0xE9", "number 7"]),
        ("a: 1".encode("utf-16"), 1, 1, ["UTF-16", "save the file as UTF-8"]),
        ("a: 1".encode("utf-16-le"), 1, 2, ["0x00", "UTF-16"]),
        (b"a: \x00\xff", 1, 4, ["0x00"]),
    ],
    ids=["latin-1", "after a byte order mark", "utf-16", "utf-16 without a mark", "binary"],
)
def test_other_encodings(tmp_path, data, line, column, words):
    path = tmp_path / "net.yaml"
    path.write_bytes(data)
    with pytest.raises(SpecError) as caught:
        read_file(str(path))
    assert caught.value.position == (str(path), line, column)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("net.safetensors", b"", "a safetensors checkpoint"),
        ("net", b"\x02\0\0\0\0\0\0\0" + b'{"a": {}}', "a safetensors checkpoint"),
        ("net.onnx", b"\x08\x07", "an ONNX model"),
        ("net.pt", b"PK\x03\x04", "a PyTorch checkpoint"),
        ("net", b"PK\x03\x04", "a zip archive"),
        ("net.H5", b"\x89HDF\r\n", "an HDF5 file"),
        ("net.png", b"\x89PNG\r\n", "a PNG picture"),
        ("net.yaml", b"a: 1\n" * 300_000, "larger than 1 MiB"),
    ],
)
def test_other_files(tmp_path, name, data, what):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(SpecError, match=what) as caught:
        read_file(str(path))
    assert "`input:` and `layers:`" in caught.value.hint


def test_a_directory_and_a_missing_file(tmp_path):
    (tmp_path / "resnet.yaml").write_text(SPEC)
    with pytest.raises(SpecError, match="is a directory") as caught:
        read_file(str(tmp_path))
    assert "`resnet.yaml`" in caught.value.hint
    with pytest.raises(SpecError, match="there is no file") as caught:
        read_file(str(tmp_path / "resent.yaml"))
    assert "resnet.yaml" in caught.value.hint
    for path in ("a\0b", "a" * 5_000):
        with pytest.raises(SpecError, match="cannot be read"):
            read_file(path)


def test_a_long_name_is_shortened_and_escaped():
    (error,) = refusals('"a\\e[31m' + "b" * 10_000 + '": 1\n' + '"a\\e[31m' + "b" * 10_000 + '": 2\n')
    assert "\x1b" not in str(error)
    assert len(str(error)) < 500


def test_mutated_bytes_bring_nothing_but_our_errors(tmp_path):
    path = tmp_path / "net.yaml"
    source = random.Random(7)
    pieces = [b"[", b"]", b"{", b"}", b": ", b"- ", b"\n", b"  ", b"'", b'"', b"\t", b"&a ", b"*a", b"!", b"%", b"|"]
    pieces += [b"?", b"\\U00110000", b"\xff", b"\0", b"#", b",", b"---\n", b"<<: ", b"{{ w }}", b"\xe2\x80\xa8", b"@"]
    for _ in range(1000):
        data = bytearray(SPEC.encode())
        for _ in range(source.randint(1, 4)):
            at = source.randrange(len(data))
            data[at : at + source.randint(0, 3)] = source.choice([source.choice(pieces), source.randbytes(1)])
        path.write_bytes(data)
        try:
            root = read_file(str(path))
        except ParamcountError as error:
            assert str(error), data
        else:
            assert isinstance(root, Scalar | Sequence | Mapping)
