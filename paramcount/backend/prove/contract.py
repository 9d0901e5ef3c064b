"""The contract of every kind of layer, as checks that a test runs over the layer's own `examples`.

Authors of layers call `check_layer(MyLayer)` in their tests. A violation is an AssertionError that names the layer,
the input and both figures.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import jax
import numpy

from paramcount.backend.run.context import Context
from paramcount.backend.run.initialize import Tensor, values
from paramcount.backend.run.inputs import abstract
from paramcount.backend.trace.walker import count_macs, used_inputs
from paramcount.errors import ParamcountError, Undecided
from paramcount.layers.fields import Whole
from paramcount.layers.layer import FAMILIES, ROLES, Layer, Shape
from paramcount.numbers.arithmetic import Column

INITIALIZERS = ("fan_in", "normal", "zeros", "ones", "log_range")
GROWTH: tuple[Callable[[int], int], ...] = (lambda n: n, lambda n: n + 1, lambda n: 2 * n)
MULTIPLES: tuple[Callable[[int], int], ...] = (lambda n: n, lambda n: 2 * n, lambda n: 3 * n)
Variant = tuple[Layer, tuple[Shape, ...]]


def check_layer(layer_class: type[Layer]) -> None:
    """Checks a layer class's description and all its examples; raises AssertionError at the first violation.

    >>> from paramcount.layers.dense import Dense
    >>> check_layer(Dense)
    """
    check_description(layer_class)
    for layer, shapes in examples(layer_class):
        check_example(layer, *shapes)


def check_description(layer_class: type[Layer]) -> None:
    """A layer has examples, belongs to a known family, and documents each of its arguments."""
    name, family = layer_class.__name__, layer_class.family
    assert layer_class.examples, f"{name} has no examples"
    assert family in FAMILIES, f"{name} is of the family {family!r}, not one of {FAMILIES}"
    for each in fields(layer_class):
        doc = each.metadata.get("doc")
        assert doc and doc.strip(), f"{name} does not say what {each.name} means: `field(..., doc=...)`"


def examples(layer_class: type[Layer]) -> Iterator[Variant]:
    """A class's examples as layers and input shapes; a tuple of sizes gets the layout of its rank."""
    for settings, *shapes in layer_class.examples:
        yield layer_class(**settings), tuple(s if isinstance(s, Shape) else Shape.of(*s) for s in shapes)


def check_example(layer: Layer, *shapes: Shape) -> None:
    """Checks one layer on inputs of these shapes; raises AssertionError at the first violation."""
    where = f"{layer} on {', '.join(map(str, shapes)) or 'nothing'}"
    check_figures(layer, shapes, where)
    for train in (False, True):
        check_trace(layer, shapes, train, f"{where}, {'training' if train else 'inference'}")
    check_gradient(layer, shapes, where)
    check_columns(layer, shapes, where)


def check_figures(layer: Layer, shapes: tuple[Shape, ...], where: str) -> None:
    """Sizes and costs are whole numbers, roles and initializers are known, and initial values are as declared."""
    work = layer.work(*shapes)
    sizes = [size for shape in results(layer.output_shape(*shapes)) for size in shape.sizes]
    for name, param in layer.params(*shapes).items():
        sizes += param.shape
        assert param.role in ROLES, f"{where}: {name} has the role {param.role}, not one of {ROLES}"
        assert param.init in INITIALIZERS, f"{where}: {name} starts with {param.init}, not one of {INITIALIZERS}"
        first = values(Tensor(param, (), frozen=False), 0, name)
        assert first.shape == param.shape, f"{where}: {name} is declared {param.shape} and initialized {first.shape}"
        assert numpy.isfinite(first).all(), f"{where}: {name} starts with values that are not finite"
    for figure in (work.macs, work.elementwise, *sizes):
        assert type(figure) is int, f"{where}: {figure!r} is {type(figure).__name__}, not int"
    assert min(sizes, default=1) >= 1, f"{where}: a size is less than 1: {sizes}"
    assert isinstance(layer.setting(*shapes), str), f"{where}: setting is not text"


