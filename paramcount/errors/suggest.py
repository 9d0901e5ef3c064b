"""Did you mean: what a framework's name is called here, and the nearest of some words."""

import re
from collections.abc import Iterable
from typing import Any

from paramcount.errors import ArgumentError, quote

LONGEST = 64  # longer words are not slips of the keyboard

# Framework name (as `plain` leaves it) -> kind; names that differ in case and underscores only need no entry.
KINDS = {
    "convolution": "conv",
    "fc": "dense",
    "linear": "dense",
    "fullyconnected": "dense",
    "innerproduct": "dense",
    "affine": "dense",
    "mlp": "ffn",
    "feedforward": "ffn",
    "mlpblock": "ffn",
    "depthwiseconv": "depthwise",
    "dwconv": "depthwise",
    "pointwiseconv": "pointwise",
    "convpointwise": "pointwise",
    "conv1x1": "pointwise",
    "conv3x3": "conv",
    "separableconv": "separable",
    "transposedconv": "conv_transpose",
    "transposeconv": "conv_transpose",
    "deconv": "conv_transpose",
    "deconvolution": "conv_transpose",
    "embed": "embedding",
    "embeddingbag": "embedding",
    "lstmcell": "lstm",
    "grucell": "gru",
    "rnncell": "rnn",
    "bn": "batch_norm",
    "batchnormalization": "batch_norm",
    "syncbatchnorm": "batch_norm",
    "ln": "layer_norm",
    "layernormalization": "layer_norm",
    "gn": "group_norm",
    "groupnormalization": "group_norm",
    "instancenormalization": "instance_norm",
    "rmsnormalization": "rms_norm",
    "lrn": "local_response_norm",
    "normalize": "l2_norm",
    "unitnormalization": "l2_norm",
    "maxpooling": "max_pool",
    "averagepool": "avg_pool",
    "averagepooling": "avg_pool",
    "avgpooling": "avg_pool",
    "globalaveragepooling": "global_pool",
    "globalaveragepool": "global_pool",
    "globalavgpooling": "global_pool",
    "globalavgpool": "global_pool",
    "gap": "global_pool",
    "adaptiveaveragepooling": "adaptive_avg_pool",
    "adaptiveavgpooling": "adaptive_avg_pool",
    "adaptivemaxpooling": "adaptive_max_pool",
    "swish": "silu",
    "hardswish": "hard_swish",
    "hswish": "hard_swish",
    "hsigmoid": "hard_sigmoid",
    "lrelu": "leaky_relu",
    "geluapproximate": "gelu_tanh",
    "alphadropout": "dropout",
    "spatialdropout": "dropout",
    "droppath": "stochastic_depth",
    "permute": "transpose",
    "view": "reshape",
    "multiheadattention": "attention",
    "selfattention": "attention",
    "mha": "attention",
    "scaleddotproductattention": "attend",
    "simplernn": "rnn",
    "upsampling": "upsample",
    "interpolate": "upsample",
    "resize": "upsample",
    "zeropad": "pad",
    "zeropadding": "pad",
    "constantpad": "pad",
    "cropping": "crop",
    "depthtospace": "pixel_shuffle",
    "cat": "concat",
    "concatenate": "concat",
    "mul": "multiply",
    "sub": "subtract",
    "sum": "add",
    "sequential": "do",
    "modulelist": "do",
    "skip": "residual",
    "shortcut": "residual",
    "se": "squeeze_excite",
    "seblock": "squeeze_excite",
    "squeezeexcitation": "squeeze_excite",
    "invertedresidual": "bottleneck",
    "mbconv": "bottleneck",
}

# Framework name -> arguments here, the first that the layer has.
ARGUMENTS = {
    "filters": ("out",),
    "numfilters": ("out",),
    "features": ("out",),
    "channels": ("out",),
    "units": ("out", "hidden"),
    "outchannels": ("out",),
    "outfeatures": ("out",),
    "outplanes": ("out",),
    "outputdim": ("out",),
    "outputsize": ("size", "out"),
    "embeddingdim": ("out",),
    "width": ("out",),
    "hiddensize": ("hidden", "out"),
    "hiddendim": ("hidden", "out"),
    "hiddenfeatures": ("hidden", "out"),
    "intermediatesize": ("hidden",),
    "mlpdim": ("hidden",),
    "dff": ("hidden",),
    "kernelsize": ("kernel",),
    "kernelshape": ("kernel",),
    "ksize": ("kernel",),
    "poolsize": ("kernel",),
    "windowshape": ("kernel",),
    "strides": ("stride",),
    "pads": ("padding",),
    "pad": ("padding",),
    "dilationrate": ("dilation",),
    "dilations": ("dilation",),
    "kerneldilation": ("dilation",),
    "rate": ("dilation",),
    "usebias": ("bias",),
    "withbias": ("bias",),
    "numgroups": ("groups",),
    "featuregroupcount": ("groups",),
    "depthmultiplier": ("multiplier",),
    "channelmultiplier": ("multiplier",),
    "numheads": ("heads",),
    "nheads": ("heads",),
    "nhead": ("heads",),
    "numkvheads": ("kv_heads",),
    "nkvheads": ("kv_heads",),
    "numkeyvalueheads": ("kv_heads",),
    "keydim": ("head_dim",),
    "numembeddings": ("vocab",),
    "vocabsize": ("vocab",),
    "numlayers": ("layers",),
    "nlayers": ("layers",),
    "projsize": ("projection",),
    "p": ("rate",),
    "prob": ("rate",),
    "droprate": ("rate",),
    "epsilon": ("eps",),
    "elementwiseaffine": ("affine",),
    "act": ("activation",),
    "activationlayer": ("activation",),
    "nonlinearity": ("function", "activation"),
    "normlayer": ("norm",),
    "normalization": ("norm",),
    "expandratio": ("expand",),
    "expansion": ("expand",),
    "ceilmode": ("ceil",),
    "countincludepad": ("count_pad",),
    "scalefactor": ("factor",),
    "mode": ("method",),
    "interpolation": ("method",),
    "dim": ("axis", "out"),
    "axes": ("axis",),
    "iscausal": ("causal",),
    "numexperts": ("experts",),
    "topk": ("top_k",),
}

