"""The progress line of an epoch: what it shows on a terminal, and that it is silent elsewhere."""

import io
import sys

import numpy
import pytest

from paramcount.backend.train.progress import Progress
from paramcount.errors import MissingPackageError

pytest.importorskip("tqdm")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def written(monkeypatch, stream, shown=True, batches=(1, 2, 3)):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("paramcount.backend.train.progress.REFRESH", 0)
    progress = Progress(shown, 4, 8, batches)
    if shown:
        progress.bar.mininterval = 0
    with progress:
        for loss in (0.5, 0.25, 0.125):
            progress.advance(1, loss)
    return stream.getvalue()


def test_a_terminal_shows_rate_loss_and_time_left(monkeypatch):
    line = written(monkeypatch, Terminal())
    assert "epoch 4 of 8:  67%" in line and "2/3" in line and "batch/s" in line and "loss=0.2500" in line
    assert line.endswith("\r")  # and the line is cleared at the end


def test_batches_without_a_length_are_counted(monkeypatch):
    line = written(monkeypatch, Terminal(), batches=iter("abc"))
    assert "2batch [" in line and "%" not in line


def test_a_closed_standard_error_shows_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with (progress := Progress(True, 0, 1, range(2))):
        progress.advance(1, 0.5)
    assert progress.bar is None


def test_several_steps_at_once_show_the_last_loss(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr("paramcount.backend.train.progress.REFRESH", 0)
    with (progress := Progress(True, 0, 1, range(32))):
        progress.bar.mininterval = 0
        progress.advance(16, numpy.array([0.75] * 15 + [0.5]))
    assert "16/32" in sys.stderr.getvalue() and "loss=0.5000" in sys.stderr.getvalue()


def test_it_is_silent_elsewhere(monkeypatch):
    class Never:  # showing a loss would wait for the device
        def __array__(self):
            raise AssertionError("read")

    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with (progress := Progress(True, 0, 1, [1])):
        progress.advance(1, Never())
    assert sys.stderr.getvalue() == ""
    assert written(monkeypatch, Terminal(), shown=False) == ""


def test_a_missing_tqdm_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(MissingPackageError, match=r"needs tqdm\nhint: pip install .*tqdm"):
        Progress(True, 0, 1, [])
    Progress(False, 0, 1, [])