def check_trace(layer: Layer, shapes: tuple[Shape, ...], train: bool, where: str) -> None:
    """The traced computation has the declared shapes and MACs, alone and in a batch, and reads every parameter."""
    declared = layer.params(*shapes)
    params = {name: jax.ShapeDtypeStruct(param.shape, numpy.float32) for name, param in declared.items()}
    inputs = list(map(abstract, shapes))

    def run(axis_name: str | None) -> Callable:
        def forward(params: dict[str, Any], *inputs: Any) -> tuple[Any, dict[str, Any]]:
            context = Context(train=train, axis_name=axis_name)
            return layer.forward(params, *inputs, context=context), context.updates

        return forward

    outputs, updates = jax.eval_shape(run(None), params, *inputs)
    expected = [shape.sizes for shape in results(layer.output_shape(*shapes))]
    traced = [output.shape for output in results(outputs)]
    assert traced == expected, f"{where}: output_shape says {expected}, forward gives {traced}"
    for name, value in updates.items():
        assert name in declared and declared[name].role == "buffer", f"{where}: updates {name}, which is not a buffer"
        assert value.shape == declared[name].shape, f"{where}: updates {name} with the shape {value.shape}"

    if inputs:
        batch = [jax.ShapeDtypeStruct((2, *each.shape), each.dtype) for each in inputs]
        axes = (None, *(0 for _ in batch))
        batched, _ = jax.eval_shape(jax.vmap(run("batch"), axes, (0, None), axis_name="batch"), params, *batch)
        shapes_of_batch = [output.shape for output in results(batched)]
        assert shapes_of_batch == [(2, *sizes) for sizes in expected], f"{where}: a batch of 2 gives {shapes_of_batch}"

    jaxpr = jax.make_jaxpr(lambda *arguments: run(None)(*arguments)[0])(params, *inputs)
    macs, counted = count_macs(jaxpr), layer.work(*shapes).macs
    assert macs == counted, f"{where}: work says {counted} MACs, forward does {macs}"
    for name, used in zip(sorted(params), used_inputs(jaxpr), strict=False):
        # Running statistics are for inference, everything else is trained.
        matters = train != (declared[name].role == "buffer")
        assert used or not matters, f"{where}: {name} does not reach the output"


def check_gradient(layer: Layer, shapes: tuple[Shape, ...], where: str) -> None:
    """`contractions` sum to `work` and predict the traced gradients by the parameters, by each input, and by all."""
    contractions, macs = layer.contractions(*shapes), layer.work(*shapes).macs
    parts = sum(contraction.macs for contraction in contractions)
    assert parts == macs, f"{where}: work says {macs} MACs, contractions say {parts}"
    declared = layer.params(*shapes)
    values = {name: jax.ShapeDtypeStruct(param.shape, numpy.float32) for name, param in declared.items()}
    tensors = [name for name in declared if declared[name].role != "buffer"]
    numbers = []
    inputs = [f"input {index}" for index in range(len(shapes))]
    for name, shape in zip(inputs, shapes, strict=True):
        values[name] = abstract(shape)
        numbers += [] if shape.layout == "tokens" else [name]

    def loss(given: dict[str, Any], others: dict[str, Any]) -> Any:
        at_hand = given | others
        arguments = [at_hand[name] for name in inputs]
        outputs = layer.forward({name: at_hand[name] for name in declared}, *arguments, context=Context(train=True))
        return sum((each.sum() for each in results(outputs) if numpy.issubdtype(each.dtype, numpy.floating)), 0.0)

    alone = [tensors, *([name] for name in numbers)] if contractions else []
    for chosen in filter(None, [tensors + numbers, *alone]):
        given = {name: values[name] for name in chosen}
        others = {name: value for name, value in values.items() if name not in given}
        found, expected = count_macs(jax.make_jaxpr(jax.value_and_grad(loss))(given, others)), macs
        for contraction in contractions:
            for operand, cost in contraction.by_operand():
                made_of = {inputs[part] if isinstance(part, int) else part for part in operand}
                expected += cost * bool(made_of & given.keys())
        by = ", ".join(chosen)
        assert found == expected, f"{where}: with the gradient by {by} there are {expected} MACs, traced are {found}"


