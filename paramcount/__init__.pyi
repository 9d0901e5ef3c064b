"""The public names, for editors and type checkers; written by docs/make_stub.py."""

from collections.abc import Sequence
from typing import Any

from paramcount import layers as layers
from paramcount.backend import data as data
from paramcount.backend import losses as losses
from paramcount.backend import metrics as metrics
from paramcount.backend.measure.measure import measure as measure
from paramcount.backend.measure.result import Measurement as Measurement
from paramcount.backend.measure.result import Measurements as Measurements
from paramcount.backend.prove.verification import Verification as Verification
from paramcount.backend.prove.verify import verify as verify
from paramcount.backend.trace.rules import register_rule as register_rule
from paramcount.backend.trace.trace import trace as trace
from paramcount.backend.train.result import Epoch as Epoch
from paramcount.backend.train.result import Training as Training
from paramcount.backend.train.start import load_checkpoint as load_checkpoint
from paramcount.backend.train.train import train as train
from paramcount.cost.compare.comparison import Comparison as Comparison
from paramcount.cost.compare.comparison import compare as compare
from paramcount.cost.count import count as count
from paramcount.cost.counted import Counted as Counted
from paramcount.cost.expect import check as check
from paramcount.cost.figures import Figures as Figures
from paramcount.cost.figures import Row as Row
from paramcount.cost.memory import Memory as Memory
from paramcount.cost.memory import memory_of as memory_of
from paramcount.cost.report import Report as Report
from paramcount.cost.traced import Trace as Trace
from paramcount.cost.zoo import Shipped as Shipped
from paramcount.cost.zoo import Zoo as Zoo
from paramcount.cost.zoo import zoo as zoo
from paramcount.errors import ArgumentError as ArgumentError
from paramcount.errors import CheckError as CheckError
from paramcount.errors import ManyErrors as ManyErrors
from paramcount.errors import MissingPackageError as MissingPackageError
from paramcount.errors import ParamcountError as ParamcountError
from paramcount.errors import ShapeError as ShapeError
from paramcount.errors import SpecError as SpecError
from paramcount.errors import Undecided as Undecided
from paramcount.graph.block import Block as Block
from paramcount.graph.bodies import Each as Each
from paramcount.graph.bodies import Moe as Moe
from paramcount.graph.bodies import Scan as Scan
from paramcount.graph.items import Do as Do
from paramcount.graph.items import From as From
from paramcount.graph.items import Gate as Gate
from paramcount.graph.items import Let as Let
from paramcount.graph.items import Pop as Pop
from paramcount.graph.items import Residual as Residual
from paramcount.graph.loops import Repeat as Repeat
from paramcount.graph.modifiers import With as With
from paramcount.graph.network import Network as Network
from paramcount.language.information import Information as Information
from paramcount.language.information import info as info
from paramcount.language.load import load as load
from paramcount.language.load import loads as loads
from paramcount.layers.activation import Abs as Abs
from paramcount.layers.activation import Exp as Exp
from paramcount.layers.activation import Gelu as Gelu
from paramcount.layers.activation import GeluTanh as GeluTanh
from paramcount.layers.activation import HardSigmoid as HardSigmoid
from paramcount.layers.activation import HardSwish as HardSwish
from paramcount.layers.activation import LogSoftmax as LogSoftmax
from paramcount.layers.activation import Mish as Mish
from paramcount.layers.activation import QuickGelu as QuickGelu
from paramcount.layers.activation import Relu as Relu
from paramcount.layers.activation import Relu6 as Relu6
from paramcount.layers.activation import Selu as Selu
from paramcount.layers.activation import Sigmoid as Sigmoid
from paramcount.layers.activation import Silu as Silu
from paramcount.layers.activation import Softmax as Softmax
from paramcount.layers.activation import Softplus as Softplus
from paramcount.layers.activation import Tanh as Tanh
from paramcount.layers.adaptive_pool import AdaptiveAvgPool as AdaptiveAvgPool
from paramcount.layers.adaptive_pool import AdaptiveMaxPool as AdaptiveMaxPool
from paramcount.layers.attend import Attend as Attend
from paramcount.layers.batch_norm import BatchNorm as BatchNorm
from paramcount.layers.clamp import Clamp as Clamp
from paramcount.layers.concat import Concat as Concat
from paramcount.layers.conv import Conv as Conv
from paramcount.layers.conv_transpose import ConvTranspose as ConvTranspose
from paramcount.layers.dense import Dense as Dense
from paramcount.layers.depthwise import Depthwise as Depthwise
from paramcount.layers.einsum import Einsum as Einsum
from paramcount.layers.embedding import Embedding as Embedding
from paramcount.layers.global_pool import GlobalPool as GlobalPool
from paramcount.layers.layer import Contraction as Contraction
from paramcount.layers.layer import Item as Item
from paramcount.layers.layer import Layer as Layer
from paramcount.layers.layer import Param as Param
from paramcount.layers.layer import Shape as Shape
from paramcount.layers.layer import Work as Work
from paramcount.layers.leaky import Elu as Elu
from paramcount.layers.leaky import LeakyRelu as LeakyRelu
from paramcount.layers.merge import Add as Add
from paramcount.layers.merge import Multiply as Multiply
from paramcount.layers.merge import Subtract as Subtract
from paramcount.layers.norm import GroupNorm as GroupNorm
from paramcount.layers.norm import InstanceNorm as InstanceNorm
from paramcount.layers.norm import LayerNorm as LayerNorm
from paramcount.layers.norm import RmsNorm as RmsNorm
from paramcount.layers.parameter import Parameter as Parameter
from paramcount.layers.pointwise import Pointwise as Pointwise
from paramcount.layers.pool import AvgPool as AvgPool
from paramcount.layers.pool import MaxPool as MaxPool
from paramcount.layers.prelu import Prelu as Prelu
from paramcount.layers.rearrange import Rearrange as Rearrange
from paramcount.layers.recurrent import Gru as Gru
from paramcount.layers.recurrent import Lstm as Lstm
from paramcount.layers.recurrent import Rnn as Rnn
from paramcount.layers.regularize import Dropout as Dropout
from paramcount.layers.regularize import Identity as Identity
from paramcount.layers.regularize import Scale as Scale
from paramcount.layers.regularize import StochasticDepth as StochasticDepth
from paramcount.layers.relative import Alibi as Alibi
from paramcount.layers.relative import Offsets as Offsets
from paramcount.layers.relative import Relative as Relative
from paramcount.layers.reshape import Flatten as Flatten
from paramcount.layers.reshape import Reshape as Reshape
from paramcount.layers.reshape import Transpose as Transpose
from paramcount.layers.resize import PixelShuffle as PixelShuffle
from paramcount.layers.resize import Upsample as Upsample
from paramcount.layers.response_norm import L2Norm as L2Norm
from paramcount.layers.response_norm import LocalResponseNorm as LocalResponseNorm
from paramcount.layers.route import Combine as Combine
from paramcount.layers.route import Router as Router
from paramcount.layers.selective_scan import SelectiveScan as SelectiveScan
from paramcount.layers.slicing import Crop as Crop
from paramcount.layers.slicing import Pad as Pad
from paramcount.layers.slicing import Pick as Pick
from paramcount.layers.slicing import Roll as Roll
from paramcount.layers.slicing import Slice as Slice
from paramcount.layers.slicing import Split as Split
from paramcount.layers.waves import Rope as Rope
from paramcount.layers.waves import Sinusoidal as Sinusoidal
from paramcount.layers.window_regions import Regions as Regions
from paramcount.numbers.column import Column as Column
from paramcount.sweeps.result import Sweep as Sweep
from paramcount.sweeps.solve import Solution as Solution
from paramcount.sweeps.solve import solve as solve
from paramcount.sweeps.sweep import sweep as sweep

