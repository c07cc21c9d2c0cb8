"""What promises come to: statistics and elements, as a device has written them, are given to their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from graphscope.eventlog import schema
from graphscope.eventlog.awaited import Waiting
from graphscope.eventlog.schema import Flag

if TYPE_CHECKING:
    from graphscope.eventlog.writer import Writer

SLOT: Final = np.dtype(
    [("sum", "<f8"), ("squares", "<f8"), ("most", "<u8"), ("least", "<u8")]
    + [(name, "<u8") for name in ("nan", "inf", "zero")]
    + [("shift", "<f8")]
)
"""As `statistics.cu` writes it."""
_SIGN: Final = np.uint64(1 << 63)
_FLOATING: Final = {1: "<f2", 2: "<u2", 3: "<f4", 4: "<f8"}
"""How NumPy reads floating elements, by the numbers of `appender.FLOATING`; bfloat16 as its bits."""


def waiting(writer: Writer, promises: np.ndarray) -> Waiting:
    """The rows of promises."""
    return Waiting(writer.segment, promises["row"] - writer.base)


def give_measured(writer: Writer, promises: np.ndarray, memory: np.ndarray) -> None:
    """Give rows the statistics that they were promised.

    Args:
        writer: The log.
        promises: As PROMISE, all of them measured.
        memory: Their slots, in that order.
    """
    records = _summaries(memory.view(SLOT), promises["size"], promises["times"])
    contents = records.view(np.uint8).reshape(len(records), -1)
    is_finite = (records["nan"] | records["inf"]) == 0
    for keep in (0, int(Flag.SUMMARY)):
        these = promises["keep"] == keep
        rows = waiting(writer, promises[these])
        if keep:
            rows.take(contents[these])
        rows.say(keep, is_finite[these])


def give_copied(writer: Writer, promises: np.ndarray, memory: np.ndarray) -> None:
    """Give rows the values that they were promised.

    Args:
        writer: The log.
        promises: As PROMISE, all of them copied.
        memory: The bytes that are kept.
    """
    is_finite = _finite(promises, memory)
    kinds = np.unique(promises[["keep", "nbytes"]])
    for keep, nbytes in kinds.tolist():
        these = (promises["keep"] == keep) & (promises["nbytes"] == nbytes)
        contents = sliding_window_view(memory, nbytes)[promises["start"][these]]
        rows = waiting(writer, promises[these])
        if keep == Flag.INLINE:
            wide = np.zeros((len(contents), schema.INLINE_BYTES), np.uint8)
            wide[:, :nbytes] = contents
            rows.take_inline(wide.view("<u8")[:, 0])
        else:
            rows.take(contents)
        rows.say(keep, is_finite[these])


def _summaries(slots: np.ndarray, counts: np.ndarray, times: np.ndarray) -> np.ndarray:
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


def _finite(copied: np.ndarray, memory: np.ndarray) -> np.ndarray:
    """Which of some values that were copied are finite."""
    found = np.ones(len(copied), bool)
    starts, ends = copied["start"], copied["start"] + copied["nbytes"]
    for floating, dtype in _FLOATING.items():
        these = copied["floating"] == floating
        if not these.any():
            continue
        elements = memory[: len(memory) // 16 * 16].view(dtype)
        bad = (elements & 0x7F80) == 0x7F80 if dtype == "<u2" else ~np.isfinite(elements)
        places = np.flatnonzero(bad) * elements.itemsize
        met = np.searchsorted(places, ends[these]) > np.searchsorted(places, starts[these])
        found[these] = ~met
    return found
