"""Values that lie on a CUDA device: what the log wants of them is computed there, and comes here many at a time.

Nothing waits for the device meanwhile. Rows are written at once, and say that they have no value until that has come.
"""

from __future__ import annotations

import ctypes
import os
import threading
from time import perf_counter_ns as clock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch

from graphscope.adapters.torch import tensor_base
from graphscope.adapters.torch.cuda_driver import Driver, DriverError, Kernels, checked, driver
from graphscope.adapters.torch.tensor_base import Own
from graphscope.adapters.torch.tensor_elements import distinct, is_lazy
from graphscope.adapters.torch.tensor_properties import ORDINARY
from graphscope.eventlog import awaited, schema, values
from graphscope.eventlog.awaited import Awaited
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.segment import LARGE

if TYPE_CHECKING:
    from graphscope.eventlog.template import Template
    from graphscope.eventlog.writer import Writer

SLOT: Final = np.dtype(
    [("sum", "<f8"), ("squares", "<f8"), ("most", "<u8"), ("least", "<u8")]
    + [(name, "<u8") for name in ("nan", "inf", "zero")]
    + [("shift", "<f8")]
)
"""As `statistics.cu` writes it."""
_SLOTS: Final = 1 << 12
_BYTES: Final = 1 << 23
"""Of values that are kept."""
_MOST_COPIED: Final = 1 << 27
"""No larger copy is made of elements that do not lie in one row."""
_SIGN: Final = np.uint64(1 << 63)
_REMOTE: Final[dict[torch.dtype, str]] = {
    dtype: str(dtype).removeprefix("torch.")
    for dtype in (
        torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.int8, torch.int16, torch.int32,
        torch.int64, torch.uint8, torch.bool,
    )
}  # fmt: skip


class Measured(NamedTuple):
    """Whose statistics come to be in a slot."""

    awaited: Awaited
    size: int
    """So many elements are measured."""
    times: int
    """So often each element is there."""
    is_summary: bool


class Kept(NamedTuple):
    """Whose elements lie among those that are kept."""

    awaited: Awaited
    start: int
    nbytes: int
    is_watched: str
    """The name of the floating dtype that the elements are of, or nothing."""


class RemoteTimer:
    """Measures what is queued on a stream from now on, by the device's clock."""

    __slots__ = ("_began", "_first", "_last", "_place", "_queue", "_stream")

    def __init__(self, queue: RemoteValues, place: Any) -> None:
        self._queue, self._place = queue, place
        self._stream = queue.stream()
        self._first = queue.event(self._stream)
        self._last: Any = None
        self._began = clock()

    def stop(self) -> int:
        """All is queued. So many nanoseconds that took here: what it takes there is told later, of the next row."""
        took = clock() - self._began
        self._last = self._queue.event(self._stream)
        self._place.timer = self
        return took

    def of(self, row: int) -> None:
        """That is the row of what was measured."""
        first, last, self._first, self._last = self._first, self._last, None, None
        self._queue.timed(row, first, last)

    def __del__(self) -> None:
        self._queue.take_back(self._first, self._last)  # of a call that has no row


