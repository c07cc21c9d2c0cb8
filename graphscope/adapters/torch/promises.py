"""What is promised to the rows of a recording, of tensors on a CUDA device: noted at each op, given many at a time."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.adapters.torch.cuda_driver import Driver, DriverError

PROMISE: Final = np.dtype(
    [(name, "<i8") for name in ("row", "keep", "slot", "size", "times", "start", "nbytes", "floating")]
)
"""The row, the flag that says how its value is kept, and of what is measured the slot, how many elements are
and how often each is there; of what is copied (slot -1) where it lies among the bytes that are, and its number of
`appender.FLOATING`."""
TIMED: Final = np.dtype([("row", "<i8"), ("first", "<u8"), ("last", "<u8")])
"""The row of an op that ran between two events."""
SLOT_BYTES: Final = 64
ALIGNMENT: Final = 16
_THREADS: Final = 256
_EACH: Final = 8
"""So many elements a thread takes, where there are fewer than keep the device busy."""


class Promises:
    """The promises; compiled where that could be built.

    Args:
        fetch: Gives the rows what they wait for: called where there is no room for more.
        stream: Tells the stream that this thread uses, of a device.
        device: Tells the device of this thread.
        capturing: Tells whether a graph of the device's work is captured.
        index: The number of the device.
        room: So many slots there are.
        most_bytes: So many bytes there are for what is copied.
        most_blocks: No more blocks of threads run at once.
        slots: Where they lie on the device; behind them, those bytes.
        driver: The driver's functions.
        kernels: What measures elements of a dtype, by its number.
    """

    def __init__(
        self, fetch: Callable[[], None], stream: Any, device: Any, capturing: Any, index: int, room: int,
        most_bytes: int, most_blocks: int, slots: int, driver: Driver, kernels: tuple[int, ...],
    ) -> None:  # fmt: skip
        self._fetch = fetch
        self._room, self._most_bytes, self._most_blocks = room, most_bytes, most_blocks
        self._slots, self._bytes = slots, slots + room * SLOT_BYTES
        self._driver = driver
        self._kernels = kernels
        self.failed = False
        """Whether the device has refused something: nothing more is promised."""
        self._lock = threading.RLock()
        """The driver lets other threads run meanwhile: none is to have the same slot, or to take it unwritten."""
        self._resting = False
        self._promises: list[tuple[int, ...]] = []
        self._timed: list[tuple[int, int, int]] = []
        self._used_slots = self._used_bytes = 0
        self._streams: set[int] = set()
        self._events: list[int] = []

    def measure(self, kernel: int, address: int, size: int, times: int, keep: int, stream: int, row: int) -> None:
        """Let the statistics of so many elements be taken for a row, behind what was queued on a stream."""
        function = self._kernels[kernel]
        if not function or not self._makes_room():
            return
        with self._lock:
            if self._is_full():
                return
            number = self._used_slots
            slot = self._slots + number * SLOT_BYTES
            given = [ctypes.c_uint64(each) for each in (address, size, size, 0, slot)]
            pointers = (ctypes.c_void_p * len(given))(*map(ctypes.addressof, given))
            blocks = min(-(-size // (_THREADS * _EACH)), self._most_blocks)
            self._used_slots += 1
            if self._driver.launch(function, blocks, 1, 1, _THREADS, 1, 1, 0, stream, pointers, None):
                self.failed = True
                return
            self._note((row, keep, number, size, times, 0, 0, 0), stream)

    def copy(self, address: int, nbytes: int, keep: int, floating: int, stream: int, row: int) -> None:
        """Let the bytes of a value be kept for a row, behind what was queued on a stream."""
        if not self._makes_room(nbytes):
            return
        with self._lock:
            if self._is_full(nbytes):
                return
            start = self._used_bytes
            self._used_bytes += nbytes + ALIGNMENT - 1 & -ALIGNMENT
            if self._driver.copy(self._bytes + start, address, nbytes, stream):
                self.failed = True
                return
            self._note((row, keep, -1, 0, 0, start, nbytes, floating), stream)

    def mark(self, stream: int) -> int:
        """An event that tells when the device comes to this place of a stream; 0: there is none."""
        with self._lock:
            event = self._events.pop() if self._events else self._driver.event()
            if not event or self._driver.record(event, stream):
                self.take_back(event)
                return 0
            self._streams.add(stream)
            return event

    def timed(self, row: int, first: int, last: int) -> None:
        """The op of a row ran between two events."""
        if first and last:
            self._timed.append((row, first, last))

    def take_back(self, event: int) -> None:
        """An event that nobody asks any more; 0: there is none."""
        if event:
            self._events.append(event)

    def take(self) -> tuple[bytes, int, bytes, tuple[int, ...]]:
        """All that was promised, until `resume` nothing more is.

        Returns:
            The promises as PROMISE, how many bytes are kept, what was timed as TIMED, and the streams that all that was
            queued on.
        """
        with self._lock:
            found = (
                np.array(self._promises, PROMISE).tobytes(), self._used_bytes,
                np.array(self._timed, TIMED).tobytes(), tuple(self._streams),
            )  # fmt: skip
            self._resting = True
            self._promises, self._timed, self._streams = [], [], set()
            self._used_slots = self._used_bytes = 0
        return found

    def durations(self, timed: bytes) -> bytes:
        """Of each what passed between its events, in nanoseconds, as float64; NaN where they have not happened.

        Nobody asks the events any more.

        Args:
            timed: As TIMED.
        """
        found = []
        for _, first, last in np.frombuffer(timed, TIMED).tolist():
            try:
                found.append(self._driver.elapsed(first, last) * 1e6)  # it tells milliseconds
            except DriverError:
                found.append(math.nan)
            self.take_back(first)
            self.take_back(last)
        return np.array(found, np.float64).tobytes()

    def resume(self) -> None:
        """Promise again."""
        self._resting = False

    def events(self) -> list[int]:
        """Events that nobody uses, which are no longer its own."""
        found, self._events = self._events, []
        return found

    def _makes_room(self, nbytes: int = 0) -> bool:
        """Make room for so many bytes, or (0) in a slot, where there is none; whether something may be queued."""
        if not self.failed and self._is_full(nbytes):
            self._fetch()  # where another thread does so, that is waited for
        return not self.failed

    def _is_full(self, nbytes: int = 0) -> bool:
        full = self._used_bytes + nbytes > self._most_bytes if nbytes else self._used_slots == self._room
        return self._resting or full or len(self._promises) >= 2 * self._room

    def _note(self, promise: tuple[int, ...], stream: int) -> None:
        self._streams.add(stream)
        self._promises.append(promise)
