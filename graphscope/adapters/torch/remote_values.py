"""Values that lie on a CUDA device: what the log wants of them is computed there, and comes here many at a time.

Nothing waits for the device meanwhile. Rows are written at once, and say that they have no value until that has come.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from functools import partial
from time import perf_counter_ns as clock
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from graphscope.adapters.torch import compiled, tensor_base
from graphscope.adapters.torch.cuda_driver import Driver, DriverError, current, driver
from graphscope.adapters.torch.promised_values import give_copied, give_measured, waiting
from graphscope.adapters.torch.promises import PROMISE, SLOT_BYTES, TIMED
from graphscope.adapters.torch.promises import Promises as PythonPromises
from graphscope.adapters.torch.tensor_base import ORDINARY, Own
from graphscope.adapters.torch.tensor_elements import address, distinct, in_one_row, is_capturing, is_lazy
from graphscope.eventlog import awaited
from graphscope.eventlog.awaited import Awaited
from graphscope.eventlog.interruptions import forgiving, own
from graphscope.eventlog.schema import Flag

if TYPE_CHECKING:
    from graphscope.eventlog.template import Template
    from graphscope.eventlog.writer import Writer

_SLOTS: Final = 1 << 12
_BYTES: Final = {"full": 1 << 25, "summary": 1 << 22, "none": 1 << 16}
"""Of values that are copied whole, by the policy."""
_CODES: Final = ("int", "uint", "float", "", "bfloat", "complex", "bool", "")
KERNELS: Final = tuple(
    name + (str(bits) if name not in ("bool", "") else "" if bits == 8 else "?")
    for name in _CODES
    for bits in (8, 16, 32, 64)
)
"""The dtypes that kernels measure, by DLPack's number of a kind and the size: no kernel has the other names."""
_NUMBERS: Final[dict[torch.dtype, int]] = {
    dtype: KERNELS.index(str(dtype).removeprefix("torch."))
    for dtype in (
        torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.int8, torch.int16, torch.int32,
        torch.int64, torch.uint8, torch.bool,
    )
}  # fmt: skip


class RemoteTimer:
    """Measures what is queued on a stream from now on, by the device's clock."""

    __slots__ = ("_began", "_first", "_place", "_promises", "_stream")

    def __init__(self, promises: Any, stream: int, place: Any) -> None:
        self._promises, self._stream, self._place = promises, stream, place
        self._first = promises.mark(stream)
        self._began = clock()

    def stop(self) -> int:
        """All is queued. So many nanoseconds that took here: what it takes there is told later, of the next row."""
        took = clock() - self._began
        place = self._place
        place.took(0)
        place.first, self._first = self._first, 0
        place.last = self._promises.mark(self._stream) if place.first else 0
        return took

    def __del__(self) -> None:
        self._promises.take_back(self._first)  # of a call that has failed


