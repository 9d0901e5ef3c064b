"""Hints of the command line can be typed as they stand."""

import re
import shlex
from functools import cache

import pytest

from paramcount.cli import COMMANDS
from paramcount.cli.main import main

WRONG = [  # what a user may type
    *("list", "ls", "help", "version", "models", "summary lenet", "count lenet", "params lenet", "benchmark lenet"),
    *(
        "-V",
        "--version-number",
        "--list",
        "lenet --check",
        "lenet --validate",
        "validate lenet",
        "budget lenet",
        "lenet --benchmark",
        "mesure lenet",
        "zo",
        "llama3:8b",
    ),
    *("llama:8b", "lenett", "lenet --json", "lenet -f json", "lenet --csv", "lenet -o out.xlsx", "lenet --output x"),
    *("lenet --params", "lenet --flops", "lenet --macs", "lenet --summary", "lenet --all", "lenet --verbose"),
    *("lenet --batch-size 8", "lenet --batch_size=8", "lenet --fp16", "lenet --bf16", "lenet --precision half"),
    *("mobilenet_v2 --width 0.5", "mobilenet_v2 --width=0.5", "mobilenet_v2 --resolution 96"),
    *("lenet --train --optimizer adamm", "lenet --attention exct", "lenet --format jsn", "lenet --depth full"),
    *("lenet --dtype flaot16", "lenet --sort parms", "lenet --columns layer,parms", "lenet --set width"),
    *("zoo --json", "zoo -V", "verify lenet --json", "measure lenet --batch-size 2", "measure lenet --csv"),
    *("sweep mobilenet_v2", "sweep mobilenet_v2 widht=1,2", "sweep mobilenet_v2 width=1,2 --csv rows.csv"),
    *("sweep mobilenet_v2 width=1,2 -o rows.xlsx", "sweep mobilenet_v2 width=1,2 --limit 1"),
    *("solve mobilenet_v2 width --params 3M", "solve mobilenet_v2 width", "lenet -n 5", "lenet --no-color"),
    *("lenet --validate", "validate lenet", "budget lenet", "verify lenet --max-macs 1M"),
    *("trace jax.numpy:matmull", "train lenet --data x --learning-rate 0.1"),
    *("layers", "ops", "conv", "lenet --kinds", "kinds Conv2d", "kinds convs"),
]


@cache
def code_of(command: str) -> int:
    """The exit code of a whole command, which many hints name."""
    return main(shlex.split(command)[1:])


def corrected(words: list[str], hint: str) -> list[str]:
    """The command line that a hint asks for: a whole one, or a correction of what was typed."""
    if hint.startswith("paramcount "):
        return shlex.split(hint)[1:]
    meant = shlex.split(hint.partition(" > ")[0])
    if hint.startswith("--"):
        at = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
        option = words[at].partition("=")[0] if at < len(words) else ""
        if len(meant) == 1 and option:  # another name, with the same value
            return [*words[:at], *meant, *words[at + 1 :]]
        kept = words[at + 1 :] if option in ("--all", "--json", "--check") else words[at + 2 :]
        return [*words[:at], *meant, *kept]
    return words


SLOW = "benchmark|measure|mesure|list|ls|models|zo"  # hints of these run what takes seconds


@pytest.mark.parametrize(
    "line", [pytest.param(each, marks=pytest.mark.full if re.search(SLOW, each) else ()) for each in WRONG]
)
def test_a_hint_names_something_that_works(line, capsys, tmp_path, monkeypatch):
    if line.partition(" ")[0] in ("measure", "benchmark", "mesure", "trace", "verify") or "--benchmark" in line:
        pytest.importorskip("jax")
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line)
    assert main(words) == 2
    error = capsys.readouterr().err
    assert re.match(r"error: .*\nhint: ", error) and "usage" not in error
    hint = error.partition("\nhint: ")[2].splitlines()[0]
    assert not re.search(r"(^| )[^`\"' ]*\[", hint), "a shell would read the brackets"
    found = re.findall(r"`([^`]+)`", hint)
    for each in found:
        if each.startswith("paramcount "):
            assert code_of(each) == 0, each
        elif each in COMMANDS:
            assert main([each, "--help"]) == 0
        elif each.startswith("--") and not re.search("train", line):
            assert main(corrected(words, each)) == 0, corrected(words, each)
    capsys.readouterr()


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("mobilenet_v2 --set width 0.5", "mobilenet_v2 --set width=0.5"),
        ("mobilenet_v2 width=0.5", "mobilenet_v2 --set width=0.5"),
        ("llama:tiny --set T", "llama:tiny --set T=128"),
        ("resnet:18 --set depths", "resnet:18 --set 'depths=[2, 2, 2, 2]'"),
        ("roberta --set pooler", "roberta --set pooler=true"),
        ("llama:tiny --tokens 64", "llama:tiny --set T=64"),
        ("mobilenet_v2 --image-size 96", "mobilenet_v2 --set resolution=96"),
        ("sweep mobilenet_v2 --width 0.5,1", "sweep mobilenet_v2 width=0.5,1"),
        ("sweep mobilenet_v2 --width=0.5,1", "sweep mobilenet_v2 width=0.5,1"),
        ("sweep mobilenet_v2 width=1,2 --max-params 5M", "sweep mobilenet_v2 width=1,2 --where 'params < 5M'"),
        ("sweep llama:tiny T", "sweep llama:tiny T=1,2"),
        ("solve mobilenet_v2 width=0.5 --max-params 3M", "solve mobilenet_v2 width --max-params 3M"),
        ("verify lenet --max-params 3M", "check lenet --max-params 3M"),
    ],
)
def test_a_variable_in_the_wrong_place(line, meant, capsys):
    assert main(shlex.split(line)) == 2
    hint = capsys.readouterr().err.partition("\nhint: ")[2]
    advised = shlex.split(hint.split("`")[1].removeprefix("paramcount "))
    assert " ".join(shlex.split(meant)).endswith(" ".join(advised)) or advised == ["width"]
    assert main(shlex.split(meant)) == 0
    assert not capsys.readouterr().err


