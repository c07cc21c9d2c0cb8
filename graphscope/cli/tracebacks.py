"""Tracebacks of what a program did not handle: the frames are those that it has when nothing is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final

import graphscope

_RECORDERS: Final = str(Path(graphscope.__file__).parent / "adapters")


def hide_recorders(error: BaseException) -> None:
    """Take the frames of what records a framework out of the traceback of an error, and of what it came of."""
    met: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None and all(each is not one for one in met):
            met.append(each)
            each.__traceback__ = _without_recorders(each.__traceback__)
            waiting += each.__cause__, each.__context__


def _without_recorders(trace: TracebackType | None) -> TracebackType | None:
    kept = [each for each in _entries(trace) if not each.tb_frame.f_code.co_filename.startswith(_RECORDERS)]
    for outer, inner in zip(kept, [*kept[1:], None], strict=False):  # of none, none
        outer.tb_next = inner
    return kept[0] if kept else None


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next
