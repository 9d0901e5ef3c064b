"""Hints of the command line can be typed as they stand."""

import os
import re
import shlex
from functools import cache

import pytest

from paramcount.cli import COMMANDS
from paramcount.cli.main import main
from paramcount.language.load import load
from paramcount.numbers.units import SHORT

WRONG = [  # what a user may type
    *("ls", "version", "models", "specs", "commands", "summary lenet", "params lenet", "benchmark lenet", "zo", "-v"),
    *("--version-number", "--list", "lenet --check", "lenet --benchmark", "mesure lenet", "cuont lenet"),
    *("infoo lenet", "stats resnet18", "describe resnet50", "inspect lenet", "variants resnet", "thop lenet"),
    *("flop_count vgg16", "init my.yaml", "create", "validate lenet", "grid lenet", "budget", "llama3:8b", "llama:8b"),
    *("lenett", "nwe x.yaml", "--model lenet", "--arch=resnet50", "-m lenet", "lenet 5", "resnet 50", "lenet --info"),
    *("lenet --variants", "lenet --json", "lenet -f json", "lenet --csv", "lenet --csv x.csv", "lenet --md"),
    *("lenet --tex", "lenet --html", "lenet --yaml", "lenet --excel", "lenet --xlsx", "lenet --format md"),
    *("lenet --format excel", "lenet --format jsn", "lenet --out out.txt", "lenet --save x.json", "lenet -o out.xlsx"),
    *("lenet --report x.html", "lenet -o out", "lenet --params", "lenet --flops", "lenet --macs", "lenet --summary"),
    *("lenet --all", "lenet --verbose", "lenet --col-names", "lenet --by-layer", "lenet --raw", "lenet --max-depth 2"),
    *("lenet --limit 5", "lenet -n 5", "lenet --sort-by macs", "lenet --cols layer,macs", "lenet --expand-nested"),
    *("lenet --print-per-layer-stat", "lenet --batch-size 8", "lenet --batch_size=8", "--batch-size 8 lenet"),
    *("lenet -b 8", "lenet --bs 8", "lenet --fp16", "lenet --bf16", "lenet --precision half"),
    *("lenet --data-type fp16", "lenet --int8", "lenet --4bit", "lenet --backward", "lenet --gradient-checkpointing"),
    *("lenet --adam", "lenet --causal", "mobilenet_v2 --width 0.5", "mobilenet_v2 --width=0.5"),
    *("mobilenet_v2 --resolution 96", "mobilenet_v2 --alpha 1", "mobilenet_v2 --num-classes 10"),
    *("llama:tiny --seq-len 8", "llama:tiny --hidden_size 128", "llama:tiny --kv 9", "mobilenet_v2 -s width=0.5"),
    *("mobilenet_v2 --var width=0.5", "mobilenet_v2 --set width=1,2", "lenet --train --optimizer adamm"),
    *("lenet --attention exct", "lenet --depth full", "lenet --dtype flaot16", "lenet --sort parms"),
    *("lenet --columns layer,parms", "lenet --set width", "zoo --json", "list --json", "help sweeep"),
    *("verify lenet --json", "measure lenet --batch-size 2", "measure lenet --csv", "measure lenet --runs 2"),
    *("sweep mobilenet_v2", "sweep mobilenet_v2 widht=1,2", "sweep mobilenet_v2 width=1,2 --csv rows.csv"),
    *("sweep mobilenet_v2 width=1,2 --limit 1", "sweep mobilenet_v2 width=1,2 --filter 'params > 1'"),
    *("solve mobilenet_v2 width --params 3M", "solve mobilenet_v2 width", "lenet --no-color", "info lenet --json"),
    *("lenet --validate", "budget lenet", "verify lenet --max-macs 1M", "trace jax.numpy:matmull"),
    *("train lenet --data x --learning-rate 0.1", "train lenet --dataset x", "new my", "layers", "ops", "conv"),
    *("lenet --kinds", "kinds Conv2d", "kinds convs"),
]


@cache
def code_of(command: str) -> int:
    """The exit code of a whole command, which many hints name."""
    return main(shlex.split(command)[1:])


def corrected(words: list[str], hint: str) -> list[str]:
    """The command line that a hint asks for: a whole one, or options in place of the first that does not exist."""
    if hint.startswith("paramcount "):
        return shlex.split(hint)[1:]
    meant = shlex.split(hint)
    if not hint.startswith("--"):
        return words
    at = next((i for i, word in enumerate(words) if word.startswith("-") and word != meant[0]), len(words))
    after = words[at + 1 :]
    value = meant[-1].rpartition("=")[2]  # of the option, or of the variable
    if after and after[0] in (value, meant[-1], *(short for short, long in SHORT.items() if long == value)):
        after = after[1:]
    return [*words[:at], *meant, *after]


SLOW = "benchmark|measure|mesure|validate|--check|zo"  # hints of these run what takes seconds


