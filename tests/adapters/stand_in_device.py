"""A stand-in for a CUDA device, whose memory is that of this machine: what the driver does is done here, with NumPy.

Tensors of the processor are said to lie on it. Its clock goes on by 7 ms from event to event. Where there is a real
device the same tests use that.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest
import torch

from graphscope.adapters.torch import (
    backward,
    compiled,
    cuda_driver,
    devices,
    remote_values,
    sites,
    tensor_base,
    tensor_elements,
    values,
)
from graphscope.adapters.torch.promised_values import SLOT
from graphscope.adapters.torch.tensor_base import Own
from graphscope.adapters.torch.tensor_properties import ORDINARY

TICK: Final = 7_000_000
"""Nanoseconds from one event to the next."""
_DTYPES: Final = {
    name: np.dtype(name)
    for name in ("float32", "float16", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64")
} | {"bfloat16": np.dtype("u2")}
_NAMES: Final = tuple(_DTYPES)
_ON_CUDA: Final = 2
_SIGN: Final = np.uint64(1 << 63)


def _put(place: int, value: int) -> None:
    ctypes.c_uint64.from_address(place).value = value


def _at(place: int) -> int:
    return ctypes.c_uint64.from_address(place).value


def _memory(address: int, size: int) -> np.ndarray:
    return np.frombuffer((ctypes.c_char * size).from_address(address), np.uint8)


class Library:
    """What `libcuda` offers, as far as recording asks it. `refuses` names functions that fail."""

    def __init__(self) -> None:
        self.refuses: set[str] = set()
        self.launched = self.clock = 0
        self._moments: dict[int, int] = {}
        self._allocated: dict[int, np.ndarray] = {}
        for name, arguments in cuda_driver.FUNCTIONS.items():
            setattr(self, name, ctypes.CFUNCTYPE(ctypes.c_int, *arguments)(self._answering(name)))

    def _answering(self, name: str) -> Any:
        function = getattr(self, f"_{name}")

        def answer(*given: Any) -> int:
            if name in self.refuses:
                return 700  # CUDA_ERROR_ILLEGAL_ADDRESS
            return int(function(*given) or 0)

        return answer

    def _cuModuleLoadData(self, module: int, _: bytes) -> None:
        _put(module, 1)

    def _cuModuleGetFunction(self, function: int, _: int, name: bytes) -> int:
        dtype = name.decode().removeprefix("measure_")
        if dtype not in _NAMES:
            return 500  # CUDA_ERROR_NOT_FOUND
        _put(function, 1 + _NAMES.index(dtype))
        return 0

    def _cuLaunchKernel(self, function: int, *given: Any) -> None:
        self.launched += 1
        data, count, row, stride, slot = (_at(_at(given[8] + 8 * place)) for place in range(5))
        _measure(_NAMES[function - 1], data, count, row, stride, slot)

    def _cuMemAlloc_v2(self, place: int, size: int) -> None:
        found = np.full(size, 0x55, np.uint8)
        self._allocated[found.ctypes.data] = found
        _put(place, found.ctypes.data)

    def _cuMemFree_v2(self, address: int) -> None:
        del self._allocated[address]

    def _cuMemsetD8Async(self, address: int, value: int, size: int, _: int) -> None:
        ctypes.memset(address, value, size)

    def _cuMemcpyDtoDAsync_v2(self, to: int, address: int, size: int, _: int) -> None:
        ctypes.memmove(to, address, size)

    def _cuMemcpyDtoH_v2(self, to: int, address: int, size: int) -> None:
        ctypes.memmove(to, address, size)

    def _cuStreamSynchronize(self, _: int) -> None: ...

    def _cuEventCreate(self, place: int, _: int) -> None:
        _put(place, 1000 + len(self._moments))
        self._moments[1000 + len(self._moments)] = 0

    def _cuEventRecord(self, event: int, _: int) -> None:
        self.clock += 7
        self._moments[event] = self.clock

    def _cuEventElapsedTime(self, place: int, first: int, last: int) -> None:
        ctypes.c_float.from_address(place).value = self._moments[last] - self._moments[first]

    def _cuEventDestroy_v2(self, event: int) -> None:
        del self._moments[event]


def _key(numbers: np.ndarray) -> np.ndarray:
    bits = numbers.view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _measure(name: str, data: int, count: int, row: int, stride: int, slot: int) -> None:
    """What `statistics.cu` says."""
    dtype = _DTYPES[name]
    rows = count // row
    elements = _memory(data, ((rows - 1) * stride + row) * dtype.itemsize).view(dtype)
    if rows > 1:
        elements = np.lib.stride_tricks.as_strided(elements, (rows, row), (stride * dtype.itemsize, dtype.itemsize))
    if name == "bfloat16":
        elements = (elements.astype(np.uint32) << 16).view(np.float32)
    numbers = (np.abs(elements) if name == "complex64" else elements).astype(np.float64).ravel()
    finite = numbers[np.isfinite(numbers)]
    shift = numbers[0] if np.isfinite(numbers[0]) else 0.0
    found = _memory(slot, SLOT.itemsize).view(SLOT)
    found["sum"] += (finite - shift).sum()
    found["squares"] += np.square(finite - shift).sum()
    found["shift"] = shift
    if finite.size:
        found["most"] = max(found["most"][0], _key(finite).max())
        found["least"] = max(found["least"][0], (~_key(finite)).max())
    for field, counted in (("nan", np.isnan(numbers)), ("inf", np.isinf(numbers)), ("zero", finite == 0)):
        found[field] += np.uint64(counted.sum())


class _Exchange(ctypes.Structure):
    """DLPack's table of functions, version 1."""

    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("before", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p), ("managed_from_object", ctypes.c_void_p),
        ("managed_to_object", ctypes.c_void_p), ("from_object", ctypes.c_void_p), ("stream", ctypes.c_void_p),
    )  # fmt: skip


