"""Mistakes that users make, each with the place that the message names and what it must say."""

# ruff: noqa: E501 (a row of the tables stays on its line)

from pathlib import Path

import pytest

from paramcount.cost.count import count
from paramcount.errors import ManyErrors, ParamcountError, SpecError
from paramcount.language.load import load, loads

IMAGE = "input: {image: [32, 32, 3]}\nlayers:\n"
SEQUENCE = "input: {sequence: [6, 8]}\nlayers:\n"
FEATURES = "input: {features: 10}\nlayers:\n"
TOKENS = "input: {tokens: [5]}\nlayers:\n"


def refused(text: str, variant: str | None = None, **variables) -> list[ParamcountError]:
    """The errors of a spec, in the order in which they are shown."""
    with pytest.raises(ParamcountError) as caught:
        loads(text, variant=variant, file="spec.yaml", **variables)
    return parts(caught.value)


def parts(error: ParamcountError) -> list[ParamcountError]:
    assert error.exit_code == 2
    errors = error.errors if isinstance(error, ManyErrors) else [error]
    assert str(error).startswith(str(errors[0]))
    return errors


def places(errors: list[ParamcountError]) -> list[str]:
    return [f"{error.position.line}:{error.position.column}" for error in errors if error.position]


def on_image(*items: str) -> str:
    return IMAGE + "".join(f"  - {item}\n" for item in items)


def on_sequence(*items: str) -> str:
    return SEQUENCE + "".join(f"  - {item}\n" for item in items)


def on_features(*items: str) -> str:
    return FEATURES + "".join(f"  - {item}\n" for item in items)


def with_vars(variables: str, *items: str) -> str:
    return f"vars: {{{variables}}}\n" + on_image(*items)


