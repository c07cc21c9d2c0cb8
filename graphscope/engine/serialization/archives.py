"""Files of `torch.save`: tensors, and dicts and lists of them, read without running anything that a file says.

A file is a zip archive: a pickle of the structure, and a member of bytes for each storage that tensors lie in. Of the
pickle's language only what builds plain containers is understood; of the functions that it may name, those in NAMED.

Source: torch/serialization.py of PyTorch; the same idea is behind its `weights_only`.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, BinaryIO, Final, Literal

import numpy as np
from numpy.lib.stride_tricks import as_strided

from graphscope.engine.core import device as devices
from graphscope.engine.core.element_types import Size, bfloat16, dtype
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StateError

ELEMENTS: Final = {
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}  # fmt: skip
"""PyTorch's kinds of storages."""


class _DamageError(Exception):
    """What makes no sense in a file, in words."""


class _Kind(str):
    """The name of a storage's element type."""

    __slots__ = ()


def _tensor(
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any = False,
    hooks: Any = None,
    metadata: Any = None,
) -> Tensor:
    """A tensor over the elements of a storage; several may lie in one."""
    counts = [offset, *size, *stride] if isinstance(size, tuple) and isinstance(stride, tuple) else []
    sound = isinstance(storage, np.ndarray) and counts and len(counts) == 1 + 2 * len(size)
    if not sound or not all(isinstance(count, int) and count >= 0 for count in counts):
        raise _DamageError("a tensor in it has no sound storage, size or stride")
    last = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    if 0 not in size and last >= storage.size:
        raise _DamageError(f"a tensor of size {size} reaches beyond its storage of {storage.size} elements")
    steps = tuple(step * storage.itemsize for step in stride)
    array = np.empty(size, storage.dtype) if 0 in size else as_strided(storage[offset:], size, steps)
    return Tensor(array if array.ndim else array[()], requires_grad=bool(requires_grad))


def _parameter(data: Any, requires_grad: Any, hooks: Any) -> Any:
    from graphscope.engine.nn.parameter import Parameter

    return Parameter(data, requires_grad=bool(requires_grad))


def _text_as_bytes(text: Any, encoding: Any) -> bytes:
    if not isinstance(text, str) or encoding != "latin1":
        raise _DamageError("bytes in it are written as PyTorch does not write them")
    return text.encode("latin1")


NAMED: Final[dict[str, Any]] = {
    "collections.Counter": Counter,
    "collections.OrderedDict": OrderedDict,
    "collections.defaultdict": defaultdict,
    "_codecs.encode": _text_as_bytes,
    **{f"{home}.{kind.__name__}": kind for kind in (set, list, int, complex) for home in ("builtins", "__builtin__")},
    "torch.Size": Size,
    "torch.device": devices.device,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
    **{f"torch.{name}": _Kind(element) for name, element in ELEMENTS.items()},
    **{f"torch.{element}": element for element in ELEMENTS.values()},
}
"""All that a pickle may name: what builds containers and tensors. Dtypes are looked up when they are asked for."""

_UNDERSTOOD: Final = (
    pickle.PROTO, pickle.FRAME, pickle.STOP, pickle.MARK, pickle.POP, pickle.POP_MARK, pickle.DUP,
    pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE, pickle.BININT, pickle.BININT1, pickle.BININT2, pickle.LONG1,
    pickle.LONG4, pickle.BINFLOAT, pickle.BINUNICODE, pickle.SHORT_BINUNICODE, pickle.BINUNICODE8, pickle.BINBYTES,
    pickle.SHORT_BINBYTES, pickle.EMPTY_TUPLE, pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3,
    pickle.EMPTY_LIST, pickle.APPEND, pickle.APPENDS, pickle.EMPTY_DICT, pickle.SETITEM, pickle.SETITEMS,
    pickle.EMPTY_SET, pickle.ADDITEMS, pickle.BINGET, pickle.LONG_BINGET, pickle.BINPUT, pickle.LONG_BINPUT,
    pickle.MEMOIZE, pickle.GLOBAL, pickle.STACK_GLOBAL, pickle.REDUCE, pickle.BUILD, pickle.BINPERSID,
)  # fmt: skip
"""Of the pickle's language: numbers, text, containers, and calls of what is in NAMED."""

