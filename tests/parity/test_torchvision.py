"""The shipped specs compute what torchvision's models compute: the same weights give the same outputs.

Run by hand, in an environment of its own, which is large:

    pip install torch==2.14.1 torchvision==0.29.1 -e .[test]
    python -m pytest tests/parity -s

Every model gets random weights, and batch norms the statistics of random pictures, which are then disturbed. Both
sides compute in float64; ours in float32 where XLA's depthwise convolutions of many channels take too long. An error
is relative to how much the outputs differ from one picture to another, so that nothing hides behind biases.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")
models = pytest.importorskip("torchvision", reason="torchvision is not installed").models

import jax  # noqa: E402

from paramcount.backend.run.evaluate import evaluate  # noqa: E402
from paramcount.backend.run.initialize import tensors  # noqa: E402
from paramcount.language.load import load  # noqa: E402

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
TOLERANCE = 1e-4
FAST_COMPILE = {"xla_backend_optimization_level": 0}

Arrays = dict[str, np.ndarray]  # the tensors of one of our layers, by their names
Found = Iterator[tuple[str, Arrays]]  # by the name of torchvision's module


class Case(NamedTuple):
    """A spec with variables, torchvision's builder with its options, and the picture's size."""

    spec: str
    builder: str
    size: int
    options: dict[str, Any] = {}  # noqa: RUF012
    variables: dict[str, Any] = {}  # noqa: RUF012
    heads: tuple[str, ...] = ()  # the outputs with those of training, in torchvision's order
    dtype: str = "float64"


SEGMENTATION = {"weights_backbone": None, "aux_loss": True}

# Sizes: as small as the architecture allows. AlexNet, VGG, SqueezeNet and ResNet have a fixed input in their specs.
CASES = [
    Case("alexnet", "alexnet", 224),
    Case("vgg:11_bn", "vgg11_bn", 224),
    Case("resnet:18", "resnet18", 224),
    Case("resnet:50", "resnet50", 224),
    Case("resnet:resnext50_32x4d", "resnext50_32x4d", 224),
    Case("squeezenet:1.0", "squeezenet1_0", 224),
    Case("squeezenet:1.1", "squeezenet1_1", 224),
    # 65 is odd at every stride, where `same` and torchvision's padding are the same.
    Case("mobilenet_v2", "mobilenet_v2", 65, variables={"resolution": 65}),
    Case("vit:b_32", "vit_b_32", 64, {"image_size": 64}, {"resolution": 64}),
    Case("densenet:121", "densenet121", 224),
    Case("googlenet:plain", "googlenet", 224, {"aux_logits": False, "init_weights": False}),
    Case(
        "googlenet:aux", "googlenet", 224, {"aux_logits": True, "init_weights": False}, heads=("logits", "aux2", "aux1")
    ),
    Case("inception_v3:plain", "inception_v3", 299, {"aux_logits": False, "init_weights": False}),
    Case("inception_v3:aux", "inception_v3", 299, {"aux_logits": True, "init_weights": False}, heads=("logits", "aux")),
    Case("mobilenet_v3:small", "mobilenet_v3_small", 64, {}, {"resolution": 64}),
    Case("mobilenet_v3:large", "mobilenet_v3_large", 64, {}, {"resolution": 64}),
    Case("mnasnet:x0.5", "mnasnet0_5", 224),
    Case("efficientnet:b0", "efficientnet_b0", 64, {}, {"resolution": 64}),
    Case("efficientnet_v2:s", "efficientnet_v2_s", 64, {}, {"resolution": 64}),
    Case("swin:t", "swin_t", 224),
    Case("swin_v2:t", "swin_v2_t", 256),
    Case("maxvit:t", "maxvit_t", 224, dtype="float32"),
    Case("shufflenet_v2:x0.5", "shufflenet_v2_x0_5", 224),
    Case("regnet_x:400mf", "regnet_x_400mf", 224),
    Case("regnet_y:400mf", "regnet_y_400mf", 224),
    Case("convnext:tiny", "convnext_tiny", 224),
    Case("fcn:resnet50", "fcn_resnet50", 64, SEGMENTATION, {"resolution": 64}),
    Case("deeplab_v3:resnet50", "deeplabv3_resnet50", 64, SEGMENTATION, {"resolution": 64}),
    # Its features are 37 × 37, so that the widest dilation, 36, reaches other pixels.
    Case(
        "deeplab_v3:mobilenet_v3_large",
        "deeplabv3_mobilenet_v3_large",
        592,
        SEGMENTATION,
        {"resolution": 592},
        dtype="float32",
    ),
    Case("lraspp", "lraspp_mobilenet_v3_large", 64, {"weights_backbone": None}, {"resolution": 64}),
]

FLATTENED = {  # channels come first where torchvision flattens a picture
    ("alexnet", "classifier.1"): (256, 6, 6),
    ("vgg11_bn", "classifier.0"): (512, 7, 7),
    ("googlenet", "aux1.fc1"): (128, 4, 4),
    ("googlenet", "aux2.fc1"): (128, 4, 4),
}


# torchvision's modules as our layers, in our order


def kernel(module: Any, name: str) -> Found:
    """A convolution [out, in, ...] as [..., in, out]; a linear layer likewise."""
    weight = module.weight.permute(*range(2, module.weight.dim()), 1, 0)
    yield name, arrays(weight=weight, bias=module.bias)


def batch_norm(module: Any, name: str) -> Found:
    yield name, arrays(scale=module.weight, bias=module.bias, mean=module.running_mean, var=module.running_var)


def layer_norm(module: Any, name: str) -> Found:
    yield name, arrays(scale=module.weight, bias=module.bias)


def thirds(weight: Any, bias: Any, name: str) -> Found:
    """A joint projection [3 out, in] as those of query, key and value."""
    for which, matrix, vector in zip("qkv", weight.chunk(3), bias.chunk(3), strict=True):
        yield f"{name}.{which}", arrays(weight=matrix.T, bias=vector)


def attention(module: Any, name: str) -> Found:
    yield from thirds(module.in_proj_weight, module.in_proj_bias, name)
    yield from kernel(module.out_proj, f"{name}.out_proj")


def vision_transformer(module: Any, name: str) -> Found:
    """The projection of patches comes before the class token here."""
    yield from kernel(module.conv_proj, "conv_proj")
    yield "class_token", arrays(value=module.class_token[0])
    yield "pos_embedding", arrays(value=module.encoder.pos_embedding[0])
    yield from children(module.encoder, "encoder")
    yield from children(module.heads, "heads")


def window_attention(module: Any, name: str) -> Found:
    """Swin's: the table of biases, then the projections."""
    yield f"{name}.relative_position_bias_table", arrays(value=module.relative_position_bias_table)
    yield from thirds(module.qkv.weight, module.qkv.bias, f"{name}.qkv")
    yield from kernel(module.proj, f"{name}.proj")