# (the mistake, the text, line:column, what message and hint must contain)
KINDS = [
    ("1 typo", on_image("cov: {out: 8, kernel: 3}"), "3:5", ["unknown kind `cov`", "did you mean `conv`?"]),
    ("2 Conv2d", on_image("Conv2d: {out: 8, kernel: 3}"), "3:5", ["`Conv2d`", "did you mean `conv`?"]),
    ("2 Linear", on_image("Linear: 10"), "3:5", ["`Linear`", "did you mean `dense`?"]),
    ("2 nn.ReLU", on_image("nn.ReLU"), "3:5", ["`nn.ReLU`", "did you mean `relu`?"]),
    ("2 BatchNorm2d", on_image("BatchNorm2d"), "3:5", ["`BatchNorm2d`", "did you mean `batch_norm`?"]),
    ("2 MaxPooling2D", on_image("MaxPooling2D: 2"), "3:5", ["`MaxPooling2D`", "did you mean `max_pool`?"]),
    ("3 argument", on_image("conv: {out: 8, kernel: 3, strde: 2}"), "3:31", ["`conv`", "`strde`", "`stride`?"]),
    (
        "5 in_channels",
        on_image("conv: {in_channels: 3, out: 8, kernel: 3}"),
        "3:12",
        ["come from the layer above", "remove"],
    ),
    (
        "43 beside",
        on_image("conv: {out: 8}\n    kernel: 3"),
        "4:5",
        ["`kernel` stands beside `conv`", "{..., kernel: 3}"],
    ),
    ("44 missing", on_image("conv: {kernel: 3}"), "3:5", ["`conv` needs `out`"]),
    (
        "44 required",
        FEATURES + "  - b\nblocks: {b: {args: {n: required}, layers: [dense: n]}}",
        "3:5",
        ["`b` needs `n`"],
    ),
    ("54 activation", on_image("conv: {out: 8, kernel: 3, activation: rellu}"), "3:43", ["`rellu`", "`relu`?"]),
    ("54 norm", on_image("conv: {out: 8, kernel: 3, norm: batchnorm}"), "3:37", ["norm `batchnorm`", "`batch_norm`?"]),
    ("54 padding", on_image("conv: {out: 8, kernel: 3, padding: sane}"), "3:40", ["padding `sane`", "`same`?"]),
    ("54 in a block", on_image("bottleneck: {out: 8, activation: rellu}"), "3:38", ["`rellu`", "did you mean `relu`?"]),
    ("54 needs arguments", on_image("conv: {out: 8, kernel: 3, activation: conv}"), "3:43", ["no argument", "`out`"]),
    ("55 rows", on_image("[-1, 1, Conv, [64]]"), "3:5", ["found a list where a layer was expected"]),
    ("nothing", on_image("relu", ""), "4:4", ["found nothing where a layer was expected"]),
    ("two kinds", on_image("{conv: [8, 3], dense: 4}"), "3:20", ["`dense`", "its own `-`"]),
    ("modifier", on_image("{relu, wen: true}"), "3:12", ["`wen`", "did you mean `when`?"]),
    ("positional", on_image("conv: [8, 3, 1, same, 7]"), "3:11", ["at most 4", "out, kernel, stride, padding"]),
    (
        "modifier inside",
        on_image("dense: {out: 8, frozen: true}"),
        "3:21",
        ["`frozen` is a modifier", "`{dense: ..., frozen: true}`"],
    ),
    (
        "name inside",
        on_image("bottleneck: {out: 8, name: y}"),
        "3:26",
        ["`name` is a modifier", "`{bottleneck: ..., name: y}`"],
    ),
    ("trainable", on_image("{dense: 8, trainable: false}"), "3:16", ["`trainable`", "did you mean `frozen: true`?"]),
    ("as", on_image("{dense: 8, as: y}"), "3:16", ["`as`", "did you mean `name`?"]),
    (
        "a block's activation",
        on_image("b: {activation: gelu}") + "blocks: {b: {layers: [dense: 8]}}",
        "3:9",
        ["`b` has no argument `activation`", "a block takes its own arguments only", "put `gelu` below it"],
    ),
    (
        "activation's arguments",
        on_image("conv: {out: 8, kernel: 3, activation: {leaky_relu: 0.2}}"),
        "3:43",
        ["put `- leaky_relu: ...` below"],
    ),
    (
        "repeat layers",
        on_image("repeat: 3\n    layers: [relu]"),
        "4:5",
        ["unknown kind `layers`", "did you mean `do`?"],
    ),
    ("repeat nothing", on_image("repeat: 3", "relu"), "3:5", ["`repeat` has nothing beside it", "`do: [...]`"]),
    *(
        (
            f"{modifier} alone",
            on_image("flatten", "dense: 8", modifier),
            "5:5",
            [f"`{modifier.split(':')[0]}` has no layer beside it", f"`{{dense: 8, {modifier}}}`"],
        )
        for modifier in ("share: k", "share: false", "frozen: true", "only: training", "when: false")
    ),
    ("share alone first", on_image("share: k"), "3:5", ["`share` has no layer beside it", "`{dense: 8, share: k}`"]),
    (
        "share alone in a path",
        on_image("flatten", "{let: {a: [dense: 4, share: k]}}", "dense: 1"),
        "4:26",
        ["`share` has no layer beside it", "`{dense: 4, share: k}`"],
    ),
    ("share beside a name only", on_image("{name: x, share: k}"), "3:15", ["`share` has no layer beside it"]),
    ("only beside a name only", on_image("{name: x, only: training}"), "3:15", ["`only` has no layer beside it"]),
    (
        "when beside from only",
        on_image("{name: x}", "{from: x, when: false}"),
        "4:15",
        ["`when` beside `from` has no layer to skip", "`{when: ..., do: [from: ...]}`"],
    ),
    ("for alone", on_image("{for: x, in: 3}"), "3:6", ["`for` has nothing beside it", "`do: [...]`"]),
    ("repeat beside from only", on_image("{repeat: 3, from: prev}"), "3:6", ["`repeat` has nothing beside it"]),
    (
        "an argument alone",
        on_image("flatten", "dense: 8", "bias: false"),
        "5:5",
        ["`bias` is an argument of `dense`, not an item", "`dense: {..., bias: false}`"],
    ),
    (
        "a norm alone",
        on_image("{conv: [8, 3], name: c}", "norm: batch_norm"),
        "4:5",
        ["`norm` is an argument of `conv`", "`conv: {..., norm: batch_norm}`"],
    ),
    *(
        (
            f"null as {text}",
            on_features(f"dense: {{{text}}}"),
            "3:18",
            ["`out` needs a value, not", "the features of the result"],
        )
        for text in ("out: null", "out: ~", "out: none", "out: Null")
    ),
    (
        "a condition null",
        on_features("{when: null, relu}"),
        "3:12",
        ["`when` needs a value, not `null`", "leave it out"],
    ),
    ("a size null", "{input: {features: null}, layers: [relu]}", "1:20", ["`features` needs a value, not `null`"]),
    ("a flag null", on_features("dense: {out: 4, bias: null}"), "3:27", ["unknown variable `null`", "write `none`"]),
    *(
        (
            f"the argument {word}",
            on_features("b") + f"blocks: {{b: {{args: {{{word}: 3}}, layers: [relu]}}}}",
            "4:21",
            [f"`{word}` cannot be an argument", "choose another name"],
        )
        for word in ("in", "is", "for", "lambda", "a__b")
    ),
    (
        "a parameter's one size",
        on_features("parameter: 512"),
        "3:16",
        ["a list of whole numbers, not `512`", "write `[512]`"],
    ),
    (
        "a loop variable beside defaults of the file",
        "{input: {image: [8, 8, 4]}, vars: {w: 2}, defaults: {conv: {groups: w}}, layers: [{for: w, in: [32], do: [{conv: {out: i + 0.5, kernel: 3}}]}]}",
        "1:120",
        ["out: 0.5 is not a whole number (`i + 0.5` is 0 + 0.5)"],
    ),
    (
        "a loop variable that hides a variable of the file",
        "{input: {image: [8, 8, 4]}, vars: {w: 2}, defaults: {conv: {groups: w}}, layers: [{for: w, in: [32], do: [{conv: {out: w + 0.5, kernel: 3}}]}]}",
        "1:120",
        ["out: 32.5 is not a whole number (`w + 0.5` is 32 + 0.5)"],
    ),
    (
        "a default of the file inside a loop that hides its variable",
        "{input: {image: [8, 8, 4]}, vars: {w: 2.5}, defaults: {conv: {groups: w}}, layers: [{for: w, in: [32], do: [{conv: [w, 3]}]}]}",
        "1:71",
        ["groups: 2.5 is not a whole number (from `w`)"],
    ),
    (
        "a loop variable that hides what an argument's default was computed from",
        "{input: {features: 8}, blocks: {b: {args: {n: 3, m: n / 2}, layers: [{for: n, in: [5], do: [dense: m]}]}}, layers: [b]}",
        "1:100",
        ["out: 1.5 is not a whole number (from `m`; `m` is `n / 2`: 3 / 2)"],
    ),
    (
        "a loop variable that hides an argument",
        "{input: {features: 8}, blocks: {b: {args: {n: 3, m: n / 2}, layers: [{for: m, in: [0.5], do: [dense: m]}]}}, layers: [b]}",
        "1:102",
        ["out: 0.5 is not a whole number (from `m`)", "use `//`"],
    ),
    ("repeat a list", on_image("repeat: 3\n    - relu"), "4:5", ["such as `do:`"]),
    ("conv1x1", on_image("conv1x1: 8"), "3:5", ["did you mean `pointwise`?"]),
    ("a comma", on_image("conv: [16 3]"), "3:15", ["a comma or an operator is missing", "`16, 3`"]),
    ("3x3", on_image("conv: {out: 8, kernel: 3x3}"), "3:28", ["`3x3` is not a number", "write 3, or [3, 3]"]),
    (
        "groups",
        on_image("conv: [8, 3]", "group_norm"),
        "4:5",
        ["8 channels do not divide into 32 groups", "`group_norm` has 32 groups by default"],
    ),
    (
        "an axis",
        on_image('rearrange: {pattern: "(p h) w c -> p h w c", p: 5}'),
        "3:5",
        ["an axis of 32 does not divide by 5", "`(p h)`", "`p` is 5"],
    ),
    ("elements", on_image("reshape: [3, 5]"), "3:14", ["15 elements, the value 3072", "32×32×3"]),
    ("by name only", on_image("batch_norm: 3"), "3:17", ["`batch_norm` takes no positional argument", "eps"]),
]
FILES = [
    ("6 key", "input: {features: 3}\nlayer: [global_pool]\n", "2:1", ["unknown key `layer`", "did you mean `layers`?"]),
    ("7 no input", "layers: [relu]\n", "1:1", ["missing `input:`", "e.g. `input: {image: [224, 224, 3]}`"]),
    ("no layers", "input: {features: 3}\n", "1:1", ["missing `layers:`"]),
    ("8 bare list", "input: [32, 32, 3]\nlayers: [relu]\n", "1:8", ["{image: [32, 32, 3]}", "{features:", "{tokens:"]),
    ("8 bare number", "input: 784\nlayers: [relu]\n", "1:8", ["{features:"]),
    ("9 channels first", "input: {image: [3, 224, 224]}\nlayers: [relu]\n", "1:16",
        ["[height, width, channels]", "did you mean [224, 224, 3]?", "{image: {height: 3, width: 224, channels: 224}}"]),
    ("10 batch", "input: {image: [1, 224, 224, 3]}\nlayers: [relu]\n", "1:16", ["three numbers", "without a batch", "`--batch`"]),
    ("inputs", "inputs: {image: [32, 32, 3]}\nlayers: [relu]\n", "1:10", ["`image` is a layout", "did you mean `input: {image: ...}`?"]),
    ("sizes", "input: {image: [32 32, 3]}\nlayers: [relu]\n", "1:16", ["got 2", "commas between the sizes: `32, 32`"]),
    ("sizes with x", "input: {image: 32x32x3}\nlayers: [relu]\n", "1:16", ["commas between the sizes: `32, 32, 3`"]),
    ("no channels", "input: {image: [32, 32]}\nlayers: [relu]\n", "1:16", ["name the channels too", "`image: [32, 32, 3]`"]),
    ("no default", on_features("b: 3") + "blocks: {b: {args: {out}, layers: [dense: out]}}", "4:21", ["`out` has no default", "`out: required`"]),
    ("flop", on_features("relu") + "expect: {flop: 3}", "4:10", ["unknown figure `flop`", "did you mean `flops`?"]),
    ("a limit", on_features("relu") + "expect: {params: {most: 3}}", "4:19", ["`params` has no limit `most`", "did you mean `at_most`?"]),
    ("a limit's case", on_features("relu") + "expect: {params: {Minimum: 3}}", "4:19", ["`params` has no limit `Minimum`", "did you mean `at_least`?"]),
    ("no limit", on_features("relu") + "expect: {params: {}}", "4:18", ["params has no limit", "`params: {at_most: 3M}`"]),
    ("limits crossed", on_features("relu") + "expect: {params: {at_most: 1k, at_least: 2k}}", "4:18", ["params cannot be at least 2k and at most 1k"]),
    ("limits in a list", on_features("relu") + "expect: {params: [3, {at_most: 4}]}", "4:18", ["params must be a whole number, or limits, not a list", "`params: {at_most: 3M}`"]),
    ("a limit of limits", on_features("relu") + "expect: {params: {at_most: {at_most: 4}}}", "4:28", ["params must be a whole number, or limits, not a mapping"]),
    ("a limit beside a number", on_features("relu") + "expect: {params: 3, params: {at_most: 4}}", "4:21", ["`params` is given twice"]),
    ("bytes of parameters", on_features("relu") + "expect: {params: {at_most: 3.5MB}}", "4:28", ["`3.5MB` is not an amount of params", "hint: write 3.5M"]),
    ("bytes without their prefix", on_features("relu") + "expect: {param_bytes: {at_most: 14M}}", "4:33", ["`14M` is not an amount of param_bytes", "write 14MiB or 14MB"]),
    ("an amount below 0", on_features("relu") + "expect: {params: {at_least: -5}}", "4:29", ["params must be at least 0, not -5"]),
    ("a huge amount", on_features("relu") + "expect: {params: {at_least: 1e400}}", "4:29", ["`1e400` is too large"]),
    ("an amount in hexadecimal", on_features("relu") + "expect: {params: 0x10}", "4:18", ["`0x10` is not decimal", "write 16"]),
    ("an amount with _", on_features("relu") + "expect: {params: 1_000}", "4:18", ["`1_000` is not a number", "write 1000"]),
    ("an amount in other digits", on_features("relu") + "expect: {params: ١٢M}", "4:18", ["not allowed in expressions"]),
    ("layout", "input: {imagee: [3, 3, 3]}\nlayers: [relu]\n", "1:9", ["`imagee`", "did you mean `image`?"]),
    ("named axis", "input: {image: {height: 3, widht: 3, channels: 3}}\nlayers: [relu]\n", "1:28", ["`widht`", "width"]),
    ("size", "input: {features: -3}\nlayers: [relu]\n", "1:19", ["at least 1", "-3"]),
    ("11 TAB", "input: {features: 3}\nlayers:\n\t- relu\n", "3:1", ["TAB", "spaces"]),
    ("15 circle", "input: {features: 3}\nvars: {a: b + 1, b: a + 1}\nlayers: [dense: a]\n", "2:11",
        ["a -> b -> a", "`a` at spec.yaml:2:11", "`b` at spec.yaml:2:21"]),
    ("16 circle", "input: {features: 3}\nblocks: {x: {layers: [y]}, y: {layers: [x]}}\nlayers: [x]\n", "2:41",
        ["calls itself", "x -> y -> x"]),
    ("30 top", "input: {features: 3}\ninput: {features: 4}\nlayers: [relu]\n", "2:1", ["`input` is given twice", "spec.yaml:1:1"]),
    ("30 vars", "input: {features: 3}\nvars: {a: 1, a: 2}\nlayers: [relu]\n", "2:14", ["`a` is given twice", "spec.yaml:2:8"]),
    ("59 two documents", on_image("relu") + "---\n", "4:1", ["one spec per file"]),
    ("60 empty", "", "1:1", ["empty", "`input:` and `layers:`"]),
    ("60 list", "- relu\n", "1:1", ["a list", "`input:` and `layers:`"]),
    ("60 scalar", "hello\n", "1:1", ["`hello`", "`input:` and `layers:`"]),
    ("62 NUL", IMAGE + "\0", "3:1", ["0x00", "UTF-8"]),
    ("layers", "input: {features: 3}\nlayers: relu\n", "2:9", ["list of layers", "`relu`"]),
    ("layers empty", "input: {features: 3}\nlayers: []\n", "2:9", ["`layers` is empty"]),
    ("a kind's name", "input: {features: 3}\nblocks: {conv: {layers: [relu]}}\nlayers: [relu]\n", "2:10", ["`conv` is a kind"]),
    ("figure", "input: {features: 3}\nlayers: [relu]\nexpect: {param: 3}\n", "3:10", ["`param`", "did you mean `params`?"]),
    ("figure's value", "input: {features: 3}\nlayers: [relu]\nexpect: {params: 2.5}\n", "3:18", ["params: 2.5 is not a whole number"]),
    ("expected variant", "input: {features: 3}\nvariants: {x0.5: {}}\nlayers: [relu]\nexpect: {variants: {x05: {params: 1}}}\n",
        "4:21", ["`x05`", "did you mean `x0.5`?"]),
    ("output", "input: {features: 3}\nlayers: [{relu, name: top}]\noutputs: [topp]\n", "3:11", ["`topp`", "`top`?"]),
]  # fmt: skip
VALUES = [
    ("12 variable", with_vars("width: 1.0", "{dense: width}", "dense: 32 * widht"), "5:17", ["`widht`", "`width`?"]),
    ("13 ${}", with_vars("w: 1", 'conv: {out: "${w}", kernel: 3}'), "4:18", ["`${w}`", "bare name `w`"]),
    ("13 unquoted", with_vars("w: 1", "conv: {out: ${w}, kernel: 3}"), "4:17", ["`${w}`", "`w`"]),
    ("14 {{ }}", with_vars("w: 1", "conv: {out: {{ w }}, kernel: 3}"), "4:17", ["`{{ w }}`", "write its name: `w`"]),
    ("14 quoted", with_vars("w: 1", "conv: {out: '{{ w }}', kernel: 3}"), "4:18", ["`{{ w }}`", "write its name: `w`"]),
    ("17 negative", on_image("conv: {out: -8, kernel: 3}"), "3:17", ["at least 1", "-8"]),
    ("18 stride", on_image("conv: {out: 8, kernel: 3, stride: 0}"), "3:39", ["stride must be at least 1", "0"]),
    ("19 fraction", on_image("conv: {out: 32 * 0.35, kernel: 3}"), "3:17", ["11.2 is not a whole number", "`//`", "ceil", "round8"]),
    ("19 variable", with_vars("w: 0.35", "conv: {out: 32 * w, kernel: 3}"), "4:17", ["11.2", "`32 * w` is 32 * 0.35", "round8"]),
    ("19 cin", on_image("conv: {out: cin / 2, kernel: 3}"), "3:17", ["1.5 is not", "`cin / 2` is 3 / 2"]),
    ("20 groups", on_image("conv: [10, 3]", "conv: {out: 8, kernel: 3, groups: 4}"), "4:39", ["10", "4 groups"]),
    ("22 comma", on_image("conv: {out: 1,024, kernel: 3}"), "3:17", ["`1,024`", "write `1024`"]),
    ("22 in a list", on_image("conv: [1,024, 3]"), "3:12", ["`1,024`", "write 1024"]),
    ("22 millions in a list", on_image("conv: [1,000,024, 3]"), "3:12", ["`1,000,024`", "write 1000024"]),
    ("22 in a block", on_image("conv:\n      out: 1,024\n      kernel: 3"), "4:12", ["`1,024`", "write 1024"]),
    ("23 suffix", "input: {tokens: [4k]}\nlayers: [relu]\n", "1:18", ["`4k`", "not supported", "4 * 1024"]),
    ("25 no", on_image("conv: {out: 8, kernel: 3, bias: no}"), "3:37", ["`no`", "`true` or `false`"]),
    ("25 yes", on_image("conv: {out: 8, kernel: 3, bias: Yes}"), "3:37", ["`Yes`", "`true` or `false`"]),
    ("25 True", on_image("conv: {out: 8, kernel: 3, bias: True}"), "3:37", ["`True`", "write `true`"]),
    ("25 a number", on_image("conv: {out: 8, kernel: 3, bias: 1}"), "3:37", ["true or false", "`1`"]),
    ("26 octal", on_image("conv: {out: 010, kernel: 3}"), "3:17", ["`010`", "write 10"]),
    ("27 sexagesimal", on_image("conv: {out: 1:30, kernel: 3}"), "3:17", ["`1:30` is not a number"]),
    ("29 infinity", on_image("conv: {out: .inf, kernel: 3}"), "3:17", ["`.inf` is not a usable number"]),
    ("29 nan", on_image("conv: {out: nan, kernel: 3}"), "3:17", ["`nan`", "not a usable number"]),
    ("30 argument", on_image("conv: {out: 8, kernel: 3, out: 16}"), "3:31", ["`out` is given twice", "spec.yaml:3:12"]),
    ("32 star", on_image("conv: {out: *d, kernel: 3}"), "3:17", ["`*d` begins an alias", '`"*d"`']),
    ("33 tag", on_image("conv: {out: !!python/object/apply:os.system ['id'], kernel: 3}"), "3:17", ["tags", "nothing is run"]),
    ("34 merge", on_image("conv: {<<: {kernel: 3}, out: 8}"), "3:12", ["`<<`", "`defaults:`", "block"]),
    ("38 power", on_image("conv: {out: 9**9**9, kernel: 3}"), "3:18", ["too large"]),
    ("39 import", on_image("conv: {out: \"__import__('os').system('id')\", kernel: 3}"), "3:18", ["`__import__` is not allowed", "max(a, b)"]),
    ("39 attribute", on_image("conv: {out: (1).__class__, kernel: 3}"), "3:20", ["`.` is not allowed"]),
    ("39 lambda", on_image("conv: {out: 'lambda x: x', kernel: 3}"), "3:18", ["`lambda` is not allowed"]),
    ("39 comprehension", on_image("conv: {out: '[x for x in [1]]', kernel: 3}"), "3:21", ["`for` is not allowed"]),
    ("40 comma", on_image("conv: {out: max(8, 16), kernel: 3}"), "3:17", ["a comma ends the value", '`"max(8, 16)"`']),
    ("41 index", with_vars("n: [1, 2, 3]", "conv: {out: n[2], kernel: 3}"), "4:17", ["`[` must be quoted", '`"n[2]"`']),
    ("42 4d", with_vars("d: 4", "conv: {out: 4d, kernel: 3}"), "4:17", ["`4d`", "did you mean `4 * d`?"]),
    ("42 ^", with_vars("d: 4", "conv: {out: d^2, kernel: 3}"), "4:18", ["`^`", "`**`"]),
    ("57 colon", on_image("conv:{out: 8}"), "3:5", ["put a space after `:`"]),
    ("57 inside", on_image("conv: {out:8}"), "3:12", ["put a space after `:`"]),
    ("58 two keys", on_image("conv: out: 8"), "3:11", ["two keys", "needs braces"]),
    ("64 cin", with_vars("cin: 1", "relu"), "1:8", ["`cin` is reserved"]),
    ("64 i", with_vars("i: 1", "relu"), "1:8", ["`i` is reserved"]),
    ("64 prev", with_vars("prev: 1", "relu"), "1:8", ["`prev` is reserved"]),
    ("64 keyword", with_vars("and: 1", "relu"), "1:8", ["`and` cannot be a variable"]),
    ("65 zero", on_image("conv: {out: 8 / (4 - 4), kernel: 3}"), "3:19", ["division by zero", "`8 / (4 - 4)`"]),
    ("65 variable", with_vars("d: 0", "conv: {out: 8 // d, kernel: 3}"), "4:19", ["division by zero", "`8 // d`"]),
    ("a list", with_vars("d: [1, 2]", "conv: {out: d, kernel: 3}"), "4:17", ["whole number", "`[1, 2]`", "`d`"]),
    ("vars see no cin", with_vars("d: cin", "relu"), "1:11", ["`cin`", "none arrives here"]),
    ("i outside a loop", on_image("conv: {out: i, kernel: 3}"), "3:17", ["`i`", "`repeat` and `for`"]),
    ("cin of tokens", TOKENS + "  - dense: cin\n", "3:12", ["`cin`", "tokens", "`embedding`"]),
    ("cin of a scalar", on_image("parameter: []", "dense: cin"), "4:12", ["`cin` of a scalar"]),
]  # fmt: skip
SHAPES = [
    ("21 heads", SEQUENCE.replace("8", "100") + "  - mine: 12\nblocks:\n  mine:\n    args: {heads: required}\n    layers:\n"
        '      - rearrange: {pattern: "t (h head_dim) -> h t head_dim", head_dim: cin / heads}\n', "8:74",
        ["head_dim: 8.333", "is not a whole number", "(`cin / heads` is 100 / 12)", "in block `mine`, used at spec.yaml:3:5"]),
    ("45 dense", on_image("dense: 10"), "3:5", ["`dense`", "32×32×3", "`global_pool`", "`flatten`", "`pointwise`"]),
    ("46 conv", on_features("conv: [8, 3]"), "3:5", ["`conv`", "features 10", "`dense`", "image"]),
    ("47 residual", on_image("residual: [conv: [8, 3]]"), "3:5", ["32×32×8", "32×32×3", "projection", "condition"]),
    ("48 concat", on_image("concat: [prev, [conv: {out: 8, kernel: 3, stride: 2}]]"), "3:5", ["32×32×3", "16×16×8", "only the channels"]),
    ("51 shape", TOKENS + "  - {embedding: [100, 16], share: e}\n  - dense: {out: 50, tied: e}\n", "4:28", ["`e`", "100×16", "50×16"]),
    ("51 unknown", TOKENS + "  - {embedding: [9, 4], share: e}\n  - dense: {out: 9, tied: f}\n", "4:27", ["`f`", "known here: `e`"]),
    ("52 kernel", on_image("conv: {out: 8, kernel: 33, padding: valid}"), "3:28", ["33", "32"]),
    ("53 row", on_image("for: [c, n]\n    in:\n      - [16, 1]\n      - [24]\n    conv: [c, n]"), "6:9", ["1 value", "names 2: c, n"]),
    ("53 variable", with_vars("rows: [[1, 2], [3]]", "{for: [c, n], in: rows, conv: [c, n]}"), "4:23", ["1 value", "names 2"]),
    ("63 top_k", on_sequence("moe: {experts: 4, top_k: 6, body: [dense: 8]}"), "3:30", ["6", "4"]),
    ("into", on_sequence("{split: 3, into: [a, b]}".replace("3", "4")), "3:22", ["`into` names 2", "gives 4"]),
    ("into one", on_sequence("{dense: 4, into: [a, b]}"), "3:22", ["`into` names 2", "gives 1"]),
    ("parts", on_sequence("split: [3, 4]"), "3:12", ["sum to 7", "has 8"]),
    ("equal parts", on_sequence("split: 3"), "3:12", ["8", "3 equal parts"]),
    ("two shapes", on_sequence("{dense: 8, share: k}", "{dense: 9, share: k}"), "4:23", ["`k`", "two shapes", "8×8 and then 8×9"]),
    ("two kinds", on_sequence("{dense: 8, share: k}", "{rms_norm, share: k}"), "4:23", ["`k`", "two shapes"]),
    ("shared iterations", on_sequence("{repeat: 3, share: true, dense: 9}"), "3:24", ["`share: true` needs equal iterations"]),
    ("shared alone", on_sequence("{share: true, dense: 9}"), "3:13", ["needs a `repeat`", "`share: KEY`"]),
    ("pattern's axes", on_sequence("rearrange: t h d -> t (h d)"), "3:5", ["3 axes", "has 2", "6×8"]),
    ("pattern's size", on_sequence("rearrange: t (h d) -> h t d"), "3:16", ["size of `h`", "`h: SIZE`"]),
    ("pattern divides", on_sequence("rearrange: {pattern: t (h d) -> h t d, h: 3}"), "3:5", ["8", "3", "does not divide"]),
    ("pattern's side", on_sequence("rearrange: {pattern: t d -> t}"), "3:26", ["`d`", "on the left only"]),
    ("pieces' side", on_sequence("each: {pattern: t d -> t | d e, do: [relu]}"), "3:21", ["`e`", "on the right only"]),
    ("pieces' bar", on_sequence("each: {pattern: t d -> t d, do: [relu]}"), "3:21", ["one `|`"]),
    ("pieces' axes", on_sequence("each: {pattern: t h d -> t | h d, do: [relu]}"), "3:5", ["3 axes", "has 2"]),
    ("pieces' sizes", on_sequence("each: {pattern: t d -> t | d, m: 3, do: [relu]}"), "3:38", ["no axis `m`"]),
    ("pieces of two", on_sequence("{relu, name: y}", "slice: 3", "each: {pattern: t d -> t | d, with: {y: t d -> t | d}, do: [relu]}"),
        "5:42", ["`y` has 6 pieces", "3"]),
    ("second path", on_sequence("add: [prev, [dense: 9]]"), "3:5", ["6×8 and 6×9", "the first sets the shape"]),
    ("second path larger", on_sequence("add: [[global_pool], prev]"), "3:5", ["8 and 6×8", "the first sets the shape"]),
    ("carry", on_sequence("scan: {carry: {h: [4]}, do: [dense: 5], next: {h: prev}}"), "3:5", ["`h` is 4 at first, 5"]),
    ("carry, no next", on_sequence("scan: {carry: {h: [4]}, do: [dense: 4], next: {}}"), "3:51", ["`h`", "what is next"]),
    ("carry, other next", on_sequence("scan: {carry: {h: [4]}, do: [dense: 4], next: {g: prev}}"), "3:52", ["`g` is not carried"]),
    ("carry of 0", on_sequence("scan: {carry: {h: [0]}, do: [dense: 4], next: {h: prev}}"), "3:19", ["at least 1", "0"]),
    ("steps of what", on_features("scan: {carry: {h: [4]}, do: [dense: 4], next: {h: prev}}"), "3:5", ["first axis", "features 10"]),
]  # fmt: skip
NAMES = [
    ("49 unknown", on_image("{conv: [8, 3], name: enc1}", "concat: [prev, enc2]"), "4:20", ["`enc2`", "did you mean `enc1`?"]),
    ("not named", on_image("add: [prev, other]"), "3:17", ["nothing is named `other`", "`name: ...`"]),
    ("50 later", on_image("concat: [prev, late]", "{relu, name: late}"), "3:20", ["`late` yet", "spec.yaml:4:18"]),
    ("50 twice", on_image("{relu, name: x}", "{relu, name: x}"), "4:18", ["`x` is given twice", "first at spec.yaml:3:18"]),
    ("50 twice in let", on_sequence("let: {q: [relu]}", "let: {q: [relu]}"), "4:11", ["`q` is given twice", "spec.yaml:3:11"]),
    ("loop over", on_sequence("{repeat: 2, do: [{dense: 8, name: q}]}", "add: [prev, q]"), "4:17", ["`q`", "inside a loop", "write `q{i}`"]),
    ("skipped", on_sequence("{dense: 8, name: q, when: 1 > 2}", "add: [prev, q]"), "4:17", ["`q`", "skipped by `when`"]),
    ("skipped into", on_sequence("{split: 2, into: [a, b], when: 1 > 2}", "add: [prev, b]"), "4:17", ["`b`", "skipped by `when`"]),
    ("no prev", "inputs: {a: {features: 3}, b: {features: 4}}\nlayers:\n  - dense: 3\n", "3:5", ["nothing is `prev` yet", "`from: NAME`"]),
    ("no prev for cin", "inputs: {a: {features: 3}}\nlayers:\n  - dense: cin\n", "3:12", ["`cin`", "none here", "`from: NAME`"]),
    ("pop", on_sequence("pop: skips"), "3:10", ["the stack `skips` is empty", "`push: skips`"]),
    ("left", on_sequence("{relu, push: skips}"), "3:18", ["1 value left", "`skips`", "`pop`"]),
    ("training", on_sequence("{let: {aux: [relu]}, only: training}", "add: [prev, aux]"), "4:17", ["`aux` only exists in training"]),
    ("training outputs", on_sequence("{let: {aux: [relu]}, only: training}") + "outputs: [aux]\n", "4:11", ["every output"]),
    ("skipped outputs", on_sequence("{let: {aux: [relu]}, when: 1 > 2}") + "outputs: [aux]\n", "4:11", ["every output was skipped"]),
    ("only", on_sequence("{relu, only: test}"), "3:18", ["`only` must be `training`", "`test`"]),
    ("reserved", on_sequence("{relu, name: prev}"), "3:18", ["`prev` is reserved"]),
    ("brace", on_sequence('{relu, name: "c{i"}'), "3:18", ["brace", "`c{i`"]),
    ("brace's variable", on_sequence('{relu, name: "c{j}"}'), "3:21", ["unknown variable `j`"]),
    ("for without in", on_sequence("{for: x, dense: 8}"), "3:6", ["`for` and `in` go together"]),
    ("for twice", on_sequence("{for: [a, a], in: [[1, 2]], dense: a}"), "3:11", ["none twice"]),
    ("for a reserved name", on_sequence("{for: i, in: 3, dense: 8}"), "3:11", ["`i` is reserved"]),
    ("repeat", on_sequence("{repeat: 2.5, dense: 8}"), "3:14", ["repeat: 2.5 is not a whole number"]),
    ("repeat below 0", on_sequence("{repeat: 0 - 1, dense: 8}"), "3:14", ["at least 0", "-1"]),
    ("when", on_sequence("{when: 1, dense: 8}"), "3:12", ["true or false", "`1`"]),
    ("needs a value", on_sequence("b") + "blocks: {b: {inputs: [time], layers: [gate: time]}}\n", "3:5", ["`b` needs `time`"]),
    ("none value", on_sequence("b") + "blocks: {b: {inputs: {time: none}, layers: [gate: time]}}\n", "4:51", ["`time` is `none` here", "handed on"]),
    ("argument and input", on_sequence("b") + "blocks: {b: {args: {x: 1}, inputs: [x], layers: [relu]}}\n", "4:36", ["`x`"]),
    ("a block's body", on_sequence("b") + "blocks: {b: {layers: [dense: i]}}\n", "4:30", ["`i`", "inside them"]),
    ("a block's output", on_sequence("b") + "blocks: {b: {layers: [relu], outputs: [z]}}\n", "4:40", ["`z`", "in block `b`"]),
]  # fmt: skip
LIMITS = [
    ("35 repeat", on_image("{repeat: 1000000000, conv: [3, 3]}"), "3:14", ["1,000,000,000", "50,000 layers"]),
    ("35 for", on_image("{for: x, in: 1000000000, conv: [3, 3]}"), "3:18", ["1,000,000,000", "50,000 layers"]),
    ("36 nested", on_image("{repeat: 1000, do: [{repeat: 1000, conv: [3, 3]}]}"), "3:20", ["50,000 layers after expansion"]),
    ("36 unequal", on_image("{repeat: 1000, do: [{repeat: 1000, conv: [3 + i, 3]}]}"), "3:20", ["50,000 layers"]),
    ("37 empty", on_image("{repeat: 1000, do: [{repeat: 1000, do: [{repeat: 1000, do: []}]}]}"), "3:40", ["100,000 expansion steps"]),
    ("37 unequal", on_image("{repeat: 1000, do: [{repeat: 1000, do: [{repeat: i, do: []}]}]}"), "3:57", ["100,000 expansion steps"]),
    ("61 lists", "a: " + "[" * 10_000, "1:68", ["more than 64 levels"]),
    ("61 mappings", "a:" + " {a:" * 10_000, "1:256", ["more than 64 levels"]),
    ("61 expression", on_image(f"conv: {{out: '{'(' * 60}1{')' * 60}', kernel: 3}}"), "3:58", ["more than 40 expressions"]),
    ("61 blocks", on_sequence("b0") + "blocks:\n" + "".join(f"  b{k}: {{layers: [b{k + 1}]}}\n" for k in range(200))
        + "  b200: {layers: [relu]}\n", "5:3", ["more than 48 blocks", "b0 -> b1"]),
    ("61 a word's blocks", on_sequence("b0") + "blocks:\n" + "".join(
        f"  b{k}: {{layers: [{{dense: {{out: 8, activation: b{k + 1}}}}}]}}\n" for k in range(200)) + "  b200: {layers: [relu]}\n",
        "5:3", ["more than 48 blocks"]),
    ("61 a default's block", "defaults: {dense: {norm: b}}\nblocks: {b: {layers: [dense: 8]}}\n" + on_sequence("dense: 8"),
        "2:23", ["more than 48 blocks, loops and groups"]),
    ("61 loops", on_sequence("b") + "blocks:\n  b: {args: {n: 40}, layers: [{for: x, in: 1, repeat: 1, from: prev, name: y, c: {m: n}}]}\n"
        "  c: {args: {m: 0}, layers: [" + "{repeat: 1, for: x, in: 1, do: [" * 25 + "relu" + "]}" * 25 + "]}\n", "6:505", ["more than 48 blocks, loops"]),
    ("61 variables", with_vars(", ".join(f"a{k}: a{k + 1}" for k in range(40)) + ", a40: 1", "conv: [a0, 3]"), "1:12", ["more than 32 variables"]),
]  # fmt: skip