_LOOK: Final = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_DEVICE_AT: Final = 8
"""Where DLPack's tensor tells of its device."""
_CAPSULE: Final = b"dlpack_exchange_api"


@contextmanager
def _seen_on_it() -> Iterator[None]:
    """Let compiled code see all tensors on the device."""
    table = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if compiled.look_through is None or table is None:
        yield
        return
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    given = _Exchange.from_address(api.PyCapsule_GetPointer(table, _CAPSULE))
    original = _LOOK(given.from_object)

    @_LOOK
    def from_object(tensor: int, seen: int) -> int:
        code: int = original(tensor, seen)
        if code == 0:
            ctypes.c_int32.from_address(seen + _DEVICE_AT).value = _ON_CUDA
        return code

    changed = _Exchange.from_buffer_copy(given)
    changed.from_object = ctypes.cast(from_object, ctypes.c_void_p).value
    capsule = api.PyCapsule_New(ctypes.addressof(changed), _CAPSULE, None)
    compiled.look_through(capsule, compiled.measure, ORDINARY, Own)
    try:
        yield
    finally:
        compiled.look_through(table, compiled.measure, ORDINARY, Own)


class _Instead:
    """An object of which some answers are others."""

    def __init__(self, of: Any, **answers: Any) -> None:
        self._of = of
        vars(self).update(answers)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)


class Device:
    """Where programs of tests compute.

    Args:
        name: What torch is to be told.
        library: The stand-in; None: the device is real.
    """

    def __init__(self, name: str, library: Library | None) -> None:
        self.name = name
        self.library = library
        self.capturing = False

    @property
    def is_real(self) -> bool:
        """Whether it is."""
        return self.library is None


def _stand_in(patch: pytest.MonkeyPatch) -> Device:
    library = Library()
    device = Device("cpu", library)
    found = cuda_driver.Driver(library)
    patch.setattr(remote_values, "driver", lambda: found)
    patch.setattr(torch._C, "_cuda_getCurrentRawStream", lambda index: 5, raising=False)
    patch.setattr(torch._C, "_cuda_getDevice", lambda: 0, raising=False)
    patch.setattr(torch._C, "_cuda_isCurrentStreamCapturing", lambda: device.capturing, raising=False)
    properties = SimpleNamespace(multi_processor_count=4)
    patch.setattr(torch.cuda, "get_device_properties", lambda index: properties)
    for module in (tensor_elements, devices, sites):
        patch.setattr(module, "is_remote", lambda tensor: True)
    place = SimpleNamespace(type="cuda", index=0)
    base: Any = _Instead(
        tensor_base, is_cuda=lambda tensor: True, is_cpu=lambda tensor: False, device=lambda tensor: place
    )
    for module in (remote_values, sites, values, backward):
        patch.setattr(module, "tensor_base", base)
    patch.setattr(remote_values, "Own", _Instead(Own, get_device=lambda tensor: 0))
    return device


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """A CUDA device, or what stands in for one."""
    if torch.cuda.is_available() and not os.environ.get("GRAPHSCOPE_STAND_IN"):
        yield Device("cuda", None)
        return
    with _seen_on_it():
        yield _stand_in(monkeypatch)