def window_attention_v2(module: Any, name: str) -> Found:
    """Swin v2's: the network of biases, the sharpness, the projections; torchvision puts 0 for the key's bias."""
    yield from children(module.cpb_mlp, f"{name}.cpb_mlp")
    yield f"{name}.logit_scale", arrays(value=module.logit_scale[:, :, 0])
    query, key, value = module.qkv.bias.detach().chunk(3)
    yield from thirds(module.qkv.weight, torch.cat([query, 0 * key, value]), f"{name}.qkv")
    yield from kernel(module.proj, f"{name}.proj")


def partition_attention(module: Any, name: str) -> Found:
    """MaxViT's: the table of biases comes before the norm here."""
    norm, attention, _ = module.attn_layer
    yield f"{name}.relative_position_bias_table", arrays(value=attention.relative_position_bias_table)
    yield from layer_norm(norm, f"{name}.attn_layer.0")
    yield from thirds(attention.to_qkv.weight, attention.to_qkv.bias, f"{name}.to_qkv")
    yield from kernel(attention.merge, f"{name}.merge")
    yield from children(module.mlp_layer, f"{name}.mlp_layer")


def convnext_block(module: Any, name: str) -> Found:
    yield from children(module.block, f"{name}.block")
    yield f"{name}.layer_scale", arrays(value=module.layer_scale)


