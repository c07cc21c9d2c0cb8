"""What is asked of many tensors on a CUDA device at once: kernels for all of them, and one wait for what they find."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Final

import numpy as np
import torch

from graphscope.adapters.torch import tensor_base
from graphscope.adapters.torch.cuda_driver import Driver, DriverError, driver
from graphscope.adapters.torch.tensor_base import ORDINARY, Own
from graphscope.adapters.torch.tensor_elements import is_capturing, is_lazy

MOST: Final = 64
"""So many rows of a table a launch takes."""
STRETCHES: Final = np.dtype([("from", "<u8"), ("to", "<u8"), ("apart", "<i8"), ("size", "<i4"), ("count", "<i4")])
"""Stretches of bytes to be copied one behind another: sizes are bytes, and even."""
ELEMENTS: Final = np.dtype([("data", "<u8"), ("sum", "<u8"), ("count", "<i8"), ("floating", "<i8")])
"""Elements of a floating dtype, and the float64 that their squares are added to. Both are as `measures.cu` has them."""

_THREADS: Final = 256
_EACH: Final = 8
"""So many elements a thread takes, where there are fewer than keep the device busy."""
_MOST_BLOCKS: Final = 512


class MeasureKernels:
    """The kernels of `measures.cu` on the device that is current.

    Args:
        found: The driver.
        index: The number of the device.

    Raises:
        DriverError: The device can't run them.
    """

    def __init__(self, found: Driver, index: int) -> None:
        self._driver = found
        self._index = index
        self._gather, self._add_squares = found.kernels("measures", ("gather", "add_squares"))
        if not (self._gather and self._add_squares):
            raise DriverError("the device has no such kernels")

    def gather(self, table: np.ndarray) -> None:
        """Let stretches be copied, behind what this thread has queued; raises as `MeasureKernels`.

        Args:
            table: Rows of `STRETCHES`.
        """
        self._launch(self._gather, table, 1)

    def add_squares(self, table: np.ndarray) -> None:
        """Let sums of squares be added up, in the same way.

        Args:
            table: Rows of `ELEMENTS`, at least one.
        """
        blocks = -(-int(table["count"].max()) // (_THREADS * _EACH))
        self._launch(self._add_squares, table, min(max(blocks, 1), _MOST_BLOCKS))

    def _launch(self, function: int, table: np.ndarray, blocks: int) -> None:
        stream = torch._C._cuda_getCurrentRawStream(self._index)
        rows = np.zeros(MOST, table.dtype)  # a launch takes them with it
        given = (ctypes.c_void_p * 1)(rows.ctypes.data)
        for first in range(0, len(table), MOST):
            part = table[first : first + MOST]
            rows[: len(part)] = part
            grid, block = (blocks, len(part), 1), (_THREADS, 1, 1)
            self._driver.call("cuLaunchKernel", function, *grid, *block, 0, stream, given, None)


def kernels_for(tensor: torch.Tensor) -> MeasureKernels | None:
    """What measures a tensor's elements where they lie; None where nothing does, or nothing may be queued now."""
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        is_there = (
            tensor.__class__ in ORDINARY
            and tensor_base.is_cuda(tensor)
            and tensor_base.layout(tensor) is torch.strided
            and not is_lazy(tensor)
            and not is_capturing()
        )
        index = Own.get_device(tensor) if is_there else -1
    return _kernels(index) if index >= 0 and index == torch._C._cuda_getDevice() else None


@cache
def _kernels(index: int) -> MeasureKernels | None:
    found = driver()
    try:
        return None if found is None else MeasureKernels(found, index)
    except DriverError:
        return None


def memory(tensor: torch.Tensor, nbytes: int) -> Any:
    """Bytes beside a tensor, all of them 0."""
    return Own.new_zeros(tensor_base.data(tensor), (nbytes,), dtype=torch.uint8)


def brought(found: Any) -> bytes:
    """Wait for what this thread has queued; what is in such memory then."""
    here = Own.cpu(found)
    return ctypes.string_at(Own.data_ptr(here), tensor_base.nbytes(here))
