"""What a user may guess: options and commands by other names, and what to write instead."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from paramcount.errors import ArgumentError, quote

if TYPE_CHECKING:
    from paramcount.cli.options import Parser

FIGURES = ["params", "parameters", "weights", "macs", "flops", "elementwise", "activations", "trainable"]

# Options that have another name here, with the same value. Of several names, the first that the command has.
RENAMED: dict[tuple[str, ...], tuple[str, ...]] = {
    ("--batch-size", "--batchsize", "--bs", "-b", "-B", "--n", "-N"): ("--batch",),
    ("--learning-rate", "--rate", "--step-size", "-lr"): ("--lr",),
    ("--precision", "--data-type", "--datatype", "--param-dtype", "--type"): ("--dtype",),
    ("--optim", "--opt"): ("--optimizer",),
    ("--num-epochs", "--n-epochs", "--max-epochs", "--n-epoch", "-e"): ("--epochs",),
    ("--out", "--outfile", "--out-file", "--output-file", "--file", "--save", "--save-to", "--save-path"): (
        "--output",
    ),
    ("--export", "--write", "--dump", "--report", "--log"): ("--output",),
    ("--fmt", "-f", "--output-format", "--out-format"): ("--format",),
    ("--cols", "--col", "--fields", "-c"): ("--columns",),
    ("--sort-by", "--sortby", "--order", "--order-by"): ("--sort",),
    ("--max-depth", "--level", "--levels", "--nesting", "-d"): ("--depth",),
    ("--limit", "--head", "--first", "--rows", "--max-rows", "-n"): ("--top",),
    ("--override", "--overrides", "--var", "--vars", "--define", "-D", "-s", "--param"): ("--set",),
    ("--data-dir", "--data-path", "--dataset", "--datasets"): ("--data",),
    ("--ckpt", "--checkpoint-path", "--checkpoint-dir", "--weights-file"): ("--checkpoint",),
    ("--gpus", "--num-gpus", "--n-devices", "--num-devices", "--world-size"): ("--devices",),
    ("--runs", "--iterations", "--iters", "--reps", "--trials", "--repeat"): ("--repeats", "--random"),
    ("--samples", "--num-samples", "--n-samples"): ("--random",),
    ("--filter", "--constraint", "--condition", "--if"): ("--where",),
    ("--frozen", "--freeze-layers"): ("--freeze",),
    ("--import", "--module", "--custom-layers"): ("--plugin",),
    ("--attn",): ("--attention",),
    ("--kv", "--cache", "--cache-len", "--kv-len", "--kv-cache-len"): ("--kv-cache",),
    ("--random-seed", "--rng"): ("--seed",),
    ("--input-args", "--inputs", "--arg"): ("--args",),
}
# Options that stand for others. Of several, the first that the command has.
OPTIONS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("-v", "--ver"): ("paramcount --version",),
    ("-?", "--usage", "-help"): ("paramcount --help",),
    ("--json", "--yaml", "--xml", "--jsonl", "--machine"): ("--format json",),
    ("--csv", "--tsv"): ("--format csv",),
    ("--excel", "--xlsx", "--xls", "--ods", "--spreadsheet"): ("--output rows.csv",),
    ("--parquet", "--arrow"): ("--output rows.parquet", "--output rows.csv"),
    ("--md", "--markdown", "--github"): ("--format markdown",),
    ("--tex", "--latex"): ("--format latex",),
    ("--html", "--notebook"): ("--format html",),
    ("--txt", "--text", "--table"): ("--format table",),
    tuple(f"--{name}" for name in FIGURES): ("--max-params 3M", "--columns layer,params,macs,flops"),
    tuple(f"--max-{name}" for name in FIGURES): ("--where 'params < 5e6'", "paramcount solve --help"),
    ("--col-names", "--shapes", "--show-shapes", "--output-size", "--output-shape"): (
        "--columns layer,output,params,macs",
    ),
    ("--input-size", "--input-shape", "--in-shape", "--show-input"): ("--columns layer,input,output",),
    ("--summary", "--total", "--totals", "--brief", "--short", "--quiet", "-q"): ("--depth 1",),
    ("--all", "--full", "--expand", "--expand-nested", "--recursive", "--verbose", "--details", "-a"): ("--depth all",),
    ("--by-layer", "--per-layer", "--layers", "--print-per-layer-stat", "--layerwise", "--leaves"): ("--flat",),
    ("--largest", "--biggest", "--heaviest", "--slowest"): ("--flat --top 10 --sort macs",),
    ("--raw", "--digits", "--full-numbers", "--no-units", "--no-human", "--as-strings", "--ints"): ("--exact",),
    ("--half", "--fp16", "--float16", "--16bit"): ("--dtype float16",),
    ("--bf16", "--bfloat16"): ("--dtype bfloat16",),
    ("--fp32", "--float32", "--float"): ("--dtype float32",),
    ("--fp8", "--float8"): ("--dtype float8",),
    ("--int8", "--8bit", "--load-in-8bit", "--quantize", "--quantized"): ("--dtype int8",),
    ("--int4", "--4bit", "--load-in-4bit"): ("--dtype int4",),
    ("--training", "--backward", "--with-backward", "--grad", "--gradients", "--bwd"): ("--train",),
    ("--recompute", "--gradient-checkpointing", "--activation-checkpointing", "--checkpointing"): ("--remat",),
    ("--adam", "--adamw"): ("--optimizer adam",),
    ("--sgd",): ("--optimizer sgd",),
    ("--causal", "--masked", "--flash", "--exact-attention", "--causal-mask"): ("--attention exact",),
    ("--no-color", "--no-colour", "--plain"): ("NO_COLOR=1",),
    ("--color", "--colour"): ("FORCE_COLOR=1",),
    ("--list", "-l", "--models", "--specs", "--zoo", "--list-models"): ("paramcount list",),
    ("--info", "--describe", "--variants", "--variables", "--show-vars", "--about"): ("paramcount info {spec}",),
    ("--new", "--init", "--template"): ("paramcount new my.yaml",),
    ("--verify", "--check", "--validate", "--prove"): ("paramcount verify {spec}",),
    ("--measure", "--benchmark", "--profile", "--time", "--latency"): ("paramcount measure {spec}",),
}
SPECS = (
    "--model",
    "--model-name",
    "--name",
    "--arch",
    "--architecture",
    "--net",
    "--network",
    "--config",
    "--spec",
    "-m",
)
VARIABLES: dict[tuple[str, ...], str] = {  # of the shipped specs
    ("tokens", "seq", "seq_len", "seq_length", "sequence_length", "length", "max_length", "max_seq_len"): "T",
    ("context", "context_length", "ctx", "n_ctx", "block_size", "num_tokens"): "T",
    ("image_size", "img_size", "input_size", "size", "input", "input_res", "res", "image_resolution"): "resolution",
    ("num_classes", "n_classes", "nclass", "class_num"): "classes",
    ("width_mult", "width_multiplier", "alpha", "channel_mult"): "width",
    ("hidden_size", "d_model", "dim", "embed_dim", "n_embd", "model_dim"): "d",
    ("intermediate_size", "ffn_dim", "d_ff", "hidden_dim"): "hidden",
    ("num_layers", "n_layers", "n_layer", "layers", "num_hidden_layers"): "depth",
    ("num_heads", "n_heads", "n_head", "num_attention_heads"): "heads",
    ("num_kv_heads", "n_kv_heads", "num_key_value_heads"): "kv_heads",
    ("vocab_size", "n_vocab", "vocabulary"): "vocab",
    ("patch_size",): "patch",
    ("window_size", "sliding_window"): "window",
    ("in_channels", "in_chans"): "channels",
}
COMMANDS: dict[tuple[str, ...], str] = {
    ("ls", "models", "specs", "configs", "names", "catalog", "catalogue", "search", "find"): "paramcount list",
    ("version",): "paramcount --version",
    ("usage", "man", "commands"): "paramcount help",
    (
        "summary",
        "summarize",
        "summarise",
        "stats",
        "analyze",
        "analyse",
        "cost",
        "estimate",
        "calc",
    ): "paramcount {spec}",
    ("print", "report", "table", "compute", "flop", "param", "size", *FIGURES): "paramcount {spec}",
    (
        "show",
        "describe",
        "about",
        "inspect",
        "variants",
        "variables",
        "vars",
        "details",
        "doc",
    ): "paramcount info {spec}",
    ("init", "create", "template", "scaffold", "generate", "starter", "start"): "paramcount new my.yaml",
    ("validate", "test", "prove", "proof"): "paramcount verify {spec}",
    ("benchmark", "bench", "profile", "time", "timeit", "run", "latency", "speed"): "paramcount measure {spec}",
    ("fit", "learn"): "paramcount train --help",
    ("grid", "scan", "ablate", "nas"): "paramcount sweep --help",
    ("budget", "optimize", "optimise", "maximize", "maximise"): "paramcount solve --help",
    ("jax", "jaxpr", "function"): "paramcount trace --help",
}
FORMATS = {  # what other formats are called, or which one serves
    **dict.fromkeys(("md", "github", "pipe", "gfm"), "markdown"),
    **dict.fromkeys(("tex", "booktabs"), "latex"),
    **dict.fromkeys(("txt", "text", "plain", "pretty", "ascii", "grid"), "table"),
    **dict.fromkeys(("htm", "web"), "html"),
    **dict.fromkeys(("excel", "xlsx", "xls", "tsv", "spreadsheet"), "csv"),
    **dict.fromkeys(("yaml", "yml", "jsonl", "dict"), "json"),
}


def left_over(parser: Parser, words: Sequence[str], arguments: Sequence[str], spec: str) -> ArgumentError:
    """The error for words of a command line that its command does not take; `spec` is the one that it names, or ""."""
    known = list(parser._option_string_actions)
    sweeps = parser.prog.endswith("sweep")
    before = "--set " if "--set" in known else ""
    word, equals, value = words[0].partition("=")
    following = next(iter(arguments[arguments.index(words[0]) + 1 :]), "")
    if not word.startswith("-"):
        return one_too_many(parser, words[0], arguments, spec, before)
    if word == "--set" and sweeps:
        return ArgumentError("a sweep has no `--set`", hint="write `NAME=VALUES` alone; one value stands for all")
    if not equals and not following.startswith("-"):
        value = following
        if value and value == spec:  # it was taken for the spec, which comes later
            spec = next((each for each in words[1:] if not each.startswith("-")), "")
    meant = option(word, value, known, spec or "mlp", parser.prog)
    if meant is None and (before or sweeps):
        meant = variable(word, value, spec)
        meant = meant and before + meant
    if meant is not None:
        return ArgumentError(f"unknown option {quote(word)}", hint=f"write `{meant}`")
    from paramcount.errors.suggest import unknown

    return unknown("option", word, known, parser.help_hint)


def one_too_many(parser: Parser, word: str, arguments: Sequence[str], spec: str, before: str) -> ArgumentError:
    """The error for a word after the last that the command takes: a variable's value, a variant, or another spec."""
    from paramcount.language.usual_names import like, variants_of

    name, equals, value = word.partition("=")
    settings = [each for last, each in pairwise(arguments) if last == "--set"]
    meant = variable(name, value, spec) if equals else variable((settings or [""])[-1], word, spec)
    hint = parser.help_hint
    if meant and before:
        hint = f"write `{before}{meant}`"
    elif not equals and ":" not in spec and (variant := like(word, variants_of(spec))):
        hint = f"write `{spec}:{variant}`"
    elif not equals and parser.prog == "paramcount" and is_spec(word):
        hint = f"write `paramcount compare {spec} {word}`"
    return ArgumentError(f"{parser.rule}; {quote(word)} is left over", hint=hint)