__version__: str

class Attention(Block):
    """Multi-head attention: of a sequence to itself, or to `context`; `kv_heads` fewer share their keys and values.
    https://arxiv.org/abs/1706.03762; `position` is a bias of the scores, `regions` labels of what may meet."""

    def __init__(
        self,
        heads: int,
        kv_heads: Any = ...,
        head_dim: Any = ...,
        bias: bool = True,
        key_bias: Any = ...,
        out_bias: Any = ...,
        rope: bool = False,
        rope_base: float | Sequence[int] = 10000,
        rope_dims: Any = ...,
        rope_factor: float | Sequence[int] = 1,
        causal: bool = False,
        window: float | Sequence[int] = 0,
        qk_norm: bool = False,
        scale: Any = ...,
        softcap: Any = None,
        out: Any = ...,
        *,
        context: Any = ...,
        position: Any = ...,
        regions: Any = ...,
    ) -> None: ...

class BasicUnit(Block):
    """ResNet's unit of two 3×3 convolutions; a projection where the shape changes. https://arxiv.org/abs/1512.03385"""

    def __init__(
        self,
        out: int,
        stride: float | Sequence[int] = 1,
        norm: str | Item | None = "batch_norm",
        activation: str | Item | None = "relu",
    ) -> None: ...

class Bottleneck(Block):
    """MobileNet-v2's inverted residual: widen, filter each channel, narrow without activation.
    https://arxiv.org/abs/1801.04381; `squeeze` channels in between as in https://arxiv.org/abs/1905.02244."""

    def __init__(
        self,
        out: int,
        expand: float | Sequence[int] = 6,
        stride: float | Sequence[int] = 1,
        kernel: float | Sequence[int] = 3,
        norm: str | Item | None = "batch_norm",
        activation: str | Item | None = "relu6",
        squeeze: float | Sequence[int] = 0,
    ) -> None: ...

