"""How the command line ends where something stops it: Ctrl-C, an output that is closed or full, a missing device."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

COMMAND = [sys.executable, "-m", "paramcount"]
# A signal before the command line runs is Python's own affair, so each process says when it begins.
STARTED = """
import sys
import paramcount.cli.interrupt as interrupt
leave_on_interrupt = interrupt.leave_on_interrupt
def begin():
    leave_on_interrupt()
    print("begun", flush=True)
interrupt.leave_on_interrupt = begin
from paramcount.cli.main import main
sys.exit(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        (["resnet"], 0.3),
        (["sweep", "mobilenet_v2", "width=0.5:1.5:0.001", "resolution=96,128", "--output", "a.csv"], 1.0),
        pytest.param(["verify", "lenet"], 2.5, marks=pytest.mark.full),
        pytest.param(["trace", "jax.numpy:sin", "--args", "float32[3]"], 1.5, marks=pytest.mark.full),
    ],
)
def test_ctrl_c_at_any_time(words, seconds, tmp_path):
    """Also while JAX or NumPy is imported: no traceback, and the exit code 130, or the signal's once all is done."""
    if words[0] in ("verify", "trace"):
        pytest.importorskip("jax")
    for wait in random.Random(words[0]).sample([seconds * part / 8 for part in range(8)], 3):
        process = subprocess.Popen(
            [sys.executable, "-c", STARTED, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        assert process.returncode in (0, 130, -signal.SIGINT) and "Traceback" not in error
        assert ("stopped" in error) == (process.returncode == 130)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="sends a signal")
def test_ctrl_c_that_is_ignored_stays_ignored():
    source = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{STARTED}"
    source = source.replace("sys.exit(main())", "import os; os.kill(os.getpid(), signal.SIGINT); sys.exit(main())")
    done = subprocess.run([sys.executable, "-c", source, "lenet"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["--help", "--version", "zoo --help", "lenet", "zoo lenet", "train --help"])
def test_a_full_output_is_an_error(words, unbuffered):
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *words.split()], stdout=full, stderr=subprocess.PIPE, text=True, env=environment
        )
    assert (done.returncode, done.stderr) == (2, "error: the output cannot be written: No space left on device\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_errors_that_cannot_be_written():
    with open("/dev/full", "w") as full:
        assert subprocess.run([*COMMAND, "no_such_spec"], stderr=full).returncode == 2


@pytest.mark.parametrize("words", ["--help", "lenet", "no_such_spec"])
def test_closed_outputs(words):
    done = subprocess.run(["sh", "-c", f'"$0" -m paramcount {words} >&- 2>&-', sys.executable])
    assert done.returncode == (2 if words == "no_such_spec" else 0)


@pytest.mark.full
@pytest.mark.parametrize("command", ["verify", "measure"])
def test_a_device_that_is_not_there(command):
    pytest.importorskip("jax")
    environment = {**os.environ, "JAX_PLATFORMS": "nonsense"}
    done = subprocess.run([*COMMAND, command, "lenet"], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (2, "") and "Traceback" not in done.stderr
    assert done.stderr.startswith("error: JAX has no device `nonsense`, which `JAX_PLATFORMS` asks for")
    assert done.stderr.splitlines()[-1].startswith("hint: set `JAX_PLATFORMS=cpu`")


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colour_where_there_is_no_terminal(environment, coloured):
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    done = subprocess.run([*COMMAND, "lenet"], capture_output=True, text=True, env=clean | environment)
    assert ("\x1b[1m" in done.stdout) == coloured
