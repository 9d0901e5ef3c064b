"""A whole network: items with named inputs and outputs, expanded for inference or for training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from paramcount.errors import ArgumentError, Position, SpecError, needs, printable, quote
from paramcount.graph.builder import Builder
from paramcount.graph.tree import Graph, Value
from paramcount.graph.unused import unused_work
from paramcount.layers.arguments import argument
from paramcount.layers.fields import Flag, Sizes, Text
from paramcount.layers.layer import LAYOUTS, Item, Shape
from paramcount.numbers.arithmetic import native


class Subject(NamedTuple):
    """What figures are of: a network by its name, its variant, its variables, and the shapes of one example.

    `given` are the variables that were set by hand. As text it is the title of every output.

    >>> str(Subject("Llama", "tiny", {"T": 128, "d": 64}, {"T": 128}))
    'Llama:tiny (T = 128)'
    """

    name: str
    variant: str | None = None
    vars: Mapping[str, Any] = {}
    given: Mapping[str, Any] = {}
    inputs: Mapping[str, Shape] = {}

    def __str__(self) -> str:
        name = f"{self.name}:{self.variant}" if self.variant else self.name
        given = ", ".join(f"{each} = {as_written(value)}" for each, value in self.given.items())
        return f"{name} ({given})" if given else name

    def examples(self, number: Any = 1) -> str:
        """How many examples, and of what.

        >>> Subject("ResNet", inputs={"input": Shape.of(224, 224, 3)}).examples()
        'one example: image 224×224×3'
        """
        shapes = [shape.described for shape in self.inputs.values()]
        if len(shapes) > 1:
            shapes = [f"{name} ({shape})" for name, shape in zip(self.inputs, shapes, strict=True)]
        one = type(number) is int and number == 1
        return f"one example: {', '.join(shapes)}" if one else f"{number} examples of {', '.join(shapes)}"

    def to_dict(self) -> dict[str, Any]:
        """What JSON says of it."""
        return {"name": self.name, "variant": self.variant, "vars": dict(self.vars), "set": dict(self.given)}


def as_written(value: Any) -> str:
    """A variable's value as a spec has it: `true`, `none`, `[2, 2]`."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(as_written, value))}]"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


class Network:
    """Items with their inputs, in Python as in a spec.

    `input` is the shape of one example: a size or a tuple, whose rank makes it features, a sequence, an image or a
    volume (without a batch, channels last), a mapping such as `{"tokens": [128]}`, or a Shape; `inputs` are several by
    name. `outputs` is a list of names or a mapping of labels to names; without it, the last value.

    >>> from paramcount.layers.dense import Dense
    >>> Network([Dense(512), Dense(10)], input=784).graph().outputs["output"].shape.sizes
    (10,)
    """

    file: str | None = None  # that it was read from

    def __init__(
        self,
        items: Sequence[Item],
        *,
        input: Any = None,
        inputs: Mapping[str, Any] | None = None,
        outputs: Sequence[str] | Mapping[str, str] | None = None,
        name: str = "network",
        declared: dict[str, Position] | None = None,
    ) -> None:
        if (input is None) == (inputs is None):
            raise ArgumentError("a network needs `input`, or `inputs` by name", hint="e.g. input=(224, 224, 3)")
        if inputs is not None and not (isinstance(inputs, Mapping) and inputs and all_texts(inputs)):
            raise ArgumentError("`inputs` are shapes by name", hint='inputs={"picture": (224, 224, 3)}')
        if outputs is not None:
            labels = isinstance(outputs, Mapping) and all_texts(outputs)
            if not (labels or (isinstance(outputs, (list, tuple)) and all_texts(outputs))) or not outputs:
                raise ArgumentError("`outputs` is a list of names, or labels with names", hint='outputs=["prev"]')
        argument("name", name, Text())
        self.items = list(items) if isinstance(items, Iterator) else items  # they are expanded more than once
        self.inputs = {"input": shape_of(input)} if inputs is None else {k: shape_of(v) for k, v in inputs.items()}
        self.single = inputs is None
        self.outputs = outputs
        self.name = name
        self.declared = declared
        self.graphs: dict[bool, Graph] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {printable(str(self.subject))}>"

    @property
    def subject(self) -> Subject:
        """What figures of this network are of."""
        return Subject(self.name, inputs=self.inputs)

    @property
    def warnings(self) -> list[str]:
        """What is odd but not wrong: names that nothing uses, work that reaches no output, also in training."""
        graph = self.graph()
        parts = any(element.training_only for element in graph.below())
        return self.warnings_of(self.graph(training=True) if parts else graph)

    def warnings_of(self, graph: Graph) -> list[str]:
        """The same of one mode, given its tree."""
        return graph.warnings

    def __getstate__(self) -> dict[str, Any]:
        """What a copy is made from: it expands its items itself."""
        return self.__dict__ | {"graphs": {}}

    def graph(self, training: bool = False) -> Graph:
        """The expanded tree, made once for each mode."""
        training = argument("training", training, Flag())
        if training not in self.graphs:
            self.graphs[training] = self.expand(training)
        return self.graphs[training]

    def init(self, seed: int = 0) -> tuple[Any, Any]:
        """The first parameters and buffers in JAX: float32 arrays by the path of their row and their name.

        Needs JAX.

        >>> from paramcount.layers.dense import Dense
        >>> params, buffers = Network([Dense(10)], input=784).init()
        >>> params["dense0"]["weight"].shape, params["dense0"]["bias"].shape, buffers
        ((784, 10), (10,), {})
        """
        with needs("init"):
            from paramcount.backend.run.initialize import initialize
        return initialize(self.graph(), seed)

    def apply(
        self,
        params: Any,
        x: Any,
        buffers: Any = None,
        *,
        train: bool = False,
        key: Any = None,
        axis_name: str | None = None,
    ) -> Any:
        """The result for one example in JAX: a pure function, for `jit`, `vmap`, `grad` and the like.

        `x` is one array of the input's sizes, or several by name; the result is one array, or several by label. With
        `train` it is the result and the new buffers; dropout then takes its random numbers from `key`, and batch norm
        its statistics from the axis of `vmap` that has the name `axis_name`. Raises ShapeError for other sizes.

        >>> from paramcount.layers.dense import Dense
        >>> network = Network([Dense(10)], input=784)
        >>> params, buffers = network.init()
        >>> network.apply(params, [0.0] * 784).tolist()  # the bias, which starts at zero
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        """
        with needs("apply"):
            from paramcount.backend.run.apply import apply
        return apply(self, params, x, buffers, train=train, key=key, axis_name=axis_name)

    def expand(self, training: bool, fold: bool = True) -> Graph:
        """The tree, made anew; without `fold` each iteration of a loop stands alone, equal or not."""
        builder = Builder(training, fold)
        outer = builder.enter(self.declared, root=True)
        inputs = {name: builder.value(shape) for name, shape in self.inputs.items()}
        if self.single:
            builder.prev = inputs["input"]
        else:
            builder.scope.names.update(inputs)
        builder.run(self.items)
        outputs, every = self.named_outputs(builder)
        builder.leave(outer)
        graph = Graph(inputs, builder.group.children, outputs, training, list(builder.warnings))
        unused, found = unused_work(graph, every, builder.unused)
        graph.unused = frozenset(unused)
        if found:
            graph.warnings.append(f"{f'{self.file}: ' if self.file else ''}{found}")
        return graph

    def named_outputs(self, builder: Builder) -> tuple[dict[str, Value], list[Value]]:
        """Each output's value by its label, and all values that are outputs in inference or in training.

        Without those that `when` skipped; in inference, only the second has those that exist in training.
        """
        if self.outputs is None:
            return {"output": builder.arrived()}, [builder.arrived()]
        named = self.outputs if isinstance(self.outputs, Mapping) else {name: name for name in self.outputs}
        builder.dormant = True
        found = {
            str(label): builder.path(path, "path", str(label))
            for label, path in named.items()
            if not (isinstance(path, str) and builder.scope.skipped(path))
        }
        builder.dormant = False
        kept = {label: value for label, value in found.items() if builder.training or not value.training_only}
        if not kept:
            raise SpecError(
                "every output only exists in training" if found else "every output was skipped by `when`",
                hint="list one that exists in inference too" if found else "list one that is always there",
                position=getattr(next(iter(named.values())), "position", None),
            )
        return kept, list(found.values())