@pytest.mark.parametrize(
    "line", [pytest.param(each, marks=pytest.mark.full if re.search(SLOW, each) else ()) for each in WRONG]
)
def test_a_hint_names_something_that_works(line, capsys, tmp_path, monkeypatch):
    if re.search("measure|mesure|benchmark|trace|verify|validate|--check", line):
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
        elif hint.startswith("write `") and each[:1] != "-" and "=" not in each:
            assert main([each]) == 0
        elif each.startswith("--") and not re.search("^train|adamm", line):
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


NAMES = {  # the usual name of a model: how it is written here
    **{"resnet50": "resnet:50", "ResNet101": "resnet:101", "resnet-18": "resnet:18", "vgg16": "vgg:16"},
    **{"vgg16_bn": "vgg:16_bn", "VGG-19": "vgg:19", "wide_resnet50_2": "resnet:wide_50_2"},
    **{"resnext50_32x4d": "resnet:resnext50_32x4d", "densenet121": "densenet:121", "squeezenet1_1": "squeezenet:1.1"},
    **{"mobilenetv2": "mobilenet_v2", "MobileNetV2": "mobilenet_v2", "mobilenetv3_small": "mobilenet_v3:small"},
    **{"mobilenet_v2_0.5": "mobilenet_v2:x0.5", "shufflenet_v2_x0_5": "shufflenet_v2:x0.5", "u-net": "unet"},
    **{"InceptionV3": "inception_v3", "Xception": "xception", "EfficientNetB0": "efficientnet:b0", "lenet5": "lenet"},
    **{"efficientnet_v2_s": "efficientnet_v2:s", "convnext_tiny": "convnext:tiny", "regnet_y_16gf": "regnet_y:16gf"},
    **{"regnet_y_1_6gf": "regnet_y:1.6gf", "mnasnet0_5": "mnasnet:x0.5", "llama3.1:405b": "llama:3.1-405b"},
    **{"vit-b-16": "vit:b_16", "ViT-B/16": "vit:b_16", "vit_base_patch16_224": "vit:b_16", "swin_t": "swin:t"},
    **{"google/vit-base-patch16-224": "vit:b_16", "microsoft/swin-tiny-patch4-window7-224": "swin:t"},
    **{"facebook/deit-small-patch16-224": "deit:small", "swin_v2_b": "swin_v2:b", "maxvit_t": "maxvit:t"},
    **{"deeplabv3_resnet101": "deeplab_v3:resnet101", "fcn_resnet50": "fcn:resnet50"},
    **{"torchvision.models.resnet50": "resnet:50", "keras.applications.vgg16": "vgg:16", "timm/resnet34": "resnet:34"},
    **{"gpt-2": "gpt2", "gpt2-medium": "gpt2:medium", "openai-community/gpt2-xl": "gpt2:xl"},
    **{"distilgpt2": "gpt2:distil", "bert-base": "bert:base-uncased", "bert-base-uncased": "bert:base-uncased"},
    **{"google-bert/bert-large-uncased": "bert:large-uncased", "xlm-roberta-base": "roberta:xlm-base"},
    **{"distilbert-base-uncased": "distilbert:base-uncased", "albert-base-v2": "albert:base-v2"},
    **{"llama3": "llama:3-8b", "llama3:8b": "llama:3-8b", "llama-3-8b": "llama:3-8b", "llama2:7b": "llama:2-7b"},
    **{"llama-70b": "llama:2-70b", "meta-llama/Meta-Llama-3-8B-Instruct": "llama:3-8b"},
    **{"meta-llama/Llama-2-7b-chat-hf": "llama:2-7b", "meta-llama/Llama-3.2-1B": "llama:3.2-1b"},
    **{"mixtral-8x7b": "mixtral:8x7b", "mistralai/Mistral-7B-v0.1": "mistral:7b-v0.1"},
    **{"mistralai/Mixtral-8x7B-Instruct-v0.1": "mixtral:8x7b", "gemma-2b": "gemma:2b", "gemma2-2b": "gemma2:2b"},
    **{"google/gemma-2-27b-it": "gemma2:27b", "t5-small": "t5:small"},
    **{"qwen2.5:7b": "qwen2:7b", "Qwen/Qwen2.5-7B-Instruct": "qwen2:7b", "Qwen/Qwen3-30B-A3B": "qwen3:30b-a3b"},
    **{
        "microsoft/phi-4": "phi3:phi-4",
        "phi-3": "phi3",
        "tiiuae/falcon-7b": "falcon:7b",
        "flan-t5-base": "flan_t5:base",
    },
    **{"EleutherAI/pythia-1.4b": "gpt_neox:pythia-1.4b", "facebook/opt-1.3b": "opt:1.3b", "LeNet": "lenet"},
    **{"openai/whisper-large-v3": "whisper:large-v3", "deepseek-ai/DeepSeek-V3": "deepseek_v3", "qwen": "qwen2"},
    **{"openai/clip-vit-base-patch32": "clip:vit-base-patch32", "state-spaces/mamba-130m": "mamba:130m"},
}


@pytest.mark.parametrize(("name", "meant"), NAMES.items())
def test_the_usual_name_of_a_model(name, meant, capsys):
    assert main([name]) == 2
    assert capsys.readouterr().err == f"error: there is no spec `{name}`\nhint: did you mean `{meant}`?\n"
    assert main(["info", meant]) == 0