CASES = [*KINDS, *FILES, *VALUES, *SHAPES, *NAMES, *LIMITS]


@pytest.mark.parametrize(("text", "place", "fragments"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_mistake_is_named_where_it_stands(text, place, fragments):
    (error,) = refused(text)
    assert places([error]) == [place]
    for fragment in fragments:
        assert fragment in str(error)


TWO = [
    ("4 arguments", on_image("conv: {filters: 8, kernel_size: 3}"), ["3:12", "3:24"], ["`out`?", "`kernel`?"]),
    ("31 anchors", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", ["1:4", "2:4"], ["`vars:`", "`blocks:`"]),
    ("42", with_vars("d: 4", "conv: [4d, 3]", "conv: [d^2, 3]"), ["4:12", "5:13"], ["`4 * d`?", "`**`"]),
    ("53 rows", on_image("{for: [c, n], in: [16, 24], conv: [c, n]}"), ["3:24", "3:28"], ["1 value", "1 value"]),
    ("64", with_vars("cin: 1, x: 2, length: 3", "conv: [x, 3]"), ["1:8", "1:22"], ["`cin`", "`length`"]),
    ("kinds and values", on_image("cov: 3", "conv: [8, 3, 0]", "dense: wdth"), ["3:5", "4:18", "5:12"],
        ["`conv`?", "at least 1", "`wdth`"]),
    ("nested", on_image("residual: [cov: 3, {repeat: 2, do: [cnv: 3]}]"), ["3:16", "3:41"], ["`conv`?", "`conv`?"]),
    ("everywhere", "inptu: 3\nvars: {i: 1}\ninput: {features: 3}\ndefaults: {dense: {biass: true}}\n"
        "blocks: {b: {layers: [rlu]}}\nlayers: [cov: 3]\nexpect: {param: 3}\n",
        ["1:1", "2:8", "4:20", "5:23", "6:10", "7:10"], ["`input`?", "reserved", "`bias`?", "`relu`?", "`conv`?", "`params`?"]),
    ("variables", with_vars("a: b + 1, c: 4d, e: 2", "conv: [e, 3]"), ["1:11", "1:21"], ["`b`", "`4d`"]),
    ("variants", "vars: {width: 1}\nvariants: {a: {widht: 2}, b: 3}\n" + on_image("conv: [width, 3]"), ["2:16", "2:30"],
        ["`width`?", "a variant must be a mapping"]),
    ("only what is independent", FEATURES + "  - b: 3\n  - dense\nblocks: {b: {args: {x: z}, layers: [relu]}}\ndefaults: {dense: {out: q}}\n",
        ["5:24", "6:25"], ["`z`", "`q`"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "where", "fragments"), [case[1:] for case in TWO], ids=[case[0] for case in TWO])
def test_independent_mistakes_are_all_told_in_their_order(text, where, fragments):
    errors = refused(text)
    assert places(errors) == where
    for error, fragment in zip(errors, fragments, strict=True):
        assert fragment in str(error)


def test_at_most_twenty_are_shown():
    with pytest.raises(ManyErrors) as caught:
        loads(on_image(*["cov: 3"] * 30))
    lines = str(caught.value).splitlines()
    assert sum("unknown kind" in line for line in lines) == 20
    assert lines[-1] == "and 10 more"


@pytest.mark.parametrize(
    "text",
    [
        on_image(*[f"cov{k}: 3" for k in range(20_000)]),
        on_image("conv: {" + ", ".join(f"strde{k}: 3" for k in range(20_000)) + "}"),
        on_image("conv: {" + ", ".join(f"a{k}:3" for k in range(20_000)) + "}"),
        with_vars(", ".join(f"a{k}: b" for k in range(20_000)), "relu"),
        on_image("k" * 500_000 + ": 3"),
        on_image("{{" + " " * 500_000),
    ],
    ids=["kinds", "arguments", "colons", "variables", "a long word", "a long line"],
)
def test_many_mistakes_are_refused_soon(text):
    assert refused(text)


@pytest.mark.parametrize(
    "text",
    [
        on_image("conv: {out: '8', kernel: 3}"),
        on_image("conv: {out: 1e3, kernel: 3}"),
        on_image("conv: {out: 32.0, kernel: 3}"),
        "input: {image: {height: 3, width: 224, channels: 224}}\nlayers: [relu]\n",
        "input: {sequence: [3, 224]}\nlayers: [relu]\n",
        on_image("relu").replace("\n", "\r\n"),
        "\ufeff" + on_image("relu"),
    ],
    ids=["24 quoted", "28 1e3", "whole float", "9 named axes", "9 a sequence", "69 CRLF", "69 BOM"],
)
def test_what_is_accepted(text):
    assert loads(text).warnings == []


def test_items_without_a_kind_that_name_or_keep_a_value():
    """They are the identity: the value that arrives gets a name, goes on a stack, or is left for another."""
    items = "[{name: a}, {dense: 2}, {push: s}, {repeat: 2, push: s}, {when: cin > 2, name: _b}, {from: a, name: c}, {into: [d]}"
    joined = "concat: [a, c, d, [pop: s], [pop: s], [pop: s]]"
    assert count(loads(f"{{input: {{features: 4}}, layers: {items}, {joined}]}}")).rows[-1].output_shape.sizes == (18,)


def test_what_is_unused_is_a_warning():
    """Row 68, and the names of `let` and `into`; a name that starts with `_` may stay unused."""
    text = "vars: {a: 1, b: 2}\nblocks: {c: {layers: [relu]}}\n" + on_sequence(
        "let: {d: [relu], _e: prev}", "{split: 2, into: [f, g]}"
    )
    warnings = loads(text.replace("split: 2", "split: b"), file="spec.yaml").warnings
    assert warnings == [
        "spec.yaml:5:11: the name `d` is never used",
        "spec.yaml:6:23: the name `f` is never used",
        "spec.yaml:6:26: the name `g` is never used",
        "spec.yaml:1:8: the variable `a` is never used",
        "spec.yaml:2:10: the block `c` is never used",
    ]


VARIANTS = "name: Net\nvars: {width: 8}\nvariants: {small: {width: 4}, odd: {width: 2.5}, off: {width: 3 +}}\n"
VARIANTS += "input: {features: 3}\nlayers: [dense: width]\n"


@pytest.mark.parametrize(
    ("variant", "variables", "words"),
    [
        ("smal", {}, ["`Net` has no variant `smal`", "did you mean `small`?"]),
        ("x", {}, ["no variant `x`", "small, odd, off"]),
        (None, {"widht": 3}, ["no variable `widht`", "did you mean `width`?"]),
        (None, {"width": "4 +"}, ["width:1:3: ", "a value is missing"]),
        (None, {"width": "nope"}, ["width:1:1: ", "`nope`"]),
        (None, {"width": " "}, ["`width` is set to nothing", "`width=1`"]),
        (None, {"width": "[1, 2"}, ["width:1:1: ", "`[` is not closed"]),
        (None, {"width": "2.5"}, ["spec.yaml:5:17: ", "2.5 is not a whole number", "`width`"]),
        (None, {"width": -4}, ["spec.yaml:5:17: ", "at least 1, not -4"]),
        ("odd", {}, ["spec.yaml:5:17: ", "2.5 is not a whole number"]),
        ("off", {}, ["spec.yaml:3:65: ", "a value is missing after `+`"]),
    ],
)
def test_mistakes_in_variants_and_settings(variant, variables, words):
    (error,) = refused(VARIANTS, variant, **variables)
    for word in words:
        assert word in str(error)


def test_a_spec_without_variants_says_so():
    (error,) = refused("input: {features: 3}\nlayers: [relu]\n", "small")
    assert "the spec has no variants" in error.hint


def test_frames_lead_from_a_block_to_its_use():
    """Each block on the way is named with its place, innermost first, four at most."""
    blocks = "".join(f"  b{k}: {{args: {{c: 4}}, layers: [b{k + 1}: c]}}\n" for k in range(6))
    text = (
        on_image("{repeat: 2, do: [b0: 8]}")
        + "blocks:\n"
        + blocks
        + "  b6:\n    args: {c: 4}\n    layers:\n      - dense: c\n"
    )
    (error,) = refused(text)
    assert str(error).splitlines() == [
        "spec.yaml:14:9: `dense` needs features or a sequence, and got image 32×32×3",
        "hint: add `global_pool` or `flatten` before it, or use `pointwise`",
        "in block `b6`, used at spec.yaml:10:31",
        "in block `b5`, used at spec.yaml:9:31",
        "in block `b4`, used at spec.yaml:8:31",
        "in block `b3`, used at spec.yaml:7:31",
    ]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("bottleneck: {out: 24, expand: 0.5}", ["blocks/bottleneck.yaml:", "1.5 is not a whole number", "is 3 * 0.5"]),
        ("bottleneck: {out: 24, stride: 0}", ["blocks/bottleneck.yaml:", "stride must be at least 1, not 0"]),
        ("bottleneck: {out: 24, norm: 3}", ["blocks/bottleneck.yaml:", "unknown norm `3`"]),
    ],
)
def test_mistakes_inside_shipped_blocks_lead_to_their_use(item, words):
    (error,) = refused(on_image(item))
    assert error.position.file == "blocks/bottleneck.yaml"
    assert str(error).endswith("in block `bottleneck`, used at spec.yaml:3:5")
    for word in words:
        assert word in str(error)


@pytest.mark.parametrize(
    ("width", "item", "words"),
    [
        (100, "attention: 12", ["`cin / heads`: 100 / 12", "hint: give `head_dim`"]),
        (1, "attention: 49", ["`cin / heads`: 1 / 49", "hint: give `head_dim`"]),
        (96, "attention: {heads: 12, kv_heads: 5}", ["12 heads", "5 of the key", "must divide"]),
    ],
)
def test_heads_that_do_not_divide(width, item, words):
    """Rows 21 and 63."""
    (error,) = refused(f"input: {{sequence: [6, {width}]}}\nlayers:\n  - {item}\n")
    assert error.position.file == "blocks/attention.yaml"
    assert str(error).endswith("in block `attention`, used at spec.yaml:3:5")
    for word in words:
        assert word in str(error)


def test_a_mistake_in_the_last_pass_of_a_loop():
    (error,) = refused(with_vars("n: 4", '{repeat: 5, conv: {out: "8 // (n - i)", kernel: 3}}'))
    assert places([error]) == ["4:32"]
    assert "division by zero" in str(error)


def test_a_mistake_in_defaults_points_there():
    (error,) = refused("defaults: {dense: {out: cin / 4}}\n" + on_features("dense"))
    assert places([error]) == ["1:25"]
    assert "(`cin / 4` is 10 / 4)" in str(error)


def test_includes(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "good.yaml").write_text("blocks: {good: {args: {n: 3}, layers: [dense: n / 2]}}\n")
    (tmp_path / "parts" / "bad.yaml").write_text("vars: {a: 1}\nblocks: {bad: {layers: [rlu]}}\n")
    (tmp_path / "first.yaml").write_text("include: second.yaml\nblocks: {a: {layers: [relu]}}\n")
    (tmp_path / "second.yaml").write_text("include: first.yaml\nblocks: {b: {layers: [relu]}}\n")
    (tmp_path / "plain.yaml").write_text("input: {features: 3}\n")
    for k in range(40):
        (tmp_path / f"chain{k}.yaml").write_text(f"include: chain{k + 1}.yaml\nblocks: {{c{k}: {{layers: [relu]}}}}\n")
    spec = tmp_path / "spec.yaml"

    def include(what: str, items: str = "relu") -> list[ParamcountError]:
        spec.write_text(f"input: {{features: 3}}\ninclude: {what}\nlayers: [{items}]\n")
        with pytest.raises(ParamcountError) as caught:
            load(str(spec))
        return parts(caught.value)

    missing, outside, absolute = include(f"[nothere.yaml, ../other.yaml, {tmp_path}/parts/good.yaml]")
    assert "there is no file `nothere.yaml`" in str(missing)
    assert "`../other.yaml` is outside the spec's folder" in str(outside)
    assert "outside the spec's folder" in str(absolute)
    assert places([missing, outside, absolute]) == ["2:11", "2:25", "2:40"]
    (circle,) = include("first.yaml")
    assert "first.yaml -> second.yaml -> first.yaml" in str(circle)
    assert Path(circle.position.file).name == "second.yaml"
    no_vars, typo = include("parts/bad.yaml")
    assert "its blocks see no variables" in str(no_vars)
    assert "did you mean `relu`?" in str(typo)
    assert Path(typo.position.file).parts[-2:] == ("parts", "bad.yaml")
    plain = include("plain.yaml")
    assert "`input` has no meaning in an included file" in str(plain[0])
    (chain,) = include("chain0.yaml")
    assert "more than 32 files" in str(chain)
    (inside,) = include("parts/good.yaml", "good")
    assert "1.5 is not a whole number (`n / 2` is 3 / 2)" in str(inside)
    assert Path(inside.position.file).parts[-2:] == ("parts", "good.yaml")
    assert [name for name, _ in inside.frames] == ["good"]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("net.safetensors", b"\0\0", ["a safetensors checkpoint", "`input:` and `layers:`"]),
        ("net.onnx", b"\x08", ["an ONNX model", "`input:` and `layers:`"]),
        ("net.yaml", IMAGE.encode() + b"  - relu # \xe9\n", [":3:12: ", "0xE9", "UTF-8"]),
        ("net.yaml", IMAGE.encode("utf-16"), ["UTF-16", "UTF-8"]),
    ],
)
def test_files_that_are_no_specs(tmp_path, name, data, words):
    """Rows 62 and 66."""
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ParamcountError) as caught:
        load(str(path))
    assert caught.value.exit_code == 2
    for word in words:
        assert word in str(caught.value)


