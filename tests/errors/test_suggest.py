import pytest

from paramcount.errors.framework_names import ARGUMENTS, KINDS
from paramcount.errors.suggest import argument_hint, bare, edits, kind_for, nearest, plain

WORDS = str.split("""
    conv dense depthwise pointwise separable conv_transpose embedding batch_norm layer_norm group_norm rms_norm
    max_pool avg_pool global_pool adaptive_avg_pool relu gelu silu leaky_relu prelu dropout flatten attention
    attend lstm gru rnn upsample pad pixel_shuffle add concat do residual
""")


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        ("", "", 0),
        ("", "abc", 3),
        ("cov", "conv", 1),
        ("widht", "width", 1),  # two neighbours exchanged
        ("kitten", "sitting", 3),
        ("strde", "stride", 1),
        ("abc", "cab", 2),
    ],
)
def test_edits(first, second, distance):
    assert edits(first, second) == distance
    assert edits(second, first) == distance


@pytest.mark.parametrize(
    ("word", "words", "guess"),
    [
        ("widht", ["depth", "width"], "width"),
        ("layer", ["input", "layers"], "layers"),
        ("rellu", ["gelu", "relu"], "relu"),
        ("Batch-Norm", ["batch_norm"], "batch_norm"),
        ("enc2", ["dec1", "enc1"], "enc1"),
        ("x", ["y", "width"], None),  # one letter replaced leaves nothing in common
        ("cat", ["dense", "relu"], None),
        ("abc", ["axy"], None),  # two slips in three letters
        ("bottelnec", ["bottleneck"], "bottleneck"),
        ("w" * 10_000, ["w" * 9_999], None),
        ("", ["a", ""], None),
    ],
)
def test_nearest(word, words, guess):
    assert nearest(word, words) == guess


def test_nearest_prefers_the_same_first_letter():
    assert nearest("felu", ["relu", "fela"]) == "fela"


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("Conv1d", "conv"),
        ("Conv2d", "conv"),
        ("Conv3d", "conv"),
        ("Conv2D", "conv"),
        ("nn.Conv2d", "conv"),
        ("torch.nn.Conv2d", "conv"),
        ("keras.layers.Conv2D", "conv"),
        ("cov", "conv"),
        ("Linear", "dense"),
        ("nn.Linear", "dense"),
        ("Dense", "dense"),
        ("fc", "dense"),
        ("fully_connected", "dense"),
        ("BatchNorm2d", "batch_norm"),
        ("BatchNormalization", "batch_norm"),
        ("bn", "batch_norm"),
        ("MaxPool2d", "max_pool"),
        ("MaxPooling2D", "max_pool"),
        ("AveragePooling2D", "avg_pool"),
        ("AvgPool2d", "avg_pool"),
        ("GlobalAveragePooling2D", "global_pool"),
        ("AdaptiveAvgPool2d", "adaptive_avg_pool"),
        ("DepthwiseConv2D", "depthwise"),
        ("SeparableConv2D", "separable"),
        ("ConvTranspose2d", "conv_transpose"),
        ("Conv2DTranspose", "conv_transpose"),
        ("deconv", "conv_transpose"),
        ("LayerNorm", "layer_norm"),
        ("GroupNorm", "group_norm"),
        ("RMSNorm", "rms_norm"),
        ("nn.ReLU", "relu"),
        ("GELU", "gelu"),
        ("SiLU", "silu"),
        ("Swish", "silu"),
        ("LeakyReLU", "leaky_relu"),
        ("PReLU", "prelu"),
        ("Dropout2d", "dropout"),
        ("Flatten", "flatten"),
        ("Embedding", "embedding"),
        ("MultiheadAttention", "attention"),
        ("LSTM", "lstm"),
        ("GRU", "gru"),
        ("SimpleRNN", "rnn"),
        ("UpSampling2D", "upsample"),
        ("interpolate", "upsample"),
        ("ZeroPadding2D", "pad"),
        ("PixelShuffle", "pixel_shuffle"),
        ("Add", "add"),
        ("Concatenate", "concat"),
        ("cat", "concat"),
        ("attendd", "attend"),
        ("Sequential", "do"),
        ("quantum_entangler", None),
    ],
)
def test_kind_for(word, kind):
    assert kind_for(word, WORDS) == kind


def test_only_known_kinds_are_suggested():
    assert kind_for("Linear", ["conv"]) is None
    assert kind_for("Linear", ["linearly"]) == "linearly"
    assert kind_for("attend", ["attend"]) == "attend"


@pytest.mark.parametrize(
    ("word", "guess"),
    [
        ("strde", "stride"),
        ("filters", "out"),
        ("units", "out"),
        ("out_channels", "out"),
        ("kernel_size", "kernel"),
        ("kernelSize", "kernel"),
        ("strides", "stride"),
        ("pad", "padding"),
        ("dilation_rate", "dilation"),
        ("use_bias", "bias"),
        ("num_groups", "groups"),
    ],
)
def test_argument_hint(word, guess):
    arguments = ["out", "kernel", "stride", "padding", "dilation", "groups", "bias"]
    assert argument_hint(word, arguments) == f"did you mean `{guess}`?"


def test_the_first_argument_that_the_layer_has():
    assert argument_hint("hidden_size", ["hidden", "layers"]) == "did you mean `hidden`?"
    assert argument_hint("hidden_size", ["out"]) == "did you mean `out`?"
    assert argument_hint("hidden_size", ["kernel"]) is None


@pytest.mark.parametrize("word", ["in_channels", "in_features", "input_shape", "input_dim", "in_planes"])
def test_input_channels_come_from_above(word):
    hint = argument_hint(word, ["out", "kernel"])
    assert hint == "input channels come from the layer above; remove it"


def test_nothing_near():
    assert argument_hint("colour", ["out", "kernel"]) is None


def test_the_tables_are_keyed_as_they_are_looked_up():
    assert all(plain(name) == name for name in KINDS)
    assert all(bare(name) == name for name in ARGUMENTS)