_ALL: Final[dict[int, Callable[[Any], None]]] = pickle._Unpickler.dispatch


def _add_attributes(unpickler: Any) -> None:
    """What an object has beside its elements: of dicts alone, as state dicts have `_metadata`."""
    state = unpickler.stack.pop()
    target = unpickler.stack[-1]
    if not isinstance(target, OrderedDict) or not isinstance(state, dict):
        raise _DamageError(f"it gives attributes to an object of {type(target).__name__}")
    vars(target).update(state)


class _Reader(pickle._Unpickler):  # the one that is written in Python
    """Reads the structure, and knows no more of the language than that takes."""

    dispatch = {  # noqa: RUF012 - as the class above has it
        **{code[0]: _ALL[code[0]] for code in _UNDERSTOOD},
        pickle.BUILD[0]: _add_attributes,
    }

    def __init__(self, text: bytes, storage: Callable[[str, str, int], np.ndarray], name: str) -> None:
        super().__init__(io.BytesIO(text))
        self._storage = storage
        self._name = name

    def find_class(self, module: str, name: str) -> Any:
        """What the pickle names, if it is harmless."""
        told = f"{module}.{name}"
        if told not in NAMED:
            raise StateError(
                f"{self._name} holds an object of {told}: to make one, code would have to run, so it is refused",
                hint="where PyTorch is: save what holds tensors alone, as torch.save(model.state_dict(), file)",
            )
        found = NAMED[told]
        return _dtype(found) if found.__class__ is str else found

    def persistent_load(self, pid: Any) -> np.ndarray:
        """The storage that a tensor lies in."""
        sound = isinstance(pid, tuple) and len(pid) == 5 and pid[0] == "storage" and isinstance(pid[1], _Kind)
        if not sound or not isinstance(pid[2], str) or not isinstance(pid[4], int):
            raise _DamageError("a storage in it is told in a way that PyTorch does not use")
        return self._storage(pid[2], str(pid[1]), pid[4])


def read_archive(file: BinaryIO, name: str) -> Any:
    """Read what `torch.save` wrote.

    Args:
        file: Open for reading.
        name: What to call it in messages.

    Raises:
        StateError: It is damaged, or holds objects other than tensors, numbers, text and plain containers.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            return _Archive(archive, name).read()
    except (_DamageError, zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise _refused(name, str(error)) from None
    except (pickle.UnpicklingError, KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise _refused(name, f"its structure can't be read ({type(error).__name__}: {error})") from None


def _refused(name: str, what: str) -> StateError:
    return StateError(f"{name} is no file of torch.save, or is damaged: {what}", hint="copy or save it again")


class _Archive:
    """The members of a file: the structure, and storages, each read once."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name
        (structure,) = [member for member in archive.namelist() if member.endswith("/data.pkl")][:1] or [""]
        if not structure:
            raise _DamageError("it has no data.pkl")
        self._folder = structure.removesuffix("data.pkl")
        order = f"{self._folder}byteorder"
        self._order: Literal["<", ">"] = ">" if order in archive.namelist() and archive.read(order) == b"big" else "<"
        self._storages: dict[str, np.ndarray] = {}

    def read(self) -> Any:
        return _Reader(self._archive.read(f"{self._folder}data.pkl"), self._storage, self._name).load()

    def _storage(self, key: str, element: str, count: int) -> np.ndarray:
        known = self._storages.get(key)
        if known is None:
            kind = self._kind(element)
            member = self._archive.getinfo(f"{self._folder}data/{key}")
            if member.file_size != count * kind.itemsize:
                raise _DamageError(
                    f"storage {key} should have {count * kind.itemsize} bytes, it has {member.file_size}"
                )
            stored = kind.newbyteorder(self._order) if kind.isnative and kind.kind != "V" else kind
            known = np.frombuffer(bytearray(self._archive.read(member)), stored)
            known = self._storages[key] = known if stored == kind else known.astype(kind)
        return known

    def _kind(self, element: str) -> np.dtype:
        try:
            return np.dtype(_dtype(element).dtype)
        except TypeError as error:
            raise StateError(f"{self._name} holds tensors of {element}: {error}") from None


def _dtype(element: str) -> dtype:
    return bfloat16 if element == "bfloat16" else dtype(element)
