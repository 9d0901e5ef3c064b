"""What a user may guess: options and commands by other names, and what to write instead."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

FIGURES = ["params", "parameters", "weights", "macs", "flops", "elementwise", "activations", "trainable"]

# What is guessed: what to write, in the order of preference; of options, those that the command has.
OPTIONS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("-V", "-v"): ("paramcount --version",),
    ("--json", "-f", "--yaml"): ("--format json",),
    ("--csv",): ("--format csv",),
    ("--markdown", "--md"): ("--format markdown",),
    ("--latex", "--tex"): ("--format latex",),
    ("--html",): ("--format html",),
    ("--tsv", "--excel", "--xlsx", "--parquet"): ("--output rows.csv", "--format csv"),
    ("-o", "--output", "--out", "--outfile", "--file", "--save", "--export", "--write"): (
        "--output rows.csv",
        "--checkpoint trained.safetensors",
        "--format json > FILE",
    ),
    tuple(f"--{name}" for name in FIGURES): ("--columns layer,params,macs,flops", "--max-params 3M"),
    tuple(f"--{end}-{name}" for end in ("max", "min") for name in (*FIGURES, "bytes", "param-bytes", "size")): (
        "--max-params 3M",
        "--where 'params < 5M'",
        "paramcount check {spec} --max-params 3M",
    ),
    ("--summary", "--total", "--totals"): ("--depth 1",),
    ("--all", "--full", "--expand", "--recursive", "--verbose", "--details"): ("--depth all",),
    ("--batch-size", "--bs", "-b"): ("--batch 8",),
    ("--precision", "--half", "--fp16", "--float16"): ("--dtype float16",),
    ("--bf16", "--bfloat16"): ("--dtype bfloat16",),
    ("--learning-rate", "--rate"): ("--lr 0.01",),
    ("--limit", "--head", "-n"): ("--top 5", "--sort macs"),
    ("--color", "--colour"): ("FORCE_COLOR=1",),
    ("--no-color", "--no-colour", "--plain"): ("NO_COLOR=1",),
    ("--list", "-l", "--models", "--specs", "--zoo"): ("paramcount zoo",),
    ("--kinds", "--layers", "--blocks", "--forms", "--modifiers", "--ops", "--operators"): ("paramcount kinds",),
    ("--verify", "--prove"): ("paramcount verify {spec}",),
    ("--check", "--validate", "--lint"): ("paramcount check {spec}",),
    ("--budget", "--budgets", "--limits"): ("--max-params 3M", "paramcount check {spec} --max-params 3M"),
    ("--measure", "--benchmark", "--profile", "--time", "--latency"): ("paramcount measure {spec}",),
}
VARIABLES: dict[tuple[str, ...], str] = {  # of the shipped specs
    ("tokens", "seq", "seq_len", "seq_length", "sequence_length", "length", "context", "context_length"): "T",
    ("image_size", "img_size", "input_size", "size", "input"): "resolution",
    ("num_classes", "n_classes"): "classes",
}
COMMANDS: dict[tuple[str, ...], str] = {
    ("list", "ls", "models", "specs", "configs"): "paramcount zoo",
    ("layer", "layers", "block", "blocks", "forms", "modifiers", "ops", "operators"): "paramcount kinds",
    ("help",): "paramcount --help",
    ("version",): "paramcount --version",
    ("count", "summary", "info", "show", "stats", "analyze", "analyse", *FIGURES): "paramcount {spec}",
    ("diff", "difference", "delta", "versus", "vs", "cmp"): "paramcount compare --help",
    ("validate", "lint", "assert"): "paramcount check {spec}",
    ("test", "prove"): "paramcount verify {spec}",
    ("benchmark", "bench", "profile", "time", "run"): "paramcount measure {spec}",
    ("fit", "learn"): "paramcount train --help",
    ("search", "grid", "scan"): "paramcount sweep --help",
    ("budget", "budgets", "limit", "limits"): "paramcount check {spec} --max-params 3M",
    ("optimize", "optimise", "maximize"): "paramcount solve --help",
}


def option(word: str, known: Collection[str], spec: str) -> str | None:
    """What to write for an option that does not exist, or None; `known` are those of the command."""
    word = word if len(word) == 2 else word.lower().replace("_", "-")
    if word in known:
        return word
    for words, meant in OPTIONS.items():
        if word in words:
            for each in meant:
                if not each.startswith("--") or each.split()[0] in known:
                    return each.format(spec=spec)
    return None


def command(word: str, spec: str) -> str | None:
    """The command line for a command that does not exist, or None; a kind of layer asks what it is."""
    from paramcount.language.vocabulary import taken

    for words, meant in COMMANDS.items():
        if word.lower() in words:
            return meant.format(spec=spec)
    return f"paramcount kinds {word}" if taken(word) else None


def is_spec(word: str) -> bool:
    """Whether a word names a spec."""
    from paramcount.errors import ArgumentError
    from paramcount.language.load import locate

    try:
        return bool(locate(word))
    except ArgumentError:
        return False


def variable(word: str, value: str, spec: str) -> str | None:
    """A variable of the spec with a value, or with the one it has, as a shell takes it; None if it is not one."""
    from shlex import quote

    name, found = word.lstrip("-").replace("-", "_"), variables(spec)
    if name not in found:
        name = next((meant for words, meant in VARIABLES.items() if name.lower() in words), name)
    if name not in found:
        return None
    own = str(found[name])
    return quote(f"{name}={value or (own if own not in ('None', 'True', 'False') else own.lower())}")


def values(spec: str) -> str:
    """A hint how a variable of the spec is varied."""
    found = variables(spec)
    for name, value in found.items():
        if type(value) in (int, float):
            return f"write `{name}={value},{2 * value}`; the variables are {', '.join(found)}"
    return "write `NAME=VALUES`, with a variable of the spec" if found else "the spec has no variables"


def variables(spec: str) -> dict[str, Any]:
    """The variables of a spec with their values; none if it cannot be loaded."""
    from paramcount.errors import ParamcountError
    from paramcount.language.load import load

    try:
        return load(spec).vars
    except ParamcountError:
        return {}