FROM_ABOVE = {
    "inchannels",
    "infeatures",
    "inplanes",
    "inputshape",
    "inputdim",
    "inputsize",
    "numfeatures",
    "normalizedshape",
    "embeddim",
    "dmodel",
    "cin",
}


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The one of `words` that `word` most likely stands for, or None if none is near.

    Case, `-` and `_` do not matter. Short words may have one slip, longer ones up to a third of their letters.

    >>> nearest("widht", ["depth", "width"])
    'width'
    """
    first = bare(word)
    if not first or len(first) > LONGEST:
        return None
    slips = max(1, len(first) // 3)
    found: list[tuple[int, bool, int, str]] = []
    for order, each in enumerate(words):
        second = bare(each)
        if abs(len(first) - len(second)) <= slips:
            distance = edits(first, second)
            if distance <= slips and distance < max(len(first), len(second), 1):
                found.append((distance, first[:1] != second[:1], order, each))
    return min(found)[3] if found else None


def did_you_mean(guess: str | None, otherwise: str) -> str:
    """The hint for what was guessed, or another one where nothing was.

    >>> did_you_mean(nearest("widht", ["depth", "width"]), "one of depth, width")
    'did you mean `width`?'
    """
    return f"did you mean `{guess}`?" if guess else otherwise


def one_of(word: object, words: Iterable[str], otherwise: str = "") -> str:
    """The hint for a word that is not one of `words`: the nearest of them, or else all.

    >>> one_of("widht", ["depth", "width"]), one_of("x", ["depth", "width"])
    ('did you mean `width`?', 'one of depth, width')
    """
    words = list(words)
    return did_you_mean(nearest(str(word), words), otherwise or "one of " + ", ".join(words))


def unknown(what: str, word: object, words: Iterable[str], otherwise: str = "", **details: Any) -> ArgumentError:
    """The error for a word that is not one of `words`; `otherwise` is the hint where none of them is near.

    >>> str(unknown("layout", "imagee", ["image", "tokens"]))
    'unknown layout `imagee`\\nhint: did you mean `image`?'
    """
    return ArgumentError(f"unknown {what} {quote(word)}", hint=one_of(word, words, otherwise), **details)


def kind_for(word: str, kinds: Iterable[str]) -> str | None:
    """The kind that a framework's name or a slip stands for, or None; only names in `kinds` are suggested.

    >>> kind_for("nn.Conv2d", ["conv", "dense"])
    'conv'
    """
    known = {bare(kind): kind for kind in kinds}
    name = plain(word)
    if name in known:
        return known[name]
    guess = KINDS.get(name)
    return guess if guess in known.values() else nearest(word, known.values())


def argument_hint(word: str, arguments: Iterable[str]) -> str | None:
    """What to do about an argument that a layer does not have, or None; only names in `arguments` are suggested.

    >>> argument_hint("kernel_size", ["out", "kernel"])
    'did you mean `kernel`?'
    """
    known = {bare(argument): argument for argument in arguments}
    name = bare(word)
    guess = known.get(name)
    if guess is None and name in FROM_ABOVE:
        return "input channels come from the layer above; remove it"
    if guess is None:
        guess = next((each for each in ARGUMENTS.get(name, ()) if each in known.values()), None)
    guess = guess or nearest(word, known.values())
    return f"did you mean `{guess}`?" if guess else None


def plain(word: str) -> str:
    """A framework's name without its module, its 1d, 2d or 3d, and its way of writing."""
    return re.sub(r"(?<=[a-z])[123]d(?=$|transpose)", "", bare(word.rsplit(".", 1)[-1]))


def bare(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")


def edits(first: str, second: str) -> int:
    """How many letters to insert, drop, replace or exchange with their neighbour to get from one to the other."""
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first):
        older, before, row = before, row, [i + 1]
        for j, b in enumerate(second):
            best = min(before[j] + (a != b), before[j + 1] + 1, row[j] + 1)
            if i and j and a == second[j - 1] and b == first[i - 1]:
                best = min(best, older[j - 1] + 1)
            row.append(best)
    return row[-1]
