"""Single layers count as PyTorch's do: the layer cases of the reference counts, each written as our layers."""

import json
import re
from typing import Any

import pytest

from paramcount.cost.count import count
from paramcount.graph.items import From
from paramcount.graph.modifiers import With
from paramcount.graph.network import Network
from paramcount.layers import find
from paramcount.layers.activation import Sigmoid
from paramcount.layers.adaptive_pool import AdaptiveAvgPool, AdaptiveMaxPool
from paramcount.layers.batch_norm import BatchNorm
from paramcount.layers.conv import Conv
from paramcount.layers.conv_transpose import ConvTranspose
from paramcount.layers.dense import Dense
from paramcount.layers.depthwise import Depthwise
from paramcount.layers.embedding import Embedding
from paramcount.layers.global_pool import GlobalPool
from paramcount.layers.layer import Layer, Shape
from paramcount.layers.merge import Multiply
from paramcount.layers.norm import GroupNorm, InstanceNorm, LayerNorm, RmsNorm
from paramcount.layers.pool import AvgPool, MaxPool
from paramcount.layers.prelu import Prelu
from paramcount.layers.rearrange import Rearrange
from paramcount.layers.recurrent import Gru, Lstm, Rnn
from paramcount.layers.regularize import Dropout
from paramcount.layers.reshape import Reshape
from paramcount.layers.resize import PixelShuffle, Upsample
from paramcount.layers.response_norm import LocalResponseNorm
from paramcount.layers.slicing import Pad, Split

ACTIVATIONS = {
    "ReLU": "relu",
    "ReLU6": "relu6",
    "GELU": "gelu",
    "SiLU": "silu",
    "Mish": "mish",
    "Hardswish": "hard_swish",
    "Hardsigmoid": "hard_sigmoid",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "ELU": "elu",
    "Softplus": "softplus",
    "LeakyReLU": "leaky_relu",
    "Identity": "identity",
    "Softmax": "softmax",
}
LATER = "a kind that comes later"
SKIPPED = {
    "Bilinear": "its MACs are ambiguous",
    "LPPool2d": "there is no such pool",
    "Unfold": "windows as a value of their own: no such kind",
    "Fold": "windows as a value of their own: no such kind",
    "MultiheadAttention": LATER,
    **dict.fromkeys(("TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer"), LATER),
}
TRACKED = "track_running_stats"


def each(value):
    """A list as a tuple, pairs within it too."""
    return tuple(map(each, value)) if isinstance(value, list) else value


def window(k, **renamed) -> dict[str, Any]:
    """The arguments that windows have in common. A padding mode other than zeros has the same counts."""
    names = {"kernel_size": "kernel", "stride": "stride", "padding": "padding", "dilation": "dilation"} | renamed
    return {"padding": "valid"} | {ours: each(k[theirs]) for theirs, ours in names.items() if theirs in k}


def convolutions(k):
    more = {"out": k["out_channels"], "groups": k.get("groups", 1), "bias": k.get("bias", True)}
    found: list[list[Layer]] = [[Conv(**window(k), **more)]]
    if more["groups"] == k["in_channels"] > 1:
        multiplier = k["out_channels"] // k["in_channels"]
        found.append([Depthwise(**window(k), multiplier=multiplier, bias=more["bias"])])
    return found


def transposed(k):
    more = {"out": k["out_channels"], "groups": k.get("groups", 1), "bias": k.get("bias", True)}
    return [[ConvTranspose(**window(k, output_padding="output_padding"), **more)]]


def pads(k, axes):
    """PyTorch writes the last axis first, before and after; one number is for all."""
    sides = k["padding"] if isinstance(k["padding"], list) else [k["padding"]] * 2 * axes
    pairs = [(sides[2 * axis], sides[2 * axis + 1]) for axis in range(axes)]
    return [[Pad((*reversed(pairs), (0, 0)))]]


def flattened(k, rank):
    """The batch is an axis like the others here, because PyTorch may flatten it too."""
    names = [f"a{axis}" for axis in range(rank)]
    start, end = k.get("start_dim", 1), k.get("end_dim", -1) % rank
    after = [*names[:start], f"({' '.join(names[start : end + 1])})", *names[end + 1 :]]
    return [[Rearrange(f"{' '.join(names)} -> {' '.join(after)}")]]


def recurrent(layer, k):
    """A cell is a layer on features. PyTorch has two bias vectors or none."""
    renamed = {"num_layers": "layers", "bidirectional": "bidirectional", "proj_size": "projection"}
    options = {ours: k[theirs] for theirs, ours in renamed.items() if theirs in k}
    if "nonlinearity" in k:
        options["function"] = k["nonlinearity"]
    return [[layer(k["hidden_size"], biases=2 if k.get("bias", True) else 0, **options)]]


