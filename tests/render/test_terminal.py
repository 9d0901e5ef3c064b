"""What the terminal can show, and messages on the standard error."""

import io
import sys

import pytest

from paramcount.cli.main import main
from paramcount.render import terminal


class Screen(io.StringIO):
    encoding = "utf-8"

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.mark.parametrize(
    ("out", "err", "environment", "coloured"),
    [
        (True, True, {}, True),
        (False, True, {}, True),  # the standard error decides
        (True, False, {}, False),
        (False, False, {}, False),
        (True, True, {"NO_COLOR": "1"}, False),
        (True, True, {"TERM": "dumb"}, False),
        (False, False, {"FORCE_COLOR": "1"}, True),
        (False, False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (False, False, {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
    ],
)
def test_messages_begin_in_colour_where_there_is_colour(out, err, environment, coloured, monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Screen(out))
    screen = Screen(err)
    monkeypatch.setattr(sys, "stderr", screen)
    terminal.fail("a\nhint: b")
    terminal.warn("c\x1b[2J")
    error, warning = ("\x1b[1;31merror:\x1b[0m", "\x1b[1;33mwarning:\x1b[0m") if coloured else ("error:", "warning:")
    assert screen.getvalue() == f"{error} a\nhint: b\n{warning} c\\x1b[2J\n"


def test_every_error_of_a_spec_begins_so(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    path = tmp_path / "broken.yaml"
    path.write_text("{input: {features: 3}, layers: [conf: 3, dense: x]}")
    assert main([str(path)]) == 2
    assert capsys.readouterr().err.count("\x1b[1;31merror:\x1b[0m ") == 2


def test_without_a_standard_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    terminal.fail("a")
    terminal.warn("b")
