"""What is read of a whole log is read once for each length of it, and goes when the log goes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

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