def ours(case):
    """The ways to write a case in our layers: lists of items."""
    k, rank = case["kwargs"], len(case["input"][0])
    kind, axes = re.sub("[123]d$", "", case["type"]), rank - 2
    if case["type"] in ACTIVATIONS:
        layer = find(ACTIVATIONS[case["type"]])
        assert layer is not None
        return [[layer()]]
    pooled = window(k, ceil_mode="ceil")
    match kind:
        case "Conv":
            return convolutions(k)
        case "ConvTranspose":
            return transposed(k)
        case "Linear":
            return [[Dense(k["out_features"], bias=k.get("bias", True))]]
        case "Embedding":
            return [[Embedding(k["num_embeddings"], k["embedding_dim"])]]
        case "EmbeddingBag":
            return [[Embedding(k["num_embeddings"], k["embedding_dim"]), GlobalPool()]]
        case "LSTM" | "LSTMCell":
            return recurrent(Lstm, k)
        case "GRU" | "GRUCell":
            return recurrent(Gru, k)
        case "RNN" | "RNNCell":
            return recurrent(Rnn, k)
        case "BatchNorm":
            return [[BatchNorm(affine=k.get("affine", True))]]
        case "InstanceNorm":
            return [[InstanceNorm(affine=k.get("affine", False))]]
        case "LayerNorm":
            return [[LayerNorm(affine=k.get("elementwise_affine", True), bias=k.get("bias", True))]]
        case "RMSNorm":
            return [[RmsNorm(affine=k.get("elementwise_affine", True))]]
        case "GroupNorm":
            return [[GroupNorm(k["num_groups"])]]
        case "LocalResponseNorm":
            return [[LocalResponseNorm(k["size"])]]
        case "PReLU":
            return [[Prelu()]]
        case "Dropout":
            return [[Dropout(k["p"])]]
        case "GLU":
            return [[With(Split(2), into=["value", "gate"]), Multiply(["value", [From("gate"), Sigmoid()]])]]
        case "MaxPool":
            return [[MaxPool(**pooled)]]
        case "AvgPool":
            return [[AvgPool(**pooled)]]
        case "AdaptiveAvgPool":
            return [[AdaptiveAvgPool(each(k["output_size"]))]]
        case "AdaptiveMaxPool":
            return [[AdaptiveMaxPool(each(k["output_size"]))]]
        case "Flatten":
            return flattened(k, rank)
        case "Unflatten":
            sizes = case["input"][0]
            return [[Reshape((*sizes[: k["dim"]], *k["unflattened_size"], *sizes[k["dim"] + 1 :]))]]
        case "Upsample":
            if "size" in k:
                return [[Upsample(size=each(k["size"]), method=k["mode"], align_corners=k["align_corners"])]]
            return [[Upsample(k["scale_factor"], k["mode"])]]
        case "PixelShuffle":
            return [[PixelShuffle(k["upscale_factor"])]]
        case "PixelUnshuffle":
            factor = k["downscale_factor"]
            return [[Rearrange("(h p) (w q) c -> h w (c p q)", {"p": factor, "q": factor})]]
        case "ZeroPad" | "ReflectionPad" | "ConstantPad":
            return pads(k, axes)
        case "ChannelShuffle":
            return [[Rearrange("h w (g c) -> h w (c g)", {"g": k["groups"]})]]
    pytest.fail(f"no layer of ours stands for {case['type']}, and nothing says why")


LAST_AXIS = {"Linear", "LayerNorm", "RMSNorm", "Softmax", "GLU", "Dropout", "EmbeddingBag"}  # channels last already
WHOLE = {"Flatten", "Unflatten"}  # the batch is part of the example
SEQUENCES, CELLS = {"LSTM", "GRU", "RNN"}, {"LSTMCell", "GRUCell", "RNNCell"}
UNBATCHED = {"Linear": 1, "Embedding": 1, "Conv2d": 3, **dict.fromkeys(SEQUENCES, 2)}  # this rank has no batch


def example(case, sizes):
    """The batch, and one example's sizes with the channels last."""
    kind = case["type"]
    if isinstance(sizes[0], list):  # several results, of which the first goes on
        sizes = sizes[0]
    if kind in SEQUENCES and len(sizes) == 3 and not case["kwargs"].get("batch_first"):
        steps, batch, width = sizes
        return batch, (steps, width)
    if kind in WHOLE:
        return 1, tuple(sizes)
    batch = 1 if len(case["input"][0]) == UNBATCHED.get(kind) else sizes[0]
    sizes = sizes if len(case["input"][0]) == UNBATCHED.get(kind) else sizes[1:]
    if kind in LAST_AXIS | SEQUENCES | CELLS or kind == "Embedding":
        return batch, tuple(sizes)
    return batch, (*sizes[1:], sizes[0])


def test_layers_count_as_in_pytorch(shared):
    cases = json.loads((shared / "truth" / "layers.json").read_text())
    compared = 0
    for case in cases:
        if case["type"] in SKIPPED:
            continue
        batch, sizes = example(case, case["input"][0])
        layout = "tokens" if case["type"].startswith("Embedding") else "plain"
        shape = Shape(sizes, layout) if layout == "tokens" or case["type"] == "Linear" else Shape.of(*sizes)
        for items in ours(case):
            network = Network(items, input=shape)
            report = count(network, batch=batch)
            found = (report.params, report.macs, network.graph().outputs["output"].shape.sizes)
            assert found == (case["params"], case["macs"], example(case, case["output"])[1]), case
            if case["kwargs"].get(TRACKED, True) and case["buffers"]:
                assert report.buffers == case["buffers"] - 1, case  # PyTorch's counter of steps is one more
            compared += 1
    assert compared >= 100


def test_every_reason_to_skip_is_in_use(shared):
    types = {case["type"] for case in json.loads((shared / "truth" / "layers.json").read_text())}
    assert set(SKIPPED) <= types
