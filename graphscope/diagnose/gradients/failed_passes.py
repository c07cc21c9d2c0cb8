"""Backward passes that an exception ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.graph import Graph

TWICE: Final = "through the graph a second time"
WRITTEN: Final = "modified by an inplace operation"
"""What is said by the errors of passes that find a graph freed, or a value written."""


class FailedPass(NamedTuple):
    """A pass that ended so."""

    before: int
    """Where the pass before it ended; the first row of the log where there was none."""
    begin: int
    root: int
    error: int


def failed_passes(graph: Graph, words: str) -> Iterator[FailedPass]:
    """The passes whose errors say these words."""
    log = graph.log
    begins, ends = graph.index.marks(Kind.BACKWARD_BEGIN), graph.index.marks(Kind.BACKWARD_END)
    errors = graph.index.marks(Kind.EXCEPTION)
    for row in errors[errors <= graph.now].tolist():
        place = int(np.searchsorted(begins, row)) - 1
        if place < 0 or words not in str(log.attrs(graph.index.event(row).attrs).get("text", "")):
            continue
        begin = int(begins[place])
        older = int(np.searchsorted(ends, begin)) - 1
        for root, _ in log.inputs(begin)[:1]:
            yield FailedPass(int(ends[older]) if older >= 0 else log.first, begin, root, row)
