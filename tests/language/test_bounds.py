"""Specs made to be large: each is done or refused in seconds, with an error and without a traceback."""

import os
import subprocess
import sys
import time

import pytest

from paramcount.cost.count import count
from paramcount.errors import ParamcountError
from paramcount.language.load import load, loads

SECONDS = 20  # of the processor; what is quadratic takes minutes or hours
MIB = 1 << 20


def refused(text: str) -> str:
    start = time.process_time()
    with pytest.raises(ParamcountError) as caught:
        loads(text)
    message = str(caught.value)
    assert time.process_time() - start < SECONDS
    assert len(message) < 20_000
    return message


def test_files_that_each_include_the_next_twice(tmp_path):
    for k in range(30):
        text = f"include: [f{k + 1}.yaml, f{k + 1}.yaml]\nblocks: {{b{k}: {{layers: [dense: 4]}}}}\n"
        (tmp_path / f"f{k}.yaml").write_text(text)
    (tmp_path / "f30.yaml").write_text("blocks: {last: {layers: [dense: 5]}}\n")
    spec = tmp_path / "spec.yaml"
    spec.write_text("{input: {features: 4}, include: [f0.yaml], layers: [last, b7]}\n")
    assert count(load(str(spec))).params == (4 * 5 + 5) + (5 * 4 + 4)
    (tmp_path / "f30.yaml").write_text("blocks: {last: {layers: [rlu]}}\n")
    with pytest.raises(ParamcountError) as caught:
        load(str(spec))
    assert "f30.yaml:1:26: unknown kind `rlu`" in str(caught.value)


def test_the_number_and_the_size_of_included_files(tmp_path):
    spec = tmp_path / "spec.yaml"
    for k in range(101):
        (tmp_path / f"f{k}.yaml").write_text(f"blocks: {{b{k}: {{layers: [relu]}}}}\n")
    names = [f"f{k}.yaml" for k in range(101)]
    spec.write_text(f"{{input: {{features: 4}}, include: [{', '.join(names[:100])}], layers: [b99]}}\n")
    assert count(load(str(spec))).elementwise == 4
    spec.write_text(f"{{input: {{features: 4}}, include: [{', '.join(names)}], layers: [relu]}}\n")
    with pytest.raises(ParamcountError, match="a spec includes at most 100 files, of 1 MiB together"):
        load(str(spec))
    for name in names[:2]:
        (tmp_path / name).write_text(f"#{'x' * (MIB * 2 // 3)}\nblocks: {{b{name[1]}: {{layers: [relu]}}}}\n")
    spec.write_text("{input: {features: 4}, include: [f0.yaml, f1.yaml], layers: [relu]}\n")
    with pytest.raises(ParamcountError, match="of 1 MiB together"):
        load(str(spec))


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root writes to /")
def test_a_spec_at_the_root_includes_its_neighbours():
    part = f"/paramcount-test-{os.getpid()}.yaml"
    try:
        with open(part, "w") as file:
            file.write("blocks: {pair: {layers: [dense: 4, dense: 2]}}\n")
        text = f"{{input: {{features: 3}}, include: [{part[1:]}], layers: [pair]}}"
        assert count(loads(text, file="/spec.yaml")).params == 3 * 4 + 4 + 4 * 2 + 2
    finally:
        os.remove(part)


