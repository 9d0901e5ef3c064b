"""Functions of each element, and softmax over the channels."""

from operator import attrgetter
from typing import Any, ClassVar

from paramcount.layers._accept import has_channels, has_numbers
from paramcount.layers.layer import ParameterFree, Shape, Work


class Elementwise(ParameterFree):
    """A function of each element of any value but tokens: no parameters, and one elementwise operation per element.

    Most are a function of JAX, which a class names by `function`; the others have a `forward` of their own.

    >>> Relu().work(Shape.of(112, 112, 32))
    Work(macs=0, elementwise=401408)
    """

    family = "activation"
    examples = (({}, (3, 4, 5)), ({}, ()))
    operations: ClassVar[int] = 1
    function: ClassVar[str]  # its name below `jax`

    def output_shape(self, x: Shape) -> Shape:
        has_numbers(x, self.kind)
        return x

    def work(self, x: Shape) -> Work:
        return Work(0, self.operations * x.elements)

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        import jax

        return attrgetter(self.function)(jax)(x)


class Relu(Elementwise, kind="relu"):
    """max(x, 0). One elementwise operation per element."""

    function = "nn.relu"


class Relu6(Elementwise, kind="relu6"):
    """min(max(x, 0), 6). One elementwise operation per element."""

    function = "nn.relu6"


class Selu(Elementwise, kind="selu"):
    """The self-normalizing elu: 1.0507 · elu(x, 1.67326). One elementwise operation per element."""

    function = "nn.selu"


class Gelu(Elementwise, kind="gelu"):
    """x · Φ(x), Φ by the error function. One elementwise operation per element."""

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import nn

        return nn.gelu(x, approximate=False)


class GeluTanh(Elementwise, kind="gelu_tanh"):
    """x · Φ(x), Φ approximated by tanh. One elementwise operation per element."""

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import nn

        return nn.gelu(x, approximate=True)


class QuickGelu(Elementwise, kind="quick_gelu"):
    """x · sigmoid(1.702 x), as in CLIP. One elementwise operation per element."""

    def forward(self, params: dict[str, Any], x: Any, *, context: Any) -> Any:
        from jax import nn

        return x * nn.sigmoid(1.702 * x)


class Silu(Elementwise, kind="silu"):
    """x · sigmoid(x), also called swish. One elementwise operation per element."""

    function = "nn.silu"


class HardSwish(Elementwise, kind="hard_swish"):
    """x · hard_sigmoid(x), as in MobileNet-v3. One elementwise operation per element."""

    function = "nn.hard_swish"


class HardSigmoid(Elementwise, kind="hard_sigmoid"):
    """min(max(x + 3, 0), 6) / 6. One elementwise operation per element."""

    function = "nn.hard_sigmoid"


class Sigmoid(Elementwise, kind="sigmoid"):
    """1 / (1 + exp(-x)). One elementwise operation per element."""

    function = "nn.sigmoid"


class Tanh(Elementwise, kind="tanh"):
    """The hyperbolic tangent. One elementwise operation per element."""

    function = "numpy.tanh"


class Mish(Elementwise, kind="mish"):
    """x · tanh(softplus(x)). One elementwise operation per element."""

    function = "nn.mish"


class Softplus(Elementwise, kind="softplus"):
    """log(1 + exp(x)). One elementwise operation per element."""

    function = "nn.softplus"


class Exp(Elementwise, kind="exp"):
    """The exponential. One elementwise operation per element."""

    family = "elementwise"
    function = "numpy.exp"


class Abs(Elementwise, kind="abs"):
    """The absolute value. One elementwise operation per element."""

    family = "elementwise"
    function = "numpy.abs"


class OverChannels(Elementwise):
    """A function of all elements along the last axis: five operations for each."""

    examples = (({}, (3, 4, 5)),)
    operations = 5

    def output_shape(self, x: Shape) -> Shape:
        has_channels(x, self.kind)
        return x


class Softmax(OverChannels, kind="softmax"):
    """Positive shares that sum to 1 along the last axis.

    Five elementwise operations per element: find the largest, subtract it, exponentiate, sum, divide.

    >>> Softmax().work(Shape.of(1000)).elementwise
    5000
    """

    function = "nn.softmax"


class LogSoftmax(OverChannels, kind="log_softmax"):
    """The logarithm of softmax along the last axis.

    Five elementwise operations per element: find the largest, subtract it, exponentiate, sum, subtract the
    logarithm.

    >>> LogSoftmax().work(Shape.of(1000)).elementwise
    5000
    """

    function = "nn.log_softmax"
