"""The idx format of MNIST's files: a magic number of element type and rank, the sizes, the elements, all big-endian."""

from __future__ import annotations

import gzip
import zlib
from math import prod
from pathlib import Path

import numpy

from paramcount.errors import ArgumentError, quote

ELEMENTS = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}  # by the third byte
GZIP = b"\x1f\x8b"  # idx never begins with this, so the file's name does not matter


def read_idx(path: str | Path) -> numpy.ndarray:
    """The array in an idx file, gzipped or not: any element type, any rank; as stored, in the machine's byte order.

    Raises ArgumentError if the content is not idx, is too short or too long, or cannot be unpacked, and OSError if the
    file cannot be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels-idx1-ubyte")
    ...     _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))  # unsigned bytes, rank 1, 3 of them
    ...     read_idx(path)
    array([7, 2, 1], dtype=uint8)
    """
    content = Path(path).read_bytes()
    if content.startswith(GZIP):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            message = f"{quote(path)} is a damaged gzip file: {str(error).rstrip('.')}"
            raise ArgumentError(message, hint="download it again") from error
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in ELEMENTS:
        message = f"{quote(path)} is not an idx file: it begins with {quote(content[:4].hex(' ') or 'nothing')}"
        elements = ", ".join(f"{code:02x}" for code in ELEMENTS)
        raise ArgumentError(message, hint=f"idx begins with 00 00, a type (one of {elements}), and the rank")
    dtype, rank = numpy.dtype(ELEMENTS[content[2]]), content[3]
    start = 4 + 4 * rank
    sizes = [int.from_bytes(content[place : place + 4], "big") for place in range(4, start, 4)]
    expected = start + prod(sizes) * dtype.itemsize
    if len(content) < start:
        raise ArgumentError(f"{quote(path)} is cut off: it ends within its {rank} sizes", hint="download it again")
    if len(content) != expected:
        fault = "is cut off" if len(content) < expected else "is too long"
        message = f"{quote(path)} {fault}: {' × '.join(map(str, sizes)) or 'one'} {dtype.name} elements"
        raise ArgumentError(f"{message} take {expected} bytes, but it has {len(content)}", hint="download it again")
    try:
        return numpy.frombuffer(content, dtype, offset=start).reshape(sizes).astype(dtype.newbyteorder("="))
    except ValueError as error:  # more than 64 axes, or no elements along an axis and too many along others
        raise ArgumentError(f"{quote(path)} is not a valid array: {error}", hint="download it again") from error
