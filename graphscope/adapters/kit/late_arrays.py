"""Numbers that a framework may be computing still, as arrays of its own; asked for one, it waits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphscope.adapters.kit.patches import Patches
from graphscope.eventlog import awaited
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.writer import Writer


class LateArray:
    """The loss of a step that was left out: see `LateNumber`.

    Args:
        array: An array of one element.
    """

    __slots__ = ("_array", "value")

    def __init__(self, array: Any) -> None:
        self._array = array
        self.value: float | None = None

    def comes(self) -> bool:
        """Wait for it."""
        array, self._array = self._array, None
        if array is not None:
            try:
                self.value = float(np.asarray(array))
            except own(Exception):  # its memory was given to another call, or lies in another process
                self.value = None
        return True


def tell_late(writer: Writer, patches: Patches) -> None:
    """Let who reads the log be told of the losses of all steps that have ended, and the log when it ends.

    Args:
        writer: The log.
        patches: Those of the recording: when they are removed, it has ended.
    """

    def fetch() -> None:
        if writer.series is not None:
            writer.sampling.late.fetch(writer.series)

    awaited.fetching.append(fetch)
    patches.at_end(partial(awaited.fetching.remove, fetch))
    patches.at_end(fetch)
