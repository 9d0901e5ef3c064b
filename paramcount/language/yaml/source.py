"""Files of specs: where those of the package are, their text, and a plain word about all else that a path leads to."""

from __future__ import annotations

import os
import re
from typing import BinaryIO

from paramcount.errors import Position, SpecError, quote

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = (os.path.join(PACKAGE, "configs"), os.path.join(os.path.dirname(PACKAGE), "configs"))  # wheel, checkout
LARGEST = 1 << 20

# Patterns stay text until a mistake needs them: compiling them would slow down every start.
LINE_BREAK = "\r\n|[\r\n\x85\u2028\u2029]"
UNPRINTABLE = "[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
TAB_INDENT = r"(?m)^ *\t[ \t]*(?=[^\s#])"

BY_ENDING = {
    ".safetensors": "a safetensors checkpoint",
    ".onnx": "an ONNX model",
    ".pt": "a PyTorch checkpoint",
    ".pth": "a PyTorch checkpoint",
    ".ckpt": "a checkpoint",
    ".bin": "a binary file",
    ".h5": "an HDF5 file",
    ".hdf5": "an HDF5 file",
    ".keras": "a Keras model",
    ".pb": "a TensorFlow graph",
    ".tflite": "a TensorFlow Lite model",
    ".gguf": "a GGUF model",
    ".npy": "a NumPy array",
    ".npz": "a NumPy archive",
    ".pkl": "a Python pickle",
    ".msgpack": "a MessagePack file",
}
BY_FIRST_BYTES = {
    b"PK\x03\x04": "a zip archive, as PyTorch and Keras write them",
    b"\x89HDF": "an HDF5 file",
    b"GGUF": "a GGUF model",
    b"\x93NUMPY": "a NumPy array",
    b"\x80\x02": "a Python pickle",
    b"\x80\x04": "a Python pickle",
    b"\x1f\x8b": "a gzip archive",
    b"\x89PNG": "a PNG picture",
    b"%PDF": "a PDF file",
    b"\x7fELF": "a program",
}
UTF16 = (b"\xff\xfe", b"\xfe\xff")
NOT_A_SPEC = "paramcount reads specs: YAML text with `input:` and `layers:`"
SAVE_AS_UTF8 = "save the file as UTF-8"


def read_source(path: str) -> str:
    """The text of a file, without a byte order mark; raises SpecError where it is not a spec."""
    return as_text(read_bytes(path), path)


def read_stream(stream: BinaryIO, name: str) -> str:
    """The same for a stream, such as standard input; it is read no further than the largest spec."""
    try:
        return as_text(stream.read(LARGEST + 1), name)
    except OSError as problem:
        raise SpecError(f"{quote(name)} cannot be read: {problem.strerror or problem}") from None


def as_text(data: bytes, path: str) -> str:
    """Bytes as the text of a spec; `path` names them in errors."""
    what = BY_ENDING.get(os.path.splitext(path)[1].lower()) or safetensors(data)
    for first, name in BY_FIRST_BYTES.items():
        if not what and data.startswith(first):
            what = name
    if what:
        raise SpecError(f"{quote(path)} is {what}, not a spec", hint=NOT_A_SPEC)
    if is_saved(data) and b'"layers"' not in data:
        hint = "`paramcount compare` and `paramcount check` take it"
        raise SpecError(f"{quote(path)} is a count that was saved, not a spec", hint=hint)
    if len(data) > LARGEST:
        raise SpecError(f"{quote(path)} is larger than 1 MiB, the most that a spec may have", hint=NOT_A_SPEC)
    if data.startswith(UTF16):
        position = Position(path, 1, 1)
        raise SpecError(f"byte 0x{data[0]:02X}: this is UTF-16, not UTF-8", hint=SAVE_AS_UTF8, position=position)
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as problem:
        raise not_utf8(data, problem.start, path) from None