class RemoteValues:
    """What is promised to rows of a recording, of tensors on one device.

    Args:
        writer: The log.
        index: The number of the device, which is current.

    Raises:
        DriverError: There is no driver, or the device has no room.
    """

    def __init__(self, writer: Writer, index: int) -> None:
        found = driver()
        if found is None:
            raise DriverError("there is no CUDA driver")
        self._writer = writer
        self._driver: Driver = found
        self._process = os.getpid()
        self._context = found.context()
        self.index = index
        self._lock, self._is_fetching = threading.RLock(), False
        kernels = self._kernels = found.kernels("statistics", [f"measure_{name}" for name in KERNELS])
        self._most_bytes = _BYTES["full" if writer.is_ring else writer.policy]
        size = _SLOTS * SLOT_BYTES + self._most_bytes
        self._memory = found.allocate(size)
        self._host = np.empty(size, np.uint8)
        self._clear(_SLOTS * SLOT_BYTES)
        blocks = 4 * torch.cuda.get_device_properties(index).multi_processor_count
        given = (
            self.fetch, torch._C._cuda_getCurrentRawStream, torch._C._cuda_getDevice,
            torch._C._cuda_isCurrentStreamCapturing, index, _SLOTS, self._most_bytes, blocks, self._memory,
        )  # fmt: skip
        self._promises: Any
        if compiled.Promises is not None:
            self._promises = compiled.Promises(*given, found.addresses, kernels)
        else:
            self._promises = PythonPromises(*given, found, kernels)
        self.is_compiled = compiled.Promises is not None
        awaited.fetching.append(self.fetch)

    @property
    def is_watched(self) -> bool:
        """Whether somebody looks at each row as it is written."""
        return self._writer.gate is not None

    def stream(self) -> int:
        """The stream that this thread of the program uses."""
        found: int = torch._C._cuda_getCurrentRawStream(self.index)
        return found

    def can_queue(self) -> bool:
        """Whether this thread may queue something on the device."""
        return not self._promises.failed and torch._C._cuda_getDevice() == self.index and not is_capturing()

    def promise(self, keep: int, floating: int, nbytes: int, tensor: torch.Tensor) -> Awaited | None:
        """What a row is given for a tensor whose value is kept so; None where its elements must be read now."""
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            try:
                if not (
                    tensor.__class__ in ORDINARY
                    and tensor_base.is_cuda(tensor)
                    and tensor_base.dtype(tensor) in _NUMBERS
                    and tensor_base.layout(tensor) is torch.strided
                    and Own.get_device(tensor) == self.index
                    and not is_lazy(tensor)
                    and address(tensor)
                    and self.can_queue()
                ):
                    return None
                if keep and keep != Flag.SUMMARY:
                    return self._copied(keep, floating, nbytes, tensor)
                return self._measured(keep, tensor)
            except own(RuntimeError):
                return None

    def _measured(self, keep: int, tensor: torch.Tensor) -> Awaited | None:
        few, times = (tensor, 1) if Own.is_contiguous(tensor) else distinct(tensor_base.data(tensor))
        row = in_one_row(few)
        if row is None:
            return None
        number, place, size = _NUMBERS[tensor_base.dtype(row)], Own.data_ptr(row), Own.numel(row)
        if not size or not self._kernels[number]:
            return None
        return Awaited(partial(self._promises.measure, number, place, size, times, keep, self.stream()), row)

    def _copied(self, keep: int, floating: int, nbytes: int, tensor: torch.Tensor) -> Awaited | None:
        if nbytes > self._most_bytes:
            return None
        if not Own.is_contiguous(tensor):
            tensor = Own.contiguous(tensor_base.data(tensor))
        if not nbytes or tensor_base.nbytes(tensor) != nbytes:
            return None
        place = Own.data_ptr(tensor)
        return Awaited(partial(self._promises.copy, place, nbytes, keep, floating, self.stream()), tensor)

    def timer(self, place: Any, tensor: torch.Tensor) -> RemoteTimer | None:
        """What measures the call that is next, which is given a tensor; None where that can't be."""
        if Own.get_device(tensor) != self.index or not self.can_queue():
            return None
        return RemoteTimer(self._promises, self.stream(), place)

    def took(self, row: int, first: int, last: int) -> None:
        """The op of a row ran between two events; 0: there is no row, or it ran until now."""
        promises = self._promises
        if not last and row and self.can_queue():
            last = promises.mark(self.stream())
        if row:
            promises.timed(row, first, last)
        else:
            promises.take_back(first)
            promises.take_back(last)

    # What is promised comes ------------------------------------------------------------------------------------------

    def fetch(self) -> None:
        """Wait until the device has come so far, and give the rows what was promised to them.

        What a device that has failed still owes them they do not get.
        """
        if self._process != os.getpid():
            return  # a forked child has no device, and the lock may be that of a thread which is not there
        with self._lock:
            if self._is_fetching or is_capturing():
                return  # a signal handler runs within; or nothing may wait
            try:
                self._is_fetching = True
                with self._driver.within(self._context):
                    self._fetch()
            except DriverError:
                self._promises.failed = True
            finally:
                self._promises.resume()
                self._is_fetching = False

    def _fetch(self) -> None:
        streams: tuple[int, ...] | None = None
        try:
            promised, used, measured, streams = self._promises.take()
            self._wait(streams)
            self._give(np.frombuffer(promised, PROMISE), used)
            self._tell_times(measured)
        except BaseException:  # Ctrl-C: what slots hold is to be no part of what is measured there next
            self._promises.failed = True
            if streams is not None:
                with forgiving(DriverError):
                    self._wait(streams)
                    self._clear(_SLOTS * SLOT_BYTES)
                    self._promises.failed = False
            raise

    def _wait(self, streams: tuple[int, ...]) -> None:
        for stream in streams:
            self._driver.call("cuStreamSynchronize", stream)

    def _clear(self, nbytes: int) -> None:
        """Let slots be zeros again."""
        self._driver.call("cuMemsetD8Async", self._memory, 0, nbytes, None)
        self._driver.call("cuStreamSynchronize", None)

    def _give(self, promises: np.ndarray, used: int) -> None:
        has_slot = promises["slot"] >= 0
        measured, copied = promises[has_slot], promises[~has_slot]
        if len(measured):
            nbytes = len(measured) * SLOT_BYTES
            self._driver.call("cuMemcpyDtoH_v2", self._host.ctypes.data, self._memory, nbytes)
            self._clear(nbytes)
            give_measured(self._writer, measured, self._host[:nbytes])
        if len(copied):
            at = self._memory + _SLOTS * SLOT_BYTES
            self._driver.call("cuMemcpyDtoH_v2", self._host.ctypes.data, at, used)
            give_copied(self._writer, copied, self._host[:used])

    def _tell_times(self, timed: bytes) -> None:
        took = np.frombuffer(self._promises.durations(timed))
        known = np.isfinite(took)
        rows = np.frombuffer(timed, TIMED)[known]
        # Where the op behind it runs on another stream, that may have begun ahead of it.
        waiting(self._writer, rows).took(np.maximum(took[known], 0).astype(np.uint64))

    def end(self) -> None:
        """Give the rows what they wait for, and the device what was taken of it."""
        awaited.fetching.remove(self.fetch)
        if self.is_compiled:
            compiled.promise_here(None)
        if self._process != os.getpid():
            return
        with self._lock:
            self.fetch()
            has_failed, self._promises.failed = self._promises.failed, True  # other threads may write a row yet
            if not has_failed:
                with suppress(DriverError), self._driver.within(self._context):  # or it has shut down already
                    for event in self._promises.events():
                        self._driver.call("cuEventDestroy_v2", event)
                    self._driver.call("cuMemFree_v2", self._memory)

    def begin(self) -> None:
        """Let compiled code promise, too."""
        if self.is_compiled:
            compiled.promise_here(self._promises)


