"""Single numbers that lie on CUDA devices, as losses do: each is copied here as it is now, and read when it has come.

To ask a tensor for its number would wait for all that the program has queued on the device.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from typing import Final

import torch

from graphscope.adapters.torch import tensor_base
from graphscope.adapters.torch.cuda_driver import Driver, DriverError, current, driver
from graphscope.adapters.torch.tensor_base import ORDINARY, Own
from graphscope.adapters.torch.tensor_elements import address, is_capturing, is_lazy
from graphscope.eventlog.interruptions import forgiving, own

_FORMS: Final = {
    torch.float64: struct.Struct("<d"),
    torch.float32: struct.Struct("<f"),
    torch.float16: struct.Struct("<e"),
    torch.bfloat16: struct.Struct("<f"),  # of which it is the upper half
}
_INSIDE: Final = {torch.bfloat16: 2}
"""So many bytes behind the begin of its place a number lies."""
_NUMBER: Final = 8
"""So many bytes has each number's place; a number and its divisor have two."""
_PLACES: Final = 64
"""So many numbers are on their way at most: of more backward passes in a step the oldest are waited for."""
_PORTABLE: Final = 1
_UNTIMED: Final = 2


class RemoteNumber:
    """A number that comes; see `LateNumber`."""

    __slots__ = ("_device", "dtypes", "event", "is_told", "place", "value")

    def __init__(self, device: _Device, place: int, event: int, dtypes: list[torch.dtype]) -> None:
        self._device, self.place, self.event = device, place, event
        self.dtypes = dtypes
        """Of the number, and of its divisor if it has one."""
        self.is_told = False
        self.value: float | None = None

    def comes(self) -> bool:
        """Wait for it; False while nothing may wait."""
        return self.is_told or self._device.tells(self)


class _Device:
    """The numbers that come from one device."""

    def __init__(self, found: Driver, index: int) -> None:
        self.index = index
        self._driver = found
        self._process = os.getpid()
        self._lock = threading.RLock()
        memory = ctypes.c_void_p()
        found.call("cuMemHostAlloc", ctypes.byref(memory), 2 * _NUMBER * _PLACES, _PORTABLE)
        self._memory = memory.value or 0
        ctypes.memset(self._memory, 0, 2 * _NUMBER * _PLACES)
        self._view = memoryview((ctypes.c_char * (2 * _NUMBER * _PLACES)).from_address(self._memory)).cast("B")
        self._events: list[int] = []
        self._coming: list[RemoteNumber] = []
        """The newest, each at its place; the next one takes the place of the oldest."""
        self._next = 0

    def copy(self, tensors: list[torch.Tensor]) -> RemoteNumber:
        """Let a number, and its divisor, come here.

        Raises:
            DriverError: The device refuses.
            RuntimeError: A tensor has no memory.
        """
        stream = torch._C._cuda_getCurrentRawStream(self.index)
        with self._lock:
            place = self._next
            if place == len(self._events):
                event = ctypes.c_void_p()
                self._driver.call("cuEventCreate", ctypes.byref(event), _UNTIMED)
                self._events.append(event.value or 0)
            if place < len(self._coming):
                before = self._coming[place]
                before.is_told = before.comes() or True  # what nothing could be waited for is never told
            at, dtypes = self._memory + 2 * _NUMBER * place, []
            for tensor in tensors:
                dtype, place_there, size = tensor_base.dtype(tensor), address(tensor), Own.element_size(tensor)
                if not place_there:
                    raise DriverError("a tensor has no memory")
                self._driver.call("cuMemcpyDtoHAsync_v2", at + _INSIDE.get(dtype, 0), place_there, size, stream)
                dtypes.append(dtype)
                at += _NUMBER
            self._driver.call("cuEventRecord", self._events[place], stream)
            found = RemoteNumber(self, place, self._events[place], dtypes)
            self._coming[place : place + 1] = [found]
            self._next = (place + 1) % _PLACES
        return found

    def tells(self, number: RemoteNumber) -> bool:
        """Wait for a number and tell it; False where that can't be now."""
        if self._process != os.getpid():  # a forked child, which has no device
            return True
        with self._lock:
            if number.is_told:
                return True
            if is_capturing():
                return False
            try:
                self._driver.call("cuEventSynchronize", number.event)
            except own(DriverError):
                return False
            value = self._read(2 * number.place, number.dtypes[0])
            divisor = self._read(2 * number.place + 1, number.dtypes[1]) if len(number.dtypes) > 1 else 1
            number.value = value / divisor if divisor else value
            number.is_told = True
            return True

    def end(self) -> None:
        """Let go of what was taken of the device."""
        if self._process != os.getpid():  # a forked child, where the lock may be that of a thread which is not there
            return
        with self._lock:
            for number in self._coming:
                number.is_told = True
            with forgiving(DriverError):  # it has failed: then it has let go of all
                for event in self._events:
                    self._driver.call("cuEventDestroy_v2", event)
                self._driver.call("cuMemFreeHost", self._memory)

    def _read(self, place: int, dtype: torch.dtype) -> float:
        at = _NUMBER * place
        if dtype is torch.bfloat16:
            self._view[at : at + _INSIDE[dtype]] = bytes(_INSIDE[dtype])  # where another may have lain
        found: float = _FORMS[dtype].unpack_from(self._view, at)[0]
        return found


class RemoteNumbers:
    """Those of a recording, on any device."""

    def __init__(self) -> None:
        self._devices: dict[int, _Device | None] = {}
        self._ended = False

    def number(self, tensor: torch.Tensor, divisor: torch.Tensor | None = None) -> RemoteNumber | None:
        """Let the number that lies in a tensor come here as it is now; None where that can't be without a wait.

        Args:
            tensor: The tensor.
            divisor: Another on the same device by which the number is to be divided.
        """
        tensors = [tensor] if divisor is None else [tensor, divisor]
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            try:
                if self._ended or not all(map(_is_number, tensors)) or is_capturing():
                    return None
                index = tensor_base.device_index(tensor)
                device = self._on(index)
                if device is None or any(tensor_base.device_index(each) != index for each in tensors):
                    return None
                with current(index):
                    return device.copy(tensors)
            except own(DriverError, RuntimeError):
                return None

    def _on(self, index: int) -> _Device | None:
        if index not in self._devices:
            self._devices[index] = None  # also where it raises
            found = driver()
            if found is not None:
                self._devices[index] = _Device(found, index)
        return self._devices[index]

    def end(self) -> None:
        """Let go of what was taken of the devices: all numbers have come that will."""
        self._ended = True
        for device in self._devices.values():
            if device is not None:
                device.end()


def _is_number(tensor: torch.Tensor) -> bool:
    """Whether a tensor is one number in the memory of a CUDA device, as it lies there."""
    return (
        tensor.__class__ in ORDINARY
        and tensor_base.is_cuda(tensor)
        and tensor_base.dtype(tensor) in _FORMS
        and tensor_base.layout(tensor) is torch.strided
        and Own.numel(tensor) == 1
        and not is_lazy(tensor)
    )
