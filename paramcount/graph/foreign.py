"""Layers from outside the package: what their methods raise and return is checked when one is placed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from paramcount.errors import ParamcountError, Position, SpecError, quote
from paramcount.layers.layer import ROLES, Layer, Param, Shape, Work
from paramcount.numbers.arithmetic import Column


@cache
def is_foreign(layer: type[Layer]) -> bool:
    """Whether a layer's class is not the package's own."""
    return not layer.__module__.startswith("paramcount.")


def checked_shape(layer: Layer, shapes: tuple[Shape, ...]) -> Any:
    """What `output_shape` of a layer returns, after a check of all its methods except `forward`.

    Raises SpecError, with the place in the layer's file, where one of them fails or returns something other than it
    should. What a layer raises for its user, such as ShapeError, is passed on.
    """
    given = called(layer, "output_shape", shapes)
    results = given if isinstance(given, tuple) and given else (given,)
    for shape in results:
        if not isinstance(shape, Shape):
            raise wrong_result(layer, "output_shape", given, "a Shape, or a tuple of Shapes")
        whole(layer, "output_shape", shape.sizes)
    declared = called(layer, "params", shapes)
    if not isinstance(declared, dict) or not all(isinstance(param, Param) for param in declared.values()):
        raise wrong_result(layer, "params", declared, "a dict of names and Params")
    for param in declared.values():
        if not isinstance(param.axes, Mapping) or param.role not in ROLES:
            wanted = f"Params whose axes are sizes by name, and whose role is one of {', '.join(ROLES)}"
            raise wrong_result(layer, "params", declared, wanted)
        whole(layer, "params", param.shape)
    work = called(layer, "work", shapes)
    if not isinstance(work, Work):
        raise wrong_result(layer, "work", work, "Work(macs, elementwise)")
    whole(layer, "work", (work.macs, work.elementwise))
    called(layer, "contractions", shapes)
    called(layer, "setting", shapes)
    return given


def called(layer: Layer, method: str, shapes: tuple[Shape, ...]) -> Any:
    try:
        return getattr(layer, method)(*shapes)
    except (ParamcountError, RecursionError, MemoryError):
        raise
    except Exception as error:
        file, position = type(layer).__module__, place_of(layer, method)
        trace = error.__traceback__
        while trace is not None:  # the last line of the layer's own module
            if trace.tb_frame.f_globals.get("__name__") == file:
                position = Position(trace.tb_frame.f_code.co_filename, trace.tb_lineno, 1)
            trace = trace.tb_next
        message = f"`{method}` of {quote(layer.kind)} failed: {type(error).__name__}: {error}"
        hint = "what a layer cannot take is a ShapeError with a message and a hint"
        raise SpecError(message, hint=hint, position=position) from error


def whole(layer: Layer, method: str, counts: tuple[Any, ...]) -> None:
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, (int, Column)):
            message = f"`{method}` of {quote(layer.kind)} gives {quote(count, repr)}, and a count is a whole number"
            raise SpecError(message, hint="count with `int`, `//` and `*`", position=place_of(layer, method))
        if isinstance(count, int) and count < 0:
            raise wrong_result(layer, method, count, "counts of at least 0")


def wrong_result(layer: Layer, method: str, given: Any, wanted: str) -> SpecError:
    message = f"`{method}` of {quote(layer.kind)} gives {quote(given, repr)}"
    return SpecError(message, hint=f"it must return {wanted}", position=place_of(layer, method))


def place_of(layer: Layer, method: str) -> Position | None:
    """Where a method of a layer is defined."""
    code = getattr(getattr(type(layer), method), "__code__", None)
    return None if code is None else Position(code.co_filename, code.co_firstlineno, 1)