def require_network(network: Any) -> None:
    """Raises ArgumentError for what is not a Network, such as layers without an input."""
    if not isinstance(network, Network):
        hint = "give what `load` returns, or a Network of layers on an input"
        raise ArgumentError(f"{quote(network, repr)} is not a network", hint=hint, argument="network")


def shape_of(given: Any) -> Shape:
    """A shape from a Shape, a size, a tuple of sizes, or a mapping of one layout to its sizes."""
    if isinstance(given, Shape):
        layout, sizes = given.layout, given.sizes
    elif isinstance(given, Mapping):
        if len(given) != 1 or not all_texts(given) or next(iter(given)) not in LAYOUTS:
            raise ArgumentError("an input has one layout", hint="one of " + ", ".join(LAYOUTS))
        layout, sizes = next(iter(given.items()))
    else:
        layout, sizes = None, given
    sizes = native(sizes)  # an array holds the sizes of one shape: those of the variants of a sweep are a Column
    if any(size is None for size in (sizes if isinstance(sizes, (list, tuple)) else [sizes])):
        raise ArgumentError("a size of the input is None", hint="give the sizes of one example, without a batch")
    sizes = Sizes()("a size of the input", sizes if isinstance(sizes, (list, tuple)) else [sizes])
    if layout is None:
        refuse_channels_first(sizes)
        return Shape.of(*sizes)
    if not isinstance(layout, str) or layout not in (*LAYOUTS, "plain"):
        from paramcount.errors.suggest import unknown

        raise unknown("layout", layout, LAYOUTS)
    if LAYOUTS.get(layout, len(sizes)) != len(sizes):
        raise ArgumentError(f"the layout {quote(layout)} has {LAYOUTS[layout]} axes, and the input {len(sizes)}")
    return Shape(sizes, layout)


def all_texts(names: Iterable[Any]) -> bool:
    return all(isinstance(name, str) for name in names)


def channels_last(sizes: Sequence[Any]) -> tuple[Any, ...] | None:
    """The sizes of an image as they must have been meant, where they look like channels first."""
    if len(sizes) != 3 or not all(isinstance(size, int) for size in sizes):
        return None
    channels, height, width = sizes
    return (height, width, channels) if channels in (1, 3, 4) and height >= 16 and width >= 16 else None


def refuse_channels_first(sizes: tuple[Any, ...]) -> None:
    """Raise ArgumentError for a tuple that looks like an image with its channels first, or like a batch of them."""
    batched = len(sizes) == 4
    meant = channels_last(sizes[1:] if batched else sizes)
    if meant is None:
        return
    if batched:
        message = f"an input has no batch, and its channels come last; did you mean {meant}?"
        hint = f'count with `batch=`; if you mean it, give {{"volume": {sizes}}}'
    else:
        message = f"an image is (height, width, channels); did you mean {meant}?"
        hint = f'if you mean it, give {{"image": {sizes}}}'
    raise ArgumentError(message, hint=hint)
