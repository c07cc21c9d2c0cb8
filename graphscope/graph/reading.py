"""What is read of a whole log is read once for each length of it, and goes when the log goes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

Read = TypeVar("Read")


def once_a_length(read: Callable[[Log], Read]) -> Callable[[Log], Read]:
    """Let what a function reads of a log be kept with the log until that has grown."""

    @functools.wraps(read)
    def reading(log: Log) -> Read:
        kept: tuple[int, Read] | None = log.readings.get(read)
        if kept is None or kept[0] != log.end:
            kept = log.readings[read] = log.end, read(log)
        return kept[1]

    return reading


def hand_over(log: Log, other: Log, *reads: Callable[[Log], Any]) -> None:
    """Let another reader of a log have what some functions have read of it; that must not hold the log itself."""
    for read in reads:
        key = getattr(read, "__wrapped__", read)
        if key in log.readings:
            other.readings[key] = log.readings[key]