def in_order(*order: str) -> Any:
    """The rule of a module whose parts stand in another order here."""

    def rule(module: Any, name: str) -> Found:
        for child in order:
            if getattr(module, child) is not None:
                yield from found(getattr(module, child), f"{name}.{child}" if name else child)

    return rule


def googlenet(module: Any, name: str) -> Found:
    """The auxiliary heads stand where they are attached here."""
    moved = {"inception4a": "aux1", "inception4d": "aux2"}
    for child, each in module.named_children():
        if child not in moved.values():
            yield from found(each, child)
        if child in moved and getattr(module, moved[child]) is not None:
            yield from found(getattr(module, moved[child]), moved[child])


RULES = {
    "Conv2d": kernel,
    "Linear": kernel,
    "BatchNorm2d": batch_norm,
    "LayerNorm": layer_norm,
    "LayerNorm2d": layer_norm,
    "MultiheadAttention": attention,
    "VisionTransformer": vision_transformer,
    "ShiftedWindowAttention": window_attention,
    "ShiftedWindowAttentionV2": window_attention_v2,
    "SwinTransformerBlockV2": in_order("attn", "norm1", "mlp", "norm2"),
    "PatchMerging": in_order("norm", "reduction"),
    "PartitionAttentionLayer": partition_attention,
    "GoogLeNet": googlenet,
    "CNBlock": convnext_block,
    "ResBottleneckBlock": in_order("f", "proj"),
    "FCN": in_order("backbone", "aux_classifier", "classifier"),
    "DeepLabV3": in_order("backbone", "aux_classifier", "classifier"),
}


def arrays(**tensors: Any) -> Arrays:
    return {name: each.detach().numpy() for name, each in tensors.items() if each is not None}


def found(module: Any, name: str = "") -> Found:
    """What a module and those in it hold, by the rule of its class, or in the order in which they are registered."""
    rule = RULES.get(type(module).__name__)
    if rule:
        yield from rule(module, name)
    else:
        own = [each for each, _ in module.named_parameters(recurse=False)]
        assert not own, f"no rule for {type(module).__name__} {name}, which holds {own}"
        yield from children(module, name)


def children(module: Any, name: str) -> Found:
    for child, each in module.named_children():
        yield from found(each, f"{name}.{child}" if name else child)


def copied(model: Any, case: Case, graph: Any) -> tuple[dict, dict]:
    """Our parameters and buffers with torchvision's values, layer by layer."""
    theirs, ours = list(found(model)), list(tensors(graph).items())
    pairs = "\n".join(f"{path} <- {name}" for (path, _), (name, _) in zip(ours, theirs, strict=False))
    trees: tuple[dict, dict] = ({}, {})
    for (path, declared), (name, given) in zip(ours, theirs, strict=False):
        wanted = {each: tensor.shape for each, tensor in declared.items()}
        shapes = {each: array.shape for each, array in given.items()}
        assert without_ones(wanted) == without_ones(shapes), f"{path} {wanted} <- {name} {shapes}; all:\n{pairs}"
        for each, tensor in declared.items():
            array = unflattened(given[each], FLATTENED.get((case.builder, name)) if each == "weight" else None)
            trees[tensor.is_buffer].setdefault(path, {})[each] = array.reshape(tensor.shape)
    assert len(theirs) == len(ours), pairs
    return trees


def without_ones(shapes: dict[str, tuple[int, ...]]) -> dict[str, list[int]]:
    """Kernels of 1×1 are matrices here."""
    return {name: [n for n in shape if n != 1] for name, shape in shapes.items()}


