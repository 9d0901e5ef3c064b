"""The help of the command line."""

import re
from importlib import import_module

import pytest

from paramcount import __version__
from paramcount.cli import COMMANDS
from paramcount.cli.main import main


def printed(capsys, *words):
    assert main([*words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_the_help_begins_with_the_commands(capsys):
    out = printed(capsys, "--help")
    usage, commands, counted, options, *_ = out.split("\n\n")
    assert usage.startswith("usage: paramcount SPEC[:VARIANT] [options]")
    wide = max(map(len, COMMANDS))
    lines = [f"  {name:{wide}}  {what}" for name, what in COMMANDS.items()]
    assert commands.splitlines() == ["Commands:", *lines]
    assert counted.startswith("What is counted:\n  SPEC") and options.startswith("Options of counting:\n")
    assert printed(capsys, "help") == printed(capsys, "help", "count") == printed(capsys, "count", "--help") == out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_fits_80_columns(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = printed(capsys, "help", command)
    assert out == printed(capsys, command, "--help")
    assert max(map(len, out.splitlines())) <= 80
    assert out.startswith("usage: paramcount ") and "show program's" not in out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_names_options_that_there_are(command, capsys):
    known = set(import_module(f"paramcount.cli.{command}").parser().known)
    examples = printed(capsys, "help", command).partition("\nexamples:\n")[2]
    for line in examples.splitlines():
        words = line.split("  #")[0].split()
        if words[1:2] and words[1] == command:
            used = {word for word in words if word.startswith("--") and word != "--max-bytes"}  # of --max-param-bytes
            assert used <= known, line


@pytest.mark.parametrize("words", [["--version"], ["-V"], ["count", "-V"]])
def test_the_version(words, capsys):
    assert printed(capsys, *words) == f"paramcount {__version__}\n"


def test_counting_by_its_name(capsys):
    assert printed(capsys, "count", "lenet") == printed(capsys, "lenet")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["sweeep"], "unknown command `sweeep`\nhint: did you mean `sweep`?"),
        (["nothing"], "unknown command `nothing`\nhint: the commands are count, "),
        (["zoo", "list"], "one command at a time; `list` is left over"),
    ],
)
def test_wrong_input(words, error, capsys):
    assert main(["help", *words]) == 2
    assert re.match(f"error: {re.escape(error)}", capsys.readouterr().err)
