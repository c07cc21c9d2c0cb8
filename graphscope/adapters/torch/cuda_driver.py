"""NVIDIA's driver, as far as recording asks it: kernels of ours, copies and events, each in one call without a wait.

Torch's own ways to do so take ten times as long, and many ops where one kernel does.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any, Final

import torch

_POINTER, _NUMBER, _SIZE, _ADDRESS = ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_uint64
FUNCTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "cuModuleLoadData": (_POINTER, ctypes.c_char_p),
    "cuModuleGetFunction": (_POINTER, _POINTER, ctypes.c_char_p),
    "cuLaunchKernel": (_POINTER, *(_NUMBER,) * 7, _POINTER, _POINTER, _POINTER),
    "cuCtxGetCurrent": (_POINTER,),
    "cuCtxPushCurrent_v2": (_POINTER,),
    "cuCtxPopCurrent_v2": (_POINTER,),
    "cuMemAlloc_v2": (_POINTER, _SIZE),
    "cuMemFree_v2": (_ADDRESS,),
    "cuMemsetD8Async": (_ADDRESS, ctypes.c_ubyte, _SIZE, _POINTER),
    "cuMemcpyDtoDAsync_v2": (_ADDRESS, _ADDRESS, _SIZE, _POINTER),
    "cuMemcpyDtoH_v2": (_POINTER, _ADDRESS, _SIZE),
    "cuMemHostAlloc": (_POINTER, _SIZE, _NUMBER),
    "cuMemFreeHost": (_POINTER,),
    "cuMemcpyDtoHAsync_v2": (_POINTER, _ADDRESS, _SIZE, _POINTER),
    "cuStreamSynchronize": (_POINTER,),
    "cuEventCreate": (_POINTER, _NUMBER),
    "cuEventRecord": (_POINTER, _POINTER),
    "cuEventSynchronize": (_POINTER,),
    "cuEventElapsedTime": (_POINTER, _POINTER, _POINTER),
    "cuEventDestroy_v2": (_POINTER,),
}
"""What is used of the driver, and what each is given; each answers with a code, 0 where all is well."""


class DriverError(RuntimeError):
    """The driver has refused a call."""


class Driver:
    """The driver's functions.

    Args:
        library: That has them.

    Raises:
        AttributeError: One is missing.
    """

    def __init__(self, library: Any) -> None:
        self._found = {name: getattr(library, name) for name in FUNCTIONS}
        for name, function in self._found.items():
            function.argtypes, function.restype = FUNCTIONS[name], ctypes.c_int
        self.launch, self.copy = self._found["cuLaunchKernel"], self._found["cuMemcpyDtoDAsync_v2"]
        self.record = self._found["cuEventRecord"]
        self._elapsed = self._found["cuEventElapsedTime"]

    @property
    def addresses(self) -> tuple[int, ...]:
        """Where the functions lie that compiled code calls itself: to launch, to copy, and of events."""
        names = ("cuLaunchKernel", "cuMemcpyDtoDAsync_v2", "cuEventRecord", "cuEventCreate", "cuEventElapsedTime")
        return tuple(ctypes.cast(self._found[name], ctypes.c_void_p).value or 0 for name in names)

    def call(self, name: str, *given: Any) -> None:
        """Call a function.

        Raises:
            DriverError: It refuses.
        """
        code = self._found[name](*given)
        if code:
            raise DriverError(f"{name} refuses with error {code}")

    def context(self) -> int:
        """The context that is current in this thread, a device's; 0 where none is.

        Raises:
            DriverError: The driver does not tell.
        """
        found = ctypes.c_void_p()
        self.call("cuCtxGetCurrent", ctypes.byref(found))
        return found.value or 0

    @contextmanager
    def within(self, context: int) -> Iterator[None]:
        """With a context current: a thread may be at work on another device, or on none.

        Raises:
            DriverError: It can't be.
        """
        if self.context() == context:
            yield
            return
        self.call("cuCtxPushCurrent_v2", context)
        try:
            yield
        finally:
            self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def event(self) -> int:
        """A new event; 0 where there is none."""
        made = ctypes.c_void_p()
        return 0 if self._found["cuEventCreate"](ctypes.byref(made), 0) else made.value or 0

    def elapsed(self, first: int, last: int) -> float:
        """The milliseconds from one event to another.

        Raises:
            DriverError: One has not happened.
        """
        found = ctypes.c_float()
        if self._elapsed(ctypes.byref(found), first, last):
            raise DriverError("an event has not happened")
        return found.value

    def allocate(self, size: int) -> int:
        """So many bytes of the device that is current.

        Raises:
            DriverError: There are not as many.
        """
        made = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(made), size)
        return made.value

    def kernels(self, source: str, names: Iterable[str]) -> tuple[int, ...]:
        """Kernels of ours, on the device that is current; 0 where there is none of that name.

        Args:
            source: The file that they are written in, without its ending. Its PTX is for all devices since 2016;
                `make kernels` makes it anew.
            names: What they are called there.

        Raises:
            DriverError: The device can't run them.
        """
        module, found = ctypes.c_void_p(), []
        text = files(__package__).joinpath("assets", f"{source}.ptx").read_bytes()
        self.call("cuModuleLoadData", ctypes.byref(module), text)
        for name in names:
            function = ctypes.c_void_p()
            code = self._found["cuModuleGetFunction"](ctypes.byref(function), module, name.encode())
            found.append(0 if code else function.value or 0)
        return tuple(found)


@contextmanager
def current(index: int) -> Iterator[None]:
    """With a device current in this thread, as torch has it."""
    before = torch._C._cuda_getDevice()
    if before == index:
        yield
        return
    torch._C._cuda_setDevice(index)
    try:
        yield
    finally:
        torch._C._cuda_setDevice(before)


@cache
def driver() -> Driver | None:
    """The driver; None where there is none."""
    try:
        return Driver(ctypes.CDLL("libcuda.so.1"))
    except (OSError, AttributeError):
        return None