@pytest.mark.parametrize("stem", ["(x", "[x", "*x", "x\\"])
def test_a_file_beside_it_may_have_any_name(stem, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{stem}.yaml").write_text("input: {features: 4}\nlayers: [dense: 2]\nvariants: {tiny: {}}")
    assert main([f"{stem}-tiny"]) == 2
    name = os.path.join(".", f"{stem}.yaml")
    assert capsys.readouterr().err == f"error: there is no spec `{stem}-tiny`\nhint: did you mean `{name}:tiny`?\n"


@pytest.mark.parametrize("name", ["vitamin", "optimum", "gpt3", "yolov5", "deepseek-r1"])
def test_what_is_like_no_model(name, capsys):
    assert main([name]) == 2
    error = f"error: there is no spec `{name}`\nhint: `paramcount list` shows the shipped specs\n"
    assert capsys.readouterr().err == error


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        *[("gemma2-9b", "gemma2"), ("google/gemma-2-9b", "gemma2"), ("resnet20", "resnet"), ("llama4", "llama")],
        *[("llama2-13b", "llama"), ("llama3.1:70b", "llama"), ("whisper-small", "whisper"), ("ResNet50V2", "resnet")],
        *[("mistralai/Mistral-7B-Instruct-v0.2", "mistral"), ("t5-3b", "t5"), ("mixtral-8x22b", "mixtral")],
    ],
)
def test_another_size_is_not_a_typing_error(name, spec, capsys):
    variants = ", ".join(load(spec).variants)
    assert main([name]) == 2
    assert capsys.readouterr().err.partition("\nhint: ")[2] == f"the variants of `{spec}` are {variants}\n"


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        *[("gemma2:9b", "the variants are 2b, 27b, tiny"), ("gemma3:4b", "the variants are 270m, 1b, 12b, 27b")],
        *[("llama:8b", "did you mean `3-8b`?"), ("vgg:16bn", "did you mean `16_bn`?")],
        *[("llama:tinny", "did you mean `tiny`?"), ("mobilenet_v2:0.5", "did you mean `x0.5`?")],
        ("lenet:small", "the spec has no variants"),
    ],
)
def test_a_variant_that_there_is_not(spec, hint, capsys):
    assert main([spec]) == 2
    assert capsys.readouterr().err.endswith(f"\nhint: {hint}\n")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("lenet mlp", "to compare them, write `paramcount compare lenet mlp`"),
        ("lenet vgg16", "to compare them, write `paramcount compare lenet vgg:16`"),
        ("diff resnet18 vgg16", "did you mean `paramcount compare resnet:18 vgg:16`?"),
        ("conv", "did you mean `paramcount kinds conv`?"),
        ("layers", "did you mean `paramcount kinds`?"),
        ("resnet 50", "write `resnet:50`"),
        ("init x.yaml", "did you mean `paramcount new x.yaml`?"),
        ("lenet --save out.md", "write `--output out.md`"),
        ("lenet --json out.json", "write `--output out.json`"),
        ("lenet --learning-rate 0.1", "`paramcount --help` lists the options"),
        ("train mlp --data x --learning-rate 0.1", "write `--lr 0.1`"),
        ("train mlp --data x --learning-rate=0.1", "write `--lr 0.1`"),
        ("train mlp --data x --gpus 2", "write `--devices 2`"),
        ("lenet --no-color", "write `NO_COLOR=1` before the command"),
        ("lenet --format xml", "one of table, json, csv, markdown, latex, html"),
        ("lenet --format tex", "did you mean `latex`?"),
        ("mobilenet_v2 --set width=0.5,1", "`paramcount sweep mobilenet_v2 width=0.5,1` counts each of them"),
    ],
)
def test_a_hint_with_what_was_typed(line, hint, capsys):
    assert main(shlex.split(line)) == 2
    assert capsys.readouterr().err.partition("\nhint: ")[2] == f"{hint}\n"


def test_every_guess_is_an_option_of_some_command(capsys):
    from paramcount.cli import guesses

    helps = []
    for command in ([], *([name] for name in COMMANDS)):
        assert main([*command, "--help"]) == 0
        helps.append(capsys.readouterr().out)
    known = set(re.findall(r"--[a-z-]+", "".join(helps)))
    for meant in [*guesses.OPTIONS.values(), *guesses.RENAMED.values()]:
        assert {each.split()[0] for each in meant if each.startswith("--")} <= known
    for words in guesses.COMMANDS:
        assert not set(words) & set(COMMANDS)


def test_no_guess_stands_twice():
    from paramcount.cli import guesses

    options = [word for words in (*guesses.OPTIONS, *guesses.RENAMED, guesses.SPECS) for word in words]
    assert len(options) == len(set(options))
    commands = [word for words in guesses.COMMANDS for word in words]
    assert len(commands) == len(set(commands))


def test_an_unknown_command(capsys):
    assert main(["quantize", "a", "b"]) == 2
    hint = f"hint: the commands are {', '.join(COMMANDS)}; `paramcount list` shows the shipped specs"
    assert capsys.readouterr().err == f"error: there is no command or spec `quantize`\n{hint}\n"


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
