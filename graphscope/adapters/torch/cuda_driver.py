"""NVIDIA's driver, as far as recording asks it: kernels of ours, copies and events, each in one call and without a wait.

Torch's own ways to do so take ten times as long, and many ops where one kernel does.
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.resources import files
from typing import Any, Final

_KERNELS: Final = "assets/statistics.ptx"
"""Of `statistics.cu`, for all devices since 2016: `make kernels` makes it anew."""
_THREADS: Final = 256
_EACH: Final = 8
"""So many elements a thread takes, where there are fewer than keep the device busy."""


class DriverError(RuntimeError):
    """The driver has refused a call."""


class Driver:
    """The driver's functions.

    Raises:
        OSError: There is no such driver.
    """

    def __init__(self) -> None:
        library = ctypes.CDLL("libcuda.so.1")
        pointer, number, size = ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t
        for name, arguments in (
            ("cuModuleLoadData", (pointer, ctypes.c_char_p)),
            ("cuModuleGetFunction", (pointer, pointer, ctypes.c_char_p)),
            ("cuLaunchKernel", (pointer, *(number,) * 7, pointer, pointer, pointer)),
            ("cuMemAlloc_v2", (pointer, size)),
            ("cuMemFree_v2", (pointer,)),
            ("cuMemsetD8Async", (pointer, ctypes.c_ubyte, size, pointer)),
            ("cuMemcpyDtoDAsync_v2", (pointer, pointer, size, pointer)),
            ("cuMemcpyDtoH_v2", (pointer, pointer, size)),
            ("cuStreamSynchronize", (pointer,)),
            ("cuEventCreate", (pointer, number)),
            ("cuEventRecord", (pointer, pointer)),
            ("cuEventElapsedTime", (pointer, pointer, pointer)),
            ("cuEventDestroy_v2", (pointer,)),
        ):
            function = getattr(library, name)
            function.argtypes = arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def checked(code: int) -> None:
    """Raise what a code of the driver tells of."""
    if code:
        raise DriverError(f"the CUDA driver refuses with error {code}")


@cache
def driver() -> Driver | None:
    """The driver; None where there is none."""
    try:
        return Driver()
    except (OSError, AttributeError):
        return None


class Kernels:
    """The kernels of `statistics.cu` on the device that is current, by the names of dtypes.

    Raises:
        DriverError: The device can't run them.
    """

    def __init__(self, found: Driver, processors: int) -> None:
        self._driver = found
        self._module = ctypes.c_void_p()
        text = files(__package__).joinpath(_KERNELS).read_bytes()
        checked(found.cuModuleLoadData(ctypes.byref(self._module), text))
        self._most = 4 * processors
        self._functions: dict[str, ctypes.c_void_p | None] = {}
        self._data, self._count, self._slot = ctypes.c_uint64(), ctypes.c_int64(), ctypes.c_uint64()
        each = (self._data, self._count, self._slot)
        self._given = (ctypes.c_void_p * 3)(*(ctypes.addressof(one) for one in each))

    def function(self, dtype: str) -> ctypes.c_void_p | None:
        """What measures elements of a dtype; None where nothing does."""
        if dtype not in self._functions:
            found = ctypes.c_void_p()
            code = self._driver.cuModuleGetFunction(ctypes.byref(found), self._module, f"measure_{dtype}".encode())
            self._functions[dtype] = None if code else found
        return self._functions[dtype]

    def measure(self, function: ctypes.c_void_p, address: int, count: int, slot: int, stream: int) -> None:
        """Let the statistics of so many elements be added to a slot, behind what was queued on a stream."""
        self._data.value, self._count.value, self._slot.value = address, count, slot
        blocks = min(-(-count // (_THREADS * _EACH)), self._most)
        checked(self._driver.cuLaunchKernel(function, blocks, 1, 1, _THREADS, 1, 1, 0, stream, self._given, None))