_active: RemoteValues | None = None
"""What is promised to the recording that goes on, if its program computes on a CUDA device."""


def begin(writer: Writer, index: int) -> None:
    """The program of a recording computes on a CUDA device: from here on what lies there is promised."""
    global _active
    if _active is None:
        try:
            with current(index):
                if is_capturing():  # to take memory would end that; and to ask makes a context where there is none
                    return
                _active = RemoteValues(writer, index)
            _active.begin()
        except own(DriverError, RuntimeError):  # what is read there, is waited for
            _active = None


def end() -> None:
    """The recording ends: its rows get what was promised to them."""
    global _active
    ended, _active = _active, None
    if ended is not None:
        ended.end()


def promise(template: Template, floating: int, tensor: torch.Tensor) -> Awaited | None:
    """What a row is given for a tensor in place of its value; None where the elements must be read now.

    A debugger that stops the program shows each value at once.
    """
    here = _active
    if here is None or here.is_watched:
        return None
    return here.promise(template.keep, floating, template.nbytes, tensor)


def promise_check(tensor: torch.Tensor) -> Awaited | None:
    """What tells a row later, whether a tensor that is not its value is finite; None where that must be seen now."""
    here = _active
    return None if here is None or here.is_watched else here.promise(0, 0, 0, tensor)


def timer(place: Any, tensor: torch.Tensor) -> RemoteTimer | None:
    """What measures the next call of the program in a thread, which is given a tensor; None: its end is waited for."""
    here = _active
    return None if here is None or here.is_watched or place is None else here.timer(place, tensor)


def took(row: int, first: int, last: int = 0) -> None:
    """The op of a row ran between two events; 0: there is no row, or it ran until now."""
    if _active is not None:
        _active.took(row, first, last)
