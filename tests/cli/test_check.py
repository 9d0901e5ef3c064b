"""`paramcount check`: all problems of all specs in one run."""

import csv
import io
import json
import re
from urllib.parse import unquote

import pytest

from paramcount.cli.check import escaped, is_spec
from paramcount.cli.main import main

FINE = "{name: F, input: {features: 5}, layers: [dense: 6], expect: {params: 36}}"  # 5 · 6 + 6
WRONG = "name: B\ninput: {features: 5}\nlayers: [dense: 6]\nexpect: {params: 35}\n"
BROKEN = "input: {features: 5}\nlayers: [densse: 6, {conv: {filters: 3}}]\n"
VARIANTS = """\
input: {features: 5}
vars: {n: 6}
variants: {same: {}, big: {n: 7}, none: {n: 0}}
layers: [dense: n]
expect:
  params: 36
  variants:
    big: {params: {at_most: 41}}
"""


@pytest.fixture(autouse=True)
def specs(tmp_path, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.chdir(tmp_path)
    for name, text in {"fine": FINE, "wrong": WRONG, "broken": BROKEN, "variants": VARIANTS}.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def check(capsys, *arguments):
    code = main(["check", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def problems(capsys, *arguments):
    code, out, _ = check(capsys, *arguments, "--format", "json")
    return code, json.loads(out)["problems"]


def test_all_is_well(capsys):
    assert check(capsys, "fine.yaml", "lenet") == (0, "2 specs, no problems\n", "")


def test_budgets_and_expectations_as_text(capsys):
    code, out, err = check(
        capsys, "fine.yaml", "mobilenet_v2", "wrong.yaml", "--max-params", "3M", "--max-macs", "300M"
    )
    assert (code, err) == (1, "")
    paragraphs = out.split("\n\n")
    assert paragraphs[0] == (
        "mobilenet_v2: params 3,504,872 is over the budget of 3M by 504,872 (+16.8%)\n"
        "  largest: dense0 1.28 M, pointwise0 410 k, bottleneck0[5][1:3].residual0.pointwise0 307 k"
    )
    first, second = paragraphs[1].split("\n")
    assert first == "mobilenet_v2: macs 300,774,272 is over the budget of 300M by 774,272 (+0.3%)"
    assert second.startswith("  largest: bottleneck0[4][1:3].residual0.pointwise0 21.7 M, ")
    assert paragraphs[2:] == [
        "wrong.yaml:4:18: `expect` of `B` differs from the count\n"
        "params: expected 35, counted 36, difference +1\n"
        "  the biggest rows: `dense0` 36",
        "3 specs, 3 problems\n",
    ]


def test_a_spec_that_does_not_load_is_one_among_others(capsys):
    code, out, _ = check(capsys, "broken.yaml", "wrong.yaml", "nothing.yaml", "fine.yaml", "--min-params", "40")
    assert code == 2
    assert [paragraph.split("\n")[0] for paragraph in out.rstrip().split("\n\n")] == [
        "broken.yaml:2:10: unknown kind `densse`",
        "broken.yaml:2:29: `conv` has no argument `filters`",
        "wrong.yaml:4:18: `expect` of `B` differs from the count",
        "wrong.yaml: params 36 is below the minimum of 40 by 4 (-10.0%)",
        "nothing.yaml: there is no spec `nothing.yaml`: no such file",
        "fine.yaml: params 36 is below the minimum of 40 by 4 (-10.0%)",
        "4 specs, 6 problems",
    ]
    assert "hint: did you mean `dense`?" in out and "hint: did you mean `out`?" in out


def test_every_variant_has_its_own_expectations(capsys):
    code, found = problems(capsys, "variants.yaml", "--variants")
    assert code == 2
    assert [(each["spec"], each["kind"], each["line"], each["column"]) for each in found] == [
        ("variants.yaml:big", "budget", 8, 29),
        ("variants.yaml:none", "error", 4, 17),
    ]
    assert found[0]["message"].startswith("params 42 is over the budget of 41 by 1 (+2.4%)")
    assert found[1]["message"].endswith("\nin variant `none`")
    assert check(capsys, "variants.yaml")[0] == 0  # the base alone
    assert check(capsys, "variants.yaml:big")[0] == 1
    assert check(capsys, "variants.yaml:same", "--variants")[1] == "1 spec, no problems\n"


def test_an_error_of_all_variants_is_told_once(capsys, specs):
    text = "{input: {features: 5}, vars: {n: 1}, variants: {a: {n: 2}, b: {n: 3}}, layers: [{conv: [n, 3]}]}"
    (specs / "net.yaml").write_text(text)
    code, found = problems(capsys, "net.yaml", "--variants")
    assert (code, len(found)) == (2, 1)
    assert (found[0]["spec"], found[0]["line"]) == ("net.yaml", 1)


def test_json(capsys):
    code, out, _ = check(capsys, "mobilenet_v2", "wrong.yaml", "--max-params", "3M", "--format", "json")
    budget, expect = json.loads(out)["problems"]
    assert code == 1
    assert set(budget) >= {"spec", "line", "column", "kind", "figure", "counted", "limit", "message"}
    assert [budget[key] for key in ("spec", "line", "column", "kind")] == ["mobilenet_v2", None, None, "budget"]
    assert [budget[key] for key in ("figure", "counted", "limit")] == ["params", 3_504_872, 3_000_000]
    assert [expect[key] for key in ("line", "column", "kind", "figure")] == [4, 18, "expect", "params"]
    assert json.loads(out)["schema"] == 1


def annotations(out):
    """What GitHub reads of the lines: a reader of its commands, written from its documentation."""
    found = []
    for line in out.splitlines():
        match = re.fullmatch(r"::error ([^:]*)::(.*)", line)
        if match:
            properties = dict(each.split("=", 1) for each in match[1].split(","))
            for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
                properties = {name: value.replace(code, character) for name, value in properties.items()}
            message = match[2].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
            found.append((properties, message))
    return found


def test_annotations_of_github(capsys):
    code, out, _ = check(capsys, "wrong.yaml", "broken.yaml", "--format", "github", "--max-params", "30")
    assert code == 2
    assert out.splitlines()[:2] == [
        "::error file=wrong.yaml,line=4,col=18,title=paramcount expect::`expect` of `B` differs from the count%0A"
        "params: expected 35, counted 36, difference +1%0A  the biggest rows: `dense0` 36",
        "::error file=wrong.yaml,title=paramcount budget::params 36 is over the budget of 30 by 6 (+20.0%25)%0A"
        "  largest: dense0 36",
    ]
    read = annotations(out)
    assert [properties["title"] for properties, _ in read] == [
        *("paramcount expect", "paramcount budget", "paramcount error", "paramcount error"),
    ]
    assert read[2][0] == {"file": "broken.yaml", "line": "2", "col": "10", "title": "paramcount error"}
    assert read[2][1] == "unknown kind `densse`\nhint: did you mean `dense`?"


def test_hostile_names_in_annotations(capsys, specs):
    name = "a%0A,b:c::d.yaml"
    text = '{name: "x%y::z", input: {features: 5}, layers: [dense: 6], expect: {params: 1}}'
    (specs / name).write_text(text)
    _, out, _ = check(capsys, f"./{name}", "--format", "github")
    (properties, message), *others = annotations(out)
    assert not others
    assert properties == {"file": name, "line": "1", "col": str(text.index("1}") + 1), "title": "paramcount expect"}
    assert "`expect` of `x%y::z` differs" in message


@pytest.mark.parametrize("text", ["100%", "a\r\nb", "%0A", "a:b,c=d", "::error::", "", "é…"])
def test_nothing_is_lost_by_escaping(text):
    for of_property in (False, True):
        safe = escaped(text, of_property)
        assert unquote(safe) == text
        assert "\n" not in safe and "\r" not in safe
        assert not of_property or not set(safe) & {":", ","}


@pytest.mark.parametrize(
    ("value", "arguments", "chosen"),
    [
        ("true", [], True),
        ("", [], False),
        ("false", [], False),
        ("true", ["--format", "text"], False),
        ("true", ["--format", "json"], False),
    ],
)
def test_github_chooses_its_format_by_itself(value, arguments, chosen, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", value)
    _, out, _ = check(capsys, "wrong.yaml", *arguments)
    assert out.startswith("::error ") == chosen


def test_other_formats_and_files(capsys, specs):
    code, out, err = check(capsys, "wrong.yaml", "broken.yaml", "-o", "found.json", "-o", "found.txt")
    assert (code, err) == (2, "wrote found.json\nwrote found.txt\n")
    assert out.startswith("wrong.yaml:4:18: `expect`")
    assert len(json.loads((specs / "found.json").read_text())["problems"]) == 3
    assert (specs / "found.txt").read_text().splitlines()[1].split()[:7] == [
        *("wrong.yaml", "4", "18", "expect", "params", "36", "35"),
    ]


def test_csv(capsys):
    _, out, _ = check(capsys, "wrong.yaml", "broken.yaml", "--format", "csv")
    first, second, _ = csv.DictReader(io.StringIO(out))
    assert [first[key] for key in ("spec", "line", "column", "kind", "figure", "counted", "limit")] == [
        *("wrong.yaml", "4", "18", "expect", "params", "36", "35"),
    ]
    assert first["message"].count("\n") == 2 and second["figure"] == ""


def test_bytes_are_those_of_the_chosen_type(capsys):
    assert check(capsys, "fine.yaml", "--max-bytes", "36B", "--dtype", "int8")[0] == 0
    code, out, _ = check(capsys, "fine.yaml", "--max-bytes", "36B")
    assert code == 1 and "param_bytes 144 is over the budget of 36B by 108 (+300.0%)" in out


def test_a_spec_from_standard_input(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))
    code, out, _ = check(capsys, "-", "fine.yaml")
    assert code == 1 and out.startswith("<stdin>:4:18: ")


def test_a_place_in_a_shipped_block_is_told_beside_the_place_of_its_use(capsys, specs):
    text = "input: {sequence: [4, 10]}\nlayers:\n  - attention: {heads: 3}\n"
    (specs / "net.yaml").write_text(text)
    _, (problem,) = problems(capsys, "net.yaml")
    assert (problem["line"], problem["column"]) == (3, 5)
    _, out, _ = check(capsys, "net.yaml")
    assert re.match(r"blocks/attention\.yaml:\d+:\d+: ", out) and "used at net.yaml:3:5" in out
    _, out, _ = check(capsys, "net.yaml", "--format", "github")
    assert out.startswith("::error file=net.yaml,line=3,col=5,title=paramcount error::blocks/attention.yaml:")


def test_plugins_are_loaded(capsys):
    code, _, err = check(capsys, "fine.yaml", "--plugin", "no_such_file.py")
    assert code == 2 and "there is no file `no_such_file.py`" in err


def test_names_that_a_terminal_cannot_have_are_escaped(capsys):
    _, out, _ = check(capsys, "a\x1b[31m\n.yaml")
    assert out.startswith("a\\x1b[31m\\n.yaml: there is no spec `a\\x1b[31m\\n.yaml`: no such file\n")


def test_warnings_are_told_once(capsys, specs):
    text = "{input: {features: 5}, vars: {n: 1, m: 1}, variants: {a: {n: 2}}, layers: [dense: n]}"
    (specs / "net.yaml").write_text(text)
    _, out, err = check(capsys, "net.yaml", "--variants")
    assert out == "1 spec, 2 networks, no problems\n"
    assert err == "warning: net.yaml:1:37: the variable `m` is never used\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: SPEC[:VARIANT]"),
        (["fine.yaml", "--max-params", "3.5MB"], "`3.5MB` is not an amount of params\nhint: write 3.5M"),
        (["fine.yaml", "--max-parms", "3"], "unknown option `--max-parms`\nhint: did you mean `--max-params`?"),
        (["fine.yaml", "--max_params", "3"], "unknown option `--max_params`\nhint: write `--max-params 3`"),
        (["fine.yaml", "--max-params", "1", "--min-params", "2"], "params cannot be at least 2 and at most 1"),
        (["fine.yaml", "--max-bytes", "1", "--max-param-bytes", "2"], "`--max-param-bytes` is given twice"),
        (["fine.yaml", "--dtype", "flaot32"], "unknown dtype `flaot32`\nhint: did you mean `float32`?"),
        (["fine.yaml", "--format", "git"], "unknown format `git`"),
    ],
)
def test_wrong_options(arguments, message, capsys):
    code, out, err = check(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")


SPECS = [
    *(FINE, WRONG, BROKEN, "input: {features: 3}\nlayers: [relu\n", "layers: [relu]\n", "input: {features: 3}\n"),
    *("{input: {features: 3}, layers: [relu]", "--- # a spec\n  'layers': [relu]\n"),
    *("Layer: [relu]\nImput: {features: 3}", "\ttab: 1\nlayers: [relu]\n", "# c\r\ninputs: {a: [3]}\r\n"),
    *("\ufefflayers: [relu]", "layers: [relu]\n" + "x: 1\n" * 300_000),
]
OTHERS = [
    *("", "\n# a comment\n", "a: 1\nb: [\n", "blocks: {b: {layers: [relu]}}\n", "- layers: 3\n", "x: y\n" * 300_000),
    "on:\n  workflow_dispatch:\n    inputs:\n      x: &a 1\njobs: *a\n",
    "name: n\ninputs:\n  a: {}\nruns: {using: composite}\n",
    "players: [a]\noutputs: [b]\nlayer_size: 3\n",
    "\x00\x01",
]


@pytest.mark.parametrize("text", SPECS, ids=range(len(SPECS)))
def test_a_broken_spec_is_never_passed_over(text, specs, capsys):
    (specs / "some.yaml").write_text(text, encoding="utf-8", newline="")
    assert is_spec("some.yaml")
    if text != FINE:
        assert check(capsys, "some.yaml", "--specs-only")[0] > 0


@pytest.mark.parametrize("text", OTHERS, ids=range(len(OTHERS)))
def test_other_files_are_passed_over(text, specs, capsys):
    (specs / "some.yaml").write_text(text, encoding="utf-8")
    assert check(capsys, "some.yaml", "fine.yaml", "--specs-only") == (
        *(0, "1 spec, 1 file passed over, no problems\n", ""),
    )
    assert check(capsys, "some.yaml")[0] == 2


def test_what_cannot_be_read_is_not_passed_over(specs, capsys):
    (specs / "folder").mkdir()
    (specs / "utf16.yaml").write_text(FINE, encoding="utf-16")
    (specs / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    code, out, _ = check(capsys, "folder", "nothing.yaml", "utf16.yaml", "picture.png", "--specs-only")
    assert code == 2 and out.endswith("3 specs, 1 file passed over, 3 problems\n")


def test_budgets_of_a_plain_count(capsys):
    assert main(["fine.yaml", "--max-params", "36", "--min-macs", "30"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        *("expect: equal (params)", "budget: kept (params at most 36, macs at least 30)"),
    ]
    assert main(["wrong.yaml", "--max-params", "30"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[-2:] == ["expect: different", "budget: not kept"]
    assert err.splitlines() == [
        "error: wrong.yaml:4:18: `expect` of `B` differs from the count",
        "params: expected 35, counted 36, difference +1",
        "  the biggest rows: `dense0` 36",
        "error: B: params 36 is over the budget of 30 by 6 (+20.0%)",
        "  largest: dense0 36",
    ]


def test_budgets_are_of_what_was_counted(capsys):
    assert main(["fine.yaml", "--batch", "8", "--max-macs", "240"]) == 0
    assert main(["fine.yaml", "--batch", "8", "--max-macs", "239"]) == 1
    assert main(["fine.yaml", "--train", "--max-train-macs", "60"]) == 0  # forward, and the kernel's gradient
    assert main(["fine.yaml", "--train", "--max-train-macs", "59"]) == 1
    capsys.readouterr()
    assert main(["fine.yaml", "--max-train-macs", "1G"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "train_macs is a figure of training" in err


@pytest.mark.full
def test_all_shipped_specs_pass(capsys):
    from paramcount.language.load import shipped_specs

    code, out, err = check(capsys, *shipped_specs(), "--variants")
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"{len(shipped_specs())} specs, \d+ networks, no problems\n", out)


def test_saved_counts_are_checked_beside_specs(capsys):
    assert main(["fine.yaml", "--batch", "8", "-o", "saved.json", "--format", "csv"]) == 0
    capsys.readouterr()
    assert check(capsys, "saved.json", "fine.yaml", "--max-macs", "240")[:2] == (0, "2 specs, no problems\n")
    code, found = problems(capsys, "saved.json", "--max-macs", "239")
    assert code == 1 and (found[0]["spec"], found[0]["counted"]) == ("saved.json", 8 * 5 * 6)
    code, out, _ = check(capsys, "saved.json", "--max-bytes", "1KiB", "--dtype", "int8")
    assert code == 2 and out.startswith(
        "saved.json: a saved count has the type that was counted\nhint: leave `--dtype`"
    )