def check_columns(layer: Layer, shapes: tuple[Shape, ...], where: str) -> None:
    """On Columns of several sizes and settings, the figures are those of each variant alone."""
    for variants in sweeps(layer, shapes):
        check_sweep([variant for variant in variants if figures_or_none(variant)], where)


def check_sweep(variants: list[Variant], where: str) -> None:
    together = stacked(variants)
    try:
        columns = figures(*together)
    except Undecided as undecided:  # as in a sweep, each part by itself
        for side in (True, False):
            part = [variant for variant, truth in zip(variants, undecided.mask, strict=True) if truth == side]
            check_sweep(part, where)
        return
    for index, variant in enumerate(variants):
        alone, column = figures(*variant), entry(columns, index)
        assert alone == column, f"{where}: {variant[0]} on {variant[1]} gives {alone}, in a sweep {column}"


def sweeps(layer: Layer, shapes: tuple[Shape, ...]) -> Iterator[list[Variant]]:
    """Variants of the input sizes, then of each setting that is a size; some of them may be impossible."""
    resized = [
        tuple(
            Shape((*map(spatial, shape.sizes[:-1]), *map(channels, shape.sizes[-1:])), shape.layout) for shape in shapes
        )
        for spatial in GROWTH
        for channels in MULTIPLES
    ]
    yield [(layer, each) for each in resized]
    for name, check in layer.checks():
        value = getattr(layer, name)
        size = check if isinstance(check, Whole) else getattr(check, "size", None)
        if size is not None and size.at_least is not None:
            if grown(value, lambda n: n + 1) == value:
                continue
            yield [
                (changed, sizes)
                for growth in GROWTH
                for changed in with_setting(layer, name, grown(value, growth))
                for sizes in (shapes, resized[1], resized[-1])
            ]


def with_setting(layer: Layer, name: str, value: Any) -> list[Layer]:
    """The layer with another setting, or none if that is not valid."""
    try:
        return [replace(layer, **{name: value})]
    except ParamcountError:
        return []


def grown(value: Any, growth: Callable[[int], int]) -> Any:
    """A setting with every whole number changed; words stay."""
    if isinstance(value, tuple):
        return tuple(grown(each, growth) for each in value)
    return growth(value) if type(value) is int else value


def stacked(variants: list[Variant]) -> Variant:
    """One layer and one list of shapes that hold all variants, as Columns."""
    layers = [layer for layer, _ in variants]
    names = [name for name, _ in layers[0].checks()]
    columns = {name: column([getattr(layer, name) for layer in layers]) for name in names}
    shapes = [
        Shape(
            tuple(Column.whole("size", list(sizes)) for sizes in zip(*(s.sizes for s in same), strict=True)),
            same[0].layout,
        )
        for same in zip(*(shapes for _, shapes in variants), strict=True)
    ]
    return replace(layers[0], **columns), tuple(shapes)


def column(values: list[Any]) -> Any:
    """Different whole numbers as a Column; tuples entry by entry."""
    if all(value == values[0] for value in values):
        return values[0]
    if isinstance(values[0], tuple):
        return tuple(column(list(entries)) for entries in zip(*values, strict=True))
    return Column.whole("setting", values)


def figures(layer: Layer, shapes: tuple[Shape, ...]) -> tuple:
    """Everything that counting asks of a layer."""
    outputs = [(shape.layout, shape.sizes) for shape in results(layer.output_shape(*shapes))]
    params = [(name, param.role, param.shape, param.size) for name, param in layer.params(*shapes).items()]
    work = layer.work(*shapes)
    contractions = tuple(contraction.macs for contraction in layer.contractions(*shapes))
    return tuple(outputs), tuple(params), work.macs, work.elementwise, contractions


def figures_or_none(variant: Variant) -> tuple | None:
    try:
        return figures(*variant)
    except ParamcountError:
        return None


def entry(value: Any, index: int) -> Any:
    """One variant's figures among those of a sweep."""
    if isinstance(value, tuple):
        return tuple(entry(each, index) for each in value)
    return value[index] if isinstance(value, Column) else value


def results(output: Any) -> tuple:
    """One result or several, as a tuple."""
    return output if isinstance(output, tuple) else (output,)