def test_a_directory_and_a_missing_spec(tmp_path):
    """Row 66."""
    (tmp_path / "mynet.yaml").write_text(IMAGE + "  - relu\n")
    with pytest.raises(ParamcountError, match="is a directory") as caught:
        load(str(tmp_path) + "/")
    assert "`mynet.yaml`" in caught.value.hint
    with pytest.raises(ParamcountError, match="there is no spec `mobilenet_v3x`"):
        load("mobilenet_v3x")
    with pytest.raises(ParamcountError) as caught:
        load("mobilenet_v22")
    assert "did you mean `mobilenet_v2`?" in caught.value.hint


@pytest.mark.parametrize("name", ["x" * 10_000, "a\\e[31mb", "a\\nb", "a\\0b"])
def test_odd_names_are_escaped_and_shortened(name):
    """Row 71: as kind, variable, name, variant and block."""
    texts = [
        on_image(f'"{name}"'),
        on_image(f'add: [prev, "{name}"]'),
        on_image(f'{{relu, name: "{name}"}}', f'{{relu, name: "{name}"}}'),
        on_image(f'{{relu, push: "{name}"}}'),
        f'inputs: {{x: {{"{name}": [1]}}}}\nlayers: [relu]\n',
        f'"{name}": 3\n' + on_image("relu"),
        with_vars(f'"{name}": 3', "dense: q"),
        on_image(f'conv: {{out: "{name}", kernel: 3}}'),
        on_image(f'conv: {{"{name}": 3, kernel: 3, out: 3}}'),
    ]
    for text in texts:
        for error in refused(text):
            assert str(error).replace("\n", "").isprintable()
            assert len(str(error)) < 1_000
    (error,) = refused(on_image("relu"), name.replace("\\e", "\x1b").replace("\\n", "\n").replace("\\0", "\0"))
    assert str(error).replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (FEATURES + "  - dense: 10\nlayer_count: 3\n", "unknown key `layer_count`"),
        ("input: {picture: [32, 32, 3]}\nlayers: [relu]\n", "unknown layout `picture`"),
        ("input: {features: {width: 3}}\nlayers: [relu]\n", "unknown axis of features `width`"),
        (FEATURES + "  - dense: 10\nexpect: {parms: 3}\n", "unknown figure `parms`"),
        (FEATURES + "  - dense: 10\nexpect: {variants: {big: {params: 3}}}\n", "unknown variant `big`"),
        ("blocks: {b: {arguments: {}, layers: [relu]}}\n" + FEATURES + "  - b\n", "unknown key of the block `b`: `arg"),
        (on_image("conv: {out: 8, kernel: 3, padding: smae}"), "unknown padding `smae`"),
    ],
)
def test_a_word_that_has_no_meaning_in_a_spec_is_an_error_of_the_spec(text, words):
    (error,) = refused(text)
    assert isinstance(error, SpecError) and error.message.startswith(words)


@pytest.mark.parametrize(
    ("defaults", "place"),
    [
        ("{relu: {activation: relu}}", "1:31"),
        ("{relu: {norm: layer_norm}, layer_norm: {activation: relu}}", "1:25"),
        ("{relu: {activation: word}}", "1:31"),
    ],
)
def test_defaults_that_lead_back_to_their_kind(defaults, place):
    text = f"defaults: {defaults}\n" + on_features("relu") + "vars: {word: relu}\n"
    (error,) = [each for each in refused(text) if "used" not in each.message]
    assert "followed by itself" in error.message or "inside each other" in error.message
    assert places([error]) == [place]


def test_a_file_to_include_has_a_name_that_files_can_have():
    (error,) = refused('include: ["a\\0b.yaml"]\n' + on_features("relu"))
    assert "cannot be a file's name" in error.message and places([error]) == ["1:11"]