class RemoteValues:
    """What is promised to rows of a recording, of tensors on one device."""

    def __init__(self, writer: Writer, index: int) -> None:
        found = driver()
        if found is None:
            raise DriverError("there is no CUDA driver")
        self._writer = writer
        self._driver: Driver = found
        self._process = os.getpid()
        self.index = index
        self.failed = False
        """Whether the device has refused something: nothing more is promised."""
        self._lock = threading.RLock()
        self._kernels = Kernels(found, torch.cuda.get_device_properties(index).multi_processor_count)
        self._memory = ctypes.c_void_p()
        size = _SLOTS * SLOT.itemsize + _BYTES
        checked(found.cuMemAlloc_v2(ctypes.byref(self._memory), size))
        self._slots = self._memory.value or 0
        self._bytes = self._slots + _SLOTS * SLOT.itemsize
        self._host = np.empty(size, np.uint8)
        self._measured: list[Measured] = []
        self._kept: list[Kept] = []
        self._used = 0
        self._streams: set[int] = set()
        self._events: list[Any] = []
        self._timed: list[tuple[Awaited, Any, Any]] = []
        self._clear(_SLOTS * SLOT.itemsize)
        awaited.fetching.append(self.fetch)

    @property
    def is_watched(self) -> bool:
        """Whether somebody looks at each row as it is written."""
        return self._writer.gate is not None

    def stream(self) -> int:
        """The stream that this thread of the program uses."""
        found: int = torch._C._cuda_getCurrentRawStream(self.index)
        return found

    def accepts(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor's elements can be measured from here without a wait."""
        return (
            not self.failed
            and tensor.__class__ in ORDINARY
            and tensor_base.is_cuda(tensor)
            and tensor_base.dtype(tensor) in _REMOTE
            and tensor_base.layout(tensor) is torch.strided
            and Own.get_device(tensor) == self.index == torch._C._cuda_getDevice()
            and not is_lazy(tensor)
            and not torch._C._cuda_isCurrentStreamCapturing()
        )

    def promise(self, keep: int, nbytes: int, tensor: torch.Tensor) -> Awaited | None:
        """What a row is given for a tensor whose value is kept so; None where its elements must be read now."""
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            try:
                if not self.accepts(tensor):
                    return None
                if keep and keep != schema.Flag.SUMMARY:
                    return self._copy(keep, nbytes, tensor)
                return self._measure(keep, tensor)
            except own(RuntimeError):
                return None

    def _measure(self, keep: int, tensor: torch.Tensor) -> Awaited | None:
        function = self._kernels.function(_REMOTE[tensor_base.dtype(tensor)])
        count, times = Own.numel(tensor), 1
        if function is None or count == 0:
            return None
        if not Own.is_contiguous(tensor):
            tensor, times = distinct(tensor_base.data(tensor))
            if not Own.is_contiguous(tensor):
                if tensor_base.nbytes(tensor) > _MOST_COPIED:
                    return None
                tensor = Own.contiguous(tensor)
            count = Own.numel(tensor)
        address = Own.data_ptr(tensor)
        if not address:
            return None
        stream = self.stream()
        found = Awaited(keep)
        with self._lock:
            place = len(self._measured)
            if place == _SLOTS:
                self.fetch()
                place = 0
            self._kernels.measure(function, address, count, self._slots + place * SLOT.itemsize, stream)
            self._streams.add(stream)
            self._measured.append(Measured(found, count, times, bool(keep)))
        return found

    def _copy(self, keep: int, nbytes: int, tensor: torch.Tensor) -> Awaited | None:
        if nbytes >= LARGE or nbytes == 0:
            return None
        if not Own.is_contiguous(tensor):
            tensor = Own.contiguous(tensor_base.data(tensor))
        address = Own.data_ptr(tensor)
        if not address or tensor_base.nbytes(tensor) != nbytes:
            return None
        stream = self.stream()
        found = Awaited(keep)
        name = _REMOTE[tensor_base.dtype(tensor)]
        with self._lock:
            if self._used + nbytes > _BYTES:
                self.fetch()
            start = self._used
            checked(self._driver.cuMemcpyDtoDAsync_v2(self._bytes + start, address, nbytes, stream))
            self._used = start + (nbytes + 15 & -16)
            self._streams.add(stream)
            watched = Own.is_floating_point(tensor) or Own.is_complex(tensor)
            self._kept.append(Kept(found, start, nbytes, name if watched else ""))
        return found

    # Time ------------------------------------------------------------------------------------------------------------

    def timer(self, place: Any) -> RemoteTimer | None:
        """What measures the call that is next; None where that can't be."""
        if self.failed or torch._C._cuda_isCurrentStreamCapturing() or torch._C._cuda_getDevice() != self.index:
            return None
        return RemoteTimer(self, place)

    def event(self, stream: int) -> Any:
        """One that tells when the device comes to this place of a stream."""
        events = self._events
        found = events.pop() if events else None
        if found is None:
            found = ctypes.c_void_p()
            checked(self._driver.cuEventCreate(ctypes.byref(found), 0))
        checked(self._driver.cuEventRecord(found, stream))
        self._streams.add(stream)
        return found

    def take_back(self, *events: Any) -> None:
        """Events that nobody asks any more."""
        self._events += [each for each in events if each is not None]

    def timed(self, row: int, first: Any, last: Any) -> None:
        """A row's op ran between two events."""
        found = Awaited()
        found.lies(self._writer.segment, row - self._writer.base)
        self._timed.append((found, first, last))

    # What is promised comes ------------------------------------------------------------------------------------------

    def fetch(self) -> None:
        """Wait until the device has come so far, and give the rows what was promised to them.

        What a device that has failed still owes them they do not get.
        """
        with self._lock:
            measured, self._measured = self._measured, []
            kept, self._kept = self._kept, []
            timed, self._timed = self._timed, []
            streams, self._streams = self._streams, set()
            used, self._used = self._used, 0
            if not streams or self._process != os.getpid():  # or a forked child, which has no device
                return
            try:
                for stream in streams:
                    checked(self._driver.cuStreamSynchronize(stream))
                if measured:
                    self._tell_measured(measured)
                if kept:
                    self._tell_kept(kept, used)
                self._tell_timed(timed)
            except DriverError:
                self.failed = True

    def _clear(self, nbytes: int) -> None:
        """Let slots be zeros again."""
        checked(self._driver.cuMemsetD8Async(self._slots, 0, nbytes, None))
        checked(self._driver.cuStreamSynchronize(None))

    def _tell_measured(self, measured: list[Measured]) -> None:
        nbytes = len(measured) * SLOT.itemsize
        checked(self._driver.cuMemcpyDtoH_v2(self._host.ctypes.data, self._slots, nbytes))
        self._clear(nbytes)
        slots = self._host[:nbytes].view(SLOT)
        counts, times = (np.array([getattr(each, name) for each in measured]) for name in ("size", "times"))
        records = summaries(slots, counts, times)
        bad = ((records["nan"] | records["inf"]) != 0).tolist()
        whole, size = records.tobytes(), records.itemsize
        for place, each in enumerate(measured):
            content = whole[place * size : (place + 1) * size] if each.is_summary else None
            each.awaited.come(content, is_finite=not bad[place])

    def _tell_kept(self, kept: list[Kept], used: int) -> None:
        checked(self._driver.cuMemcpyDtoH_v2(self._host.ctypes.data, self._bytes, used))
        for each in kept:
            content = self._host[each.start : each.start + each.nbytes]
            each.awaited.come(content.tobytes(), is_finite=not each.is_watched or _is_finite(content, each.is_watched))

    def _tell_timed(self, timed: list[tuple[Awaited, Any, Any]]) -> None:
        found = ctypes.c_float()
        told = ctypes.byref(found)
        elapsed = self._driver.cuEventElapsedTime
        for each, first, last in timed:
            if not elapsed(told, first, last):
                each.took(int(found.value * 1e6))  # it tells milliseconds
            self.take_back(first, last)

    def end(self) -> None:
        """Give the rows what they wait for, and the device what was taken of it."""
        awaited.fetching.remove(self.fetch)
        with self._lock:
            self.fetch()
            for event in self._events:
                self._driver.cuEventDestroy_v2(event)
            self._events = []
            self._driver.cuMemFree_v2(self._memory)


_active: RemoteValues | None = None
"""What is promised to the recording that goes on, if its program computes on a CUDA device."""


def begin(writer: Writer, tensor: torch.Tensor) -> None:
    """The program of a recording computes on the device of a tensor: from here on what lies there is promised."""
    global _active
    if _active is None and tensor_base.is_cuda(tensor):
        try:
            _active = RemoteValues(writer, tensor_base.device(tensor).index)
        except own(DriverError, RuntimeError):  # what is read there, is waited for
            pass


def end() -> None:
    """The recording ends: its rows get what was promised to them."""
    global _active
    ended, _active = _active, None
    if ended is not None:
        ended.end()


def promise(template: Template, tensor: torch.Tensor) -> Awaited | None:
    """What a row is given for a tensor in place of its value; None where the elements must be read now.

    A debugger that stops the program shows each value at once.
    """
    queue = _active
    return None if queue is None or queue.is_watched else queue.promise(template.keep, template.nbytes, tensor)


def promise_check(tensor: torch.Tensor) -> Awaited | None:
    """What tells a row later, whether a tensor that is not its value is finite; None where that must be seen now."""
    queue = _active
    return None if queue is None or queue.is_watched else queue.promise(0, 0, tensor)


def timer(place: Any) -> RemoteTimer | None:
    """What measures the next call of the program in a thread; None where its end must be waited for."""
    queue = _active
    return None if queue is None or queue.is_watched or place is None else queue.timer(place)


def summaries(slots: np.ndarray, counts: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The `SUMMARY` records of what `statistics.cu` wrote.

    Args:
        slots: As it wrote them.
        counts: How many elements each was of.
        times: How often each of the elements is there.
    """
    found = np.zeros(len(slots), schema.SUMMARY)
    kept = counts - (slots["nan"] + slots["inf"]).astype(np.int64)
    some = kept > 0
    with np.errstate(all="ignore"):
        mean = slots["sum"] / kept
        found["mean"] = np.where(some, slots["shift"] + mean, 0)
        found["std"] = np.where(some, np.sqrt(np.maximum(slots["squares"] / kept - mean * mean, 0)), 0)
    found["minimum"] = np.where(some, _numbers(~slots["least"]), 0)
    found["maximum"] = np.where(some, _numbers(slots["most"]), 0)
    for name in ("nan", "inf", "zero"):
        found[name] = slots[name] * times.astype(np.uint64)
    return found


def _numbers(keys: np.ndarray) -> np.ndarray:
    """The numbers of keys."""
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)


def _is_finite(content: np.ndarray, name: str) -> bool:
    if name == "bfloat16":
        return values.finite(content.view(np.uint16), bfloat16=True)
    return values.finite(content.view(name))
