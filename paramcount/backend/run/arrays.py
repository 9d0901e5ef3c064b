"""What users hand over as arrays: NumPy's, PyTorch's and JAX's, numbers and lists of them."""

from __future__ import annotations

import sys
from typing import Any

import numpy

from paramcount.errors import ArgumentError, quote


def array_of(value: Any) -> numpy.ndarray:
    """A tensor, an array, a number, or nested lists of numbers as a NumPy array that JAX takes.

    A tensor of PyTorch may be on any device, want a gradient, or be bfloat16. An array of NumPy stays the same object,
    but for another byte order and for longdouble, which becomes float64. Raises ArgumentError for what is no number.

    >>> array_of([[1, 2], [3, 4]]).shape, array_of(numpy.ones(2, ">f4")).dtype
    ((2, 2), dtype('float32'))
    """
    torch = sys.modules.get("torch")  # where it was never imported, nothing is a tensor
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        if value.dtype != torch.bfloat16:
            return value.numpy()
        from ml_dtypes import bfloat16

        return value.view(torch.int16).numpy().view(bfloat16)
    try:
        array = numpy.asarray(value)  # one of NumPy's stays the same object
    except ValueError as error:
        raise ArgumentError("lists of different lengths make no array", hint="pad them to one length") from error
    if array.dtype.kind in "OSUMm" or array.dtype.names:
        what = f"an array of {array.dtype}" if array is value else quote(type(value).__name__)
        raise ArgumentError(f"{what} holds no numbers")
    if array.dtype == numpy.longdouble:
        return array.astype(numpy.float64, copy=False)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