def test_a_sweep_has_no_set(capsys):
    assert main(["sweep", "mobilenet_v2", "--set", "width=0.5,1"]) == 2
    expected = "error: a sweep has no `--set`\nhint: write `NAME=VALUES` alone; one value stands for all\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *[("resnet50", "resnet:50"), ("ResNet101", "resnet:101"), ("vgg16", "vgg:16"), ("vit-b-16", "vit:b_16")],
        *[("gpt2-medium", "gpt2:medium"), ("bert-base", "bert:base-uncased"), ("mixtral-8x7b", "mixtral:8x7b")],
        *[("llama3", "llama:3-8b"), ("llama-3-8b", "llama:3-8b"), ("llama-70b", "llama:2-70b")],
        *[
            ("gemma-2b", "gemma:2b"),
            ("gemma2-2b", "gemma2:2b"),
            ("t5-small", "t5:small"),
            ("flan-t5-base", "flan_t5:base"),
        ],
        *[("efficientnet_v2_s", "efficientnet_v2:s"), ("lenet5", "lenet"), ("vitamin", None), ("optimum", None)],
    ],
)
def test_the_usual_name_of_a_model(name, meant, capsys):
    assert main([name]) == 2
    hint = f"did you mean `{meant}`?" if meant else "`paramcount zoo` shows the shipped specs"
    assert capsys.readouterr().err == f"error: there is no spec `{name}`\nhint: {hint}\n"
    assert meant is None or main([meant]) == 0


def test_every_guess_is_an_option_of_some_command(capsys):
    from paramcount.cli import guesses

    helps = []
    for command in ([], *([name] for name in COMMANDS)):
        assert main([*command, "--help"]) == 0
        helps.append(capsys.readouterr().out)
    known = set(re.findall(r"--[a-z-]+", "".join(helps)))
    for meant in guesses.OPTIONS.values():
        assert {each.split()[0] for each in meant if each.startswith("--")} <= known
    for words in guesses.COMMANDS:
        assert not set(words) & set(COMMANDS)


def test_an_unknown_command(capsys):
    assert main(["weigh", "a", "b"]) == 2
    commands = ", ".join(COMMANDS)
    hint = f"hint: the commands are {commands}; `paramcount zoo` shows the shipped specs"
    assert capsys.readouterr().err == f"error: there is no command or spec `weigh`\n{hint}\n"


def test_help_lists_the_commands(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for name, what in COMMANDS.items():
        assert f"\n  {name:8}  {what}\n" in out


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("--kv-cache 8k", "8192 or 8000"),
        ("--batch 1.5k", "1536 or 1500"),
        ("--batch 2M", "2097152 or 2000000"),
        ("--kv-cache 32KiB", "32768 or 32000"),
        ("--kv-cache 1.0001k", "`paramcount --help` lists the options"),
        *((f"--batch {text}", "`paramcount --help` lists the options") for text in ("k", "1e3", "1.5", "0", "٣", "0k")),
        (f"--batch {'1' * 5000}", "`paramcount --help` lists the options"),
    ],
)
def test_tokens_and_batches_take_no_suffix(line, meant, capsys):
    """8k tokens may be 8,192 or 8,000."""
    option, value = line.split()
    assert main(["llama:tiny", option, value]) == 2
    message, hint = capsys.readouterr().err.rstrip("\n").split("\nhint: ")
    assert message.startswith(f"error: argument {option}: `") and message.endswith(
        " is not a whole number of at least 1"
    )
    assert hint.removeprefix("write ") == meant


def test_batches_of_a_measurement_take_no_suffix(capsys):
    assert main(["measure", "lenet", "--batch", "1,2k"]) == 2
    assert capsys.readouterr().err.endswith("`2k` is not a whole number of at least 1\nhint: write 2048 or 2000\n")