def unflattened(weight: np.ndarray, sizes: tuple[int, int, int] | None) -> np.ndarray:
    """A matrix behind a flattened picture, its rows in the order of a picture with channels last."""
    if sizes is None:
        return weight
    return weight.reshape(*sizes, -1).transpose(1, 2, 0, 3).reshape(weight.shape)


# random weights


def randomize(model: Any, pictures: Any) -> None:
    """Every tensor anew, none left at a value that hides what it does."""
    torch.manual_seed(0)
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            if tensor.dim() > 1 and name.endswith("weight"):
                tensor.normal_(0, (2 / tensor[0].numel()) ** 0.5)
            elif name.endswith(("weight", "layer_scale", "logit_scale")):
                tensor.uniform_(0.5, 1.5)
            else:
                tensor.normal_(0, 0.3)
        norms = [module for module in model.modules() if isinstance(module, torch.nn.BatchNorm2d)]
        for norm in norms:
            norm.momentum = 1.0
        model.train()
        if norms:
            model(pictures)
        for norm in norms:
            norm.running_mean += 0.3 * norm.running_var.sqrt() * torch.randn_like(norm.running_mean)
            norm.running_var *= torch.empty_like(norm.running_var).uniform_(0.5, 1.5)
        model.eval()


def channels_last(tensor: Any) -> np.ndarray:
    return np.moveaxis(tensor.numpy(), 1, -1) if tensor.dim() == 4 else tensor.numpy()


@pytest.fixture(autouse=True)
def in_float64():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.spec}-{case.size}")
def test_outputs(case):
    pictures = np.random.default_rng(1).standard_normal((2, case.size, case.size, 3))
    given = torch.tensor(pictures).permute(0, 3, 1, 2)
    model = models.get_model(case.builder, weights=None, **case.options).double()
    randomize(model, torch.randn(16 if case.size < 100 else 4, *given.shape[1:], dtype=torch.float64))
    name, _, variant = case.spec.partition(":")
    network = load(str(CONFIGS / f"{name}.yaml"), variant or None, **case.variables)
    graph = network.graph(training=bool(case.heads))
    trees = copied(model, case, graph)
    expected = by_label(model, given, case, graph)
    (entry,) = graph.inputs
    trees, pictures = jax.tree.map(lambda array: array.astype(case.dtype), (trees, pictures))
    run = jax.jit(lambda params, buffers, picture: evaluate(graph, params, buffers, {entry: picture})[0])
    run = run.lower(*trees, pictures[0]).compile(FAST_COMPILE)
    outputs = [run(*trees, picture) for picture in pictures]
    assert outputs[0].keys() == expected.keys()
    for label, wanted in expected.items():
        got = np.stack([output[label] for output in outputs])
        assert got.shape == wanted.shape
        spread = np.abs(wanted[0] - wanted[1]).max()
        error, share = np.abs(got - wanted).max() / spread, spread / np.abs(wanted).max()
        print(f"\n{case.spec} {label}: error {error:.1e}; the pictures' outputs differ by {share:.0%}", end="")
        assert share > 0.01, "the outputs hardly depend on the picture"
        assert error < TOLERANCE


def by_label(model: Any, pictures: Any, case: Case, graph: Any) -> dict[str, np.ndarray]:
    """Torchvision's outputs by our labels; those of auxiliary heads too, with all else as in inference."""
    model.training = bool(case.heads)  # of the outermost module alone
    with torch.no_grad():
        outputs = model(pictures)
    if case.heads:
        outputs = dict(zip(case.heads, outputs, strict=True))
    elif len(graph.outputs) == 1 or not isinstance(outputs, dict):
        (label,) = [label for label, value in graph.outputs.items() if not value.training_only]
        outputs = {label: outputs["out"] if isinstance(outputs, dict) else outputs}
    return {label: channels_last(output) for label, output in outputs.items()}
