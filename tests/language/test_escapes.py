"""Control characters in any text of a spec: none of them reaches a terminal."""

import re

import pytest

from paramcount.cli.main import main
from paramcount.cost.count import count
from paramcount.errors import ParamcountError
from paramcount.language.load import loads
from paramcount.language.yaml.nodes import Mapping, Node, Scalar, Sequence
from paramcount.language.yaml.reader import read_text

ODD = r"\e[31m\a\u202E\N\nINJECTED"  # as YAML escapes them: ESC, BEL, right-to-left, NEL, a line break
RAW = re.compile("[\x1b\x07\u202e\x85]|^.?INJECTED", re.M)
SPECS = (
    """
name: Network
about: what it is
source: where it is from
input: {features: 4}
vars: {a: [1, relu], b: relu}
variants: {v: {a: [2, gelu]}}
layers:
  - {dense: 4, name: one, share: key}
  - {dense: 4, share: key, push: kept}
  - {for: [x, y], in: [[1, relu], [2, gelu]], do: [activate: y]}
  - {repeat: 2, do: [relu], name: "n{i}"}
  - pop: kept
  - {dense: 4, tied: one, when: true, only: training}
expect: {params: 20, variants: {v: {params: 3}}, reference: what}
""",
    """
inputs: {p: {sequence: [8, 8]}, q: {sequence: [8, 8]}}
defaults: {dense: {bias: false}}
blocks:
  b: {args: {out: required, s: relu}, inputs: {m: none}, layers: [dense: out, activate: s], outputs: [prev]}
layers:
  - {from: p, do: [{b: {out: 8, m: q}}]}
  - {name: w}
  - attend: {q: w, k: q, v: p}
  - {split: 2, into: [l, r]}
  - einsum: {pattern: a b -> a b, paths: [l, r]}
  - rearrange: {pattern: a b -> a b c, c: 3}
  - each: {pattern: a b c -> a | b c, do: [relu]}
  - scan: {carry: {h: [8]}, do: [relu], next: {h: prev}}
outputs: {x: w, y: r}
""",
)


def scalars(node: Node) -> list[Scalar]:
    if isinstance(node, Scalar):
        return [node]
    found = node.items if isinstance(node, Sequence) else [each for entry in node.entries for each in entry]
    assert isinstance(node, (Sequence, Mapping))
    return [scalar for each in found for scalar in scalars(each)]


def odd_specs(text: str) -> list[str]:
    """The spec with odd characters in the place of each of its texts, and behind it."""
    lines, found = text.split("\n"), []
    for scalar in scalars(read_text(text)):
        line, column = scalar.position.line - 1, scalar.position.column - 1
        before, after = lines[line][:column], lines[line][column + len(scalar.text) + 2 * scalar.quoted :]
        for odd in (f'"{ODD}"', f'"{scalar.text}{ODD}"', f'"[{ODD}]"'):
            found.append("\n".join([*lines[:line], before + odd + after, *lines[line + 1 :]]))
    return found


@pytest.mark.parametrize("text", SPECS)
def test_odd_characters_in_every_text_of_a_spec(text, tmp_path, capsys):
    spec, shown = tmp_path / "spec.yaml", 0
    for odd in odd_specs(text):
        spec.write_text(odd)
        main([str(spec), "--depth", "all"])
        out, err = capsys.readouterr()
        assert not RAW.search(out + err), odd
        shown += "INJECTED" in out + err
    assert shown > 50  # it is said what is wrong, with the text escaped


def test_odd_characters_in_names_of_rows_and_their_notes():
    odd = '"a\\e\\u202Eb"'
    items = f"[{{dense: 4, name: {odd}, share: {odd}}}, {{dense: 4, share: {odd}}}]"
    report = count(loads(f"{{name: {odd}, input: {{features: 4}}, layers: {items}}}"))
    for text in (str(report), str(report._repr_html_())):
        assert "a\\x1b\\u202eb" in text
        assert not RAW.search(text)


def test_a_hint_and_a_message_are_a_line_each():
    error = ParamcountError("a\x1b[31m\nb\u202e", "c\n\x07d")
    assert str(error) == "a\\x1b[31m\\nb\\u202e\nhint: c\\n\\x07d"