class BottleneckUnit(Block):
    """ResNet's unit of 1×1, 3×3 and 1×1 convolutions, with the stride on the 3×3 (version 1.5, as in torchvision).
    https://arxiv.org/abs/1512.03385; a larger `mid` makes a wide ResNet, `groups` besides a ResNeXt; `mid: out`,
    `groups` and `squeeze`, the channels of a squeeze and excitation behind the 3×3, a RegNet (Y)."""

    def __init__(
        self,
        out: int,
        stride: float | Sequence[int] = 1,
        mid: Any = ...,
        groups: float | Sequence[int] = 1,
        dilation: float | Sequence[int] = 1,
        squeeze: float | Sequence[int] = 0,
        norm: str | Item | None = "batch_norm",
        activation: str | Item | None = "relu",
    ) -> None: ...

class Ffn(Block):
    """The transformer's feed-forward part, on the last axis of any layout; `gated` as in
    https://arxiv.org/abs/2002.05202. https://arxiv.org/abs/1706.03762"""

    def __init__(
        self,
        hidden: int,
        activation: str | Item | None = "gelu",
        bias: bool = True,
        out: Any = ...,
        gated: bool = False,
    ) -> None: ...

class InvertedResidual(Block):
    """MobileNet-v2's unit as it grew since: `hidden` channels as a number, squeeze and excitation, any kernel,
    dilation, stochastic depth (`drop`); with padding and `eps` as in PyTorch. https://arxiv.org/abs/1905.02244, which
    MnasNet and the EfficientNets share; `bottleneck` is the first form of it."""

    def __init__(
        self,
        out: int,
        hidden: int,
        stride: float | Sequence[int] = 1,
        kernel: float | Sequence[int] = 3,
        squeeze: float | Sequence[int] = 0,
        activation: str | Item | None = "relu",
        squeeze_activation: str | Item | None = "relu",
        gate: str | Item | None = "sigmoid",
        dilation: float | Sequence[int] = 1,
        drop: float | Sequence[int] = 0,
        eps: float | Sequence[int] = 1e-05,
        joined: Any = ...,
    ) -> None: ...

class Separable(Block):
    """MobileNet-v1's unit: filter each channel, then mix them, both with norm and activation.
    https://arxiv.org/abs/1704.04861"""

    def __init__(
        self,
        out: int,
        stride: float | Sequence[int] = 1,
        kernel: float | Sequence[int] = 3,
        norm: str | Item | None = "batch_norm",
        activation: str | Item | None = "relu",
    ) -> None: ...

class SqueezeExcite(Block):
    """Scales each channel by a small network of all channels' means. https://arxiv.org/abs/1709.01507"""

    def __init__(
        self,
        hidden: int,
        activation: str | Item | None = "relu",
        gate: str | Item | None = "sigmoid",
        channels: Any = ...,
    ) -> None: ...

ALiBi = Alibi
ELU = Elu
FFN = Ffn
GELU = Gelu
GELUTanh = GeluTanh
GRU = Gru
LSTM = Lstm
LeakyReLU = LeakyRelu
PReLU = Prelu
QuickGELU = QuickGelu
RMSNorm = RmsNorm
RNN = Rnn
ReLU = Relu
ReLU6 = Relu6
RoPE = Rope
SELU = Selu
SiLU = Silu
