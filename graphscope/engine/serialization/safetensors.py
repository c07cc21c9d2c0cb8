"""State dicts in files: the safetensors format, which holds tensors and text and no code.

A file is the length of a header (8 bytes), the header (JSON: each tensor's dtype, shape and place), and the elements.
A dict of tensors is written as it is, so that other programs read it; anything else that training needs (numbers,
text, lists, dicts within dicts, as optimizers have them) goes into the header's metadata, with its tensors by name.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.serialization.structure import decode, encode
from graphscope.errors import StateError

CODES: Final = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16",
    "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8",
    "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8",
    "BOOL": "bool", "C64": "complex64",
}  # fmt: skip
"""The format's names of element types."""
NAMES: Final = {name: code for code, name in CODES.items()}
LONGEST_HEADER: Final = 100_000_000
"""As the format's own readers limit it."""
KEY: Final = "graphscope"
"""Where in the metadata the structure of what is no plain dict of tensors is."""


def save(obj: Any, f: Any) -> None:
    """Write tensors, and dicts and lists of tensors, numbers and text, to a `.safetensors` file.

    Args:
        obj: A state dict of a module or optimizer, or a dict of such: `{"model": ..., "optimizer": ..., "epoch": 3}`.
        f: A path, or a file that is open for writing. A path appears when all is written.

    Raises:
        TypeError: There is something in it that can't be written without pickle.
    """
    tensors: dict[str, np.ndarray] = {}
    metadata: dict[str, str] = {}
    if isinstance(obj, Mapping) and obj and all(isinstance(k, str) and _plain(v) for k, v in obj.items()):
        tensors = {name: np.asarray(value.array) for name, value in obj.items()}
    else:
        metadata[KEY] = json.dumps(encode(obj, tensors))
    if hasattr(f, "write"):
        _write(f, tensors, metadata)
        return
    where = Path(os.fspath(f))
    handle, temporary = tempfile.mkstemp(dir=where.parent, prefix=f".{where.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            _write(file, tensors, metadata)
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(where)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _plain(value: Any) -> bool:
    return isinstance(value, Tensor) and value.node is None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write(file: Any, tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> None:
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    order = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))  # each is aligned to its elements
    place = 0
    for name in order:
        array = tensors[name]
        code = NAMES.get(array.dtype.name)
        if code is None:
            raise TypeError(f"save: {name} is a tensor of {array.dtype}, which the format has no name for")
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [place, place + array.nbytes]}
        place += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for name in order:
        file.write(np.ascontiguousarray(tensors[name]).tobytes())


def read(file: BinaryIO, name: str) -> Any:
    """Read what `save`, or another program, wrote.

    Args:
        file: Open for reading.
        name: What to call it in messages.

    Raises:
        StateError: The file is damaged, or is none of tensors.
    """
    start = file.tell()
    total = file.seek(0, os.SEEK_END) - start
    file.seek(start)
    header = _header(file, name, total)
    base = file.tell()
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for key, entry in header.items():
        file.seek(base + entry["data_offsets"][0])
        data = bytearray(file.read(entry["data_offsets"][1] - entry["data_offsets"][0]))
        array = np.frombuffer(data, _dtype(entry["dtype"], name)).reshape(entry["shape"])
        tensors[key] = Tensor(array if array.ndim else array[()])
    if KEY not in metadata:
        return tensors
    try:
        return decode(json.loads(metadata[KEY]), tensors)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(name, f"its structure can't be read ({error})") from None


def _header(file: BinaryIO, name: str, total: int) -> dict[str, Any]:
    """The header, with every entry found to be sound."""
    length = int.from_bytes(file.read(8), "little")
    if total < 8 or length > min(total - 8, LONGEST_HEADER):
        raise _damaged(name, f"its header should have {length} bytes, the file has {total}")
    try:
        header = json.loads(file.read(length))
    except (ValueError, RecursionError) as error:
        raise _damaged(name, f"its header is no JSON ({error})") from None
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__", {}), dict):
        raise _damaged(name, "its header is no table of tensors")
    spans = []
    for key, entry in header.items():
        if key == "__metadata__":
            continue
        try:
            begin, end = entry["data_offsets"]
            size = math.prod(entry["shape"]) * _dtype(entry["dtype"], name).itemsize
            sound = all(isinstance(n, int) and n >= 0 for n in (begin, end, *entry["shape"])) and end - begin == size
        except (TypeError, KeyError, ValueError):
            sound = False
        if not sound:
            raise _damaged(name, f"its entry for {key} makes no sense")
        spans.append((begin, end))
    place = 0
    for begin, end in sorted(spans):
        if begin != place:
            raise _damaged(name, f"its tensors overlap or leave a gap at byte {place}")
        place = end
    if place != total - 8 - length:
        raise _damaged(name, f"its tensors should have {place} bytes, {total - 8 - length} are there")
    return header


def _dtype(code: Any, name: str) -> np.dtype:
    if code not in CODES:
        raise StateError(f"{name} holds a tensor of type {code!r}, which there is none of here")
    try:
        return np.dtype(CODES[code])
    except TypeError:
        raise StateError(
            f"{name} holds a tensor of type {CODES[code]}, which NumPy alone does not have",
            hint="install ml_dtypes",
        ) from None


def _damaged(name: str, what: str) -> StateError:
    return StateError(f"{name} is no file of tensors, or is damaged: {what}", hint="copy or save it again")
