"""The memory of this machine in the place of a CUDA device's, for tests: tensors are said to lie there.

What is copied from there is here when an event behind the copy was waited for, not before.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pytest
import torch

from graphscope.adapters.torch import compiled, remote_numbers, remote_values, tensor_base
from graphscope.adapters.torch.cuda_driver import FUNCTIONS, Driver
from graphscope.adapters.torch.promised_values import SLOT
from graphscope.adapters.torch.remote_values import KERNELS
from graphscope.adapters.torch.tensor_base import ORDINARY, Own

_WHOLE: Final = (f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
MEASURED: Final = frozenset(("float32", "float16", "bfloat16", "complex64", "bool", *_WHOLE))
"""The dtypes that `statistics.cu` has kernels for."""
TICK: Final = 7
"""So many milliseconds are between one event and the next, whatever is queued."""


@dataclass
class Device:
    """What a test has in hand."""

    name: str
    """Where its tensors are to be made, as torch spells it."""
    is_real: bool = False
    here: list[Any] = field(default_factory=list)
    """Tensors that are said to lie in memory of this machine all the same."""
    elsewhere: list[Any] = field(default_factory=list)
    """And some that are said to lie on another device."""
    is_capturing: bool = False
    """Whether a graph of its work is said to be captured."""
    time: int = 0
    """Events that were queued."""
    waited: list[int] = field(default_factory=list)
    """How many events were queued already behind each one that was waited for."""
    launched: int = 0
    """So many kernels were."""
    refuses: set[str] = field(default_factory=set)
    """Functions of the driver that are to fail."""
    refused: list[str] = field(default_factory=list)
    """Those that did."""
    current: int = 0
    """The number of the device that is current: another one is not there but in name."""
    stream: int = 5
    """The one that the program uses."""
    events: int = 0
    """So many were made."""
    direction: int = 1
    """-1: an event is said to have happened ahead of those before it."""
    held: Callable[[], object] = lambda: None
    """What is done by who waits for a stream."""
    queued: Callable[[], object] = lambda: None
    """What is done by who has a kernel launched."""

    def number(self, tensor: Any) -> int:
        """The number of the device that a tensor is said to lie on."""
        return int(any(tensor is each for each in self.elsewhere))

    def has(self, tensor: Any) -> bool:
        """Whether a tensor is said to lie there."""
        return not any(tensor is each for each in self.here)


class Library:
    """What such a device's driver offers, as functions of C; see `cuda_driver.FUNCTIONS`."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._memory: list[np.ndarray] = []
        self._contexts: list[int] = []
        self._coming: list[Callable[[], object]] = []
        """The copies to this machine that are queued."""
        self._events: dict[int, tuple[int, int]] = {}
        """When each event was queued, and behind how many copies."""
        for name, given in FUNCTIONS.items():
            setattr(self, name, ctypes.CFUNCTYPE(ctypes.c_int, *given)(self._answering(name)))

    def _answering(self, name: str) -> Callable[..., int]:
        function = getattr(self, f"_{name}", lambda *given: 0)

        def answer(*given: Any) -> int:
            if name not in self._device.refuses:
                return function(*given)
            self._device.refused.append(name)
            return _REFUSED

        return answer

    def _cuModuleGetFunction(self, place: int, module: int, name: bytes) -> int:
        kernel = name.decode().removeprefix("measure_")
        if kernel not in MEASURED:
            return _NOT_FOUND
        _put(place, KERNELS.index(kernel) + 1)
        return 0

    def _cuLaunchKernel(self, kernel: int, *given: Any) -> int:
        self._device.launched += 1
        self._device.queued()
        arguments = ctypes.cast(given[8], ctypes.POINTER(ctypes.c_void_p))
        _measure(KERNELS[kernel - 1], *(ctypes.c_uint64.from_address(arguments[each] or 0).value for each in range(5)))
        return 0

    def _cuMemAlloc_v2(self, place: int, size: int) -> int:
        if self._device.current:
            return _REFUSED
        self._memory.append(np.full(size, 0x55, np.uint8))
        _put(place, self._memory[-1].ctypes.data)
        return 0

    def _cuMemHostAlloc(self, place: int, size: int, flags: int) -> int:
        return self._cuMemAlloc_v2(place, size)

    def _cuMemsetD8Async(self, place: int, value: int, size: int, stream: int) -> int:
        ctypes.memset(place, value, size)
        return 0

    def _cuMemcpyDtoDAsync_v2(self, to: int, source: int, size: int, stream: int) -> int:
        (ctypes.c_char * size).from_address(to)[:] = ctypes.string_at(source, size)  # with no other thread meanwhile
        return 0

    def _cuMemcpyDtoH_v2(self, to: int, source: int, size: int) -> int:
        ctypes.memmove(to, source, size)
        return 0

    def _cuMemcpyDtoHAsync_v2(self, to: int, source: int, size: int, stream: int) -> int:
        content = ctypes.string_at(source, size)
        self._coming.append(lambda: ctypes.memmove(to, content, size))
        return 0

    def _cuCtxGetCurrent(self, place: int) -> int:
        _put(place, 1 + self._device.current)
        return 0

    def _cuCtxPushCurrent_v2(self, context: int) -> int:
        self._contexts.append(self._device.current)
        self._device.current = context - 1
        return 0

    def _cuCtxPopCurrent_v2(self, place: int) -> int:
        self._device.current = self._contexts.pop()
        return 0

    def _cuStreamSynchronize(self, stream: int) -> int:
        if self._device.current:
            return _REFUSED
        self._device.held()
        self._come(len(self._coming))
        return int(self._device.is_capturing)

    def _cuEventCreate(self, place: int, flags: int) -> int:
        self._device.events += 1
        _put(place, len(self._events) + 1)
        self._events[len(self._events) + 1] = 0, 0
        return 0

    def _cuEventRecord(self, event: int, stream: int) -> int:
        self._device.time += 1
        self._events[event] = self._device.time, len(self._coming)
        return 0

    def _cuEventSynchronize(self, event: int) -> int:
        time, copies = self._events[event]
        self._device.waited.append(self._device.time - time)
        self._come(copies)
        return int(self._device.is_capturing)

    def _cuEventElapsedTime(self, place: int, first: int, last: int) -> int:
        ctypes.c_float.from_address(place).value = (
            self._device.direction * TICK * (self._events[last][0] - self._events[first][0])
        )
        return 0

    def _come(self, count: int) -> None:
        for place in range(count):
            self._coming[place]()
            self._coming[place] = lambda: None


