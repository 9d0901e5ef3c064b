"""What users pass as arrays: those of NumPy, PyTorch and JAX, and lists of numbers."""

from __future__ import annotations

import sys
from typing import Any

import numpy

from paramcount.errors import ArgumentError, quote


def array_of(value: Any) -> numpy.ndarray:
    """A tensor, an array, a number, or nested lists of numbers as a NumPy array that JAX takes.

    A PyTorch tensor may be on any device, require a gradient, or be bfloat16. A NumPy array stays the same object,
    except for another byte order and for longdouble, which becomes float64. Raises ArgumentError if it is not numeric.

    >>> array_of([[1, 2], [3, 4]]).shape, array_of(numpy.ones(2, ">f4")).dtype
    ((2, 2), dtype('float32'))
    """
    torch = sys.modules.get("torch")  # if it was never imported, nothing is a tensor
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        if value.dtype != torch.bfloat16:
            return value.numpy()
        from ml_dtypes import bfloat16

        return value.view(torch.int16).numpy().view(bfloat16)
    try:
        array = numpy.asarray(value)  # a NumPy array stays the same object
    except ValueError as error:
        raise ArgumentError("lists of different lengths cannot form an array", hint="pad them to one length") from error
    if array.dtype.kind in "OSUMm" or array.dtype.names:
        what = f"an array of {array.dtype}" if array is value else quote(type(value).__name__)
        raise ArgumentError(f"{what} does not hold numbers")
    if array.dtype == numpy.longdouble:
        return array.astype(numpy.float64, copy=False)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