LARGE = {  # what is wrong -> layers on a sequence of 4×4
    "`*a` begins an alias": "[" + "*a, " * (MIB // 4 - 100) + "relu]",
    "`*a : 1` begins an alias": "{" + "*a : 1, " * (MIB // 8 - 100) + "relu: 1}",
    "without a space": "[" + "conv:8, " * 100_000 + "relu]",
    "anchor `&a`": "[" + "&a relu, " * 100_000 + "relu]",
    "unknown kind `foo`": "[" + "foo, " * 150_000 + "relu]",
    "levels of nesting": "[" * 100_000 + "]" * 100_000,
    "at most 200 characters, and this one": "[dense: " + "9" * 1_000_000 + "]",
    "more than 1,000 values": "[einsum: {pattern: '" + "d, " * 125_000 + "d -> d', paths: [prev, prev]}]",
    "on the left only": "[rearrange: " + " ".join(f"a{k}" for k in range(100_000)) + " -> a]",
    "there can be 50,000": "[rearrange: t d -> (t d), {split: 1000000000}]",
    "`name` has at most 200 characters": "[{relu, name: '" + "{1}" * 200_000 + "'}]",
    "each of at most 1e18": "[{repeat: 300, upsample: 1000000000000000000}]",
    "the result is too large": "[{repeat: 300, concat: [prev, prev, prev, prev, prev, prev, prev, prev]}]",
    "at most 32 axes": "[rearrange: t d -> t d" + " 1" * 40 + "]",
}


@pytest.mark.parametrize("words", LARGE)
def test_what_is_refused_soon(words):
    assert words in refused(f"{{input: {{sequence: [4, 4]}}, layers: {LARGE[words]}}}")


def test_lists_that_double():
    doubled = ", ".join(f"a{k}: [a{k - 1}, a{k - 1}]" for k in range(1, 30))
    for layer in ("dense: a29", "{when: a29 == a29, dense: 4}"):
        message = refused(f"{{input: {{features: 4}}, vars: {{a0: [1, 1], {doubled}}}, layers: [{layer}]}}")
        assert "a list with more than 1,000,000 entries" in message


SMALL = {  # what a large text counts to, on 4 features
    "let": (0, "layers:\n" + "".join(f"- let: {{_a{k}: [relu]}}\n" for k in range(20_000))),
    "outputs": (
        0,
        "layers:\n"
        + "".join(f"- {{relu, name: a{k}}}\n" for k in range(20_000))
        + f"outputs: [{', '.join(f'a{k}' for k in range(20_000))}]\n",
    ),
    "keys that are used once": (
        10_000 * (4 * 4 + 4),
        "layers:\n" + "".join(f"- {{dense: 4, share: k{k}}}\n" for k in range(10_000)),
    ),
}


@pytest.mark.full
@pytest.mark.parametrize("what", SMALL)
def test_what_is_counted_soon(what):
    params, text = SMALL[what]
    start = time.process_time()
    assert count(loads(f"input: {{features: 4}}\n{text}")).params == params
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize("number", [1000, 1001, 40_000])
def test_many_variables_and_arguments(number):
    variables = "".join(f"  a{k}: {k}\n" for k in range(number))
    loops = "".join("- {for: x, in: 1, dense: a7}\n" for _ in range(5000))
    arguments = ", ".join(f"a{k}: {k}" for k in range(number))
    block = f"blocks: {{b: {{args: {{{arguments}}}, layers: [dense: a7]}}}}"
    specs = {
        "variables": f"input: {{features: 7}}\nvars:\n{variables}layers:\n{loops}",
        "arguments": f"input: {{features: 7}}\n{block}\nlayers: [b]",
    }
    for what, text in specs.items():
        if number > 1000:
            assert f"{number:,} {what}; there can be 1,000" in refused(text)
        else:
            assert count(loads(text)).params == (7 * 7 + 7) * (5000 if what == "variables" else 1)


@pytest.mark.parametrize("digits", [18, 5000])
def test_a_batch_that_makes_figures_of_thousands_of_digits(digits):
    network = loads("{input: {features: 4}, layers: [dense: 4]}")
    with pytest.raises(ParamcountError, match="batch is beyond 1e18"):
        count(network, batch=10**digits + 1)
    assert count(network, batch=10**18).macs == 16 * 10**18


def run(command: str, cwd) -> subprocess.CompletedProcess:
    """A command of a shell in which $P is paramcount."""
    environment = {**os.environ, "P": f"{sys.executable} -m paramcount"}
    return subprocess.run(["sh", "-c", command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("$P - < /dev/zero", "`<stdin>` is larger than 1 MiB"),
        ("$P /dev/zero", "`/dev/zero` is larger than 1 MiB"),
        ("$P sweep - n=1 < /dev/zero", "`<stdin>` is larger than 1 MiB"),
        ("$P - <&-", "standard input, which is closed"),
        ("printf 'a\\377b' | $P -", "is not UTF-8"),
        ("mkdir gone; cd gone; rmdir ../gone; $P x.yaml", "there is no spec `x.yaml`"),
        ("mkdir gone; cd gone; rmdir ../gone; echo '{include: a.yaml}' | $P -", "working directory that was deleted"),
        ("mkdir gone; cd gone; rmdir ../gone; $P mlp --plugin layers.py", "working directory that was deleted"),
    ],
)
def test_odd_inputs_of_the_command_line(tmp_path, command, words):
    done = run(command, tmp_path)
    assert done.returncode == 2
    assert words in done.stderr and "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
def test_a_shipped_spec_in_a_deleted_directory_and_a_pipe(tmp_path):
    done = run("mkdir gone; cd gone; rmdir ../gone; $P lenet", tmp_path)
    assert (done.returncode, "params" in done.stdout) == (0, True)
    (tmp_path / "spec.yaml").write_text("{input: {features: 4}, layers: [dense: 4]}")
    done = run("mkfifo pipe; cat spec.yaml > pipe & $P pipe", tmp_path)
    assert (done.returncode, "20" in done.stdout) == (0, True)