def read_bytes(path: str) -> bytes:
    """The first bytes of a file, one more than a spec may have."""
    try:
        with open(path, "rb") as file:
            return file.read(LARGEST + 1)
    except IsADirectoryError:
        names = specs_in(path)
        hint = "name a file in it: " + ", ".join(quote(name) for name in names[:5]) if names else "name a spec file"
        raise SpecError(f"{quote(path)} is a directory", hint=hint) from None
    except FileNotFoundError:
        from paramcount.errors.suggest import nearest

        folder, name = os.path.split(path)
        guess = nearest(name, specs_in(folder or "."))
        hint = f"did you mean {quote(os.path.join(folder, guess))}?" if guess else "check the path"
        raise SpecError(f"there is no file {quote(path)}", hint=hint) from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not a path"
        raise SpecError(f"{quote(path)} cannot be read: {reason}", hint="check the path and its permissions") from None


def absolute(path: str) -> str:
    """The absolute path of a file; raises SpecError where it depends on a working directory that was deleted."""
    try:
        return os.path.abspath(path)
    except OSError:
        hint = "change to a directory that exists"
        raise SpecError(f"{quote(path)} is in a working directory that was deleted", hint=hint) from None


def shown_path(file: str) -> str:
    """A path as the user would write it: relative where that is shorter."""
    try:
        relative = os.path.relpath(file)
    except (ValueError, OSError):  # on another drive; the working directory was deleted
        return file
    return relative if len(relative) < len(file) else file


def shipped_specs() -> list[str]:
    """The names of the specs that come with the package."""
    for folder in FOLDERS:
        if os.path.isdir(folder):
            return sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".yaml"))
    return []


def specs_in(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith((".yaml", ".yml")))
    except OSError:
        return []


def is_saved(data: bytes) -> bool:
    """Whether bytes look like a count that was saved as JSON rather than a spec, which may be written as JSON too."""
    return data.lstrip()[:1] == b"{" and b'"schema"' in data[:1000]


def safetensors(data: bytes) -> str | None:
    """The word for a safetensors file, which starts with the length of its JSON header."""
    return "a safetensors checkpoint" if data[8:10] == b'{"' and b"\0" in data[:8] else None


def not_utf8(data: bytes, start: int, path: str) -> SpecError:
    """The error for the first byte that is not UTF-8."""
    text = data[:start].decode().removeprefix("\ufeff")
    refuse_characters(text, path)
    message = f"byte 0x{data[start]:02X}, number {start + 1:,} of the file, is not UTF-8"
    return SpecError(message, hint=SAVE_AS_UTF8, position=position_at(text, start, path))


def refuse_characters(text: str, file: str) -> None:
    """Raises SpecError for a control character, or a TAB that indents."""
    if text.replace("\n", "").isprintable():
        return
    found = re.search(UNPRINTABLE, text)
    if found:
        raise control_character(text, found.start(), file)
    if "\t" in text:
        found = re.search(TAB_INDENT, text)
        if found:
            raise tab_error(position_at(text, text.index("\t", found.start()), file))


def control_character(text: str, index: int, file: str) -> SpecError:
    position = position_at(text, index, file)
    code = ord(text[index])
    if code == 0:
        hint = "this is a binary file, or UTF-16: " + SAVE_AS_UTF8
        return SpecError("byte 0x00 (NUL), which no text holds", hint=hint, position=position)
    what = f"byte 0x{code:02X}" if code < 0x80 else f"U+{code:04X}"
    return SpecError(f"the control character {what}", hint="remove it", position=position)


def tab_error(position: Position) -> SpecError:
    return SpecError("there is a TAB on this line", hint="YAML indents with spaces; replace the TAB", position=position)


def split_lines(text: str) -> list[str]:
    """The lines of a text, where YAML breaks them."""
    return re.split(LINE_BREAK, text)


def position_at(text: str, index: int, file: str) -> Position:
    """The position of a character, by its index in the text."""
    lines = split_lines(text[:index])
    return Position(file, len(lines), len(lines[-1]) + 1)