_REFUSED: Final = 700
_NOT_FOUND: Final = 500
"""Codes of the driver: of an address that is none, and of what is not there."""


def _put(place: int, value: int) -> None:
    ctypes.c_uint64.from_address(place).value = value


def _measure(dtype: str, address: int, count: int, row: int, stride: int, slot: int) -> None:
    """What `statistics.cu` does: measure elements that lie in rows, of which one begins `stride` behind another."""
    kind = np.dtype({"bfloat16": "u2", "bool": "?", "complex64": "c8"}.get(dtype, dtype))
    starts = np.arange(count // row) * stride
    content = ctypes.string_at(address, (int(starts[-1]) + row) * kind.itemsize)
    elements = np.frombuffer(content, kind)[starts[:, None] + np.arange(row)].ravel()
    if dtype == "bfloat16":
        elements = (elements.astype(np.uint32) << 16).view(np.float32)
    numbers = (np.abs(elements) if kind.kind == "c" else elements).astype(np.float64)
    found = np.frombuffer((ctypes.c_char * SLOT.itemsize).from_address(slot), SLOT, 1)
    finite = numbers[np.isfinite(numbers)]
    shift = numbers[0] if np.isfinite(numbers[0]) else 0
    found["shift"] = shift
    found["sum"] += (finite - shift).sum()
    found["squares"] += ((finite - shift) ** 2).sum()
    if len(finite):
        found["most"] = max(found["most"][0], _keys(finite).max())
        found["least"] = max(found["least"][0], (~_keys(finite)).max())
    for name, which in ("nan", np.isnan(numbers)), ("inf", np.isinf(numbers)), ("zero", finite == 0):
        found[name] += np.uint64(which.sum())


def _keys(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers in the order of these."""
    bits, sign = numbers.view(np.uint64), np.uint64(1 << 63)
    return np.where(bits & sign, ~bits, bits | sign)


class _Exchange(ctypes.Structure):
    """DLPack's table of functions, as torch fills it."""

    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
        *((name, ctypes.c_void_p) for name in ("before", "allocate", "own", "to_object", "from_object", "stream")),
    )  # fmt: skip


_DEVICE_AT: Final = 8
_NUMBER_AT: Final = 12
_ON_CUDA: Final = 2
_POINTER_OF: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_CAPSULE_OF: Final = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_LOOK: Final = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_TABLE: Final = b"dlpack_exchange_api"


@contextlib.contextmanager
def _seen_there(device: Device) -> Iterator[None]:
    """With compiled code told by DLPack's table that tensors lie on the device."""
    real = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if compiled.look_through is None:
        yield
        return
    shown, kept = None, []
    if real is not None:
        table = _Exchange.from_address(_POINTER_OF(("PyCapsule_GetPointer", ctypes.pythonapi))(real, _TABLE))
        look = _LOOK(table.from_object)

        @_LOOK
        def from_object(tensor: int, seen: int) -> int:
            try:
                code = look(tensor, seen)
            except Exception:  # torch has set it, and compiled code asks for the code alone
                return -1
            if not code and all(tensor != id(each) for each in device.here):
                ctypes.c_int32.from_address(seen + _DEVICE_AT).value = _ON_CUDA
                number = int(any(tensor == id(each) for each in device.elsewhere))
                ctypes.c_int32.from_address(seen + _NUMBER_AT).value = number
            return int(code)

        ours = _Exchange.from_buffer_copy(table)
        ours.from_object = ctypes.cast(from_object, ctypes.c_void_p).value
        kept = [from_object, ours]
        shown = _CAPSULE_OF(("PyCapsule_New", ctypes.pythonapi))(ctypes.addressof(ours), _TABLE, None)
    compiled.look_through(shown, compiled.measure, ORDINARY, Own)
    yield
    compiled.look_through(real, compiled.measure, ORDINARY, Own)
    kept.clear()


class _Lying:
    """Torch's methods of tensors, by which they lie on the device."""

    def __init__(self, device: Device) -> None:
        self.get_device = device.number

    def __getattr__(self, name: str) -> Any:
        return getattr(Own, name)


def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """A CUDA device where there is one, else the memory of this machine."""
    if torch.cuda.is_available():
        yield Device("cuda", is_real=True)
        return
    found = Device("cpu")
    driver = Driver(Library(found))
    for module in (remote_values, remote_numbers):
        monkeypatch.setattr(module, "driver", lambda: driver)
    for name, answer in (
        ("_cuda_getCurrentRawStream", lambda index: found.stream),
        ("_cuda_getDevice", lambda: found.current),
        ("_cuda_setDevice", lambda index: setattr(found, "current", index)),
        ("_cuda_isCurrentStreamCapturing", lambda: found.is_capturing),
    ):
        monkeypatch.setattr(torch._C, name, answer, raising=False)
    properties = type("Properties", (), {"multi_processor_count": 4})
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: properties)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: found.is_capturing)
    monkeypatch.setattr(remote_values, "Own", _Lying(found))
    where = type("Where", (), {"type": "cuda", "index": 0})
    for name, answer in (
        ("is_cpu", lambda tensor: not found.has(tensor)),
        ("is_cuda", found.has),
        ("device", lambda tensor: where),
        ("device_index", found.number),
    ):
        monkeypatch.setattr(tensor_base, name, answer)
    with _seen_there(found):
        yield found