def option(word: str, value: str, known: Collection[str], spec: str, prog: str) -> str | None:
    """What to write for an option that does not exist, or None; `known` are those of the command."""
    from shlex import quote as as_typed

    word = word if len(word) == 2 else word.lower().replace("_", "-")
    for words, names in RENAMED.items():
        name = next((each for each in names if each in known), None)
        if word in words and name is not None:
            return f"{name} {as_typed(value)}" if value else name
    if word in SPECS and value:
        return f"{prog} {as_typed(nearest_spec(value))}"
    for words, meant in OPTIONS.items():
        if word in words:
            for each in meant:
                if not each.startswith("--") or each.split()[0] in known:
                    return each.format(spec=spec)
    return None


def value(name: str, word: str, choices: Iterable[str]) -> ArgumentError:
    """The error for a value that an option does not take."""
    from paramcount.errors.suggest import unknown

    choices = list(choices)
    if name == "format" and FORMATS.get(word.lower()) in choices:
        return ArgumentError(f"unknown format {quote(word)}", hint=f"did you mean `{FORMATS[word.lower()]}`?")
    return unknown(name, word, choices)


def command(word: str, others: Sequence[str]) -> str | None:
    """The command line for a command that does not exist, or None; `others` are the words behind it."""
    for words, meant in COMMANDS.items():
        if word.lower() in words:
            return meant.format(spec=nearest_spec(others[0]) if others else "mlp")
    return None


def nearest_spec(word: str) -> str:
    """The name of a spec, or what stands for a usual name of a model."""
    from paramcount.language.usual_names import usual

    return word if is_spec(word) else usual(word) or word


def is_spec(word: str) -> bool:
    """Whether a word is the name of a spec."""
    from paramcount.errors import ParamcountError
    from paramcount.language.load import locate

    try:
        locate(word)
    except ParamcountError:
        return False
    return True


def variable(word: str, value: str, spec: str) -> str | None:
    """A variable of the spec with a value, or with the one it has, as a shell takes it; None if it is not one."""
    from shlex import quote as as_typed

    from paramcount.graph.network import as_written

    name, found = word.lstrip("-").replace("-", "_"), variables(spec)
    if name not in found:
        name = next((meant for words, meant in VARIABLES.items() if name.lower() in words), name)
    if name not in found:
        return None
    return as_typed(f"{name}={value or as_written(found[name])}")


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
