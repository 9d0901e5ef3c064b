"""Variables behind the name of a spec."""

import pytest

from paramcount.errors import ArgumentError, SpecError
from paramcount.language.address import own_settings
from paramcount.language.load import load

SPEC = "input: {features: 8}\nvars: {n: 8, sizes: [1, 2]}\nlayers: [dense: n]\n"


@pytest.mark.parametrize(
    ("text", "spec", "given"),
    [
        ("mobilenet_v2", "mobilenet_v2", {}),
        ("mobilenet_v2@width=0.75", "mobilenet_v2", {"width": "0.75"}),
        ("mobilenet_v2:x0.5@a=1,b=2", "mobilenet_v2:x0.5", {"a": "1", "b": "2"}),
        ("resnet:50@depths=[3,4,6,3]", "resnet:50", {"depths": "[3,4,6,3]"}),
        (
            "a@b=min(1, 2),c=[[1,2],[3]],d={x: 1, y: 2}",
            "a",
            {"b": "min(1, 2)", "c": "[[1,2],[3]]", "d": "{x: 1, y: 2}"},
        ),
        ("a@ b = 2 ", "a", {"b": "2"}),
        ("a@b=c=d", "a", {"b": "c=d"}),
        ("me@home/net.yaml@n=2", "me@home/net.yaml", {"n": "2"}),
        ("mobilenet_v2@0.75", "mobilenet_v2@0.75", {}),
        ("a@b=", "a", {"b": ""}),
    ],
)
def test_names_and_their_variables(text, spec, given):
    assert own_settings(text) == (spec, given)


def test_a_file_of_that_name_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net@n=2.yaml").write_text(SPEC)
    assert load("net@n=2.yaml").vars["n"] == 8
    (tmp_path / "net.yaml").write_text(SPEC)
    assert load("net.yaml@n=4,sizes=[3, 4]").vars == {"n": 4, "sizes": [3, 4]}
    assert load("./net.yaml@n=2 * 3").vars["n"] == 6


def test_what_is_wrong_is_said():
    for text in ("a@b", "a@b,c=1"):
        with pytest.raises(ArgumentError, match=f"`b` is not a variable with a value, in `{text}`\nhint: write `SPEC@"):
            own_settings(text)
    with pytest.raises(ArgumentError, match=r"`2` is not a variable with a value, in `a@b=1,2`\nhint: .* in brackets"):
        own_settings("a@b=1,2")
    with pytest.raises(ArgumentError, match=r"`b` is given twice in `a@b=1,b=2`"):
        own_settings("a@b=1,b=2")
    with pytest.raises(ArgumentError, match=r"`width` is given twice"):
        load("mobilenet_v2@width=1", width=2)
    with pytest.raises(SpecError, match=r"`width` is set to nothing"):
        load("mobilenet_v2@width=")
    with pytest.raises(SpecError, match=r"there is no variable `widht`\nhint: did you mean `width`\?"):
        load("mobilenet_v2@widht=1")
